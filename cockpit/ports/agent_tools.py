"""Tools that a model can call, and documents that it can read, independent of the protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a tool; its value is text."""

    name: str
    description: str
    required: bool = False
    choices: Sequence[str] = ()
    """The valid values; if empty, any text is valid."""
    longest: int = 4_096
    """Maximum characters of the argument's value."""


@dataclass(frozen=True, slots=True)
class Tool:
    """The description of one tool for the model."""

    name: str
    description: str
    arguments: Sequence[Argument] = ()
    changes: bool = False
    """Whether a call changes anything."""


@dataclass(frozen=True, slots=True)
class Resource:
    """One document that the model, or the user, can read."""

    uri: str
    name: str
    description: str
    type: str = "text/markdown"


class AgentTools(Protocol):
    """The tools and documents of one agent. Methods raise `CockpitError` with texts for a model."""

    @property
    def instructions(self) -> str:
        """The purpose of the tools, as text for the model. Short, because the text uses context of
        every session."""

    @property
    def tools(self) -> Sequence[Tool]: ...

    async def call(self, name: str, arguments: Mapping[str, str]) -> Mapping[str, Any] | str:
        """Call one of the tools, with valid arguments; return the answer for the model."""

    async def resources(self) -> Sequence[Resource]: ...

    async def read(self, uri: str) -> str:
        """Return the text of the resource with this URI."""
