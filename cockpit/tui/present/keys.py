"""The line of keys at the bottom: what can be done now, in the registry's order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from rich.cells import cell_len

from cockpit.tui.actions import ACTIONS, BY_ID, Action, Context, keys_of, spoken
from cockpit.tui.model import Model
from cockpit.tui.present import words
from cockpit.tui.present.span import Span, merged

KEPT = (
    "approve", "document", "refuse", "attach", "enter", "edit", "next", "snooze", "handoff", "send",
    "open", "start",
)  # fmt: skip
"""Where there is no room for all: which stay longest, by the last word of their ids."""


class KeyHint(NamedTuple):
    action: str
    start: int
    end: int
    """The cells of it, so that a click finds its action."""


def possible(model: Model, context: Context) -> list[Action]:
    """What belongs on the key line now."""
    return [
        action
        for action in ACTIONS
        if action.context == context
        and action.shown
        and (action.why_not(model) is None or (action.stays and _could_be_asked(model)))
        and not (action.id == "attach" and _is_out_of_reach(model))
    ]


def _could_be_asked(model: Model) -> bool:
    return model.agent is not None and model.part.connection.live


def _is_out_of_reach(model: Model) -> bool:
    """Its pane is on a machine that does not answer: trying is allowed, and not offered."""
    return model.part.is_far and not model.part.connection.live


def possible_with(model: Model, section: str) -> list[Action]:
    """The same of one agent's screen; one key does another thing where a session is chosen."""
    actions = possible(model, "agent")
    if section == "course":
        return [
            replace(each, title="document") if each.id == "agent.enter" else each
            for each in actions
            if each.id != "agent.document"
        ]
    if BY_ID["attach"].why_not(model) is None:
        return actions
    return [each for each in actions if each.id != "agent.enter"]


def key_line(
    actions: Iterable[Action], keymap: Mapping[str, str], width: int
) -> tuple[list[Span], list[KeyHint]]:
    """Keys and words in `width` cells, and where each stands; what has no room is left out whole.

    Help and the way out keep their place at the end, whatever else goes; of the others those of
    `KEPT` stay longest.
    """
    everything = list(actions)
    tail = [action for action in everything if action.id.endswith(("help", "quit", ".back"))]
    head = [action for action in everything if action not in tail]
    room = width - sum(_cells(action, keymap) for action in tail) - 1
    fitting: list[Action] = []
    for action in sorted(head, key=_worth):
        if (cells := _cells(action, keymap)) <= room:
            fitting.append(action)
            room -= cells
    spans, hints, column = [Span(" ")], [], 1
    for action in [*(each for each in head if each in fitting), *tail]:
        cells = _cells(action, keymap)
        if column + cells - 2 > width:
            break
        spans += [
            Span(shown_key(action, keymap), "key"),
            Span(f" {action.title}  ", "muted"),
        ]
        hints.append(KeyHint(action.id, column, column + cells - 2))
        column += cells
    return merged(spans), hints


def _worth(action: Action) -> int:
    """Its place among those that stay; the registry's order decides among the rest."""
    last = action.id.rpartition(".")[2]
    return KEPT.index(last) if last in KEPT else len(KEPT)


def shown_key(action: Action, keymap: Mapping[str, str]) -> str:
    """The key that is told for an action, as it is printed on a keyboard; a dash for none."""
    return next(map(spoken, keys_of(action, keymap)), words.DASH)


def _cells(action: Action, keymap: Mapping[str, str]) -> int:
    return cell_len(shown_key(action, keymap)) + 1 + cell_len(action.title) + 2
