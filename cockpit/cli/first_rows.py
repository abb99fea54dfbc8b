"""Show the agents as plain text while the screen and the supervisor are being loaded.

The screen needs most of a second to import its modules. Until the screen draws, its tmux window
(the home window) shows the table of `cockpit status` with the time of that status. If no supervisor
answers, the home window shows the rows that the previous supervisor saved. While a supervisor
starts, the user's terminal shows the saved rows too. This module uses only the standard library and
the fast path's modules. It must not delay the start of the screen or make the start fail.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from cockpit.adapters.files.foreign_files import read_text
from cockpit.cli.places import our_places
from cockpit.cli.status import Row, table_lines
from cockpit.client.raw_request import fetch
from cockpit.config.paths import Places
from cockpit.core.charset import MOST, shows_less
from cockpit.core.errors import CockpitError
from cockpit.core.safetext import safe_line

PATIENCE = 0.2
"""Maximum seconds to wait for the supervisor."""
MOST_BYTES = 1_000_000
_EXPECTED = (
    CockpitError, OSError, termios.error,
    # Raised for rows in the format of another version.
    ValueError, LookupError, TypeError, AttributeError, OverflowError,
)  # fmt: skip
_LOCAL = termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG
_INPUT = termios.ICRNL | termios.IXON
_ENTER = b"\x1b[?1049h\x1b[?25l\x1b[?7l"
"""Escape sequences that open the alternate screen, hide the cursor and turn line wrapping off.

cockpit's screen opens the alternate screen again. tmux does not clear it a second time, so the rows
stay until cockpit's screen draws over them.
"""
_LEAVE = b"\x1b[?7h\x1b[?25h\x1b[?1049l"


@contextmanager
def first_rows() -> Iterator[None]:
    """Draw the agents, if there are any, in the home window while the screen is loaded.

    Draws them again after a resize, until the screen handles resizes itself. If the block raises an
    exception, clears the rows, so that the error message can be read. Turns off the terminal's
    echo, line editing, flow control, signal keys and conversion of Return, so that keys pressed
    meanwhile reach the screen unchanged. Does nothing without a terminal.
    """
    shown = False
    with suppress(*_EXPECTED):
        places = our_places()
        if draw := _drawing(*(_reported(places) or _kept(places))):
            _keep_keys(sys.stdin.fileno())
            shown = True
            draw()
    try:
        yield
    except BaseException:
        if shown:
            os.write(sys.stdout.fileno(), _LEAVE)
        raise


@contextmanager
def last_rows() -> Iterator[None]:
    """Draw the previous supervisor's rows in the user's terminal while a new supervisor starts.

    Clears the rows at the end. Does nothing if the terminal cannot show every character of the
    table.
    """
    shown = False
    with suppress(*_EXPECTED):
        places = our_places()
        if not shows_less(os.environ, MOST) and (draw := _drawing(*_kept(places))):
            shown = True
            draw()
    try:
        yield
    finally:
        if shown:
            signal.signal(signal.SIGWINCH, signal.SIG_DFL)
            os.write(sys.stdout.fileno(), _LEAVE)


def _drawing(at: float, agents: list[Row]) -> Callable[[], None] | None:
    """Return a function that draws the agents, and draws them again after each resize.

    Returns None without agents or a terminal.

    Raises one of `_EXPECTED` for malformed rows.
    """
    terminal = sys.stdout.fileno()
    if not agents or not os.isatty(terminal):
        return None
    today = time.localtime()[:3] == time.localtime(at)[:3]
    as_of = time.strftime("%H:%M:%S" if today else "%Y-%m-%d %H:%M", time.localtime(at))
    # As on the screen, agents that need the user come first.
    ordered = sorted(agents, key=lambda row: row["state"] != "needs_you")

    def drawn() -> bytes:
        size = os.get_terminal_size(terminal)
        return picture(ordered, as_of, size.columns, size.lines).encode()

    def redraw(*_: object) -> None:
        with suppress(OSError):
            os.write(terminal, drawn())

    first = drawn()

    def draw() -> None:
        signal.signal(signal.SIGWINCH, redraw)
        os.write(terminal, _ENTER + first)

    return draw


def _reported(places: Places) -> tuple[float, list[Row]] | None:
    """Return the current time and the supervisor's rows; None if the supervisor does not answer."""
    try:
        agents = json.loads(fetch(places.socket, "/v1/status", patience=PATIENCE))["agents"]
    except CockpitError:
        return None
    return time.time(), agents


def _kept(places: Places) -> tuple[float, list[Row]]:
    """Return what the previous supervisor saved: a time, and the rows at that time.

    Raises one of `_EXPECTED`, such as `OSError` if nothing was saved.
    """
    kept = json.loads(read_text(places.last_rows, MOST_BYTES))
    return float(kept["at"]), kept["agents"]


def picture(agents: list[Row], at: str, columns: int, lines: int) -> str:
    """Return the text that draws the agents on a terminal of this size.

    `at` is the time of the agents' status, for the title.
    """
    header, *rows = table_lines(agents, columns - 1)
    shown = rows if len(rows) <= lines - 3 else rows[: max(0, lines - 4)]
    more = [] if len(shown) == len(rows) else [f"{len(rows) - len(shown)} more"]
    title = f"cockpit  loading the screen; agents as of {at}"
    drawn = [title, "", header, *shown, *more][:lines]
    cut = [f" {safe_line(line)}"[:columns] for line in drawn]
    return "\x1b[H\x1b[2J\x1b[2m" + "\r\n".join(cut) + "\x1b[0m"


def _keep_keys(terminal: int) -> None:
    attributes = termios.tcgetattr(terminal)
    attributes[0] &= ~_INPUT
    attributes[3] &= ~_LOCAL
    termios.tcsetattr(terminal, termios.TCSANOW, attributes)
