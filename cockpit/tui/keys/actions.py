"""The registry of actions: id, title, help sentence, default keys, and when each is unavailable.

Bindings, the command palette, the help screen, `cockpit keys` and the tables in the docs are
generated from this registry. `[keys]` in the configuration maps the ids to keys. Does not import
Textual, so that printing the keys stays fast.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from cockpit.tui.keys import reasons

Context = Literal[
    "fleet",
    "review",
    "permission",
    "inbox",
    "history",
    "reading",
    "comparing",
    "worktrees",
    "elsewhere",
    "agent",
    "pane",
]
Handlers = Mapping[str, Callable[[], None]]
"""The functions of a screen's actions, by the action's id."""


@dataclass(frozen=True, slots=True)
class Action:
    """An action that the user can run by key, mouse or command palette."""

    id: str
    title: str
    """One to three words, for the key line and the palette."""
    sentence: str
    """A sentence that describes the action, for the help and the key tables."""
    keys: tuple[str, ...]
    """Textual's key names; the first one is shown."""
    context: Context = "fleet"
    why_not: reasons.WhyNot = reasons.always_available
    """Returns why the action is unavailable now; None if it is available."""
    shown: bool = False
    """Whether the key line shows the action while the action is available."""
    stays: bool = False
    """Whether the key line shows the action for every reachable agent. If the action is
    unavailable, its key shows the reason."""
    is_destructive: bool = False
    """Whether the action affects an agent or leaves the screen. If so, the action is refused when
    keys look pasted."""


def _scrolled(context: Context) -> tuple[Action, ...]:
    """Return the actions that scroll a long text."""
    return (
        Action(f"{context}.down", "down", "Scroll down.", ("j", "down"), context),
        Action(f"{context}.up", "up", "Scroll up.", ("k", "up"), context),
        Action(
            f"{context}.page-down",
            "page down",
            "Scroll down a page.",
            ("pagedown", "space"),
            context,
        ),
        Action(f"{context}.page-up", "page up", "Scroll up a page.", ("pageup",), context),
        Action(f"{context}.first", "first", "Go to the beginning.", ("g", "home"), context),
        Action(f"{context}.last", "last", "Go to the end.", ("G", "end"), context),
    )


def _help(context: Context) -> Action:
    keys = ("question_mark", "f1")
    return Action(f"{context}.help", "help", "Show the keys.", keys, context, shown=True)


