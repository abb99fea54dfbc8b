"""Format facts of a transcript as lines of a handoff document: orders, answers, checks, failures.

Each text of the user or a tool is in quotes on one line, in a code span, or fenced, so that the
text cannot open a section.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cockpit.core.facts import Check, Constraint, Facts, Failure, Link, Plan
from cockpit.core.later_corrections import CAME_BACK, answer_correction, correction_of
from cockpit.core.markdown import code, fenced, one_line, plain

LONGEST = 400
"""Maximum characters of one quoted text."""
REMINDED = 1_500
"""Maximum characters of a reminder."""
_LINK_KINDS = {"pull_request": "pull request", "issue": "issue"}


def constraints(facts: Facts) -> str:
    """List the user's standing orders and refusals, each with its turn; empty if there are none."""
    lines = []
    for constraint in facts.constraints:
        later = correction_of(constraint.text, constraint.turn, facts.constraints)
        again = f"; {CAME_BACK} {later.turn}" if later else ""
        lines.append(f"{_quoted(constraint.text)} (turn {constraint.turn}{again})")
    for refused in facts.refusals:
        reason = f": {_quoted(refused.reason)}" if refused.reason.strip() else " without a reason"
        call = code(refused.call) if refused.call else "a tool call"
        lines.append(f"refused {call}{reason} (turn {refused.turn})")
    return listed(lines)


def answers(facts: Facts) -> str:
    """List the user's answers to the agent's questions; empty if there are none."""
    lines = []
    for answer in facts.answers:
        then = _later(
            answer_correction(answer.question, answer.answer, answer.turn, facts.constraints)
        )
        lines.append(
            f"asked {_quoted(answer.question)}, the user answered {_quoted(answer.answer)} "
            f"(turn {answer.turn}){then}"
        )
    return listed(lines)


def prompts(facts: Facts, goal: str | None) -> str:
    """Quote the user's last prompts, oldest first; empty if there is only the goal."""
    shown = [
        prompt for prompt in facts.prompts if not (prompt.turn == 1 and _same(prompt.text, goal))
    ]
    if not shown:
        return ""
    parts = ["The user's last prompts, oldest first:"]
    for prompt in shown:
        queued = ", written while the agent was working" if prompt.queued else ""
        parts.append(f"Turn {prompt.turn}{queued}:\n\n{fenced(plain(prompt.text).strip())}")
    return "\n\n".join(parts)


def earlier_prompts(facts: Facts) -> str:
    """List `Facts.earlier_prompts`, except standing orders; empty if there are none."""
    quoted = {one_line(constraint.text, LONGEST) for constraint in facts.constraints}
    return listed(
        f"turn {prompt.turn}: {_quoted(prompt.text)}"
        + _later(correction_of(prompt.text, prompt.turn, facts.constraints))
        for prompt in facts.earlier_prompts
        if one_line(prompt.text, LONGEST) not in quoted
    )


def checks(items: Sequence[Check]) -> str:
    """List the last test, lint and build commands with their results; empty if there are none."""
    return listed(map(check_line, items))


def check_line(check: Check) -> str:
    """Describe one check, and whether files were changed after it."""
    how = {True: "failed", False: "passed", None: "result unknown"}[check.failed]
    status = f" (exit {check.exit})" if check.exit is not None else ""
    line = f", {_quoted(check.result)}" if check.result else ""
    since = "before the last edit" if check.edited_since else "no edit since"
    command = code(check.command, LONGEST)
    return f"{check.kind} {command}: {how}{status}{line}; turn {check.turn}, {since}"


def failures(items: Sequence[Failure]) -> str:
    """List failed calls, each with the call that worked later; empty if there are none."""
    return listed(map(failure_line, items))


def failure_line(failure: Failure) -> str:
    """Describe one failed call."""
    error = f"{code(failure.call)} failed: {_quoted(failure.error)}"
    if not failure.worked:
        return error
    same = failure.worked == failure.call
    after = f", after {code(failure.after)}" if failure.after else ""
    return f"{error}; " + (
        f"the same call worked later{after}"
        if same
        else f"{code(failure.worked)} worked later{after}"
    )


def links(items: Sequence[Link]) -> str:
    """List pull requests and issues with their last known state; empty if there are none."""
    return listed(map(link_line, items))


def link_line(link: Link) -> str:
    """Describe one pull request or issue."""
    repository = link.repository if not link.url else ""
    number = f" {one_line(repository, 200)}#{link.number}" if link.number is not None else ""
    state = f"{link.state} when last seen" if link.state else "state unknown"
    url = f": {code(link.url, 500)}" if link.url else ""
    return f"{_LINK_KINDS[link.kind]}{number} ({one_line(state, 60)}){url}"


def plan(last: Plan) -> str:
    """Quote the session's last plan, with the user's decision."""
    decision = {True: "approved by the user", False: "refused by the user", None: "not answered"}
    file = f", file {code(last.file, 500)}" if last.file else ""
    heading = f"The last plan of the session ({decision[last.approved]}, turn {last.turn}{file}):"
    return f"{heading}\n\n{fenced(plain(last.text).strip())}"


def reminder(facts: Facts) -> list[str]:
    """Return facts for the prompt that asks for a handoff document, one line each.

    The facts are the user's newest orders, refusals with a reason, and answers that the user did
    not correct; the last checks; and the newest links whose state is not `merged` or `closed`. A
    line with which the total would exceed `REMINDED` characters is left out.
    """
    orders = [
        f"the user said: {_short(constraint.text)} (turn {constraint.turn})"
        for constraint in facts.constraints
    ]
    refused = [
        f"the user refused {code(refusal.call, 80)}: {_short(refusal.reason)} (turn {refusal.turn})"
        for refusal in facts.refusals
        if refusal.reason.strip()
    ]
    answered = [
        f"asked {_short(answer.question)}, the user answered {_short(answer.answer)} "
        f"(turn {answer.turn})"
        for answer in facts.answers
        if answer_correction(answer.question, answer.answer, answer.turn, facts.constraints) is None
    ]
    ran = [check_line(check) for check in facts.checks]
    linked = [link_line(link) for link in facts.links if link.state not in ("merged", "closed")]
    lines = [*orders[-6:], *refused[-3:], *answered[-3:], *ran, *linked[-2:]]
    kept, room = [], REMINDED
    for line in lines:
        if len(line) + 3 <= room:
            kept.append(line)
            room -= len(line) + 3
    return kept


def listed(lines: Iterable[str]) -> str:
    """Return the lines as a Markdown list."""
    return "\n".join(f"- {line}" for line in lines)


def _later(later: Constraint | None) -> str:
    """Quote the user's later correction of a statement; empty if there is none."""
    return f"; later the user said {_quoted(later.text)} (turn {later.turn})" if later else ""


def _quoted(text: str) -> str:
    return f'"{one_line(text, LONGEST)}"'


def _short(text: str) -> str:
    return f'"{one_line(text, 160)}"'


def _same(text: str, goal: str | None) -> bool:
    return goal is not None and plain(text).strip() == plain(goal).strip()
