"""The answers of a CLI that lacks something that only some CLIs have.

To add a CLI, inherit `HookedRuntime` if it has hooks, `Command` if not, and override what the CLI
has. Its `capabilities` say what it lacks, and why; the contract tests compare both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from cockpit.core.dialogs import NO_STEP

if TYPE_CHECKING:
    from cockpit.core.dialogs import Answer, Dialog, Step, Stuck
    from cockpit.core.ids import AgentName, SessionId
    from cockpit.core.moments import Moment
    from cockpit.ports.panes import Screen
    from cockpit.ports.runtimes import Presence, Report, Signal


class RuntimeDefaults:
    """The optional methods of `ports.Runtime`. Methods that every CLI must answer are not here, so
    that mypy finds a missing one."""

    def presence(self, pid: int, environment: Mapping[str, str]) -> Presence | None:
        return None

    def open_session(self, pid: int, environment: Mapping[str, str]) -> SessionId | None:
        return None

    def presence_in(self, title: str) -> Presence | None:
        return None

    def report(self, signal: Signal) -> Report | None:
        return None

    def told_on(self, screen: Screen) -> Sequence[Moment]:
        return ()

    def permission_mode(self, signal: Signal) -> str | None:
        return None

    def open_dialog(self, screen: Screen) -> Dialog | None:
        return None

    def dialog_step(self, seen: Dialog, answer: Answer) -> Step | Stuck:
        return NO_STEP

    def lacks(self, agent: AgentName) -> str | None:
        return None
