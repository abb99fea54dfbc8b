"""The real Claude Code CLI against the simulated model: what the demo relies on."""

from __future__ import annotations

import json
import shlex
import subprocess
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from cockpit.core.document import validate
from cockpit.core.request import request
from cockpit.demo.job import Job
from cockpit.demo.jobs import ROUNDING, WEEKS, jobs_for
from cockpit.demo.leftovers import end_leftovers
from cockpit.demo.model import ModelServer
from cockpit.demo.scratch import MODEL, Scratch, agent_environment, make_scratch
from cockpit.demo.script import Script
from tests.journeys.short_session import SHORT_SESSION

pytestmark = [pytest.mark.claude, pytest.mark.tmux]
SECONDS = 240.0


class Cockpit:
    """One CLI in a tmux pane of its own, with a hook that notes events and may answer."""

    def __init__(self, scratch: Scratch, model: ModelServer) -> None:
        self.scratch = scratch
        self.model = model
        self.events = scratch.folder / "events"
        self.answer = scratch.folder / "answer"
        self.socket = scratch.folder / "t"
        self.events.mkdir()

    def settings(self) -> Path:
        hook = self.scratch.folder / "hook"
        note, answer = shlex.quote(str(self.events)), shlex.quote(str(self.answer))
        hook.write_text(
            "#!/bin/sh\nat=$(date +%s%N)\n"
            f"cat > {note}/part-$at && mv {note}/part-$at {note}/$at-$1\n"
            f'[ "$1" != PostToolUse ] || {{ mv {answer} {answer}.$$ && cat {answer}.$$; }} '
            "2>/dev/null\nexit 0\n"
        )
        hook.chmod(0o755)
        hooks = {
            event: [{"hooks": [{"type": "command", "command": str(hook), "args": [event]}]}]
            for event in ("SessionStart", "PostToolUse", "Stop", "PreCompact", "PostCompact")
        }
        path = self.scratch.folder / "settings.json"
        path.write_text(json.dumps({"hooks": hooks}))
        return path

    def start(self, job: Job) -> None:
        key = json.loads((self.scratch.folder / "claude" / ".claude.json").read_text())
        (suffix,) = key["customApiKeyResponses"]["approved"]
        environment = {
            **self.scratch.environment(),
            **agent_environment(suffix, self.model.url),
            **SHORT_SESSION,
        }
        pairs = [f"{name}={value}" for name, value in environment.items()]
        flags = ["--session-id", str(uuid.uuid4()), "--settings", str(self.settings())]
        flags += ["--model", MODEL, "--permission-mode", "acceptEdits", "--allowedTools", "Bash"]
        flags += ["--disallowedTools", "AskUserQuestion"]  # nobody answers here
        claude = str(self.scratch.folder / "bin" / "claude")
        repository = str(self.scratch.repository)
        self.tmux("new-session", "-d", "-x", "120", "-y", "40", "-c", repository,
                  "env", "-i", *pairs, claude, *flags, "--", job.prompt)  # fmt: skip

    def tmux(self, *words: str) -> str:
        command = ["tmux", "-S", str(self.socket), "-f", "/dev/null", *words]
        environment = self.scratch.environment()
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        return done.stdout

    def seen(self, event: str) -> list[Path]:
        return sorted(self.events.glob(f"*-{event}"))

    def wait(self, event: str) -> None:
        deadline = time.monotonic() + SECONDS
        while not self.seen(event):
            assert time.monotonic() < deadline, self.tmux("capture-pane", "-p")
            time.sleep(0.05)


@pytest.fixture
def cockpit() -> Iterator[Cockpit]:
    with ModelServer(Script(pace=0.05)) as model:
        scratch = make_scratch(jobs_for(1), model.url)
        cockpit = Cockpit(scratch, model)
        try:
            assert scratch.real, scratch.cli
            yield cockpit
        finally:
            cockpit.tmux("kill-server")
            end_leftovers(scratch.folder)
            scratch.remove()


@pytest.mark.long
def test_a_request_in_the_middle_of_a_turn_gets_a_document(cockpit: Cockpit) -> None:
    path = cockpit.scratch.repository / ".cockpit/handoffs/handoff-2026-11-21-201500.md"
    text = request(str(path), "tool")
    asked = {"hookEventName": "PostToolUse", "additionalContext": text}
    cockpit.start(ROUNDING)
    cockpit.wait("PostToolUse")
    ready = cockpit.scratch.folder / "ready"
    ready.write_text(json.dumps({"hookSpecificOutput": asked}))
    ready.replace(cockpit.answer)
    cockpit.wait("Stop")
    assert validate(path.read_text()) == []
    stop = json.loads(cockpit.seen("Stop")[0].read_text())
    assert "document is written" in stop["last_assistant_message"]
    assert cockpit.model.requests[-1].session_id == stop["session_id"]
    assert not cockpit.seen("PreCompact")


@pytest.mark.long
def test_a_full_window_is_compacted_and_the_job_goes_on(cockpit: Cockpit) -> None:
    cockpit.start(WEEKS)
    cockpit.wait("Stop")
    assert len(cockpit.seen("PreCompact")) == len(cockpit.seen("PostCompact")) == 1
    stop = json.loads(cockpit.seen("Stop")[0].read_text())
    assert stop["last_assistant_message"].endswith("HANDOFF: COMPLETE")
    summaries = [request for request in cockpit.model.requests if request.asks_for_summary]
    assert len(summaries) == 1
    assert summaries[0].has_tools
    subjects = subprocess.run(
        ["git", "log", "--format=%s"],
        cwd=cockpit.scratch.repository,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert len(subjects) == 4
