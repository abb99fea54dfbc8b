"""Putting a handoff document together: the writer's sections, and around them cockpit's own.

The original request stands first, word for word; `Verified Facts` is always ours, whatever the
writer put there. Secrets are taken out of every piece before the pieces are joined, so that
nothing a piece holds can change the shape of the whole.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from cockpit.core import front_matter
from cockpit.core.claimed_files import claimed_files, mark_files
from cockpit.core.document import (
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
from cockpit.core.facts import BackgroundTask, CommitMade, Facts
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

__all__ = ["Links", "compose", "draft_from_facts", "files_claimed"]

ROOM_FOR_SECTIONS = LARGEST * 5 // 8
"""Bytes that the writer's sections may have together; the request gets what they leave."""
READ_ALL = "Read this document to its end before anything else."
KNOWN_TO_US = "### Known to cockpit"
"""Over our own lines of Background Work, so that a renewal replaces them."""
FROM_BEFORE = "### From the Previous Session"
NONE_STATED = "None stated."


@dataclass(frozen=True, slots=True)
class Links:
    """What else the successor may want to open; absolute paths."""

    transcript: str | None = None
    """The record of the session that leaves the document."""
    copy: str | None = None
    """Where cockpit keeps its own copy of the document."""
    before_compaction: str | None = None
    """Facts that were kept right before the session was last compacted."""


def compose(
    draft: str,
    front: FrontMatter,
    facts: Facts,
    git: GitView,
    goal: str | None,
    *,
    redactor: Redactor | None = None,
    links: Links | None = None,
) -> str:
    """The whole document from what a writer drafted and what is known. Total.

    `goal` is the user's prompt for the job; without one it is the first prompt of the record
    (which for a successor would be our own continuation), and last what the draft says. Front
    matter of the draft's own is dropped, and so are its `Goal` and `Verified Facts`. The result
    passes `validate(complete=True)` whenever the draft passes `validate`, apart from what `mends`.

    A whole document may be given as the draft, to renew its facts: every word of the writer's
    or the user's stays.
    """
    pieces = _Pieces(redactor)
    front = replace(front, branch=pieces.maybe(front.branch), worktree=pieces.maybe(front.worktree))
    document = read(pieces.clean(draft))
    written = _written(document)
    ids = _own_ids(facts)
    claims = [claim for claim in _claims(draft, written) if claim not in ids]
    body_of = _cut(
        {
            title: mark_files(title, mark_claims(contained(body), git, claims), git.looked_for)
            for title, body in written
        }
    )
    known, view = pieces.facts(facts), pieces.git(git)
    sections = {title: body_of.get(title) or NOTHING for title in SECTIONS}
    sections |= {
        "Goal": "",
        "Progress": _progress(body_of.get("Progress", "")),
        "Next Steps": _next_steps(body_of.get("Next Steps", ""), known, view),
        "Background Work": _background(body_of.get("Background Work", ""), known),
        "Verified Facts": verified_facts(known, view, front, claims),
        "Links": _joined(body_of.get("Links", ""), _links(front, links)),
        "Instructions for the Successor": _instructions(
            view, body_of.get("Instructions for the Successor", "")
        ),
    }
    request = next((words for words in (goal, facts.goal, document.goal) if words is not None), "")
    return _assembled(front, pieces.clean(request), sections, body_of.get(OTHER_NOTES))


class _Pieces:
    """Takes control bytes and secrets out of one piece after the other."""

    def __init__(self, redactor: Redactor | None) -> None:
        self.redactor = redactor

    def clean(self, text: str) -> str:
        text = plain(text)
        return text if self.redactor is None else self.redactor.redact(text).text

    def maybe(self, text: str | None) -> str | None:
        return None if text is None else self.clean(text)

    def facts(self, facts: Facts) -> Facts:
        return replace(
            facts,
            todos=tuple(replace(todo, content=self.clean(todo.content)) for todo in facts.todos),
            files_modified=tuple(map(self.clean, facts.files_modified)),
            commits=self._commits(facts.commits),
            subagents=tuple(replace(one, task=self.clean(one.task)) for one in facts.subagents),
            background=tuple(map(self._task, facts.background)),
            recent_activity=tuple(map(self.clean, facts.recent_activity)),
        )

    def _task(self, task: BackgroundTask) -> BackgroundTask:
        return replace(
            task, description=self.clean(task.description), command=self.clean(task.command)
        )

    def git(self, git: GitView) -> GitView:
        return replace(
            git,
            branch=self.maybe(git.branch),
            status=tuple(map(self.clean, git.status)),
            committed=tuple(map(self.clean, git.committed)),
            commits=self._commits(git.commits),
        )

    def _commits(self, commits: tuple[CommitMade, ...]) -> tuple[CommitMade, ...]:
        return tuple(replace(made, subject=self.clean(made.subject)) for made in commits)


