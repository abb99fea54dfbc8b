"""The script of cockpit's extension for Gemini CLI: whom it reports to, and who gets an answer."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from cockpit.adapters.agents.gemini import extension
from cockpit.adapters.agents.reporter import install_reporter
from cockpit.adapters.hooks.responses import HookResponses
from cockpit.adapters.hooks.spool import Spool
from cockpit.core.errors import Failed
from cockpit.core.ids import AgentName
from cockpit.ports.runtimes import Program

SCRIPT = Path(extension.__file__).parent / "extension" / "report.sh"
API = AgentName("api")


@pytest.fixture
def state(tmp_path: Path) -> Path:
    install_reporter(tmp_path)
    Spool(tmp_path / "spool").prepare(API)
    return tmp_path


def report(state: Path, event: str, **variables: str) -> str:
    """Run the hook of an event as Gemini does; return what it prints."""
    environment = {
        "PATH": os.environ["PATH"],
        "COCKPIT_STATE": str(state),
        "COCKPIT_AGENT": API,
        "COCKPIT_RUNTIME": "gemini",
        **variables,
    }
    done = subprocess.run(
        ["sh", str(SCRIPT), event],
        env=environment,
        input=json.dumps({"session_id": "x"}),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stderr == ""
    return done.stdout


def events(state: Path) -> list[str]:
    return [signal.event for signal in Spool(state / "spool").take()]


def ask(state: Path) -> HookResponses:
    responses = HookResponses(state / "verdicts")
    responses.ask(API, {"AfterTool": {"text": "write"}, "AfterAgent": {"text": "stop"}})
    return responses


def test_every_hook_is_one_of_the_scripts_events() -> None:
    hooks = json.loads((SCRIPT.parent / "hooks" / "hooks.json").read_text())["hooks"]
    commands = [hook for groups in hooks.values() for group in groups for hook in group["hooks"]]
    assert all(each["command"].startswith('sh "${extensionPath}/report.sh" ') for each in commands)
    assert all(each["timeout"] == 5000 for each in commands)
    assert "PreCompress" not in hooks  # it comes before every request


def test_it_passes_a_report_on_with_the_answer(state: Path) -> None:
    ask(state)
    assert json.loads(report(state, "AfterTool")) == {"text": "write"}
    assert report(state, "AfterTool") == ""
    assert events(state) == ["AfterTool", "AfterTool"]


def test_in_other_sessions_it_does_nothing(state: Path) -> None:
    ask(state)
    assert report(state, "AfterTool", COCKPIT_RUNTIME="") == ""
    assert report(state, "AfterTool", GEMINI_CLI="1") == ""
    assert report(state, "AfterTool", COCKPIT_STATE=str(state / "gone")) == ""
    assert report(state, "AfterTool", COCKPIT_AGENT="") == ""
    assert events(state) == []


def test_no_subagent_gets_an_answer(state: Path) -> None:
    ask(state)
    assert report(state, "SubagentBegan") == ""
    assert report(state, "SubagentBegan") == ""
    assert report(state, "AfterTool") == ""
    assert report(state, "SubagentOver") == ""
    assert report(state, "AfterTool") == ""
    assert json.loads(report(state, "SubagentOver")) == {"text": "write"}
    assert events(state) == [
        "SubagentBegan",
        "SubagentBegan",
        "ToolOfSubagent",
        "SubagentOver",
        "ToolOfSubagent",
        "AfterTool",
    ]


def test_the_end_of_a_turn_closes_subagents_that_were_cancelled(state: Path) -> None:
    report(state, "SubagentBegan")
    ask(state)
    assert json.loads(report(state, "AfterAgent")) == {"text": "stop"}
    ask(state)
    assert json.loads(report(state, "AfterTool")) == {"text": "write"}


def test_a_linked_extension_is_in_one_folder(tmp_path: Path) -> None:
    """Gemini itself is a stand-in here; the journeys run it."""
    program = tmp_path / "gemini"
    program.write_text(
        '#!/bin/sh\nprintf "%s\\n" "$GEMINI_CLI_TRUST_WORKSPACE $PWD $*" >>"$GEMINI_CLI_HOME/log"\n'
        '[ "$2" != uninstall ] || exit 3\n'
    )
    program.chmod(0o755)
    environment = {"GEMINI_CLI_HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    folder = tmp_path / "ours"
    extension.link(Program(program, "1"), environment, folder)
    assert (tmp_path / "log").read_text() == (f"true {folder} extensions link {folder} --consent\n")
    written = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert written == {*extension.FILES, extension.OFFER_SCRIPT}
    with pytest.raises(Failed, match="uninstall"):
        extension.unlink(Program(program, "1"), environment, folder)
    extension.remove_files(folder)
    assert not folder.exists()


def test_a_path_that_cannot_exist_is_an_old_link(tmp_path: Path) -> None:
    environment = {"GEMINI_CLI_HOME": str(tmp_path), "HOME": str(tmp_path)}
    note = tmp_path / ".gemini" / "extensions" / extension.NAME / ".gemini-extension-install.json"
    note.parent.mkdir(parents=True)
    note.write_text(json.dumps({"source": "/nowhere\0", "type": "link"}))
    assert extension.state_of(environment) is extension.Linked.OLD
