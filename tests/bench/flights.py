"""Cockpits to measure: a supervisor over agents that only sleep, or over one that swaps.

One at a time, in the home that the environment names; forgotten when it is over.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cockpit.client.raw_request import fetch
from cockpit.demo.repository import make_repository
from cockpit.demo.standin.program import install

PATIENCE = 120.0
HOME = Path(os.environ["COCKPIT_HOME"])
SOCKET = HOME / "run" / "cockpit.sock"
SLEEPER = (
    '#!/bin/sh\n[ "$1" = --version ] && echo "2.1.330 (Claude Code)" && exit\nexec sleep 86400\n'
)
CONTEXT = {"PATH": f"{HOME / 'bin'}:{os.environ['PATH']}", "CLAUDE_CONFIG_DIR": str(HOME / "cli")}
COCKPIT = [sys.executable, "-m", "cockpit"]


def fleet_of(agents: int) -> Path:
    """A configuration with so many sleepers."""
    program(SLEEPER)
    tables = ['[defaults]\nmode = "observe"\nstart = "auto"\n']
    for number in range(agents):
        place = HOME / "work" / f"agent{number:03}"
        place.mkdir(parents=True, exist_ok=True)
        tables.append(f'[[agents]]\nname = "{place.name}"\ndirectory = "{place}"\n')
    return config_file("\n".join(tables))


def one_that_swaps() -> Path:
    """A configuration with one stand-in whose documents nobody has to write."""
    install(HOME / "bin")
    place = HOME / "repository"
    place.mkdir()
    make_repository(place, os.environ)
    return config_file(
        '[defaults.handoff]\nwriters = ["facts"]\nmax_per_job = 100\n'
        f'[[agents]]\nname = "swapper"\nmode = "auto"\nstart = "auto"\ndirectory = "{place}"\n'
        'prompt = "Count."\n'
        'env = { STANDIN_PACE = "0.01", STANDIN_STEPS = "2", STANDIN_STEP_TOKENS = "10" }\n'
    )


def program(text: str) -> None:
    path = HOME / "bin" / "claude"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def config_file(text: str) -> Path:
    path = HOME / "bench.toml"
    path.write_text(text)
    return path


@contextmanager
def flying(config: Path) -> Iterator[None]:
    """A supervisor with everybody started; ended with them afterwards, and forgotten."""
    command("--config", str(config), "up")
    try:
        until(lambda: all(each["pid"] for each in status()["agents"]))
        yield
    finally:
        end()


def end() -> None:
    command("down", "--agents")
    shutil.rmtree(HOME / "state", ignore_errors=True)


def command(*words: str) -> None:
    said = subprocess.DEVNULL
    subprocess.run(
        [*COCKPIT, *words], check=True, stdout=said, stderr=said, env={**os.environ, **CONTEXT}
    )


def status() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(fetch(SOCKET, "/v1/status"))
    return found


def agent() -> dict[str, Any]:
    (found,) = status()["agents"]
    return dict(found)


def handed_off(times: int) -> bool:
    return bool(agent()["handoffs"] == times)


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        if time.monotonic() > end:
            raise TimeoutError(json.dumps(status(), indent=1)[:4000])
        time.sleep(0.05)
