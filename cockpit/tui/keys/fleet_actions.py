"""Actions of the list of agents."""

from __future__ import annotations

from cockpit.tui.keys import reasons
from cockpit.tui.keys.action import Action

FLEET: tuple[Action, ...] = (
    Action(
        "approve", "approve", "Approve, or answer a permission dialog or question.",
        ("a",), check=reasons.cannot_approve, shown=True, is_destructive=True,
    ),
    Action(
        "approve-straight", "approve without review", "Approve and skip the review.",
        ("A",), check=reasons.cannot_approve_straight, shown=True, is_destructive=True,
    ),
    Action(
        "refuse", "refuse", "Refuse; keep this session.",
        ("r",), check=reasons.cannot_answer, shown=True, is_destructive=True,
    ),
    Action(
        "snooze", "snooze", "Ask again in 10 minutes; if snoozed, ask now.",
        ("z",), check=reasons.cannot_answer, shown=True, also="wake", is_destructive=True,
    ),
    Action(
        "snooze-more", "snooze more", "Ask again when 10% more of the context is used.",
        ("Z",), check=reasons.cannot_answer, is_destructive=True,
    ),
    Action(
        "let-compact", "let compact", "Refuse; ask again only after a compaction.",
        ("c",), check=reasons.cannot_answer, is_destructive=True,
    ),
    Action(
        "document", "document", "Read the handoff document, or its draft.",
        ("d",), check=reasons.cannot_read, shown=True,
    ),
    Action(
        "attach", "attach", "Go to the agent's pane.",
        ("enter",), check=reasons.needs_running, shown=True, is_destructive=True,
    ),
    Action(
        "handoff", "hand off", "Hand off to a new session. Asks to confirm.",
        ("f",), check=reasons.cannot_hand_off, shown=True, is_destructive=True,
    ),
    Action(
        "handoff-to", "hand off to", "Hand off to another CLI.",
        ("t",), check=reasons.cannot_choose_cli,
    ),
    Action(
        "send", "send", "Send a prompt to the agent.",
        ("s",), check=reasons.cannot_talk, shown=True,
    ),
    Action(
        "start", "start", "Start a stopped agent, or a new one.",
        ("n",), check=reasons.needs_any_supervisor, shown=True,
    ),
    Action(
        "resume", "reopen all", "Reopen every agent that a reboot or a tmux exit interrupted.",
        ("R",), check=reasons.cannot_resume, shown=True, is_destructive=True,
    ),
    Action(
        "stop", "stop", "Stop the agent; keep its worktree. Asks to confirm.",
        ("x",), check=reasons.cannot_stop,
    ),
    Action(
        "mark", "mark", "Mark agents; approve, send, stop and forget act on all marked agents.",
        ("space",), check=reasons.needs_agent, is_destructive=True,
    ),
    Action(
        "forget", "forget", "Remove an ended agent from the list; keep its history. Asks first.",
        ("delete",), check=reasons.cannot_put_away, shown=True, is_destructive=True,
    ),
    Action(
        "rename", "rename", "Rename an ended agent; keep its history.",
        ("f2",), check=reasons.cannot_put_away,
    ),
    Action(
        "duplicate", "duplicate", "Start a new agent with this agent's settings.",
        ("N",), check=reasons.cannot_duplicate,
    ),
    Action(
        "done", "done", "Mark the agent's job as done. Asks to confirm.",
        ("D",), check=reasons.cannot_be_done,
    ),
    Action(
        "undo", "undo", "Go back to the previous session. Asks to confirm.",
        ("u",), check=reasons.cannot_undo,
    ),
    Action(
        "open", "open", "Show one agent: pane, context over time, chain, facts, diff, events.",
        ("o", "l", "right"), check=reasons.needs_agent, shown=True,
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
        ("tab",), check=reasons.no_agent_needs_you,
    ),
    Action("pane-up", "pane up", "Scroll the pane up.", ("pageup", "ctrl+u")),
    Action("pane-down", "pane down", "Scroll the pane down.", ("pagedown", "ctrl+d")),
    Action("inbox", "inbox", "Show everything that needs you.", ("i",)),
    Action(
        "history", "history", "Show all handoffs and their documents.", ("H",), also="search find"
    ),
    Action(
        "worktrees", "worktrees", "Worktrees, and what blocks removing each.",
        ("W",), check=reasons.needs_any_supervisor,
    ),
    Action(
        "elsewhere", "elsewhere", "Sessions that cockpit did not start; adopt one.",
        ("E",), check=reasons.needs_any_supervisor,
    ),
    Action("filter", "filter", "Filter agents.", ("slash",), also="search find"),
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
)  # fmt: skip
