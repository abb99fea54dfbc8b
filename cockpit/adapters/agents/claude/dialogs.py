"""Read an open permission dialog or question of Claude Code from a capture of its pane.

The layouts are those of CLI 2.1.330. A dialog takes the place of the prompt box, so the last line
of a dialog is the last line on the screen; only the CLI's task list can follow. The lines above the
dialog can be text that an agent wrote. So the screen is read from its end, and a screen with an
unexpected line is not treated as a dialog. The side panel of a wide terminal is removed first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cockpit.adapters.agents.claude.side_panel import without_side_panel
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.dialogs import FILE_TITLES, NO_PLAN, PLAN, REVIEW, Choice, Dialog
from cockpit.core.safetext import safe_line
from cockpit.ports.panes import Screen

FREE_TEXT = "Type something"
"""The beginning of the label of the choice that lets the user type an answer."""
CHAT = "Chat about this"
CHANGE_PLAN = "Tell Claude what to change"
WITH_FEEDBACK = "shift+tab to approve with this feedback"
TO_AMEND = "Tab to amend"
"""Part of a dialog's last line, shown while the choice at the cursor accepts text."""
_WIDEST = 400

_SGR = re.compile(r"\x1b\[[0-9;:]*m")
_RULE = re.compile(r"─{20,}\Z")
_INNER_RULE = re.compile(r"╌{20,}\Z")
_CHOICE = re.compile(r" {0,2}(❯| ) ([1-9])\. (\S.*)\Z")
_BOX = re.compile(r"\[([ ✔x])\] (\S.*)\Z")
_MORE_ABOVE = re.compile(r" ↑ \d+ more lines?\Z")
_TAB = re.compile(r"[☐☒✔] +([^☐☒✔←→]+?)(?=\s{2,}|\s*\Z)")
_WITHOUT_TEXT = re.compile(r"No(, .*\(esc\))?\Z")
_TASKS = re.compile(r"  \d+/\d+ tasks? done(?: · \d+ in progress)?\Z")
_TASK = re.compile(r"  (?:[✔◼◻] |… \+\d|  )")
_MOST_TASKS = 40
"""Maximum lines at the end of the screen that are searched for the CLI's task list."""


@dataclass(slots=True)
class _Item:
    number: int
    label: str
    note: str
    at_cursor: bool


def open_dialog(screen: Screen) -> Dialog | None:
    """Return the open dialog; None if there is none, or if cockpit does not recognise it."""
    shown = [safe_line(_SGR.sub("", line), _WIDEST).rstrip() for line in screen.lines]
    lines = _above_tasks(without_side_panel(shown))
    cut = any(_MORE_ABOVE.match(line) for line in lines[-4:])
    lines = [line for line in lines if not _MORE_ABOVE.match(line)]
    if not lines:
        return None
    last = lines[-1].strip()
    if last.startswith("Enter to select"):
        return _question(lines[:-1])
    if last.startswith("Esc to cancel"):
        return _permission(lines[:-1], cut=cut, amends=TO_AMEND in last)
    if last.endswith("2. Cancel"):
        return _review(lines)
    if (footer := _plan_footer(lines)) is not None:
        return _plan(lines[:footer], cut=cut)
    if (left := _no_plan(lines)) is not None:
        return left
    return _permission(lines, cut=cut, amends=False)


def _above_tasks(lines: list[str]) -> list[str]:
    """Return the lines above the CLI's task list, or all lines if no task list is at the end.

    The titles of the tasks are the agent's text, so only the form of the list's lines is checked. A
    screen without a dialog has the prompt box below the tasks.
    """
    end = _end_of_text(lines, len(lines))
    for at in range(end - 1, max(end - _MOST_TASKS, -1), -1):
        if _TASKS.match(lines[at]):
            return lines[: _end_of_text(lines, at)]
        if not _TASK.match(lines[at]):
            break
    return lines[:end]


def _choices_above(lines: Sequence[str], end: int) -> tuple[list[_Item], int] | None:
    """Return the numbered choices directly above line `end`, and the line index of choice 1.

    Return None if a number is missing, or if a line is neither a choice nor indented text. Indented
    lines belong to the choice above.
    """
    items: list[_Item] = []
    extra: list[str] = []
    for at in range(end - 1, max(end - 60, -1), -1):
        line = lines[at]
        match = _CHOICE.match(line)
        if match is None:
            if not line.startswith("     "):
                return None
            extra.insert(0, line.strip())
            continue
        number = int(match[2])
        if items and number != items[0].number - 1:
            return None
        items.insert(0, _Item(number, match[3], " ".join(extra), match[1] == "❯"))
        extra = []
        if number == 1:
            return items, at
    return None


