"""Build the facts that a session gets after the CLI compacted it, or the user cleared it.

Contains only exact facts that a summary may lose: the task, the todos, commits, uncommitted
changes, files, and the request word for word, up to `LONGEST_GOAL` characters. The text fits into a
hook's response.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.facts import Facts, Todo
from cockpit.core.markdown import fenced, one_line, open_fence, plain, shortened
from cockpit.core.plurals import counted
from cockpit.core.verified_facts import GitView, commits, todos, uncommitted

Form = Literal["structured", "narrative"]
Occasion = Literal["compact", "clear"]

LONGEST = 9_500
"""Maximum characters of the text, with the fence that closes a cut code block; a hook's response
may have 10,000."""
LONGEST_GOAL = 2_500
MOST_FILES = 40
MOST_TODOS = 40

_OPENING: dict[Occasion, str] = {
    "compact": "this conversation was compacted. These are facts that the summary may have lost.",
    "clear": "this conversation was cleared. These are facts of the earlier conversation, in case "
    "the job continues. If the user asks for something else now, ignore these facts.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """The facts and names from which `supplement` builds its text."""

    token: str
    """A unique text; the supplement has arrived when the transcript contains this text."""
    facts: Facts
    git: GitView
    goal: str | None = None
    """The job's request; if it is None, the session's first prompt is used."""
    work_item: str = ""
    branch: str | None = None


def supplement(ground: Ground, occasion: Occasion, form: Form = "structured") -> str:
    """Return the facts as text, shortened to `LONGEST`, with the token in the first line."""
    opening = (
        f"Note from cockpit ({ground.token}): {_OPENING[occasion]} The facts come from the "
        "session's transcript and git. Where a summary differs, these facts are right."
    )
    if form == "narrative":
        return _bounded("\n\n".join((opening, *_sentences(ground))))
    sections = [f"## {title}\n\n{body}" for title, body in _sections(ground) if body]
    return _bounded("\n\n".join((opening, *sections)))


def _bounded(text: str) -> str:
    limit = LONGEST
    while True:
        kept = shortened(text, limit)
        fence = open_fence(kept)
        closed = f"{kept}\n{fence}" if fence else kept
        if len(closed) <= LONGEST:
            return closed
        limit -= len(closed) - LONGEST


def _sections(ground: Ground) -> Iterator[tuple[str, str]]:
    """Yield titles and bodies, the most important first, because a long text is cut at the end."""
    facts, git = ground.facts, ground.git
    yield "Active Task", _task(ground)
    yield "In-Progress Work", _work(facts)
    yield "Original Goal", _goal(ground)
    yield "Commits This Session", _empty_if_none(commits(facts, git))
    yield "Uncommitted Changes", uncommitted(git) if git.is_repository else ""
    yield "Files Being Modified", _files(facts)


def _task(ground: Ground) -> str:
    lines = []
    if (current := _current(ground.facts)) is not None:
        lines.append(f"- title: {one_line(current.content, 300)}")
        lines.append(f"- status: {one_line(current.status, 40)}")
    elif goal := _goal_text(ground):
        lines.append(f"- title: {one_line(goal, 120)}")
    if ground.work_item:
        lines.append(f"- id: {one_line(ground.work_item, 80)}")
    if ground.branch:
        lines.append(f"- branch: {one_line(ground.branch, 200)}")
    return "\n".join(lines)


def _current(facts: Facts) -> Todo | None:
    unfinished = [todo for todo in facts.todos if todo.status != "completed"]
    in_progress = [todo for todo in unfinished if todo.status == "in_progress"]
    return next(iter(in_progress or unfinished), None)


def _work(facts: Facts) -> str:
    """Return the latest todo list; without todos, the last tool calls."""
    if facts.todos:
        more = len(facts.todos) - MOST_TODOS
        return todos(facts.todos[:MOST_TODOS]) + (f"\n- … and {more} more" if more > 0 else "")
    if facts.recent_activity:
        return "\n".join(f"- {one_line(line, 200)}" for line in facts.recent_activity)
    return ""


def _goal_text(ground: Ground) -> str:
    return plain(ground.goal or ground.facts.goal or "").strip()


def _goal(ground: Ground) -> str:
    goal = _goal_text(ground)
    return fenced(shortened(goal, LONGEST_GOAL), "") if goal else ""


def _empty_if_none(body: str) -> str:
    return "" if body == "None." else body


def _files(facts: Facts) -> str:
    paths = list(dict.fromkeys(facts.files_modified))
    lines = [f"- {one_line(path, 300)}" for path in paths[-MOST_FILES:]]
    if len(paths) > MOST_FILES:
        lines.append(f"- … and {len(paths) - MOST_FILES} earlier files")
    return "\n".join(lines)


def _sentences(ground: Ground) -> Iterator[str]:
    facts, git = ground.facts, ground.git
    if goal := _goal_text(ground):
        yield f"The original request:\n\n{fenced(shortened(goal, LONGEST_GOAL), '')}"
    done = sum(todo.status == "completed" for todo in facts.todos)
    if done < len(facts.todos):
        current = next((todo for todo in facts.todos if todo.status == "in_progress"), None)
        in_progress = f" In progress: {one_line(current.content, 300)}." if current else ""
        yield f"{done} of {counted(len(facts.todos), 'todo')} done.{in_progress}"
    following = [todo for todo in facts.todos if todo.status == "pending"]
    if following:
        named = "; ".join(one_line(todo.content, 200) for todo in following[:MOST_TODOS])
        yield f"Next: {named}."
    if git.is_repository:
        yield _git_sentence(ground)
    if facts.files_modified:
        paths = list(dict.fromkeys(facts.files_modified))[-MOST_FILES:]
        yield "Files changed: " + ", ".join(one_line(path, 300) for path in paths) + "."


def _git_sentence(ground: Ground) -> str:
    git = ground.git
    on = f"On branch {one_line(git.branch, 200)}" if git.branch else "On a detached HEAD"
    made = [
        f"{one_line(commit.hash, 12)} ({one_line(commit.subject, 120)})" for commit in git.commits
    ]
    committed = (
        f"this session committed {', '.join(made[:20])}"
        if made
        else "this session committed nothing"
    )
    if not git.status_known:
        return f"{on}, {committed}."
    changed = [one_line(line, 300) for line in git.status[:MOST_FILES]]
    left = "not committed: " + "; ".join(changed) if changed else "the working tree is clean"
    return f"{on}, {committed}; {left}."
