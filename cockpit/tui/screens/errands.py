"""Asking the supervisor for something, and saying how it went. Never in the screen's way."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from textual.screen import Screen

from cockpit.client.client import Client
from cockpit.core.errors import CockpitError
from cockpit.core.safetext import safe_line, safe_text
from cockpit.tui.actions import Action
from cockpit.tui.background import in_background
from cockpit.tui.bursts import key_in_hand, looked_like_a_paste
from cockpit.wire.verbs import Done, Verb

SOON = 10.0
"""Seconds that a refusal stays on the screen: long enough to be read twice."""


class Errands:
    """Sends verbs from a screen. Each runs by itself; a slow one holds nothing up."""

    def __init__(self, screen: Screen[Any], client: Client) -> None:
        self._screen = screen
        self._client = client

    def send(
        self,
        verb: Verb,
        then: Callable[[Done], None] | None = None,
        refused: Callable[[CockpitError], None] | None = None,
    ) -> None:
        """Ask; what comes back, or why it was `refused`, is told in a toast or as is said here."""
        in_background(self._screen, partial(self._ask, verb, then, refused))

    async def _ask(
        self,
        verb: Verb,
        then: Callable[[Done], None] | None,
        refused: Callable[[CockpitError], None] | None,
    ) -> None:
        try:
            done = await self._client.ask(verb)
        except CockpitError as error:
            (refused or partial(tell, self._screen))(error)
            return
        say(self._screen, done.message)
        if then:
            then(done)


def say(screen: Screen[Any], message: str) -> None:
    """Tell the pilot something in passing."""
    screen.notify(safe_line(message, 300), markup=False, timeout=4)


def cannot(screen: Screen[Any], reason: str) -> None:
    """Say why a key does nothing now."""
    screen.notify(safe_line(reason, 300), severity="warning", markup=False, timeout=5)


def out_of_a_paste(screen: Screen[Any], action: Action) -> bool:
    """Whether the key in hand is not taken, since it weighs and came with many; it is said."""
    why = looked_like_a_paste(key_in_hand(screen), action.title) if action.weighs else None
    if why:
        cannot(screen, why)
    return why is not None


def in_one_line(error: CockpitError) -> str:
    """What, why and the next step as sentences, for a line of a form."""
    parts = [part for part in (error.title, error.detail, error.hint) if part]
    return safe_line(" ".join(f"{part.rstrip('.')}." for part in parts), 600)


def tell(screen: Screen[Any], error: Exception) -> None:
    """Tell a refusal or failure: what, why, and the next step."""
    if isinstance(error, CockpitError):
        parts = [part for part in (error.detail, error.hint) if part]
        title = safe_line(error.title, 200)
    else:
        parts, title = [str(error)], type(error).__name__
    screen.notify(
        safe_text("\n".join(parts), 600),
        title=title,
        severity="error",
        markup=False,
        timeout=SOON,
    )
