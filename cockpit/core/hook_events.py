"""The events that hooks hang on: their names, what each is told, and which hook hears which.

Says what an event is made of and what a hook may answer. Runs and sends nothing; which event
happened is decided where it happens.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

PAYLOAD_VERSION = 1
PROLOGUE = 10_000
"""Characters of a session_start hook's output that go before the prompt."""

EVENTS: dict[str, str] = {
    "session_start": "before a session's prompt is given; what a shell hook prints goes before it",
    "context_warning": "the warn mark was crossed, once for each session and compaction",
    "context_threshold": "the act mark was crossed, in every mode; a shell hook may decide",
    "handoff_start": "a handoff has begun",
    "handoff_document": "the handoff document is durably on disk",
    "handoff_complete": "the successor gave its first reply",
    "compaction": "the CLI compacted its context by itself",
    "needs_you": "an agent waits for the pilot",
    "after_run": "a job is over: completed, failed or stopped",
    "error": "an agent or its handoff failed",
}
"""Name in payloads -> when it happens. In the configuration the name has `on_` before it."""

OUTCOMES = ("completed", "failed", "stopped")
"""How a run ends; `on_events` may name these instead of the event."""


def setting_of(event: str) -> str:
    """The configuration's name of an event: `on_session_start`, but `after_run`."""
    return event if event == "after_run" else f"on_{event}"


@dataclass(frozen=True, slots=True)
class Happening:
    """One event of one agent, as hooks are told of it."""

    event: str
    """A key of `EVENTS`."""
    payload: Mapping[str, Any]
    text: str = ""
    """One sentence for people."""

    def line(self) -> str:
        """The payload as one line of JSON, with its newline."""
        return json.dumps(self.payload, ensure_ascii=False) + "\n"


def happened(kind: str, data: Mapping[str, Any]) -> tuple[tuple[str, str | None], ...]:
    """The hook events that one of the supervisor's own events means, with the outcome of a run."""
    match kind:
        case "band.crossed":
            return (("context_warning", None),) if "warn" in data.get("reached", ()) else ()
        case "agent.exited":
            outcome = _ended(data)
            if outcome == "completed" and data.get("told"):
                return ()
            return (("after_run", outcome), *_failed(outcome))
        case "agent.stopped":
            return () if data.get("told") else (("after_run", "stopped"),)
        case "run.completed":
            return (("after_run", "completed"),)
        case _:
            event = _PLAIN.get(kind)
            return ((event, None),) if event else ()


_PLAIN = {
    "handoff.begun": "handoff_start",
    "handoff.document": "handoff_document",
    "handoff.confirmed": "handoff_complete",
    "agent.compacted": "compaction",
    "agent.needs_you": "needs_you",
    "handoff.failed": "error",
    "handoff.revived": "error",
    "agent.not_started": "error",
    # Nobody waits here: the CLI has begun it already, and there is no prompt of ours.
    "session.cleared": "session_start",
}


def _ended(data: Mapping[str, Any]) -> str:
    if data.get("status") == 0:
        return "completed" if data.get("completed") else "stopped"
    return "failed"


def _failed(outcome: str) -> tuple[tuple[str, None], ...]:
    return (("error", None),) if outcome == "failed" else ()


def passed_over(
    event: str, payload: Mapping[str, Any], on_events: Collection[str], when: str
) -> str | None:
    """Why a hook does not hear this event; None if it does.

    `on_events` may spell an event with or without `on_`, or name the outcome of a run. What
    `when` points at must be true itself: a path that leads nowhere is not.
    """
    names = {event, setting_of(event), payload.get("outcome")}
    if on_events and names.isdisjoint(on_events):
        return "its on_events does not name this"
    if when and at_path(payload, when) is not True:
        return f"{when} is not true"
    return None


def at_path(payload: Any, path: str) -> Any:
    """What stands at a dotted path; None where there is nothing."""
    for part in path.split("."):
        payload = payload.get(part) if isinstance(payload, Mapping) else None
    return payload


class Verdict(StrEnum):
    """What a context_threshold hook may want."""

    CONTINUE = "continue"
    """No handoff: let the session run into the CLI's own compaction."""
    HANDOFF = "handoff"
    """The built-in handoff, in the agent's mode."""
    ABORT = "abort"
    """Swap now, without review."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A hook's answer."""

    verdict: Verdict
    document: str | None = None
    """A handoff document that the hook has written, as it named it."""


def decision(output: str) -> Decision | None:
    """The answer in what a hook printed: a JSON object, alone or as the last line that is one.

    None where there is none. Raises `ValueError` for an answer that makes no sense.
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
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _decided(answer: Mapping[str, Any]) -> Decision:
    try:
        verdict = Verdict(answer["decision"])
    except ValueError:
        known = ", ".join(each.value for each in Verdict)
        raise ValueError(f"its decision is none of {known}") from None
    document = answer.get("document")
    if document is not None and not (isinstance(document, str) and document):
        raise ValueError("its document is not a path")
    return Decision(verdict, document)


@dataclass(frozen=True, slots=True)
class HookResult:
    """How one hook went."""

    name: str
    kind: str
    """shell, webhook, slack, discord or notify."""
    success: bool
    seconds: float = 0.0
    error: str = ""
    """Why it failed, in a few words; empty when it did not."""
    output: str = ""
    exit_code: int | None = None

    def told(self) -> dict[str, Any]:
        """The result as events carry it; what was printed is in the hook's own file."""
        return {
            "hook": self.name,
            "type": self.kind,
            "success": self.success,
            "duration_ms": round(self.seconds * 1000),
            "exit_code": self.exit_code,
            "error": self.error or None,
        }
