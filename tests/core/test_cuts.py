"""No part of a secret is left where a text is cut."""

from __future__ import annotations

import pytest

from cockpit.core.activity import LENGTH, activity
from cockpit.core.collect import Collector
from cockpit.core.composition import DocumentInput, compose
from cockpit.core.document import SECTIONS
from cockpit.core.facts_draft import draft_from_facts
from cockpit.core.front_matter import FrontMatter
from cockpit.core.hook_payload import (
    LONGEST_PROMPT,
    EventFields,
    SessionFields,
    context_fields,
    payload,
)
from cockpit.core.markdown import one_line, shortened
from cockpit.core.redaction import Redactor
from cockpit.core.safetext import cut_at_word
from cockpit.core.session import AssistantReplied, ToolUse, Usage
from cockpit.core.verified_facts import GitView

SECRET = "correctHorse7BatteryStapleRotatedTwice"
KEY = "AKIA" + "Q3EGTR7ZPL2MNB5X"


@pytest.mark.parametrize(
    ("text", "limit", "kept"),
    [
        ("one two", 7, "one two"),
        ("one two three", 7, "one two"),
        ("one two", 6, "one"),
        ("one two", 4, "one"),
        ("onetwo", 3, ""),
        ("\u6f22\u5b57\u6f22\u5b57", 2, "\u6f22\u5b57"),
        ("\u6f22 abc", 3, "\u6f22"),
    ],
)
def test_a_word_is_kept_whole_or_not_at_all(text: str, limit: int, kept: str) -> None:
    assert cut_at_word(text, limit) == kept


@pytest.mark.parametrize("before", range(40, 110, 7))
def test_a_tool_call_that_is_cut_holds_no_part_of_a_value(before: int) -> None:
    command = f"{'x' * before} --password={SECRET} {'y' * 50}"
    line = activity(ToolUse("1", "Bash", {"command": command}))
    assert len(line) <= LENGTH
    assert SECRET in line or "correct" not in line


def test_no_line_of_a_document_holds_a_part_of_a_value() -> None:
    for before in range(150, 205, 5):
        text = f"{'x ' * (before // 2)}{SECRET} y"
        for cut in (one_line(text, 200), shortened(text, 200)):
            assert SECRET in cut or "correct" not in cut
    assert "correct" not in shortened(f"{'x' * 195} {SECRET}", 200)


def test_a_reply_that_is_cut_leaves_no_part_of_a_value_in_a_draft() -> None:
    collector = Collector()
    reply = f"{'x ' * 1985}{SECRET} {'y ' * 9000}{SECRET}{' z' * 5000}"
    collector.feed(AssistantReplied("m", "x", Usage(), Usage(), text=reply))
    draft = draft_from_facts(collector.facts(), GitView())
    assert "correct" not in Redactor([SECRET]).redact(draft).text


def test_a_branch_is_cleaned_wherever_a_document_names_it() -> None:
    git = GitView(is_repository=True, branch=f"rotate-{KEY}", head="0" * 40)
    draft = "# Handoff\n\n" + "\n\n".join(f"## {title}\n\nNone." for title in SECTIONS)
    collector = Collector()
    front = FrontMatter(branch=git.branch, worktree=f"/w/{KEY}")
    text = compose(DocumentInput(draft, front, collector.facts(), git, "Go.", redactor=Redactor()))
    assert KEY not in text
    assert text.count("rotate-[REDACTED:") >= 3


def test_a_hook_is_told_no_part_of_a_value_and_no_secret_branch() -> None:
    told = EventFields(
        event="session_start",
        id="1",
        at="",
        text="",
        context=context_fields(1, 2, "m", "act", "reported"),
        session=SessionFields("s", "api", "j", "/w", None, f"rotate-{KEY}", False, None, 0),
        repo_root=None,
        worktree=None,
        cwd="/w",
        original_prompt=f"{'x ' * (LONGEST_PROMPT // 2 - 10)}{SECRET} y{' z' * 9000}",
    )
    redactor = Redactor([SECRET])
    plain = payload(told, lambda text: redactor.redact(text).text)
    assert "correct" not in plain["original_prompt"]
    assert len(plain["original_prompt"]) <= LONGEST_PROMPT
    assert KEY not in plain["session"]["branch_name"]
