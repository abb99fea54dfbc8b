"""A prompt that a busy CLI takes late was accepted; one that stays in its prompt box was not."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from cockpit.core.errors import Failed
from cockpit.supervisor.api.verbs import send
from cockpit.wire.verbs import Send

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux

GEMINI = """\
#!{python}
import os, sys, time, tty

if "--version" in sys.argv:
    sys.exit(print("0.61.0"))
tty.setraw(0)
typed = ""
while True:
    shown = typed or "Type your message or @path/to/file"
    box = ["▄" * 40, " > " + shown, "▀" * 40]
    os.write(1, ("\\x1b[2J\\x1b[H" + "\\r\\n".join(box)).encode())
    read = os.read(0, 9999).decode()
    typed += read.replace("\\r", "")
    if read.endswith("\\r") and {clears_after} is not None:
        time.sleep({clears_after} or 0)
        typed = ""
"""
"""Draws Gemini's prompt box, and reports no prompt. Enter clears the box after `clears_after`
seconds; with None, never."""


def gemini(cockpit: Cockpit, clears_after: float | None) -> str:
    """Make the program, and return the table of an agent that runs it."""
    program = cockpit.home / "bin" / "gemini"
    program.write_text(GEMINI.format(python=sys.executable, clears_after=clears_after))
    program.chmod(0o700)
    (cockpit.home / "gemini").mkdir()
    return (
        "[[agents]]\nname = 'api'\nruntime = 'gemini'\n"
        f"directory = {json.dumps(str(cockpit.repository))}\n"
        f"env = {{ GEMINI_CLI_HOME = {json.dumps(str(cockpit.home / 'gemini'))} }}\n"
    )


async def refusal(cockpit: Cockpit) -> Failed:
    """Start the agent, send it a prompt when it shows its box, and return the refusal."""
    row = await cockpit.start()
    await cockpit.until(
        lambda _: "Type your message" in cockpit.tmux("capture-pane", "-p", "-t", row.pane or "")
    )
    refused = await cockpit.refused(Send(name="api", text="Go on."))
    assert isinstance(refused, Failed)
    return refused


async def test_a_prompt_that_is_reported_late_is_accepted(
    cockpit: Cockpit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(send, "ACCEPTED_WITHIN", 0.0)
    monkeypatch.setattr(send, "EMPTY_WITHIN", 60.0)
    async with cockpit.flying(cockpit.agent(mode="observe", steps=9, pause=2)):
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        done = await cockpit.ask(Send(name="api", text="Go on."))
        assert "accepted the prompt" in done.message


async def test_a_prompt_that_stays_in_its_box_was_not_accepted(
    cockpit: Cockpit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(send, "ACCEPTED_WITHIN", 0.1)
    async with cockpit.flying(gemini(cockpit, clears_after=None)):
        refused = await refusal(cockpit)
        assert refused.detail == (
            "The prompt was pasted and submitted, but is still in the prompt box."
        )


async def test_a_prompt_that_leaves_its_box_late_was_submitted(
    cockpit: Cockpit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(send, "ACCEPTED_WITHIN", 0.0)
    monkeypatch.setattr(send, "EMPTY_WITHIN", 60.0)
    monkeypatch.setattr(send, "REPORTED_WITHIN", 0.1)
    async with cockpit.flying(gemini(cockpit, clears_after=2.0)):
        refused = await refusal(cockpit)
        assert refused.detail == (
            "The prompt was pasted and submitted, but the agent did not react."
        )
