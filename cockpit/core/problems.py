"""Errors as problem documents (RFC 9457): the content of an HTTP response to a failed request.

`type` is the kind of problem and never changes. `title`, `detail` and `hint` are sentences for the
user and can change, so do not compare them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cockpit.core.errors import (
    BadConfig,
    BadUsage,
    CockpitError,
    Failed,
    NoSuchAgent,
    NoSupervisor,
    NotAllowed,
    NotNow,
    OsProblem,
    ProgramMissing,
    Unreachable,
)

MEDIA_TYPE = "application/problem+json"
PREFIX = "urn:problem-type:cockpit:"

KINDS: Mapping[str, str] = {
    "bad-usage": "The request is invalid; `errors` lists the invalid values, if known.",
    "bad-config": "A configuration file is invalid; the title usually begins with file and line.",
    "no-such-agent": "No agent, session, handoff or document of that name exists.",
    "not-now": "Not possible in the current state; the detail says why, the hint what to do first.",
    "not-allowed": "The caller, usually an agent or a hook, may not send this request.",
    "program-missing": "A required program is not installed.",
    "failed": "The request failed. For a bug in cockpit, `instance` identifies its log entry.",
    "hindered": "A problem of the machine, such as a full disk. The same request may work later.",
    "no-supervisor": "`cockpit serve` cannot reach the supervisor.",
    "unknown-request": "The path does not exist, or does not allow this method.",
    "not-let-in": "The token is missing or wrong (`cockpit serve` only).",
    "foreign-page": "The Host header is unknown, or the request is cross-origin.",
    "read-only": "`cockpit serve` was started without `--write`.",
}
"""The meaning of each problem type, by the last part of the type's URI."""

_OF: Mapping[type[CockpitError], tuple[str, int]] = {
    CockpitError: ("failed", 500),
    Failed: ("failed", 500),
    OsProblem: ("hindered", 500),
    BadUsage: ("bad-usage", 400),
    BadConfig: ("bad-config", 400),
    NoSuchAgent: ("no-such-agent", 404),
    NoSupervisor: ("no-supervisor", 503),
    Unreachable: ("no-supervisor", 503),
    NotNow: ("not-now", 409),
    NotAllowed: ("not-allowed", 409),
    ProgramMissing: ("program-missing", 424),
}


def problem(
    error: CockpitError,
    *,
    status: int | None = None,
    kind: str | None = None,
    instance: str | None = None,
    errors: Sequence[Mapping[str, str]] = (),
) -> dict[str, Any]:
    """Return the problem document of an error; `status` and `kind` override the error's own.

    `errors` are the invalid values of the request, each with `pointer` or `parameter`, and
    `detail`.
    """
    usual_kind, usual_status = _of(error)
    return {
        "type": PREFIX + (kind or usual_kind),
        "status": status or usual_status,
        "title": error.title,
        "detail": error.detail,
        "hint": error.hint,
        "exit_code": error.exit_code,
        **({"instance": instance} if instance is not None else {}),
        **({"errors": [dict(invalid) for invalid in errors]} if errors else {}),
    }


def _of(error: CockpitError) -> tuple[str, int]:
    return next(_OF[kind] for kind in type(error).__mro__ if kind in _OF)
