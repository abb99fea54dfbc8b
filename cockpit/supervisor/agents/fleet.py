"""All agents of one supervisor, with their settings.

Starts nothing. An invalid configuration file changes nothing: the last valid configuration is still
used, and the caller gets the error.
"""

from __future__ import annotations

import asyncio
import difflib
import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from cockpit.adapters.process.environments import Environments
from cockpit.config.loaded import Loaded
from cockpit.config.project import folder_in_worktree, is_there
from cockpit.config.read import load
from cockpit.config.return_keys import return_keys
from cockpit.config.schema import AgentSettings
from cockpit.config.trust import trust
from cockpit.core.errors import CockpitError, NoSuchAgent, NotNow, OsProblem
from cockpit.core.events import Plain
from cockpit.core.handoff.states import CONFIRMED, Outcome
from cockpit.core.ids import AgentName, agent_name
from cockpit.core.redaction import Redactor, secret_values
from cockpit.ports.records import AgentRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.session_runtime import runtime_of
from cockpit.supervisor.dependencies import Dependencies

_log = logging.getLogger(__name__)
USER = AgentName("pilot")
"""Name of the file with the notification URLs. Earlier versions chose the word "pilot"."""
MOST_ADDRESSES = 50
NAME_LENGTH = 32
READ_PATIENCE = 30.0
"""Time limit in seconds for reading and checking a configuration."""


