"""Find the Claude Code program, and check that it runs.

The user's own program comes first, then the one inside claude-agent-sdk. The program is probed,
because an old agent must not be ended before the new one's program has answered.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from cockpit.core.errors import ProgramMissing
from cockpit.ports.runtimes import Program

PROBE_SECONDS = 15.0
"""A cold start from a slow disk reads several hundred megabytes."""

_VERSION = re.compile(r"\d+\.\d+\.\d+\S*")
_PROBED: dict[tuple[str, int, int], str] = {}

INSTALL = "Install Claude Code and put `claude` on PATH, or reinstall cockpit, which includes it."


def bundled_path() -> Path | None:
    """Return the CLI inside claude-agent-sdk, without importing the SDK; None if it has none."""
    spec = importlib.util.find_spec("claude_agent_sdk")
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / "_bundled" / "claude"
    return path if path.is_file() else None


def find_program(
    environment: Mapping[str, str], *, path: Path | None = None, bundled_only: bool = False
) -> Program:
    """Return the first of: `path`, the PATH of `environment`, the bundled program; probed.

    A `claude` on PATH that does not answer is an error; no other program is tried. Raises
    `ProgramMissing`.
    """
    if path is not None:
        return Program(path, probed_version(path, environment))
    if not bundled_only:
        found = shutil.which("claude", path=environment.get("PATH", os.defpath))
        if found is not None:
            own = Path(found)
            return Program(own, probed_version(own, environment))
    bundled = bundled_path()
    if bundled is None:
        where = "inside claude-agent-sdk" if bundled_only else "on PATH or inside claude-agent-sdk"
        raise ProgramMissing("Claude Code is not installed", f"Not found {where}.", INSTALL)
    return Program(bundled, probed_version(bundled, environment), bundled=True)


def probed_version(path: Path, environment: Mapping[str, str]) -> str:
    """Return the program's answer to `--version`; cached until its file changes.

    Raises `ProgramMissing` if it is missing, cannot be started, fails or prints nothing.
    """
    try:
        real = path.resolve(strict=True)
        seen = real.stat()
    except (OSError, RuntimeError) as error:
        raise ProgramMissing(f"{path} does not exist", str(error), INSTALL) from None
    key = (str(real), seen.st_mtime_ns, seen.st_size)
    if key not in _PROBED:
        _PROBED[key] = _run_version(path, environment)
    return _PROBED[key]


def _run_version(path: Path, environment: Mapping[str, str]) -> str:
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
        raise _broken(path, f"No answer to --version in {PROBE_SECONDS:.0f} s.") from None
    except OSError as error:
        raise _broken(path, f"It cannot be started: {error.strerror}.") from None
    version = _VERSION.search(answer.stdout.decode("utf-8", "replace"))
    if answer.returncode != 0 or version is None:
        raise _broken(path, f"It answered --version with exit code {answer.returncode}.")
    return version.group()


def _broken(path: Path, detail: str) -> ProgramMissing:
    return ProgramMissing(f"{path} does not work", detail, f"Try: {path} --version. " + INSTALL)
