"""Runtimes of installed packages: entry points of the group `cockpit.runtimes`.

One is imported when an agent names it. One that fails becomes a runtime that says why, so that the
supervisor and the other agents go on.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from cockpit.adapters.agents.command import Command
from cockpit.config.own_runtimes import ENTRY_POINTS
from cockpit.core.errors import CockpitError, Failed
from cockpit.core.ids import AgentName
from cockpit.core.safetext import safe_line
from cockpit.ports.panes import Launch
from cockpit.ports.runtimes import Program, Runtime, SessionOrder

_log = logging.getLogger(__name__)


class Unavailable(Command):
    """Stands for a runtime that cannot be loaded: its agents have rows, and cannot start."""

    def __init__(self, name: str, state: Path, why: CockpitError) -> None:
        super().__init__(state)
        self.name = name
        self.why = why

    def program(self, environment: Mapping[str, str]) -> Program:
        raise self.why

    def launch(self, order: SessionOrder, program: Program) -> Launch:
        raise self.why

    def resumable(self, order: SessionOrder) -> None:
        raise self.why

    def lacks(self, agent: AgentName) -> str | None:
        return f"{self.why.title}: {self.why.detail}"


def load_installed(name: str, state: Path) -> Runtime | None:
    """Load the runtime of that name; None if no package has one.

    Never raises: what a package raises becomes an `Unavailable`.
    """
    found = [point for point in entry_points(group=ENTRY_POINTS) if point.name == name]
    if not found:
        return None
    owner = _owner(found[0])
    if len({point.value for point in found}) > 1:
        return Unavailable(name, state, _failure(name, " and ".join(map(_owner, found))))
    try:
        made = found[0].load()(state)
        wrong = _wrong(made, name)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - foreign code may raise anything
        _log.exception("cannot load the runtime %s of %s", name, owner)
        return Unavailable(name, state, _failure(name, owner, f"{type(error).__name__}: {error}"))
    if wrong:
        return Unavailable(name, state, _failure(name, owner, wrong))
    runtime: Runtime = made
    return runtime


def _wrong(made: Any, name: str) -> str | None:
    """Why an object is not the runtime of that name; None if it is. Raises what its code raises."""
    methods = [key for key, one in vars(Runtime).items() if inspect.isfunction(one)]
    wanted = [*inspect.get_annotations(Runtime), *(key for key in methods if key[0] != "_")]
    if missing := [key for key in wanted if not hasattr(made, key)]:
        return f"it has no {', '.join(missing)}"
    return None if made.name == name else f"it calls itself {made.name!a}"


def _owner(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else "an unnamed package"


def _failure(name: str, owner: str, why: str = "more than one package has it") -> Failed:
    return Failed(
        f'Cannot load the runtime "{name}" of {owner}',
        safe_line(why, 300),
        "Update or remove that package, or choose another runtime.",
    )