class Fleet:
    """All agents, in the order in which they were added."""

    def __init__(
        self, dependencies: Dependencies, is_busy: Callable[[str], bool] = lambda _: False
    ) -> None:
        """`is_busy` takes an agent's name, and returns whether a task is changing that agent."""
        self._dependencies = dependencies
        self._agents: dict[AgentName, Agent] = {}
        self._environments = Environments(dependencies.places.state / "environments")
        self._hooks = Environments(dependencies.places.state / "agent-hooks")
        """The agents' hooks, in private files like the environments: URLs and headers may be
        secret."""
        self._addresses = Environments(dependencies.places.state / "notified")
        self.notified: tuple[str, ...] = ()
        """Notification URLs, current and earlier. The tokens in these URLs must never be shown."""
        self.loaded: Loaded | None = None
        self.read_last: tuple[Path | None, bool] = (None, False)
        """The file from which `loaded` was read, and whether the user named the file."""
        self._reading: dict[Path | None, asyncio.Lock] = {}
        self._return_keys: tuple[str, ...] = ()
        """The keys that this object has bound in tmux; empty before the first `reload`."""
        self._is_busy = is_busy

    def __iter__(self) -> Iterator[Agent]:
        return iter(tuple(self._agents.values()))

    def agent(self, name: str) -> Agent:
        """Return the agent with that name.

        Raises `NoSuchAgent`; the hint suggests a similar name, if there is one.
        """
        if (agent := self._agents.get(AgentName(name))) is not None:
            return agent
        close = difflib.get_close_matches(name, list(self._agents), n=1)
        hint = f"Did you mean {close[0]}?" if close else "List the agents: cockpit status"
        raise NoSuchAgent(f"There is no agent {name!a}", "", hint)

    def find(self, name: str) -> Agent | None:
        return self._agents.get(AgentName(name))

    def free_name(self, stem: str) -> AgentName:
        """Return `stem` as a name, with a number appended if an agent already has that name."""
        name, number = stem, 1
        while self.find(name) is not None:
            number += 1
            ending = f"-{number}"
            name = stem[: NAME_LENGTH - len(ending)] + ending
        return agent_name(name)

    def folders(self) -> dict[str, str]:
        """Return each agent's folder for documents, relative to the agent's directory, by name."""
        return {agent.name: str(agent.settings.handoff.directory) for agent in self}

    def load(self, config: Path | None, *, named: bool) -> Loaded:
        """Read the configuration and update the agents; see `take_up` for running agents.

        Blocks while reading: in the event loop, use `reload`. Raises `BadConfig`, and `NotNow` if
        another file already has an agent of the same name.
        """
        return self._apply_all(self._read(config, named=named), config, named=named)

    async def reload(self, config: Path | None, *, named: bool, again: bool = False) -> Loaded:
        """Read the configuration like `load`, but on a thread; reads of one file do not overlap.

        With `again`, the user specified the file earlier, so changes since then are not trusted.
        Also raises `NoAnswer` if the file system does not answer.
        """
        async with self._reading.setdefault(config, asyncio.Lock()):
            read = partial(self._read, config, named=named, again=again)
            loaded = await self._dependencies.slow.ask(
                ("configuration", config), read, READ_PATIENCE
            )
            taken = self._apply_all(loaded, config, named=named, again=again)
        await self._bind_return_keys(taken)
        return taken

    async def read_apart(self, config: Path, name: str, *, named: bool) -> Loaded:
        """Read a file for one agent, and add the file's runtimes and notification URLs.

        With `named`, also trusts the file. Changes neither the supervisor's own configuration nor
        any agent's settings. Raises like `reload`.
        """
        read = partial(self._read, config, named=named)
        loaded = await self._dependencies.slow.ask(("configuration", config), read, READ_PATIENCE)
        own, files = loaded.settings.runtimes, loaded.runtime_files
        self._dependencies.own_runtimes.check(own, files)
        self._check_owner(name, loaded.file_of(name))
        self._dependencies.own_runtimes.define(own, files)
        # cockpit does not use these URLs, but an agent of the file may read them in the file.
        self._add_addresses(loaded.settings.notifications.urls)
        if named:
            trust(self._dependencies.places, config)
        return loaded

    async def reload_changed(self) -> None:
        """Read the user's own file and the last loaded file again, if a request names no file.

        Skips the last loaded file if it was removed. Raises like `reload`.
        """
        config, named = self.read_last
        if config is not None:
            exists = partial(is_there, config)
            if not await self._dependencies.slow.ask(("exists", config), exists, READ_PATIENCE):
                config, named = None, False
        await self.reload(config, named=named, again=True)

    async def _bind_return_keys(self, loaded: Loaded) -> None:
        """Bind in tmux the configured keys that return from a pane to cockpit.

        On an error, tmux keeps the previous keys.
        """
        keys = return_keys(loaded.settings.keys)
        if keys == self._return_keys:
            return
        try:
            await self._dependencies.panes.bind_return_keys(keys)
        except (CockpitError, OSError) as error:
            _log.warning("cannot bind the keys for leaving a pane: %s", error)
        else:
            self._return_keys = keys

    def _read(self, config: Path | None, *, named: bool, again: bool = False) -> Loaded:
        where = config.parent if config is not None else Path("/")
        return load(
            self._dependencies.places,
            config,
            where,
            self._dependencies.environment,
            named=named,
            again=again,
        )

    def _apply_all(
        self, loaded: Loaded, config: Path | None, *, named: bool, again: bool = False
    ) -> Loaded:
        own, files = loaded.settings.runtimes, loaded.runtime_files
        self._dependencies.own_runtimes.check(own, files)
        for settings in loaded.settings.agents:
            self._check_owner(settings.name, loaded.file_of(settings.name))
        self._dependencies.own_runtimes.define(own, files)
        for settings in loaded.settings.agents:
            self.take_up(settings, loaded.file_of(settings.name))
        self.loaded = loaded
        self.read_last = (config, named)
        self._add_addresses(loaded.settings.notifications.urls)
        if named and not again and config is not None:
            # Specifying a file trusts its current content, but not later changes.
            trust(self._dependencies.places, config)
        return loaded

    def _add_addresses(self, addresses: Iterable[str]) -> None:
        """Add notification URLs. Keeps earlier URLs, whose tokens may still be in transcripts."""
        self.notified = tuple(dict.fromkeys((*addresses, *self.notified)))[:MOST_ADDRESSES]
        held = {str(number): address for number, address in enumerate(self.notified)}
        self._addresses.keep(USER, held)
        for agent in self:
            agent.notified = self.notified

    def _check_owner(self, name: str, file: Path | None) -> None:
        agent = self.find(name)
        owner = agent.record.config_file if agent else None
        if owner is None or file is None or not Path(owner).exists():
            return
        if Path(owner) == file or Path(owner).samefile(file):
            return
        if agent is not None and not agent.alive and agent.record.session is None:
            return  # the agent was never started, so the newer file may use its name
        raise NotNow(
            f"Another file already has an agent {name}",
            f"Both {owner} and {file} define {name}.",
            "Rename one of the two agents.",
        )

    def take_up(self, settings: AgentSettings, file: Path | None) -> Agent:
        """Create the agent with these settings, or update it.

        If the agent is running, being started, handed off or changed by a task, only the context
        settings change now; other settings apply from the agent's next start.
        """
        name = agent_name(settings.name)
        agent = self.find(name)
        if agent is not None and self._is_taken(agent):
            agent.set_context(settings.context)
            written = self._plain(agent.settings)
            where = str(file) if file else agent.record.config_file
            record = replace(agent.record, settings=written, config_file=where)
            agent.save(self._dependencies.store, record)
            return agent
        record = AgentRecord(
            name=name,
            settings=self._plain(settings),
            config_file=str(file) if file else None,
            wanted=False,
            directory=str(settings.directory),
        )
        if agent is None:
            return self._add(record, settings)
        # Create the runtime first: if that raises, the agent must be unchanged.
        runtime = self._dependencies.runtimes(settings.runtime)
        is_new = agent.record.session is None
        known = agent.with_directory(record.directory) if is_new else agent.record
        self._keep_files(agent.name, settings)
        agent.save(
            self._dependencies.store,
            replace(known, settings=record.settings, config_file=record.config_file),
        )
        agent.settings = settings
        if agent.session is None or agent.session.runtime in ("", runtime.name):
            agent.runtime = runtime
        return agent

    def _plain(self, settings: AgentSettings) -> dict[str, Any]:
        return plain(settings, self._dependencies.environment)

    def _is_taken(self, agent: Agent) -> bool:
        return agent.in_use or self._is_busy(agent.name)

    def _add(self, record: AgentRecord, settings: AgentSettings) -> Agent:
        """Create and save an agent. If saving fails, removes the agent and raises the error."""
        agent = self._new(record, settings)
        try:
            self._save(agent)
        except BaseException:
            self.forget(agent)
            raise
        return agent

    def _save(self, agent: Agent) -> None:
        """Save the agent's record, environment and hooks. Raises `OsProblem` on a disk error."""
        self._keep_files(agent.name, agent.settings)
        self._dependencies.store.save_agent(agent.record)

    def _keep_files(self, name: AgentName, settings: AgentSettings) -> None:
        try:
            self._environments.keep(name, settings.env)
            self._hooks.keep(name, _hooks_of(settings))
        except OSError as refused:
            raise OsProblem(
                f"Cannot save the environment of {name}",
                f"{self._dependencies.places.state}: {refused.strerror or refused}.",
                "Check whether the disk is full.",
            ) from refused

    def forget(self, agent: Agent) -> None:
        """Remove an agent that has no session, together with its job.

        Does not raise on a disk error: the agent's record, environment and hooks then stay until
        the next `remember`. But `remember` restores a record that has a configuration file, a job
        or a marker (`run`), because that agent may not be started yet, or its worktree may still be
        being set up.
        """
        self._agents.pop(agent.name, None)
        self._forget_record(agent.name)

    def remove(self, agent: Agent) -> None:
        """Remove an agent that is not in use. Its history stays. Raises `OsProblem`."""
        self._dependencies.store.forget_agent(agent.name)
        self._agents.pop(agent.name, None)
        self._forget_files(agent.name)

    def rename(self, agent: Agent, name: AgentName) -> None:
        """Rename an agent that is not in use. The new name must be free. Raises `OsProblem`."""
        old = agent.name
        self._keep_files(name, agent.settings)
        self._dependencies.store.rename_agent(old, name)
        agent.change(name=name)
        agent.settings = agent.settings.model_copy(update={"name": name})
        agent.job = replace(agent.job, agent=name) if agent.job else None
        agent.session = replace(agent.session, agent=name) if agent.session else None
        agent.chain = [replace(session, agent=name) for session in agent.chain]
        self._agents = {agent.name: agent for agent in self}
        self._forget_files(old)
        agent.change(settings=self._plain(agent.settings))
        with suppress(
            OsProblem
        ):  # the stored settings contain the old name too, but it is never read
            self._dependencies.store.save_agent(agent.record)

    def define_again(self, name: str) -> Agent | None:
        """Add the agent that the loaded configuration defines by this name, and return it.

        Returns None if the configuration does not define it.
        """
        for settings in self.loaded.settings.agents if self.loaded else ():
            if settings.name == name and self.loaded is not None:
                return self.take_up(settings, self.loaded.file_of(name))
        return None

    def _forget_record(self, name: AgentName) -> None:
        """Remove an agent's record, environment and hooks.

        Keeps all of them if the record cannot be removed.
        """
        with suppress(OsProblem, OSError):
            self._dependencies.store.forget_agent(name)
            self._forget_files(name)

    def _forget_files(self, name: AgentName) -> None:
        for values in (self._environments, self._hooks):
            with suppress(OSError):
                values.forget(name)

    def _new(self, record: AgentRecord, settings: AgentSettings) -> Agent:
        environment = {**self._dependencies.environment, **settings.env}
        runtime = self._dependencies.runtimes(settings.runtime)
        agent = Agent(record, settings, runtime, environment)
        agent.notified = self.notified
        self._agents[record.name] = agent
        return agent

    def remember(self) -> None:
        """Restore the agents of an earlier supervisor, with their jobs and chains.

        An agent whose stored settings are invalid is skipped, and an event reports it; its record
        stays in the database.
        """
        self.notified = tuple(self._addresses.recall(USER).values())
        self._dependencies.own_runtimes.recall()
        for record in self._dependencies.store.agents():
            if record.config_file is None and record.job is None and record.run is None:
                # The agent's start failed, and a disk error kept `forget` from removing the record.
                self._forget_record(record.name)
                continue
            try:
                env = self._environments.recall(record.name)
                hooks = {
                    event: json.loads(written)
                    for event, written in self._hooks.recall(record.name).items()
                }
                settings = AgentSettings.model_validate(
                    {**record.settings, "env": env, "hooks": hooks}
                )
                agent = self._new(_with_folder(record), settings)
            except (ValueError, CockpitError) as wrong:
                self._dependencies.event_log.record(
                    Plain("agent.not_understood"),
                    f"Cannot restore {record.name}: its settings are not valid ({wrong})",
                    record.name,
                )
                continue
            self.recall(agent)

    def recall(self, agent: Agent) -> None:
        """Restore the agent's job, session and chain from the database."""
        store = self._dependencies.store
        agent.job = store.job(agent.record.job) if agent.record.job else None
        agent.session = store.session(agent.record.session) if agent.record.session else None
        agent.runtime = runtime_of(self._dependencies.runtimes, agent, agent.session)
        agent.read_chain(store, agent.job.id if agent.job else None)
        handoffs = store.handoffs(agent.job.id) if agent.job else []
        for handoff in handoffs:
            if cost := handoff.details.writer_cost_usd:
                known = agent.copy_costs.get(handoff.old_session, 0.0)
                agent.copy_costs[handoff.old_session] = known + cost
        agent.handoffs = sum(handoff.outcome in CONFIRMED for handoff in handoffs)
        last = handoffs[-1] if handoffs else None
        here = last is not None and last.old_session == agent.record.session
        if last is not None and here and last.outcome == Outcome.REVIVED.value:
            at = last.details.closed or last.ended or 0.0
            agent.progress.set_revived(at, last.why or "the reason was not saved")
        if last is not None and last.outcome == Outcome.FAILED.value and agent.record.wanted:
            agent.progress.set_failed(last.why or "the reason was not saved")


def plain(settings: AgentSettings, environment: Mapping[str, str]) -> dict[str, Any]:
    """Return settings as they are stored: only explicitly set values, so that new defaults apply.

    The environment and the hooks are left out, because they may contain secrets. The prompt is
    stored without secrets; the configuration file has the full text.
    """
    held: dict[str, Any] = settings.model_dump(
        mode="json", exclude_unset=True, exclude={"env", "hooks"}
    )
    if isinstance(prompt := held.get("prompt"), str) and prompt:
        redactor = Redactor(secret_values({**environment, **settings.env}))
        held["prompt"] = redactor.redact(prompt).text
    return held


def _with_folder(record: AgentRecord) -> AgentRecord:
    """Return the record with `folder` set; versions without that field did not store it."""
    if record.worktree is None or record.folder is not None:
        return record
    folder = folder_in_worktree(Path(record.worktree), Path(record.directory))
    return replace(record, folder=str(folder))


def _hooks_of(settings: AgentSettings) -> dict[str, str]:
    """Return the hooks of each event as JSON, by the event's name."""
    held = settings.hooks.model_dump(mode="json", exclude_defaults=True)
    return {event: json.dumps(written) for event, written in held.items()}
