"""Find the opencode program, and check that it runs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from cockpit.adapters.agents.probe import probed_version
from cockpit.core.errors import ProgramMissing
from cockpit.ports.runtimes import Program

INSTALL = "Install opencode with: npm install -g opencode-ai"


def find_program(environment: Mapping[str, str], *, path: Path | None = None) -> Program:
    """Return the program at `path`, or else `opencode` on the PATH of `environment`.

    Checks the program with `probed_version`. Raises `ProgramMissing`.
    """
    if path is None:
        program = shutil.which("opencode", path=environment.get("PATH", os.defpath))
        if program is None:
            raise ProgramMissing("opencode is not installed", "opencode is not on PATH.", INSTALL)
        path = Path(program)
    return Program(path, probed_version(path, environment, INSTALL))
