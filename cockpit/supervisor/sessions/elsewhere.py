"""Find running sessions that no cockpit started.

Uses the files in which each CLI shows its open sessions (`ports.live_sessions`), and the ancestry
of the processes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.errors import BadUsage, NoSuchAgent, NotAllowed, NotNow
from cockpit.core.ids import SessionId
from cockpit.core.safetext import quoted
from cockpit.ports.live_sessions import LiveSession
from cockpit.ports.processes import Ancestor, ProcessId
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.dependencies import Dependencies

SHORTEST_ID = 4
"""Minimum length of a prefix that can be used instead of a session's id."""
PATIENCE = 5.0
"""Time limit in seconds for reading the open sessions of all CLIs."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a session's process is running. All text comes from other programs."""

    terminal: str = ""
    """The process's controlling terminal (`pts/3`); empty if there is none."""
    pane: str = ""
    """The tmux pane (`%4`) in which the process was started; empty outside tmux."""
    tmux_socket: str = ""
    """The socket of the pane's tmux server."""
    by_cockpit: bool = False
    """Whether a cockpit started the process or one of its ancestors."""


def place_of(above: Sequence[Ancestor]) -> Place:
    """Return the place of the first process in `above`; the next ones are its ancestors.

    The pane is used only if the tmux server is an ancestor: a terminal emulator that was started
    inside tmux inherits the variable TMUX.
    """
    if not above:
        return Place()
    first = above[0]
    by_cockpit = any(ancestor.run or ancestor.process.pid == os.getpid() for ancestor in above)
    socket, _, rest = first.tmux.partition(",")
    server = rest.partition(",")[0]
    if server not in {str(ancestor.process.pid) for ancestor in above[1:]}:
        return Place(first.terminal, by_cockpit=by_cockpit)
    return Place(first.terminal, first.pane, socket, by_cockpit)


class OtherSessions:
    """The running sessions that belong to no agent of any cockpit."""

    def __init__(self, dependencies: Dependencies, fleet: Fleet) -> None:
        self._dependencies = dependencies
        self._fleet = fleet
        self._places: dict[tuple[int, int], Place] = {}
        """The place of each process, by pid and start time. Cached, because it does not change."""
        self._held: dict[SessionId, str] = {}
        """Sessions that a request is using, with the `doing` text that it passed to `hold`."""

    @property
    def enabled(self) -> bool:
        """Whether `[elsewhere] show` is on."""
        loaded = self._fleet.loaded
        return loaded is not None and loaded.settings.elsewhere.show

    async def look(self) -> list[LiveSession]:
        """Return the current sessions; empty if `[elsewhere] show` is off. Raises `NoAnswer`."""
        if not self.enabled:
            return []
        slow, live = self._dependencies.slow, self._dependencies.live_sessions
        return await slow.ask(("elsewhere",), lambda: self._others(live.look()), PATIENCE)

    async def find(self, ident: str, pid: int | None = None) -> LiveSession:
        """Return the only session whose id is or starts with `ident`. Ignores case.

        Raises `NotNow` if `[elsewhere] show` is off, or if another process than `pid` has the
        session open. Raises `NoSuchAgent` if no session matches, and `BadUsage` if several match or
        if `ident` is shorter than `SHORTEST_ID`.
        """
        if not self.enabled:
            raise NotNow(
                "Sessions that cockpit did not start are not shown",
                "",
                "To show them, in cockpit.toml: [elsewhere] show = true",
            )
        if len(ident) < SHORTEST_ID:
            raise BadUsage(
                f"{quoted(ident, 80)} is too short for the id of a session",
                f"Use the whole id, or at least its first {SHORTEST_ID} characters.",
                "List the sessions: cockpit status --elsewhere",
            )
        start = ident.lower()
        matches = [session for session in await self.look() if session.id.lower().startswith(start)]
        if not matches:
            raise NoSuchAgent(
                f"No running session {quoted(ident, 80)} outside cockpit",
                "The session may have ended.",
                "List the sessions: cockpit status --elsewhere",
            )
        if len({match.pid for match in matches}) > 1:
            raise BadUsage(
                f"{quoted(ident, 80)} matches several sessions",
                "\n".join(f"{match.id} (process {match.pid})" for match in matches),
                "Use the whole id. If two processes have the same session open, first end one of "
                "the processes.",
            )
        session = matches[0]
        if pid is not None and pid != session.pid:
            raise NotNow(
                f"Process {pid} no longer has this session open",
                f"Process {session.pid} has the session open now.",
                "List the sessions: cockpit status --elsewhere",
            )
        return session

    async def refuse_inside(self, asker: int | None, what: str) -> None:
        """Raise `NotAllowed` if the process `asker` runs inside a CLI's session; None is allowed.

        `what` completes the refusal "Only the user can … a session".
        """
        live, processes = self._dependencies.live_sessions, self._dependencies.processes

        def asking() -> LiveSession | None:
            above = processes.lineage(asker) if asker is not None else []
            return next((session for session in live.look() if session.pid in above), None)

        inside = await self._dependencies.slow.ask(("asker", asker), asking, PATIENCE)
        if inside is not None:
            raise NotAllowed(
                f"Only the user can {what} a session",
                f"This command runs inside session {inside.id} (process {inside.pid}).",
                "Ask the user to do it from their own terminal.",
            )

    @contextmanager
    def hold(self, session: LiveSession, doing: str) -> Iterator[None]:
        """Keep other requests from using the session while the block runs.

        `doing` completes "Another command is … session ID" in the refusal of other requests. Raises
        `NotNow` if another request uses the session.
        """
        if (other := self._held.get(session.id)) is not None:
            raise NotNow(
                f"Another command is {other} session {session.id}",
                "",
                "Wait until that command is done.",
            )
        self._held[session.id] = doing
        try:
            yield
        finally:
            del self._held[session.id]

    def place(self, session: LiveSession) -> Place:
        """Return where the session is running, as found by the last `look`; else an empty place."""
        return self._places.get((session.pid, session.started), Place())

    def identify(self, session: LiveSession) -> ProcessId | None:
        """Return the process that has the session open; None if the process has ended."""
        process = self._dependencies.processes.identify(session.pid)
        return process if process is not None and process.started == session.started else None

    def _others(self, sessions: Iterable[LiveSession]) -> list[LiveSession]:
        """Return the sessions that belong to no agent. Thread-safe.

        Leaves out each session whose process a cockpit started, directly or indirectly: sessions of
        agents, sessions in programs that agents started, and copies of sessions that write
        documents.
        """
        sessions = list(sessions)
        known, places = self._places, dict[tuple[int, int], Place]()
        for session in sessions:
            key = session.pid, session.started
            place = known.get(key)
            if place is None:
                place = place_of(self._dependencies.processes.ancestry(session.pid))
            places[key] = place
        self._places = places
        return [
            session for session in sessions if not places[session.pid, session.started].by_cockpit
        ]
