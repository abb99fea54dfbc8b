"""The capabilities of one CLI, and the reason for each missing capability.

The supervisor acts according to these capabilities; the documentation and the screen show them.
`Runtime.lacks` reports problems that the user can fix, such as an extension that is not linked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Literal

from cockpit.core.deferred_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Yes:
    """A capability that the CLI has. True as a condition."""

    how: str = ""
    """A detail that is shown after "yes, "; may be empty."""

    def __bool__(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class No:
    """A capability that the CLI lacks. False as a condition."""

    why: str
    """The reason, for users; shown after "no: "."""

    def __bool__(self) -> bool:
        return False


Answer = Yes | No
EndSignal = Literal["TERM", "INT", "HUP"]


class SessionIds(StrEnum):
    """The program that chooses a new session's id."""

    GIVEN = "chosen by cockpit"
    MINTED = "chosen by the CLI, known from its first hook"
    """The CLI chooses the id, and reports the id with its first hook, which runs at the first
    prompt."""
    NONE = "none"


class Source(StrEnum):
    """A source that shows whether the CLI is working, waiting or idle."""

    HOOKS = "hooks"
    TRANSCRIPT = "transcript"
    NOTE = "status file"
    TITLE = "title of the pane"
    SCREEN = "screen"


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """The capabilities of one CLI that cockpit's adapter uses."""

    session_ids: SessionIds
    readings: Answer
    """cockpit can read the number of tokens in context. If not, cockpit does not read the CLI's
    transcripts."""
    window: Answer
    """The CLI reports the size of the context window; otherwise cockpit looks the size up in a
    table."""
    activity: tuple[Source, ...]
    mid_turn: Answer
    """cockpit can send text to the model in the middle of a turn."""
    turn_end: Answer
    """cockpit can send text to the model when the model's turn ends."""
    dialogs: Answer
    """The CLI reports permission dialogs, with their question."""
    answers: Answer = No("cockpit does not recognise the dialogs of this CLI")
    """cockpit can show the choices of a permission dialog or question, and choose one."""
    api_errors: Answer
    """The CLI reports an API error that ended a turn."""
    compactions: Answer
    """The CLI reports compactions."""
    held_compactions: Answer
    """cockpit can delay a compaction for some seconds."""
    drafts: Answer
    """cockpit can allow the agent to write the draft of the handoff document without a dialog."""
    copies: Answer
    """A copy of the session can answer a question without changing the session."""
    cost: Answer
    reopening: Answer
    tools: Answer
    """cockpit can offer its tools (MCP) for one run of the CLI."""
    background: Answer
    """The CLI reports background tasks, with their names."""
    session_ends: Answer
    """The CLI reports the end of a session, with the reason. cockpit always detects the end of the
    process."""
    prompts: Answer = Yes()
    """cockpit can paste a prompt into the CLI's pane."""
    escapes: int = 1
    """Number of presses of Escape that interrupt a turn."""
    end_signal: EndSignal = "TERM"
    """The signal that asks the CLI's process to end."""
    end_keys: tuple[str, ...] = ()
    """Keys (see `core.pane_keys`) and texts that ask the idle CLI to end; cockpit sends them before
    `end_signal`."""
    pastes_at: str = ""
    """Text on the CLI's screen that shows that cockpit can paste the first prompt. Empty: the CLI
    gets its first prompt as an argument."""
    may_lose_enter: bool = False
    """The CLI can treat an Enter after a paste as part of the text."""
    compacts_before_prompts: bool = False
    """The CLI compacts only the content before its last prompt. In a long turn, the context can
    therefore grow past the compaction point."""
    restart_status: int | None = None
    """Exit status with which the CLI asks to be restarted, to apply an answer of the user; None if
    the CLI has no such status."""
    commits: Mapping[str, str] = field(default_factory=dict)
    """Maps a permission mode in which the agent cannot commit, or must ask first, to a clause that
    warns the user when an agent starts."""

    @property
    def chooses_ids(self) -> bool:
        """Whether the id of a new session is unknown until the session's first hook."""
        return self.session_ids is SessionIds.MINTED


LABELS = {
    "session_ids": "Session id",
    "readings": "Tokens in context",
    "window": "Context window size",
    "activity": "Sources of activity",
    "mid_turn": "Request mid-turn",
    "turn_end": "Request at the end of a turn",
    "dialogs": "Permission dialog on the row",
    "answers": "Permission dialogs and questions answered from cockpit",
    "api_errors": "API errors on the row",
    "compactions": "Compactions detected",
    "held_compactions": "Compaction delayed to save facts",
    "drafts": "Document written without a dialog",
    "copies": "Document by a copy of the session (`sdk`)",
    "cost": "Cost",
    "reopening": "Reopen a session",
    "tools": "Tools (MCP) offered",
    "background": "Background tasks listed",
    "session_ends": "End of a session reported",
    "prompts": "Prompts pasted into the pane",
}
"""The label of each field of `Capabilities` that users see."""


def limits(capabilities: Capabilities) -> list[str]:
    """Format the missing capabilities for the screen, one line for each reason."""
    by_reason: dict[str, list[str]] = {}
    for name, label in LABELS.items():
        value = getattr(capabilities, name)
        if isinstance(value, No):
            by_reason.setdefault(value.why, []).append(label)
    lines = (f"{', '.join(labels)}: {why}" for why, labels in by_reason.items())
    return [line.replace("`", "") for line in lines]


def text_of(value: Answer | SessionIds | tuple[Source, ...]) -> str:
    """Format the value of a `Capabilities` field for users."""
    match value:
        case Yes(how):
            return f"yes, {how}" if how else "yes"
        case No(why):
            return f"no: {why}"
        case SessionIds():
            return value.value
        case sources:
            return ", ".join(sources) or "nothing"
