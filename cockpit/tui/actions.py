"""Everything a key can do: its id, its words, its default keys, and why it cannot be done now.

The one registry: bindings, the command palette, the help screen, `cockpit keys` and the tables
in the documents are all made from it. Ids are what `[keys]` in the configuration maps. No Textual
here, so that printing the keys stays quick.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from cockpit.tui import reasons

Context = Literal[
    "fleet", "review", "inbox", "history", "reading", "comparing", "worktrees", "agent"
]


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that a pilot can ask for by key, by mouse or from the palette."""

    id: str
    title: str
    """One to three words, for the key line."""
    sentence: str
    """What it does, for the help and the table of keys."""
    keys: tuple[str, ...]
    """In Textual's names; the first is the one that is shown."""
    context: Context = "fleet"
    why_not: reasons.WhyNot = reasons.never
    """The reason it cannot be done now, or None when it can."""
    shown: bool = False
    """On the key line whenever it can be done."""
    stays: bool = False
    """On the key line of every agent that can be asked; where it cannot be done, it says why."""
    weighs: bool = False
    """It does something to an agent, or leaves the screen: not taken from what looks pasted."""


def _scrolled(context: Context) -> tuple[Action, ...]:
    """What moves one long text."""
    return (
        Action(f"{context}.down", "down", "Scroll down.", ("j", "down"), context),
        Action(f"{context}.up", "up", "Scroll up.", ("k", "up"), context),
        Action(
            f"{context}.page-down", "page down", "Go a page down.", ("pagedown", "space"), context
        ),
        Action(f"{context}.page-up", "page up", "Go a page up.", ("pageup",), context),
        Action(f"{context}.first", "first", "To the beginning.", ("g", "home"), context),
        Action(f"{context}.last", "last", "To the end.", ("G", "end"), context),
    )


def _help(context: Context) -> Action:
    keys = ("question_mark", "f1")
    return Action(f"{context}.help", "help", "Show the keys.", keys, context, shown=True)


