"""A real screen with a host that attacks it: the host's row tells why, all else works."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.client.test_hostile_host import HOSTILE, STREAMS, agent, snapshot
from tests.journeys.conftest import COCKPIT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.journeys.conftest import Flight

pytestmark = pytest.mark.tmux

WEB = '[[agents]]\nname = "web"\nruntime = "command"\ncommand = ["cat"]\n'
MARKUP = "[b]bold[/b] [@click=app.quit]go[/] \x1b]0;owned\x07\x1b[31m#(touch owned)"
REVIEW = {
    "id": "h-1", "reason": "manual", "phase": "review", "since": "99999-01-01T00:00:00Z",
    "document": "/etc/passwd", "snoozed_until": "0001-01-01T00:00:00+14:00",
}  # fmt: skip
NEEDS = {
    "kind": "review", "detail": MARKUP, "since": "0001-01-01T00:00:00+14:00",
    "resets_at": "9999-12-31T23:59:59-14:00", "due": MARKUP,
}  # fmt: skip
LYING = agent(
    state="needs_you", needs=NEEDS, handoff=REVIEW, branch=MARKUP, activity=MARKUP, model=MARKUP,
    note=MARKUP, goal=MARKUP, pane="%1", transcript="/etc/passwd", directory="/etc",
    last_activity_at="0001-01-01T00:00:00+14:00", cost_usd=-1e14,
    context={"tokens": -5, "window": 1, "used": 1e14, "trend": [10**14, -1]},
)  # fmt: skip
TELLS_LIES = f"""
def whole(body):
    say(OK + b"Content-Length: %d\\r\\n\\r\\n" % len(body) + body)
if b" /v1/watch" in request:
    say(STREAM); chunk({snapshot(LYING)!r})
    os.read(0, 1)
elif b" /v1/document/h-1 " in request:
    whole(b"A FAR DOCUMENT [@click=app.quit]go[/]\\n\\x1b]0;owned\\x07")
elif b" /v1/screen/" in request:
    import json
    say(STREAM); chunk(json.dumps({{"lines": [{MARKUP!r}] * 50}}).encode() + b"\\n")
    os.read(0, 1)
else:
    whole(b"[" * 100000)
"""


@pytest.fixture
def here(own_home: Path) -> Iterator[Path]:
    """A cockpit with an agent of its own, `web`, and a host whose program is in `hostile.py`."""
    home = own_home / "here"
    home.mkdir(mode=0o700)
    argv = json.dumps([sys.executable, "-IS", str(own_home / "hostile.py")])
    (home / "cockpit.toml").write_text(f'[[hosts]]\nname = "evil"\nconnect = {argv}\n{WEB}')
    cockpit(home, own_home, "start", "web")
    yield home
    cockpit(home, own_home, "down", "--agents")


def cockpit(home: Path, at: Path, *words: str) -> None:
    environment = {**os.environ, "COCKPIT_HOME": str(home)}
    subprocess.run([*COCKPIT, *words], cwd=at, env=environment, check=True, capture_output=True)


@pytest.mark.long
def test_a_flood_is_refused_with_the_reason(flight: Flight, here: Path, own_home: Path) -> None:
    (own_home / "hostile.py").write_text(HOSTILE + STREAMS["events without an end"][0])
    terminal = flight.terminal(size=(120, 30), COCKPIT_HOME=str(here))
    terminal.until("evil ○ lost", " web ", "~ evil/api")
    terminal.press("i")
    terminal.until("Inbox", "Refused the answer of evil")
    terminal.press("q")
    terminal.until("▌ ", gone=("Inbox",))
    terminal.press("1")
    terminal.until("▌ 1 web")
    terminal.press("s")
    terminal.until("Send to web")
    terminal.type("is anybody there")
    terminal.press("Enter")
    terminal.until("is anybody there", gone=("Send to web",))


def test_lies_are_text_and_no_local_file_is_read(
    flight: Flight, here: Path, own_home: Path
) -> None:
    (own_home / "hostile.py").write_text(HOSTILE + TELLS_LIES)
    terminal = flight.terminal(size=(120, 30), COCKPIT_HOME=str(here))
    terminal.until("evil/api", " web ")
    terminal.press("1")  # the cursor stays on web if its row came first
    text = terminal.until("▌ 1 evil/api", "[@click=app.quit]go[/]")
    assert "owned\x07" not in text
    terminal.press("d")
    text = terminal.until("A FAR DOCUMENT [@click=app.quit]go[/]")
    assert "root:" not in text
    terminal.press("e")
    terminal.until("The document is a file on evil: edit it there.")
    terminal.press("q")
    for key in ("o", "q", "H", "q", "i", "q"):
        terminal.press(key)
    terminal.until("▌ 1 evil/api")
    assert not (own_home / "owned").exists()
