"""`make mutants`: break what must never break, one thing at a time, and see that it is noticed.

Each mutant is applied to a copy of the tree, and its own check is run there; so is every check
without any mutant first, since one that fails anyway notices nothing. Exit code 1 unless all are
noticed.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.faults import kernel_log, power
from tests.faults.mutants import MUTANTS, Check, Mutant, described

ROOT = Path(__file__).parents[2]
COPIED = ("cockpit", "tests", "themes", "pyproject.toml", "cockpit.toml.example", "README.md")
SECONDS = 240.0
"""After which a check counts as one that noticed nothing, and is ended."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of one check."""

    noticed: bool
    words: str
    """What it said, in one line."""
    seconds: float


def main(arguments: list[str]) -> int:
    """Try them all, or those that are named; 1 unless each is noticed."""
    asked = parser().parse_args(arguments)
    known = {mutant.name: mutant for mutant in MUTANTS}
    if asked.list:
        for mutant in MUTANTS:
            print(f"{mutant.name}: {mutant.breaks}\n    {described(mutant.check)}")
        return 0
    if unknown := [name for name in asked.only if name not in known]:
        print(f"No mutant is called {', '.join(unknown)}. See: --list", file=sys.stderr)
        return 2
    chosen = [known[name] for name in asked.only] or list(MUTANTS)
    if misfits := [words for mutant in chosen if (words := misfit(mutant))]:
        print("\n".join(misfits), file=sys.stderr)
        return 1
    for mutant in [each for each in chosen if reason_against(each)]:
        print(f"skipped  {mutant.name}: {reason_against(mutant)}")
        chosen.remove(mutant)
    if (other := imported_instead()) is not None:
        print(other, file=sys.stderr)
        return 1
    began = time.monotonic()
    with ThreadPoolExecutor(asked.workers) as pool:
        if not asked.only_mutants and (broken := list(failing(pool, chosen))):
            print("\n".join(broken), file=sys.stderr)
            return 1
        noticed = 0
        for mutant, verdict in zip(chosen, pool.map(tried, chosen), strict=True):
            noticed += verdict.noticed
            word = "noticed" if verdict.noticed else "NOT NOTICED"
            print(f"{word}  {mutant.name} ({mutant.breaks})")
            print(f"    {described(mutant.check)}, {verdict.seconds:.0f} s\n    {verdict.words}")
            sys.stdout.flush()
    print(f"{noticed} of {len(chosen)} noticed, in {time.monotonic() - began:.0f} s")
    return 0 if noticed == len(chosen) else 1


def misfit(mutant: Mutant) -> str | None:
    """Why the mutant cannot be applied to the sources as they are; None if it can."""
    text = (ROOT / "cockpit" / mutant.file).read_text("utf-8")
    for old, _ in mutant.edits:
        if (times := text.count(old)) != 1:
            return (
                f"{mutant.name} does not fit cockpit/{mutant.file}: its text stands there {times} "
                f"times, and must stand there once. Mend it in tests/faults/mutants.py:\n{old}"
            )
    return None


def imported_instead(python: str = sys.executable) -> str | None:
    """Why a check in a copy would run other sources than the copy's; None if it would not.

    So it is where the environment's own path files put a checkout before `PYTHONPATH`.
    """
    with tempfile.TemporaryDirectory(prefix="ckmutant-") as folder:
        tree = Path(folder)
        (tree / "cockpit").mkdir()
        (tree / "cockpit" / "__init__.py").touch()
        done = subprocess.run(
            [python, "-c", "import cockpit; print(cockpit.__file__)"],
            cwd=tree.anchor,
            env=environment(tree),
            capture_output=True,
            text=True,
            check=True,
        )
        found = Path(done.stdout.strip())
        if found.is_relative_to(tree):
            return None
    return (
        f"{python} imports {found.parent} whatever PYTHONPATH says, so no mutant would be "
        "tried. Use the environment that make sets up: make mutants"
    )


def environment(tree: Path) -> dict[str, str]:
    """The environment in which the sources of a tree are imported before those installed."""
    return {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}


def reason_against(mutant: Mutant) -> str | None:
    """Why its check cannot be run on this machine; None if it can."""
    if isinstance(mutant.check, str):
        return None
    return power.reason_against() if mutant.check.loses_power else kernel_log.reason_against()


def failing(pool: ThreadPoolExecutor, mutants: Iterable[Mutant]) -> Iterator[str]:
    """The checks that fail although nothing is broken, each as a sentence."""
    checks = list(dict.fromkeys(mutant.check for mutant in mutants))
    with copied() as tree:
        for check, verdict in zip(checks, pool.map(lambda c: run(tree, c), checks), strict=True):
            if verdict.noticed:
                yield f"{described(check)} fails without a mutant: {verdict.words}"


def tried(mutant: Mutant) -> Verdict:
    """The mutant's check, in a tree of its own that it is applied to."""
    with copied() as tree:
        path = tree / "cockpit" / mutant.file
        text = path.read_text("utf-8")
        for old, new in mutant.edits:
            text = text.replace(old, new)
        path.write_text(text, "utf-8")
        return run(tree, mutant.check)


def run(tree: Path, check: Check) -> Verdict:
    """Run a check in a tree, with the tree's own sources before those that are installed."""
    if isinstance(check, str):
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        command += shlex.split(check)
    else:
        flight = json.dumps(asdict(check))
        command = [sys.executable, "-m", "tests.faults", "--workers", "1", "--replay", flight]
    began = time.monotonic()
    try:
        done = subprocess.run(
            command,
            cwd=tree,
            env=environment(tree),
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        return Verdict(False, "it did not end", SECONDS)
    words = telling(done.stdout + done.stderr, done.returncode)
    # What pytest calls a wrong usage, or no test at all, is no test that failed.
    return Verdict(done.returncode == 1, words, time.monotonic() - began)


def telling(output: str, code: int) -> str:
    """The line that says what is wrong."""
    lines = output.splitlines()
    for place, line in enumerate(lines):
        if line.startswith("VIOLATION"):
            return lines[place + 1].strip()[:300]
    failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    return (failed or lines or [""])[0 if failed else -1][:300] + f" (exit {code})"


@contextmanager
def copied() -> Iterator[Path]:
    """The tree as it is, somewhere else, for as long as the block lasts."""
    with tempfile.TemporaryDirectory(prefix="ckmutant-") as folder:
        tree = Path(folder)
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(
                    source, tree / name, ignore=shutil.ignore_patterns("__pycache__", "*.svg")
                )
            elif source.exists():
                shutil.copy2(source, tree / name)
        yield tree


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m tests.faults.mutation", description=__doc__)
    made.add_argument("--only", nargs="+", default=[], metavar="NAME", help="try only these")
    made.add_argument("--list", action="store_true", help="name them all, and their checks")
    made.add_argument("--workers", type=int, default=2, help="mutants that are tried at a time")
    made.add_argument(
        "--only-mutants", action="store_true", help="do not run the checks unbroken first"
    )
    return made


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
