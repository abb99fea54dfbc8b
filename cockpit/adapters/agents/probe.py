"""Run a CLI with `--version`, to check that the CLI works.

A handoff must not end the old session before the new session's program is known to work.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from cockpit.core.errors import ProgramMissing
from cockpit.core.safetext import safe_line

PROBE_SECONDS = 60.0
"""Time limit of the probe, in seconds. A cold start reads several hundred megabytes; with 15 other
programs per core, Gemini took more than 15 seconds."""

_VERSION = re.compile(r"\d+\.\d+\.\d+\S*")
_PROBED: dict[tuple[str, int, int], str] = {}


def probed_version(path: Path, environment: Mapping[str, str], install: str) -> str:
    """Return the version that the program prints for `--version`; cached until the file changes.

    Raises `ProgramMissing` if the program is missing, cannot be started, fails or prints no
    version; `install` is the step that the error suggests.
    """
    try:
        real = path.resolve(strict=True)
        seen = real.stat()
    except (OSError, RuntimeError) as error:
        raise _unreadable(path, error, install) from None
    key = (str(real), seen.st_mtime_ns, seen.st_size)
    if key not in _PROBED:
        _PROBED[key] = _run_version(path, environment, install)
    return _PROBED[key]


def _unreadable(path: Path, error: OSError | RuntimeError, install: str) -> ProgramMissing:
    """Return the error for a path that cannot be resolved; a `RuntimeError` is a loop of links."""
    if isinstance(error, FileNotFoundError):
        missing = str(error.filename)
        detail = f"{missing} does not exist." if missing != str(path) else ""
        return ProgramMissing(f"Cannot find {path}", detail, install)
    why = error.strerror if isinstance(error, OSError) else str(error)
    return ProgramMissing(f"Cannot read {path}", f"{why}.", install)


def _run_version(path: Path, environment: Mapping[str, str], install: str) -> str:
    try:
        answer = subprocess.run(
            [str(path), "--version"],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PROBE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _broken(path, f"No answer to --version in {PROBE_SECONDS:.0f} s.", install) from None
    except OSError as error:
        raise _broken(
            path, f"cockpit cannot start the program: {error.strerror}.", install
        ) from None
    version = _VERSION.search(answer.stdout.decode("utf-8", "replace"))
    if answer.returncode != 0 or version is None:
        raise _broken(path, _unusable(answer), install)
    return version.group()


def _unusable(answer: subprocess.CompletedProcess[bytes]) -> str:
    """Return why an answer to `--version` is unusable, with the last line of the output."""
    output = (answer.stderr.strip() or answer.stdout.strip()).decode("utf-8", "replace")
    last = safe_line(output.rpartition("\n")[2], 200)
    what = f"--version exited with code {answer.returncode}"
    if answer.returncode == 0:
        what = "--version printed no version"
    return f"{what}: {last}" if last else f"{what}."


def _broken(path: Path, detail: str, install: str) -> ProgramMissing:
    return ProgramMissing(f"{path} does not work", detail, f"Try: {path} --version. " + install)
