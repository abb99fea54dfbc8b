"""When the terminal calls the user, and with which bytes."""

from __future__ import annotations

import re
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from typing import Any, Protocol

import pytest

from cockpit.config.hooks import InTerminal, Notifications
from cockpit.tui.terminal.bell import BELL, Bell, sequence, wrapped
from tests.client.memory import MemoryClient
from tests.tui.scene import scene

NOON = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


class Fly(Protocol):
    def __call__(self, client: MemoryClient, **how: Any) -> AbstractAsyncContextManager[Any]: ...


async def rung(fly: Fly, *kinds: str, **settings: Any) -> list[str]:
    """What is sent for events of these kinds, in a screen that looks already."""
    sent: list[str] = []

    client = scene()
    client.happen("agent.needs_you", "history needs you")
    async with fly(client) as flight:
        bell = Bell(Notifications(**settings), behind_tmux=False, now=lambda: NOON)
        flight.app._bell = bell
        flight.app._ring = sent.append
        for number, kind in enumerate(kinds):
            client.happen(kind, f"agent {number}")
        await flight.until(lambda: flight.app.model.main.last_event == client._last_event)
        await flight.until(lambda: not bell._gathered)
    return sent


async def test_what_comes_together_is_one_message(fly: Fly) -> None:
    sent = await rung(fly, "agent.needs_you", "handoff.confirmed", terminal="osc9")
    assert sent == ["\x1b]9;cockpit: 2 events: - agent 0 - agent 1\x1b\\"]


async def test_history_and_what_was_not_asked_for_ring_no_bell(fly: Fly) -> None:
    assert await rung(fly, "band.crossed", "run.completed", "agent.levitated") == []
    assert await rung(fly, "handoff.confirmed", on=("failed",)) == []
    assert await rung(fly, "run.completed", on=("done",)) == [BELL]


async def test_what_happened_while_nobody_answered_rings_no_bell(fly: Fly) -> None:
    sent: list[str] = []

    client = scene()
    async with fly(client) as flight:
        bell = flight.app._bell = Bell(Notifications(), behind_tmux=False)
        flight.app._ring = sent.append
        client.disconnect()
        await flight.until(lambda: not flight.app.model.connection.live)
        client.happen("agent.needs_you", "api needs you")
        client.reconnect()
        await flight.until(lambda: flight.app.model.main.last_event == client._last_event)
        assert bell._gathered == []
    assert sent == []


async def test_off_and_quiet_hours_ring_no_bell(fly: Fly) -> None:
    assert await rung(fly, "agent.needs_you", terminal="off") == []
    assert await rung(fly, "agent.needs_you", quiet="11:00-13:00") == []
    assert await rung(fly, "agent.needs_you", quiet="13:00-11:00") == [BELL]


@pytest.mark.parametrize(
    ("how", "bytes_"),
    [
        ("off", ""),
        ("bell", "\a"),
        ("osc9", "\x1b]9;cockpit: api needs you\x1b\\"),
        ("osc777", "\x1b]777;notify;cockpit;api needs you\x1b\\"),
    ],
)
def test_the_words_of_each_kind(how: InTerminal, bytes_: str) -> None:
    assert sequence(how, "cockpit", "api needs you", behind_tmux=False) == bytes_


@pytest.mark.parametrize("how", ["osc9", "osc777"])
def test_foreign_words_end_nothing_and_begin_nothing(how: InTerminal) -> None:
    evil = "a\x07\x1b\\b\x9cc\x1b]52;c;eA==\x07\nd\x1bPtmux;\x1b\x1b[2J\u202e"
    plain = sequence(how, evil, evil, behind_tmux=False)
    assert re.fullmatch(r"\x1b\][^\x00-\x1f\x7f-\x9f\u202e]*\x1b\\", plain)
    assert plain.count(";") == {"osc9": 1, "osc777": 3}[how] + plain.split(";")[-1].count(";")


def test_it_is_never_long() -> None:
    assert len(sequence("osc777", "t" * 9999, "b" * 9999, behind_tmux=False)) < 600


def test_a_tmux_in_between_gets_it_wrapped_once_and_twice_and_a_bell() -> None:
    plain = sequence("osc9", "cockpit", "api", behind_tmux=False)
    assert sequence("osc9", "cockpit", "api", behind_tmux=True) == (
        wrapped(plain) + wrapped(wrapped(plain)) + BELL
    )
    assert wrapped("\x1b]9;x\x1b\\") == "\x1bPtmux;\x1b\x1b]9;x\x1b\x1b\\\x1b\\"
    assert sequence("bell", "cockpit", "api", behind_tmux=True) == BELL
