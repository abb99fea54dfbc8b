"""Sessions that running CLI processes of this user have open, from files that the CLIs write.

The group *elsewhere* on the screen shows the sessions that cockpit did not start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.ids import SessionId
from cockpit.ports.runtimes import Activity


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A reason not to adopt a session: ending the session's process would end more than the
    session."""

    reason: str
    """Why the session cannot be adopted, as a sentence."""
    remedy: str
    """The step that the user must take before an agent can reopen the session, as a clause."""


@dataclass(frozen=True, slots=True)
class LiveSession:
    """One session and the process that has the session open. All text is untrusted."""

    id: SessionId
    runtime: str
    """Name of the runtime for the session's CLI, such as `claude`."""
    pid: int
    started: int
    """When the process started, in the unit of `ports.processes.ProcessId.started`."""
    directory: Path
    """Absolute path of the directory in which the session began."""
    activity: Activity
    kind: str = ""
    """The CLI's name for the kind of session, such as `interactive`; empty if unknown."""
    waiting_for: str | None = None
    began: float | None = None
    """When the CLI started, as the CLI reports, in unix seconds; None if unknown."""
    changed: float | None = None
    """When the CLI last changed its status, in unix seconds; None if unknown."""
    version: str = ""
    """The CLI's version; empty if unknown."""
    obstacle: Obstacle | None = None
    """The reason why the session cannot be adopted; None without one."""
    restores_screen: bool = True
    """Whether the CLI leaves the terminal's alternate screen when SIGTERM ends the CLI."""


class LiveSessions(Protocol):
    """Reads the files that show which sessions are open: status files, locks or logs.

    The kind of file depends on the CLI. Writes nothing. `look`, `transcript` and `check_reopenable`
    read files and block.
    """

    def look(self) -> Sequence[LiveSession]:
        """Return the sessions of live processes of this user, ordered by pid. Never raises."""

    def transcript(self, session: LiveSession) -> Path | None:
        """Return the path of a session's transcript; None if it is unknown."""

    def check_reopenable(
        self, session: LiveSession, environment: Mapping[str, str] | None = None
    ) -> None:
        """Raise `BadUsage` or `NotNow` if the session could not be reopened after its end.

        `environment` is the environment for the reopened session; None means the supervisor's.
        """

    def by_hand(self, session: LiveSession) -> Sequence[str]:
        """Return the command with which the user can reopen the session.

        The command must be run in the session's directory.
        """

    def watch(self, call: Callable[[], None]) -> Callable[[], None]:
        """Run `call` on the running event loop when the open sessions may have changed.

        Returns a cancel function.
        """


class NoLiveSessions:
    """An implementation of `LiveSessions` that finds no sessions."""

    def look(self) -> Sequence[LiveSession]:
        return ()

    def transcript(self, session: LiveSession) -> Path | None:
        return None

    def check_reopenable(
        self, session: LiveSession, environment: Mapping[str, str] | None = None
    ) -> None:
        return None

    def by_hand(self, session: LiveSession) -> Sequence[str]:
        return ()

    def watch(self, call: Callable[[], None]) -> Callable[[], None]:
        return lambda: None
