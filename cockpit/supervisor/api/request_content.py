"""Read the body and the query of a request as the models of `wire.verbs` and `wire.views`."""

from __future__ import annotations

import json
from typing import TypeVar

from starlette.requests import Request

from cockpit.core.errors import BadUsage
from cockpit.supervisor.api.request_checks import check_values, validated
from cockpit.wire.verbs import Verb
from cockpit.wire.views import Query

LARGEST_REQUEST = 2 * 1024 * 1024
_AnyQuery = TypeVar("_AnyQuery", bound=Query)


async def body_of(request: Request, kind: type[Verb]) -> Verb:
    """Read and validate a verb. Raises `BadUsage`."""
    raw = b""
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > LARGEST_REQUEST:
            raise BadUsage(
                "The request is too long",
                f"The maximum is {LARGEST_REQUEST // 1024} KiB.",
                hint="Put a long prompt into a file that the agent reads.",
            )
    title = f"The request {kind.verb} is not valid"
    try:
        content = json.loads(raw or b"{}")
    except RecursionError:
        raise BadUsage(
            title,
            "The body is nested too deeply.",
            hint="Send fewer levels; GET /openapi.json describes each request.",
        ) from None
    except ValueError:
        raise BadUsage(
            title,
            "The body is not JSON.",
            hint="Send a JSON object; GET /openapi.json describes each request.",
        ) from None
    check_values(content)
    return validated(kind, content, title)


def query_of(request: Request, kind: type[_AnyQuery]) -> _AnyQuery:
    """Validate the query of a view. Raises `BadUsage`."""
    title = f"The query of {request.url.path} is not valid"
    return validated(kind, dict(request.query_params), title, of_address=True)


def is_set(flag: str) -> bool:
    """Return whether a `wire.views.Flag` is true."""
    return flag in ("1", "true")
