"""Merge configuration files into settings, their sources and notices.

Tables are merged key by key; a list is replaced whole. An agent gets the `[defaults]` of the file
that configures the agent, merged over the `[defaults]` of the user file. No other file's
`[defaults]` apply, so one project never changes another project's agents.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from cockpit.config.checks import (
    Origin,
    check_agent,
    check_branches,
    check_context,
    check_keys,
    settings_without_effect,
)
from cockpit.config.file import ConfigFile, shown_path
from cockpit.config.held import Held
from cockpit.config.lines import KeyPath
from cockpit.config.loaded import Loaded, Source, merge_tables
from cockpit.config.problems import refusal, usage_refusal
from cockpit.config.schema import AgentDefaults, AgentSettings, CockpitSettings, Settings
from cockpit.core.deferred_dataclass import dataclass

LARGEST_PROMPT = 256 * 1024
"""Maximum bytes of a prompt file."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A configuration file to merge, with current setting names and absolute paths."""

    file: ConfigFile
    data: Mapping[str, Any]
    notices: tuple[str, ...] = ()
    held: tuple[Held, ...] = ()


def merge_layers(layers: list[Layer], environment: Mapping[str, str]) -> Loaded:
    """Merge the files in order: a later file overrides an earlier one.

    Raises `BadConfig`, and `BadUsage` for an invalid value in the environment.
    """
    merge = _Merge()
    for layer in layers:
        merge.add(layer)
    merge.add_environment(environment)
    settings = merge.settings()
    merge.notices += settings_without_effect(settings)
    return Loaded(
        settings,
        tuple(layer.file.path for layer in layers),
        merge.sources,
        tuple(merge.notices),
        tuple(held for layer in layers for held in layer.held),
        {name: origin[0].path for name, (origin, _) in merge.agents.items()},
        {name: str(at.file.path) for at in layers for name in at.data.get("runtimes", {})},
    )


class _Merge:
    """The layers merged so far, as plain data."""

    def __init__(self) -> None:
        self.top: ConfigFile | None = None
        self.whole: dict[str, Any] = {}
        self.agents: dict[str, tuple[Origin, dict[str, Any]]] = {}
        self.hosts: dict[str, Any] = {}
        self.sources: dict[str, Source] = {}
        self.notices: list[str] = []

    def add(self, layer: Layer) -> None:
        rest = {key: layer.data[key] for key in layer.data if key not in ("agents", "hosts")}
        self._refuse_second_runtime(layer)
        self.top = layer.file
        self.whole = merge_tables(self.whole, rest)
        self.hosts |= {host["name"]: host for host in layer.data.get("hosts", [])}
        self.notices += layer.notices
        for place, agent in _agents_of(layer):
            self._add_agent((layer.file, ("agents", place)), agent)
        _add_sources(self.sources, layer)

    def _refuse_second_runtime(self, layer: Layer) -> None:
        """Raise `BadConfig` if an earlier layer defines a runtime that this layer defines too."""
        for name in layer.data.get("runtimes", {}):
            if name in self.whole.get("runtimes", {}):
                assert self.top is not None
                line = f"{shown_path(self.top.path)}:{self.top.line_of(('runtimes', name))}"
                raise layer.file.refusal(
                    ("runtimes", name),
                    f'two files define a runtime "{name}"',
                    f"The other runtime is in {line}. Rename one of the two.",
                )

    def _add_agent(self, origin: Origin, agent: dict[str, Any]) -> None:
        name = agent["name"]
        if name in self.agents:
            other = shown_path(self.agents[name][0][0].path)
            self.notices.append(
                f'agent "{name}" of {other} is overridden by the project\'s agent of that name'
            )
            own = f"agents.{name}."
            self.sources = {k: v for k, v in self.sources.items() if not k.startswith(own)}
        self.agents[name] = (origin, merge_tables(self.whole.get("defaults", {}), agent))

    def add_environment(self, environment: Mapping[str, str]) -> None:
        """Add the settings of the screen from the environment (`COCKPIT_THEME`, …).

        These apply to one terminal. Raises `BadUsage` for an invalid value.
        """
        for key in CockpitSettings.model_fields:
            if value := environment.get(f"COCKPIT_{key.upper()}"):
                try:
                    CockpitSettings.model_validate({key: value})
                except ValidationError as error:
                    raise usage_refusal(f"COCKPIT_{key.upper()}", error) from None
                self.whole = merge_tables(self.whole, {"cockpit": {key: value}})
                self.sources[f"cockpit.{key}"] = Source("environment")

    def settings(self) -> Settings:
        """Return all settings, validated, with the text of each prompt file. Raises `BadConfig`."""
        whole = self.whole | {"hosts": list(self.hosts.values())}
        if self.top is None:
            return Settings.model_validate(whole)
        made: list[tuple[Origin, AgentSettings]] = []
        try:
            defaults = AgentDefaults.model_validate(whole.get("defaults", {}))
            check_context(self.top, ("defaults",), defaults.context)
            for (file, at), table in self.agents.values():
                agent = _prompted(file, at, AgentSettings.model_validate(table))
                check_agent((file, at), agent)
                made.append(((file, at), agent))
            check_branches(made)
            rest = Settings.model_validate(whole)
            check_keys(self.top, rest.keys)
        except ValidationError as error:
            # Each file is valid by itself; this finds errors that only appear after merging.
            raise refusal(self.top, error) from None
        return rest.model_copy(update={"agents": tuple(agent for _, agent in made)})