def _highlighted(items: Sequence[_Item]) -> int | None:
    marked = [place for place, item in enumerate(items) if item.at_cursor]
    return marked[0] if len(marked) == 1 else None


def _end_of_text(lines: Sequence[str], end: int) -> int:
    while end > 0 and not lines[end - 1]:
        end -= 1
    return end


def _permission(lines: list[str], *, cut: bool, amends: bool) -> Dialog | None:
    menu = _choices_above(lines, _end_of_text(lines, len(lines)))
    if menu is None:
        return None
    items, at = menu
    highlighted = _highlighted(items)
    # A choice that continues on the next line is one label.
    labels = [" ".join(filter(None, (item.label, item.note))) for item in items]
    if highlighted is None or len(items) < 2:
        return None
    begin = at
    while begin > 0 and lines[begin - 1] and not _INNER_RULE.match(lines[begin - 1]):
        begin -= 1
    question = " ".join(line.strip() for line in lines[begin:at])
    if not question.endswith("?"):
        return None
    bottom = begin
    while bottom > 0 and not _INNER_RULE.match(lines[bottom - 1]):
        bottom -= 1
    if bottom == 0:
        return None
    notice = " ".join(line.strip() for line in lines[bottom:begin] if line)
    top = bottom - 1
    while top > 0 and not _INNER_RULE.match(lines[top - 1]):
        top -= 1
    body = lines[top : bottom - 1]
    head = _head(lines, top - 1) if top and not cut else None
    title, subject = head or ("", "")
    # While a text line is open, the first label is not "Yes", or the last is neither form of "No".
    typing = labels[0] != "Yes" or _WITHOUT_TEXT.match(labels[-1]) is None
    plain = labels[highlighted] in {"Yes", "No"}
    return Dialog(
        kind="permission",
        title=title,
        subject=subject,
        question=question,
        notice=notice,
        body=tuple(map(_body_line, body)),
        choices=tuple(
            Choice(label, text="may" if label in {"Yes", "No"} and (amends or not plain) else "no")
            for label in labels
        ),
        highlighted=highlighted,
        cut=head is None,
        typing=typing,
    )


def _head(lines: Sequence[str], end: int) -> tuple[str, str] | None:
    """Return a dialog's title and subject, from the lines between a horizontal rule and line `end`.

    None if the title is not on the screen. The subject is the path of a file; it is empty in
    dialogs about anything else.
    """
    for at in range(end - 1, max(end - 12, -1), -1):
        if _RULE.match(lines[at]):
            head = [line.strip() for line in lines[at + 1 : end] if line]
            if not head:
                return None
            # In dialogs that are not about a file, the last line is a tip, which can change.
            subject = head[-1] if head[0] in FILE_TITLES and len(head) > 1 else ""
            return head[0], subject
    return None


def _body_line(line: str) -> str:
    return line[3:] if line.startswith(" │ ") else line[2:] if line == " │" else line[1:]


def _question(lines: list[str]) -> Dialog | None:
    """Read a dialog with one question. Below the choices are a horizontal rule and the choice to
    talk about the question instead."""
    end = _end_of_text(lines, len(lines))
    chat = _CHOICE.match(lines[end - 1]) if end else None
    if chat is None or chat[3] != CHAT or end < 2 or not _RULE.match(lines[end - 2]):
        return None
    menu = _choices_above(lines, end - 2)
    if menu is None:
        return None
    items, at = menu
    if int(chat[2]) != len(items) + 1 or len(items) < 2:
        return None
    above = _end_of_text(lines, at)
    begin = above
    while begin > 0 and lines[begin - 1] and not _RULE.match(lines[begin - 1]):
        begin -= 1
    question = " ".join(line.strip() for line in lines[begin:above])
    tabs = _tabs(lines, begin)
    if not question or tabs is None or above == at:
        return None
    free = items[-1]
    choices = [_with_box(item) for item in items[:-1]]
    multiple = choices[0].checked is not None
    if any((choice.checked is not None) != multiple for choice in choices):
        return None
    own = _with_box(free)
    typing = free.at_cursor or not own.label.startswith(FREE_TEXT)
    own = Choice(own.label, checked=own.checked, text="no" if multiple else "must")
    last = _Item(int(chat[2]), chat[3], "", chat[1] == "❯")
    return Dialog(
        kind="question",
        title="Question",
        subject=" · ".join(tabs) if len(tabs) > 1 else "",
        question=question,
        choices=(*choices, own, Choice(CHAT)),
        highlighted=_highlighted([*items, last]),
        typing=typing,
    )


