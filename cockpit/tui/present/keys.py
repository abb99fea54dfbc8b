"""The key line at the bottom: the actions available now, in registry order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from rich.cells import cell_len

from cockpit.tui.keys.action import Action, Context
from cockpit.tui.keys.actions import ACTIONS, BY_ID, key_label, keys_of
from cockpit.tui.keys.reasons import DIALOGS
from cockpit.tui.present import words
from cockpit.tui.present.span import Span, merged
from cockpit.tui.state.model import Model
from cockpit.wire.status import AgentStatus, Needs

KEPT_LONGEST = (
    "approve", "document", "refuse", "attach", "enter", "edit", "next-file", "next", "snooze",
    "handoff", "send", "open", "start",
)  # fmt: skip
"""Actions by priority, named by the last part of their ids. On a narrow line, all other actions are
left out before these."""


class KeyHint(NamedTuple):
    """An action, and the cells in which a click runs it: from `start` to before `end`."""

    action: str
    start: int
    end: int


def possible(model: Model, context: Context) -> list[Action]:
    """Return the actions of a context that the key line shows now."""
    return [
        _retitled(action, model.agent)
        for action in ACTIONS
        if action.context == context
        and action.shown
        and action.why_not(model) is None
        and not (action.id == "attach" and _is_out_of_reach(model))
    ]


def _retitled(action: Action, agent: AgentStatus | None) -> Action:
    """Return the action with a title that fits the agent's current state."""
    if agent is None:
        return action
    if action.id in {"snooze", "review.snooze"} and agent.is_snoozed:
        return replace(action, title="ask now")
    if action.id == "approve" and agent.needs and agent.needs.kind in DIALOGS:
        return replace(action, title=dialog_title(agent.needs))
    return action


def dialog_title(needs: Needs | None) -> str:
    """Return the title of the key for an open dialog.

    The title is `show` for a dialog that can only be answered in its pane, else `answer`. An older
    supervisor does not report `answerable`; the title is then `answer`.
    """
    return "show" if needs is not None and needs.answerable is False else "answer"


def _is_out_of_reach(model: Model) -> bool:
    """Return whether the selected agent's pane is on a host that does not answer.

    The action that opens the pane is then allowed, but not suggested.
    """
    return model.part.is_remote and not model.part.connection.live


def possible_with(model: Model, section: str, *, has_files: bool = True) -> list[Action]:
    """Return the actions for the agent screen's key line, where Enter depends on the section.

    `has_files` is whether the shown diff has files to go to.
    """
    actions = possible(model, "agent")
    if section == "diff":
        of_files = [BY_ID["agent.since"]]
        if has_files:
            of_files = [BY_ID["agent.next-file"], BY_ID["agent.edit"], *of_files]
        actions = [*(action for action in of_files if action.why_not(model) is None), *actions]
    if section == "course":
        return [
            replace(action, title="document") if action.id == "agent.enter" else action
            for action in actions
            if action.id != "agent.document"
        ]
    if BY_ID["attach"].why_not(model) is None:
        return actions
    return [action for action in actions if action.id != "agent.enter"]


def key_line(
    actions: Iterable[Action], keymap: Mapping[str, str], width: int
) -> tuple[list[Span], list[KeyHint]]:
    """Return the key line for `width` cells, and the clickable columns of each action.

    Titles are never truncated.

    Help, and back or quit, come last and are dropped last. Of the other actions, those in
    `KEPT_LONGEST` are dropped last. Actions without a key are left out.
    """
    everything = [action for action in actions if any(keys_of(action, keymap))]
    tail = [action for action in everything if action.id.endswith(("help", "quit", ".back"))]
    head = [action for action in everything if action not in tail]
    room = width - sum(_cells(action, keymap) for action in tail) - 1
    fitting: list[Action] = []
    for action in sorted(head, key=_priority):
        if (cells := _cells(action, keymap)) <= room:
            fitting.append(action)
            room -= cells
    spans, hints, column = [Span(" ")], [], 1
    for action in [*(hint for hint in head if hint in fitting), *tail]:
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


MARKED = ("mark", "approve", "send", "stop", "forget", "unfilter", "help", "quit")
"""The actions of the key line while agents are marked."""


def marked_line(
    count: int, keymap: Mapping[str, str], width: int
) -> tuple[list[Span], list[KeyHint]]:
    """Return the key line while agents are marked, beginning with the number of marked agents."""
    head = f" {count} marked: "
    actions = [replace(BY_ID[name], title="unmark") if name == "unfilter" else BY_ID[name]
               for name in MARKED]  # fmt: skip
    spans, hints = key_line(actions, keymap, max(0, width - len(head)))
    moved = [hint._replace(start=hint.start + len(head), end=hint.end + len(head))
             for hint in hints]  # fmt: skip
    return merged([Span(head, "key"), *spans]), moved


def _priority(action: Action) -> int:
    """Return the sort key: the action's position in `KEPT_LONGEST`; any other action comes last."""
    last = action.id.rpartition(".")[2]
    return KEPT_LONGEST.index(last) if last in KEPT_LONGEST else len(KEPT_LONGEST)


def shown_key(action: Action, keymap: Mapping[str, str]) -> str:
    """Return the first key of an action, as printed on a keyboard; a dash without a key."""
    return next(map(key_label, keys_of(action, keymap)), words.DASH)


def _cells(action: Action, keymap: Mapping[str, str]) -> int:
    return cell_len(shown_key(action, keymap)) + 1 + cell_len(action.title) + 2
