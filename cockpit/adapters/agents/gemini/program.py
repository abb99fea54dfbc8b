"""Find the Gemini CLI program, and check that it runs."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from cockpit.adapters.agents.probe import probed_version
from cockpit.core.errors import ProgramMissing
from cockpit.ports.runtimes import Program

INSTALL = "Install Gemini CLI with: npm install -g @google/gemini-cli"

NO_RELAUNCH: Mapping[str, str] = {"GEMINI_CLI_NO_RELAUNCH": "true"}
"""A variable that makes Gemini use one process. Otherwise the process in the pane starts a second
process and ignores every signal (0.61.0)."""


def find_program(environment: Mapping[str, str], *, path: Path | None = None) -> Program:
    """Return the program at `path`, or else `gemini` on the PATH of `environment`.

    Checks the program with `probed_version`. Raises `ProgramMissing`.
    """
    if path is None:
        program = shutil.which("gemini", path=environment.get("PATH", os.defpath))
        if program is None:
            raise ProgramMissing("Gemini CLI is not installed", "gemini is not on PATH.", INSTALL)
        path = Path(program)
    # Even for `--version`, Gemini records the current directory as one of the user's projects.
    with tempfile.TemporaryDirectory(prefix="cockpit-probe-") as home:
        variables = {**environment, **NO_RELAUNCH, "GEMINI_CLI_HOME": home}
        return Program(path, probed_version(path, variables, INSTALL))