def _written(document: Document) -> list[tuple[str, str]]:
    """The writer's own sections, with everything that has no place of its own put together."""
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
    """The files that a draft says were worked on, for the caller to look for."""
    return claimed_files(_written(read(plain(draft))))


def _claims(draft: str, written: list[tuple[str, str]]) -> list[str]:
    """The commits that the writer's own sections name, of those that the caller asked git for."""
    asked = set(claimed_commits(draft))
    own = claimed_commits("\n".join(body for _, body in written))
    return [claim for claim in own if claim in asked]


def _cut(bodies: dict[str, str]) -> dict[str, str]:
    """The bodies, cut only if together they would leave no room for the rest."""
    if sum(_size(body) for body in bodies.values()) <= ROOM_FOR_SECTIONS:
        return bodies
    share = ROOM_FOR_SECTIONS // len(bodies)
    return {title: _cut_body(body, share) for title, body in bodies.items()}


def _cut_body(body: str, limit: int) -> str:
    if _size(body) <= limit:
        return body
    return contained(_first_bytes(body, limit - 100)) + "\n\n(Cut here: it was too long.)"


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
    """With the three parts that a reader looks for, empty ones said to be so."""
    there = {
        found[1].strip(" *:").casefold()
        for line, is_code in marked_lines(body)
        if not is_code and (found := heading(line)) is not None
    }
    missing = [f"### {part}\n\n{NONE_STATED}" for part in PROGRESS if part.casefold() not in there]
    own = [] if says_nothing(body) else [body]
    return "\n\n".join(own + missing)


def _next_steps(body: str, facts: Facts, git: GitView) -> str:
    """The writer's steps; a first one that can be run is put before them if they have none."""
    if says_nothing(body):
        return steps(facts, git)
    step = Document({"Next Steps": body}).first_step
    if step is not None and is_runnable(step):
        return body
    return f"1. Look around first: {look_around(git)}\n\n### Then\n\n{body}"


def _joined(body: str, ours: str) -> str:
    """Our lines under the writer's, without those that stand there already."""
    own = "" if says_nothing(body) else body
    there = set(own.split("\n"))
    added = "\n".join(line for line in ours.split("\n") if line not in there)
    return "\n\n".join(part for part in (own, added) if part) or NOTHING


def _background(body: str, facts: Facts) -> str:
    """The writer's section, then ours; lines of ours that stand there from before are replaced."""
    own, heading_, before = body.partition(KNOWN_TO_US)
    if heading_:
        kept = [line for line in before.split("\n") if not is_background_line(line, facts)]
        own = "\n\n".join(part for text in (own, "\n".join(kept)) if (part := text.strip("\n")))
    own = "" if says_nothing(own) else own
    ours = background_work(facts)
    added = f"{KNOWN_TO_US}\n\n{ours}" if ours else ""
    return "\n\n".join(part for part in (own, added) if part) or NOTHING


def _own_ids(facts: Facts) -> frozenset[str]:
    """Ids that look like a commit's and are a subagent's or a task's."""
    ids = [agent.id for agent in facts.subagents] + [task.id for task in facts.background]
    return frozenset(ids)


def _links(front: FrontMatter, links: Links | None) -> str:
    known = {
        "previous document": front.previous_document,
        "record of the previous session": links.transcript if links else None,
        "copy of this document": links.copy if links else None,
        "facts from before the last compaction": links.before_compaction if links else None,
    }
    return "\n".join(f"- {name}: {code(path, 4096)}" for name, path in known.items() if path)


def _instructions(git: GitView, own: str) -> str:
    numbered = "\n".join(f"{number}. {words}" for number, words in enumerate(_to_do(git), 1))
    if own.startswith(f"1. {READ_ALL}"):
        own = own.partition(FROM_BEFORE)[2].strip("\n")
    return numbered if says_nothing(own) else f"{numbered}\n\n{FROM_BEFORE}\n\n{own}"


def _to_do(git: GitView) -> tuple[str, ...]:
    branch = f" ({code(git.branch, 250)})" if git.branch else ""
    ground = (
        (
            "Check it with `git log -20 --oneline`, `git status` and `git diff`; where they "
            "differ, git is right.",
            f"Stay in this directory and on this branch{branch}; do not make another one.",
        )
        if git.is_repository
        else (
            "Check it against the files: there is no git repository here.",
            "Stay in this directory.",
        )
    )
    return (
        READ_ALL,
        *ground,
        "What stands under Verified Facts was checked by cockpit; everything else is what the "
        "previous session believed.",
        "Look at Background Work before you start any agent or job again.",
        "Do not repeat what is finished, nor what is known not to work.",
        "Go on with the first of the Next Steps.",
    )


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _first_bytes(text: str, limit: int) -> str:
    """As much of the text as fits into `limit` bytes."""
    return text.encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")