ACTIONS: tuple[Action, ...] = (
    Action(
        "approve", "approve", "Approve, or answer a permission dialog or question.",
        ("a",), why_not=reasons.cannot_approve, shown=True, is_destructive=True,
    ),
    Action(
        "approve-straight", "approve straight", "Approve and skip the review.",
        ("A",), why_not=reasons.cannot_approve_straight, shown=True, is_destructive=True,
    ),
    Action(
        "refuse", "refuse", "Refuse; keep this session.",
        ("r",), why_not=reasons.cannot_answer, shown=True, is_destructive=True,
    ),
    Action(
        "snooze", "snooze", "Ask again in 10 minutes; if snoozed, ask now.",
        ("z",), why_not=reasons.cannot_answer, shown=True, is_destructive=True,
    ),
    Action(
        "snooze-more", "snooze more", "Ask again when 10% more of the context is used.",
        ("Z",), why_not=reasons.cannot_answer, is_destructive=True,
    ),
    Action(
        "let-compact", "let compact", "Refuse; ask again only after a compaction.",
        ("c",), why_not=reasons.cannot_answer, is_destructive=True,
    ),
    Action(
        "document", "document", "Read the handoff document, or its draft.",
        ("d",), why_not=reasons.cannot_read, shown=True,
    ),
    Action(
        "attach", "attach", "Go to the agent's pane.",
        ("enter",), why_not=reasons.needs_running, shown=True, is_destructive=True,
    ),
    Action(
        "handoff", "hand off", "Hand off to a new session. Asks to confirm.",
        ("f",), why_not=reasons.cannot_hand_off, shown=True, stays=True, is_destructive=True,
    ),
    Action(
        "handoff-to", "hand off to", "Hand off to another CLI.",
        ("t",), why_not=reasons.cannot_choose_cli,
    ),
    Action(
        "send", "send", "Send a prompt to the agent.",
        ("s",), why_not=reasons.cannot_talk, shown=True,
    ),
    Action(
        "start", "start", "Start a stopped agent, or a new one.",
        ("n",), why_not=reasons.needs_any_supervisor, shown=True,
    ),
    Action(
        "resume", "reopen all", "Reopen every agent that a reboot or a tmux exit interrupted.",
        ("R",), why_not=reasons.cannot_resume, shown=True, is_destructive=True,
    ),
    Action(
        "stop", "stop", "Stop the agent; keep its worktree. Asks to confirm.",
        ("x",), why_not=reasons.cannot_talk,
    ),
    Action(
        "mark", "mark", "Mark agents; approve, send, stop and forget then act on all marked.",
        ("space",), why_not=reasons.needs_agent, is_destructive=True,
    ),
    Action(
        "forget", "forget", "Remove an ended agent from the list; keep its history. Asks first.",
        ("delete",), why_not=reasons.cannot_put_away, is_destructive=True,
    ),
    Action(
        "rename", "rename", "Rename an ended agent; its history follows.",
        ("f2",), why_not=reasons.cannot_put_away,
    ),
    Action(
        "duplicate", "duplicate", "Start a new agent with this agent's settings.",
        ("N",), why_not=reasons.cannot_duplicate,
    ),
    Action(
        "done", "done", "Mark the agent's job as done. Asks to confirm.",
        ("D",), why_not=reasons.cannot_be_done,
    ),
    Action(
        "undo", "undo", "Go back to the previous session. Asks to confirm.",
        ("u",), why_not=reasons.cannot_undo,
    ),
    Action(
        "open", "open", "Show one agent: pane, context over time, chain, facts, diff, events.",
        ("o", "l", "right"), why_not=reasons.needs_agent, shown=True,
    ),
    Action("copy-path", "copy path", "Copy the path of the agent's worktree.", ("P",)),
    Action("copy-branch", "copy branch", "Copy the agent's branch.", ("B",)),
    Action("copy-id", "copy id", "Copy the id of the agent's session.", ("I",)),
    Action("down", "down", "Select the next agent.", ("j", "down")),
    Action("up", "up", "Select the previous agent.", ("k", "up")),
    Action("first", "first", "Select the first agent.", ("g", "home")),
    Action("last", "last", "Select the last agent.", ("G", "end")),
    Action(
        "next-needing", "next", "Select the next agent that needs you.",
        ("tab",), why_not=reasons.no_agent_needs_you,
    ),
    Action("pane-up", "pane up", "Scroll the pane up.", ("pageup", "ctrl+u")),
    Action("pane-down", "pane down", "Scroll the pane down.", ("pagedown", "ctrl+d")),
    Action("inbox", "inbox", "Show everything that needs you.", ("i",)),
    Action("history", "history", "Show all handoffs and their documents.", ("H",)),
    Action(
        "worktrees", "worktrees", "Worktrees, and what blocks removing each.",
        ("W",), why_not=reasons.needs_any_supervisor,
    ),
    Action(
        "elsewhere", "elsewhere", "Sessions that cockpit did not start; adopt one.",
        ("E",), why_not=reasons.needs_any_supervisor,
    ),
    Action("filter", "filter", "Filter agents.", ("slash",)),
    Action("unfilter", "all", "Clear the marks, then the filter.", ("escape", "ctrl+g")),
    Action("sort", "sort", "Sort within groups by need, context, name, age or cost.", ("S",)),
    Action("pane-more", "larger pane", "Make the pane larger.", ("plus",)),
    Action("pane-less", "smaller pane", "Make the pane smaller.", ("minus",)),
    Action("beside", "beside", "Move the pane beside or below the list.", ("b",)),
    Action("settings", "settings", "Settings.", ("comma",)),
    Action("events", "events", "Show or hide recent events.", ("e",)),
    Action("redraw", "redraw", "Redraw.", ("ctrl+l",)),
    Action("help", "help", "Show the keys.", ("question_mark", "f1"), shown=True),
    Action(
        "quit", "quit", "Quit; agents and supervisor keep running.",
        ("q",), shown=True, is_destructive=True,
    ),
    Action(
        "agent.enter", "attach", "Go to the pane; in the context section, read a document.",
        ("enter",), "agent", reasons.cannot_enter, shown=True, is_destructive=True,
    ),
    Action(
        "agent.answer", "answer", "Answer the agent's permission dialog or question.",
        ("a",), "agent", reasons.asks_nothing, shown=True, is_destructive=True,
    ),
    Action("agent.pane", "pane", "Show the live pane.", ("1",), "agent"),
    Action(
        "agent.course", "context", "Show context over time and the chain of sessions.",
        ("2",), "agent",
    ),
    Action("agent.facts", "facts", "Show goal, todos, files and commits.", ("3",), "agent"),
    Action("agent.diff", "diff", "Show the worktree's diff.", ("4",), "agent"),
    Action("agent.events", "events", "Show this agent's events.", ("5",), "agent"),
    Action("agent.next", "next", "Show the next section.", ("tab",), "agent"),
    Action("agent.previous", "previous", "Show the previous section.", ("shift+tab",), "agent"),
    Action(
        "agent.again", "reload", "Reload this section.",
        ("r", "ctrl+r"), "agent", reasons.needs_supervisor,
    ),
    Action(
        "agent.since", "since", "Switch the diff between uncommitted changes and the whole job.",
        ("b",), "agent", reasons.needs_supervisor,
    ),
    Action("agent.next-file", "next file", "Go to the next file of the diff.", ("n",), "agent"),
    Action(
        "agent.previous-file", "previous file", "Go to the previous file of the diff.",
        ("p",), "agent",
    ),
    Action(
        "agent.edit", "edit", "Edit this file of the diff in $EDITOR.",
        ("e",), "agent", reasons.cannot_edit_files, is_destructive=True,
    ),
    Action(
        "agent.copy-path", "copy path",
        "Copy the path of the worktree, or of this file of the diff.", ("P",), "agent",
    ),
    Action("agent.copy-branch", "copy branch", "Copy the agent's branch.", ("B",), "agent"),
    Action("agent.copy-id", "copy id", "Copy the id of the agent's session.", ("I",), "agent"),
    Action(
        "agent.document", "document", "Read the document of the current handoff.",
        ("d",), "agent", reasons.cannot_read, shown=True,
    ),
    Action(
        "agent.handoff", "hand off", "Hand off to a new session. Asks to confirm.",
        ("f",), "agent", reasons.cannot_hand_off, shown=True, is_destructive=True,
    ),
    Action(
        "agent.handoff-to", "hand off to", "Hand off to another CLI.",
        ("t",), "agent", reasons.cannot_choose_cli,
    ),
    Action(
        "agent.send", "send", "Send a prompt to the agent.",
        ("s",), "agent", reasons.cannot_talk, shown=True,
    ),
    Action(
        "agent.undo", "undo", "Go back to the previous session. Asks to confirm.",
        ("u",), "agent", reasons.cannot_undo,
    ),
    Action(
        "agent.down", "down", "Scroll down, or select the next session.",
        ("j", "down"), "agent",
    ),
    Action("agent.up", "up", "Scroll up, or select the previous session.", ("k", "up"), "agent"),
    Action(
        "agent.page-down", "page down", "Scroll down a page.",
        ("pagedown", "ctrl+d", "space"), "agent",
    ),
    Action(
        "agent.page-up", "page up", "Scroll up a page; in the pane, into its history.",
        ("pageup", "ctrl+u"), "agent",
    ),
    Action("agent.first", "first", "Go to the beginning.", ("g", "home"), "agent"),
    Action("agent.last", "last", "Go to the end.", ("G", "end"), "agent"),
    Action("agent.redraw", "redraw", "Redraw.", ("ctrl+l",), "agent"),
    _help("agent"),
    Action(
        "agent.back", "back", "Back to the agents.",
        ("q", "escape", "left", "h"), "agent", shown=True,
    ),
    Action(
        "review.approve", "approve", "Approve.",
        ("a",), "review", reasons.cannot_answer, shown=True, is_destructive=True,
    ),
    Action(
        "review.approve-straight", "approve straight", "Approve and skip the review.",
        ("A",), "review", reasons.cannot_skip_review, shown=True, is_destructive=True,
    ),
    Action(
        "review.edit", "edit", "Edit the document in $EDITOR.",
        ("e",), "review", reasons.cannot_edit, shown=True, is_destructive=True,
    ),
    Action(
        "review.refuse", "refuse", "Refuse; keep this session.",
        ("r",), "review", reasons.cannot_answer, shown=True, is_destructive=True,
    ),
    Action(
        "review.snooze", "snooze", "Ask again in 10 minutes; if snoozed, ask now.",
        ("z",), "review", reasons.cannot_answer, shown=True, is_destructive=True,
    ),
    Action(
        "review.snooze-more", "snooze more", "Ask again when 10% more of the context is used.",
        ("Z",), "review", reasons.cannot_answer, is_destructive=True,
    ),
    Action(
        "review.let-compact", "let compact", "Refuse; ask again only after a compaction.",
        ("c",), "review", reasons.cannot_answer, is_destructive=True,
    ),
    Action(
        "review.handoff-to", "hand off to", "Approve, and hand off to another CLI.",
        ("t",), "review", reasons.cannot_choose_cli,
    ),
    Action(
        "review.next", "next", "Show the next question.",
        ("n",), "review", reasons.no_other_question, shown=True,
    ),
    Action(
        "review.previous", "previous", "Show the previous question.",
        ("p",), "review", reasons.no_other_question,
    ),
    *_scrolled("review"),
    Action(
        "review.missing", "missing", "Show or hide what the document leaves out.",
        ("m",), "review",
    ),
    _help("review"),
    Action(
        "review.back", "back", "Decide later.",
        ("q", "escape", "d", "left", "h"), "review", shown=True,
    ),
    Action(
        "permission.answer", "answer", "Answer with the selected choice, or the checked boxes.",
        ("enter",), "permission", reasons.needs_supervisor, shown=True, is_destructive=True,
    ),
    Action(
        "permission.text", "text", "Answer with the selected choice and a text.",
        ("t",), "permission", reasons.needs_supervisor, shown=True, is_destructive=True,
    ),
    Action(
        "permission.check", "check", "Check or clear the selected box.",
        ("space",), "permission", shown=True,
    ),
    Action(
        "permission.next", "next", "Show the next agent that asks.",
        ("n",), "permission", reasons.no_other_dialog, shown=True,
    ),
    Action(
        "permission.previous", "previous", "Show the previous agent that asks.",
        ("p",), "permission", reasons.no_other_dialog,
    ),
    Action(
        "permission.attach", "pane", "Go to the agent's pane.",
        ("o",), "permission", shown=True, is_destructive=True,
    ),
    Action("permission.down", "down", "Select the next choice.", ("j", "down"), "permission"),
    Action("permission.up", "up", "Select the previous choice.", ("k", "up"), "permission"),
    Action(
        "permission.page-down", "page down", "Scroll the text down a page.",
        ("pagedown", "ctrl+d"), "permission",
    ),
    Action(
        "permission.page-up", "page up", "Scroll the text up a page.",
        ("pageup", "ctrl+u"), "permission",
    ),
    Action(
        "permission.first", "first", "Go to the beginning of the text.",
        ("g", "home"), "permission",
    ),
    Action(
        "permission.last", "last", "Go to the end of the text.", ("G", "end"), "permission",
    ),
    _help("permission"),
    Action(
        "permission.back", "back", "Decide later.",
        ("q", "escape", "left", "h"), "permission", shown=True,
    ),
    Action(
        "inbox.answer", "answer", "Answer the permission dialog or question here.",
        ("a",), "inbox", shown=True, is_destructive=True,
    ),
    Action(
        "inbox.open", "go there", "Open the document or the agent's pane to answer.",
        ("enter",), "inbox", shown=True, is_destructive=True,
    ),
    Action("inbox.down", "down", "Select the next item.", ("j", "down", "tab"), "inbox"),
    Action("inbox.up", "up", "Select the previous item.", ("k", "up"), "inbox"),
    Action("inbox.first", "first", "Select the first item.", ("g", "home"), "inbox"),
    Action("inbox.last", "last", "Select the last item.", ("G", "end"), "inbox"),
    _help("inbox"),
    Action(
        "inbox.back", "back", "Back to the agents.",
        ("q", "escape", "i", "left", "h"), "inbox", shown=True,
    ),
    Action(
        "history.open", "read", "Read the document.", ("enter",), "history", shown=True,
    ),
    Action(
        "history.search", "search", "Search the documents.",
        ("slash",), "history", shown=True,
    ),
    Action(
        "history.continue", "continue", "Start a new agent from the document.",
        ("n",), "history", reasons.needs_any_supervisor, shown=True,
    ),
    Action(
        "history.mark", "mark", "Mark for comparison; two at most.",
        ("space",), "history", shown=True,
    ),
    Action(
        "history.compare", "compare", "Compare two marked documents, or one with the selected one.",
        ("c",), "history", shown=True,
    ),
    Action(
        "history.agent", "this agent", "Show only this agent's handoffs, or all again.",
        ("f",), "history", shown=True,
    ),
    Action("history.down", "down", "Select the next handoff.", ("j", "down"), "history"),
    Action("history.up", "up", "Select the previous handoff.", ("k", "up"), "history"),
    Action(
        "history.page-down", "page down", "Scroll down a page.", ("pagedown", "ctrl+d"), "history",
    ),
    Action("history.page-up", "page up", "Scroll up a page.", ("pageup", "ctrl+u"), "history"),
    Action("history.first", "first", "Select the newest handoff.", ("g", "home"), "history"),
    Action("history.last", "last", "Select the oldest handoff.", ("G", "end"), "history"),
    _help("history"),
    Action(
        "history.back", "back", "Clear the search, then go back to the agents.",
        ("q", "escape", "H", "left", "h"), "history", shown=True,
    ),
    *_scrolled("reading"),
    Action(
        "reading.continue", "continue", "Start a new agent from the document.",
        ("n",), "reading", reasons.needs_any_supervisor, shown=True,
    ),
    _help("reading"),
    Action(
        "reading.back", "back", "Back to the history.",
        ("q", "escape", "left", "h"), "reading", shown=True,
    ),
    *_scrolled("comparing"),
    _help("comparing"),
    Action(
        "comparing.back", "back", "Back to the history.",
        ("q", "escape", "c", "left", "h"), "comparing", shown=True,
    ),
    Action("worktrees.down", "down", "Select the next worktree.", ("j", "down"), "worktrees"),
    Action("worktrees.up", "up", "Select the previous worktree.", ("k", "up"), "worktrees"),
    Action(
        "worktrees.page-down", "page down", "Scroll down a page.",
        ("pagedown", "space"), "worktrees",
    ),
    Action("worktrees.page-up", "page up", "Scroll up a page.", ("pageup",), "worktrees"),
    Action("worktrees.first", "first", "Select the first worktree.", ("g", "home"), "worktrees"),
    Action("worktrees.last", "last", "Select the last worktree.", ("G", "end"), "worktrees"),
    Action(
        "worktrees.remove", "remove", "Remove the worktree; keep its branch. Asks to confirm.",
        ("x",), "worktrees", reasons.needs_any_supervisor, shown=True,
    ),
    Action(
        "worktrees.salvage", "save and remove",
        "Save all work of the worktree in git, then remove it. Asks to confirm.",
        ("X",), "worktrees", reasons.needs_any_supervisor, shown=True,
    ),
    Action(
        "worktrees.again", "reload", "Reload the list.",
        ("r", "ctrl+r"), "worktrees", reasons.needs_any_supervisor, shown=True,
    ),
    _help("worktrees"),
    Action(
        "worktrees.back", "back", "Back to the agents.",
        ("q", "escape", "W", "left", "h"), "worktrees", shown=True,
    ),
    Action(
        "elsewhere.open", "details", "Show only the session's details, or the list again.",
        ("enter", "o"), "elsewhere", shown=True,
    ),
    Action("elsewhere.down", "down", "Select the next session.", ("j", "down"), "elsewhere"),
    Action("elsewhere.up", "up", "Select the previous session.", ("k", "up"), "elsewhere"),
    Action(
        "elsewhere.page-down", "page down", "Scroll the details down a page.",
        ("pagedown", "space"), "elsewhere",
    ),
    Action(
        "elsewhere.page-up", "page up", "Scroll the details up a page.", ("pageup",), "elsewhere",
    ),
    Action("elsewhere.first", "first", "Select the first session.", ("g", "home"), "elsewhere"),
    Action("elsewhere.last", "last", "Select the last session.", ("G", "end"), "elsewhere"),
    Action(
        "elsewhere.adopt", "adopt", "End the session and reopen it as an agent. Asks to confirm.",
        ("a",), "elsewhere", reasons.needs_any_supervisor, shown=True,
    ),
    Action(
        "elsewhere.watch", "watch", "Notify me when the session's context fills up; again to stop.",
        ("w",), "elsewhere", reasons.needs_any_supervisor, shown=True,
    ),
    Action(
        "elsewhere.document", "document",
        "Let a copy of the session write its handoff document. Asks to confirm.",
        ("d",), "elsewhere", reasons.needs_any_supervisor, shown=True,
    ),
    _help("elsewhere"),
    Action(
        "elsewhere.back", "back", "Back to the agents.",
        ("q", "escape", "E", "left", "h"), "elsewhere", shown=True,
    ),
    Action(
        "pane.back", "back from a pane", "Go back from an agent's pane to cockpit.",
        ("f12", "ctrl+f12"), "pane",
    ),
)  # fmt: skip

