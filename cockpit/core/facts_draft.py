"""Write the draft of the facts writer from the session's transcript and git, without a model.

The draft contains no guesses, and names the facts that are unknown. `core.verified_facts` writes
the section `Verified Facts`.
"""

from __future__ import annotations

from cockpit.core import fact_lines
from cockpit.core.collectors.files import is_scratch
from cockpit.core.document import NOTHING, PROGRESS, TITLE
from cockpit.core.facts import Facts
from cockpit.core.markdown import code, fenced, one_line, plain, shortened
from cockpit.core.verified_facts import NO_TEXT, GitView, todos, unknown_state

LOOK_AROUND = "git status && git log -5 --oneline"
LOOK_AROUND_WITHOUT_GIT = "ls -la"
NONE_KNOWN = "None known."
LONGEST_REPLY = 4_000
"""Maximum characters of a reply, and of the CLI's summary for a returning user."""


def draft_from_facts(facts: Facts, git: GitView, goal: str | None = None, *, cut: str = "") -> str:
    """Write a draft from the transcript and git, for `compose`. The draft passes `validate`.

    `cut` lists the facts that were left out because of the document's maximum size.
    """
    task = goal if goal is not None else facts.goal
    parts = [
        f"# {TITLE}",
        "## Current Task\n\n" + _task(task, facts, cut),
        "## Progress\n\n" + _progress_from(facts, git),
        "## Current State\n\n" + _state(facts, git),
        "## Next Steps\n\n" + steps(facts, git) + _plan(facts),
        f"## Key Decisions\n\n{fact_lines.answers(facts) or NONE_KNOWN}",
        f"## What Did Not Work\n\n{fact_lines.failures(facts.failures) or NONE_KNOWN}",
        f"## Open Issues\n\n{NONE_KNOWN}",
        f"## Background Work\n\n{NONE_KNOWN}",
    ]
    return "\n\n".join(parts) + "\n"


def _task(goal: str | None, facts: Facts, cut: str) -> str:
    active = next((todo for todo in facts.todos if todo.status == "in_progress"), None)
    prompts = fact_lines.prompts(facts, goal)
    lines = [prompts] if prompts else []
    if earlier := fact_lines.earlier_prompts(facts):
        heading = "The user's earlier prompts, shortened; later prompts can override them:"
        lines.append(f"{heading}\n\n{earlier}")
    if active is not None:
        lines.append(f"In progress on the session's todo list: {one_line(active.content, 500)}")
    elif goal and not prompts:
        lines.append("The session worked on the goal above; the current step is unknown.")
    elif not prompts:
        lines.append("The session's task is unknown; see Last Tool Calls below.")
    lines.append(
        "cockpit wrote this document from the session's transcript and git, without a model."
    )
    if cut:
        lines.append(f"Left out because of the maximum size (handoff.max_tokens): {cut}.")
    return "\n\n".join(lines)


def _plan(facts: Facts) -> str:
    return f"\n\n### The Plan\n\n{fact_lines.plan(facts.plan)}" if facts.plan else ""


def _progress_from(facts: Facts, git: GitView) -> str:
    done = todos([todo for todo in facts.todos if todo.status == "completed"])
    if git.commits:
        count = len(git.commits)
        made = f"Commits of this session: {count}; they are listed under Verified Facts."
        done = made if done == NOTHING else f"{done}\n\n{made}"
    doing = todos([todo for todo in facts.todos if todo.status == "in_progress"])
    waiting = todos(
        [todo for todo in facts.todos if todo.status not in ("completed", "in_progress")]
    )
    bodies = zip(PROGRESS, (done, doing, waiting), strict=True)
    parts = [f"### {part}\n\n{NONE_KNOWN if body == NOTHING else body}" for part, body in bodies]
    if facts.summary is not None:
        parts.append(
            "### Summary of the Last Compaction\n\n"
            f"The CLI wrote this after turn {facts.summary.turn}. Later work is not in it.\n\n"
            f"{fenced(plain(facts.summary.text).strip())}"
        )
    return "\n\n".join(parts)


def _state(facts: Facts, git: GitView) -> str:
    lines = [_where(git)]
    changed = {path for path in facts.files_modified if not is_scratch(path, git.root)}
    if changed:
        lines.append(f"Files changed by the session: {len(changed)}.")
    if facts.last_reply:
        reply = fenced(shortened(plain(facts.last_reply), LONGEST_REPLY))
        lines.append(f"The last reply of the session:\n\n{reply}")
    if facts.longer_reply:
        before = fenced(shortened(plain(facts.longer_reply), LONGEST_REPLY))
        lines.append(f"A longer reply shortly before the last one:\n\n{before}")
    if facts.away_summary:
        away = fenced(shortened(plain(facts.away_summary), LONGEST_REPLY))
        lines.append(f"The CLI's summary, written while the user was away:\n\n{away}")
    return "\n\n".join(lines)


def _where(git: GitView) -> str:
    if not git.may_be_repository:
        return "The directory is not a git repository."
    if not git.is_repository:
        return unknown_state(git)
    branch = f"On branch {code(git.branch)}" if git.branch else "On a detached HEAD"
    dirty = f"uncommitted changes: {len(git.status) or 'none'}"
    if not git.status_known:
        dirty = "uncommitted changes: unknown"
    busy = f", {one_line(git.busy)} in progress" if git.busy else ""
    return f"{branch}, {dirty}{busy}."


def steps(facts: Facts, git: GitView) -> str:
    """Return numbered next steps: a command that shows the directory's state, then the open todos.

    At most 20 todos, those in progress first; without open todos, a general step.
    """
    known = [look_around(git)]
    open_todos = [todo for todo in facts.todos if todo.status != "completed"]
    open_todos.sort(key=lambda todo: todo.status != "in_progress")
    known += [one_line(todo.content, 500) or NO_TEXT for todo in open_todos[:20]]
    if not open_todos:
        known.append("Compare the current state with the goal, and continue with what is missing.")
    return "\n".join(f"{number}. {step}" for number, step in enumerate(known, 1))


def look_around(git: GitView) -> str:
    """Return a command that shows the state of the agent's directory, as a code span."""
    return code(LOOK_AROUND if git.is_repository else LOOK_AROUND_WITHOUT_GIT)
