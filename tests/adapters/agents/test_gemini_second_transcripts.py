"""The second transcript of a resumed session of Gemini: removed, and nothing else is."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from cockpit.adapters.agents.gemini import second_transcripts
from cockpit.adapters.agents.gemini.runtime import Gemini
from cockpit.adapters.agents.gemini.second_transcripts import remove_second_transcripts
from cockpit.adapters.agents.gemini.sessions import record_path
from cockpit.core.ids import AgentName, SessionId
from cockpit.ports.runtimes import Signal

IDENT = "c0c2801c-3df8-4435-9d5e-b274e18758e1"
OTHER = "c0c2801c-0000-4435-9d5e-b274e18758e1"
CONTEXT = {"id": "d0", "type": "user", "content": [{"text": "<session_context>\nThis is"}]}
PROMPT = {"id": "42", "type": "user", "content": [{"text": "Keep a word."}]}
REPLY = {"id": "32", "type": "gemini", "content": "Done.", "tokens": {"input": 31_003}}


def write(home: Path, minute: str, *records: object, ident: str = IDENT, age: float = 60) -> Path:
    """Write a transcript as Gemini does; the head and its context come first."""
    folder = home / ".gemini" / "tmp" / "repo" / "chats"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"session-2026-11-28T{minute}-{ident[:8]}.jsonl"
    head = {"sessionId": ident, "projectHash": "ff", "kind": "main"}
    lines = [head, {"$set": {"messages": [CONTEXT], "lastUpdated": "x"}}, *records]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    now = path.stat().st_mtime
    os.utime(path, (now - age, now - age))
    return path


def environment(home: Path) -> dict[str, str]:
    return {"GEMINI_CLI_HOME": str(home)}


def test_the_second_transcript_is_removed_and_the_first_is_the_sessions(tmp_path: Path) -> None:
    first = write(tmp_path, "00-33", PROMPT, REPLY)
    second = write(tmp_path, "00-36", {"$set": {"lastUpdated": "y"}})
    assert record_path(SessionId(IDENT), environment(tmp_path)) == first
    remove_second_transcripts(environment(tmp_path))
    assert (first.exists(), second.exists()) == (True, False)


@pytest.mark.parametrize("event", ["BeforeAgent", "AfterAgent", "SessionEnd"])
def test_a_report_of_the_session_removes_it(tmp_path: Path, event: str) -> None:
    first, second = write(tmp_path, "00-33", PROMPT, REPLY), write(tmp_path, "00-36")
    payload = {"session_id": IDENT, "transcript_path": str(first)}
    Gemini(tmp_path).cli_events(Signal(AgentName("api"), "SessionStart", payload, 1.0))
    assert second.exists()
    Gemini(tmp_path).cli_events(Signal(AgentName("api"), event, payload, 1.0))
    assert (first.exists(), second.exists()) == (True, False)


async def test_it_is_removed_after_a_resume_without_a_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(second_transcripts, "QUIET_SECONDS", -0.9)
    first, second = write(tmp_path, "00-33", PROMPT, REPLY), write(tmp_path, "00-36")
    payload = {"session_id": IDENT, "transcript_path": str(first), "source": "resume"}
    Gemini(tmp_path).cli_events(Signal(AgentName("api"), "SessionStart", payload, 1.0))
    async with asyncio.timeout(120):
        while second.exists():
            await asyncio.sleep(0.02)
    assert first.exists()


@pytest.mark.parametrize(
    ("records", "ident", "age"),
    [
        ([PROMPT], IDENT, 60.0),
        ([REPLY], IDENT, 60.0),
        ([{"$set": {"messages": [CONTEXT, PROMPT]}}], IDENT, 60.0),
        (["no record"], IDENT, 60.0),
        ([{"$set": 7}], IDENT, 60.0),
        ([], OTHER, 60.0),
        ([], IDENT, 0.0),
    ],
)
def test_no_other_transcript_is_removed(
    tmp_path: Path, records: list[object], ident: str, age: float
) -> None:
    first = write(tmp_path, "00-33", PROMPT, REPLY, REPLY, REPLY)
    second = write(tmp_path, "00-36", *records, ident=ident, age=age)
    remove_second_transcripts(environment(tmp_path))
    assert first.exists()
    assert second.exists()


def test_a_session_without_a_prompt_keeps_its_transcripts(tmp_path: Path) -> None:
    paths = [write(tmp_path, "00-33", {"$set": {"lastUpdated": "y"}}), write(tmp_path, "00-36")]
    remove_second_transcripts(environment(tmp_path))
    assert all(path.exists() for path in paths)


def test_what_is_no_file_is_left_alone(tmp_path: Path) -> None:
    first = write(tmp_path, "00-33", PROMPT, REPLY)
    pipe = first.with_name(f"session-2026-11-28T00-36-{IDENT[:8]}.jsonl")
    os.mkfifo(pipe)
    remove_second_transcripts(environment(tmp_path))
    assert first.exists()
    assert pipe.exists()
    remove_second_transcripts(environment(tmp_path / "nowhere"))
