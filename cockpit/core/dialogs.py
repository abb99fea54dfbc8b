"""An open dialog of a CLI, and the check that pane and hook show the same request.

A pane shows the choices, but may cut off a long command. A hook reports the whole command, but not
the choices. A dialog can be answered only if pane and hook describe the same request.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from cockpit.core.cli_events import DialogOpened
from cockpit.core.deferred_dataclass import dataclass

LONGEST_BODY = 60_000
"""A request with this many characters or more cannot be answered: cockpit cannot show all of it."""
LONGEST_TEXT = 600
"""Maximum characters of the user's text for a choice. The pane must show the whole text."""
REVIEW = "Review your answers"
"""Title of the page that shows the answers to several questions before the answers are
submitted."""
PLAN = "Ready to code?"
NO_PLAN = "Exit plan mode?"
"""Title of the dialog with which an agent leaves plan mode without a plan."""
FILE_TITLES = frozenset({"Edit file", "Create file", "Overwrite file"})
FILE_TOOLS = frozenset({"Edit", "Write"})
QUESTIONS = "AskUserQuestion"
_REMOVED = re.compile(r"\[REDACTED:[a-z0-9-]{2,24}:([0-9a-f]{4})\]")
"""Matches the replacement of a secret in a hook's report; the pane still shows the secret. The
group is the beginning of the secret's SHA-256 (`core.redaction`)."""
_LONGEST_SECRET = 4096
"""Maximum characters that are compared with the hash of a removed secret."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice of a dialog, as the pane shows it."""

    label: str
    note: str = ""
    """The explanation below the label; empty without one."""
    checked: bool | None = None
    """Whether the choice's box is checked; None for a choice without a box."""
    text: Literal["no", "may", "must"] = "no"
    """Whether the user can, or must, add text to this choice."""


@dataclass(frozen=True, slots=True)
class Dialog:
    """A dialog in one capture of the pane. Its texts are safe to draw."""

    kind: Literal["permission", "question"]
    title: str
    """The CLI's title, such as `Bash command`; empty if the pane shows only the dialog's end."""
    question: str
    choices: tuple[Choice, ...]
    """The choices, in the CLI's order."""
    subject: str = ""
    """The path of the dialog's file, or the names of the dialog's questions; empty without a file,
    and for a single question."""
    notice: str = ""
    """The CLI's reason for asking; empty without one."""
    body: tuple[str, ...] = ()
    """The command, diff or answers, in the pane's lines."""
    highlighted: int | None = None
    """Index of the choice that Enter would choose; None if no choice is highlighted."""
    cut: bool = False
    """Whether the pane does not show the beginning of the dialog."""
    typing: bool = False
    """Whether the CLI treats keys as text for a choice."""
    tool: str = ""
    """The tool that the dialog is about, as the hook reported it; `QUESTIONS` if the hook named no
    tool; empty in a dialog without data from the hook."""

    @property
    def multiple(self) -> bool:
        """Whether several choices can be checked."""
        return any(choice.checked is not None for choice in self.choices)


@dataclass(frozen=True, slots=True)
class OpenDialog:
    """A dialog that can be answered, with its identity."""

    dialog: Dialog
    seen: Dialog
    """The dialog from the pane, without data from the hook."""
    identity: str
    """The dialog's id. A dialog that opens again with the same text has another id."""
    text: str
    """The whole request: a command, the change of a file, a plan or the questions. May have several
    lines."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The user's answer to a dialog."""

    choices: tuple[int, ...]
    """Indexes of the choices: one, or any number of choices with boxes."""
    text: str = ""
    """The user's text for a choice."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of entering an answer in the pane: a key to press, or text to paste."""

    key: str = ""
    paste: str = ""
    last: bool = False
    """Whether this key submits the answer. The keys before this one can be undone."""


@dataclass(frozen=True, slots=True)
class Stuck:
    """The reason why cockpit cannot give the answer in the pane."""

    why: str


NO_STEP = Stuck("cockpit does not recognise the dialogs of this CLI")


def is_same_page(before: Dialog, now: Dialog, place: int | None) -> bool:
    """Return whether a dialog still asks the same question while an answer is being entered.

    The label of the choice at `place` can change, because the CLI shows the entered text there.
    """

    def fixed(dialog: Dialog) -> tuple[object, ...]:
        labels = (c.label for n, c in enumerate(dialog.choices) if n != place)
        return dialog.kind, dialog.title, dialog.subject, dialog.question, dialog.body, *labels

    return len(before.choices) == len(now.choices) and fixed(before) == fixed(now)


