"""How Copilot CLI is started, and what is read of it; recorded with 1.0.102."""

from __future__ import annotations

import json
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from cockpit.adapters.agents.copilot import models
from cockpit.adapters.agents.copilot.composer import composer_empty
from cockpit.adapters.agents.copilot.first_dialogs import first_dialog
from cockpit.adapters.agents.copilot.hook_events import cli_events
from cockpit.adapters.agents.copilot.plugin import HOOK_EVENTS
from cockpit.adapters.agents.copilot.record import parse
from cockpit.adapters.agents.copilot.runtime import Copilot
from cockpit.adapters.agents.copilot.tools import answers_of
from cockpit.adapters.agents.own_command import tool_server
from cockpit.core.cli_events import DialogOpened, PromptTaken, SessionBegan, SubagentBegan, ToolUsed
from cockpit.core.collect import Collector
from cockpit.core.ids import AgentName, SessionId
from cockpit.core.meter import Meter
from cockpit.core.session import (
    AssistantReplied,
    Compacted,
    ContextInjected,
    Identified,
    Interrupted,
    SessionEvent,
    Skipped,
    ToolFinished,
    TurnFailed,
    TurnRecorded,
    UserSaid,
)
from cockpit.ports.panes import Launch, Screen
from cockpit.ports.runtimes import Program, SessionOrder, Signal

DATA = Path(__file__).parents[2] / "data" / "copilot"
API = AgentName("api")
SESSION = SessionId("ff22b6e6-a914-45c5-ad5b-825bce91deea")
RULE = "─" * 80
T = TypeVar("T")


@pytest.fixture
def order(tmp_path: Path) -> SessionOrder:
    work = tmp_path / "work"
    work.mkdir()
    environment = {"COPILOT_HOME": str(tmp_path / "copilot"), "TMUX": "x", "PATH": "/usr/bin"}
    return SessionOrder(API, SESSION, "run", work, prompt="/touch x", environment=environment)


def launched(tmp_path: Path, order: SessionOrder) -> Launch:
    return Copilot(tmp_path / "state").launch(order, Program(Path("/bin/copilot"), "1"))


def events_of(name: str) -> list[SessionEvent]:
    found: list[SessionEvent] = []
    for line in (DATA / f"{name}.jsonl").read_bytes().splitlines():
        events = parse(line)
        assert not isinstance(events, Skipped), line
        found += events
    return found


def of(kind: type[T], events: list[SessionEvent]) -> list[T]:
    return [event for event in events if isinstance(event, kind)]


def counted(events: list[SessionEvent]) -> Meter:
    meter = Meter()
    for event in events:
        meter.feed(event)
    return meter


def test_the_prompt_travels_in_a_file_that_it_may_read(tmp_path: Path, order: SessionOrder) -> None:
    launch = launched(tmp_path, order)
    argv = list(launch.argv)
    assert launch.prompt_file is not None
    assert str(launch.prompt_file) in argv[argv.index("--interactive") + 1]
    assert argv[argv.index("--add-dir") + 1] == str(launch.prompt_file.parent)
    assert not any("touch" in word for word in argv)
    assert f"--session-id={SESSION}" in argv
    assert "TMUX" not in launch.environment
    assert f"--resume={SESSION}" in launched(tmp_path, replace(order, resume=True)).argv


def test_our_hooks_are_a_plugin_for_this_run(tmp_path: Path, order: SessionOrder) -> None:
    argv = list(launched(tmp_path, order).argv)
    folder = Path(argv[argv.index("--plugin-dir") + 1])
    assert json.loads((folder / "plugin.json").read_text())["hooks"] == "hooks.json"
    hooks = json.loads((folder / "hooks.json").read_text())["hooks"]
    assert set(hooks) == set(HOOK_EVENTS)
    (hook,) = hooks["Stop"]
    assert shlex.split(hook["bash"])[1:] == [str(tmp_path / "state"), "api", "Stop"]


def test_the_tools_are_in_the_plugin_without_a_question(
    tmp_path: Path, order: SessionOrder
) -> None:
    def server(offers_tools: bool) -> object:
        argv = list(launched(tmp_path, replace(order, offers_tools=offers_tools)).argv)
        assert ("--allow-tool=cockpit" in argv) == offers_tools
        about = Path(argv[argv.index("--plugin-dir") + 1], "plugin.json")
        return json.loads(about.read_text()).get("mcpServers")

    command, *arguments = tool_server()
    offered = {"type": "local", "command": command, "args": arguments, "tools": ["*"]}
    assert server(True) == {"cockpit": offered}
    assert server(False) is None


@pytest.mark.parametrize(
    ("mode", "arguments"),
    [
        ("", []),
        ("plan", ["--mode", "plan"]),
        ("acceptEdits", ["--mode", "interactive", "--allow-tool", "write"]),
        ("bypassPermissions", ["--allow-all"]),
    ],
)
def test_a_mode_is_arguments(
    tmp_path: Path, order: SessionOrder, mode: str, arguments: list[str]
) -> None:
    argv = list(launched(tmp_path, replace(order, permission_mode=mode, prompt=None)).argv)
    assert argv[argv.index("--plugin-dir") + 2 :] == arguments


