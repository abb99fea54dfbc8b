"""What a file that came with a repository may not decide until the pilot trusts it.

Such a file may name agents, prompts, bands and worktrees. What runs, sends, widens what an
agent may do, or reaches outside the repository is taken out and told; the rest still counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cockpit.config.file import ConfigFile, dotted, shown_path
from cockpit.config.lines import KeyPath

_RUNS = "it decides what runs"
_SENDS = "it decides what is sent, and where"
_WIDENS = "it decides what an agent may do"
_OUTSIDE = "it reaches outside the repository"

_AGENT_KEYS: tuple[tuple[str, str], ...] = (
    ("arguments", _WIDENS),
    ("command", _RUNS),
    ("env", _RUNS),
    ("hooks", _RUNS),
    ("permission_mode", _WIDENS),
    ("worktree.setup", _RUNS),
    ("worktree.push_on_success", _SENDS),
    ("worktree.create_pr", _SENDS),
)
_AGENT_PATHS = ("directory", "prompt_file", "handoff.template", "worktree.directory")
_ESSENTIAL = ("command", "directory", "prompt_file", "worktree.directory")
"""Without one of these, an agent would run as something, or somewhere, that nobody asked for."""


@dataclass(frozen=True, slots=True)
class Held:
    """One setting that was left out."""

    file: Path
    line: int
    key: str
    reason: str
    agent: str | None = None
    """The agent it was written for; None where it would have held for all of the file."""

    def __str__(self) -> str:
        return f"{shown_path(self.file)}:{self.line}: {self.key} is held: {self.reason}"


def without_held(
    file: ConfigFile, data: Mapping[str, Any], repository: Path
) -> tuple[dict[str, Any], tuple[Held, ...]]:
    """The data of an untrusted file that may count, and what was taken out of it.

    `data` has absolute paths. An agent that cannot be right without what was held is taken out
    whole; a value that asks for nothing (empty, false) is never held.
    """
    sieve = _Sieve(file, repository.resolve())
    out = {key: value for key, value in data.items() if key not in ("hosts", "notifications")}
    if hosts := data.get("hosts"):
        for place, _ in enumerate(hosts):
            sieve.hold(("hosts", place), _RUNS)
    if notifications := data.get("notifications"):
        out["notifications"] = sieve.taken(notifications, ("notifications",), "urls", _SENDS)
    if defaults := data.get("defaults"):
        out["defaults"] = sieve.agent(defaults, ("defaults",))
    agents = data.get("agents", [])
    kept = [
        (agent, sieve.agent(agent, ("agents", place), agent["name"]))
        for place, agent in enumerate(agents)
    ]
    _hold_heirs(sieve, data, kept)
    lost = {held.agent for held in sieve.held if held.key.split("].", 1)[-1] in _ESSENTIAL}
    out["agents"] = [rest for agent, rest in kept if agent["name"] not in lost]
    return out, tuple(sieve.held)


def _hold_heirs(
    sieve: _Sieve, data: Mapping[str, Any], kept: list[tuple[dict[str, Any], dict[str, Any]]]
) -> None:
    """Agents that would run what the defaults of this file say, which is held."""
    defaults = data.get("defaults", {})
    if not defaults.get("command"):
        return
    for place, (agent, rest) in enumerate(kept):
        runtime = agent.get("runtime", defaults.get("runtime"))
        if runtime == "command" and not rest.get("command") and not agent.get("command"):
            sieve.hold(("agents", place, "command"), _RUNS, agent["name"])


class _Sieve:
    def __init__(self, file: ConfigFile, repository: Path) -> None:
        self.file = file
        self.repository = repository
        self.held: list[Held] = []

    def hold(self, path: KeyPath, reason: str, agent: str | None = None) -> None:
        self.held.append(Held(self.file.path, self.file.line_of(path), dotted(path), reason, agent))

    def taken(
        self,
        table: Mapping[str, Any],
        at: KeyPath,
        key: str,
        reason: str,
        agent: str | None = None,
    ) -> dict[str, Any]:
        """The table without a key, which may be dotted."""
        first, _, rest = key.partition(".")
        value = table.get(first)
        if rest:
            if not isinstance(value, Mapping):
                return dict(table)
            return {**table, first: self.taken(value, (*at, first), rest, reason, agent)}
        if not value:
            return dict(table)
        self.hold((*at, first), reason, agent)
        return {name: inner for name, inner in table.items() if name != first}

    def agent(
        self, table: Mapping[str, Any], at: KeyPath, name: str | None = None
    ) -> dict[str, Any]:
        out = dict(table)
        for key, reason in _AGENT_KEYS:
            out = self.taken(out, at, key, reason, name)
        if out.get("start") == "auto":
            out = self.taken(out, at, "start", _RUNS, name)
        for key in _AGENT_PATHS:
            if self._outside(out, key):
                out = self.taken(out, at, key, _OUTSIDE, name)
        return out

    def _outside(self, table: Mapping[str, Any], key: str) -> bool:
        value: Any = table
        for part in key.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        return bool(value) and not Path(value).resolve().is_relative_to(self.repository)
