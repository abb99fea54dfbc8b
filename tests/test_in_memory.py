"""The script with which make runs the tests in memory."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

SCRIPT = Path(__file__).with_name("in_memory.sh")


def run(command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    words = [str(SCRIPT), "sh", "-c", command]
    given = {"PATH": os.environ["PATH"], **environment}
    return subprocess.run(words, env=given, capture_output=True, text=True, check=False)


def test_the_exit_code_is_kept_and_the_folder_is_not() -> None:
    done = run('echo "$TMPDIR"; [ -z "$TMPDIR" ] || mkdir "$TMPDIR/left"; exit 7')
    assert (done.returncode, done.stderr) == (7, "")
    folder = done.stdout.strip()
    assert not folder or folder.startswith("/dev/shm/")
    assert not folder or not Path(folder).exists()


def test_a_folder_that_was_asked_for_is_used(tmp_path: Path) -> None:
    done = run('echo "$TMPDIR"; exit 3', TMPDIR=str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (3, f"{tmp_path}\n", "")
    assert tmp_path.exists()