ACTIONS: tuple[Action, ...] = (
    Action(
        "approve", "approve", "Say yes to the question that stands.",
        ("a",), why_not=reasons.cannot_answer, shown=True, weighs=True,
    ),
    Action(
        "approve-straight", "approve straight", "Say yes, and to the review that would follow.",
        ("A",), why_not=reasons.cannot_approve_straight, shown=True, weighs=True,
    ),
    Action(
        "refuse", "refuse", "Say no; the agent goes on as it is.",
        ("r",), why_not=reasons.cannot_answer, shown=True, weighs=True,
    ),
    Action(
        "snooze", "snooze", "Be asked again in ten minutes.",
        ("z",), why_not=reasons.cannot_answer, shown=True, weighs=True,
    ),
    Action(
        "snooze-more", "snooze more", "Be asked again when 10 % more of the window is used.",
        ("Z",), why_not=reasons.cannot_answer, weighs=True,
    ),
    Action(
        "let-compact", "let compact", "Say no, and be asked again only after a compaction.",
        ("c",), why_not=reasons.cannot_answer, weighs=True,
    ),
    Action(
        "document", "document", "Read the handoff's document, or the draft of it.",
        ("d",), why_not=reasons.cannot_read, shown=True,
    ),
    Action(
        "attach", "attach", "Go into the agent's own pane; F12 comes back.",
        ("enter",), why_not=reasons.needs_running, shown=True, weighs=True,
    ),
    Action(
        "handoff", "hand off", "Hand the job to a fresh session.",
        ("h",), why_not=reasons.cannot_hand_off, shown=True, stays=True, weighs=True,
    ),
    Action(
        "send", "send", "Write a prompt and send it into the agent's composer.",
        ("s",), why_not=reasons.cannot_talk, shown=True,
    ),
    Action(
        "start", "start", "Start a stopped agent, or a new one.",
        ("n",), why_not=reasons.needs_any_supervisor, shown=True,
    ),
    Action(
        "stop", "stop", "End the agent; its worktree stays. Asks for a second key.",
        ("x",), why_not=reasons.cannot_talk,
    ),
    Action(
        "undo", "undo", "Reopen the previous session of the job. Asks for a second key.",
        ("u",), why_not=reasons.cannot_undo,
    ),
    Action(
        "open", "open", "Show one agent: pane, context over time, chain, facts, diff, events.",
        ("o", "l", "right"), why_not=reasons.needs_agent, shown=True,
    ),
    Action("down", "down", "Select the next agent.", ("j", "down")),
    Action("up", "up", "Select the previous agent.", ("k", "up")),
    Action("first", "first", "Select the first agent.", ("g", "home")),
    Action("last", "last", "Select the last agent.", ("G", "end")),
    Action(
        "next-needing", "next", "Select the next agent that needs you.",
        ("tab",), why_not=reasons.nobody_needs,
    ),
    Action("pane-up", "pane up", "Scroll the pane up.", ("pageup", "ctrl+u")),
    Action("pane-down", "pane down", "Scroll the pane down.", ("pagedown", "ctrl+d")),
    Action("inbox", "inbox", "Show everything that needs you, of all agents.", ("i",)),
    Action("history", "history", "Show every handoff and its document.", ("H",)),
    Action(
        "worktrees", "worktrees", "Show every worktree, and what stands against removing it.",
        ("W",), why_not=reasons.needs_any_supervisor,
    ),
    Action("filter", "filter", "Show only agents that have all the words.", ("slash",)),
    Action("unfilter", "all", "Show every agent again.", ("escape", "ctrl+g")),
    Action("sort", "sort", "Sort inside the groups: need, context, name, age, cost.", ("S",)),
    Action("pane-more", "larger pane", "Give the pane more of the screen.", ("plus",)),
    Action("pane-less", "smaller pane", "Give the pane less of the screen.", ("minus",)),
    Action("beside", "beside", "Put the pane beside the list, or below it again.", ("b",)),
    Action("settings", "settings", "Change where bands begin, the theme and keys.", ("comma",)),
    Action("events", "events", "Show or hide what happened last.", ("e",)),
    Action("redraw", "redraw", "Draw the whole screen again.", ("ctrl+l",)),
    Action("help", "help", "Show the keys.", ("question_mark", "f1"), shown=True),
    Action(
        "quit", "quit", "Leave the screen; agents and supervisor go on.",
        ("q",), shown=True, weighs=True,
    ),
    Action(
        "agent.enter", "attach", "Go into the pane; in the context section, read a document.",
        ("enter",), "agent", reasons.is_gone, shown=True, weighs=True,
    ),
    Action("agent.pane", "pane", "Show the live pane.", ("1",), "agent"),
    Action(
        "agent.course", "context", "Show the context over time and the chain of sessions.",
        ("2",), "agent",
    ),
    Action("agent.facts", "facts", "Show goal, todos, files and commits.", ("3",), "agent"),
    Action("agent.diff", "diff", "Show how the worktree differs.", ("4",), "agent"),
    Action("agent.events", "events", "Show what happened to this agent.", ("5",), "agent"),
    Action("agent.next", "next", "Show the next section.", ("tab",), "agent"),
    Action("agent.previous", "previous", "Show the previous section.", ("shift+tab",), "agent"),
    Action(
        "agent.again", "read again", "Read what is shown once more.",
        ("r", "ctrl+r"), "agent", reasons.needs_supervisor,
    ),
    Action(
        "agent.since", "since", "Show the diff of the whole job, or of what is not committed.",
        ("b",), "agent", reasons.needs_supervisor,
    ),
    Action(
        "agent.document", "document", "Read the document of the handoff that is under way.",
        ("d",), "agent", reasons.cannot_read, shown=True,
    ),
    Action(
        "agent.handoff", "hand off", "Hand the job to a fresh session.",
        ("h",), "agent", reasons.cannot_hand_off, shown=True, weighs=True,
    ),
    Action(
        "agent.send", "send", "Write a prompt and send it into the agent's composer.",
        ("s",), "agent", reasons.cannot_talk, shown=True,
    ),
    Action(
        "agent.undo", "undo", "Reopen the previous session of the job. Asks for a second key.",
        ("u",), "agent", reasons.cannot_undo,
    ),
    Action(
        "agent.down", "down", "Scroll down, or choose the next session.",
        ("j", "down"), "agent",
    ),
    Action("agent.up", "up", "Scroll up, or choose the session before.", ("k", "up"), "agent"),
    Action(
        "agent.page-down", "page down", "Scroll down by a page.",
        ("pagedown", "ctrl+d", "space"), "agent",
    ),
    Action(
        "agent.page-up", "page up", "Scroll up by a page; in the pane also into what has gone.",
        ("pageup", "ctrl+u"), "agent",
    ),
    Action("agent.first", "first", "Go to the beginning.", ("g", "home"), "agent"),
    Action("agent.last", "last", "Go to the end.", ("G", "end"), "agent"),
    Action("agent.redraw", "redraw", "Draw the whole screen again.", ("ctrl+l",), "agent"),
    _help("agent"),
    Action(
        "agent.back", "back", "Back to the fleet.",
        ("q", "escape", "left"), "agent", shown=True,
    ),
    Action(
        "review.approve", "approve", "Say yes to what is on the screen.",
        ("a",), "review", reasons.cannot_answer, shown=True, weighs=True,
    ),
    Action(
        "review.approve-straight", "approve straight", "Say yes, and to the review that follows.",
        ("A",), "review", reasons.cannot_approve_straight, shown=True, weighs=True,
    ),
    Action(
        "review.edit", "edit", "Change the document in $EDITOR.",
        ("e",), "review", reasons.cannot_edit, shown=True, weighs=True,
    ),
    Action(
        "review.refuse", "refuse", "Say no; the agent goes on as it is.",
        ("r",), "review", reasons.cannot_answer, shown=True, weighs=True,
    ),
    Action(
        "review.snooze", "snooze", "Be asked again in ten minutes.",
        ("z",), "review", reasons.cannot_answer, shown=True, weighs=True,
    ),
    Action(
        "review.snooze-more", "snooze more", "Be asked again when 10 % more is used.",
        ("Z",), "review", reasons.cannot_answer, weighs=True,
    ),
    Action(
        "review.let-compact", "let compact", "Say no, and be asked again only after a compaction.",
        ("c",), "review", reasons.cannot_answer, weighs=True,
    ),
    Action(
        "review.next", "next", "Show the next question that waits.",
        ("n",), "review", reasons.alone, shown=True,
    ),
    Action(
        "review.previous", "previous", "Show the question before it.",
        ("p",), "review", reasons.alone,
    ),
    *_scrolled("review"),
    _help("review"),
    Action("review.back", "back", "Decide later.", ("q", "escape", "d"), "review", shown=True),
    Action(
        "inbox.open", "go there", "Go to where it is answered: the document, or the agent's pane.",
        ("enter",), "inbox", shown=True, weighs=True,
    ),
    Action("inbox.down", "down", "Select the next one.", ("j", "down", "tab"), "inbox"),
    Action("inbox.up", "up", "Select the one before.", ("k", "up"), "inbox"),
    Action("inbox.first", "first", "Select the first one.", ("g", "home"), "inbox"),
    Action("inbox.last", "last", "Select the last one.", ("G", "end"), "inbox"),
    _help("inbox"),
    Action("inbox.back", "back", "Back to the fleet.", ("q", "escape", "i"), "inbox", shown=True),
    Action(
        "history.open", "read", "Read the document.", ("enter",), "history", shown=True,
    ),
    Action(
        "history.search", "search", "Show only what has all the words in its document.",
        ("slash",), "history", shown=True,
    ),
    Action(
        "history.continue", "continue", "Start a new agent from the document.",
        ("n",), "history", reasons.needs_any_supervisor, shown=True,
    ),
    Action(
        "history.mark", "mark", "Mark it for comparing; two at most.",
        ("space",), "history", shown=True,
    ),
    Action(
        "history.compare", "compare", "Compare the two marked, or the marked and this one.",
        ("c",), "history", shown=True,
    ),
    Action(
        "history.agent", "this agent", "Show only this one's agent, or everybody again.",
        ("f",), "history", shown=True,
    ),
    Action("history.down", "down", "Select the next one.", ("j", "down"), "history"),
    Action("history.up", "up", "Select the one before.", ("k", "up"), "history"),
    Action("history.page-down", "page down", "Go a page down.", ("pagedown", "ctrl+d"), "history"),
    Action("history.page-up", "page up", "Go a page up.", ("pageup", "ctrl+u"), "history"),
    Action("history.first", "first", "Select the newest one.", ("g", "home"), "history"),
    Action("history.last", "last", "Select the oldest one.", ("G", "end"), "history"),
    _help("history"),
    Action(
        "history.back", "back", "Out of the search, then back to the fleet.",
        ("q", "escape", "H"), "history", shown=True,
    ),
    *_scrolled("reading"),
    Action(
        "reading.continue", "continue", "Start a new agent from the document.",
        ("n",), "reading", reasons.needs_any_supervisor, shown=True,
    ),
    _help("reading"),
    Action(
        "reading.back", "back", "Back to the history.", ("q", "escape"), "reading", shown=True,
    ),
    *_scrolled("comparing"),
    _help("comparing"),
    Action(
        "comparing.back", "back", "Back to the history.",
        ("q", "escape", "c"), "comparing", shown=True,
    ),
    Action("worktrees.down", "down", "Select the next one.", ("j", "down"), "worktrees"),
    Action("worktrees.up", "up", "Select the one before.", ("k", "up"), "worktrees"),
    Action(
        "worktrees.page-down", "page down", "Go a page down.", ("pagedown", "space"), "worktrees",
    ),
    Action("worktrees.page-up", "page up", "Go a page up.", ("pageup",), "worktrees"),
    Action("worktrees.first", "first", "Select the first one.", ("g", "home"), "worktrees"),
    Action("worktrees.last", "last", "Select the last one.", ("G", "end"), "worktrees"),
    Action(
        "worktrees.remove", "remove", "Remove it; its branch stays. Asks for a second key.",
        ("x",), "worktrees", reasons.needs_any_supervisor, shown=True,
    ),
    Action(
        "worktrees.salvage", "keep and remove",
        "Keep all the work in it in git, then remove it. Asks for a second key.",
        ("X",), "worktrees", reasons.needs_any_supervisor, shown=True,
    ),
    Action(
        "worktrees.again", "look again", "Look at all of them once more.",
        ("r", "ctrl+r"), "worktrees", reasons.needs_any_supervisor, shown=True,
    ),
    _help("worktrees"),
    Action(
        "worktrees.back", "back", "Back to the fleet.",
        ("q", "escape", "W"), "worktrees", shown=True,
    ),
)  # fmt: skip

