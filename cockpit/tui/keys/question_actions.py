"""Actions of the screens that answer a question: review, permission dialog, inbox."""

from __future__ import annotations

from cockpit.tui.keys import reasons
from cockpit.tui.keys.action import Action, help_action, scroll_actions

QUESTIONS: tuple[Action, ...] = (
    Action(
        "review.approve", "approve", "Approve.",
        ("a",), "review", reasons.cannot_answer, shown=True, is_destructive=True,
    ),
    Action(
        "review.approve-straight", "approve without review", "Approve and skip the review.",
        ("A",), "review", reasons.cannot_approve_straight, shown=True, is_destructive=True,
    ),
    Action(
        "review.edit", "edit", "Edit the document in your editor.",
        ("e",), "review", reasons.cannot_edit, shown=True, is_destructive=True,
    ),
    Action(
        "review.refuse", "refuse", "Refuse; keep this session.",
        ("r",), "review", reasons.cannot_answer, shown=True, is_destructive=True,
    ),
    Action(
        "review.snooze", "snooze", "Ask again in 10 minutes; if snoozed, ask now.",
        ("z",), "review", reasons.cannot_answer, shown=True, also="wake", is_destructive=True,
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
    *scroll_actions("review"),
    Action(
        "review.missing", "missing", "Show or hide what the document leaves out.",
        ("m",), "review",
    ),
    help_action("review"),
    Action(
        "review.back", "back", "Decide later.",
        ("q", "escape", "d", "left", "h"), "review", shown=True,
    ),
    Action(
        "permission.answer", "answer", "Answer with the selected choice, or the checked boxes.",
        ("enter",), "permission", reasons.needs_supervisor, shown=True, is_destructive=True,
    ),
    Action(
        "permission.text", "text", "Answer with the selected choice and your own text.",
        ("t",), "permission", reasons.needs_supervisor, shown=True, is_destructive=True,
    ),
    Action(
        "permission.check", "check", "Check or clear the selected box.",
        ("space",), "permission", shown=True,
    ),
    Action(
        "permission.next", "next", "Show the next agent waiting for an answer.",
        ("n",), "permission", reasons.no_other_dialog, shown=True,
    ),
    Action(
        "permission.previous", "previous", "Show the previous agent waiting for an answer.",
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
    help_action("permission"),
    Action(
        "permission.back", "back", "Decide later.",
        ("q", "escape", "left", "h"), "permission", shown=True,
    ),
    Action(
        "inbox.answer", "answer", "Approve, or answer a permission dialog or question.",
        ("a",), "inbox", shown=True, is_destructive=True,
    ),
    Action(
        "inbox.refuse", "refuse", "Refuse; keep this session.",
        ("r",), "inbox", shown=True, is_destructive=True,
    ),
    Action(
        "inbox.snooze", "snooze", "Ask again in 10 minutes; if snoozed, ask now.",
        ("z",), "inbox", shown=True, also="wake", is_destructive=True,
    ),
    Action(
        "inbox.open", "open", "Open the document or the agent's pane to answer.",
        ("enter", "d"), "inbox", shown=True, is_destructive=True,
    ),
    Action("inbox.down", "down", "Select the next item.", ("j", "down", "tab"), "inbox"),
    Action("inbox.up", "up", "Select the previous item.", ("k", "up"), "inbox"),
    Action("inbox.first", "first", "Select the first item.", ("g", "home"), "inbox"),
    Action("inbox.last", "last", "Select the last item.", ("G", "end"), "inbox"),
    help_action("inbox"),
    Action(
        "inbox.back", "back", "Back to the agents.",
        ("q", "escape", "i", "left", "h"), "inbox", shown=True,
    ),
)  # fmt: skip
