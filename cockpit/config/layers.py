"""Files laid over each other, and what comes out: settings, where each came from, what was said.

Tables are laid together key by key; a list is replaced whole. An agent inherits the defaults of
its own file over those of the user file, so that one project never changes another's agents.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from cockpit.config.checks import (
    Origin,
    check_agent,
    check_branches,
    check_context,
    not_run_yet,
)
from cockpit.config.file import ConfigFile, shown_path
from cockpit.config.held import Held
from cockpit.config.problems import refusal, usage_refusal
from cockpit.config.schema import AgentDefaults, AgentSettings, CockpitSettings, Settings
from cockpit.core.errors import BadUsage, NoSuchAgent

LARGEST_PROMPT = 1024 * 1024
"""Bytes of a prompt file."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One file that counts, in the schema's names and with absolute paths."""

    file: ConfigFile
    data: Mapping[str, Any]
    notices: tuple[str, ...] = ()
    held: tuple[Held, ...] = ()


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
    sources: Mapping[str, Source] | None = None
    """By dotted key (`defaults.context.act`, `agents.api.mode`); what is not here is default."""
    notices: tuple[str, ...] = ()
    """One line each, for the pilot."""
    held: tuple[Held, ...] = ()
    """What an untrusted file asked for, and did not get."""
    origins: Mapping[str, Path] | None = None

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
            f"no agent {name!a} is configured", "", f"Did you mean {close[0]}?" if close else ""
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
        return (self.origins or {}).get(name)

    def new_agent(self, name: str, directory: Path, **said: Any) -> AgentSettings:
        """An agent that no file names, with the defaults that hold here. Raises `BadUsage`."""
        base = self.settings.defaults.model_dump(exclude_unset=True)
        return changed_agent(None, **base | {"name": name, "directory": directory} | said)


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


def laid_together(layers: list[Layer], environment: Mapping[str, str]) -> Loaded:
    """The settings that come out of the files, the user's first. Raises `BadConfig`."""
    whole: dict[str, Any] = {}
    agents: dict[str, tuple[Origin, dict[str, Any]]] = {}
    hosts: dict[str, Any] = {}
    sources: dict[str, Source] = {}
    notices: list[str] = []
    for layer in layers:
        rest = {key: layer.data[key] for key in layer.data if key not in ("agents", "hosts")}
        whole = laid_over(whole, rest)
        hosts |= {host["name"]: host for host in layer.data.get("hosts", [])}
        notices += layer.notices
        for place, agent in _agents_of(layer):
            name = agent["name"]
            if name in agents:
                other = shown_path(agents[name][0][0].path)
                notices.append(f'agent "{name}" of {other} is replaced by the project\'s')
                for key in [key for key in sources if key.startswith(f"agents.{name}.")]:
                    del sources[key]
            inherited = laid_over(whole.get("defaults", {}), agent)
            agents[name] = ((layer.file, ("agents", place)), inherited)
        sources |= _sources(layer)
    whole["cockpit"] = laid_over(whole.get("cockpit", {}), _from_environment(environment, sources))
    whole["hosts"] = list(hosts.values())
    settings = _resolved(layers, whole, agents)
    if line := not_run_yet(settings):
        notices.append(line)
    return Loaded(
        settings,
        tuple(layer.file.path for layer in layers),
        sources,
        tuple(notices),
        tuple(held for layer in layers for held in layer.held),
        {name: origin[0].path for name, (origin, _) in agents.items()},
    )


def _agents_of(layer: Layer) -> Iterator[tuple[int, dict[str, Any]]]:
    """The agents of a layer with their places in its file, which held ones leave gaps in."""
    places = {
        agent.get("name"): place
        for place, agent in enumerate(layer.file.data.get("agents", []))
        if isinstance(agent, dict)
    }
    for agent in layer.data.get("agents", []):
        yield places[agent["name"]], agent


def _resolved(
    layers: list[Layer],
    whole: dict[str, Any],
    agents: Mapping[str, tuple[Origin, dict[str, Any]]],
) -> Settings:
    if not layers:
        return Settings.model_validate(whole)
    top = layers[-1].file
    made: list[tuple[Origin, AgentSettings]] = []
    try:
        defaults = AgentDefaults.model_validate(whole.get("defaults", {}))
        check_context(top, ("defaults",), defaults.context)
        for (file, at), table in agents.values():
            agent = _prompted(file, at, AgentSettings.model_validate(table))
            check_agent((file, at), agent)
            made.append(((file, at), agent))
        check_branches(made)
        rest = Settings.model_validate(whole)
    except ValidationError as error:
        # Each file was right by itself; together they can still be wrong (an agent of theirs
        # inheriting what only a whole agent shows).
        raise refusal(top, error) from None
    return rest.model_copy(update={"agents": tuple(agent for _, agent in made)})


def _prompted(file: ConfigFile, at: tuple[str | int, ...], agent: AgentSettings) -> AgentSettings:
    """The agent with the text of its prompt file as its prompt."""
    if agent.prompt_file is None:
        return agent
    where = (*at, "prompt_file")
    try:
        if not agent.prompt_file.is_file():
            raise file.refusal(where, f"there is no file {shown_path(agent.prompt_file)}")
        with agent.prompt_file.open("rb") as stream:
            raw = stream.read(LARGEST_PROMPT + 1)
        text = raw.decode()
    except OSError as error:
        shown = shown_path(agent.prompt_file)
        raise file.refusal(where, f"{shown} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise file.refusal(where, f"{shown_path(agent.prompt_file)} is not UTF-8 text") from None
    if len(raw) > LARGEST_PROMPT:
        raise file.refusal(where, f"more than {LARGEST_PROMPT // 1024} KiB; no agent can hold it")
    if "\0" in text:
        raise file.refusal(where, f"{shown_path(agent.prompt_file)} holds a NUL byte")
    return agent.model_copy(update={"prompt": text})


def _from_environment(environment: Mapping[str, str], sources: dict[str, Source]) -> dict[str, str]:
    """`COCKPIT_THEME` and `COCKPIT_REFRESH`: for one terminal rather than for every one."""
    said: dict[str, str] = {}
    for key in CockpitSettings.model_fields:
        if value := environment.get(f"COCKPIT_{key.upper()}"):
            try:
                CockpitSettings.model_validate({key: value})
            except ValidationError as error:
                raise usage_refusal(f"COCKPIT_{key.upper()}", error) from None
            said[key] = value
            sources[f"cockpit.{key}"] = Source("environment")
    return said


def _sources(layer: Layer) -> dict[str, Source]:
    found: dict[str, Source] = {}
    shown = shown_path(layer.file.path)

    def walk(value: Any, name: str, at: tuple[str | int, ...]) -> None:
        if isinstance(value, Mapping) and value:
            for key, inner in value.items():
                walk(inner, f"{name}.{key}", (*at, key))
        else:
            found[name] = Source(shown, layer.file.line_of(at))

    for section in ("cockpit", "defaults", "notifications", "keys"):
        for key, value in layer.data.get(section, {}).items():
            walk(value, f"{section}.{key}", (section, key))
    for place, agent in _agents_of(layer):
        for key, value in agent.items():
            if key != "directory" or "directory" in layer.file.data["agents"][place]:
                walk(value, f"agents.{agent['name']}.{key}", ("agents", place, key))
    for place, host in enumerate(layer.data.get("hosts", [])):
        found[f"hosts.{host['name']}"] = Source(shown, layer.file.line_of(("hosts", place)))
    return found
