"""Everything cockpit says no with.

    CockpitError
    ├── Failed              1  it was tried and did not work
    │   └── Hindered        1  the machine would not let us; the same may work later
    ├── BadUsage            2  the command line does not make sense
    │   └── BadConfig       2  a configuration file does not; carries file, line and key
    ├── NoSuchAgent         3
    ├── NoSupervisor        4
    │   └── Unreachable     4  one holds the lock, and nothing answers on its socket
    ├── NotNow              5  it would make sense later, or after something else
    │   └── NotAllowed      5  it is for the user, and an agent asked
    └── ProgramMissing      6  a program that we need is not on this machine

The number is the exit code of the command line, and travels in the supervisor's replies.
"""

from __future__ import annotations

from typing import ClassVar


class CockpitError(Exception):
    """A refusal or failure in words a user can act on.

    `title` is one short line, `detail` what happened, `hint` the next step. Foreign text in
    any of them must have been through `core.safetext` first.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, title: str, detail: str = "", hint: str = "") -> None:
        super().__init__(title)
        self.title = title
        self.detail = detail
        self.hint = hint

    def __str__(self) -> str:
        return "\n".join(part for part in (self.title, self.detail, self.hint) if part)


class Failed(CockpitError):
    """It was tried, and did not work."""

    exit_code = 1


class Hindered(Failed):
    """The machine would not: a full disk, no more processes. The same may work in a moment."""


class BadUsage(CockpitError):
    """What was asked for does not make sense."""

    exit_code = 2


class BadConfig(BadUsage):
    """A configuration file does not make sense; the title starts with `file:line:`."""


class NoSuchAgent(CockpitError):
    """No agent of that name is configured or running."""

    exit_code = 3


class NoSupervisor(CockpitError):
    """Nobody answers on the supervisor's socket."""

    exit_code = 4


class Unreachable(NoSupervisor):
    """A supervisor runs, and nothing answers on its socket: it starts, ends, or lost the socket."""

    def __init__(self, title: str, detail: str = "", hint: str = "", pid: int = 0) -> None:
        super().__init__(title, detail, hint)
        self.pid = pid


class NotNow(CockpitError):
    """It cannot be done in the present state; the detail says why."""

    exit_code = 5


class NotAllowed(NotNow):
    """It is for the user, and a process inside an agent asked; the hint says how to get it done."""


class ProgramMissing(CockpitError):
    """A program that this needs is not on this machine."""

    exit_code = 6


BY_EXIT_CODE: dict[int, type[CockpitError]] = {
    kind.exit_code: kind
    for kind in (Failed, BadUsage, NoSuchAgent, NoSupervisor, NotNow, ProgramMissing)
}
"""How a client turns a supervisor's reply back into the error it was."""
