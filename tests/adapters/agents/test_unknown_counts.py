"""A reply whose record lacks the input tokens: the context is unknown, not almost empty."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from cockpit.adapters.agents.claude import record as claude
from cockpit.adapters.agents.codex import record as codex
from cockpit.adapters.agents.copilot import record as copilot
from cockpit.adapters.agents.gemini import record as gemini
from cockpit.adapters.agents.opencode import record as opencode
from cockpit.core.session import AssistantReplied, SessionEvent, Skipped

DATA = Path(__file__).parents[2] / "data"
Parse = Callable[[bytes], Sequence[SessionEvent] | Skipped]


@pytest.mark.parametrize(
    ("parse", "file", "field"),
    [
        (claude.parse, "transcripts/tui_tasks_compaction", b'"input_tokens"'),
        (codex.parse, "codex/patch_and_command", b'"input_tokens"'),
        (copilot.parse, "copilot/answers", b'"inputTokens"'),
        (gemini.parse, "gemini/write_and_command", b'"input"'),
        (opencode.parse, "opencode/transcript", b'"input"'),
    ],
)
def test_a_renamed_input_count_is_noticed(parse: Parse, file: str, field: bytes) -> None:
    replies = 0
    for line in (DATA / f"{file}.jsonl").read_bytes().splitlines():
        events = parse(line)
        assert not isinstance(events, Skipped)
        if any(isinstance(each, AssistantReplied) and each.context for each in events):
            replies += 1
            renamed = line.replace(field, b'"renamed"')
            assert parse(renamed) == Skipped("not-a-record", reading=True)
    assert replies