def _agents_of(layer: Layer) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the agents of a layer with their indexes in the layer's file; ignored agents are
    skipped."""
    places = {
        agent.get("name"): place
        for place, agent in enumerate(layer.file.data.get("agents", []))
        if isinstance(agent, dict)
    }
    for agent in layer.data.get("agents", []):
        yield places[agent["name"]], agent


def _prompted(file: ConfigFile, at: KeyPath, agent: AgentSettings) -> AgentSettings:
    if agent.prompt_file is None:
        return agent
    where = (*at, "prompt_file")
    try:
        if not agent.prompt_file.is_file():
            raise file.refusal(where, f"no such file: {shown_path(agent.prompt_file)}")
        # The file may now be a named pipe: opening one would block forever.
        handle = os.open(agent.prompt_file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as stream:
            raw = stream.read(LARGEST_PROMPT + 1)
        text = raw.decode()
    except OSError as error:
        shown = shown_path(agent.prompt_file)
        raise file.refusal(where, f"{shown} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise file.refusal(where, f"{shown_path(agent.prompt_file)} is not UTF-8 text") from None
    if len(raw) > LARGEST_PROMPT:
        raise file.refusal(
            where,
            f"more than {LARGEST_PROMPT // 1024} KiB; move the rest to files and refer to them",
        )
    if "\0" in text:
        raise file.refusal(where, f"{shown_path(agent.prompt_file)} contains a NUL byte")
    return agent.model_copy(update={"prompt": text})


_SECTIONS = ("cockpit", "defaults", "limits", "notifications", "elsewhere", "runtimes", "keys")


def _add_sources(sources: dict[str, Source], layer: Layer) -> None:
    """Record where a layer sets each value.

    A setting that an agent inherits from `[defaults]` is recorded as the agent's own too.
    """
    shown = shown_path(layer.file.path)

    def walk(value: Any, name: str, at: KeyPath) -> None:
        if isinstance(value, Mapping) and value:
            for key, inner in value.items():
                walk(inner, f"{name}.{key}", (*at, key))
        else:
            sources[name] = Source(shown, layer.file.line_of(at))

    for section in _SECTIONS:
        for key, value in layer.data.get(section, {}).items():
            walk(value, f"{section}.{key}", (section, key))
    inherited = {key[9:]: source for key, source in sources.items() if key[:9] == "defaults."}
    for place, agent in _agents_of(layer):
        own = f"agents.{agent['name']}"
        sources |= {f"{own}.{key}": source for key, source in inherited.items()}
        for key, value in agent.items():
            if key != "directory" or "directory" in layer.file.data["agents"][place]:
                walk(value, f"{own}.{key}", ("agents", place, key))
    for place, host in enumerate(layer.data.get("hosts", [])):
        walk(host, f"hosts.{host['name']}", ("hosts", place))
