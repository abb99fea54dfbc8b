"""One message at a time, in the first line, until it was read."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

import pytest
from textual.events import Key

from cockpit.core.errors import CockpitError
from cockpit.tui.screens.requests import show_error
from cockpit.tui.state import messages
from cockpit.tui.state.messages import READ, SAME, Messages
from tests.client.memory import MemoryClient
from tests.tui.scene import scene


class Fly(Protocol):
    def __call__(self, client: MemoryClient, **how: Any) -> AbstractAsyncContextManager[Any]: ...


def test_equal_messages_are_counted_and_others_are_not() -> None:
    messages = Messages()
    assert messages.counted("No agent 9.", 1.0) == "No agent 9."
    assert messages.counted("No agent 9.", 2.0) == "No agent 9.  ×2"
    assert messages.counted("No agent 9.", 3.0) == "No agent 9.  ×3"
    assert messages.counted("No agent 8.", 4.0) == "No agent 8."
    assert messages.counted("No agent 8.", 4.0 + SAME) == "No agent 8."


def test_a_key_typed_ahead_hides_nothing() -> None:
    messages = Messages()
    messages.counted("No agent 9.", 1.0)
    assert not messages.is_read(1.0 + READ / 2)
    assert messages.is_read(1.0 + READ)


async def test_six_equal_messages_are_one_in_the_first_line(fly: Fly) -> None:
    async with fly(scene(), toasts=True, selected="api") as flight:
        await flight.press(*"999999")
        await flight.reads("No agent 9.  ×6")
        assert len(flight.toasts()) == 1
        assert "No agent 9.  ×6" in flight.text().splitlines()[0], flight.text()
        assert flight.text().count("No agent 9.") == 1


async def test_an_error_stays_until_a_key(fly: Fly) -> None:
    async with fly(scene(), toasts=True, selected="api") as flight:
        error = CockpitError("It failed", "because of this", "do that")
        show_error(flight.fleet, error)
        await flight.reads("It failed. because of this do that")
        (shown,) = flight.app._notifications
        assert shown.timeout > 3600
        flight.app._messages._at -= READ
        await flight.press("j")
        await flight.until(lambda: "It failed" not in flight.text(), "no error")


async def test_a_key_from_before_a_message_does_not_hide_it(
    fly: Fly, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "READ", 0.0)
    async with fly(scene(), toasts=True, selected="api") as flight:
        typed_ahead = Key("j", "j")
        show_error(flight.fleet, CockpitError("It failed", "because of this", "do that"))
        flight.app.post_message(typed_ahead)
        await flight.until(lambda: flight.app.model.selected != "api", "the key's effect")
        assert len(flight.toasts()) == 1


async def test_a_message_of_two_lines_covers_the_title_only(fly: Fly) -> None:
    async with fly(scene(), toasts=True, selected="api", size=(80, 24)) as flight:
        await flight.press("W")
        await flight.reads("Worktrees", "No worktrees.")
        before = flight.text().splitlines()
        show_error(flight.app.screen, CockpitError("It failed", "because of this. " * 6, "do that"))
        await flight.until(lambda: flight.text().splitlines()[2:5] == before[1:4], "room")
        await flight.until(lambda: "do that" in flight.text().splitlines()[1], "the message")
        flight.app._messages._at -= READ
        await flight.press("j")
        await flight.until(lambda: flight.text().splitlines() == before, "the screen as before")