PALETTE = "Find any action by name."

BY_ID: Mapping[str, Action] = {action.id: action for action in ACTIONS}

_SPOKEN = {
    "slash": "/", "enter": "Enter", "tab": "Tab", "escape": "Esc", "down": "↓", "up": "↑",
    "home": "Home", "end": "End", "pageup": "PgUp", "pagedown": "PgDn", "space": "Space",
    "left": "←", "right": "→", "plus": "+", "minus": "-", "comma": ",", "at": "@",
    "backslash": "\\", "underscore": "_", "insert": "Ins", "delete": "Del",
    "backspace": "Backspace",
}  # fmt: skip


def spoken(key: str) -> str:
    """Format a Textual key name as printed on a keyboard: `ctrl+l` is `Ctrl-L`."""
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
    """Return the character for a key name such as `question_mark`; other names are unchanged."""
    for name in (key.replace("_", " "), key.replace("_", "-")) if len(key) > 1 else ():
        with suppress(KeyError):
            return unicodedata.lookup(name.upper())
    return key


def keys_of(action: Action, keymap: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of an action's keys, with the user's `[keys]`.

    `[keys]` has comma-separated key names, as in Textual.
    """
    own = keymap.get(action.id)
    if own is None:
        return action.keys
    return tuple(key.strip() for key in own.split(",") if key.strip())


def table(keymap: Mapping[str, str] | None = None) -> list[tuple[str, str, str, str]]:
    """Return every action as context, keys, id and sentence, in the registry's order."""
    rows = [
        (
            action.context,
            " ".join(spoken(key) for key in keys_of(action, keymap or {})) or "–",
            action.id,
            action.sentence,
        )
        for action in ACTIONS
    ]
    jump = ("fleet", "1 … 9", "", "Select the agent with that number.")
    last = max(index for index, row in enumerate(rows) if row[0] == "fleet")
    return [*rows[: last + 1], jump, *rows[last + 1 :]]
