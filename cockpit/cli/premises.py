"""Is this cockpit fit: its folders, its configuration, its supervisor and its tmux server.

Only looks, makes nothing and asks nobody to change anything.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from cockpit import __version__
from cockpit.cli.finding import Finding, fit, from_error, note, unfit
from cockpit.client.quick import fetch
from cockpit.client.refusals import nobody
from cockpit.config.paths import Places
from cockpit.core.errors import CockpitError, NoSupervisor
from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line

PRIVATE = 0o700


def examine_premises(environment: Mapping[str, str], config: Path | None) -> list[Finding]:
    """Everything about this cockpit. `config` is a file that was named on the command line."""
    places = Places.of(environment)
    return [
        sockets(places),
        *(folder(path) for path in (places.state, places.runtime)),
        *configuration(places, environment, config),
        *theme_files(places.themes),
        supervisor(places),
        tmux_server(places),
    ]


def sockets(places: Places) -> Finding:
    try:
        places.check_sockets()
    except CockpitError as error:
        return from_error("sockets", error)
    return fit(
        "sockets", f"{places.runtime} ({len(os.fsencode(places.tmux_socket))} bytes at most)"
    )


def folder(path: Path) -> Finding:
    """A folder of ours: not there yet, private, or somebody else's."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return fit("folder", f"{path} (will be made)")
    except OSError as error:
        return unfit("folder", f"{path}: {error.strerror}", "Choose another with COCKPIT_HOME.")
    if not stat.S_ISDIR(found.st_mode):
        return unfit("folder", f"{path} is no folder", "Move it, or set COCKPIT_HOME.")
    if found.st_uid != os.geteuid():
        return unfit("folder", f"{path} belongs to user {found.st_uid}", "Set COCKPIT_HOME.")
    if (mode := stat.S_IMODE(found.st_mode)) != PRIVATE:
        return unfit("folder", f"{path} is open to others (mode {mode:o})", f"chmod 700 {path}")
    return fit("folder", f"{path} (private)")


def configuration(
    places: Places, environment: Mapping[str, str], config: Path | None
) -> list[Finding]:
    """Each file that counts here, what of it waits to be trusted, or what is wrong with it."""
    from cockpit.config.read import load

    try:
        loaded = load(places, config, Path.cwd(), environment)
    except CockpitError as error:
        return [from_error("config", error)]
    found = [fit("config", f"{counted(len(loaded.settings.agents), 'agent')} configured")]
    found += [
        note("config", safe_line(text), "Change it when convenient.") for text in loaded.notices
    ]
    if loaded.held:
        held = ", ".join(safe_line(str(one)) for one in loaded.held)
        remedy = "Read the file, then: cockpit config trust FILE"
        found.append(note("config", f"Held until you trust the project's file: {held}", remedy))
    return found


def theme_files(folder: Path) -> list[Finding]:
    """The pilot's own themes, in one line; nothing where there are none."""
    if not any(folder.glob("*.toml")):
        return []
    from cockpit.tui.themes import load

    found = load([folder])
    if not found.troubles:
        return [fit("themes", f"{counted(len(found.themes), 'theme')} in {folder}")]
    names = safe_line(", ".join(f"{name}.toml" for name in found.troubles), 200)
    said = f"{counted(len(found.troubles), 'file')} left out: {names}"
    return [note("themes", said, "What is wrong with each: cockpit config check")]


def supervisor(places: Places) -> Finding:
    try:
        status = json.loads(fetch(places.socket, "/v1/status", patience=3.0))["supervisor"]
    except NoSupervisor as error:
        if error.title == nobody(places.socket).title:
            return note("supervisor", "None is running", "Start it with: cockpit up")
        return from_error("supervisor", error)
    except CockpitError as error:
        return from_error("supervisor", error)
    version = status.get("version")
    if version is not None and version != __version__:
        said = f"Process {status['pid']} is of version {safe_line(str(version))}"
        return note("supervisor", f"{said}, this is {__version__}", "cockpit down && cockpit up")
    return fit("supervisor", f"process {status['pid']}")


def tmux_server(places: Places) -> Finding:
    """Whether the socket of the private server is there, and takes a connection."""
    import socket

    if not places.tmux_socket.exists():
        return fit("tmux server", "not running")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as channel:
        channel.settimeout(3.0)
        try:
            channel.connect(str(places.tmux_socket))
        except OSError as error:
            said = f"Nobody answers on {places.tmux_socket} ({error.strerror})"
            return note("tmux server", said, "The next `cockpit up` sees to it.")
    return fit("tmux server", f"answers on {places.tmux_socket}")
