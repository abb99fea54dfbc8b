"""Putting a handoff document together: the writer's sections, and around them cockpit's own.

The original request stands first, word for word; `Verified Facts` is always ours, whatever the
writer put there. Secrets are taken out of every piece before the pieces are joined, so that
nothing a piece holds can change the shape of the whole.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from cockpit.core import front_matter
from cockpit.core.document import (
    LARGEST,
    NOTHING,
    OTHER_NOTES,
    PROGRESS,
    SECTIONS,
    TITLE,
    Document,
    is_runnable,
    read,
    says_nothing,
)
from cockpit.core.facts import CommitMade, Facts
from cockpit.core.front_matter import FrontMatter
from cockpit.core.markdown import (
    code,
    contained,
    fenced,
    heading,
    marked_lines,
    one_line,
    plain,
    shortened,
)
from cockpit.core.redaction import Redactor
from cockpit.core.verified_facts import (
    GitView,
    claimed_commits,
    mark_claims,
    subagents,
    todos,
    verified_facts,
)

LONGEST_SECTION = 48 * 1024
"""Bytes of one section of the writer's, once it had to be cut at all."""
LOOK_AROUND = "git status && git log -5 --oneline"
LOOK_AROUND_WITHOUT_GIT = "ls -la"
NONE_STATED = "None stated."
NONE_KNOWN = "None known."


@dataclass(frozen=True, slots=True)
class Links:
    """What else the successor may want to open; absolute paths."""

    transcript: str | None = None
    """The record of the session that leaves the document."""
    copy: str | None = None
    """Where cockpit keeps its own copy of the document."""


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

    `goal` is the pilot's prompt for the job; without one it is the first prompt of the record,
    which for a successor would be our own continuation. Front matter of the draft's own is
    dropped, and so are its `Goal` and `Verified Facts`. The result passes
    `validate(complete=True)` whenever the draft passes `validate`, apart from what `mends`.
    """
    secrets = _Pieces(redactor)
    document = read(secrets.clean(draft))
    claims = claimed_commits(draft)
    bodies = {title: mark_claims(contained(body), git) for title, body in _written(document)}
    body_of = _cut(bodies)
    known = secrets.clean_facts(facts)
    sections = {
        "Current Task": body_of.get("Current Task", NOTHING),
        "Progress": _progress(body_of.get("Progress", "")),
        "Current State": body_of.get("Current State", NOTHING),
        "Next Steps": _next_steps(body_of.get("Next Steps", ""), known, git),
        "Key Decisions": body_of.get("Key Decisions", NOTHING),
        "What Did Not Work": body_of.get("What Did Not Work", NOTHING),
        "Open Issues": body_of.get("Open Issues", NOTHING),
        "Background Work": _joined(body_of.get("Background Work", ""), subagents(known)),
        "Verified Facts": verified_facts(known, secrets.clean_git(git), front, claims),
        "Links": _joined(body_of.get("Links", ""), _links(front, links)),
        "Instructions for the Successor": _instructions(
            git, body_of.get("Instructions for the Successor", "")
        ),
    }
    others = body_of.get(OTHER_NOTES)
    request = secrets.clean(goal if goal is not None else facts.goal or "")
    return _assembled(front, request, sections, others, secrets)


def draft_from_facts(facts: Facts, git: GitView, goal: str | None = None) -> str:
    """A draft that no model wrote: what the record and git say, and honestly nothing else.

    It passes `validate`. Give it to `compose` as any other draft.
    """
    task = goal if goal is not None else facts.goal
    parts = [
        f"# {TITLE}",
        "## Current Task\n\n" + _task(task, facts),
        "## Progress\n\n" + _progress_from(facts, git),
        "## Current State\n\n" + _state(facts, git),
        "## Next Steps\n\n" + _steps(facts, git),
        f"## Key Decisions\n\n{NONE_KNOWN}",
        f"## What Did Not Work\n\n{NONE_KNOWN}",
        f"## Open Issues\n\n{NONE_KNOWN}",
        f"## Background Work\n\n{NONE_KNOWN}",
    ]
    return "\n\n".join(parts) + "\n"


class _Pieces:
    """Takes the secrets out of one piece after the other, and counts them."""

    def __init__(self, redactor: Redactor | None) -> None:
        self.redactor = redactor
        self.count = 0

    def clean(self, text: str) -> str:
        text = plain(text)
        if self.redactor is None:
            return text
        redacted = self.redactor.redact(text)
        self.count += redacted.count
        return redacted.text

    def clean_facts(self, facts: Facts) -> Facts:
        return replace(
            facts,
            todos=tuple(replace(todo, content=self.clean(todo.content)) for todo in facts.todos),
            files_modified=tuple(map(self.clean, facts.files_modified)),
            commits=self._clean_commits(facts.commits),
            subagents=tuple(replace(one, task=self.clean(one.task)) for one in facts.subagents),
            recent_activity=tuple(map(self.clean, facts.recent_activity)),
        )

    def clean_git(self, git: GitView) -> GitView:
        return replace(
            git,
            status=tuple(map(self.clean, git.status)),
            commits=self._clean_commits(git.commits),
        )

    def _clean_commits(self, commits: tuple[CommitMade, ...]) -> tuple[CommitMade, ...]:
        return tuple(replace(made, subject=self.clean(made.subject)) for made in commits)


def _written(document: Document) -> list[tuple[str, str]]:
    """The writer's own sections, with everything that has no place of its own put together."""
    kept = [
        (title, body)
        for title, body in document.sections.items()
        if title not in ("Goal", "Verified Facts")
    ]
    notes = [document.opening] if document.opening.strip() else []
    notes += [f"### {one_line(title)}\n\n{body}" for title, body in document.others.items()]
    if notes:
        kept.append((OTHER_NOTES, "\n\n".join(map(contained, notes))))
    return kept


