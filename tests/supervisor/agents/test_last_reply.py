"""The reply that ends a turn, as a restarted supervisor reads it from each CLI's transcript."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from cockpit.adapters.agents.codex.record import parse as parse_codex
from cockpit.adapters.agents.copilot.record import parse as parse_copilot
from cockpit.adapters.agents.gemini.record import parse as parse_gemini
from cockpit.adapters.agents.opencode.record import parse as parse_opencode
from cockpit.core.reading import Confidence, Window
from cockpit.core.session import (
    AssistantReplied,
    Interrupted,
    SessionEvent,
    Skipped,
    ToolUse,
    TurnEnded,
    Usage,
    UserSaid,
)
from cockpit.supervisor.agents.session_state import SessionState

DATA = Path(__file__).parents[2] / "data"
Parse = Callable[[bytes], Sequence[SessionEvent] | Skipped]


def session(events: Sequence[SessionEvent]) -> SessionState:
    state = SessionState(
        directory="/w", window_of=lambda _model: Window(200_000, Confidence.ASSUMED)
    )
    state.read(events, 1.0)
    return state


def reply(text: str = "", *tools: ToolUse) -> AssistantReplied:
    return AssistantReplied("m", "", None, Usage(), text=text, tools=tools)


@pytest.mark.parametrize(
    ("parse", "recording"),
    [
        (parse_codex, "codex/patch_and_command"),
        (parse_copilot, "copilot/blocked"),
        (parse_gemini, "gemini/write_and_command"),
        (parse_opencode, "opencode/transcript"),
    ],
    ids=["codex", "copilot", "gemini", "opencode"],
)
def test_the_last_reply_is_in_the_transcript_of_each_cli(parse: Parse, recording: str) -> None:
    lines = (DATA / f"{recording}.jsonl").read_bytes().splitlines()
    events: list[SessionEvent] = []
    for line in lines:
        parsed = parse(line)
        assert not isinstance(parsed, Skipped)
        events += parsed
    texts = [one.text for one in events if isinstance(one, AssistantReplied) and one.text]
    assert session(events).activity.last_reply == texts[-1]


def test_only_a_text_after_the_last_tool_ends_a_turn() -> None:
    tool = ToolUse("t", "Bash", {"command": "ls"})
    announced = session([UserSaid("go"), reply("I look."), reply("", tool), TurnEnded()])
    assert announced.activity.last_reply == ""
    cut = session([UserSaid("go"), reply("HANDOFF: COMPLETE"), Interrupted(), TurnEnded()])
    assert cut.activity.last_reply == ""
    over = session([reply("Done."), TurnEnded(), UserSaid("go"), TurnEnded()])
    assert over.activity.last_reply == ""