def test_tokens_are_those_of_the_last_reply_with_its_answer() -> None:
    meter = counted(events_of("blocked"))
    assert meter.tokens == 34_123
    assert (meter.api_calls, meter.tool_calls) == (6, 3)
    assert meter.totals.output == 6 * 120
    about = of(Identified, events_of("blocked"))
    assert {each.window for each in about if each.window} == {100_000}
    assert about[0].cwd == "/home/pilot/work"
    assert models.compacts_at(100_000) == 80_000


def test_what_a_hook_gave_the_model_is_known() -> None:
    assert of(ContextInjected, events_of("answers")) == [
        ContextInjected("SessionStart", "ATSTART-TOP"),
        ContextInjected("UserPromptSubmit", "PROMPT-TOP"),
        ContextInjected("PostToolUse", "MIDTURN-TOP"),
    ]
    (blocked,) = of(ContextInjected, events_of("blocked"))
    assert blocked == ContextInjected("Stop", "ATEND-TEXT")


def test_tools_have_the_names_that_others_read() -> None:
    replies = of(AssistantReplied, events_of("answers"))
    calls = [tool for reply in replies for tool in reply.tools]
    assert [call.name for call in calls][:2] == ["Bash", "Write"]
    assert calls[1].input == {"file_path": "/home/pilot/work/a.md", "content": "x"}


def test_the_users_answers_are_facts_with_their_questions() -> None:
    collector = Collector()
    for line in (DATA / "questions.jsonl").read_bytes().splitlines():
        found = parse(line)
        assert not isinstance(found, Skipped)
        for event in found:
            collector.feed(event)
    assert [(one.question, one.answer) for one in collector.facts().answers] == [
        ("How should the export look? Which separator?", "semicolon"),
        ("How should the export look? Which columns?", "name, price"),
        ("How should the export look? Write a header?", "no"),
        ("Which name?", "my own name"),
    ]
    assert collector.facts().recent_activity[-1] == "AskUserQuestion Which name?"


@pytest.mark.parametrize(
    ("field", "value", "answer"),
    [
        ({"oneOf": [{"const": "a1", "title": "The first"}, 7]}, "a1", "The first"),
        ({"enum": ["a", "b"], "enumNames": ["Apple", "Pear"]}, "b", "Pear"),
        ({"items": {"anyOf": [{"const": "x", "title": "Ten"}]}}, ["x", "y"], "Ten, y"),
        ({"type": "integer"}, 7, "7"),
        (7, "free text", "free text"),
    ],
)
def test_an_answer_is_told_by_the_label_that_the_user_saw(
    field: object, value: object, answer: str
) -> None:
    response = {
        "responseKind": "ask_user",
        "message": "Which?",
        "content": {"one": value, "other": None},
        "requestedSchema": {"properties": {"one": field}},
    }
    assert answers_of(response) == (("Which?", answer),)
    assert answers_of({**response, "responseKind": "plan"}) == ()
    assert answers_of({**response, "content": [7]}) == ()


def finished(**data: object) -> ToolFinished:
    record = {"type": "tool.execution_complete", "data": {"toolCallId": "t1", **data}}
    events = parse(json.dumps(record, separators=(",", ":")).encode())
    assert not isinstance(events, Skipped)
    (event,) = events
    assert isinstance(event, ToolFinished)
    return event


@pytest.mark.parametrize(
    ("code", "message", "refused", "reason"),
    [
        ("denied", "The user rejected this tool call. User feedback: no new files here", True,
         "no new files here"),
        ("denied", "The user rejected this tool call.", True, ""),
        ("denied", "Permission denied by a rule. User feedback: none", False, ""),
        ("failure", "The user rejected this tool call", False, ""),
    ],
)  # fmt: skip
def test_a_refusal_is_told_with_the_users_reason(
    code: str, message: str, refused: bool, reason: str
) -> None:
    event = finished(success=False, error={"message": message, "code": code})
    assert (event.failed, event.refused, event.refusal) == (True, refused, reason)


def test_an_error_of_the_api_is_in_the_transcript() -> None:
    (failed,) = of(TurnFailed, events_of("error"))
    assert (failed.error.error, failed.error.status) == ("400 No such thing", 400)


def test_an_interrupt_is_in_the_transcript() -> None:
    assert len(of(Interrupted, events_of("interrupted"))) == 1


def test_a_compaction_is_told_when_it_is_done() -> None:
    events = events_of("compaction")
    (compacted,) = of(Compacted, events)
    assert compacted.trigger == "auto"


