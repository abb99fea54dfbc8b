"""An answer lies ready for one hook; whoever renames it away has it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cockpit.adapters.hooks.responses import FACTS, Verdicts
from cockpit.core.errors import Failed
from cockpit.core.ids import AgentName

API = AgentName("api")


@pytest.fixture
def verdicts(tmp_path: Path) -> Verdicts:
    return Verdicts(tmp_path / "verdicts")


def test_an_answer_is_one_private_line_of_json(verdicts: Verdicts) -> None:
    verdicts.ask(API, {"Stop": {"decision": "block", "reason": "two\nlines"}})
    path = verdicts.folder / "api" / "ask" / "Stop"
    assert json.loads(path.read_text()) == {"decision": "block", "reason": "two\nlines"}
    assert path.read_text().count("\n") == 1
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("event", ["", "../Stop", "Stop/x", ".Stop", "Stop\n"])
def test_an_event_is_never_a_path(verdicts: Verdicts, event: str) -> None:
    with pytest.raises(Failed):
        verdicts.ask(API, {event: {}})
    assert not verdicts.folder.exists()


def test_an_ask_is_taken_back_as_a_whole(verdicts: Verdicts) -> None:
    verdicts.ask(API, {"PostToolUse": {"n": 1}, "Stop": {"n": 1}})
    verdicts.ask(API, {"PostToolUse": {"n": 2}, "Stop": {"n": 2}})
    folder = verdicts.folder / "api" / "ask"
    assert {path.name: json.loads(path.read_text()) for path in folder.iterdir()} == {
        "PostToolUse": {"n": 2},
        "Stop": {"n": 2},
    }
    verdicts.ask(API, {"Stop": {"n": 3}}, group=FACTS)
    assert {path.name for path in (verdicts.folder / "api").iterdir()} == {"ask", "facts"}
    assert verdicts.withdraw_ask(API) is True
    assert verdicts.withdraw_ask(API) is False
    assert verdicts.withdraw_ask(API, FACTS) is True
    assert list((verdicts.folder / "api").iterdir()) == []