def _with_box(item: _Item) -> Choice:
    box = _BOX.match(item.label)
    if box is None:
        return Choice(item.label, item.note)
    return Choice(box[2], item.note, checked=box[1] != " ")


def _tabs(lines: Sequence[str], end: int) -> list[str] | None:
    """Return the names on the questions' tabs; None if the line of tabs is not on the screen."""
    at = _end_of_text(lines, end) - 1
    if at < 1 or not _RULE.match(lines[_end_of_text(lines, at) - 1]):
        return None
    names = _TAB.findall(lines[at])
    return [name for name in names if name != "Submit"] or None


def _review(lines: list[str]) -> Dialog | None:
    """Read the page that shows all answers before the user submits them."""
    menu = _choices_above(lines, len(lines))
    if menu is None or [item.label for item in menu[0]] != ["Submit answers", "Cancel"]:
        return None
    items, at = menu
    if REVIEW not in lines:
        return None
    begin = len(lines) - 1 - lines[::-1].index(REVIEW)
    tabs = _tabs(lines, begin)
    if tabs is None:
        return None
    return Dialog(
        kind="question",
        title=REVIEW,
        subject=" · ".join(tabs) if len(tabs) > 1 else "",
        question=f"{REVIEW}:",
        body=tuple(line[1:] for line in lines[begin + 1 : at] if line),
        choices=tuple(Choice(item.label) for item in items),
        highlighted=_highlighted(items),
    )


def _plan_footer(lines: Sequence[str]) -> int | None:
    """Return the index of the line with the key that edits the plan; None without such a line.

    The path of the plan's file is on the same line, or on the next lines if the path does not fit.
    """
    for at in range(len(lines) - 1, max(len(lines) - 4, -1), -1):
        line = lines[at].strip()
        if line.startswith("ctrl+g to edit"):
            return at
        if not line or " " in line:
            return None
    return None


def _no_plan(lines: Sequence[str]) -> Dialog | None:
    """Read the dialog of an agent that leaves plan mode without a plan. This dialog has no text
    line."""
    # This dialog and the plan dialog are indented by two more columns than other dialogs.
    inner = [line[2:] if line.startswith("  ") else line for line in lines]
    menu = _choices_above(inner, len(inner))
    if menu is None:
        return None
    items, at = menu
    asked = _end_of_text(inner, at) - 1
    title = _end_of_text(inner, asked) - 1
    if title < 1 or inner[title].strip() != NO_PLAN or not _RULE.match(inner[title - 1]):
        return None
    labels, highlighted = [item.label for item in items], _highlighted(items)
    if highlighted is None or len(items) < 2 or labels[-1] != "No":
        return None
    return Dialog(
        kind="permission",
        title=NO_PLAN,
        question=inner[asked].strip(),
        choices=tuple(map(Choice, labels)),
        highlighted=highlighted,
    )


def _plan(lines: list[str], *, cut: bool) -> Dialog | None:
    """Read the dialog that asks whether to carry out a plan. The last choice is a text line."""
    end = _end_of_text(lines, len(lines))
    if end < 2 or lines[end - 1].strip() != WITH_FEEDBACK:
        return None
    # This dialog is indented by two more columns than other dialogs.
    inner = [line[2:] if line.startswith("  ") else line for line in lines[:end]]
    menu = _choices_above(inner, end)
    if menu is None:
        return None
    items, at = menu
    highlighted, labels = _highlighted(items), [item.label for item in items]
    question = inner[_end_of_text(inner, at) - 1].strip()
    if highlighted is None or len(items) < 2 or not question.startswith("Claude has written up"):
        return None
    return Dialog(
        kind="permission",
        title=PLAN,
        question=question,
        choices=(*map(Choice, labels[:-1]), Choice(labels[-1], text="must")),
        highlighted=highlighted,
        cut=cut,
        typing=highlighted == len(items) - 1 or labels[-1] != CHANGE_PLAN,
    )
