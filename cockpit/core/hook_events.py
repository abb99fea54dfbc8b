"""Hook events: their names, which hooks run on an event, and the decision of a hook."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Any

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.foreign_json import loads

PAYLOAD_VERSION = 1
PROLOGUE = 10_000
"""Maximum characters that the output of all session_start hooks together adds to the prompt."""

EVENTS: dict[str, str] = {
    "session_start": "a new session is about to get its prompt, or began with /clear",
    "context_warning": "the warn threshold was crossed, once for each session and compaction",
    "context_threshold": "the act threshold was crossed, in every mode; a shell hook can decide",
    "handoff_start": "a handoff has begun",
    "handoff_document": "the handoff document is on disk",
    "handoff_complete": "the new session, here or on another machine, gave its first reply",
    "compaction": "the CLI compacted its context",
    "needs_you": "an agent is waiting for you",
    "after_run": "a job is over: completed, failed or stopped",
    "error": "an agent or its handoff failed",
}
"""When each hook event happens, by the event's name. In the configuration, each name except
`after_run` begins with `on_`."""

OUTCOMES = ("completed", "failed", "stopped")
"""The outcomes of a run. `on_events` may contain an outcome instead of the event `after_run`."""


def setting_of(event: str) -> str:
    """Return the name of an event in the configuration: `on_session_start`, but `after_run`."""
    return event if event == "after_run" else f"on_{event}"


@dataclass(frozen=True, slots=True)
class Happening:
    """One event of one agent, for its hooks."""

    event: str
    """The name of the event, a key of `EVENTS`."""
    payload: Mapping[str, Any]
    text: str = ""
    """One sentence about the event, for people."""

    def line(self) -> str:
        """Return the payload as one line of JSON, with its newline."""
        return json.dumps(self.payload, ensure_ascii=False) + "\n"


def passed_over(
    event: str, payload: Mapping[str, Any], on_events: Collection[str], when: str
) -> str | None:
    """Return the reason if a hook does not get this event; None if the hook gets the event.

    `on_events` has events, with or without `on_`, or outcomes of a run. `when` is a path in the
    payload. The value at this path must be true; a missing value counts as false.
    """
    names = {event, setting_of(event), payload.get("outcome")}
    if on_events and names.isdisjoint(on_events):
        return "the hook's on_events does not contain this event"
    if when and at_path(payload, when) is not True:
        return f"{when} is not true"
    return None


def at_path(payload: Any, path: str) -> Any:
    """Return the value at a dotted path; None if the path does not exist."""
    for part in path.split("."):
        payload = payload.get(part) if isinstance(payload, Mapping) else None
    return payload


class Verdict(StrEnum):
    """The decisions of a context_threshold hook."""

    CONTINUE = "continue"
    """Until the CLI's next compaction, a full context does not begin an automatic handoff."""
    HANDOFF = "handoff"
    """The usual handoff, in the agent's mode."""
    ABORT = "abort"
    """A handoff without review, as soon as the limits of automatic handoffs allow one. In the mode
    `observe`, no handoff begins."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A hook's decision about a handoff, and the hook's document."""

    verdict: Verdict
    document: str | None = None
    """The path of a handoff document that the hook has written, as the hook printed it; None
    without one."""


def decision(output: str) -> Decision | None:
    """Read a hook's decision from its output; None if the output has none.

    The decision is a JSON object with the key `decision`: the whole output, or the last line that
    is such an object. Raises `ValueError` for an invalid decision.
    """
    for candidate in (output, *reversed(output.splitlines())):
        answer = _as_object(candidate)
        if answer is not None and "decision" in answer:
            return _decided(answer)
    return None


def _as_object(text: str) -> dict[str, Any] | None:
    if not text.strip().startswith("{"):
        return None
    try:
        value = loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _decided(answer: Mapping[str, Any]) -> Decision:
    try:
        verdict = Verdict(answer["decision"])
    except ValueError:
        known = ", ".join(verdict.value for verdict in Verdict)
        raise ValueError(f"the decision is not one of {known}") from None
    document = answer.get("document")
    if document is not None and not (isinstance(document, str) and document):
        raise ValueError("the document is not a path")
    return Decision(verdict, document)


@dataclass(frozen=True, slots=True)
class HookResult:
    """The result of running one hook, or of sending its message, for one event."""

    name: str
    kind: str
    """Type of the hook: shell, webhook, slack, discord or notify."""
    success: bool
    seconds: float = 0.0
    error: str = ""
    """Why the hook failed, in a few words; empty on success."""
    output: str = ""
    exit_code: int | None = None
