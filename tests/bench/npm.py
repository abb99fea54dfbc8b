"""Programs that npm has, brought by its ordinary client into `.bench/npm` of this checkout.

Kept there for the next run, with npm's own cache; `make clean` takes them away.
"""

from __future__ import annotations

import os
import platform
import pwd
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

FOLDER = Path(__file__).parents[2] / ".bench" / "npm"
MACHINE = f"{sys.platform}-{'arm64' if platform.machine() in ('aarch64', 'arm64') else 'x64'}"
CCUSAGE = ("ccusage@20.0.26", f"@ccusage/ccusage-{MACHINE}@20.0.24")
"""The package, and the newest native binary of it that npm has."""
CCMANAGER = ("ccmanager@4.2.3", f"@kodaikabasawa/ccmanager-{MACHINE}@4.4.3")
"""Its program too is a package of its own, of another version than the one that asks for it."""


class NotHere(Exception):
    """The program cannot be had; the words say why."""


def native_binary(name: str, packages: Sequence[str]) -> Path:
    """The program itself, without the start of node before it. Raises `NotHere`."""
    folder = FOLDER / name
    found = _binary(folder, name)
    if found is None:
        _install(folder, packages)
        found = _binary(folder, name)
    if found is None:
        raise NotHere(f"npm has no {name} for {MACHINE}")
    found.chmod(0o755)
    return found


def _binary(folder: Path, name: str) -> Path | None:
    return next(folder.glob(f"node_modules/@*/{name}-*/bin/{name}"), None)


def _install(folder: Path, packages: Sequence[str]) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise NotHere("there is no npm")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text("{}")
    done = subprocess.run(
        [npm, "install", "--silent", "--no-audit", "--no-fund", "--force", *packages],
        cwd=folder, capture_output=True, text=True, check=False, timeout=180,
        env={
            **os.environ,
            # Where npm is told of its registry; what it writes goes to the folder.
            "HOME": pwd.getpwuid(os.getuid()).pw_dir,
            "npm_config_cache": str(FOLDER / "cache"),
        },
    )  # fmt: skip
    if done.returncode:
        raise NotHere(f"npm did not bring {packages[0]}: {done.stderr.strip()[-200:]}")
