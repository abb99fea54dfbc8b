"""A document that was edited into something incomplete, and mended, on the screen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.journeys.conftest import Flight

pytestmark = [pytest.mark.long, pytest.mark.tmux]


def test_the_reasons_stand_in_the_review_until_it_is_mended(flight: Flight) -> None:
    flight.fly(flight.cockpit.agent("api", "prompt", pause=2, step_tokens=1000))
    flight.start("api")
    flight.until(lambda row: row.state == "idle")
    flight.hand_off()
    row = flight.phase("review")
    assert row.handoff
    document = Path(row.handoff.document or "")
    whole = flight.cockpit.home / "whole.md"
    whole.write_text(document.read_text("utf-8"), "utf-8")
    editor = flight.cockpit.home / "mend"
    editor.write_text(f'#!/bin/sh\ncp "{whole}" "$1"\n', "utf-8")
    editor.chmod(0o700)
    terminal = flight.terminal("--direct", EDITOR=str(editor), VISUAL="")
    terminal.until("▌ 1 api", "d document")
    document.write_text("## Goal\n\nsomething\n", "utf-8")

    terminal.press("d")
    terminal.until("Handoff api", "Approving ends this session")
    terminal.press("a")
    terminal.until("The edited document is incomplete", "Press e to edit")
    terminal.press("e")
    terminal.until("Approving ends this session", gone=("is incomplete",))
    terminal.press("a")

    flight.until(lambda row: row.handoffs == 1 and row.handoff is None)
    terminal.until("▌ 1 api", gone=("Handoff api",))
