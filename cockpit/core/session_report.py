"""The output of `cockpit usage --json` and `cockpit facts --json`.

The values come from `core.meter` and `core.collect`. An unknown value is None, never 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from cockpit.core.meter import Meter
from cockpit.core.reading import Confidence, Window

if TYPE_CHECKING:
    from cockpit.core.facts import Facts  # slow to load, and not needed for usage reports


def usage_report(
    transcript: str,
    meter: Meter,
    window: Window,
    session_id: str | None = None,
    *,
    subagent: bool = False,
) -> dict[str, Any]:
    """Return a session's usage and context, as JSON values.

    `subagent`: whether the transcript belongs to a subagent. If the transcript names no model and
    has no reply, an assumed window is reported as unknown.
    """
    totals = meter.totals
    return {
        "transcript": transcript,
        "session_id": session_id,
        "model": meter.model,
        "context": _context(meter.tokens, window if _has_window(meter, window) else None),
        "compactions": meter.compactions,
        "api_calls": meter.api_calls,
        "totals": {
            "input": totals.input,
            "cache_creation": totals.cache_creation,
            "cache_read": totals.cache_read,
            "output": totals.output,
        },
        "skipped_lines": meter.skipped,
        "subagent": subagent,
        "error": None,
    }


def _has_window(meter: Meter, window: Window) -> bool:
    """Return whether to report the window: a known one, or an assumed one if there is a reply or a
    model's name."""
    known = meter.model is not None or meter.api_calls > 0
    return known or window.confidence is not Confidence.ASSUMED


def unreadable_report(transcript: str, error: str) -> dict[str, Any]:
    """Return the fields of `usage_report` for a transcript that could not be read."""
    return {
        "transcript": transcript,
        "session_id": None,
        "model": None,
        "context": _context(None, None),
        "compactions": None,
        "api_calls": None,
        "totals": None,
        "skipped_lines": None,
        "subagent": None,
        "error": error,
    }


def _context(tokens: int | None, window: Window | None) -> dict[str, Any]:
    size = window.tokens if window is not None else None
    known = tokens is not None and window is not None
    return {
        "tokens": tokens,
        "window": size,
        "used": round(tokens / size, 6) if tokens is not None and size else None,
        "confidence": str(window.confidence if known and window else Confidence.UNKNOWN),
        "source": "transcript" if known else None,
    }


def facts_report(
    facts: Facts,
    usage: dict[str, Any],
    *,
    git_status: Sequence[str] | None = None,
    branch: str | None = None,
    head: str | None = None,
) -> dict[str, Any]:
    """Return a session's facts, as JSON values.

    `git_status` is None if unknown, empty if the worktree is clean.
    """
    return {
        "goal": facts.goal,
        "todos": [{"content": todo.content, "status": todo.status} for todo in facts.todos],
        "files_modified": list(facts.files_modified),
        "commits": [asdict(made) for made in facts.commits],
        "git_status": "\n".join(git_status) if git_status is not None else None,
        "branch": branch,
        "head": head,
        "subagents": [
            {
                "id": subagent.id,
                "type": subagent.type,
                "status": subagent.status,
                "task": subagent.task,
                "result": subagent.result or None,
            }
            for subagent in facts.subagents
        ],
        "background": [
            {
                "id": task.id,
                "type": task.type,
                "status": task.status,
                "description": task.description,
                "command": task.command,
                "log": task.log or None,
            }
            for task in facts.background
        ],
        "recent_activity": list(facts.recent_activity),
        **_conversation(facts),
        "usage": usage,
    }


def _conversation(facts: Facts) -> dict[str, Any]:
    """Return the facts about the conversation: prompts, orders, checks, failures, replies."""
    return {
        "prompts": [asdict(prompt) for prompt in facts.prompts],
        "earlier_prompts": [asdict(prompt) for prompt in facts.earlier_prompts],
        "constraints": [asdict(constraint) for constraint in facts.constraints],
        "answers": [asdict(answer) for answer in facts.answers],
        "refusals": [asdict(refusal) for refusal in facts.refusals],
        "checks": [asdict(check) for check in facts.checks],
        "failures": [
            {**asdict(failure), "worked": failure.worked or None, "after": failure.after or None}
            for failure in facts.failures
        ],
        "plan": {**asdict(facts.plan), "file": facts.plan.file or None} if facts.plan else None,
        "links": [
            {**asdict(link), "repository": link.repository or None, "state": link.state or None}
            for link in facts.links
        ],
        "summary": asdict(facts.summary) if facts.summary else None,
        "last_reply": {
            "text": facts.last_reply,
            "away_summary": facts.away_summary,
            "longer": facts.longer_reply,
        }
        if facts.last_reply or facts.away_summary
        else None,
    }
