"""The text in place of the pane while there are no agents."""

from __future__ import annotations

from collections.abc import Mapping

from cockpit.tui.keys.actions import BY_ID
from cockpit.tui.present.keys import shown_key
from cockpit.tui.present.span import Span, fit

_WAYS = (
    ("start", "start an agent: a name, a directory, its job"),
    ("settings", "when to warn and hand off; theme; keys"),
    ("help", "all keys; Ctrl-P finds any action by name"),
    ("quit", "quit; agents keep running"),
)
_HELD = ("inbox", "untrusted settings: which, and how to trust them")
_COMMANDS = (
    ("cockpit init", "write a first cockpit.toml here"),
    ("cockpit demo", "try cockpit without an account"),
)


def welcome(keys: Mapping[str, str], *, held: bool = False) -> list[list[Span]]:
    """Return the purpose of cockpit, the first keys and commands; at most ten lines of 60 cells.

    `held`: a configuration file is not trusted yet, so the text does not offer to write a first.
    """
    ways = [
        [Span(f"  {fit(shown_key(BY_ID[action], keys), 12)}  ", "key"), Span(text)]
        for action, text in ((_HELD, *_WAYS) if held else _WAYS)
        if action in BY_ID
    ]
    commands = [[Span(f"  {command}  ", "name"), Span(text)] for command, text in _COMMANDS[held:]]
    return [
        [Span("  An agent with a full context loses track. See here how")],
        [Span("  full each context is, and hand off each job in time.")],
        [],
        *ways,
        [],
        *commands,
    ]
