"""Shorten the facts of a document that no model wrote, so that they fit into a number of tokens.

Keeps the facts that a successor needs most. Lists lose their oldest items, long texts lose their
end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, TypeVar

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.facts import Facts, Prompt
from cockpit.core.markdown import shortened
from cockpit.core.plurals import counted
from cockpit.core.verified_facts import GitView

T = TypeVar("T")
Holder = TypeVar("Holder", Facts, GitView)

ITEM = 12
"""Estimated tokens of a list item besides its text: the mark, the turn, quotes."""
SMALLEST_TEXT = 40
"""A text that would be cut to fewer tokens is left out."""
QUOTED = 400
"""Maximum characters that a list of the document quotes from one text."""


def estimated_tokens(text: str) -> int:
    """Estimate the tokens of a text: one per 3.5 ASCII characters, and one per 1.3 other
    characters."""
    if text.isascii():
        return round(len(text) / 3.5)
    ascii_count = sum(char < "\x80" for char in text)
    return round(ascii_count / 3.5 + (len(text) - ascii_count) / 1.3)


@dataclass(frozen=True, slots=True)
class _List:
    """How to shorten one list of facts: the measured text of an item, and the list's share."""

    noun: str
    """The word for one item, for the text about the removed items."""
    text: Callable[[Any], str]
    """Returns the part of an item's text that the document contains."""
    share: float = 1.0
    """The share of the remaining tokens that the list may use, from 0 to 1."""


LATEST = {
    "prompts": _List("prompt", lambda prompt: prompt.text, 0.4),
    "todos": _List("todo", lambda todo: todo.content, 0.2),
}
"""By field of `Facts`, the lists that get tokens first. In this table and in those below, the most
important field is first."""
SAID = {
    "refusals": _List("refusal", lambda refusal: refusal.call + refusal.reason[:QUOTED], 0.3),
    "constraints": _List("constraint", lambda constraint: constraint.text[:QUOTED], 0.5),
    "links": _List("link", lambda link: link.url + link.repository, 0.3),
    "answers": _List(
        "answer", lambda answer: answer.question[:QUOTED] + answer.answer[:QUOTED], 0.4
    ),
    "earlier_prompts": _List("earlier prompt", lambda prompt: prompt.text, 0.3),
    "commits": _List("commit", lambda commit: commit.subject + commit.hash, 0.3),
}
GIT_COMMITS = _List("commit in git", lambda commit: commit.subject + commit.hash, 0.3)
DONE = {
    "checks": _List("check", lambda check: check.command + check.result),
    "failures": _List(
        "failure", lambda failure: f"{failure.call} {failure.error} {failure.worked}", 0.4
    ),
    "recent_activity": _List("tool call", str, 0.4),
}
BACKGROUND = _List("background task", lambda task: task.description + task.command, 0.5)
SURROUNDINGS = {
    "subagents": _List("subagent", lambda agent: agent.task * 2, 0.4),
    "files_modified": _List("changed file", str, 0.4),
    "instructions": _List("instruction file", str, 0.3),
}
MOST_READ = _List("often read file", lambda read: read[0], 0.3)
GIT_FILES = {
    "committed": _List("file in commits", str, 0.4),
    "status": _List("changed file in git", str, 0.6),
}
"""By field of `GitView`, the lists that get tokens last."""


@dataclass(slots=True)
class _Budget:
    left: float
    """The remaining tokens."""
    cut: dict[str, str] = field(default_factory=dict)
    """A text about the removed facts, by kind of fact."""

    def keep_lists(self, of: Holder, lists: Mapping[str, _List]) -> Holder:
        """Return the facts with as many of the last items of each list as fit.

        The lists use the remaining tokens one after the other, in the order of `lists`.
        """
        kept: dict[str, Any] = {
            name: self.keep(name, part, getattr(of, name)) for name, part in lists.items()
        }
        return replace(of, **kept)

    def keep(self, kind: str, part: _List, items: Sequence[T]) -> tuple[T, ...]:
        """Return as many of the last items as fit into the list's share of the budget, in their
        order."""
        room, kept = self.left * part.share, 0
        for item in reversed(items):
            cost = estimated_tokens(part.text(item)) + ITEM
            if cost > room:
                break
            room -= cost
            self.left -= cost
            kept += 1
        if kept < len(items):
            self.cut[kind] = f"{len(items) - kept} of {counted(len(items), part.noun)}"
        return tuple(items[len(items) - kept :])

    def keep_text(self, kind: str, text: str | None, share: float) -> str | None:
        """Return as much of the beginning of a text as fits into this share of the budget.

        None if the text must be cut to fewer than `SMALLEST_TEXT` tokens. An empty text or None is
        returned unchanged.
        """
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
    """Return the facts of transcript and git that fit into a document of about `tokens` tokens.

    The third value is a text about the removed facts; empty if all facts fit. The goal is never
    cut. At least half of the tokens are for the facts, even if the goal is long.
    """
    fixed = 900 + estimated_tokens(goal if goal is not None else facts.goal or "")
    budget = _Budget(max(tokens - fixed, tokens / 2))
    whole = facts
    short = [_short_prompt(prompt, budget.left) for prompt in facts.prompts]
    facts = replace(facts, prompts=tuple(short))
    facts = budget.keep_lists(facts, LATEST)
    reply = budget.keep_text("the last reply", facts.last_reply, 0.25)
    longer = budget.keep_text("the longer reply before the last one", facts.longer_reply, 0.15)
    away = budget.keep_text("the CLI's summary while the user was away", facts.away_summary, 0.1)
    summary = budget.keep_text("the summary", facts.summary.text if facts.summary else None, 0.5)
    facts = budget.keep_lists(facts, SAID)
    known = budget.keep("git", GIT_COMMITS, git.commits[::-1])
    facts = budget.keep_lists(facts, DONE)
    plan = budget.keep_text("the plan", facts.plan.text if facts.plan else None, 0.5)
    running = [task for task in facts.background if task.status in ("running", "unknown")]
    ended = [task for task in facts.background if task not in running]
    background = budget.keep("background", BACKGROUND, ended + running)
    in_order = tuple(task for task in facts.background if task in background)
    facts = replace(facts, background=in_order)
    facts = budget.keep_lists(facts, SURROUNDINGS)
    # Reversed, because `keep` keeps the last items, and the file that was read most often is first.
    most_read = budget.keep("most_read", MOST_READ, facts.most_read[::-1])
    facts = replace(facts, most_read=most_read[::-1])
    git = budget.keep_lists(replace(git, commits=known[::-1]), GIT_FILES)
    facts = _with_texts(replace(facts, longer_reply=longer), reply, away, summary, plan)
    return _with_rest(facts, whole, budget), git, _told(budget.cut)


def _short_prompt(prompt: Prompt, left: float) -> Prompt:
    """Return a prompt, shortened to at most a third of the tokens that are left."""
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
    """Return the facts with more of the summary, the plan and the last reply, in this order.

    Uses the tokens that are left.
    """
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
