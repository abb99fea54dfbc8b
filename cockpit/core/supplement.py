"""What a session is told again after its CLI compacted it, or its user cleared it.

Exact facts that a summary loses: the task, the list of todos, commits, what is not committed,
files, the request word for word. No story, no advice, no code: the summary has those, and what
is said twice costs twice. Bounded to what a hook may answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from cockpit.core.facts import Facts, Todo
from cockpit.core.markdown import fenced, one_line, open_fence, plain, shortened
from cockpit.core.verified_facts import GitView, commits, todos, uncommitted

Form = Literal["structured", "narrative"]
Occasion = Literal["compact", "clear"]

LONGEST = 9_500
"""Characters; a hook's answer may have 10,000."""
LONGEST_GOAL = 2_500
MOST_FILES = 40
MOST_TODOS = 40

_OPENING: dict[Occasion, str] = {
    "compact": "this conversation was compacted. These are facts of it that a summary may have "
    "lost; they repeat nothing else of it.",
    "clear": "this conversation was cleared. These are facts of the one before it, in case the "
    "job goes on; if something else is asked now, leave them aside.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What a supplement is made of."""

    token: str
    """By which its arrival is recognised in the session's record."""
    facts: Facts
    git: GitView
    goal: str | None = None
    """The job's request; the session's own first prompt where there is none."""
    work_item: str = ""
    branch: str | None = None


def supplement(ground: Ground, occasion: Occasion, form: Form = "structured") -> str:
    """The text, at most `LONGEST` characters, its token in the first line."""
    opening = (
        f"Note from cockpit ({ground.token}): {_OPENING[occasion]} Written from the session's "
        "record and git; where they and a summary differ, they are right."
    )
    if form == "narrative":
        return _bounded("\n\n".join((opening, *_sentences(ground))))
    sections = [f"## {title}\n\n{body}" for title, body in _sections(ground) if body]
    return _bounded("\n\n".join((opening, *sections)))


def _bounded(text: str) -> str:
    kept = shortened(text, LONGEST)
    fence = open_fence(kept)
    return f"{kept}\n{fence}" if fence else kept


def _sections(ground: Ground) -> Iterator[tuple[str, str]]:
    """The most needed first: what does not fit is cut from the end."""
    facts, git = ground.facts, ground.git
    yield "Active Task", _task(ground)
    yield "In-Progress Work", _work(facts)
    yield "Original Goal", _goal(ground)
    yield "Commits This Session", _none_is_nothing(commits(facts, git))
    yield "Uncommitted Changes", uncommitted(git) if git.is_repository else ""
    yield "Files Being Modified", _files(facts)


def _task(ground: Ground) -> str:
    lines = []
    if (current := _current(ground.facts)) is not None:
        lines.append(f"- title: {one_line(current.content, 300)}")
        lines.append(f"- status: {one_line(current.status, 40)}")
    elif goal := _words_of_goal(ground):
        lines.append(f"- title: {one_line(goal, 120)}")
    if ground.work_item:
        lines.append(f"- id: {one_line(ground.work_item, 80)}")
    if ground.branch:
        lines.append(f"- branch: {one_line(ground.branch, 200)}")
    return "\n".join(lines)


def _current(facts: Facts) -> Todo | None:
    """The todo in hand: the one in progress, else the first that is open."""
    still = [todo for todo in facts.todos if todo.status != "completed"]
    running = [todo for todo in still if todo.status == "in_progress"]
    return next(iter(running or still), None)


def _work(facts: Facts) -> str:
    """The list exactly as last written; without one, the last things that were done."""
    if facts.todos:
        more = len(facts.todos) - MOST_TODOS
        return todos(facts.todos[:MOST_TODOS]) + (f"\n- … and {more} more" if more > 0 else "")
    if facts.recent_activity:
        return "\n".join(f"- {one_line(line, 200)}" for line in facts.recent_activity)
    return ""


def _words_of_goal(ground: Ground) -> str:
    return plain(ground.goal or ground.facts.goal or "").strip()


def _goal(ground: Ground) -> str:
    goal = _words_of_goal(ground)
    return fenced(shortened(goal, LONGEST_GOAL), "") if goal else ""


def _none_is_nothing(body: str) -> str:
    return "" if body == "None." else body


def _files(facts: Facts) -> str:
    paths = list(dict.fromkeys(facts.files_modified))
    lines = [f"- {one_line(path, 300)}" for path in paths[-MOST_FILES:]]
    if len(paths) > MOST_FILES:
        lines.append(f"- … and {len(paths) - MOST_FILES} before them")
    return "\n".join(lines)


def _sentences(ground: Ground) -> Iterator[str]:
    """The same facts as running text, for those who like to read it so."""
    facts, git = ground.facts, ground.git
    if goal := _words_of_goal(ground):
        words = fenced(shortened(goal, LONGEST_GOAL), "")
        yield f"The job was asked for in these words:\n\n{words}"
    if (current := _current(facts)) is not None:
        done = sum(todo.status == "completed" for todo in facts.todos)
        yield (
            f"Of {len(facts.todos)} todos {done} are done. In hand is: "
            f"{one_line(current.content, 300)}."
        )
    following = [todo for todo in facts.todos if todo.status == "pending" and todo is not current]
    if following:
        named = "; ".join(one_line(todo.content, 200) for todo in following[:MOST_TODOS])
        yield f"After it come: {named}."
    if git.is_repository:
        yield _of_git(ground)
    if facts.files_modified:
        paths = list(dict.fromkeys(facts.files_modified))[-MOST_FILES:]
        yield "Files changed: " + ", ".join(one_line(path, 300) for path in paths) + "."


def _of_git(ground: Ground) -> str:
    git = ground.git
    on = f"On branch {one_line(git.branch, 200)}" if git.branch else "On a detached head"
    made = [f"{one_line(each.hash, 12)} ({one_line(each.subject, 120)})" for each in git.commits]
    committed = f"this session committed {', '.join(made[:20])}" if made else "nothing is committed"
    if not git.status_known:
        return f"{on}, {committed}."
    changed = [one_line(line, 300) for line in git.status[:MOST_FILES]]
    left = "not committed: " + "; ".join(changed) if changed else "the working tree is clean"
    return f"{on}, {committed}; {left}."
