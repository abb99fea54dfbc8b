"""Responses to failed requests: problem documents with cockpit's own messages.

The responses contain no messages of libraries, which would reveal internals and change with the
library.
"""

from __future__ import annotations

import logging
import secrets

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from cockpit.core.errors import BadUsage, CockpitError, Failed
from cockpit.core.problems import MEDIA_TYPE, problem
from cockpit.supervisor.api.request_checks import InvalidRequest

_log = logging.getLogger(__name__)


def refusal(error: CockpitError, **more: str | int) -> Response:
    """Return the response to an error; `more` is passed to `core.problems.problem`."""
    errors = error.errors if isinstance(error, InvalidRequest) else ()
    body = problem(error, errors=errors, **more)  # type: ignore[arg-type]
    return JSONResponse(body, status_code=body["status"], media_type=MEDIA_TYPE)


class Bug(Failed):
    """A bug in cockpit. The log has the traceback, with the last part of `instance` as its id."""

    def __init__(self, what: str, logs: object, error: BaseException) -> None:
        name = secrets.token_hex(4)
        self.instance = f"urn:cockpit:error:{name}"
        _log.error("%s (error %s)", what, name, exc_info=error)
        detail = f"The log has the traceback as error {name}."
        super().__init__(what, detail, f"See the log: {logs}")


async def client_gone(_: Request, error: Exception) -> Response:
    """Respond to a client that has disconnected: nothing is sent or logged."""
    return Response(status_code=400)


async def refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, CockpitError)
    return refusal(error, **({"instance": error.instance} if isinstance(error, Bug) else {}))


async def unknown_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    allowed = (error.headers or {}).get("Allow", "")
    wrong = BadUsage(
        "Unknown request",
        f"Allowed methods: {allowed}." if allowed else "No such path.",
        "All paths: cockpit api schema. Client and supervisor may have different versions: "
        "cockpit doctor",
    )
    answer = refusal(wrong, status=error.status_code, kind="unknown-request")
    answer.headers.update(error.headers or {})
    return answer
