"""The real CLI answers aside, from a copy of a session; the model is simulated."""

from __future__ import annotations

import json
import os
import subprocess
import uuid
from pathlib import Path

import pytest

from cockpit.adapters.agents.claude.fork import ForkOrder, ask_fork
from cockpit.adapters.agents.claude.program import bundled_path
from cockpit.core.errors import Failed
from cockpit.demo.conversation import Reply, Request
from cockpit.demo.model import ModelServer

BUNDLED = bundled_path()
pytestmark = [
    pytest.mark.claude,
    pytest.mark.skipif(BUNDLED is None, reason="the SDK of this platform brings no CLI"),
]
KEY = "made-up-key-for-a-simulated-model"


def answer(request: Request) -> Reply:
    if request.has_tools:
        return Reply("I counted to three.")
    return Reply("# Handoff\n\nThe copy remembers.")


def environment(home: Path, url: str) -> dict[str, str]:
    config = home / "claude"
    config.mkdir()
    known = {"hasCompletedOnboarding": True, "projects": {}}
    approved = {"customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []}}
    (config / ".claude.json").write_text(json.dumps(known | approved))
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "TMPDIR": str(home),
        "CLAUDE_CONFIG_DIR": str(config),
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": url,
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }


@pytest.mark.long
async def test_a_copy_answers_without_tools_and_the_session_stays_as_it_was(own_home: Path) -> None:
    work = (own_home / "work").resolve()
    work.mkdir()
    session = str(uuid.uuid4())
    with ModelServer(answer) as model:
        env = environment(own_home, model.url)
        command = [str(BUNDLED), "-p", "Count to three.", "--session-id", session]
        subprocess.run(command, cwd=work, env=env, check=True, capture_output=True)
        records = list((own_home / "claude").rglob("*.jsonl"))
        before = {path: path.read_bytes() for path in records}
        order = ForkOrder(session, str(work), "Write it down.", str(BUNDLED), environment=env)

        said = await ask_fork(order, 60.0)

        assert said.text == "# Handoff\n\nThe copy remembers."
        assert said.problem == ""
        assert said.cost_usd is not None
        assert 0 < said.cost_usd < 2
        assert not model.requests[-1].tools
        assert "Count to three." in model.requests[-1].opening
        assert {
            path: path.read_bytes() for path in (own_home / "claude").rglob("*.jsonl")
        } == before


@pytest.mark.long
async def test_a_session_that_is_not_there_is_said(own_home: Path) -> None:
    work = (own_home / "work").resolve()
    work.mkdir()
    with ModelServer(answer) as model:
        env = environment(own_home, model.url)
        order = ForkOrder(str(uuid.uuid4()), str(work), "Well?", str(BUNDLED), environment=env)
        with pytest.raises(Failed, match="wrote no document") as refused:
            await ask_fork(order, 60.0)
    assert "No conversation found" in refused.value.detail
