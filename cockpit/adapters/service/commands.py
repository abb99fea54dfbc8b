"""Running the programs of a service manager (`systemctl`, `launchctl`), which answer at once."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from cockpit.core.errors import Failed
from cockpit.core.safetext import safe_line

PATIENCE = 20.0
"""Seconds for one answer."""


def run_all(commands: Sequence[Sequence[str]]) -> None:
    """Run these one after another. Raises `Failed` at the first that fails."""
    for command in commands:
        done = answer_of(*command)
        if done.returncode != 0:
            raise Failed(
                f"{' '.join(command)} failed",
                words_of(done) or f"exit code {done.returncode}",
                "Try it by hand; cockpit service status says how far it came.",
            )


def answer_of(*command: str) -> subprocess.CompletedProcess[str]:
    """Run it to its end; one that cannot be run, or does not end, has failed with its reason."""
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, 127, "", str(error))


def words_of(done: subprocess.CompletedProcess[str]) -> str:
    """What it printed, in one line."""
    said = done.stdout.strip() or done.stderr.strip()
    return safe_line(" ".join(said.split()), 300)
