"""`make bench`: run every `bench_*.py` beside this file, each in a process and a home of its own.

A bench prints its rows with `tests.bench.rows.row`. Nothing here judges: figures depend on the
machine, so no test is timed.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
KEPT = ("PATH", "LANG", "TERM", "HTTPS_PROXY", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS")
"""Of the environment; the later ones lead to the registry that a peer comes from."""


def main(wanted: list[str]) -> int:
    """Run the named ones (`panes` for `bench_panes.py`), or all; 1 if one of them failed."""
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    failed = []
    for file in sorted(HERE.glob("bench_*.py")):
        name = file.stem.removeprefix("bench_")
        if not wanted or name in wanted:
            print(f"\n{name}", flush=True)
            failed += [] if _run(file) == 0 else [name]
    if failed:
        print(f"\nfailed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def _run(file: Path) -> int:
    home = Path(tempfile.mkdtemp(prefix="ckb"))
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    environment = {**kept, "HOME": str(home), "COCKPIT_HOME": str(home / "ck")}
    try:
        command = [sys.executable, "-m", f"tests.bench.{file.stem}"]
        return subprocess.run(
            command, env=environment, cwd=HERE.parent.parent, check=False
        ).returncode
    finally:
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
