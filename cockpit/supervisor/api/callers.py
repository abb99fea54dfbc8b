"""Identify the caller of a request, check the caller's permissions, and record requests.

The kernel reports the process at the other end of the socket. An agent is recognized by the markers
in the environment of that process and its ancestors, and by the agents' own processes among the
ancestors. So an agent cannot hide by removing the markers from its own environment.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from cockpit.adapters.process.ancestry import started_by_tmux
from cockpit.config.schema import MaySettings
from cockpit.config.this_user import this_user
from cockpit.core.callers import (
    LOOK,
    Caller,
    CallerKind,
    refuse_if_ended,
    refuse_unless_allowed,
    ssh_address,
)
from cockpit.core.errors import NotAllowed
from cockpit.core.events import VerbAsked
from cockpit.ports.processes import Ancestor, ProcessId
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.events import EventLog
from cockpit.supervisor.sessions.location import same_place
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import (
    Adopt,
    Approve,
    Attach,
    Continue,
    DocumentSession,
    Handoff,
    Load,
    Plan,
    Refuse,
    RemoveWorktree,
    Start,
    Undo,
    Verb,
    WatchSession,
)

_HOOK_MARKER = re.compile(r"hook-[0-9a-f]+")


class Callers:
    """Identifies and checks the callers of one supervisor."""

    def __init__(self, dependencies: Dependencies, fleet: Fleet) -> None:
        self._dependencies = dependencies
        self._fleet = fleet
        self._screen: ProcessId | None = None
        """The last known process of the home window, the tmux window in which cockpit's screen
        runs."""

    async def of(self, pid: int | None, above: list[Ancestor]) -> Caller:
        """Return the caller behind a connection.

        `pid`: the process that connected; None if unknown. `above`: that process and its ancestors,
        read when the connection was accepted; empty if the process had already ended. Our own
        process and pid 0 count as the user: pid 0 is a process outside our container, and agents
        run only inside it.
        """
        if pid in (0, os.getpid()):
            return Caller(CallerKind.USER, pid=pid or 0)
        if not above:
            return Caller(CallerKind.UNKNOWN, pid=pid or 0)
        return (
            self._agent(above)
            or await self._unknown_in_tmux(above)
            or self._hook(above)
            or _user(above)
        )

    def agent_of(self, pid: int) -> str | None:
        """Return the agent behind a process, to count connections.

        Empty if unknown, None for no agent. The process of the home window is treated as unknown
        until its first request.
        """
        if pid in (0, os.getpid()):
            return None
        above = self._dependencies.processes.ancestry(pid)
        if not above:
            return ""
        if (agent := self._agent(above)) is not None:
            return agent.name
        top = started_by_tmux(above, self._dependencies.places.tmux_socket)
        return None if top is None or top.process == self._screen else ""

    async def _unknown_in_tmux(self, above: list[Ancestor]) -> Caller | None:
        """Return an agent without a name if our tmux server started the process; else None.

        Only agents can start processes in our tmux server, except for the process of the home
        window. For that process, returns None.
        """
        top = started_by_tmux(above, self._dependencies.places.tmux_socket)
        if top is None or top.process == self._screen:
            return None
        if await self._dependencies.panes.home_pid() == top.process.pid:
            self._screen = top.process
            return None
        return Caller(CallerKind.AGENT, pid=above[0].process.pid)

    def _agent(self, above: list[Ancestor]) -> Caller | None:
        living = {agent.process: agent.name for agent in self._fleet if agent.process is not None}
        marked = {agent.record.run: agent.name for agent in self._fleet if agent.record.run}
        pid = above[0].process.pid
        for ancestor in above:
            name = living.get(ancestor.process) or (
                marked.get(ancestor.run) if ancestor.run else None
            )
            if name is not None:
                return Caller(CallerKind.AGENT, name, pid)
        if any(
            self._ours(ancestor) and not _HOOK_MARKER.fullmatch(ancestor.run) for ancestor in above
        ):
            return Caller(CallerKind.AGENT, pid=pid)
        return None

    def _hook(self, above: list[Ancestor]) -> Caller | None:
        for ancestor in above:
            if not self._ours(ancestor) or not _HOOK_MARKER.fullmatch(ancestor.run):
                continue
            known = self._fleet.find(ancestor.agent)
            return Caller(
                CallerKind.HOOK,
                known.name if known else "",
                above[0].process.pid,
                hook=ancestor.hook[:80],
            )
        return None

    def _ours(self, ancestor: Ancestor) -> bool:
        """Return whether a supervisor with our socket started the process.

        A marker alone does not show this: an agent can run another cockpit, which sets markers too.
        """
        return bool(ancestor.run) and same_place(
            Path(ancestor.socket or "/"), self._dependencies.places.socket
        )

    # Permissions

    def admit(self, caller: Caller, asked: Verb) -> Verb:
        """Return the request without the fields that this caller may not set. Raises `NotAllowed`.

        Sets the fields that identify the caller. Removes the configuration file from an agent's
        request: an agent can start other agents only from the configuration that the user has
        loaded.
        """
        if isinstance(asked, Plan):
            name, target = "start", None
        else:
            name, target = asked.verb, self._target(asked)
        may = self._may(caller)
        if isinstance(asked, Attach):
            name = LOOK
        refuse_unless_allowed(caller, name, target, may.itself, may.others)
        if isinstance(asked, Adopt | WatchSession | DocumentSession):
            return asked.model_copy(update={"asker": caller.pid or None})
        if isinstance(asked, Approve | Refuse | Undo):
            return asked.model_copy(update={"by": self.actor(caller)})
        if caller.kind is not CallerKind.AGENT:
            return asked
        if isinstance(asked, Start) and asked.command is not None:
            raise NotAllowed(
                "Refused: only the user can start an agent that runs a custom command",
                f"This command runs inside {caller.description} (process {caller.pid}), which may "
                "only start agents that the user has configured, or new agents of a known CLI.",
                "Ask the user to do it from their own terminal.",
            )
        if isinstance(asked, Start):
            return asked.model_copy(update={"config": None, "named": False, "force": False})
        if isinstance(asked, Continue):
            return asked.model_copy(update={"config": None, "named": False})
        if isinstance(asked, Handoff):  # also of another agent, whose own limits apply
            return asked.model_copy(update={"by_agent": True})
        return asked

    def _target(self, asked: Verb) -> str | None:
        if not isinstance(asked, RemoveWorktree):
            return getattr(asked, "name", None)
        for agent in self._fleet:
            own = agent.record.worktree
            if asked.tree == agent.name or (own and same_place(Path(own), Path(asked.tree))):
                return agent.name
        return None

    def _may(self, caller: Caller) -> MaySettings:
        """Return what an agent may do.

        Uses the current configuration if the agent is defined there, else the agent's own settings.
        Other callers get no permissions, because they need none.
        """
        agent = self._fleet.find(caller.name) if caller.name else None
        if caller.kind is not CallerKind.AGENT or agent is None:
            return MaySettings(itself=())
        loaded = self._fleet.loaded
        configured = (
            [settings for settings in loaded.settings.agents if settings.name == agent.name]
            if loaded
            else []
        )
        return configured[0].may if configured else agent.settings.may

    @property
    def own_user(self) -> str:
        """The user of this supervisor, such as `ana@gpu1`."""
        return this_user()

    def actor(self, caller: Caller) -> str:
        """Return the name of a request's sender, as shown to other users."""
        if caller.kind is CallerKind.USER:
            return caller.actor or self.own_user
        return caller.description

    # Visibility

    def check_look(self, caller: Caller, name: str | None) -> None:
        """Raise `NotAllowed` if the caller is an agent that may not read the data of agent `name`.

        `name` is None for the data of all agents. Also raises `NotAllowed` if the caller's process
        has ended: the process may have belonged to another agent.
        """
        refuse_if_ended(caller, "read this")
        if caller.kind is CallerKind.AGENT:
            refuse_unless_allowed(caller, LOOK, name, (LOOK,), self._may(caller).others)

    def only(self, caller: Caller) -> str | None:
        """Return the one agent whose data this caller can see; None for all agents.

        Empty for an unknown agent, which sees no agent's data. Raises `NotAllowed` for a process
        that has ended.
        """
        refuse_if_ended(caller, "read this")
        if caller.kind is not CallerKind.AGENT or LOOK in self._may(caller).others:
            return None
        return caller.name

    # Records

    def note(self, caller: Caller, asked: Verb, refused: NotAllowed | None = None) -> None:
        """Record a request for a change, its sender, and whether the request was refused."""
        if refused is None and not _changes(asked):
            return
        event_log: EventLog = self._dependencies.event_log
        name = getattr(asked, "name", None)
        known = self._fleet.find(name) is not None if isinstance(name, str) else False
        suffix = "" if known or not isinstance(name, str) else f" of {name}"
        verb = _VERB_WORDS.get(asked.verb, asked.verb)
        end = "refused, requested by" if refused else "requested by"
        event_log.record(
            VerbAsked(
                "verb.refused" if refused else "verb.asked",
                verb=asked.verb,
                by=caller.event_data(),
            ),
            f"{verb}{suffix} {end} {caller.description}",
            name if known else (caller.name or None) if refused else None,
        )


