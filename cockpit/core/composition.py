"""Build a handoff document from the writer's sections and cockpit's own.

The original request comes first, word for word, and is cut only if it is too long. cockpit always
writes `Verified Facts`. Secrets are removed from each piece before the pieces are joined, so that
no piece can change the structure of the document.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from cockpit.core import front_matter
from cockpit.core.chain_memory import DECISIONS, Statement, with_dropped
from cockpit.core.claimed_files import claimed_files, mark_files
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.document import (
    CONSTRAINTS,
    LARGEST,
    NOTHING,
    OTHER_NOTES,
    OURS,
    PROGRESS,
    SECTIONS,
    TITLE,
    Document,
    is_runnable,
    read,
    says_nothing,
)
from cockpit.core.fact_lines import constraints
from cockpit.core.facts import CommitMade, Facts
from cockpit.core.facts_draft import NONE_KNOWN, draft_from_facts, look_around, steps
from cockpit.core.front_matter import FrontMatter
from cockpit.core.markdown import code, contained, fenced, heading, marked_lines, one_line, plain
from cockpit.core.redaction import Redactor, count_redacted
from cockpit.core.verified_facts import (
    GitView,
    background_work,
    claimed_commits,
    is_background_line,
    mark_claims,
    verified_facts,
)

__all__ = ["DocumentInput", "Links", "compose", "draft_from_facts", "files_claimed"]

ROOM_FOR_SECTIONS = LARGEST * 5 // 8
"""Maximum bytes of the writer's sections together. The rest of the document is for the request and
for cockpit's own text."""
READ_ALL = "Read this document to its end before anything else."
KNOWN_TO_US = "### Known to cockpit"
"""The heading above cockpit's lines in Background Work. Renewing the facts replaces these lines."""
FROM_BEFORE = "### From the Previous Session"
NONE_STATED = "None stated."
HOW_TO_REVOKE = (
    "Decisions and constraints hold for all sessions of the job. Repeat them in your own handoff "
    "document; to revoke one, write a line that begins with `Revoked:` and repeats it."
)
_NOT_CLEANED = frozenset(
    {"hash", "id", "log", "status", "type"}
    | {
        "answers",
        "away_summary",
        "earlier_prompts",
        "failures",
        "goal",
        "last_reply",
        "longer_reply",
        "plan",
        "prompts",
        "summary",
    }
)
"""Fields that `_Cleaner.facts` skips: fields without text from the user or a tool, and fields whose
text `compose` cleans as a part of the draft or of the request."""


@dataclass(frozen=True, slots=True)
class Links:
    """Absolute paths of files that the successor may want to open; None if there is no file."""

    transcript: str | None = None
    """The transcript of the session that is handed off."""
    copy: str | None = None
    """cockpit's own copy of the document."""
    before_compaction: str | None = None
    """The file with the facts that were saved right before the session's last compaction."""


@dataclass(frozen=True, slots=True)
class DocumentInput:
    """The draft, the facts and the other values from which `compose` builds a document."""

    draft: str
    """The writer's text. Its front matter and `Verified Facts` are discarded; its `Goal` is used
    only if the goal is not known otherwise. To renew the facts of a whole document, pass that
    document; `compose` keeps the text of writer and user."""
    front: FrontMatter
    facts: Facts
    git: GitView
    goal: str | None
    """The user's prompt for the job. If it is None, `Facts.goal` is used; if that is None
    too, the goal in the draft."""
    redactor: Redactor | None = None
    links: Links | None = None
    other_cli: str = ""
    """Text that tells the successor about a change of CLI, from `tool_names.change_of_cli`; empty
    if the CLI stays the same."""
    missing: Sequence[Statement] = ()
    """The chain's decisions and constraints that the draft leaves out; `compose` adds them."""


def compose(source: DocumentInput) -> str:
    """Build the whole document. Never fails.

    The result passes `validate(complete=True)` if the draft passes `validate`, apart from problems
    that `compose` corrects (`Problem.mends`).
    """
    facts, git = source.facts, source.git
    cleaner = _Cleaner(source.redactor)
    front = replace(
        source.front,
        branch=cleaner.clean_optional(source.front.branch),
        worktree=cleaner.clean_optional(source.front.worktree),
    )
    document = read(cleaner.clean(source.draft))
    written = _writers_sections(document)
    ids = _task_ids(facts)
    claims = [claim for claim in _claims(source.draft, written) if claim not in ids]
    body_of = _cut(
        {
            title: mark_files(title, mark_claims(contained(body), git, claims), git.looked_for)
            for title, body in written
        }
    )
    known, view = cleaner.facts(facts), cleaner.git(git)
    sections = {title: body_of.get(title) or NOTHING for title in SECTIONS}
    sections |= {
        "Goal": "",
        CONSTRAINTS: _joined(body_of.get(CONSTRAINTS, ""), constraints(known)),
        "Progress": _progress(body_of.get("Progress", "")),
        "Next Steps": _next_steps(body_of.get("Next Steps", ""), known, view),
        "Background Work": _background(body_of.get("Background Work", ""), known),
        "Verified Facts": verified_facts(known, view, front, claims),
        "Links": _joined(body_of.get("Links", ""), _links(front, source.links)),
        "Instructions for the Successor": _instructions(
            view, body_of.get("Instructions for the Successor", ""), source.other_cli
        ),
    }
    for title, statements in _by_section(source.missing):
        kept = [replace(statement, text=cleaner.clean(statement.text)) for statement in statements]
        sections[title] = with_dropped(sections[title], kept)
    request = next(
        (text for text in (source.goal, facts.goal, document.goal) if text is not None), ""
    )
    return _assembled(front, cleaner.clean(request), sections, body_of.get(OTHER_NOTES))


