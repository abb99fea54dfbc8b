"""How opencode is started, and what is read from its screen and its database."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from cockpit.adapters.agents.opencode import models
from cockpit.adapters.agents.opencode.composer import composer_empty
from cockpit.adapters.agents.opencode.first_dialogs import first_dialog
from cockpit.adapters.agents.opencode.record import parse
from cockpit.adapters.agents.opencode.runtime import Opencode
from cockpit.adapters.agents.opencode.sessions import check_resumable
from cockpit.adapters.agents.own_command import OFFERED, tool_server
from cockpit.core.errors import BadUsage, NotNow
from cockpit.core.ids import AgentName, SessionId
from cockpit.core.session import CostCounted, Skipped, ToolFinished
from cockpit.ports.panes import Launch, Screen
from cockpit.ports.runtimes import Program, SessionOrder

API = AgentName("api")
SESSION = SessionId("ses_df7578438ffeAeoheROLxG4bce")
RULE = "  ╹▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀"


@pytest.fixture
def order(tmp_path: Path) -> SessionOrder:
    work = tmp_path / "work"
    work.mkdir()
    environment = {"XDG_DATA_HOME": str(tmp_path / "data"), "PATH": "/usr/bin"}
    return SessionOrder(API, SESSION, "run", work, prompt="!touch x", environment=environment)


def launched(tmp_path: Path, order: SessionOrder) -> Launch:
    return Opencode(tmp_path / "state").launch(order, Program(Path("/bin/opencode"), "1"))


def test_the_prompt_travels_in_a_file(tmp_path: Path, order: SessionOrder) -> None:
    """In the arguments everybody could read it, and one that begins with `!` would be run."""
    launch = launched(tmp_path, order)
    assert launch.prompt_file is not None
    assert str(launch.prompt_file) in launch.argv[launch.argv.index("--prompt") + 1]
    assert not any("touch" in word for word in launch.argv)
    assert launch.environment["PWD"] == str(order.directory)
    told = json.loads(launch.environment["COCKPIT_OPENCODE"])
    assert told["prompt"] == str(launch.prompt_file)
    assert told["named"] == launch.argv[launch.argv.index("--prompt") + 1]


def test_a_reopened_session_has_no_prompt_argument(tmp_path: Path, order: SessionOrder) -> None:
    """opencode drops it there; the plugin sends it."""
    launch = launched(tmp_path, replace(order, resume=True))
    assert launch.argv[1:] == ["--session", SESSION]
    told = json.loads(launch.environment["COCKPIT_OPENCODE"])
    assert (told["session"], told["prompt"]) == (SESSION, str(launch.prompt_file))


def test_the_users_settings_in_the_environment_stay(tmp_path: Path, order: SessionOrder) -> None:
    given = {
        **order.environment,
        "OPENCODE_CONFIG_CONTENT": '{"theme": "night", "plugin": ["mine"]}',
        "OPENCODE_PERMISSION": '{"bash": "allow", "read": "ask"}',
    }
    launch = launched(tmp_path, replace(order, environment=given, permission_mode="default"))
    config = json.loads(launch.environment["OPENCODE_CONFIG_CONTENT"])
    assert config["theme"] == "night"
    assert config["plugin"][0] == "mine"
    assert config["plugin"][1].endswith("/cockpit-reports.js")
    permission = json.loads(launch.environment["OPENCODE_PERMISSION"])
    assert permission == {"bash": "ask", "read": "ask", "edit": "ask", "webfetch": "ask"}
    restored = json.loads(launch.environment["COCKPIT_OPENCODE"])["restored"]
    assert restored["OPENCODE_PERMISSION"] == given["OPENCODE_PERMISSION"]
    broken = {**given, "OPENCODE_CONFIG_CONTENT": "// mine"}
    with pytest.raises(BadUsage, match="not a JSON object"):
        launched(tmp_path, replace(order, environment=broken))


@pytest.mark.parametrize(
    ("mode", "arguments", "permissions"),
    [
        ("", [], None),
        ("plan", ["--agent", "plan"], {"bash": "ask", "webfetch": "ask"}),
        ("acceptEdits", [], {"edit": "allow", "bash": "ask", "webfetch": "ask"}),
        ("bypassPermissions", ["--auto"], None),
    ],
)
def test_a_mode_is_arguments_and_permissions(
    tmp_path: Path,
    order: SessionOrder,
    mode: str,
    arguments: list[str],
    permissions: dict[str, str] | None,
) -> None:
    launch = launched(tmp_path, replace(order, permission_mode=mode, prompt=None))
    assert launch.argv[1:] == arguments
    given = launch.environment.get("OPENCODE_PERMISSION")
    assert (json.loads(given) if given else None) == permissions


def test_the_tools_are_offered_beside_the_users_servers_without_a_question(
    tmp_path: Path, order: SessionOrder
) -> None:
    given = {**order.environment, "OPENCODE_CONFIG_CONTENT": '{"mcp": {"mine": {}}}'}
    order = replace(order, environment=given)
    launch = launched(tmp_path, order)
    assert json.loads(launch.environment["OPENCODE_CONFIG_CONTENT"])["mcp"] == {"mine": {}}
    assert "OPENCODE_PERMISSION" not in launch.environment
    launch = launched(tmp_path, replace(order, offers_tools=True, permission_mode="default"))
    servers = json.loads(launch.environment["OPENCODE_CONFIG_CONTENT"])["mcp"]
    assert [*servers] == ["mine", "cockpit"]
    assert servers["cockpit"]["command"] == tool_server()
    permission = json.loads(launch.environment["OPENCODE_PERMISSION"])
    assert permission["cockpit_handoff_request"] == "allow"
    assert not [name for name in permission if "*" in name]
    told = json.loads(launch.environment["COCKPIT_OPENCODE"])["offered"]
    assert told["tools"] == [f"cockpit_{name}" for name in OFFERED]
    assert permission["bash"] == "ask"


def test_it_compacts_where_a_long_reply_would_not_fit() -> None:
    assert models.compacts_at(200_000, {}) == 168_000
    assert models.compacts_at(8_000, {}) == 4_000
    assert models.compacts_at(200_000, {"OPENCODE_DISABLE_AUTOCOMPACT": "1"}) is None


@pytest.mark.parametrize(
    ("limit", "point"),
    [("64000", 136_000), (" 8000 ", 192_000), ("0", 168_000), ("-5", 168_000), ("1_0", 168_000)],
)
def test_the_users_limit_of_a_reply_moves_the_compaction_point(limit: str, point: int) -> None:
    given = {"OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX": limit}
    assert models.compacts_at(200_000, given) == point


def screen(*rows: str) -> Screen:
    return Screen(("     All done.", "", *rows, "   /work      31.1K (31%)  ctrl+p commands"))


def test_an_empty_prompt_box_is_told_from_a_dialog() -> None:
    model = "  ┃  Build · Lab model Lab"
    assert composer_empty(screen("  ┃", "  ┃", "  ┃", model, RULE)) is True
    assert composer_empty(screen("  ┃", "  ┃  half a", "  ┃", model, RULE)) is False
    assert composer_empty(screen("  ┃  Ask anything...", "  ┃", model, RULE)) is True
    assert composer_empty(screen("  ┃  Ask anything about it", "  ┃", model, RULE)) is False
    dialog = ("  ┃  △ Permission required", "  ┃   Allow once   Allow always   Reject")
    assert composer_empty(screen(*dialog)) is None


def test_what_comes_before_a_session_is_named() -> None:
    asks = "opencode asks you to connect a provider; do so in the agent's pane"
    assert first_dialog(screen("Connect a provider")) == asks
    assert first_dialog(screen(RULE)) is None


def test_an_error_before_a_session_does_not_ask_for_an_answer() -> None:
    shown = screen("Configuration is invalid at /w/opencode.json", "↳ Expected string, got 3 model")
    assert first_dialog(shown) == (
        "opencode cannot read its configuration; "
        "correct the file that the agent's pane names, then start the agent again"
    )


def test_a_database_that_cannot_be_read_is_no_missing_session(order: SessionOrder) -> None:
    folder = Path(order.environment["XDG_DATA_HOME"]) / "opencode"
    folder.mkdir(parents=True)
    (folder / "opencode.db").write_text("no database")
    with pytest.raises(NotNow, match="Cannot read"):
        check_resumable(SESSION, order.directory, order.environment)


def test_lines_that_are_none_are_skipped() -> None:
    assert parse(b"") == ()
    assert parse(b'{"type":"reply"') == Skipped("torn")
    assert parse(b"junk") == Skipped("not-json")
    assert parse(b"[1]") == Skipped("not-a-record")
    assert parse(b'{"type":"reply","tokens":7}') == Skipped("not-a-record")
    assert parse(b'{"type":"something new"}') == ()
    assert parse(b'{"type":"cost","at":1,"usd":0.25}') == (CostCounted(0.25),)


def test_the_result_of_a_tool_has_its_exit_status_its_end_and_the_answers() -> None:
    asked = 'User has answered your questions: "Which one?"="red". You can now continue.'
    lines: list[dict[str, object]] = [
        {"id": "1", "name": "Bash", "output": "a", "failed": True, "exit": 3, "tail": "b"},
        {"id": "2", "name": "AskUserQuestion", "output": asked},
    ]
    finished: list[ToolFinished] = []
    for line in lines:
        events = parse(json.dumps({"type": "tool", "at": 1_795_442_500_050} | line).encode())
        assert not isinstance(events, Skipped)
        finished += [event for event in events if isinstance(event, ToolFinished)]
    assert [(one.exit, one.tail, one.answers) for one in finished] == [
        (3, "b", ()),
        (None, "", (("Which one?", "red"),)),
    ]


@pytest.mark.parametrize(
    ("failed", "output", "refused", "reason"),
    [
        (True, "The user rejected permission to use this specific tool call.", True, ""),
        (
            True,
            "The user rejected permission to use this specific tool call with the following "
            "feedback: no new files here",
            True,
            "no new files here",
        ),
        (False, "The user rejected permission to use this specific tool call.", False, ""),
        (True, "exit status 1", False, ""),
    ],
)
def test_a_refusal_is_told_with_the_users_reason(
    failed: bool, output: str, refused: bool, reason: str
) -> None:
    record = {
        "type": "tool", "at": 1795827807314, "id": "t1", "name": "Bash",
        "input": {"command": "touch once"}, "failed": failed, "output": output,
    }  # fmt: skip
    events = parse(json.dumps(record, separators=(",", ":")).encode())
    assert not isinstance(events, Skipped)
    (event,) = [event for event in events if isinstance(event, ToolFinished)]
    assert (event.failed, event.refused, event.refusal) == (failed, refused, reason)
