"""The loaded configuration: the settings, the source of each setting, and notices."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from cockpit.config.checks import check_runtime_name
from cockpit.config.file import shown_path
from cockpit.config.held import Held
from cockpit.config.problems import usage_refusal
from cockpit.config.schema import AgentDefaults, AgentSettings, Settings
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.errors import BadUsage, NoSuchAgent
from cockpit.core.safetext import quoted


@dataclass(frozen=True, slots=True)
class Source:
    """Where a setting comes from: a file and line, or the environment."""

    where: str
    """Path of the file that sets the setting, or `environment`."""
    line: int | None = None

    def __str__(self) -> str:
        return self.where if self.line is None else f"{self.where}:{self.line}"


@dataclass(frozen=True, slots=True)
class Loaded:
    """All settings, and the source of each setting."""

    settings: Settings
    files: tuple[Path, ...] = ()
    """The files that were read, the user file first."""
    sources: Mapping[str, Source] = field(default_factory=dict)
    """The source of each setting, by dotted key (`defaults.context.act`, `agents.api.mode`); a
    setting that is missing here has its default."""
    notices: tuple[str, ...] = ()
    """Messages for the user about the files, such as about an alias; one line each."""
    held: tuple[Held, ...] = ()
    """The ignored settings of an untrusted file."""
    origins: Mapping[str, Path] = field(default_factory=dict)
    """The configuration file of each agent, by the agent's name."""

    runtime_files: Mapping[str, str] = field(default_factory=dict)
    """The configuration file of each of the user's runtimes, by the runtime's name."""

    project: Path | None = None
    """The project's root folder, if cockpit found the project's file itself. The file's defaults
    then apply only to directories in the project. None if the user named the file, or if there is
    no project file."""
    own_defaults: AgentDefaults | None = None
    """The defaults outside `project`; None if `project` is None."""

    def defaults_in(self, directory: Path) -> AgentDefaults:
        """Return the defaults of a new agent in that directory, an absolute path."""
        if self.own_defaults is None or self.project is None:
            return self.settings.defaults
        is_inside = directory.is_relative_to(self.project)
        return self.settings.defaults if is_inside else self.own_defaults

    def agent(self, name: str) -> AgentSettings:
        """Return the configured agent with that name.

        Raises `NoSuchAgent`; the hint names a similar agent, or how to trust the agent's file.
        """
        for agent in self.settings.agents:
            if agent.name == name:
                return agent
        if held := self.held_for(name):
            raise NoSuchAgent(
                f'agent "{name}" is ignored until you trust its file',
                "\n".join(map(str, held)),
                f"Read the file, then run: cockpit config trust {shown_path(held[0].file)}",
            )
        known = [agent.name for agent in self.settings.agents]
        close = difflib.get_close_matches(name, known, n=1)
        raise NoSuchAgent(
            f"no agent named {quoted(name)} is configured",
            "",
            f"Did you mean {close[0]}?" if close else "",
        )

    def held_for(self, name: str) -> tuple[Held, ...]:
        """Return the ignored settings that would apply to this agent if the file were trusted.

        Includes settings that the agent would inherit from `[defaults]`.
        """
        file = self.file_of(name)
        return tuple(
            held
            for held in self.held
            if held.agent == name or (held.file == file and held.key.startswith("defaults"))
        )

    def file_of(self, name: str) -> Path | None:
        """Return the file that configures an agent; None for an agent that no file configures."""
        return self.origins.get(name)

    def check_runtime(self, name: str) -> None:
        """Raise `BadUsage` if no runtime has this name."""
        check_runtime_name(
            name, self.settings.runtimes, lambda problem, hint: BadUsage(problem, "", hint)
        )

    def new_agent(self, name: str, directory: Path, **given: Any) -> AgentSettings:
        """Return the settings of an agent that no file configures: the defaults in that directory,
        and the given values. Raises `BadUsage` for an invalid value."""
        base = self.defaults_in(directory).model_dump(exclude_unset=True)
        return changed_agent(
            None, **merge_tables(base, {"name": name, "directory": directory} | given)
        )


COMMAND_HINT = "Pass the command: cockpit start NAME -- COMMAND, or set `command` in cockpit.toml."


def changed_agent(agent: AgentSettings | None, **given: Any) -> AgentSettings:
    """Return the agent's settings with values from the command line; tables are merged.

    `agent` is None for a new agent. Raises `BadUsage` for an invalid value.
    """
    base = agent.model_dump(exclude_unset=True) if agent else {}
    try:
        changed = AgentSettings.model_validate(merge_tables(base, given))
    except ValidationError as error:
        raise usage_refusal(str(given.get("name", agent and agent.name)), error) from None
    if changed.runtime == "command" and not changed.command:
        raise BadUsage('runtime "command" needs a command', "", COMMAND_HINT)
    return changed


def merge_tables(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return the two tables merged recursively; values of `above` win."""
    out = dict(below)
    for key, value in above.items():
        under = out.get(key)
        both = isinstance(under, Mapping) and isinstance(value, Mapping)
        out[key] = merge_tables(under, value) if both else value  # type: ignore[arg-type]
    return out
