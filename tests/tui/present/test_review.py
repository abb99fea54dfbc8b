"""The lines above a document."""

from __future__ import annotations

from typing import get_args

import pytest
from rich.cells import cell_len

from cockpit.core.checked_claims import CheckedDocument
from cockpit.core.front_matter import FrontMatter
from cockpit.core.handoff import states
from cockpit.tui.present.permission import title_spans as permission_title
from cockpit.tui.present.review import facts_line, question_spans, title_spans, without_title
from cockpit.tui.present.span import Span, plain
from cockpit.wire.status import AgentStatus, HandoffStatus, Reason
from tests.tui.scene import fleet


@pytest.mark.parametrize("reason", get_args(Reason))
def test_every_reason_of_a_handoff_is_told_in_words(reason: Reason) -> None:
    handoff = HandoffStatus(id="h", reason=reason, phase="review", since="", document="/x.md")
    agent = AgentStatus(
        name="api",
        runtime="claude",
        state="working",
        mode="auto",
        strategy="handoff",
        directory="/w",
        max_handoffs=3,
        handoff=handoff,
    )
    text = "".join(span.text for span in title_spans(agent, 80))
    assert "because " in text
    assert ("context" in text) is (reason == "threshold")


@pytest.mark.parametrize(
    ("to", "host", "begins"),
    [
        (None, None, "a new one in the same worktree"),
        ("codex", None, "a session of codex in the same worktree"),
        (None, "gpu1", "a new one on gpu1"),
    ],
)
def test_what_approving_begins_is_named(to: str | None, host: str | None, begins: str) -> None:
    handoff = HandoffStatus(id="h", reason="manual", phase="review", since="", to=to, host=host)
    agent = AgentStatus(
        name="api",
        runtime="claude",
        state="needs_you",
        mode="prompt",
        strategy="handoff",
        directory="/w",
        max_handoffs=3,
        handoff=handoff,
    )
    assert f"ends this session and starts {begins}," in plain(question_spans(agent))


def test_the_wire_knows_the_reasons_of_the_rules() -> None:
    assert get_args(Reason) == get_args(states.Reason)


def test_only_a_heading_that_says_what_the_title_says_is_left_out() -> None:
    assert without_title("\n# Handoff\n\n## Goal\n") == "\n\n## Goal\n"
    for body in ("# Handoff of the queue\n", "## Handoff\n", "Words\n# Handoff\n", ""):
        assert without_title(body) == body


@pytest.mark.parametrize("width", [20, 60, 120])
def test_wrong_claims_come_first_and_stand_out(width: int) -> None:
    checked = CheckedDocument("", known=3, unknown=0, missing=1)
    spans = facts_line(FrontMatter(), width, checked)
    assert spans[0] == Span(" ✗ 1 file not found", "error")
    assert cell_len(plain(spans)) == width
    assert "✗" not in plain(facts_line(FrontMatter(), 120, CheckedDocument("", known=3, unknown=0)))


@pytest.mark.parametrize(("width", "whole"), [(40, False), (80, False), (100, True)])
def test_the_title_has_the_whole_name_if_there_is_room_for_it(width: int, whole: bool) -> None:
    name = f"{'h' * 32}/{'a' * 32}"
    asked = next(one for one in fleet() if one.name == "api").model_copy(update={"name": name})
    review = "".join(span.text for span in title_spans(asked, width, [name, "other"]))
    dialog = "".join(
        span.text for span in permission_title(asked, width + 20, [name, "other"], "question")
    )
    for title in (review, dialog):
        assert (name in title) == whole
        assert "1 of 2" in title or width == 40
