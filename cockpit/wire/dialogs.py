"""`GET /v1/dialog/NAME`: the permission dialog or question that is open in an agent's pane."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from cockpit.wire.status import Wire


class ChoiceStatus(Wire):
    label: str
    note: str = ""
    """The CLI's explanation of the choice; empty without one."""
    checked: bool | None = None
    """Whether the choice's box is checked; null for a choice without a box."""
    text: Literal["no", "may", "must"] = "no"
    """Whether the user can (`may`) or has to (`must`) add text to this choice."""


class DialogStatus(Wire):
    """The question that the CLI asks, with the choices in the CLI's order."""

    identity: str | None = None
    """Identifies this dialog in an answer. Null if cockpit cannot answer the dialog."""
    refusal: str | None = None
    """Why cockpit cannot answer the dialog; null if cockpit can."""
    kind: Literal["permission", "question"] = "permission"
    title: str = ""
    tool: str = ""
    """The tool that the dialog is about; empty if `refusal` is set."""
    subject: str = ""
    """The path of the file that the dialog is about, or the names of several questions; may be
    empty."""
    question: str = ""
    notice: str = ""
    """The CLI's reason for asking; empty without one."""
    text: str = ""
    """The command, change, plan or list of questions, without secrets; perhaps several lines."""
    choices: list[ChoiceStatus] = Field(default_factory=list)
    highlighted: int | None = None
    """Index of the choice that is highlighted in the pane, from 0; null if none is."""
