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

STUBBORN = """\
#!{python}
import os, sys, tty

if "--version" in sys.argv:
    sys.exit(print("0.61.0"))
tty.setraw(0)
typed = ""
while True:
    shown = typed or "Type your message or @path/to/file"
    box = ["▄" * 40, " > " + shown, "▀" * 40]
    os.write(1, ("\\x1b[2J\\x1b[H" + "\\r\\n".join(box)).encode())
    typed += os.read(0, 9999).decode().replace("\\r", "")
"""
"""Draws Gemini's prompt box, and takes no Enter."""


async def test_a_prompt_that_is_reported_late_is_accepted(
    cockpit: Cockpit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(send, "ACCEPTED_WITHIN", 0.0)
    async with cockpit.flying(cockpit.agent(mode="observe", steps=9, pause=2)):
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        done = await cockpit.ask(Send(name="api", text="Go on."))
        assert "accepted the prompt" in done.message


async def test_a_prompt_that_stays_in_its_box_was_not_accepted(
    cockpit: Cockpit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(send, "ACCEPTED_WITHIN", 0.1)
    program = cockpit.home / "bin" / "gemini"
    program.write_text(STUBBORN.format(python=sys.executable))
    program.chmod(0o700)
    (cockpit.home / "gemini").mkdir()
    table = (
        "[[agents]]\nname = 'api'\nruntime = 'gemini'\n"
        f"directory = {json.dumps(str(cockpit.repository))}\n"
        f"env = {{ GEMINI_CLI_HOME = {json.dumps(str(cockpit.home / 'gemini'))} }}\n"
    )
    async with cockpit.flying(table):
        row = await cockpit.start()
        await cockpit.until(
            lambda _: (
                "Type your message" in cockpit.tmux("capture-pane", "-p", "-t", row.pane or "")
            )
        )
        refused = await cockpit.refused(Send(name="api", text="Go on."))
        assert isinstance(refused, Failed)
        assert refused.detail == (
            "The prompt was pasted and submitted, but is still in the prompt box."
        )