def test_a_subagent_costs_tokens_but_fills_no_context() -> None:
    events = events_of("subagent")
    meter = counted(events)
    assert meter.tokens == 23_123
    assert meter.totals.cache_read == 5_000 + 6_000 + 20_000 + 22_000
    assert [said.text for said in of(UserSaid, events) if not said.sidechain] == ["Do the work."]
    assert of(TurnRecorded, events)[-1].working is False


def test_lines_that_are_none_are_skipped() -> None:
    assert parse(b"") == ()
    assert parse(b'{"type":"user.message"') == Skipped("torn")
    assert parse(b"junk") == Skipped("not-json")
    assert parse(b'{"type":"user.message"}') == Skipped("not-a-record")
    assert parse(b'{"type":"system.message","data":{}}') == ()


def signal(event: str, **payload: object) -> Signal:
    return Signal(API, event, {"session_id": SESSION, "cwd": "/work", **payload}, 0.0)


def test_hooks_tell_what_happens() -> None:
    assert cli_events(signal("SessionStart", source="new")) == (SessionBegan(SESSION, "clear"),)
    assert cli_events(signal("SessionStart", source="resume")) == (SessionBegan(SESSION, "resume"),)
    assert cli_events(signal("UserPromptSubmit", prompt="Go on.")) == (PromptTaken("Go on."),)
    used = signal("PostToolUse", tool_name="Write", tool_input={"path": "/work/a.md"})
    assert cli_events(used) == (ToolUsed("Write a.md"),)
    asked = signal(
        "Notification", notification_type="permission_prompt", message="Run command: make x"
    )
    assert cli_events(asked) == (
        DialogOpened("permission", "Run command: make x", "Bash", "make x"),
    )
    assert cli_events(signal("PermissionRequest", toolName="bash")) == ()
    assert cli_events(signal("Stop", agent_id="sub")) == ()
    began = signal("SubagentStart", agent_id="sub", agent_type="general-purpose")
    assert cli_events(began) == (SubagentBegan("sub", "general-purpose"),)


def reported(tmp_path: Path, runtime: Copilot, event: str, report: str) -> str:
    """What the reporter answers."""
    runtime.spool.prepare(API)
    argv = list(
        runtime.launch(
            SessionOrder(API, SESSION, "run", tmp_path), Program(Path("/bin/copilot"), "1")
        ).argv
    )
    hooks = json.loads(Path(argv[argv.index("--plugin-dir") + 1], "hooks.json").read_text())
    command = hooks["hooks"][event][0]["bash"]
    done = subprocess.run(["/bin/sh", "-c", command], input=report, capture_output=True, text=True)
    assert done.returncode == 0
    return done.stdout


def test_a_request_is_answered_to_the_main_agent_only(tmp_path: Path) -> None:
    runtime = Copilot(tmp_path / "state")
    runtime.ask(API, "Write it down.", None)
    sub = (
        '{"hook_event_name":"PostToolUse","session_id":"sub","cwd":"/work","agent_id":"sub",'
        '"tool_name":"Bash","tool_input":{}}'
    )
    main = sub.replace('"agent_id":"sub",', "")
    assert reported(tmp_path, runtime, "PostToolUse", sub) == ""
    told = '"tool_input":{"command":"echo \\"agent_id\\":"}'
    answer = reported(tmp_path, runtime, "PostToolUse", main.replace('"tool_input":{}', told))
    assert json.loads(answer) == {"additionalContext": "Write it down."}


def test_one_file_is_allowed_without_a_dialog(tmp_path: Path) -> None:
    runtime = Copilot(tmp_path / "state")
    path = tmp_path / "handoff.md"
    runtime.permit_writing(API, path)
    report = json.dumps(
        {
            "hookName": "permissionRequest",
            "sessionId": SESSION,
            "toolName": "edit",
            "toolInput": {"file_path": str(path), "diff": ""},
        },
        separators=(",", ":"),
    )
    answer = reported(tmp_path, runtime, "PermissionRequest", report)
    assert json.loads(answer) == {"behavior": "allow"}
    other = report.replace("handoff.md", "other.md")
    assert reported(tmp_path, runtime, "PermissionRequest", other) == ""
    command = report.replace('"toolName":"edit"', '"toolName":"bash"')
    assert reported(tmp_path, runtime, "PermissionRequest", command) == ""


def test_an_empty_prompt_box_is_told_from_a_dialog() -> None:
    def screen(*box: str) -> Screen:
        return Screen((" /work [main]", *box, " / commands · ? help        lab-model"))

    assert composer_empty(screen(RULE, "❯", RULE)) is True
    assert composer_empty(screen(RULE, "❯ half a", "  sentence", RULE)) is False
    asks = (RULE, " Copilot needs information.", " ❯ red", "   blue", RULE)
    assert composer_empty(screen(*asks)) is None
    assert composer_empty(screen("│ ❯ 1. Yes      │")) is None


def test_a_dialog_before_the_session_is_named() -> None:
    assert "trust" in (first_dialog(Screen(("│ Confirm folder trust │",))) or "")
    assert first_dialog(Screen((RULE, "❯", RULE))) is None
