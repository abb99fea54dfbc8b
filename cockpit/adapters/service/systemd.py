"""The supervisor as a systemd user service: its unit file and its state.

Runs `systemctl` and `loginctl` from PATH, never with `sudo`.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cockpit.adapters.service.commands import answer_of, words_of
from cockpit.core.errors import BadUsage, NotNow, ProgramMissing

NAME = "cockpit.service"


@dataclass(frozen=True, slots=True)
class SystemdUnit:
    """The supervisor's systemd unit for one user."""

    folder: Path
    """Folder of the user's units: `~/.config/systemd/user`."""
    command: tuple[str, ...]
    """Argument vector of the supervisor in the foreground."""
    kept: Mapping[str, str]
    """Environment variables for the supervisor, in addition to those that systemd sets."""

    kind = "systemd user unit"

    @property
    def path(self) -> Path:
        return self.folder / NAME

    def text(self) -> str:
        """Return the unit file. Raises `BadUsage` for a value that a unit file cannot contain."""
        environment = "".join(
            f"Environment={_quoted(f'{name}={value}')}\n" for name, value in self.kept.items()
        )
        program, *rest = self.command
        if any(character in program for character in "\"'\\$*?["):
            raise BadUsage(
                f"systemd cannot run a program with this path: {program!a}",
                "Quotes, backslashes, dollar signs and wildcards are not allowed there.",
                "Install cockpit in another folder.",
            )
        arguments = (_quoted(word).replace("$", "$$") for word in rest)
        command = " ".join((_quoted(program), *arguments))
        return f"""\
# Written by: cockpit service install. To remove it: cockpit service remove
[Unit]
Description=cockpit, the supervisor of coding agents

[Service]
Type=exec
ExecStart={command}
{environment}# Agents run in a tmux server of this unit, which must not end with the supervisor.
KillMode=process
OOMPolicy=continue
Restart=on-failure
RestartSec=5
# Bad configuration, another supervisor, a missing program: a restart would not help.
RestartPreventExitStatus=2 5 6

[Install]
WantedBy=default.target
"""

    def check(self) -> None:
        """Raise `ProgramMissing` or `NotNow` if systemd does not manage this user's services."""
        if shutil.which("systemctl") is None:
            raise ProgramMissing(
                "systemctl is not on this machine",
                "A service needs systemd (Linux) or launchd (macOS).",
                "Start the supervisor manually: cockpit up",
            )
        done = answer_of("systemctl", "--user", "show-environment")
        if done.returncode != 0:
            raise NotNow(
                "systemd has no user session here",
                words_of(done),
                "Log in at the machine or with ssh (not su or sudo), or use: cockpit up",
            )

    def commands(self, *, start: bool) -> tuple[tuple[str, ...], ...]:
        """Return the commands that `install` runs after the file is written, in order."""
        enable = ("systemctl", "--user", "enable", NAME)
        begin = (("systemctl", "--user", "start", NAME),) if start else ()
        return (("systemctl", "--user", "daemon-reload"), enable, *begin)

    def before_removal(self) -> tuple[tuple[str, ...], ...]:
        """Return the commands that `remove` runs before deleting the file; they stop no process."""
        return (("systemctl", "--user", "disable", NAME),)

    def after_removal(self) -> tuple[tuple[str, ...], ...]:
        return (("systemctl", "--user", "daemon-reload"),)

    def state(self) -> dict[str, str]:
        """Return the unit's state, as systemd names it."""
        return {
            "enabled": words_of(answer_of("systemctl", "--user", "is-enabled", NAME)) or "unknown",
            "active": words_of(answer_of("systemctl", "--user", "is-active", NAME)) or "unknown",
        }

    def hint(self) -> str | None:
        """Return how to start the service at boot (lingering); None if lingering is already
        enabled, or if loginctl does not report it."""
        if shutil.which("loginctl") is None:
            return None
        answer = words_of(answer_of("loginctl", "show-user", "--property=Linger"))
        if answer.endswith("=yes"):
            return None
        if answer.endswith("=no"):
            return (
                "The supervisor starts when you log in, and ends when you log out. "
                "To start it with the machine and keep it running: loginctl enable-linger"
            )
        return None


def _quoted(text: str) -> str:
    """Quote one word of a unit file, so that systemd reads no specifier in it.

    Raises `BadUsage` for characters that are not printable.
    """
    if not text.isprintable():
        raise BadUsage(
            f"A unit file cannot contain {text!a}",
            hint="Use a path without control characters for COCKPIT_HOME and --config.",
        )
    inner = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{inner}"'
