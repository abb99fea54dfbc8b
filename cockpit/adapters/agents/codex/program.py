"""Find the Codex program, and check that it runs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from cockpit.adapters.agents.probe import probed_version
from cockpit.core.errors import ProgramMissing
from cockpit.ports.runtimes import Program

INSTALL = "Install Codex with: npm install -g @openai/codex"


def find_program(environment: Mapping[str, str], *, path: Path | None = None) -> Program:
    """Return the program at `path`, or else `codex` on the PATH of `environment`.

    Checks the program with `probed_version`. Raises `ProgramMissing`.
    """
    if path is None:
        program = shutil.which("codex", path=environment.get("PATH", os.defpath))
        if program is None:
            raise ProgramMissing("Codex is not installed", "codex is not on PATH.", INSTALL)
        path = Path(program)
    return Program(path, probed_version(path, environment, INSTALL))
