"""Check cockpit's folders, configuration, supervisor and tmux server.

Read-only.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cockpit import __version__
from cockpit.cli.doctor_finding import Finding, fit, from_error, note, unfit
from cockpit.client.raw_request import fetch
from cockpit.client.refusals import not_running
from cockpit.client.supervisor_lock import lock_holder
from cockpit.config.kernel import USES_LINUX
from cockpit.config.paths import Places
from cockpit.core.errors import CockpitError, NoSupervisor
from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line

if TYPE_CHECKING:
    from cockpit.config.loaded import Loaded

PRIVATE = 0o700
ANSWER_SECONDS = 3.0
"""Seconds without data after which the supervisor counts as silent."""


def check_setup(environment: Mapping[str, str], config: Path | None) -> list[Finding]:
    """Run all checks of this module. `config` is the file from the command line."""
    places = Places.of(environment)
    return [
        sockets(places),
        *(folder(path) for path in (places.state, places.runtime)),
        *configuration(places, environment, config),
        *theme_files(places.themes),
        supervisor(places),
        tmux_server(places),
    ]


def agents_environment(environment: Mapping[str, str], config: Path | None) -> dict[str, str]:
    """Return the environment of an agent without its own `env`: the user's, with `[defaults]
    env`."""
    from cockpit.config.read import load

    try:
        loaded = load(Places.of(environment), config, Path.cwd(), environment)
    except CockpitError:
        return dict(environment)  # `configuration` reports the error
    return {**environment, **loaded.settings.defaults.env}


def sockets(places: Places) -> Finding:
    try:
        places.check_sockets()
    except CockpitError as error:
        return from_error("sockets", error)
    return fit(
        "sockets",
        f"{places.runtime} ({len(os.fsencode(places.tmux_socket))} bytes in the longest path)",
    )


def folder(path: Path) -> Finding:
    """Check that a folder of cockpit is private and belongs to this user, if it exists."""
    try:
        entry = path.lstat()
    except FileNotFoundError:
        return fit("folder", f"{path} (will be created)")
    except OSError as error:
        return unfit("folder", f"{path}: {error.strerror}", "Set COCKPIT_HOME to another folder.")
    if not stat.S_ISDIR(entry.st_mode):
        return unfit(
            "folder",
            f"{path} is not a folder",
            "Move the file, or set COCKPIT_HOME to another folder.",
        )
    if entry.st_uid != os.geteuid():
        return unfit(
            "folder",
            f"{path} belongs to user {entry.st_uid}",
            "Set COCKPIT_HOME to a folder of your own.",
        )
    if (mode := stat.S_IMODE(entry.st_mode)) != PRIVATE:
        return unfit("folder", f"{path} has mode {mode:o} instead of 700", f"chmod 700 {path}")
    return fit("folder", f"{path} (private)")


def configuration(
    places: Places, environment: Mapping[str, str], config: Path | None
) -> list[Finding]:
    """Check the configuration files: errors, custom runtimes, and settings that need trust."""
    from cockpit.config.read import load

    try:
        loaded = load(places, config, Path.cwd(), environment)
    except CockpitError as error:
        return [from_error("config", error)]
    findings = [*own_runtimes(loaded, environment, places)]
    findings += [fit("config", f"{counted(len(loaded.settings.agents), 'agent')} configured")]
    findings += [
        note("config", safe_line(text), "Change the setting when convenient.")
        for text in loaded.notices
    ]
    if loaded.held:
        held = ", ".join(safe_line(str(setting)) for setting in loaded.held)
        remedy = "Read the file, then run: cockpit config trust FILE"
        findings.append(
            note("config", f"Ignored until you trust the project's file: {held}", remedy)
        )
    return findings


def own_runtimes(
    loaded: Loaded, environment: Mapping[str, str], places: Places
) -> Iterator[Finding]:
    """Check that custom runtimes can be loaded, and that their programs exist.

    Custom runtimes are those that the configuration defines, and those of installed packages that
    the configuration uses.
    """
    from cockpit.adapters.agents import RUNTIMES, runtime
    from cockpit.adapters.agents.command import resolved_program
    from cockpit.adapters.agents.own.definitions import Definitions

    settings = loaded.settings
    named = {settings.defaults.runtime, *settings.defaults.handoff.successor}
    for agent in settings.agents:
        named |= {agent.runtime, *agent.handoff.successor}
    own = Definitions.of(settings.runtimes)
    for name in sorted({*settings.runtimes, *named} - {*RUNTIMES}):
        try:
            program = runtime(name, places.state, own).program(environment)
            definition = own.find(name)
            for word in definition.reader[:1] if definition else ():
                resolved_program(f'the reader of "{name}"', word, None, environment)
        except CockpitError as error:
            yield from_error(name, error)
        else:
            yield fit(name, str(program.path))


def theme_files(folder: Path) -> list[Finding]:
    """Check the user's own themes, as one finding; empty if there are none."""
    if not any(folder.glob("*.toml")):
        return []
    from cockpit.tui.terminal.themes import load

    themes = load([folder])
    if not themes.troubles:
        return [fit("themes", f"{counted(len(themes.themes), 'theme')} in {folder}")]
    names = safe_line(", ".join(f"{name}.toml" for name in themes.troubles), 200)
    text = f"{counted(len(themes.troubles), 'file')} not loaded: {names}"
    return [note("themes", text, "See why: cockpit config check")]


def _out_of_descriptors(places: Places) -> Finding | None:
    """Return a finding if the supervisor does not answer because it has too many open files.

    None if the supervisor has not reached its limit of open files, or the limit is unknown.
    """
    if not USES_LINUX:
        return None  # no other system shows the limits of another process
    try:
        pid = int(places.lease.read_text())
        limits = Path(f"/proc/{pid}/limits").read_text().splitlines()
        most = next(int(line.split()[3]) for line in limits if line.startswith("Max open files"))
        held = len(os.listdir(f"/proc/{pid}/fd"))  # noqa: PTH208 - names are enough
    except (OSError, ValueError, StopIteration, IndexError):
        return None
    if held < most:
        return None
    remedy = (
        f"Close some of the supervisor's clients, or run: kill {pid}; ulimit -n 4096; cockpit up "
        "(agents keep running)"
    )
    return unfit("supervisor", f"Process {pid} has reached its limit of {most} open files", remedy)


def _failing(places: Places, error: CockpitError) -> Finding:
    """Return the finding for a supervisor that fails to answer.

    Replaces a hint to run `cockpit doctor`, because that is the running command.
    """
    finding = from_error("supervisor", error)
    if "cockpit doctor" not in error.hint:
        return finding
    remedy = f"Try again in a moment. Its log: {places.logs / 'supervisor.log'}"
    if (pid := lock_holder(places.lease)) is not None:
        # `cockpit restart` asks the supervisor first, which would fail too.
        remedy += f". If it still fails: kill -9 {pid} (agents keep running), then: cockpit up"
    return replace(finding, remedy=remedy)


def supervisor(places: Places) -> Finding:
    try:
        status = json.loads(fetch(places.socket, "/v1/status", patience=ANSWER_SECONDS))[
            "supervisor"
        ]
    except NoSupervisor as error:
        if error.title == not_running(places.socket).title:
            return note("supervisor", "Not running", "Start the supervisor: cockpit up")
        return _out_of_descriptors(places) or _failing(places, error)
    except CockpitError as error:
        return _failing(places, error)
    version = status.get("version")
    if version is not None and version != __version__:
        text = f"Process {status['pid']} is version {safe_line(str(version))}"
        return note("supervisor", f"{text}; this command is {__version__}", "Run: cockpit restart")
    if trouble := status.get("trouble"):
        return unfit(
            "supervisor",
            safe_line(trouble, 400),
            "Fix the problem, then check again: cockpit doctor",
        )
    return fit("supervisor", f"process {status['pid']}")


def tmux_server(places: Places) -> Finding:
    """Check whether the private tmux server's socket exists and accepts connections."""
    import socket

    if not places.tmux_socket.exists():
        return fit("tmux server", "not running")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as channel:
        channel.settimeout(3.0)
        try:
            channel.connect(str(places.tmux_socket))
        except OSError as error:
            text = f"No answer on {places.tmux_socket} ({error.strerror})"
            return note("tmux server", text, "Run: cockpit up")
    return fit("tmux server", f"answers on {places.tmux_socket}")