class _Cleaner:
    """Removes control bytes and secrets from each piece of a document."""

    def __init__(self, redactor: Redactor | None) -> None:
        self.redactor = redactor

    def clean(self, text: str) -> str:
        text = plain(text)
        return text if self.redactor is None else self.redactor.redact(text).text

    def clean_optional(self, text: str | None) -> str | None:
        return None if text is None else self.clean(text)

    def facts(self, facts: Facts) -> Facts:
        """Return the facts with each text cleaned, except the fields in `_NOT_CLEANED`."""
        cleaned: Facts = self._cleaned(facts)
        return cleaned

    def _cleaned(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.clean(value)
        if isinstance(value, tuple):
            return tuple(map(self._cleaned, value))
        if is_dataclass(value) and not isinstance(value, type):
            changed = {
                field.name: self._cleaned(getattr(value, field.name))
                for field in fields(value)
                if field.name not in _NOT_CLEANED
            }
            return replace(value, **changed)
        return value

    def git(self, git: GitView) -> GitView:
        return replace(
            git,
            branch=self.clean_optional(git.branch),
            status=tuple(map(self.clean, git.status)),
            committed=tuple(map(self.clean, git.committed)),
            commits=self._commits(git.commits),
        )

    def _commits(self, commits: tuple[CommitMade, ...]) -> tuple[CommitMade, ...]:
        return tuple(replace(made, subject=self.clean(made.subject)) for made in commits)


def _by_section(missing: Sequence[Statement]) -> list[tuple[str, list[Statement]]]:
    """Return the statements by section; those of a section not in `SECTIONS` under `DECISIONS`."""
    by_section: dict[str, list[Statement]] = {}
    for statement in missing:
        title = statement.section if statement.section in SECTIONS else DECISIONS
        by_section.setdefault(title, []).append(statement)
    return list(by_section.items())


def _writers_sections(document: Document) -> list[tuple[str, str]]:
    """Return title and body of the writer's sections; all other text is under `OTHER_NOTES`."""
    kept = [(title, body) for title, body in document.sections.items() if title not in OURS]
    notes = [document.opening] if document.opening.strip() else []
    notes += [
        body if title == OTHER_NOTES else f"### {one_line(title)}\n\n{body}"
        for title, body in document.others.items()
    ]
    if notes:
        kept.append((OTHER_NOTES, "\n\n".join(map(contained, notes))))
    return kept


def files_claimed(draft: str) -> list[str]:
    """Return the files that a draft claims were worked on; the caller checks each file."""
    return claimed_files(_writers_sections(read(plain(draft))))


def _claims(draft: str, written: list[tuple[str, str]]) -> list[str]:
    asked = set(claimed_commits(draft))
    own = claimed_commits("\n".join(body for _, body in written))
    return [claim for claim in own if claim in asked]


def _cut(bodies: dict[str, str]) -> dict[str, str]:
    if sum(_size(body) for body in bodies.values()) <= ROOM_FOR_SECTIONS:
        return bodies
    share = ROOM_FOR_SECTIONS // len(bodies)
    return {title: _cut_body(body, share) for title, body in bodies.items()}


def _cut_body(body: str, limit: int) -> str:
    if _size(body) <= limit:
        return body
    return contained(_first_bytes(body, limit - 100)) + "\n\n(Cut here: the section was too long.)"


def _assembled(
    front: FrontMatter, request: str, sections: dict[str, str], others: str | None
) -> str:
    parts = [f"## {title}\n\n{body}" for title, body in sections.items()]
    if others:
        parts.insert(SECTIONS.index("Verified Facts"), f"## {OTHER_NOTES}\n\n{others}")
    rest = "\n\n".join(parts[1:]) + "\n"
    room = LARGEST - _size(front_matter.dump(front)) - _size(rest) - 300
    body = f"\n# {TITLE}\n\n## Goal\n\n{_goal(request, room)}\n\n{rest}"
    return front_matter.dump(replace(front, redactions=count_redacted(body))) + body


def _goal(request: str, room: int) -> str:
    if not request.strip():
        return NONE_KNOWN
    kept = _first_bytes(request, max(room - 2 * _longest_run(request), 0))
    note = "The original request, word for word:"
    if len(kept) < len(request):
        note = f"The first {len(kept):,} of the {len(request):,} characters of the request:"
    return f"{note}\n\n{fenced(kept)}"


def _longest_run(text: str) -> int:
    longest = run = 0
    for char in text:
        run = run + 1 if char == "`" else 0
        longest = max(longest, run)
    return longest


def _progress(body: str) -> str:
    """Return the body with all parts of `PROGRESS`; a missing part contains `None stated.`"""
    present = {
        parsed[1].strip(" *:").casefold()
        for line, is_code in marked_lines(body)
        if not is_code and (parsed := heading(line)) is not None
    }
    missing = [
        f"### {part}\n\n{NONE_STATED}" for part in PROGRESS if part.casefold() not in present
    ]
    own = [] if says_nothing(body) else [body]
    return "\n\n".join(own + missing)


def _next_steps(body: str, facts: Facts, git: GitView) -> str:
    """Return the writer's steps, or steps from the facts if the writer has none.

    If the writer's first step has no command, puts a step with a command before it.
    """
    if says_nothing(body):
        return steps(facts, git)
    step = Document({"Next Steps": body}).first_step
    if step is not None and is_runnable(step):
        return body
    return f"1. Check the current state first: {look_around(git)}\n\n### Then\n\n{body}"


def _joined(body: str, ours: str) -> str:
    """Return the writer's text, followed by cockpit's lines that the text does not contain.

    `NOTHING` if neither has text.
    """
    own = "" if says_nothing(body) else body
    present = set(own.split("\n"))
    added = "\n".join(line for line in ours.split("\n") if line not in present)
    return "\n\n".join(part for part in (own, added) if part) or NOTHING


def _background(body: str, facts: Facts) -> str:
    """Return the writer's section, then cockpit's lines, which replace cockpit's earlier ones."""
    own, heading_, before = body.partition(KNOWN_TO_US)
    if heading_:
        kept = [line for line in before.split("\n") if not is_background_line(line, facts)]
        own = "\n\n".join(part for text in (own, "\n".join(kept)) if (part := text.strip("\n")))
    own = "" if says_nothing(own) else own
    ours = background_work(facts)
    added = f"{KNOWN_TO_US}\n\n{ours}" if ours else ""
    return "\n\n".join(part for part in (own, added) if part) or NOTHING


def _task_ids(facts: Facts) -> frozenset[str]:
    """Return the ids of subagents and background tasks, which can look like a commit's hash."""
    ids = [agent.id for agent in facts.subagents] + [task.id for task in facts.background]
    return frozenset(ids)


def _links(front: FrontMatter, links: Links | None) -> str:
    known = {
        "previous document": front.previous_document,
        "transcript of the previous session": links.transcript if links else None,
        "copy of this document": links.copy if links else None,
        "facts from before the last compaction": links.before_compaction if links else None,
    }
    return "\n".join(f"- {name}: {code(path, 4096)}" for name, path in known.items() if path)


def _instructions(git: GitView, own: str, other_cli: str) -> str:
    actions = [*_first_actions(git), *([other_cli] if other_cli else [])]
    numbered = "\n".join(f"{number}. {text}" for number, text in enumerate(actions, 1))
    if own.startswith(f"1. {READ_ALL}"):
        own = own.partition(FROM_BEFORE)[2].strip("\n")
    return numbered if says_nothing(own) else f"{numbered}\n\n{FROM_BEFORE}\n\n{own}"


def _first_actions(git: GitView) -> tuple[str, ...]:
    return (
        READ_ALL,
        *_place(git),
        "cockpit verified the section Verified Facts. Everything else except the Goal comes from "
        "the previous session and can be wrong.",
        "Read Background Work before you start a subagent or a background task again.",
        "Do not repeat finished work, or anything that did not work.",
        HOW_TO_REVOKE,
        "Continue with the first of the Next Steps.",
    )


def _place(git: GitView) -> tuple[str, str]:
    """Return two instructions: how to check the document, and where to work."""
    if not git.may_be_repository:
        return (
            "Check the document against the files: there is no git repository here.",
            "Stay in this directory.",
        )
    check = (
        "Check the document against `git log -20 --oneline`, `git status` and `git diff`. "
        "Where they differ, git is right."
    )
    if not git.is_repository:
        check += " cockpit could not ask git; without a repository, check against the files."
    branch = f" ({code(git.branch, 250)})" if git.branch else ""
    return check, f"Stay in this directory and on this branch{branch}; do not create another one."


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _first_bytes(text: str, limit: int) -> str:
    return text.encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")
