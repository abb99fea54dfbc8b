"""Find the Claude Code program, and check that it runs.

The user's own program comes first, then the program inside claude-agent-sdk.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from cockpit.adapters.agents.probe import probed_version
from cockpit.core.errors import ProgramMissing
from cockpit.ports.runtimes import Program

INSTALL = "Install Claude Code and put `claude` on PATH, or reinstall cockpit: it includes a copy."


def bundled_path() -> Path | None:
    """Return the path of the CLI inside claude-agent-sdk; None if it is missing.

    Does not import the SDK.
    """
    spec = importlib.util.find_spec("claude_agent_sdk")
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / "_bundled" / "claude"
    return path if path.is_file() else None


def find_program(
    environment: Mapping[str, str], *, path: Path | None = None, bundled_only: bool = False
) -> Program:
    """Return `path`, or else `claude` on the PATH of `environment`, or else the bundled program.

    With `bundled_only`, PATH is not searched. Checks the program with `probed_version`; if the
    check fails, no other program is tried. Raises `ProgramMissing`.
    """
    if path is not None:
        return Program(path, probed_version(path, environment, INSTALL))
    if not bundled_only:
        program = shutil.which("claude", path=environment.get("PATH", os.defpath))
        if program is not None:
            own = Path(program)
            return Program(own, probed_version(own, environment, INSTALL))
    bundled = bundled_path()
    if bundled is None:
        where = "inside claude-agent-sdk" if bundled_only else "on PATH or inside claude-agent-sdk"
        raise ProgramMissing("Claude Code is not installed", f"Not found {where}.", INSTALL)
    return Program(bundled, probed_version(bundled, environment, INSTALL), bundled=True)
