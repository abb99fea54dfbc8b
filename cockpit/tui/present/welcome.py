"""What stands where a pane would be while there is no agent yet."""

from __future__ import annotations

from collections.abc import Mapping

from cockpit.tui.actions import BY_ID
from cockpit.tui.present.keys import shown_key
from cockpit.tui.present.span import Span, fit

_WAYS = (
    ("start", "start an agent: a name, a directory, its job"),
    ("settings", "when to warn and hand off; theme; keys"),
    ("help", "every key; Ctrl-P finds everything by name"),
    ("quit", "leave the screen; agents go on without it"),
)
_COMMANDS = (
    ("cockpit init", "write a first cockpit.toml here"),
    ("cockpit demo", "a whole flight, with no account"),
)


def welcome(keys: Mapping[str, str]) -> list[list[Span]]:
    """Ten lines of at most 60 cells, so that the smallest terminal shows them all."""
    ways = [
        [Span(f"  {fit(shown_key(BY_ID[action], keys), 12)}  ", "key"), Span(words)]
        for action, words in _WAYS
        if action in BY_ID
    ]
    commands = [[Span(f"  {command}  ", "name"), Span(words)] for command, words in _COMMANDS]
    return [
        [Span("  A full context makes an agent lose the thread: see here")],
        [Span("  how full each one is, and hand its work on before that.")],
        [],
        *ways,
        [],
        *commands,
    ]
