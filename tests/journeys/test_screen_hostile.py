"""What an agent writes reaches the user's terminal as text, or not at all; silence costs nothing.

Judged by the bytes that the terminal of the user is sent, with everything of ours in between.
"""

from __future__ import annotations

import json
import re
import sys
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.journeys.conftest import Flight

pytestmark = pytest.mark.tmux

SILENCE = 10.0
"""Seconds in which an idle fleet must write nothing at all."""

HOSTILE = r"""
import itertools
import sys
out = sys.stdout.buffer
say = lambda text: (out.write(text), out.flush())
for number in itertools.count():
    say(b"\x1b]52;c;cHduZWQ=\x07")
    say(b"\x1b]52;c;cHduZWQ=\x1b\\")
    say(b"\x1bPtmux;\x1b\x1b]52;c;cHduZWQ=\x07\x1b\\")
    say(b"\x1b]0;pwned-title\x07\x1b]2;pwned-title\x07\x1bkpwned-title\x1b\\")
    say(b"\x1b]8;;http://pwned.example\x1b\\link\x1b]8;;\x1b\\\r\n")
    say(b"\x1b]1337;File=pwned\x07\x1b]777;notify;pwned;pwned\x07\x1b]9;pwned\x07\x1b_Gpwned\x1b\\")
    say("\u202etxt.exe\u2066hidden\u2069\u200f\u200b\r\n".encode())
    say(b"[b]bold[/b] [@click=app.quit]go[/] [link=file:///etc/passwd]x[/link]\r\n")
    say(b"#(touch pwned) #{pid} $(touch pwned) `touch pwned`\r\n")
    say(b"\x9b31mC1 \x9d0;pwned-title\x9c \xff\xfe\r\n")
    say(b"\x1b[31mred stays\x1b[0m \a the end %d\r\n" % number)
    sys.stdin.readline()
"""
"""Says everything at once, and again whenever it is sent a line: while its pane is attached."""


HIDDEN = "\u202e\u2066\u2069\u200f\u200b"
OURS = re.compile(
    rb"\x1b(?:\[|[()][0AB]|[=>78M]|\][02];(?:\d+ needs? you - )?cockpit(?:\x07|\x1b\\))"
)
"""What tmux itself sends to a terminal: no OSC, no DCS, no APC, no title."""


def foreign(data: bytes) -> list[bytes]:
    """Beginnings of all other sequences."""
    begun = [data[found.start() : found.start() + 40] for found in re.finditer(rb"\x1b", data)]
    return [each for each in begun if not OURS.match(each)]


def test_an_agent_that_attacks_the_terminal(flight: Flight) -> None:
    home = flight.cockpit.home
    script = home / "hostile.py"
    script.write_text(HOSTILE, encoding="utf-8")
    command = json.dumps([sys.executable, str(script)])
    flight.fly(f'[[agents]]\nname = "hostile"\nruntime = "command"\ncommand = {command}\n')
    flight.start("hostile")

    line = flight.line()
    line.shows("── hostile ", "the end 0", "[@click=app.quit]go[/]", "#(touch pwned)")
    assert "txt.exehidden" in line.text()
    assert not set(HIDDEN) & set(line.text())
    assert foreign(line.bytes) == []

    line.type("\r")
    line.until("F12 back to the cockpit")
    line.type("again\r")
    line.shows("the end 1", "[@click=app.quit]go[/]")
    assert foreign(line.bytes) == []
    assert b"pwned-title" not in line.bytes.replace(b"0;pwned-title", b"")
    assert not (home / "pwned").exists()


@pytest.mark.long
def test_silence_costs_nothing(flight: Flight) -> None:
    agent = flight.cockpit.agent
    flight.fly(agent("able", "observe", pause=2, step_tokens=1000))
    flight.start("able")
    flight.until(lambda row: row.state == "idle", "able")
    line = flight.line()
    line.shows("── able ", "Step 2 of 9")

    quiet_since, known, end = time.monotonic(), 0, time.monotonic() + 60
    while time.monotonic() < quiet_since + SILENCE:
        if len(line.bytes) != known:  # it is still being put up
            quiet_since, known = time.monotonic(), len(line.bytes)
        assert time.monotonic() < end, line.bytes[-200:]
        time.sleep(0.1)


@pytest.mark.long
def test_a_document_that_attacks_the_terminal(
    flight: Flight, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = flight.cockpit.home
    editor = home / "editor"
    attack = r"\x1b]52;c;cHduZWQ=\x07 \xe2\x80\xaetxt.exe [@click=app.quit]go[/]"
    editor.write_text(f"#!/bin/sh\nsed -i 's|^Count step 3 of 9[.]$|{attack} hurt|' \"$1\"\n")
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    flight.fly(flight.cockpit.agent("api", "prompt", pause=2, step_tokens=1000))
    flight.start("api")
    flight.until(lambda row: row.state == "idle")
    flight.hand_off()
    flight.phase("review")

    line = flight.line()
    line.shows("── api ", "◆ review")
    line.type("d")
    line.shows("Handoff api", "Current Task")
    line.type("e")
    line.shows("Handoff api", "[@click=app.quit]go[/] hurt")

    assert not set(HIDDEN) & set(line.text())
    assert foreign(line.bytes) == []
