"""The agents are shown as text while the screen is being loaded, and keys are kept for it."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Any

import pytest

from cockpit.cli.first_rows import picture
from tests.cli.test_status import FULL, row, said

PATIENCE = 120.0
LOADS = """
import sys
from cockpit.cli.first_rows import first_rows
with first_rows():
    word = sys.stdin.buffer.raw.read(3)
    if word == b"bad":
        raise SystemExit("cannot load")
    print("loaded", word, end="", flush=True)
"""


def shown(keys: bytes, home: Path) -> bytes:
    """What a program writes that loads with these rows, and is given keys as soon as it does."""
    controller, terminal = opened()
    process = subprocess.Popen(
        [sys.executable, "-c", LOADS], stdin=terminal, stdout=terminal, stderr=terminal, cwd=home
    )
    os.close(terminal)
    seen, deadline, typed = b"", time.monotonic() + PATIENCE, False
    try:
        while select.select([controller], [], [], deadline - time.monotonic())[0]:
            try:
                seen += os.read(controller, 4096)
            except OSError:  # the program has ended
                break
            if not typed and b"loading the screen" in seen:
                os.write(controller, keys)
                typed = True
    finally:
        process.kill()
        process.wait()
        os.close(controller)
    return seen


def test_the_rows_of_now_are_shown_and_keys_are_kept_unchanged(
    answering: Any, own_home: Path
) -> None:
    answering.say("GET /v1/status", said(row("api", context=FULL), row("web", state="needs_you")))

    seen = shown(b"q\r\x03", own_home).decode()

    assert seen.index("web") < seen.index("api")
    assert "71%  142k/200k" in seen
    assert f"as of {time.strftime('%H:')}" in seen
    # Neither echoed, nor a line feed, nor an interrupt.
    assert seen.endswith("loaded b'q\\r\\x03'")


def test_what_cannot_be_loaded_is_told_on_a_clean_screen(answering: Any, own_home: Path) -> None:
    answering.say("GET /v1/status", said(row("api")))

    seen = shown(b"bad", own_home).decode()

    assert seen.partition("\x1b[?1049l")[2].strip() == "cannot load"
    assert "\x1b[?25h" in seen


def test_without_a_supervisor_the_last_rows_are_shown_with_their_day(own_home: Path) -> None:
    last = {"name": "api", "state": "working", "context": FULL.model_dump()}
    keep(own_home, {"at": 1_700_000_000, "agents": [last]})

    seen = shown(b"abc", own_home).decode()

    day = time.strftime("%Y-%m-%d %H:%M", time.localtime(1_700_000_000))
    assert f"agents as of {day}" in seen
    assert "api" in seen


@pytest.mark.parametrize(
    "kept", [None, [], {}, {"at": 1, "agents": []}, {"at": 1, "agents": ["api"]},
             {"at": "now", "agents": [{"name": "api", "state": "idle"}]},
             {"at": 1e300, "agents": [{"name": "api", "state": "idle", "context": None}]}]
)  # fmt: skip
def test_rows_that_cannot_be_read_are_not_shown(kept: object, own_home: Path) -> None:
    keep(own_home, kept)

    assert printed(LOADS.replace("sys.stdin.buffer.raw.read(3)", "b'abc'")) == "loaded b'abc'"


WAITS = """
import sys
from cockpit.cli.first_rows import last_rows
with last_rows():
    print("waiting", end="", flush=True)
print("attached", end="", flush=True)
"""


def test_the_last_rows_stand_in_the_terminal_until_a_supervisor_answers(own_home: Path) -> None:
    last = {"name": "api", "state": "working", "context": FULL.model_dump()}
    keep(own_home, {"at": time.time(), "agents": [last]})

    before, _, after = printed(WAITS).partition("waiting")

    assert "agents as of" in before
    assert after.endswith("\x1b[?1049lattached")


def test_a_terminal_of_few_characters_is_left_alone(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = {"name": "api", "state": "working", "context": FULL.model_dump()}
    keep(own_home, {"at": time.time(), "agents": [last]})
    monkeypatch.setenv("LC_ALL", "C")

    assert printed(WAITS) == "waitingattached"


def test_no_more_is_drawn_than_the_screen_has_room_for() -> None:
    agents = [row(f"agent{number:02}", activity="x" * 90).model_dump() for number in range(20)]

    lines = picture(agents, "12:00:00", 60, 10).removeprefix("\x1b[H\x1b[2J\x1b[2m").split("\r\n")

    assert len(lines) == 10
    assert max(map(len, lines)) <= 60 + len("\x1b[0m")
    assert "14 more" in lines[-1]


def test_a_foreign_text_moves_nothing() -> None:
    told = picture([row("api", activity="\x1b[2Jhello").model_dump()], "12:00:00", 100, 10)

    assert "hello" in told
    assert told.count("\x1b") == 4


def printed(program: str) -> str:
    """What a program writes on a terminal that shows every character."""
    controller, terminal = opened()
    kept = {name: value for name, value in os.environ.items() if name != "COLORTERM"}
    environment = {"LC_ALL": "C.UTF-8", **kept, "TERM": "xterm-256color", "NO_COLOR": ""}
    try:
        subprocess.run(
            [sys.executable, "-c", program],
            stdin=terminal, stdout=terminal, env=environment, check=True,
        )  # fmt: skip
        return os.read(controller, 65536).decode()
    finally:
        os.close(controller)
        os.close(terminal)


def opened() -> tuple[int, int]:
    """A pseudo-terminal of 100 columns: the side of a user, and that of a program."""
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    return controller, terminal


def keep(home: Path, value: object) -> None:
    state = home / "ck" / "state"
    state.mkdir(exist_ok=True)
    (state / "rows.json").write_text(json.dumps(value))
