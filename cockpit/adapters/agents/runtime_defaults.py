"""Default methods of a runtime, for a CLI that lacks an optional feature.

To add a CLI, inherit `HookedRuntime` if the CLI has hooks, else `Command`. Define the required
methods of `ports.runtimes.Runtime`, and override the methods below for each optional feature that
the CLI has. The runtime's `capabilities` list the missing features, with reasons; the contract
tests check that methods and capabilities agree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from cockpit.core.dialogs import NO_STEP

if TYPE_CHECKING:
    from cockpit.core.cli_events import CliEvent
    from cockpit.core.dialogs import Answer, Dialog, Step, Stuck
    from cockpit.core.ids import AgentName, SessionId
    from cockpit.ports.panes import Screen
    from cockpit.ports.runtimes import Presence, Report, Signal


class RuntimeDefaults:
    """Defaults of the optional methods of `ports.Runtime`. Required methods have no default, so
    that mypy reports a missing one."""

    def presence(self, pid: int, environment: Mapping[str, str]) -> Presence | None:
        return None

    def open_session(self, pid: int, environment: Mapping[str, str]) -> SessionId | None:
        return None

    def presence_in(self, title: str) -> Presence | None:
        return None

    def report(self, signal: Signal) -> Report | None:
        return None

    def screen_events(self, screen: Screen) -> Sequence[CliEvent]:
        return ()

    def permission_mode(self, signal: Signal) -> str | None:
        return None

    def open_dialog(self, screen: Screen) -> Dialog | None:
        return None

    def dialog_step(self, seen: Dialog, answer: Answer) -> Step | Stuck:
        return NO_STEP

    def lacks(self, agent: AgentName) -> str | None:
        return None