def _cut(bodies: dict[str, str]) -> dict[str, str]:
    """The bodies, cut only if together they would leave no room for the rest."""
    if sum(_size(body) for body in bodies.values()) <= LARGEST * 5 // 8:
        return bodies
    share = min(LONGEST_SECTION, LARGEST * 5 // 8 // len(bodies))
    return {title: _cut_body(body, share) for title, body in bodies.items()}


def _cut_body(body: str, limit: int) -> str:
    if _size(body) <= limit:
        return body
    return contained(_bytes(body, limit - 100)) + "\n\n(Cut here: it was too long.)"


def _assembled(
    front: FrontMatter,
    request: str,
    sections: dict[str, str],
    others: str | None,
    secrets: _Pieces,
) -> str:
    order = [title for title in SECTIONS if title != "Goal"]
    parts = [f"## {title}\n\n{sections[title]}" for title in order]
    if others:
        parts.insert(order.index("Verified Facts"), f"## {OTHER_NOTES}\n\n{others}")
    head = front_matter.dump(replace(front, redactions=secrets.count)) + f"\n# {TITLE}\n\n"
    rest = "\n\n".join(parts) + "\n"
    room = LARGEST - _size(head) - _size(rest) - 300
    return f"{head}## Goal\n\n{_goal(request, room)}\n\n{rest}"


def _goal(request: str, room: int) -> str:
    if not request.strip():
        return NONE_KNOWN
    kept = _bytes(request, max(room - 2 * _longest_run(request), 0))
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
        return _steps(facts, git)
    step = Document({"Next Steps": body}).first_step
    if step is not None and is_runnable(step):
        return body
    return f"1. Look around first: {code(_look(git))}\n\n### Then\n\n{body}"


def _joined(body: str, ours: str) -> str:
    own = "" if says_nothing(body) else body
    return "\n\n".join(part for part in (own, ours) if part) or NOTHING


def _links(front: FrontMatter, links: Links | None) -> str:
    known = {
        "previous document": front.previous_document,
        "record of the previous session": links.transcript if links else None,
        "copy of this document": links.copy if links else None,
    }
    return "\n".join(f"- {name}: {code(path, 4096)}" for name, path in known.items() if path)


def _instructions(git: GitView, own: str) -> str:
    steps = ["Read this document to its end before anything else."]
    if git.is_repository:
        where = f" `{one_line(git.branch, 250)}`" if git.branch and "`" not in git.branch else ""
        steps += [
            "Check it with `git log -20 --oneline`, `git status` and `git diff`; where they "
            "differ, git is right.",
            f"Stay in this directory and on this branch{where}; do not make another one.",
        ]
    else:
        steps += [
            "Check it against the files: there is no git repository here.",
            "Stay in this directory.",
        ]
    steps += [
        "What stands under Verified Facts was checked by cockpit; everything else is what the "
        "previous session believed.",
        "Look at Background Work before you start any agent or job again.",
        "Do not repeat what is finished, nor what is known not to work.",
        "Go on with the first of the Next Steps.",
    ]
    numbered = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
    if says_nothing(own) or numbered in own:
        return numbered if says_nothing(own) else own
    return f"{numbered}\n\n### From the Previous Session\n\n{own}"


def _task(goal: str | None, facts: Facts) -> str:
    active = next((todo for todo in facts.todos if todo.status == "in_progress"), None)
    lines = ["No model wrote this document: it is what the session's record and git say."]
    if active is not None:
        lines.append(f"In progress on the session's own list: {one_line(active.content, 500)}")
    elif goal:
        lines.append("The session worked on the goal above; which part of it is not known.")
    else:
        lines.append("What the session worked on is not known; see the last tool calls below.")
    return "\n\n".join(lines)


def _progress_from(facts: Facts, git: GitView) -> str:
    done = todos([todo for todo in facts.todos if todo.status == "completed"])
    if git.commits:
        made = f"{len(git.commits)} commits of this session are listed under Verified Facts."
        done = made if done == NOTHING else f"{done}\n\n{made}"
    doing = todos([todo for todo in facts.todos if todo.status == "in_progress"])
    waiting = todos(
        [todo for todo in facts.todos if todo.status not in ("completed", "in_progress")]
    )
    bodies = zip(PROGRESS, (done, doing, waiting), strict=True)
    return "\n\n".join(
        f"### {part}\n\n{NONE_KNOWN if body == NOTHING else body}" for part, body in bodies
    )


def _state(facts: Facts, git: GitView) -> str:
    lines = [_where(git)]
    if facts.files_modified:
        lines.append(f"Files changed by the session: {len(set(facts.files_modified))}.")
    if facts.last_reply:
        reply = fenced(shortened(plain(facts.last_reply), 4000))
        lines.append(f"The last thing the session said:\n\n{reply}")
    return "\n\n".join(lines)


def _where(git: GitView) -> str:
    if not git.is_repository:
        return "The directory is not a git repository."
    branch = f"On branch {code(git.branch)}" if git.branch else "On a detached head"
    changes = len(git.status)
    dirty = f"{changes} uncommitted changes" if changes else "no uncommitted changes"
    if not git.status_known:
        dirty = "uncommitted changes not known"
    busy = f", {one_line(git.busy)} in progress" if git.busy else ""
    return f"{branch}, {dirty}{busy}."


def _steps(facts: Facts, git: GitView) -> str:
    steps = [f"{code(_look(git))}"]
    open_todos = [todo for todo in facts.todos if todo.status != "completed"]
    open_todos.sort(key=lambda todo: todo.status != "in_progress")
    steps += [one_line(todo.content, 500) or "(no words)" for todo in open_todos[:20]]
    if not open_todos:
        steps.append("Compare what is there with the goal, and go on with what is missing.")
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))


def _look(git: GitView) -> str:
    return LOOK_AROUND if git.is_repository else LOOK_AROUND_WITHOUT_GIT


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _bytes(text: str, limit: int) -> str:
    """As much of the text as fits into `limit` bytes."""
    return text.encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")
