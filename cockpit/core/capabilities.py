"""The capabilities of one CLI for cockpit, with the reason for each that is missing.

The supervisor decides by them; the documentation and the screen show them. Problems that a user can
fix, such as an extension that is not linked, are in `Runtime.lacks`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


@dataclass(frozen=True, slots=True)
class Yes:
    """A capability that the CLI has. True as a condition."""

    how: str = ""
    """Follows "yes, "; empty if there is nothing to add."""

    def __bool__(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class No:
    """A capability that the CLI lacks. False as a condition."""

    why: str
    """Follows "no: "; for users."""

    def __bool__(self) -> bool:
        return False


Answer = Yes | No
EndSignal = Literal["TERM", "INT", "HUP"]


class SessionIds(StrEnum):
    """The program that chooses a new session's id."""

    GIVEN = "chosen by cockpit"
    MINTED = "chosen by the CLI, known from its first hook"
    """The first hook comes with the first prompt."""
    NONE = "none"


class Source(StrEnum):
    """The source that reports whether the CLI works, waits or is idle."""

    HOOKS = "hooks"
    TRANSCRIPT = "transcript"
    NOTE = "its note of the process"
    TITLE = "title of the pane"
    SCREEN = "screen"


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """The capabilities of one CLI, as its adapter uses them."""

    session_ids: SessionIds
    readings: Answer
    """Tokens in context. Without them, cockpit reads nothing that the CLI writes."""
    window: Answer
    """The CLI names the window; else it is looked up in a table."""
    activity: tuple[Source, ...]
    mid_turn: Answer
    """A text reaches the model in the middle of a turn."""
    turn_end: Answer
    """A text reaches the model when its turn ends."""
    dialogs: Answer
    """A dialog that asks for a permission is reported, with its question."""
    api_errors: Answer
    """An error of the API that ended a turn is reported."""
    compactions: Answer
    """A compaction is reported."""
    held_compactions: Answer
    """A compaction can wait, for some seconds."""
    drafts: Answer
    """The agent can be allowed to write one file without a dialog."""
    copies: Answer
    """A copy of the session can answer a question, and the session itself is not changed."""
    cost: Answer
    reopening: Answer
    tools: Answer
    """cockpit's tools (MCP) can be offered for one run."""
    background: Answer
    """Background work is reported, with its names."""
    session_ends: Answer
    """The end of a session is reported, with its reason. The end of its process always is."""
    prompts: Answer = Yes()
    """A prompt can be pasted into its pane."""
    escapes: int = 1
    """How often Escape has to be pressed to interrupt a turn."""
    end_signal: EndSignal = "TERM"
    """The signal that asks the program to end."""
    may_lose_enter: bool = False
    """The CLI can take an Enter after a paste as a part of the text."""

    @property
    def chooses_ids(self) -> bool:
        """Whether the id of a new session is unknown until its first hook."""
        return self.session_ids is SessionIds.MINTED


LABELS = {
    "session_ids": "Session id",
    "readings": "Tokens in context",
    "window": "Window named",
    "activity": "Activity told by",
    "mid_turn": "Request in the middle of a turn",
    "turn_end": "Request at the end of a turn",
    "dialogs": "Permission dialog on the row",
    "api_errors": "Error of the API on the row",
    "compactions": "Compaction seen",
    "held_compactions": "Compaction waits for facts",
    "drafts": "Document written without a dialog",
    "copies": "Document by a copy of the session (`sdk`)",
    "cost": "Cost",
    "reopening": "Reopen a session",
    "tools": "Tools (MCP) offered",
    "background": "Background work named",
    "session_ends": "End of a session told",
    "prompts": "Prompts pasted into its pane",
}
"""The label of each field that users can see."""


def limits(one: Capabilities) -> list[str]:
    """Format what is not possible, for the screen: a line for each reason."""
    found: dict[str, list[str]] = {}
    for name, label in LABELS.items():
        value = getattr(one, name)
        if isinstance(value, No):
            found.setdefault(value.why, []).append(label)
    lines = (f"{', '.join(labels)}: {why}" for why, labels in found.items())
    return [line.replace("`", "") for line in lines]


def text_of(value: Answer | SessionIds | tuple[Source, ...]) -> str:
    """Format the value of a field for users."""
    match value:
        case Yes(how):
            return f"yes, {how}" if how else "yes"
        case No(why):
            return f"no: {why}"
        case SessionIds():
            return value.value
        case sources:
            return ", ".join(sources) or "nothing"
