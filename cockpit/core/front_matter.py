"""The front matter of a handoff document: the handoff, the old and the new session, and times.

Only cockpit writes front matter. Every value is JSON, a subset of YAML, because a branch name or
path could otherwise end a value or begin another. Reading never raises: a value that is missing or
of another type gets its default.
"""

from __future__ import annotations

import json
import math
from dataclasses import fields
from typing import Any

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.markdown import plain

FENCE = "---"
MOST_LINES = 100
"""Maximum lines of front matter with the closing fence. Longer front matter counts as text."""


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The keys of the front matter, in the order in which they are written.

    An unknown value is None or has its default.
    """

    id: str = ""
    """Id of the handoff; empty in a preview, which has no id yet."""
    number: int = 1
    """The position, in the chain, of the session that is handed off; from 1."""
    previous_document: str | None = None
    """Absolute path of the document with which the old session began."""
    agent: str = ""
    job: str = ""
    worktree: str | None = None
    """Absolute path of the agent's directory."""
    branch: str | None = None
    head_commit: str | None = None
    """Full hash of the commit that is checked out."""
    old_session_id: str | None = None
    new_session_id: str | None = None
    tokens: int | None = None
    window: int | None = None
    percent: float | None = None
    """Percentage of the window that is used; can exceed 100."""
    confidence: str = "unknown"
    trigger: str = "manual"
    """Why the handoff began: threshold, limit, manual, agent, compaction or loop."""
    writer: str = "facts"
    """The writer of the sections that cockpit did not verify: agent, sdk or facts."""
    created: str = ""
    """When the document was written; UTC, RFC 3339."""
    started: str = ""
    """When the session that is handed off began; UTC, RFC 3339."""
    transcript: str | None = None
    """Absolute path of the transcript of the session that is handed off."""
    cost_usd: float | None = None
    """Cost of the session that is handed off, in US dollars."""
    redactions: int = 0
    """Number of secrets that were removed from the text."""
    writers_failed: str = ""
    """Writers that were tried before `writer`, and why each failed. Not written if empty."""


def dump(front: FrontMatter) -> str:
    """Return the front matter with its fences and a final newline."""
    optional = ("id", "writers_failed")
    names = [
        field.name
        for field in fields(front)
        if field.name not in optional or getattr(front, field.name)
    ]
    lines = [f"{name}: {_value(getattr(front, name))}" for name in names]
    return "\n".join((FENCE, *lines, FENCE, ""))


def load(text: str) -> tuple[FrontMatter | None, str]:
    """Return the front matter and the text below; None and the whole text without front matter.

    Front matter of another program is removed too, and its unknown keys are ignored.
    """
    block, body = split(text)
    if block is None:
        return None, body
    known: dict[str, Any] = {}
    for line in block:
        key, _, value = line.partition(":")
        kind = _KINDS.get(key.strip())
        if kind is not None:
            _take(known, key.strip(), value, kind)
    return FrontMatter(**known), body


def split(text: str) -> tuple[list[str] | None, str]:
    """Return the lines of the front matter and the text below; None and the whole text without
    front matter."""
    start = text.lstrip("\ufeff\n")
    if not start.startswith(FENCE + "\n"):
        return None, text
    lines = start.split("\n", MOST_LINES + 2)
    for index, line in enumerate(lines[1 : MOST_LINES + 1], 1):
        if line.rstrip() in (FENCE, "..."):
            return lines[1:index], "\n".join(lines[index + 1 :])
    return None, text


def first_section_line(text: str) -> int:
    """Return the line number, from 1, of the first section below the front matter; 1 if there is no
    section."""
    block, body = split(text)
    above = text.count("\n") - body.count("\n") if block is not None else 0
    lines = body.split("\n")
    return next((above + at for at, line in enumerate(lines, 1) if line.startswith("## ")), 1)


def _value(value: object) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    quoted = json.dumps(plain(value), ensure_ascii=False)
    return "".join(char if _yaml_prints(char) else f"\\u{ord(char):04x}" for char in quoted)


def _yaml_prints(char: str) -> bool:
    return char.isprintable() or char >= "\U00010000" or "\ue000" <= char < "\ufffe"


def _take(known: dict[str, Any], key: str, value: str, kind: tuple[type, ...]) -> None:
    try:
        read = json.loads(value)
    except (ValueError, RecursionError):
        return
    if isinstance(read, float) and not math.isfinite(read):
        return
    if isinstance(read, kind) and not isinstance(read, bool):
        known[key] = plain(read) if isinstance(read, str) else read


_KINDS: dict[str, tuple[type, ...]] = {
    field.name: (
        (int,)
        if field.type in ("int", "int | None")
        else (int, float)
        if field.type == "float | None"
        else (str,)
    )
    for field in fields(FrontMatter)
}
