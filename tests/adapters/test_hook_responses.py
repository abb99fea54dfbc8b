"""An answer lies ready for one hook; whoever renames it away has it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cockpit.adapters.hooks.responses import FACTS, HookResponses
from cockpit.core.errors import Failed
from cockpit.core.ids import AgentName

API = AgentName("api")


@pytest.fixture
def responses(tmp_path: Path) -> HookResponses:
    return HookResponses(tmp_path / "verdicts")


def test_an_answer_is_one_private_line_of_json(responses: HookResponses) -> None:
    responses.ask(API, {"Stop": {"decision": "block", "reason": "two\nlines"}})
    path = responses.folder / "api" / "ask" / "Stop"
    assert json.loads(path.read_text()) == {"decision": "block", "reason": "two\nlines"}
    assert path.read_text().count("\n") == 1
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("event", ["", "../Stop", "Stop/x", ".Stop", "Stop\n"])
def test_an_event_is_never_a_path(responses: HookResponses, event: str) -> None:
    with pytest.raises(Failed):
        responses.ask(API, {event: {}})
    assert not responses.folder.exists()


def test_an_ask_is_taken_back_as_a_whole(responses: HookResponses) -> None:
    responses.ask(API, {"PostToolUse": {"n": 1}, "Stop": {"n": 1}})
    responses.ask(API, {"PostToolUse": {"n": 2}, "Stop": {"n": 2}})
    folder = responses.folder / "api" / "ask"
    assert {path.name: json.loads(path.read_text()) for path in folder.iterdir()} == {
        "PostToolUse": {"n": 2},
        "Stop": {"n": 2},
    }
    responses.ask(API, {"Stop": {"n": 3}}, group=FACTS)
    assert {path.name for path in (responses.folder / "api").iterdir()} == {"ask", "facts"}
    assert responses.withdraw_ask(API) is True
    assert responses.withdraw_ask(API) is False
    assert responses.withdraw_ask(API, FACTS) is True
    assert list((responses.folder / "api").iterdir()) == []
