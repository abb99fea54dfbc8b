"""How fast transcripts are read, beside `ccusage` on the same files.

Makes large transcripts, one of them of short lines, and two corpora in a temporary folder, and
removes them. `ccusage` comes from npm (`tests.bench.npm`); where it has none, that is said. It gets
a home of its own and no network. Commands are run with their start-up, ours and theirs in turn;
the times as fast are the median of the ratios of the pairs.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tests.bench.npm import CCUSAGE, NotHere, native_binary
from tests.bench.rows import note, row
from tests.bench.synthetic_transcripts import SESSION, SHORT, Truth, write_transcript

MEGABYTES = float(os.environ.get("COCKPIT_BENCH_MEGABYTES", "400"))
RUNS = 5
CORPUS_FILES = 200
SESSIONS = 743
SESSION_MEGABYTES = (0.005, 5.0)
"""The smallest and the largest of many sessions. Most are small; half of the bytes, about 300 MB in
all, are in the largest ones."""


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="cockpit-bench-") as name:
        folder = Path(name)
        one, many, sessions = folder / "one", folder / "many", folder / "sessions"
        truth = make(one, MEGABYTES, 1)[0]
        make(many, MEGABYTES / CORPUS_FILES, CORPUS_FILES)
        large = transcripts(one)[0]
        check(truth, large)
        peer = ccusage()
        usage(f"one file of {MEGABYTES:.0f} MB", one, peer)
        usage(f"{CORPUS_FILES} files of {MEGABYTES:.0f} MB", many, peer)
        make_sessions(sessions)
        usage(f"{SESSIONS} files of 5 KB to 5 MB", sessions, peer)
        facts(f"{MEGABYTES:.0f} MB", large)
        short = folder / "short.jsonl"
        write_transcript(short, MEGABYTES, 1, SHORT)
        facts(f"{MEGABYTES:.0f} MB of short lines", short)


def facts(what: str, path: Path) -> None:
    taken = [timed(["facts", "--json", str(path)]) for _ in range(RUNS)]
    row(f"cockpit facts, {what}", median(one.wall for one in taken), "s")
    row(f"cockpit facts, {what}: processor", median(one.cpu for one in taken), "s", at_most=2)


def make_sessions(folder: Path) -> None:
    project = folder / "projects" / "p"
    project.mkdir(parents=True)
    least, most = SESSION_MEGABYTES
    sizes = random.Random(1)
    for number in range(1, SESSIONS + 1):
        megabytes = least * (most / least) ** (sizes.random() ** 1.7)
        write_transcript(project / f"{SESSION % number}.jsonl", megabytes, number)


def make(folder: Path, megabytes: float, count: int) -> list[Truth]:
    project = folder / "projects" / "p"
    project.mkdir(parents=True)
    return [
        write_transcript(project / f"{SESSION % n}.jsonl", megabytes, n)
        for n in range(1, count + 1)
    ]


def transcripts(folder: Path) -> list[Path]:
    return sorted((folder / "projects" / "p").iterdir())


def check(truth: Truth, large: Path) -> None:
    """A fast figure that is wrong is worth nothing."""
    argv = [sys.executable, "-m", "cockpit", "usage", "--json", str(large)]
    (told,) = json.loads(subprocess.run(argv, capture_output=True, check=True).stdout)
    assert told["api_calls"] == truth.api_calls
    assert told["context"]["tokens"] == truth.last
    assert told["totals"]["cache_read"] == truth.totals.cache_read
    assert told["totals"]["output"] == truth.totals.output


def ccusage() -> Path | None:
    try:
        return native_binary("ccusage", CCUSAGE)
    except NotHere as error:
        note(f"ccusage was not measured: {error}")
        return None


def usage(what: str, folder: Path, peer: Path | None) -> None:
    ours, theirs = [], []
    with tempfile.TemporaryDirectory(prefix="cockpit-bench-") as home:
        environment = {**os.environ, "HOME": home, "CLAUDE_CONFIG_DIR": str(folder)}
        for _ in range(RUNS):
            ours.append(timed(["usage", "--json", *map(str, transcripts(folder))]))
            if peer is not None:
                theirs.append(run([str(peer), "session", "--json", "--offline"], environment))
    both = list(zip(ours, theirs, strict=False))
    for name, of in (("", wall), (": processor", cpu)):
        beside = {"ccusage": median(map(of, theirs))} if theirs else {}
        row(f"cockpit usage, {what}{name}", median(map(of, ours)), "s", beside=beside)
    if both:
        ratio = median(their.wall / our.wall for our, their in both)
        row(f"{what}: times as fast as ccusage", ratio, "", at_least=1)


@dataclass(frozen=True)
class Taken:
    """The seconds that a command took, and those of its processes' processor time."""

    wall: float
    cpu: float


def wall(taken: Taken) -> float:
    return taken.wall


def cpu(taken: Taken) -> float:
    return taken.cpu


def timed(words: Sequence[str]) -> Taken:
    return run([sys.executable, "-m", "cockpit", *words])


def run(argv: Sequence[str], environment: dict[str, str] | None = None) -> Taken:
    before, began = os.times(), time.perf_counter()
    subprocess.run(argv, stdout=subprocess.DEVNULL, check=True, env=environment)
    after, ended = os.times(), time.perf_counter()
    used = after.children_user - before.children_user
    return Taken(ended - began, used + after.children_system - before.children_system)


if __name__ == "__main__":
    main()
