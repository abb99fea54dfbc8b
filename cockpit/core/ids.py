"""Types of ids, and the rules for names of agents."""

from __future__ import annotations

import re
import unicodedata
from typing import NewType

from cockpit.core.errors import BadUsage
from cockpit.core.safetext import quoted

AgentName = NewType("AgentName", str)
JobId = NewType("JobId", str)
SessionId = NewType("SessionId", str)
HandoffId = NewType("HandoffId", str)
PaneId = NewType("PaneId", str)
"""A pane's id in tmux, such as `%7`. The id stays the same if the pane moves to another window."""

SESSION_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
"""The form of the CLIs' session ids. cockpit checks ids because other programs can send them, and
because file names contain them."""

NAME_PATTERN = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}")

MODEL_PATTERN = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9._:/@+~\[\]-]{0,199})?")
"""Names of models, including those of gateways (`org/name:tag`, `arn:…`, `name[1m]`); empty for the
CLI's default. A name cannot begin with a dash, because some CLIs would read it as an option."""


def model_name(text: str) -> str:
    """Return a valid model name, or the empty name, unchanged. Raises `BadUsage` for any other."""
    if MODEL_PATTERN.fullmatch(text):
        return text
    raise BadUsage(
        f"{quoted(text)} is not a valid model name",
        "Use at most 200 letters, digits and ._:/@+~[]-, and begin with a letter or digit.",
        "Leave the model out to use the CLI's default.",
    )


def agent_name(text: str) -> AgentName:
    """Return a valid agent name unchanged. Raises `BadUsage`, with a valid name in the hint.

    Names have no character with a special meaning in a shell, tmux, a path or a terminal.
    """
    if NAME_PATTERN.fullmatch(text):
        return AgentName(text)
    raise BadUsage(
        f"{quoted(text)} is not a valid agent name",
        "Use 1 to 32 characters: a-z, 0-9, dot, underscore, dash; begin with a letter or digit.",
        f"Try: {suggested_name(text)}",
    )


def suggested_name(text: str) -> str:
    """Return a valid name that is similar to `text`, without accents; else `agent`."""
    plain = re.sub(r"[\u0300-\u036f]", "", unicodedata.normalize("NFKD", text.casefold()))
    near = re.sub(r"[^a-z0-9._-]+", "-", plain).strip("-._")[:32].rstrip("-._")
    return near or "agent"
