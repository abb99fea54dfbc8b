"""tmux shows the same cells, whether it gets everything or only what changed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cockpit.tui.terminal.cells import ScreenDiff
from tests.tui.test_cells import Terminal, run

pytestmark = pytest.mark.tmux

CALM, CHOSEN = "48;2;18;22;28", "48;2;29;38;48"
READY = "drawn"
"""Printed below the frames, when all of them are drawn."""


def row(y: int, name: str, ground: str) -> str:
    parts = [
        ("  1 ○ ", f"38;2;130;141;154;{ground}"),
        (f"{name:<14}", f"1;38;2;201;209;217;{ground}"),
        ("━━━─────┃", f"38;2;95;158;134;{ground}"),
        (" " * 30, ground),
        ("now ", f"38;2;130;141;154;{ground}"),
        (" " * 14, f"4;{ground}"),
        ("|", f"7;{ground}"),
    ]
    return run(0, y, parts)


FRAMES = [
    "\n".join([row(0, "api", CHOSEN), row(1, "web", CALM), row(2, "日本", CALM)]),
    "\n".join([row(0, "api", CALM), row(1, "web", CHOSEN)]),
    "\n".join([row(1, "web", CALM), row(2, "日本", CHOSEN)]),
    row(0, "a much longer name", CALM),
]


def shown(folder: Path, name: str, data: str) -> Terminal:
    """What a pane of a private tmux shows after these bytes."""
    file = folder / name
    file.write_text(f"{data}\x1b[6;1H\x1b[m{READY}")
    tmux = ["tmux", "-S", str(folder / f"{name}.sock"), "-f", "/dev/null"]
    wait = f"stty -opost; cat {file}; tmux -S {folder}/{name}.sock wait-for -S {READY}; exec cat"
    subprocess.run([*tmux, "-u", "new-session", "-d", "-x", "100", "-y", "10", wait], check=True)
    try:
        subprocess.run([*tmux, "wait-for", READY], check=True, timeout=60)
        while True:
            text = subprocess.run(
                [*tmux, "capture-pane", "-peN"], check=True, capture_output=True, text=True
            ).stdout
            if READY in text:
                break
    finally:
        subprocess.run([*tmux, "kill-server"], check=True)
    seen = Terminal()
    seen.feed(text)
    return seen


@pytest.mark.parametrize("erases", [True, False])
def test_tmux_shows_the_same(own_home: Path, erases: bool) -> None:
    diff = ScreenDiff(erases=erases)
    reduced = [diff.reduced(frame) for frame in FRAMES]
    full = shown(own_home, "full", "".join(FRAMES))
    assert erases == any("X" in each for each in reduced)
    assert shown(own_home, "reduced", "".join(reduced)).cells == full.cells
    assert len("".join(reduced)) < len("".join(FRAMES))