_VERB_WORDS = {
    "adopt": "session adoption",
    "watch_session": "session watch",
    "document_session": "session document",
    "remove_worktree": "worktree removal",
    "load": "config load",
}


def _changes(asked: Verb) -> bool:
    if isinstance(asked, Plan | Attach):
        return False
    if isinstance(asked, Load):
        return asked.named  # naming a file makes it trusted; a mere reload is not recorded
    return not (isinstance(asked, Handoff) and asked.dry_run)


def _user(above: list[Ancestor]) -> Caller:
    near = above[0]
    return Caller(
        CallerKind.USER,
        pid=near.process.pid,
        terminal=next((ancestor.terminal for ancestor in above if ancestor.terminal), ""),
        far=next(filter(None, (ssh_address(ancestor.ssh) for ancestor in above)), ""),
        screen="--in-home-window" in near.arguments,
    )


def names_only(rows: Iterable[AgentStatus], only: str | None) -> list[AgentStatus]:
    """Return the row of the agent `only` in full, and other rows shortened by `name_only`.

    If `only` is None, all rows are in full.
    """
    return [row if only in (None, row.name) else name_only(row) for row in rows]


def name_only(row: AgentStatus) -> AgentStatus:
    """Return a row with only the agent's name, its state and the settings that a row must have."""
    return AgentStatus(
        name=row.name,
        runtime=row.runtime,
        state=row.state,
        directory="",
        mode=row.mode,
        strategy=row.strategy,
        max_handoffs=row.max_handoffs,
    )
