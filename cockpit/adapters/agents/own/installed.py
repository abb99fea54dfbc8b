"""Load runtimes of installed packages, from entry points of the group `cockpit.runtimes`.

A runtime is imported when an agent uses it. If the import fails, an `Unavailable` with the reason
replaces the runtime, so that the supervisor and the other agents continue.
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
    """Replaces a runtime that cannot be loaded. Its agents are shown, but cannot be started."""

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
    """Load the runtime with this name; return None if no package has it.

    Never raises: returns an `Unavailable` if loading fails, or if two packages have the runtime.
    """
    points = [point for point in entry_points(group=ENTRY_POINTS) if point.name == name]
    if not points:
        return None
    owner = _owner(points[0])
    if len({point.value for point in points}) > 1:
        return Unavailable(name, state, _failure(name, " and ".join(map(_owner, points))))
    try:
        loaded = points[0].load()(state)
        wrong = _wrong(loaded, name)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a package's code may raise anything
        _log.exception("cannot load the runtime %s of %s", name, owner)
        return Unavailable(name, state, _failure(name, owner, f"{type(error).__name__}: {error}"))
    if wrong:
        return Unavailable(name, state, _failure(name, owner, wrong))
    runtime: Runtime = loaded
    return runtime


def _wrong(loaded: Any, name: str) -> str | None:
    """Return why an object is not the runtime with this name; None if it is.

    Does not catch exceptions of the package's code.
    """
    methods = [key for key, member in vars(Runtime).items() if inspect.isfunction(member)]
    required = [*inspect.get_annotations(Runtime), *(key for key in methods if key[0] != "_")]
    if missing := [key for key in required if not hasattr(loaded, key)]:
        return f"the runtime has no {', '.join(missing)}"
    return None if loaded.name == name else f"the runtime's name is {loaded.name!a}"


def _owner(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else "an unnamed package"


def _failure(name: str, owner: str, why: str = "more than one package provides it") -> Failed:
    return Failed(
        f'Cannot load the runtime "{name}" from {owner}',
        safe_line(why, 300),
        "Update or remove the package, or choose another runtime.",
    )
