"""Run the programs of a service manager (`systemctl`, `launchctl`)."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from cockpit.core.errors import Failed
from cockpit.core.safetext import safe_line

PATIENCE = 20.0
"""Time limit of one command of the service manager, in seconds."""


def run_all(commands: Sequence[Sequence[str]]) -> None:
    """Run the commands in sequence. Raises `Failed` at the first failure."""
    for command in commands:
        done = answer_of(*command)
        if done.returncode != 0:
            raise Failed(
                f"{' '.join(command)} failed",
                words_of(done) or f"exit code {done.returncode}",
                "Run the command manually, or check the state: cockpit service status",
            )


def answer_of(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a command. If it cannot be run or does not end in time, the result is a failure with the
    reason."""
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
    """Return a command's stdout as one line; its stderr if stdout is empty."""
    output = done.stdout.strip() or done.stderr.strip()
    return safe_line(" ".join(output.split()), 300)
