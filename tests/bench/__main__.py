"""`make bench`: run every `bench_*.py` beside this file, each in a process and a home of its own.

A bench prints its figures with `tests.bench.rows.row`. When all of them ran, the table in
`cockpit/docs/performance.md` is made of what they said. Exit code: 0 when every goal was held, 3
when one was missed, 1 when a bench failed. Figures depend on the machine, so no test is timed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.bench import report
from tests.bench.processes import end_marked
from tests.bench.rows import KEPT_IN, kept

HERE = Path(__file__).parent
KEPT = ("PATH", "LANG", "TERM", "HTTPS_PROXY", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS")
"""Of the environment; the later ones lead to the registry that a peer comes from."""
MISSED = 3


def main(arguments: list[str]) -> int:
    """Run the named benchmarks (`panes` for `bench_panes.py`), or all."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench",
        description="Measure cockpit. Without NAME, run all and write cockpit/docs/performance.md.",
    )
    parser.add_argument("wanted", nargs="*", metavar="NAME", help=", ".join(_names()))
    wanted = parser.parse_args(arguments).wanted
    if unknown := sorted({*wanted} - {*_names()}):
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(_names())}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    begun, failed = time.monotonic(), []
    print(report.machine())
    with tempfile.TemporaryDirectory(prefix="ckb") as folder:
        rows_file = Path(folder) / "rows"
        rows_file.touch()
        for name in _names():
            if not wanted or name in wanted:
                print(f"\n{name}", flush=True)
                failed += [] if _run(name, rows_file) == 0 else [name]
        rows, notes = kept(rows_file)
    minutes = (time.monotonic() - begun) / 60
    missed = [one for one in rows if one.missed]
    print(f"\n{len(rows)} figures in {minutes:.1f} minutes; goals missed: {len(missed) or 'none'}")
    for one in missed:
        print(f"  {one.what}: {one.value:.1f} {one.unit}, not {one.goal}")
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
        return 1
    if not wanted:
        print(f"written: {report.write(rows, notes, minutes)}")
    return MISSED if missed else 0


def _names() -> list[str]:
    return sorted(file.stem.removeprefix("bench_") for file in HERE.glob("bench_*.py"))


def _run(name: str, rows_file: Path) -> int:
    """One bench. Whatever it leaves is ended: everything it began carries its home."""
    home = Path(tempfile.mkdtemp(prefix="ckb"))
    kept_over = {key: os.environ[key] for key in KEPT if key in os.environ}
    environment = {
        **kept_over,
        "HOME": str(home),
        "TMPDIR": str(home),
        "COCKPIT_HOME": str(home / "ck"),
        "COCKPIT_BENCH": name,
        KEPT_IN: str(rows_file),
    }
    command = [sys.executable, "-m", f"tests.bench.bench_{name}"]
    try:
        return subprocess.run(
            command, env=environment, cwd=HERE.parent.parent, check=False
        ).returncode
    finally:
        end_marked(str(home))
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
