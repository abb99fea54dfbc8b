"""The user's terminal is called when an agent needs its user: through our tmux, and theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.long_cases import cases

if TYPE_CHECKING:
    from tests.journeys.conftest import Flight

pytestmark = pytest.mark.tmux

NEEDED = b"\x1b]9;cockpit: api needs you (review)"


def fly(flight: Flight, how: str) -> None:
    agent = flight.cockpit.agent("api", "prompt", pause=2, step_tokens=1000)
    flight.fly(agent, f'[notifications]\nterminal = "{how}"\n')
    flight.start("api")
    flight.until(lambda row: row.state == "idle")


def review(flight: Flight) -> None:
    flight.hand_off()
    flight.phase("review")


@pytest.mark.long
@pytest.mark.parametrize("words", cases((), long=[(("--direct",),)]), ids=["home", "direct"])
def test_a_message_for_the_desktop_arrives(flight: Flight, words: tuple[str, ...]) -> None:
    fly(flight, "osc9")
    line = flight.line(*words, "--config", str(flight.cockpit.config))
    line.until("api", "quit")
    assert b"\x1b]9;" not in line.bytes
    review(flight)
    flight.wait_for(lambda: NEEDED in line.bytes)
    assert line.bytes.count(NEEDED + b": ") <= 1 + (not words)


@pytest.mark.long
@pytest.mark.parametrize("words", cases((), long=[(("--direct",),)]), ids=["home", "direct"])
def test_a_bell_rings(flight: Flight, words: tuple[str, ...]) -> None:
    fly(flight, "bell")
    line = flight.line(*words, "--config", str(flight.cockpit.config))
    line.until("api", "quit")
    review(flight)
    flight.wait_for(lambda: rings(line.bytes))


@pytest.mark.long
def test_inside_the_tmux_of_the_pilot_where_it_lets_messages_through(flight: Flight) -> None:
    fly(flight, "osc9")
    terminal = flight.inside_tmux("--config", str(flight.cockpit.config))
    terminal.until("api", "q quit")
    review(flight)
    # What their tmux was sent for the terminal behind it: wrapped, for it to unwrap.
    flight.wait_for(lambda: b"\x1bPtmux;\x1b" + NEEDED in terminal.written())
    flight.wait_for(lambda: rings(terminal.written()))


def rings(written: bytes) -> bool:
    """Whether there is a bell that ends no title."""
    rest = written
    while b"\x1b]" in rest:
        before, _, after = rest.partition(b"\x1b]")
        ends = [at for at in (after.find(b"\a"), after.find(b"\x1b\\")) if at >= 0]
        if not ends:
            rest = before
            break
        rest = before + after[min(ends) + 1 :]
    return b"\a" in rest
