"""`cockpit service`: start the supervisor when the user logs in."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cockpit.cli.options import common_options, with_common_options
from cockpit.core.errors import Failed, NotNow, Unreachable
from cockpit.core.safetext import safe_line

if TYPE_CHECKING:
    from cockpit.adapters.service.launchd import LaunchdAgent
    from cockpit.adapters.service.systemd import SystemdUnit

KEPT = (
    "PATH", "COCKPIT_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "LANG",
    "LC_ALL",
)  # fmt: skip
"""The only variables that are written to the service file: paths, and the locale."""
MARKER = "cockpit service remove"
"""Text in every service file that cockpit writes; identifies the file as cockpit's."""


@click.group(
    epilog="""\b
Examples:
  cockpit service install --dry-run
  cockpit service install
  cockpit service status"""
)
@with_common_options
def service() -> None:
    """Install the supervisor as a login service.

    The service is a systemd user unit, or a launchd agent on macOS. After a reboot, the supervisor
    offers to reopen the agents that were running, or reopens them (setting `resume`).
    """


@service.command(
    epilog="""\b
Examples:
  cockpit service install --dry-run    print the file and the commands
  cockpit service install
  cockpit service install --config ~/team.toml"""
)
@with_common_options
@click.option("--dry-run", is_flag=True, help="Print the file and the commands; change nothing.")
def install(dry_run: bool) -> int:
    """Write the service file and enable it.

    The service starts the supervisor at every login, and now if none is running. A running
    supervisor keeps running. The file contains the path of this Python, PATH, the locale and the
    folders of cockpit and Claude Code, and no credentials.
    """
    from cockpit.adapters.service.commands import run_all
    from cockpit.cli.agent_guard import refuse_inside_agent
    from cockpit.cli.output import say
    from cockpit.cli.places import our_places
    from cockpit.cli.supervisor_process import supervisor_pid

    refuse_inside_agent("install a service", nested=False)
    _run_on_host("install", *(["--dry-run"] if dry_run else []))
    unit = _unit()
    text = unit.text()
    try:
        pid = supervisor_pid(our_places())
    except Unreachable as error:
        pid = error.pid
    commands = unit.commands(start=pid is None)
    if dry_run:
        print(text, end="", flush=True)
        say(f"Would write the above to {unit.path}, then run:")
        for command in commands:
            say(f"  {' '.join(command)}")
        return 0
    unit.check()
    before = _installed_text(unit.path)
    if before != text:
        _write(unit.path, text)
        say(f"Wrote {unit.path} ({unit.kind})")
    else:
        say(f"{unit.path} is up to date")
    run_all(commands)
    for command in commands:
        say(f"Ran: {' '.join(command)}")
    if pid is not None:
        say(f"The supervisor (pid {pid}) keeps running; the service will start the next one.")
    if hint := unit.hint():
        say(hint)
    say("To remove the service: cockpit service remove")
    return 0


@service.command(
    epilog="""\b
Example:
  cockpit service remove; cockpit down    also stop the running supervisor"""
)
@with_common_options
def remove() -> int:
    """Disable the service and delete its file.

    A running supervisor keeps running.
    """
    from cockpit.adapters.service.commands import run_all
    from cockpit.cli.agent_guard import refuse_inside_agent
    from cockpit.cli.output import say

    refuse_inside_agent("remove a service", nested=False)
    _run_on_host("remove")
    unit = _unit()
    if _installed_text(unit.path) is None:
        say(f"No service is installed: {unit.path} does not exist")
        return 0
    unit.check()
    run_all(unit.before_removal())
    try:
        unit.path.unlink()
    except OSError as error:
        raise Failed(
            f"Cannot delete {unit.path}",
            str(error),
            hint="Make the folder writable, or delete the file yourself.",
        ) from error
    run_all(unit.after_removal())
    say(f"Removed {unit.path}. A running supervisor keeps running; stop it with: cockpit down")
    return 0


@service.command(
    epilog="""\b
Example:
  cockpit service status"""
)
@with_common_options
def status() -> int:
    """Show whether the service is installed, enabled and running."""
    from cockpit.cli.output import say

    _run_on_host("status")
    unit = _unit()
    if _installed_text(unit.path) is None:
        print("installed: no", flush=True)
        say(f"To install the service: cockpit service install (writes {unit.path})")
        return 0
    print(f"installed: {unit.path}")
    unit.check()
    for name, value in unit.state().items():
        print(f"{name}: {value}")
    sys.stdout.flush()
    if hint := unit.hint():
        say(hint)
    return 0


def _unit() -> SystemdUnit | LaunchdAgent:
    from cockpit.cli.config_file import file_to_read
    from cockpit.cli.places import our_places

    places = our_places()
    command = [sys.executable, "-P", "-m", "cockpit"]
    if common_options().config is not None:
        command += ["--config", str(file_to_read(common_options().config)[0])]
    argv = (*command, "up", "--foreground")
    kept = {name: os.environ[name] for name in KEPT if os.environ.get(name)}
    if places.home is not None:
        kept["COCKPIT_HOME"] = str(places.home)
    home = Path(os.environ.get("HOME") or Path.home())
    if sys.platform == "darwin":
        from cockpit.adapters.service.launchd import LaunchdAgent

        return LaunchdAgent(home / "Library" / "LaunchAgents", argv, kept, places.logs / "up.log")
    from cockpit.adapters.service.systemd import SystemdUnit

    configured = os.environ.get("XDG_CONFIG_HOME", "")
    config = Path(configured) if configured.startswith("/") else home / ".config"
    return SystemdUnit(config / "systemd" / "user", argv, kept)


def _installed_text(path: Path) -> str | None:
    """Return the service file's text; None if there is no file.

    Raises `NotNow` for a file that cockpit did not write, and `Failed` if the file cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Failed(
            f"Cannot read {path}", str(error), hint="Make the file readable, or delete it."
        ) from error
    if MARKER not in text:
        raise NotNow(
            f"{safe_line(str(path))} was not written by cockpit",
            "The file was not changed.",
            "Move the file elsewhere, then try again.",
        )
    return text


def _write(path: Path, text: str) -> None:
    from cockpit.adapters.files.private_file import write_private

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_private(path, text.encode())
    except OSError as error:
        raise Failed(
            f"Cannot write {path}", str(error), hint="Make the folder writable."
        ) from error


def _run_on_host(*words: str) -> None:
    """With `--host`, replace this process with the same command on that machine."""
    from cockpit.cli.requests import remote_host

    host = remote_host()
    if host is not None:
        from cockpit.cli.hosts import exec_remote

        exec_remote(host.command("service", *words))
