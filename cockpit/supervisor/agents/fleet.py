"""All agents of one supervisor: configured, started, remembered.

Knows who there is and under which settings; starts nothing. A file that does not read changes
nothing: the fleet keeps what it had, and the caller hears why.
"""

from __future__ import annotations

import asyncio
import difflib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from cockpit.adapters.process.environments import Environments
from cockpit.config.loaded import Loaded
from cockpit.config.read import load
from cockpit.config.schema import AgentSettings
from cockpit.config.trust import trust
from cockpit.core.errors import CockpitError, Hindered, NoSuchAgent, NotNow
from cockpit.core.handoff.states import Outcome
from cockpit.core.ids import AgentName, agent_name
from cockpit.core.redaction import Redactor, secret_values
from cockpit.ports.records import AgentRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.dependencies import Dependencies

USER = AgentName("pilot")
"""The name of the file with the user's own addresses, which stands in a folder by itself."""
MOST_ADDRESSES = 50
READ_PATIENCE = 30.0
"""Seconds for reading and checking a configuration."""


class Fleet:
    """Every agent, in the order in which it became known."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies = dependencies
        self._agents: dict[AgentName, Agent] = {}
        self._environments = Environments(dependencies.places.state / "environments")
        self._hooks = Environments(dependencies.places.state / "agent-hooks")
        """Addresses and headers of hooks may hold secrets just as an environment does."""
        self._addresses = Environments(dependencies.places.state / "notified")
        self.notified: tuple[str, ...] = ()
        """Where the user is or was told of things; tokens in them must never be shown."""
        self.loaded: Loaded | None = None
        self.read_last: tuple[Path | None, bool] = (None, False)
        """The file that `loaded` came from, and whether it was named by the user."""
        self._reading: dict[Path | None, asyncio.Lock] = {}
        self.is_busy: Callable[[str], bool] = lambda _: False
        """Whether another task changes the agent of this name now."""

    def __iter__(self) -> Iterator[Agent]:
        return iter(tuple(self._agents.values()))

    def agent(self, name: str) -> Agent:
        """The agent of that name. Raises `NoSuchAgent`, with the nearest name."""
        if (found := self._agents.get(AgentName(name))) is not None:
            return found
        close = difflib.get_close_matches(name, list(self._agents), n=1)
        hint = f"Did you mean {close[0]}?" if close else "List them: cockpit status"
        raise NoSuchAgent(f"There is no agent {name!a}", "", hint)

    def find(self, name: str) -> Agent | None:
        return self._agents.get(AgentName(name))

    def folders(self) -> dict[str, str]:
        """Each agent's folder for its documents, in its directory."""
        return {agent.name: str(agent.settings.handoff.directory) for agent in self}

    def load(self, config: Path | None, *, named: bool) -> Loaded:
        """Read the files and take up their agents as agents; those that live are left alone.

        Blocks for as long as reading takes: within the event loop, use `reload`. Raises
        `BadConfig`, and `NotNow` for a name that another file has taken.
        """
        return self._take_up_all(self._read(config, named=named), config, named=named)

    async def reload(self, config: Path | None, *, named: bool, again: bool = False) -> Loaded:
        """The same with reading and checking on another thread; two reads of a file take turns.

        With `again` the file was named earlier: what changed since is not trusted.
        Raises `NoAnswer` too, where the file system does not answer.
        """
        async with self._reading.setdefault(config, asyncio.Lock()):
            read = partial(self._read, config, named=named, again=again)
            loaded = await self._dependencies.slow.ask(
                ("configuration", config), read, READ_PATIENCE
            )
            return self._take_up_all(loaded, config, named=named, again=again)

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

    def _take_up_all(
        self, loaded: Loaded, config: Path | None, *, named: bool, again: bool = False
    ) -> Loaded:
        for settings in loaded.settings.agents:
            self._check_owner(settings.name, loaded.file_of(settings.name))
        for settings in loaded.settings.agents:
            self.take_up(settings, loaded.file_of(settings.name))
        self.loaded = loaded
        self.read_last = (config, named)
        self._know(loaded.settings.notifications.urls)
        if named and not again and config is not None:
            # Naming a file is trusting what it says now; finding the same content later is no news.
            trust(self._dependencies.places, config)
        return loaded

    def _know(self, addresses: Iterable[str]) -> None:
        """Earlier ones stay known, over a restart too: a session's record may hold them."""
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
            return  # named once, never flown: the newer file may have it
        raise NotNow(
            f"There is an agent {name} already, from another file",
            f"{owner} names it, and so does {file}.",
            "Give one of the two another name.",
        )

    def take_up(self, settings: AgentSettings, file: Path | None) -> Agent:
        """An agent for these settings; one that is there and not living gets them.

        Of one that lives or is being started only the marks change: everything else was decided
        when it was started.
        """
        name = agent_name(settings.name)
        agent = self.find(name)
        if agent is not None and self._is_taken(agent):
            agent.mark_by(settings.context)
            written = self._plain(agent.settings)
            where = str(file) if file else agent.record.config_file
            self._dependencies.store.save_agent(agent.change(settings=written, config_file=where))
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
        # The runtime first: one that is refused must leave the agent as it was.
        agent.runtime = self._dependencies.runtimes(settings.runtime)
        agent.settings = settings
        agent.change(settings=self._plain(settings), config_file=record.config_file)
        if agent.record.session is None:
            agent.change(directory=record.directory)
        self._write_down(agent)
        return agent

    def _plain(self, settings: AgentSettings) -> dict[str, Any]:
        return plain(settings, self._dependencies.environment)

    def _is_taken(self, agent: Agent) -> bool:
        """It runs, is being started, or is between two sessions."""
        return agent.in_use or self.is_busy(agent.name)

    def _add(self, record: AgentRecord, settings: AgentSettings) -> Agent:
        """An agent that nobody knew; of one that cannot be written down nothing is left."""
        agent = self._new(record, settings)
        try:
            self._write_down(agent)
        except BaseException:
            self.forget(agent)
            raise
        return agent

    def _write_down(self, agent: Agent) -> None:
        """Raises `Hindered` for a disk that takes nothing."""
        try:
            self._environments.keep(agent.name, agent.settings.env)
            self._hooks.keep(agent.name, _hooks_of(agent.settings))
        except OSError as refused:
            raise Hindered(
                f"The environment of {agent.name} cannot be written down",
                f"{self._dependencies.places.state}: {refused.strerror or refused}.",
                "Is the disk full?",
            ) from refused
        self._dependencies.store.save_agent(agent.record)

    def forget(self, agent: Agent) -> None:
        """Take an agent off the list that nobody sits in, and a job of it that no session began.

        Never raises for a disk that refuses: what it keeps of the agent is dropped by `remember`.
        """
        self._agents.pop(agent.name, None)
        with suppress(Hindered, OSError):
            self._dependencies.store.forget_agent(agent.name)
            self._environments.forget(agent.name)
            self._hooks.forget(agent.name)

    def _new(self, record: AgentRecord, settings: AgentSettings) -> Agent:
        environment = {**self._dependencies.environment, **settings.env}
        runtime = self._dependencies.runtimes(settings.runtime)
        agent = Agent(record, settings, runtime, environment)
        agent.notified = self.notified
        self._agents[record.name] = agent
        return agent

    def remember(self) -> None:
        """Bring back the agents of an earlier supervisor, with their jobs and chains.

        An agent whose settings cannot be understood any more is told of and left out; its record
        stays.
        """
        self.notified = tuple(self._addresses.recall(USER).values())
        for record in self._dependencies.store.agents():
            if record.config_file is None and record.job is None and record.run is None:
                # Its start was refused, by a disk that did not take that either.
                self._dependencies.store.forget_agent(record.name)
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
                agent = self._new(record, settings)
            except (ValueError, CockpitError) as wrong:
                self._dependencies.event_log.record(
                    "agent.not_understood",
                    f"{record.name} cannot be taken up: its settings do not read ({wrong})",
                    record.name,
                )
                continue
            self.recall(agent)

    def recall(self, agent: Agent) -> None:
        """The agent's job, session and chain, as they are written down."""
        store = self._dependencies.store
        agent.job = store.job(agent.record.job) if agent.record.job else None
        agent.session = store.session(agent.record.session) if agent.record.session else None
        agent.chain = store.chain(agent.job.id) if agent.job else []
        done = store.handoffs(agent.job.id) if agent.job else []
        for each in done:
            if cost := each.details.writer_cost_usd:
                known = agent.aside_costs.get(each.old_session, 0.0)
                agent.aside_costs[each.old_session] = known + cost
        agent.handoffs = sum(each.outcome == Outcome.DONE.value for each in done)
        last = done[-1] if done else None
        here = last is not None and last.old_session == agent.record.session
        if last is not None and here and last.outcome == Outcome.REVIVED.value:
            at = last.details.closed or last.ended or 0.0
            agent.progress.was_revived(at, last.why or "its reason was not written down")
        if done and done[-1].outcome == Outcome.FAILED.value and agent.record.wanted:
            agent.progress.has_failed(done[-1].why or "its reason was not written down")


def plain(settings: AgentSettings, environment: Mapping[str, str]) -> dict[str, Any]:
    """Settings as they are written down: only what was said, so that defaults stay defaults.

    The environment and the hooks, which may hold secrets, are not among them, and the prompt is
    without the secrets in it: its file has all of it.
    """
    held: dict[str, Any] = settings.model_dump(
        mode="json", exclude_unset=True, exclude={"env", "hooks"}
    )
    if isinstance(prompt := held.get("prompt"), str) and prompt:
        redactor = Redactor(secret_values({**environment, **settings.env}))
        held["prompt"] = redactor.redact(prompt).text
    return held


def _hooks_of(settings: AgentSettings) -> dict[str, str]:
    """The hooks by event, each list as JSON."""
    held = settings.hooks.model_dump(mode="json", exclude_defaults=True)
    return {event: json.dumps(written) for event, written in held.items()}
