"""Send requests to the supervisor in the background, and show messages and errors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from textual.screen import Screen

from cockpit.client.client import Client
from cockpit.core.errors import CockpitError
from cockpit.core.safetext import safe_line, safe_text
from cockpit.tui.keys.action import Action
from cockpit.tui.keys.reasons import press
from cockpit.tui.state.background import in_background
from cockpit.tui.state.model import Model, review_of
from cockpit.tui.terminal.paste_guard import key_in_hand, looked_like_a_paste
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Done, Snooze, Verb

SHOWN_SECONDS = 5.0
COMMAND_SECONDS = 60.0
"""Seconds for which an unrequested message with a command to type is shown."""
TEN_MINUTES = 600.0
"""Duration of a snooze, in seconds."""


class Requests:
    """Sends requests from a screen, each in its own task, so that the screen never waits."""

    def __init__(self, screen: Screen[Any], client: Client) -> None:
        self._screen = screen
        self._client = client

    def send(
        self,
        verb: Verb,
        then: Callable[[Done], None] | None = None,
        refused: Callable[[CockpitError], None] | None = None,
    ) -> None:
        """Send a verb in the background, and show the reply. `then` gets the reply.

        `refused` gets an error; without `refused`, the error is shown as a toast.
        """
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
            (refused or partial(show_error, self._screen))(error)
            return
        show_message(self._screen, done.message)
        if then:
            then(done)


def snooze_or_wake(agent: AgentStatus, question: str | None) -> Snooze:
    """Return the request that snoozes a handoff, or ends the snooze if the agent is snoozed.

    `question` is the id of the handoff.
    """
    seconds = 0.0 if agent.is_snoozed else TEN_MINUTES
    return Snooze(name=agent.name, handoff=question, seconds=seconds)


def unread_problem(model: Model, agent: AgentStatus) -> str | None:
    """Return why the user should read the document before approving it; None if not needed.

    Needed if cockpit did not find all claims of the document, and never showed the document here.
    """
    handoff = agent.handoff
    if handoff is None or handoff.phase != "review" or not handoff.not_found:
        return None
    if review_of(agent) in model.read_reviews:
        return None
    how = press(model.on("review"), "approve")
    return f"Not approved yet. cockpit's check: {handoff.not_found}. {how} to approve the document."


def show_message(screen: Screen[Any], message: str) -> None:
    """Show a message for four seconds; at most 300 characters."""
    screen.notify(safe_line(message, 300), markup=False, timeout=4)


def show_reason(screen: Screen[Any], reason: str, *, seconds: float = SHOWN_SECONDS) -> None:
    """Show a warning, such as why a key has no effect, for some seconds or until the next key.

    Shows nothing for keys of a burst that was already reported as a paste.
    """
    burst = key_in_hand(screen)
    if burst is None or not burst.reported:
        _show(screen, reason, seconds)


def _show(screen: Screen[Any], reason: str, seconds: float = SHOWN_SECONDS) -> None:
    screen.notify(safe_line(reason, 300), severity="warning", markup=False, timeout=seconds)


def is_refused_as_paste(screen: Screen[Any], action: Action) -> bool:
    """Return whether a destructive action is refused because its keys look pasted.

    If so, shows the user why, once per burst of keys.
    """
    why = looked_like_a_paste(key_in_hand(screen), action.title) if action.is_destructive else None
    if why:
        _show(screen, why)
    return why is not None


def in_one_line(error: CockpitError) -> str:
    """Format the error's title, detail and hint as sentences, for one line of a form."""
    parts = [part for part in (error.title, error.detail, error.hint) if part]
    return safe_line(" ".join(f"{part.rstrip('.')}." for part in parts), 600)


def show_error(screen: Screen[Any], error: Exception) -> None:
    """Show an error: what happened, why, and the next step."""
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
    )
