"""What came out of the files: settings, where each was written, and what there is to tell."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from cockpit.config.file import shown_path
from cockpit.config.held import Held
from cockpit.config.problems import usage_refusal
from cockpit.config.schema import AgentSettings, Settings
from cockpit.core.errors import BadUsage, NoSuchAgent
from cockpit.core.safetext import quoted


@dataclass(frozen=True, slots=True)
class Source:
    """Where a setting was written."""

    where: str
    """A path, or `environment`."""
    line: int | None = None

    def __str__(self) -> str:
        return self.where if self.line is None else f"{self.where}:{self.line}"


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings, and everything that can be told about how they came to be."""

    settings: Settings
    files: tuple[Path, ...] = ()
    """What was read, the user file first."""
    sources: Mapping[str, Source] = field(default_factory=dict)
    """By dotted key (`defaults.context.act`, `agents.api.mode`); what is not here is default."""
    notices: tuple[str, ...] = ()
    """One line each, for the pilot."""
    held: tuple[Held, ...] = ()
    """What an untrusted file asked for, and did not get."""
    origins: Mapping[str, Path] = field(default_factory=dict)
    """By agent: the file it is written in."""

    def agent(self, name: str) -> AgentSettings:
        """The configured agent of that name. Raises `NoSuchAgent`, with the nearest name."""
        for agent in self.settings.agents:
            if agent.name == name:
                return agent
        if held := self.held_for(name):
            raise NoSuchAgent(
                f'agent "{name}" is held until its file is trusted',
                "\n".join(str(one) for one in held),
                f"Read the file, then: cockpit config trust {shown_path(held[0].file)}",
            )
        known = [agent.name for agent in self.settings.agents]
        close = difflib.get_close_matches(name, known, n=1)
        raise NoSuchAgent(
            f"no agent {quoted(name)} is configured",
            "",
            f"Did you mean {close[0]}?" if close else "",
        )

    def held_for(self, name: str) -> tuple[Held, ...]:
        """What this agent would have had if its file were trusted, inherited or its own."""
        file = self.file_of(name)
        return tuple(
            held
            for held in self.held
            if held.agent == name or (held.file == file and held.key.startswith("defaults"))
        )

    def file_of(self, name: str) -> Path | None:
        """The file that an agent is written in."""
        return self.origins.get(name)

    def new_agent(self, name: str, directory: Path, **said: Any) -> AgentSettings:
        """An agent that no file names, with the defaults that hold here. Raises `BadUsage`."""
        base = self.settings.defaults.model_dump(exclude_unset=True)
        return changed_agent(None, **laid_over(base, {"name": name, "directory": directory} | said))


def changed_agent(agent: AgentSettings | None, **said: Any) -> AgentSettings:
    """An agent with what the command line says of it; a table is laid over the one there.

    Raises `BadUsage`.
    """
    base = agent.model_dump(exclude_unset=True) if agent else {}
    try:
        changed = AgentSettings.model_validate(laid_over(base, said))
    except ValidationError as error:
        raise usage_refusal(str(said.get("name", agent and agent.name)), error) from None
    if changed.runtime == "command" and not changed.command:
        raise BadUsage('runtime "command" needs a command', "", "Write it in cockpit.toml.")
    return changed


def laid_over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Two tables in one: what is above counts, tables within are laid together in turn."""
    out = dict(below)
    for key, value in above.items():
        under = out.get(key)
        both = isinstance(under, Mapping) and isinstance(value, Mapping)
        out[key] = laid_over(under, value) if both else value  # type: ignore[arg-type]
    return out
