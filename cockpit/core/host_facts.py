"""Parse a host's description of itself, the output of `host_setup/probe.sh`.

The host may be broken or hostile, so the format of each value is checked. An invalid value counts
as unknown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cockpit.core import foreign_json
from cockpit.core.safetext import safe_line
from cockpit.core.timestamps import moment, rfc3339

STATES = (
    "needs_you", "handing_off", "starting", "working", "idle", "done", "stopped", "exited",
    "unknown",
)  # fmt: skip
"""States of agents; any other state, from a newer version, counts as unknown."""
NOT_RUNNING = frozenset({"stopped", "done", "exited"})
OLDEST_PYTHON = (3, 11)
MOST_CORES = 100_000
LONGEST_INSTANCE = 64
"""Maximum characters of the id of a supervisor's run; a longer id counts as unknown."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program that was found on the host."""

    path: str
    on_path: bool
    """Whether a non-login shell finds the program."""
    version: str
    """Version number, such as `3.3a`; empty if the program prints none."""


@dataclass(frozen=True, slots=True)
class FarSupervisor:
    """The supervisor that runs on the host."""

    version: str
    started_at: str
    """When the supervisor started, as RFC 3339; empty if unknown."""
    agents: Mapping[str, int]
    """Number of agents by state."""
    instance: str = ""
    """The id of the supervisor's run; empty if unknown."""

    @property
    def running(self) -> int:
        """Number of agents whose state is not `stopped`, `done` or `exited`."""
        return sum(count for state, count in self.agents.items() if state not in NOT_RUNNING)

    @property
    def total(self) -> int:
        return sum(self.agents.values())


@dataclass(frozen=True, slots=True)
class HostFacts:
    """The description of a host. Unknown values are None or empty."""

    system: str = ""
    uid: int | None = None
    user: str = ""
    path: str = ""
    """`PATH` of a non-login shell."""
    folders: Mapping[str, str] = field(default_factory=dict)
    """The values of the environment variables that determine the paths of sockets, by name."""
    cores: int | None = None
    load: float | None = None
    """Load average of the last minute."""
    programs: Mapping[str, Program] = field(default_factory=dict)
    package_manager: str = ""
    """Name of the host's package manager, such as `apt-get`."""
    python_venv: bool = False
    """Whether the host's Python can create a virtual environment with pip."""
    linger: bool | None = None
    """Whether processes and sockets stay after a logout; None if unknown, and on systems without
    this setting."""
    supervisor: FarSupervisor | None = None
    status_code: int | None = None
    """Exit code of `cockpit status` on the host, such as 4 if no supervisor answers; None if
    unknown."""

    def program(self, name: str) -> Program | None:
        return self.programs.get(name)


def host_facts(lines: Iterable[tuple[str, str]]) -> HostFacts:
    """Return the facts from the keys and values of a host's description. Never raises."""
    values: dict[str, str] = {}
    status: list[str] = []
    for key, value in lines:
        if key == "status":
            status.append(value)
        else:
            values[key] = value
    code = _integer(values.get("status_code", ""), 255)
    return HostFacts(
        system=_word(values.get("system", "")),
        uid=_integer(values.get("uid", ""), 2**32),
        user=_word(values.get("user", "")),
        path=values.get("path", ""),
        folders={
            name: safe_line(values[key], 4096)
            for name, key in (
                ("HOME", "home"),
                ("COCKPIT_HOME", "cockpit_home"),
                ("XDG_RUNTIME_DIR", "runtime_folder"),
                ("XDG_STATE_HOME", "state_folder"),
            )
            if values.get(key)
        },
        cores=_integer(values.get("cores", ""), MOST_CORES) or None,
        load=_load(values.get("load", "")),
        programs={
            name: Program(
                safe_line(values[f"{name}_path"], 4096),
                values.get(f"{name}_where") == "path",
                _version(values.get(f"{name}_version", "")),
            )
            for name in ("tmux", "git", "uv", "python", "cockpit")
            if values.get(f"{name}_path")
        },
        package_manager=_word(values.get("package_manager", "")),
        python_venv=values.get("python_venv") == "yes",
        linger={"yes": True, "no": False}.get(values.get("linger", "")),
        supervisor=_supervisor("\n".join(status)) if code == 0 else None,
        status_code=code,
    )


def new_enough_python(version: str) -> bool:
    """Return whether cockpit runs on this version of Python, such as `3.12.1`."""
    numbers = [int(part) for part in version.split(".")[:2] if part.isdecimal()]
    return tuple(numbers) >= OLDEST_PYTHON


def _supervisor(text: str) -> FarSupervisor | None:
    try:
        status = foreign_json.loads(text)
    except (ValueError, RecursionError):
        return None
    agents = status.get("agents") if isinstance(status, dict) else None
    if not isinstance(agents, list):
        return None
    own = status.get("supervisor")
    own = own if isinstance(own, dict) else {}
    return FarSupervisor(
        _version(own.get("version")),
        _time(own.get("started_at")),
        dict(Counter(_state(agent) for agent in agents)),
        _instance(own.get("instance")),
    )


def _state(agent: Any) -> str:
    state = agent.get("state") if isinstance(agent, dict) else None
    return state if state in STATES else "unknown"


def _instance(value: object) -> str:
    return value if isinstance(value, str) and len(value) <= LONGEST_INSTANCE else ""


def _time(value: object) -> str:
    at = moment(value)
    return rfc3339(at.timestamp()) if at is not None else ""


def _version(value: object) -> str:
    """Return the first version number in a text, such as `3.3a` in `tmux 3.3a`; else empty."""
    match = re.search(r"\d+(?:\.\d+)+[a-z0-9.+-]{0,20}", value) if isinstance(value, str) else None
    return match[0][:40] if match else ""


def _word(text: str) -> str:
    return text if re.fullmatch(r"[\w.-]{1,64}", text) else ""


def _integer(text: str, most: int) -> int | None:
    return int(text) if re.fullmatch(r"[0-9]{1,12}", text) and int(text) <= most else None


def _load(text: str) -> float | None:
    return float(text) if re.fullmatch(r"[0-9]{1,6}(?:\.[0-9]{1,4})?", text) else None
