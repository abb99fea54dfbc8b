"""Remove, from the file of an untrusted project, the settings that need the user's trust.

`config.held_rules` says which settings those are. Removed settings are reported; the rest apply.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cockpit.config import held_rules
from cockpit.config.checks import place_of_key
from cockpit.config.file import ConfigFile, dotted, shown_path
from cockpit.config.git_folders import git_folder_around
from cockpit.config.hooks import Notifications
from cockpit.config.lines import KeyPath
from cockpit.config.schema import AgentDefaults, DayLimits, Settings
from cockpit.core.deferred_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Held:
    """One setting that is ignored until the user trusts its file."""

    file: Path
    line: int
    key: str
    reason: str
    agent: str | None = None
    """The agent of the setting; None for a setting outside the agents' tables, and for an agent
    that has the name of one of the user's agents."""

    @property
    def shown_key(self) -> str:
        """The key, with the agent's name instead of the agent's index in `[[agents]]`."""
        if self.agent is None or not self.key.startswith("agents["):
            return self.key
        return f"agents.{self.agent}.{self.key.partition('].')[2]}"

    def __str__(self) -> str:
        place = f"{shown_path(self.file)}:{self.line}"
        return f"{place}: {self.shown_key} is ignored until you trust this file ({self.reason})"


def without_held(
    file: ConfigFile,
    data: Mapping[str, Any],
    repository: Path,
    own: Settings | None = None,
) -> tuple[dict[str, Any], tuple[Held, ...]]:
    """Return an untrusted file's data without the settings that need trust, and the list of those
    settings.

    `data` has absolute paths; `own` is the user's own file. Each setting is compared with the value
    that would apply without this file. An agent is removed entirely if one of its `ESSENTIAL`
    settings is ignored, or if one of the user's agents has the same name.
    """
    own = own or Settings()
    held_filter = _Filter(file, repository.resolve(), own.defaults)
    out = {key: value for key, value in data.items() if key not in ("hosts", "notifications")}
    for place, _ in enumerate(data.get("hosts", ())):
        held_filter.hold(("hosts", place), held_rules.HELD_ELSEWHERE["hosts"])
    if notifications := data.get("notifications"):
        out["notifications"] = held_filter.notifications(notifications, own.notifications)
    if limits := data.get("limits"):
        out["limits"] = held_filter.limits(limits, own.limits)
    for name in out.pop("runtimes", {}):
        held_filter.hold(("runtimes", name), held_rules.HELD_ELSEWHERE["runtimes"])
    for action in out.pop("keys", {}):
        held_filter.hold(place_of_key(file, action), held_rules.KEYS)
    defaults = data.get("defaults", {})
    if defaults:
        out["defaults"] = held_filter.agent(defaults, ("defaults",))
    yours = {agent.name for agent in own.agents}
    kept = []
    for place, agent in enumerate(data.get("agents", [])):
        if agent["name"] in yours:
            # Reported without an agent, because the user's own agent of this name is not affected.
            held_filter.hold(("agents", place, "name"), held_rules.YOURS)
        else:
            kept.append((agent, held_filter.agent(agent, ("agents", place), agent["name"]), place))
    for agent, rest, place in kept:
        if _gets_held_command(agent, rest, defaults, out.get("defaults", {})):
            held_filter.hold(("agents", place, "command"), held_rules.RUNS, agent["name"])
    lost = {
        setting.agent
        for setting in held_filter.held
        if setting.key.split("].", 1)[-1] in held_rules.ESSENTIAL
    }
    out["agents"] = [rest for agent, rest, _ in kept if agent["name"] not in lost]
    return out, tuple(held_filter.held)


def _gets_held_command(
    agent: Mapping[str, Any],
    rest: Mapping[str, Any],
    written: Mapping[str, Any],
    left: Mapping[str, Any],
) -> bool:
    held = "command" in written and "command" not in left
    runtime = agent.get("runtime", written.get("runtime"))
    return held and runtime == "command" and "command" not in rest and "command" not in agent


class _Filter:
    def __init__(self, file: ConfigFile, repository: Path, own: AgentDefaults) -> None:
        self.file = file
        self.repository = repository
        self.own = own
        self.held: list[Held] = []

    def hold(self, path: KeyPath, reason: str, agent: str | None = None) -> None:
        self.held.append(Held(self.file.path, self.file.line_of(path), dotted(path), reason, agent))

    def without(
        self,
        table: Mapping[str, Any],
        at: KeyPath,
        key: str,
        reason: str,
        agent: str | None = None,
    ) -> dict[str, Any]:
        """Return the table without this key, and record the key as ignored."""
        first, _, rest = key.partition(".")
        if rest:
            inner = self.without(table[first], (*at, first), rest, reason, agent)
            return {**table, first: inner}
        self.hold((*at, first), reason, agent)
        return {name: inner for name, inner in table.items() if name != first}

    def agent(
        self, table: Mapping[str, Any], at: KeyPath, name: str | None = None
    ) -> dict[str, Any]:
        out = dict(table)
        for key, rule in held_rules.HELD.items():
            value = _at(out, key)
            if value is not None and rule.wider(*self._read(key, value), self.own):
                out = self.without(out, at, key, rule.reason, name)
        for key in held_rules.PATHS:
            value = _at(out, key)
            if value and (reason := self._why_held(value)):
                out = self.without(out, at, key, reason, name)
        return out

    def notifications(self, table: Mapping[str, Any], own: Notifications) -> dict[str, Any]:
        out = dict(table)
        for key, value in table.items():
            if getattr(Notifications.model_validate({key: value}), key) != getattr(own, key):
                reason = held_rules.HELD_ELSEWHERE[f"notifications.{key}"]
                out = self.without(out, ("notifications",), key, reason)
        return out

    def limits(self, table: Mapping[str, Any], own: DayLimits) -> dict[str, Any]:
        out = dict(table)
        for key, value in table.items():
            read = getattr(DayLimits.model_validate({key: value}), key)
            if held_rules.higher_or_unlimited(read, getattr(own, key), self.own):
                reason = held_rules.HELD_ELSEWHERE[f"limits.{key}"]
                out = self.without(out, ("limits",), key, reason)
        return out

    def _read(self, key: str, value: Any) -> tuple[Any, Any]:
        """Return the file's value of a setting as it would apply, and the user's own value."""
        section, _, name = key.rpartition(".")
        own = getattr(self.own, section) if section else self.own
        return getattr(type(own).model_validate({name: value}), name), getattr(own, name)

    def _why_held(self, written: str) -> str | None:
        """Return why a path needs trust; None for a path in the repository, outside `.git`."""
        if not Path(os.path.realpath(written)).is_relative_to(self.repository):
            return held_rules.OUTSIDE
        return held_rules.IN_GIT if git_folder_around(Path(written)) is not None else None


def _at(table: Mapping[str, Any], key: str) -> Any:
    value: Any = table
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value
