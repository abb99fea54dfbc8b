"""All errors that cockpit shows to its user.

    CockpitError
    ├── Failed              1  the operation failed
    │   └── OsProblem        1  a problem of the machine; retrying may succeed
    ├── BadUsage            2  the command line or the request is invalid
    │   └── BadConfig       2  a configuration file is invalid or cannot be read
    ├── NoSuchAgent         3  a named agent, session, handoff or document does not exist
    ├── NoSupervisor        4  no supervisor answers
    │   └── Unreachable     4  a supervisor is running, but does not answer on its socket
    ├── NotNow              5  not possible in the current state
    │   └── NotAllowed      5  the caller, usually an agent, may not do this
    └── ProgramMissing      6  a required program is not installed

The number is the exit code of the `cockpit` command. The supervisor's replies contain it too.
"""

from __future__ import annotations

from typing import ClassVar


class CockpitError(Exception):
    """A failure or refusal, with a hint for the user.

    `title` is one short line, `detail` explains the problem, and `hint` is the next step; detail
    and hint can be empty. Pass untrusted text through `core.safetext` before using it in these
    texts.
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
    """The operation failed."""

    exit_code = 1


class OsProblem(Failed):
    """A problem of the machine, such as a full disk or process limit. Retrying may succeed."""


class BadUsage(CockpitError):
    """The command line or the request is invalid."""

    exit_code = 2


class BadConfig(BadUsage):
    """A configuration file is invalid or cannot be read.

    The title starts with `file:line:`, or with `file:` if the error has no line.
    """


class NoSuchAgent(CockpitError):
    """The named agent, session, handoff or document does not exist."""

    exit_code = 3


class NoSupervisor(CockpitError):
    """No supervisor answers on the socket."""

    exit_code = 4


class Unreachable(NoSupervisor):
    """A supervisor is running but does not answer: it is starting or ending, or its socket is
    missing."""

    def __init__(self, title: str, detail: str = "", hint: str = "", pid: int = 0) -> None:
        super().__init__(title, detail, hint)
        self.pid = pid


class NotNow(CockpitError):
    """The request is not possible in the current state."""

    exit_code = 5


class NotAllowed(NotNow):
    """The caller may not make this request: usually an agent or a hook, not the user."""


class ProgramMissing(CockpitError):
    """A required program is not installed."""

    exit_code = 6


DIAL_UNREACHABLE = 75
"""Exit code of `cockpit dial-stdio` for `Unreachable`, because the client on the other machine must
know whether a supervisor is running. All other commands exit with 4, as for `NoSupervisor`."""

BY_EXIT_CODE: dict[int, type[CockpitError]] = {
    kind.exit_code: kind
    for kind in (Failed, BadUsage, NoSuchAgent, NoSupervisor, NotNow, ProgramMissing)
}
"""Maps the exit code in a supervisor's reply to the error that a client raises."""
