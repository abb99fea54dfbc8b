"""Describe an agent in a sentence, for speech or Braille: without bars, columns or symbols."""

from __future__ import annotations

from typing import Any

from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line

_STATES = {"needs_you": "needs you", "handing_off": "is being handed off", "idle": "is idle"}
_STATES |= {"working": "is working", "starting": "is starting", "done": "is done"}
USING = frozenset({"working", "needs_you", "handing_off"})
"""States in which an agent uses more of its context, so that the turns left matter."""
ENDED = frozenset({"done", "stopped", "exited"})
"""States in which an agent does nothing; its last recorded activity is over."""
_STATES |= {"stopped": "is stopped", "exited": "has exited", "unknown": "is in an unknown state"}


def sentence(row: dict[str, Any]) -> str:
    """Return a sentence for each part: state, context, and activity or note.

    For example: `api is working. 71 percent used, 142 thousand of 200 thousand tokens, act, 6 turns
    left. Edit src/auth.py.`
    """
    parts = [_who(row), _context(context_of(row)), _doing(row)]
    return " ".join(_ended(part) for part in parts if part)


def context_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return the agent's context; `turns_left` is None if the agent is in no state of `USING`."""
    context: dict[str, Any] = row["context"]
    return context if row["state"] in USING else {**context, "turns_left": None}


def change_key(row: dict[str, Any]) -> tuple[object, ...]:
    """Return the values whose change makes `--watch` print the sentence again.

    Tokens and activity are not included, because they change all the time.
    """
    needs, handoff = row.get("needs") or {}, row.get("handoff") or {}
    return (
        row["state"],
        needs.get("kind"),
        needs.get("detail"),
        handoff.get("phase"),
        row["context"].get("band"),
        row.get("session_number"),
        row.get("warning"),
    )


def doing(row: dict[str, Any]) -> str:
    """Return the agent's activity, after the warning of a failed hook, if any.

    For an agent that has ended or has no activity, returns its note; without a note, the warning.
    """
    if row["state"] not in ENDED and (activity := row.get("activity")):
        return safe_line("; ".join(filter(None, (row.get("warning"), activity))))
    return safe_line(row.get("note") or row.get("warning") or "")


def _who(row: dict[str, Any]) -> str:
    text = f"{safe_line(row['name'])} {_STATES.get(row['state'], safe_line(str(row['state'])))}"
    needs, handoff = row.get("needs"), row.get("handoff")
    if needs:
        kind = str(needs["kind"]).replace("_", " ")
        return f"{text}, {kind}: {safe_line(needs['detail'])}"
    return f"{text}, {handoff['phase']}" if handoff else text


def _context(context: dict[str, Any]) -> str:
    used, tokens, window = context.get("used"), context.get("tokens"), context.get("window")
    if used is None or tokens is None:
        return "Context unknown"
    prefix = "About " if context.get("confidence") == "assumed" else ""
    band = context.get("band", "unknown")
    share, of = f"{used * 100:.0f} percent", f"{_thousands(tokens)} of {_thousands(window)}"
    text = f"{prefix}{share} used, {of} tokens"
    left = context.get("turns_left")
    turns = "" if left is None else f", {counted(left, 'turn')} left"
    return f"{text}{'' if band == 'calm' else f', {band}'}{turns}"


def _doing(row: dict[str, Any]) -> str:
    return "" if row.get("needs") else doing(row)


def _ended(part: str) -> str:
    return part if part.endswith(("?", "!")) else f"{part.rstrip('.')}."


def _thousands(tokens: int | None) -> str:
    if tokens is None:
        return "an unknown number of"
    return str(tokens) if tokens < 1000 else f"{tokens // 1000} thousand"
