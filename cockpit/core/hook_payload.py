"""The payload of hooks: the same fields for every event. Unknown values are null, except an unknown
band or confidence, which is `unknown`.

`SCHEMA` describes the payload for users; a test validates real payloads against the schema.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, field
from typing import Any

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.hook_events import EVENTS, OUTCOMES, PAYLOAD_VERSION
from cockpit.core.safetext import cut_at_word

LONGEST_PROMPT = 100_000
"""Maximum characters of a prompt, and of the text about the event, in a payload; both are cut."""
MARGIN = 4_000
"""Characters after the cut that are searched for secrets too, because the cut could split a secret.
"""


@dataclass(frozen=True, slots=True)
class ContextFields:
    """The context use at the time of the event."""

    input_tokens: int | None = None
    context_window: int | None = None
    usage_percent: float | None = None
    remaining_percent: float | None = None
    model_name: str | None = None
    band: str = "unknown"
    confidence: str = "unknown"


def context_fields(
    tokens: int | None, window: int | None, model: str | None, band: str, confidence: str
) -> ContextFields:
    """Build the context fields, with percentages rounded to one decimal.

    `remaining_percent` can be negative.
    """
    percent = round(100 * tokens / window, 1) if tokens is not None and window else None
    left = round(100 - percent, 1) if percent is not None else None
    return ContextFields(tokens, window, percent, left, model, band, confidence)


@dataclass(frozen=True, slots=True)
class SessionFields:
    """The session that the event is about."""

    session_id: str | None
    agent_name: str
    job_id: str | None
    working_directory: str
    worktree_path: str | None
    branch_name: str | None
    is_continuation: bool
    previous_session_id: str | None
    handoff_count: int
    transcript_path: str | None = None


@dataclass(frozen=True, slots=True)
class HandoffFields:
    """The agent's handoff, in progress or just over."""

    handoff_id: str
    reason: str
    old_session_id: str
    new_session_id: str | None = None
    handoff_number: int | None = None
    document: str | None = None
    writer: str | None = None


@dataclass(frozen=True, slots=True)
class EventFields:
    """The values for the payload of an event."""

    event: str
    id: str
    """Id of the event; a repeated delivery has the same id."""
    at: str
    text: str
    context: ContextFields
    session: SessionFields
    repo_root: str | None
    worktree: str | None
    cwd: str
    original_prompt: str | None
    prompt: str | None = None
    handoff: HandoffFields | None = None
    outcome: str | None = None
    needs: dict[str, str] | None = None
    mode: str = field(default="")


def payload(fields: EventFields, clean: Callable[[str], str] = str) -> dict[str, Any]:
    """Return the payload as JSON data; `clean` removes secrets from free text."""
    plain = asdict(fields)
    event = plain.pop("event")
    for name in ("original_prompt", "prompt", "text"):
        if plain[name] is not None:
            # Clean a longer text before the cut, so that no part of a secret is left.
            cleaned = clean(cut_at_word(plain[name], LONGEST_PROMPT + MARGIN))
            plain[name] = cut_at_word(cleaned, LONGEST_PROMPT)
    if plain["session"]["branch_name"] is not None:
        plain["session"]["branch_name"] = clean(plain["session"]["branch_name"])
    if plain["needs"]:
        plain["needs"] = {key: clean(value) for key, value in plain["needs"].items()}
    return {"version": PAYLOAD_VERSION, "hook_event_name": event, **plain}


def sample(event: str, agent: str, cwd: str, **changes: Any) -> dict[str, Any]:
    """Return a payload for testing a hook; its ids and texts show that it is a sample."""
    old, new = "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"
    in_handoff = event.startswith("handoff_")
    fields = EventFields(
        event=event,
        id="00000000-0000-4000-8000-00000000000e",
        at="2026-01-01T12:00:00Z",
        text=f"{agent}: a sample event",
        context=context_fields(144_000, 200_000, "a-model", "act", "reported"),
        session=SessionFields(
            session_id=old,
            agent_name=agent,
            job_id="00000000-0000-4000-8000-00000000000a",
            working_directory=cwd,
            worktree_path=None,
            branch_name="main",
            is_continuation=False,
            previous_session_id=None,
            handoff_count=0,
        ),
        repo_root=cwd,
        worktree=None,
        cwd=cwd,
        original_prompt="A sample prompt",
        prompt="A sample prompt" if event == "session_start" else None,
        handoff=HandoffFields("sample", "threshold", old, new, 1) if in_handoff else None,
        outcome=OUTCOMES[0] if event == "after_run" else None,
        needs={"kind": "question", "detail": "a sample"} if event == "needs_you" else None,
        mode="prompt",
    )
    return {**payload(fields), **changes}


def _or_null(kind: str) -> dict[str, Any]:
    return {"type": [kind, "null"]}


def _object(description: str, /, **properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "description": description,
        "required": list(properties),
        "properties": properties,
    }


_TEXT = {"type": "string"}

SCHEMA: dict[str, Any] = {
    "$id": "cockpit-hook-payload",
    **_object(
        "The payload of every hook. Fields may be added; none is renamed.",
        version={"const": PAYLOAD_VERSION, "description": "Version of this schema."},
        hook_event_name={"enum": list(EVENTS), "description": "The event, without on_."},
        id={**_TEXT, "description": "Id of the event; a repeated delivery has the same id."},
        at={**_TEXT, "format": "date-time", "description": "When the event happened, UTC."},
        text={**_TEXT, "description": "One sentence for people."},
        context=_object(
            "The context use at the time of the event. Unknown numbers are null.",
            input_tokens=_or_null("integer"),
            context_window=_or_null("integer"),
            usage_percent=_or_null("number"),
            remaining_percent=_or_null("number"),
            model_name=_or_null("string"),
            band=_TEXT,
            confidence=_TEXT,
        ),
        session=_object(
            "The session; for session_start, the new session.",
            session_id=_or_null("string"),
            agent_name=_TEXT,
            job_id=_or_null("string"),
            working_directory={**_TEXT, "description": "The same as cwd."},
            worktree_path=_or_null("string"),
            branch_name=_or_null("string"),
            is_continuation={"type": "boolean"},
            previous_session_id=_or_null("string"),
            handoff_count={"type": "integer", "minimum": 0},
            transcript_path=_or_null("string"),
        ),
        repo_root={**_or_null("string"), "description": "The main checkout; null outside git."},
        worktree={**_or_null("string"), "description": "The agent's own worktree, if it has one."},
        cwd={**_TEXT, "description": "The agent's directory; a shell hook runs in it."},
        original_prompt={**_or_null("string"), "description": "The user's prompt for the job."},
        prompt={**_or_null("string"), "description": "session_start: the prompt of the session."},
        handoff={
            **_object(
                "The handoff, in progress or just over; null without one.",
                handoff_id=_TEXT,
                reason=_TEXT,
                old_session_id=_TEXT,
                new_session_id=_or_null("string"),
                handoff_number=_or_null("integer"),
                document=_or_null("string"),
                writer=_or_null("string"),
            ),
            "type": ["object", "null"],
        },
        outcome={"enum": [*OUTCOMES, None], "description": "after_run: how the run ended."},
        needs={
            **_object("needs_you: the reason that the agent waits.", kind=_TEXT, detail=_TEXT),
            "type": ["object", "null"],
        },
        mode={**_TEXT, "description": "observe, prompt or auto."},
    ),
}
"""JSON Schema of a payload, as `cockpit config schema` prints it."""
