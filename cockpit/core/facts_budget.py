"""Limit the facts of a document without a model to a number of tokens, by importance.

Keeps the facts that a successor needs most. Lists lose their oldest items, long texts lose their
end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import TypeVar

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.facts import Facts, Prompt
from cockpit.core.markdown import shortened
from cockpit.core.plurals import counted
from cockpit.core.verified_facts import GitView

T = TypeVar("T")

ITEM = 12
"""Estimated tokens of a list item besides its text: the mark, the turn, quotes."""
SMALLEST_TEXT = 40
"""A text that would be cut to fewer tokens is left out."""
QUOTED = 400
"""Maximum characters that a list of the document quotes from one text."""


def estimated_tokens(text: str) -> int:
    """Estimate the tokens of a text: one for 3.5 ASCII characters, or for 1.3 other characters."""
    if text.isascii():
        return round(len(text) / 3.5)
    ascii_count = sum(char < "\x80" for char in text)
    return round(ascii_count / 3.5 + (len(text) - ascii_count) / 1.3)


@dataclass(slots=True)
class _Budget:
    left: float
    cut: dict[str, str] = field(default_factory=dict)
    """A text about the removed facts, by kind of fact."""

    def keep(
        self, kind: str, one: str, items: Sequence[T], text: Callable[[T], str], share: float = 1.0
    ) -> tuple[T, ...]:
        """Return the last items that fit into this share of the budget, in their order."""
        room, kept = self.left * share, 0
        for item in reversed(items):
            cost = estimated_tokens(text(item)) + ITEM
            if cost > room:
                break
            room -= cost
            self.left -= cost
            kept += 1
        if kept < len(items):
            self.cut[kind] = f"{len(items) - kept} of {counted(len(items), one)}"
        return tuple(items[len(items) - kept :])

    def keep_text(self, kind: str, text: str | None, share: float) -> str | None:
        """Return as much of the beginning of a text as fits; None if almost nothing fits."""
        if not text:
            return text
        whole, room = estimated_tokens(text), int(self.left * share)
        if whole <= room:
            self.left -= whole
            self.cut.pop(kind, None)
            return text
        if room < SMALLEST_TEXT:
            self.cut[kind] = kind
            return None
        self.left -= room
        self.cut[kind] = f"the end of {kind}"
        return shortened(text, max(len(text) * room // whole, 1))


def within(facts: Facts, git: GitView, goal: str | None, tokens: int) -> tuple[Facts, GitView, str]:
    """Return the facts that fit into a document of this size, and a text about the removed facts.

    The goal is never cut. At least half of the tokens are for the facts, even if the goal is long.
    """
    fixed = 900 + estimated_tokens(goal if goal is not None else facts.goal or "")
    budget = _Budget(max(tokens - fixed, tokens / 2))
    whole = facts
    prompts = budget.keep(
        "prompts", "prompt", [_short_prompt(prompt, budget.left) for prompt in facts.prompts],
        lambda prompt: prompt.text, 0.4,
    )  # fmt: skip
    todos = budget.keep("todos", "todo", facts.todos, lambda todo: todo.content, 0.2)
    reply = budget.keep_text("the last reply", facts.last_reply, 0.25)
    longer = budget.keep_text("the longer reply before it", facts.longer_reply, 0.15)
    away = budget.keep_text("the away summary", facts.away_summary, 0.1)
    summary = budget.keep_text("the summary", facts.summary.text if facts.summary else None, 0.5)
    facts = replace(
        facts,
        prompts=prompts,
        todos=todos,
        refusals=budget.keep(
            "refusals",
            "refusal",
            facts.refusals,
            lambda refusal: refusal.call + refusal.reason[:QUOTED],
            0.3,
        ),
        constraints=budget.keep(
            "constraints",
            "constraint",
            facts.constraints,
            lambda constraint: constraint.text[:QUOTED],
            0.5,
        ),
        links=budget.keep(
            "links", "link", facts.links, lambda link: link.url + link.repository, 0.3
        ),
        answers=budget.keep(
            "answers",
            "answer",
            facts.answers,
            lambda answer: answer.question[:QUOTED] + answer.answer[:QUOTED],
            0.4,
        ),
        earlier_prompts=budget.keep(
            "earlier", "earlier prompt", facts.earlier_prompts, lambda prompt: prompt.text, 0.3
        ),
    )
    made = budget.keep(
        "commits", "commit", facts.commits, lambda commit: commit.subject + commit.hash, 0.3
    )
    known = git.commits[::-1]
    known = budget.keep(
        "git", "commit in git", known, lambda commit: commit.subject + commit.hash, 0.3
    )
    facts = replace(
        facts,
        commits=made,
        checks=budget.keep(
            "checks", "check", facts.checks, lambda check: check.command + check.result
        ),
        failures=budget.keep(
            "failures",
            "failure",
            facts.failures,
            lambda failure: f"{failure.call} {failure.error} {failure.worked}",
            0.4,
        ),
        recent_activity=budget.keep("calls", "tool call", facts.recent_activity, str, 0.4),
    )
    plan = budget.keep_text("the plan", facts.plan.text if facts.plan else None, 0.5)
    running = [task for task in facts.background if task.status in ("running", "unknown")]
    ended = [task for task in facts.background if task not in running]
    background = budget.keep(
        "tasks",
        "background task",
        ended + running,
        lambda task: task.description + task.command,
        0.5,
    )
    agents = budget.keep("agents", "subagent", facts.subagents, lambda agent: agent.task * 2, 0.4)
    facts = replace(
        facts,
        background=tuple(task for task in facts.background if task in background),
        subagents=agents,
        files_modified=budget.keep("files", "changed file", facts.files_modified, str, 0.4),
        instructions=budget.keep("instructions", "instruction file", facts.instructions, str, 0.3),
        most_read=budget.keep("reads", "file read", facts.most_read, lambda read: read[0], 0.3),
    )
    git = replace(
        git,
        commits=known[::-1],
        committed=budget.keep("committed", "file in commits", git.committed, str, 0.4),
        status=budget.keep("status", "changed file in git", git.status, str, 0.6),
    )
    facts = _with_texts(replace(facts, longer_reply=longer), reply, away, summary, plan)
    return _with_rest(facts, whole, budget), git, _told(budget.cut)


def _short_prompt(prompt: Prompt, left: float) -> Prompt:
    """Shorten a prompt to at most a third of the tokens that are left."""
    room, whole = int(left / 3), estimated_tokens(prompt.text)
    if whole <= room:
        return prompt
    return replace(prompt, text=shortened(prompt.text, max(len(prompt.text) * room // whole, 1)))


def _with_texts(
    facts: Facts, reply: str | None, away: str | None, summary: str | None, plan: str | None
) -> Facts:
    return replace(
        facts,
        last_reply=reply,
        away_summary=away,
        summary=replace(facts.summary, text=summary) if facts.summary and summary else None,
        plan=replace(facts.plan, text=plan) if facts.plan and plan else None,
    )


def _with_rest(facts: Facts, whole: Facts, budget: _Budget) -> Facts:
    """Spend the tokens that are left on more of the summary, the plan and the last reply."""
    if whole.summary is not None and facts.summary != whole.summary:
        budget.left += estimated_tokens(facts.summary.text) if facts.summary else 0
        text = budget.keep_text("the summary", whole.summary.text, 1.0)
        facts = replace(facts, summary=replace(whole.summary, text=text) if text else None)
    if whole.plan is not None and facts.plan != whole.plan:
        budget.left += estimated_tokens(facts.plan.text) if facts.plan else 0
        text = budget.keep_text("the plan", whole.plan.text, 1.0)
        facts = replace(facts, plan=replace(whole.plan, text=text) if text else None)
    if facts.last_reply != whole.last_reply:
        budget.left += estimated_tokens(facts.last_reply or "")
        reply = budget.keep_text("the last reply", whole.last_reply, 1.0)
        facts = replace(facts, last_reply=reply)
    return facts


def _told(cut: dict[str, str]) -> str:
    return ", ".join(cut.values())
