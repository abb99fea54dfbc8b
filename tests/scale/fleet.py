"""The stand-ins' process, and the home of a cockpit that knows them as hosts."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
KEPT = ("PATH", "LANG", "HTTPS_PROXY", "SSL_CERT_FILE")


class StandIns:
    """The process of all hosts."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def tell(self, command: str) -> dict[str, Any]:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer


@contextmanager
def stand_ins(
    folder: Path, hosts: int, given: argparse.Namespace, *more: str
) -> Iterator[StandIns]:
    argv = [
        sys.executable, "-m", "tests.scale.stand_ins", "--folder", str(folder / "hosts"),
        "--hosts", str(hosts), "--agents", str(given.agents), "--events", str(given.events),
        "--seed", str(given.seed), "--drops", str(given.drops), *more,
    ]  # fmt: skip
    with subprocess.Popen(
        argv, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        try:
            json.loads(process.stdout.readline())
            yield StandIns(process)
        finally:
            process.stdin.close()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def environment_of(folder: Path, hosts: Sequence[str], line: Sequence[str] = ()) -> dict[str, str]:
    """Make a home whose settings name these hosts; return the environment of its cockpit.

    `line` is put before the command that connects to a host.
    """
    programs, home = folder / "bin", folder / "ck"
    programs.mkdir()
    home.mkdir(mode=0o700)
    script = programs / "cockpit"
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -P -m cockpit "$@"\n')
    script.chmod(0o755)
    path = f"{programs}:{os.environ['PATH']}"
    tables = []
    for name in hosts:
        argv = [*line, "env", f"COCKPIT_HOME={folder / 'hosts' / name}", f"PATH={path}"]
        tables.append(f'[[hosts]]\nname = "{name}"\nconnect = {json.dumps(argv)}\n')
    (home / "cockpit.toml").write_text("\n".join(tables))
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return {**kept, "HOME": str(folder), "TMPDIR": str(folder), "COCKPIT_HOME": str(home)}
