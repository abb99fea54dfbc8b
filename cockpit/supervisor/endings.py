"""How an agent's process ended, as far as its terminal can tell. Only looks."""

from __future__ import annotations

from collections.abc import Iterable

from cockpit.core.errors import CockpitError
from cockpit.core.safetext import safe_line
from cockpit.ports.panes import PanesSilent
from cockpit.supervisor.instruments import Instruments
from cockpit.supervisor.seat import Exit, Seat

OURS = ("Pane is dead", "This process has ended")
"""How lines begin that the terminal adds to a pane whose process is gone."""
LAST_WORDS = 3
"""Lines of a dead pane that go on the row."""


async def how_it_ended(instruments: Instruments, seat: Seat) -> Exit:
    """What the terminal knows of the end, with the last lines that were to be read."""
    status = signal = None
    words = ""
    pane = seat.record.pane
    try:
        seen = (await instruments.panes.look()).get(pane) if pane else None
        if seen is not None:
            status, signal = seen.exit_status, seen.exit_signal
            assert pane is not None
            screen = await instruments.panes.capture(pane, history=50)
            words = last_words(screen.lines)
        elif pane is not None:
            words = await _why_the_pane_is_gone(instruments)
    except (PanesSilent, CockpitError):
        pass  # the end itself is certain; only its words are lost
    return Exit(instruments.clock.now().timestamp(), status, signal, words)


async def without_panes(instruments: Instruments, seats: Iterable[Seat]) -> list[Seat]:
    """Seats whose pane is not there any more; none where the multiplexer does not answer."""
    try:
        there = await instruments.panes.look()
    except (PanesSilent, CockpitError):
        return []
    return [
        seat for seat in seats if seat.record.pane is not None and seat.record.pane not in there
    ]


async def _why_the_pane_is_gone(instruments: Instruments) -> str:
    if await instruments.panes.server_pid() is None:
        return "The tmux server has ended, and all its panes with it."
    return "Its pane was closed."


def last_words(lines: tuple[str, ...]) -> str:
    """The last lines of a screen that say something, as one."""
    spoken = [line for raw in lines if (line := safe_line(raw, 160).strip())]
    own = [line for line in spoken if not line.startswith(OURS)]
    return " / ".join(own[-LAST_WORDS:])
