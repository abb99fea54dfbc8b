"""The pictures of the demo: for each screen, the keys that open it and the text it must show.

Data only. The agents and paths are those of `more_jobs.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from cockpit.tui.pictures.picture import Shot

PROMPT = " ".join("Show tax in the report".replace(" ", "␣")).replace("␣", "space")
"""Key names that type a prompt into the form for a new agent."""

LOW = (120, 20)
"""Columns and rows of a smaller picture, for screens with little content."""

EMPTY: Sequence[Shot] = (Shot("welcome", ("cockpit demo",), size=(120, 18)),)
"""Pictures taken before any agent runs."""

WITH_AGENTS: Sequence[Shot] = (
    Shot("fleet", ("needs you", "working", "accept edits on"), selected="durations"),
    Shot("fleet-narrow", ("needs you",), selected="durations", size=(60, 15)),
    Shot("fleet-wide", ("needs you", "accept edits on"), selected="durations", size=(200, 42)),
    Shot("fleet-day", ("needs you",), selected="durations", theme="day"),
    Shot("agent", ("#3", "act"), ("o", "2"), "invoices"),
    Shot("agent-pane", ("hundred times",), ("o",), "invoices"),
    Shot("agent-facts", ("commits",), ("o", "3"), "invoices", (120, 30)),
    Shot("agent-diff", ("letter.py",), ("o", "4"), "invoices", LOW),
    Shot("review", ("Goal",), ("d",), "durations"),
    Shot("inbox", ("permission", "question", "review"), ("i",), "durations", (120, 34)),
    Shot("history", ("invoices", "rounding"), ("H",), "invoices", LOW),
    Shot("history-search", ("tax",), ("H", "slash t a x", "down"), "invoices", LOW),
    Shot("reading", ("Goal",), ("H", "j", "enter"), "invoices"),
    Shot("comparing", ("Current Task",), ("H", "f", "space j space", "c"), "invoices"),
    Shot(
        "new-agent",
        ("agent/taxes",),
        ("n", "t a x e s", "tab", "tab", PROMPT, "tab", "tab", "tab", "right"),
        "sorting",
    ),
    Shot("settings", ("warn → act",), ("comma", "tab tab tab tab", "5 5 %"), "durations"),
    Shot("worktrees", ("agent/invoices", " kB"), ("W",), "durations"),
    Shot("help", ("Hand off to",), ("question_mark",), "durations"),
)
"""Pictures taken once every agent has stopped at its planned point."""
