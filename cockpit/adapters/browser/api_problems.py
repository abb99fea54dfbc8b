"""Send errors of the API as problem documents (RFC 9457), even for data that is not HTTP."""

from __future__ import annotations

import logging
from typing import Any

from aiohttp import web

from cockpit.adapters.browser.page import API_HEADERS
from cockpit.core.errors import BadUsage, CockpitError, Failed
from cockpit.core.problems import MEDIA_TYPE, problem

_log = logging.getLogger(__name__)


def problem_response(error: CockpitError, **more: Any) -> web.Response:
    """Return the error as a problem document; `more` is passed to `core.problems.problem`."""
    body = problem(error, **more)
    answer = web.json_response(
        body, status=body["status"], content_type=MEDIA_TYPE, headers=API_HEADERS
    )
    if answer.status == 401:
        answer.headers["WWW-Authenticate"] = 'Bearer realm="cockpit"'
    return answer


class Connection(web.RequestHandler):
    """An HTTP connection that also sends errors outside the route handlers, such as malformed
    requests, as problem documents."""

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        if status != 400:
            _log.error("cockpit serve failed to answer", exc_info=exc)
        if request.writer.output_size > 0:
            raise ConnectionError("The response has already begun")
        answer = problem_response(
            BadUsage(
                "Malformed HTTP request",
                "The request is not HTTP/1.1, or a header line is too long.",
                hint="Send an HTTP/1.1 request; /openapi.json describes each request.",
            )
            if status == 400
            else Failed(
                "cockpit serve failed to answer",
                "The error is in the terminal of `cockpit serve`.",
                hint="Try again. If the request fails again, please report the error with "
                "the output of `cockpit serve`.",
            )
        )
        answer.force_close()
        return answer
