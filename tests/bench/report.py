"""The table of a whole run in `cockpit/docs/performance.md`, between its two marks.

What stands around the marks is written by people, and what stands between them by nobody else.
"""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from cockpit import __version__
from tests.bench.rows import Row, figure

PAGE = Path(__file__).parents[2] / "cockpit" / "docs" / "performance.md"
BEGIN, END = "<!-- figures: made by `make bench` -->", "<!-- end of figures -->"
TITLES = {
    "tui": "The screen alone, over a supervisor in memory",
    "whole": "All parts together: screen, tmux and supervisor",
    "peers": "Beside others, on the same sessions",
    "supervisor": "The supervisor alone",
    "client": "Commands",
    "panes": "Panes",
    "remote": "Another machine, over slow lines",
    "transcripts": "Transcripts",
    "redaction": "Hiding secrets",
}
"""The benches in the order of the page."""


def machine() -> str:
    """What ran, in a line; nothing that names this machine."""
    said = subprocess.run(["tmux", "-V"], capture_output=True, text=True, check=False).stdout
    parts = [
        f"cockpit {__version__}", platform.machine(), f"{os.cpu_count()} cores",
        f"{_gigabytes():.0f} GB", f"Python {platform.python_version()}", said.strip() or "no tmux",
    ]  # fmt: skip
    return ", ".join(parts)


def write(rows: Sequence[Row], notes: Sequence[tuple[str, str]], minutes: float) -> Path:
    """Put the figures of a whole run into the page; answers which page that is."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    lines = [BEGIN, "", *_told(rows, notes, minutes), "", END]
    PAGE.write_text(before + "\n".join(lines) + after, encoding="utf-8")
    return PAGE


def _told(rows: Sequence[Row], notes: Sequence[tuple[str, str]], minutes: float) -> Iterator[str]:
    today = datetime.now(UTC).date().isoformat()
    yield f"{today}; {machine()}. The run took {minutes:.0f} minutes."
    missed = [one for one in rows if one.missed]
    goals = sum(bool(one.goal) for one in rows)
    yield ""
    yield f"{goals - len(missed)} of {goals} goals were held." + (
        " Missed: " + "; ".join(one.what for one in missed) + "." if missed else ""
    )
    for bench, title in TITLES.items():
        own = [one for one in rows if one.bench == bench]
        if own:
            yield from ("", f"### {title}", "", *_table(own))
        own_notes = [text for whose, text in notes if whose == bench]
        if own_notes:
            yield from ("", *(f"- {text}" for text in own_notes))


def _table(rows: Sequence[Row]) -> Iterator[str]:
    beside = any(one.beside for one in rows)
    goals = any(one.goal for one in rows)
    heads = ["what", "cockpit", *["goal"] * goals, *["others, and how many times ours"] * beside]
    yield f"| {' | '.join(heads)} |"
    yield f"| --- | ---: |{' --- |' * goals}{' --- |' * beside}"
    for one in rows:
        goal = f"{one.goal} {'**missed**' if one.missed else 'held'}" if one.goal else ""
        cells = [_escaped(one.what), f"{figure(one.value)} {one.unit}".strip()]
        cells += [goal] * goals + [one.others] * beside
        yield f"| {' | '.join(cells)} |".replace("|  |", "| |")


def _escaped(text: str) -> str:
    return text.strip().replace("|", "\\|").replace("<", "&lt;")


def _gigabytes() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
