"""How fast transcripts are read, beside `ccusage` on the same files.

Makes one large transcript and a corpus of 200 in a temporary folder and removes them. `ccusage`
comes from npm (`tests.bench.npm`); where it has none, that is said.
Commands are timed with their start-up, ours and theirs in turn.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median

from tests.bench.npm import CCUSAGE, NotHere, native_binary
from tests.bench.rows import note, row
from tests.bench.synthetic_transcripts import Truth, write_transcript

MEGABYTES = float(os.environ.get("COCKPIT_BENCH_MEGABYTES", "400"))
RUNS = 5
CORPUS_FILES = 200


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="cockpit-bench-") as name:
        folder = Path(name)
        one, many = folder / "one", folder / "many"
        truth = make(one, MEGABYTES, 1)[0]
        make(many, MEGABYTES / CORPUS_FILES, CORPUS_FILES)
        large = transcripts(one)[0]
        check(truth, large)
        peer = ccusage()
        usage(f"one file of {MEGABYTES:.0f} MB", one, peer)
        usage(f"{CORPUS_FILES} files of {MEGABYTES:.0f} MB", many, peer)
        facts = [timed(["facts", "--json", str(large)]) for _ in range(RUNS)]
        row(f"cockpit facts, {MEGABYTES:.0f} MB", median(facts), "s", at_most=2)


def make(folder: Path, megabytes: float, count: int) -> list[Truth]:
    project = folder / "projects" / "p"
    project.mkdir(parents=True)
    return [
        write_transcript(project / f"5f0c7c1e-5a53-4c5b-9d6a-{n:012d}.jsonl", megabytes, n)
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
    for _ in range(RUNS):
        ours.append(timed(["usage", "--json", *map(str, transcripts(folder))]))
        if peer is not None:
            environment = {**os.environ, "CLAUDE_CONFIG_DIR": str(folder)}
            argv = [str(peer), "session", "--json", "--offline"]
            theirs.append(seconds(partial(run, argv, environment)))
    beside = {"ccusage": median(theirs)} if theirs else {}
    row(f"cockpit usage, {what}", median(ours), "s", beside=beside)
    if theirs:
        row(f"{what}: times as fast as ccusage", median(theirs) / median(ours), "", at_least=1)


def timed(words: Sequence[str]) -> float:
    return seconds(partial(run, [sys.executable, "-m", "cockpit", *words]))


def run(argv: Sequence[str], environment: dict[str, str] | None = None) -> None:
    subprocess.run(argv, stdout=subprocess.DEVNULL, check=True, env=environment)


def seconds(call: Callable[[], None]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
