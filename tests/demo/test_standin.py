"""The stand-in behaves towards cockpit as the real CLI does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cockpit.demo.standin.program import install
from cockpit.demo.standin.record import record_path

DOCUMENT = "handoff-2026-11-21-201500.md"
PATIENCE = 120.0


def until(reached: Callable[[], object], seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.02)


class Agent:
    """One stand-in without a terminal, with a hook that notes every event and obeys files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.work = self.folder / "work"
        self.events = self.folder / "events"
        self.work.mkdir()
        self.events.mkdir()
        self.claude = install(self.folder / "bin")
        self.session_id = str(uuid.uuid4())
        self.processes: list[subprocess.Popen[str]] = []
        hook = self.folder / "hook"
        hook.write_text(
            "#!/bin/sh\n"
            f'cd {self.events} && n=$(ls | wc -l) && cat > "$(printf %03d "$n")-$1"\n'
            f"[ -f {self.folder}/answer-$1 ] && mv {self.folder}/answer-$1 gone && cat gone\n"
            "exit 0\n"
        )
        hook.chmod(0o755)
        names = "SessionStart UserPromptSubmit PostToolUse Stop StopFailure PreCompact PostCompact"
        hooks = {
            name: [{"hooks": [{"type": "command", "command": str(hook), "args": [name]}]}]
            for name in [*names.split(), "SessionEnd"]
        }
        line = {"type": "command", "command": f"cat > {self.folder}/status; echo line"}
        self.settings = self.folder / "settings.json"
        self.settings.write_text(json.dumps({"hooks": hooks, "statusLine": line}))

    @property
    def record(self) -> Path:
        return record_path(self.folder / "claude", self.work, self.session_id)

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [str(self.claude), *arguments],
            cwd=self.work,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.folder),
                "CLAUDE_CONFIG_DIR": str(self.folder / "claude"),
                "STANDIN_PACE": "0",
                **environment,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.processes.append(process)
        return process

    def open(self, prompt: str, **environment: str) -> subprocess.Popen[str]:
        flags = ("--session-id", self.session_id, "--settings", str(self.settings))
        return self.start(*flags, "--", prompt, **environment)

    def answer(self, event: str, answer: dict[str, Any]) -> None:
        (self.folder / f"answer-{event}").write_text(json.dumps(answer))

    def seen(self) -> list[str]:
        return [path.name[4:] for path in sorted(self.events.glob("[0-9]*"))]

    def payload(self, event: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(sorted(self.events.glob(f"*-{event}"))[-1].read_text())
        return found

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.record.read_text().splitlines()]

    def note(self, process: subprocess.Popen[str]) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.note_path(process).read_text())
        return found

    def note_path(self, process: subprocess.Popen[str]) -> Path:
        return self.folder / "claude" / "sessions" / f"{process.pid}.json"

    def is_idle(self, process: subprocess.Popen[str]) -> bool:
        return self.note_path(process).exists() and self.note(process)["status"] == "idle"

    def close(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.communicate()


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    agent = Agent(tmp_path)
    yield agent
    agent.close()


def end(process: subprocess.Popen[str]) -> int:
    process.send_signal(signal.SIGTERM)
    return process.wait(timeout=PATIENCE)


def test_says_that_it_is_a_stand_in(agent: Agent) -> None:
    process = agent.start("--version")
    output, _ = process.communicate(timeout=PATIENCE)
    assert "stand-in" in output


def test_calls_hooks_in_the_order_of_the_cli(agent: Agent) -> None:
    process = agent.open("Count.", STANDIN_STEPS="3")
    until(lambda: agent.is_idle(process))
    assert end(process) == 143
    assert agent.seen() == [
        "SessionStart",
        "UserPromptSubmit",
        "PostToolUse",
        "PostToolUse",
        "PostToolUse",
        "Stop",
        "SessionEnd",
    ]
    assert agent.payload("SessionEnd")["reason"] == "other"
    assert "HANDOFF: COMPLETE" in agent.payload("Stop")["last_assistant_message"]
    assert not agent.note_path(process).exists()


def test_reports_the_context_and_records_it(agent: Agent) -> None:
    process = agent.open("Count.", STANDIN_STEPS="3", STANDIN_WINDOW="100000")
    until(lambda: agent.is_idle(process))
    status = json.loads((agent.folder / "status").read_text())
    usage = [entry for entry in agent.lines() if entry["type"] == "assistant"][-1]["message"][
        "usage"
    ]
    assert status["context_window"]["context_window_size"] == 100_000
    assert status["context_window"]["used_percentage"] == 72
    context = usage["input_tokens"] + usage["cache_creation_input_tokens"]
    assert context + usage["cache_read_input_tokens"] == 72_000
    assert status["session_id"] == agent.session_id


def test_writes_the_document_when_a_tools_hook_asks(agent: Agent) -> None:
    path = agent.work / DOCUMENT
    asked = {"hookEventName": "PostToolUse", "additionalContext": f"Write a document to {path}."}
    agent.answer("PostToolUse", {"hookSpecificOutput": asked})
    process = agent.open("Count.")
    until(lambda: agent.is_idle(process))
    assert "[x] Count step 1 of 9" in path.read_text()
    assert "[ ] Count step 2 of 9" in path.read_text()
    kinds = [entry.get("attachment", {}).get("type") for entry in agent.lines()]
    assert kinds.count("hook_additional_context") == 1


def test_goes_on_when_its_stop_is_refused(agent: Agent) -> None:
    path = agent.work / DOCUMENT
    agent.answer("Stop", {"decision": "block", "reason": f"Write a document to {path}."})
    process = agent.open("Count.", STANDIN_PAUSE="2")
    until(lambda: agent.is_idle(process))
    assert path.exists()
    assert agent.payload("Stop")["stop_hook_active"] is True
    assert any(entry.get("isMeta") and "Stop hook" in str(entry) for entry in agent.lines())


def test_a_successor_goes_on_where_the_document_ends(agent: Agent) -> None:
    path = agent.work / DOCUMENT
    path.write_text("# Handoff\n- [x] Count step 6 of 9\n- [ ] Count step 7 of 9\n")
    process = agent.open(f"You take over. Read {path} first.")
    until(lambda: agent.is_idle(process))
    said = [
        block["text"]
        for entry in agent.lines()
        if entry["type"] == "assistant"
        for block in entry["message"]["content"]
        if block["type"] == "text"
    ]
    assert said[1:3] == ["Step 7 of 9.", "Step 8 of 9."]


def test_a_resumed_session_keeps_its_record(agent: Agent) -> None:
    process = agent.open("Count.", STANDIN_PAUSE="2")
    until(lambda: agent.is_idle(process))
    end(process)
    before = len(agent.lines())
    flags = ("--resume", agent.session_id, "--settings", str(agent.settings), "--", "Go on.")
    again = agent.start(*flags, STANDIN_PAUSE="2")
    until(lambda: agent.is_idle(again))
    assert agent.payload("SessionStart")["source"] == "resume"
    assert "Step 3 of 9." in str(agent.lines()[before:])
    assert "Step 1 of 9." not in str(agent.lines()[before:])


def test_refuses_an_id_that_is_taken(agent: Agent) -> None:
    process = agent.open("Count.", STANDIN_STEPS="2")
    until(lambda: agent.is_idle(process))
    second = agent.open("Count.")
    _, error = second.communicate(timeout=PATIENCE)
    assert second.returncode == 1
    assert "already in use" in error


def test_compacts_below_the_window(agent: Agent) -> None:
    process = agent.open("Count.", STANDIN_SETTLES="0")
    until(lambda: agent.is_idle(process))
    boundaries = [entry for entry in agent.lines() if entry.get("subtype") == "compact_boundary"]
    assert [entry["compactMetadata"]["preTokens"] for entry in boundaries] == [168_000]
    assert "HANDOFF: COMPLETE" in agent.payload("Stop")["last_assistant_message"]
    assert agent.seen().count("PostCompact") == 1


def test_faults_are_kept_to_first_or_successor(agent: Agent) -> None:
    first = agent.open("Count.", STANDIN_FAULTS="first:exit")
    assert first.wait(timeout=PATIENCE) == 1
    successor = agent.open(f"Read {agent.work / DOCUMENT}.", STANDIN_FAULTS="first:exit")
    until(lambda: agent.is_idle(successor))


def test_a_deaf_one_has_to_be_killed(agent: Agent) -> None:
    process = agent.open("Count.", STANDIN_FAULTS="deaf", STANDIN_STEPS="2")
    until(lambda: agent.is_idle(process))
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGHUP)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=0.5)


def test_an_api_error_is_no_reading(agent: Agent) -> None:
    process = agent.open("Count.", STANDIN_FAULTS="overloaded")
    until(lambda: agent.is_idle(process))
    assert agent.lines()[-1]["isApiErrorMessage"] is True
    assert agent.seen()[-1] == "StopFailure"


def test_a_mute_one_keeps_no_record(agent: Agent) -> None:
    process = agent.open("Count.", STANDIN_FAULTS="mute", STANDIN_STEPS="2")
    until(lambda: agent.is_idle(process))
    assert not agent.record.exists()


def test_an_unknown_fault_is_refused(agent: Agent) -> None:
    process = agent.open("Count.", STANDIN_FAULTS="sulk")
    _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "sulk" in error
