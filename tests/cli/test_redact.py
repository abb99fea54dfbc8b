"""`cockpit redact` removes secrets from a stream, and says where they are without showing them."""

from __future__ import annotations

import subprocess
import sys

SECRET = "Tr0ub4dor&3-xK9p$%<["
LINES = f"port = 1\nDB_PASSWORD={SECRET}\ncommit 017f79aa70a6490c21d446741f290ede451d4001\n"


def run(*arguments: str, text: bytes) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "cockpit", "redact", *arguments]
    return subprocess.run(command, input=text, capture_output=True, check=False)


def test_the_text_comes_out_without_its_secrets() -> None:
    done = run(text=LINES.encode() + b"\xff\xfe\n")
    assert done.returncode == 0
    assert SECRET.encode() not in done.stdout
    assert done.stdout.startswith(b"port = 1\nDB_PASSWORD=[REDACTED:assigned:")
    assert done.stdout.endswith(b"451d4001\n\xff\xfe\n")
    assert done.stderr == b""


def test_check_names_kind_and_line_and_never_the_value() -> None:
    done = run("--check", text=LINES.encode())
    assert done.returncode == 1
    assert done.stdout == b""
    assert done.stderr == b"line 2: assigned\n"
    clean = run("--check", text=b"nothing in it\n")
    assert (clean.returncode, clean.stdout, clean.stderr) == (0, b"", b"")


def test_kinds_lists_the_table() -> None:
    done = run("--kinds", text=b"")
    assert done.returncode == 0
    assert b"github classic" in done.stdout
    assert len(done.stdout.splitlines()) >= 187
