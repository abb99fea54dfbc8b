"""Actions of the screen of one agent."""

from __future__ import annotations

from cockpit.tui.keys import reasons
from cockpit.tui.keys.action import Action, help_action

AGENT: tuple[Action, ...] = (
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
        "agent.edit", "edit", "Edit this file of the diff in your editor.",
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
    help_action("agent"),
    Action(
        "agent.back", "back", "Back to the agents.",
        ("q", "escape", "left", "h"), "agent", shown=True,
    ),
)  # fmt: skip