def agreed(seen: Dialog, asked: DialogOpened, asked_at: float) -> OpenDialog | str:
    """Combine the dialog in the pane with the hook's report, or return why cockpit refuses.

    cockpit refuses if no hook reported the request, if the pane and the hook do not describe the
    same request, if the request is too long, and if text is being typed. `asked_at`: when the hook
    reported the dialog, 0 if no hook did.
    """
    no_plan = asked.tool == "ExitPlanMode" and seen.title == NO_PLAN
    if not asked_at or not (asked.body or no_plan):
        return "no hook reported this dialog's request, so cockpit cannot check the dialog"
    if len(asked.body) >= LONGEST_BODY:
        return f"the request is longer than {LONGEST_BODY:,} characters"
    if not _same_request(seen, asked):
        return "the pane and the hook show different requests"
    if seen.typing:
        return "text is being typed in the pane"
    tool = asked.tool or QUESTIONS
    dialog = replace(seen, tool=tool, title=seen.title or tool)
    files = tool in FILE_TOOLS and not seen.cut  # the pane has the lines around a change
    text = "\n".join(seen.body) if files else asked.body or seen.question
    return OpenDialog(dialog, seen, _identity(dialog, asked, asked_at), text)


def _same_request(seen: Dialog, asked: DialogOpened) -> bool:
    if seen.kind == "question" or asked.kind == "question":
        if asked.kind != seen.kind:
            return False
        shown = _asked_again(seen) if seen.title == REVIEW else [seen.question]
        whole = _without_spaces(asked.body)
        return bool(shown) and all(_without_spaces(line) in whole for line in shown)
    if asked.tool == "Bash":
        return seen.title in {"", "Bash command"} and covers(asked.body, seen.body, cut=seen.cut)
    if asked.tool in FILE_TOOLS:
        name = asked.command.rsplit("/", 1)[-1]
        titled = seen.title in {"", *FILE_TITLES}
        return titled and bool(name) and _without_spaces(name) in _without_spaces(seen.question)
    if asked.tool == "WebFetch":
        address = _without_spaces(asked.command)
        fetched = _without_spaces("".join(seen.body)).startswith(f"url:{address}")
        return seen.title == "Fetch" and bool(address) and fetched
    return asked.tool == "ExitPlanMode" and seen.title == (PLAN if asked.body else NO_PLAN)


def _asked_again(review: Dialog) -> list[str]:
    """Return the questions on the page that shows all answers."""
    return [line.strip()[2:] for line in review.body if line.strip().startswith("● ")]


def covers(whole: str, shown: Sequence[str], *, cut: bool = False) -> bool:
    """Return whether the pane's lines are the text `whole`, wrapped anywhere. Ignores spaces.

    With `cut`, the lines are the end of the text. A removed secret in `whole` matches only a text
    with the secret's hash, so a secret with spaces, or one of which the pane shows only a part,
    matches nothing. A text that is only secrets matches nothing either.
    """
    pane = _without_spaces("".join(shown))
    parts = _REMOVED.split(whole)  # alternates between texts and hashes of removed secrets
    pieces, digests = [_without_spaces(piece) for piece in parts[::2]], parts[1::2]
    if not pane or not any(pieces):
        return False
    ends = {len(pane)}  # where the current piece can end in the pane
    for at in range(len(pieces) - 1, 0, -1):
        piece, before = pieces[at], pieces[at - 1]
        if cut and any(piece.endswith(pane[:end]) for end in ends):
            return True
        ends = {
            begin
            for end in ends
            if pane.endswith(piece, 0, end)
            for begin in _secret_begins(pane, end - len(piece), before, digests[at - 1], cut=cut)
        }
    return any(pane[:end] == pieces[0] or (cut and pieces[0].endswith(pane[:end])) for end in ends)


def _secret_begins(pane: str, end: int, before: str, digest: str, *, cut: bool) -> Iterator[int]:
    """Yield each position where the secret with the hash `digest`, which ends at `end`, can begin.

    The text `before` must precede the secret. With `cut`, the pane may begin with only the last
    part of `before`.
    """
    for begin in range(max(0, end - _LONGEST_SECRET), end):
        follows = pane.endswith(before, 0, begin) or (cut and before.endswith(pane[:begin]))
        if follows and _digest(pane[begin:end]).startswith(digest):
            yield begin


def _identity(dialog: Dialog, asked: DialogOpened, asked_at: float) -> str:
    parts = (
        f"{asked_at!r}", dialog.kind, asked.tool, asked.command, asked.body, dialog.subject,
        dialog.question, *(choice.label for choice in dialog.choices),
    )  # fmt: skip
    if dialog.title == REVIEW:
        parts += dialog.body
    return _digest("\0".join(parts))[:16]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def one_text_line(text: str) -> str:
    """Return the text for a choice in one line, because a line break could submit the text."""
    return " ".join(text.split())


def _without_spaces(text: str) -> str:
    return "".join(text.split())