PALETTE = "Everything that can be done here, by its name."

BY_ID: Mapping[str, Action] = {action.id: action for action in ACTIONS}

_SPOKEN = {
    "slash": "/", "enter": "Enter", "tab": "Tab", "escape": "Esc", "down": "↓", "up": "↑",
    "home": "Home", "end": "End", "pageup": "PgUp", "pagedown": "PgDn", "space": "Space",
    "left": "←", "right": "→", "plus": "+", "minus": "-", "comma": ",", "at": "@",
    "backslash": "\\", "underscore": "_", "insert": "Ins", "delete": "Del",
    "backspace": "Backspace",
}  # fmt: skip


def spoken(key: str) -> str:
    """A key as it is printed on a keyboard: `ctrl+l` is `Ctrl-L`."""
    *held, last = key.split("+")
    if key == "ctrl+@":
        return "Ctrl-Space"
    if held == ["alt", "shift"] and len(last) == 1:
        return f"Alt-{last.upper()}"
    word = _SPOKEN.get(last) or _character(last)
    if (held == ["ctrl"] and len(last) == 1) or re.fullmatch(r"f\d+", last):
        word = last.upper()
    return "-".join([*(name.capitalize() for name in held), word])


def _character(key: str) -> str:
    """The character of a key that is named after it, as `question_mark` is."""
    for name in (key.replace("_", " "), key.replace("_", "-")) if len(key) > 1 else ():
        with suppress(KeyError):
            return unicodedata.lookup(name.upper())
    return key


def keys_of(action: Action, keymap: Mapping[str, str]) -> tuple[str, ...]:
    """The keys of an action after the pilot's own `[keys]` (comma-separated, as Textual has it)."""
    own = keymap.get(action.id)
    if own is None:
        return action.keys
    return tuple(key.strip() for key in own.split(",") if key.strip())


def table(keymap: Mapping[str, str] | None = None) -> list[tuple[str, str, str, str]]:
    """Every action as context, keys, id and sentence, in the order of the registry."""
    rows = [
        (
            action.context,
            " ".join(spoken(key) for key in keys_of(action, keymap or {})) or "–",
            action.id,
            action.sentence,
        )
        for action in ACTIONS
    ]
    jump = ("fleet", "1 … 9", "", "Select the agent of that number.")
    last = max(index for index, row in enumerate(rows) if row[0] == "fleet")
    return [*rows[: last + 1], jump, *rows[last + 1 :]]
