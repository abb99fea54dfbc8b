"""Real repositories for tests that only need one to be there."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def lay_repository(folder: Path) -> Path:
    """Make an empty repository of a folder, the folder too if it is missing."""
    # pytest puts a test's name into the environment, and one has a name of 300 KB.
    environment = {name: os.environ[name] for name in ("PATH", "HOME")}
    words = ["git", "init", "-q", "--template=", str(folder)]
    subprocess.run(words, check=True, env=environment)
    return folder
