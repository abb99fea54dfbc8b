"""The settings of an agent that is to start: its configuration with the options of the request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cockpit.config.loaded import Loaded, changed_agent
from cockpit.config.schema import AgentSettings
from cockpit.core.errors import BadUsage, NoSuchAgent, NotNow
from cockpit.core.ids import AgentName
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.reopen import LAST
from cockpit.wire.verbs import Start

DECISIVE = frozenset({"arguments", "command", "env", "permission_mode"})
"""Settings that must not be left out: if one of them is not trusted, the agent is not started."""


class RequestedSettings:
    """Combines an agent's configuration with the options of a start request. Changes nothing."""

    def __init__(self, dependencies: Dependencies, fleet: Fleet) -> None:
        self._dependencies = dependencies
        self._fleet = fleet

    def combined(
        self,
        name: AgentName,
        asked: Start,
        *,
        in_place: bool = False,
        loaded: Loaded | None = None,
    ) -> tuple[AgentSettings, Path | None]:
        """Return the settings, and the configuration file that defines the agent.

        `in_place`: work in the directory itself, even if a worktree is configured. `loaded`: the
        configuration; None for the supervisor's configuration. Raises `NoSuchAgent` and `BadUsage`,
        and `NotNow` if a setting in `DECISIVE` is not trusted.
        """
        loaded = loaded or self._fleet.loaded
        assert loaded is not None
        self._check_runtime(name, asked)
        options: dict[str, Any] = {}
        if asked.directory:
            options["directory"] = resolve_dots(Path(asked.directory))
        if asked.runtime:
            loaded.check_runtime(asked.runtime)
            options["runtime"] = asked.runtime
        if asked.command:
            if asked.runtime not in (None, "command"):
                raise BadUsage(
                    f'runtime "{asked.runtime}" takes no command',
                    "The runtime determines the program.",
                    'Leave the runtime out, or choose the runtime "command".',
                )
            options |= {"runtime": "command", "command": tuple(asked.command)}
        if asked.mode:
            options["mode"] = asked.mode
        if asked.worktree:
            options["worktree"] = {"strategy": "git_worktree"}
        if in_place:
            options["worktree"] = {"strategy": "none"}
        return self._settings(loaded, name, options, asked.cwd)

    def _check_runtime(self, name: AgentName, asked: Start) -> None:
        """Raise `BadUsage` if the session to reopen belongs to a CLI that was not requested."""
        agent = self._fleet.find(name)
        named = agent.record.session if agent and asked.resume == LAST else asked.resume
        held = self._dependencies.store.session(named) if named and asked.runtime else None
        if held is None:
            return
        owner = self._fleet.find(held.agent)
        runtime = held.runtime or (owner.settings.runtime if owner else asked.runtime)
        if runtime != asked.runtime:
            raise BadUsage(
                f"Session {held.id} ran in {runtime}, not in {asked.runtime}",
                "A CLI can reopen only its own sessions.",
                f"Reopen the session, then change the CLI: cockpit start {name} --resume "
                f"{held.id}, then cockpit handoff {name} --to {asked.runtime}",
            )

    def _settings(
        self, loaded: Loaded, name: AgentName, options: dict[str, Any], cwd: str | None
    ) -> tuple[AgentSettings, Path | None]:
        agent = self._fleet.find(name)
        _refuse_if_held(loaded, name)
        try:
            known = loaded.agent(name)
            return (changed_agent(known, **options) if options else known), loaded.file_of(name)
        except NoSuchAgent:
            if loaded.held_for(name):
                raise
            if agent is not None:
                base = agent.settings
                return (changed_agent(base, **options) if options else base), None
            if "directory" not in options and cwd is None:
                raise
            directory = options.pop("directory", None) or Path(str(cwd))
            return loaded.new_agent(name, directory, **options), None


def resolve_dots(path: Path) -> Path:
    """Resolve a path that contains `..`, including symlinks; return any other path unchanged."""
    return path.resolve() if ".." in path.parts else path


def _refuse_if_held(loaded: Loaded, name: AgentName) -> None:
    """Raise `NotNow` if the user has not trusted a setting of the agent that is in `DECISIVE`."""
    held = [
        setting for setting in loaded.held_for(name) if setting.key.rpartition(".")[2] in DECISIVE
    ]
    if held:
        raise NotNow(
            f"{name} cannot start until you trust its configuration file",
            "\n".join(str(setting) for setting in held),
            f"Read the file, then: cockpit config trust {held[0].file}",
        )
