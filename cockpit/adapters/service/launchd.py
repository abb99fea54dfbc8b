"""The supervisor as a launchd agent of the user (macOS): its property list and its state."""

from __future__ import annotations

import os
import plistlib
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cockpit.adapters.service.commands import answer_of, words_of
from cockpit.core.errors import NotNow, ProgramMissing

LABEL = "cockpit.supervisor"


@dataclass(frozen=True, slots=True)
class LaunchdAgent:
    """The supervisor's launch agent for one user."""

    folder: Path
    """Folder of the user's launch agents: `~/Library/LaunchAgents`."""
    command: tuple[str, ...]
    kept: Mapping[str, str]
    log: Path
    """The file for the supervisor's output before it opens its log."""

    kind = "launchd agent"

    @property
    def path(self) -> Path:
        return self.folder / f"{LABEL}.plist"

    def text(self) -> str:
        """Return the property list."""
        return plistlib.dumps(
            {
                "Label": LABEL,
                "ProgramArguments": list(self.command),
                "EnvironmentVariables": {
                    **self.kept,
                    "COCKPIT_SERVICE": "To remove this file: cockpit service remove",
                },
                "RunAtLoad": True,
                # Restart after a crash, not after `cockpit down`.
                "KeepAlive": {"SuccessfulExit": False},
                "ThrottleInterval": 10,
                # Agents run in a tmux server that the supervisor started; launchd must not end this
                # server.
                "AbandonProcessGroup": True,
                "StandardOutPath": str(self.log),
                "StandardErrorPath": str(self.log),
            }
        ).decode()

    def check(self) -> None:
        """Raise `ProgramMissing` without launchctl, and `NotNow` if this user has no desktop
        session."""
        if shutil.which("launchctl") is None:
            raise ProgramMissing(
                "launchctl is not on this machine", "", "Start the supervisor manually: cockpit up"
            )
        done = answer_of("launchctl", "print", _domain())
        if done.returncode != 0:
            raise NotNow(
                "launchd has no session for you",
                words_of(done),
                "Log in at this machine's screen, or use: cockpit up",
            )

    def commands(self, *, start: bool) -> tuple[tuple[str, ...], ...]:
        """Return the command that loads and starts the agent; none without `start`, because launchd
        loads the agent at the next login.
        """
        return (("launchctl", "bootstrap", _domain(), str(self.path)),) if start else ()

    def before_removal(self) -> tuple[tuple[str, ...], ...]:
        """Return no commands, because unloading the agent would end the supervisor."""
        return ()

    def after_removal(self) -> tuple[tuple[str, ...], ...]:
        return ()

    def state(self) -> dict[str, str]:
        """Return whether launchd has loaded the agent."""
        done = answer_of("launchctl", "print", f"{_domain()}/{LABEL}")
        return {"loaded": "yes" if done.returncode == 0 else "no"}

    def hint(self) -> str | None:
        return "The supervisor starts when you log in at this machine's screen."


def _domain() -> str:
    return f"gui/{os.getuid()}"
