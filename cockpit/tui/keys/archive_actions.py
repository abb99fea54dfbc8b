"""Actions of the screens for history, documents, worktrees, and sessions outside cockpit."""

from __future__ import annotations

from cockpit.tui.keys import reasons
from cockpit.tui.keys.action import Action, help_action, scroll_actions

ARCHIVE: tuple[Action, ...] = (
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
        "history.mark", "mark", "Mark the document for comparison; two at most.",
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
    help_action("history"),
    Action(
        "history.back", "back", "Clear the search, then go back to the agents.",
        ("q", "escape", "H", "left", "h"), "history", shown=True,
    ),
    *scroll_actions("reading"),
    Action(
        "reading.continue", "continue", "Start a new agent from the document.",
        ("n",), "reading", reasons.needs_any_supervisor, shown=True,
    ),
    help_action("reading"),
    Action(
        "reading.back", "back", "Back to the history.",
        ("q", "escape", "left", "h"), "reading", shown=True,
    ),
    *scroll_actions("comparing"),
    help_action("comparing"),
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
        "Save all work of the worktree in git, then remove the worktree. Asks to confirm.",
        ("X",), "worktrees", reasons.needs_any_supervisor, shown=True,
    ),
    Action(
        "worktrees.again", "reload", "Reload the list.",
        ("r", "ctrl+r"), "worktrees", reasons.needs_any_supervisor, shown=True,
    ),
    help_action("worktrees"),
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
        "elsewhere.watch", "watch",
        "Notify you when the session's context fills up; press again to stop.",
        ("w",), "elsewhere", reasons.needs_any_supervisor, shown=True,
    ),
    Action(
        "elsewhere.document", "document",
        "Let a copy of the session write its handoff document. Asks to confirm.",
        ("d",), "elsewhere", reasons.needs_any_supervisor, shown=True,
    ),
    help_action("elsewhere"),
    Action(
        "elsewhere.back", "back", "Back to the agents.",
        ("q", "escape", "E", "left", "h"), "elsewhere", shown=True,
    ),
)  # fmt: skip
