"""How Claude Code is started, and what its status line says."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from cockpit.adapters.agents.claude.plugin import TOOLS_RULE
from cockpit.adapters.agents.claude.runtime import Claude
from cockpit.adapters.hooks.spool import STATUS_LINE
from cockpit.core.cli_events import TurnBroken
from cockpit.core.ids import AgentName, SessionId
from cockpit.core.rate_limits import RateLimit
from cockpit.core.session import Usage
from cockpit.ports.runtimes import Program, SessionOrder, Signal

API = AgentName("api")
SESSION = SessionId("11111111-2222-4333-8444-555555555555")
PROGRAM = Program(Path("/opt/claude"), "2.1.330")
INHERITED = {
    "CLAUDECODE": "1",
    "CLAUDE_CODE_CHILD_SESSION": "1",
    "CLAUDE_CODE_SESSION_ID": "outer",
    "CLAUDE_CODE_ENTRYPOINT": "cli",
    "TMUX": "/tmp/tmux-0/default,1,0",
    "TMUX_PANE": "%1",
}


def order(tmp_path: Path, **changed: Any) -> SessionOrder:
    environment = {"CLAUDE_CONFIG_DIR": str(tmp_path / "conf"), "PATH": "/usr/bin", **INHERITED}
    known: dict[str, Any] = {
        "agent": API,
        "session_id": SESSION,
        "run": "marker",
        "directory": tmp_path,
        "environment": environment,
    }
    return SessionOrder(**known | changed)


@pytest.fixture
def claude(tmp_path: Path) -> Claude:
    return Claude(tmp_path / "state")


def test_a_new_session_is_opened_under_its_minted_id(claude: Claude, tmp_path: Path) -> None:
    launch = claude.launch(order(tmp_path, prompt="--go; $(x)"), PROGRAM)
    settings = tmp_path / "state" / "settings" / "api.json"
    plugin = tmp_path / "state" / "plugin"
    assert launch.argv == (
        *("/opt/claude", "--session-id", SESSION),
        *("--settings", str(settings), "--plugin-dir", str(plugin)),
    )
    assert launch.prompt == "--go; $(x)"
    assert launch.directory == tmp_path
    assert (tmp_path / "state" / "spool" / "api").is_dir()
    reporter = json.loads(settings.read_text())["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert Path(reporter).is_file()


def test_the_tools_are_offered_and_allowed_only_if_the_order_says_so(
    claude: Claude, tmp_path: Path
) -> None:
    settings = tmp_path / "state" / "settings" / "api.json"
    claude.launch(order(tmp_path), PROGRAM)
    assert "permissions" not in json.loads(settings.read_text())
    argv = list(claude.launch(order(tmp_path, offers_tools=True), PROGRAM).argv)
    assert argv[-2:] == ["--plugin-dir", str(tmp_path / "state" / "cockpit-tools")]
    assert json.loads(settings.read_text())["permissions"] == {"allow": [TOOLS_RULE]}


def test_everything_the_pilot_chose_is_passed_on(claude: Claude, tmp_path: Path) -> None:
    chosen = order(
        tmp_path,
        resume=True,
        model="opus",
        permission_mode="acceptEdits",
        arguments=("--allowedTools", "Bash"),
    )
    argv = claude.launch(chosen, PROGRAM).argv
    assert argv[1:3] == ("--resume", SESSION)
    assert argv[7:] == (
        *("--permission-mode", "acceptEdits", "--model", "opus"),
        *("--allowedTools", "Bash"),
    )


def test_the_environment_is_not_that_of_a_session_around_us(claude: Claude, tmp_path: Path) -> None:
    environment = claude.launch(order(tmp_path), PROGRAM).environment
    assert environment == {
        "CLAUDE_CONFIG_DIR": str(tmp_path / "conf"),
        "PATH": "/usr/bin",
        "COCKPIT_AGENT": "api",
        "COCKPIT_RUN": "marker",
    }


def status(**payload: Any) -> Signal:
    return Signal(API, STATUS_LINE, payload, at=1.0)


REPORTED = "0b0e7c8e-6a0a-4f0c-9a52-1d7f6f6f2b11"


def test_a_status_line_is_read_for_tokens_window_and_cost(claude: Claude) -> None:
    report = claude.report(
        status(
            session_id=REPORTED,
            transcript_path=f"/p/{REPORTED}.jsonl",
            model={"id": "claude-opus-5-5", "display_name": "Opus 5.5"},
            cost={"total_cost_usd": 0.5},
            context_window={
                "context_window_size": 1_000_000,
                "current_usage": {
                    "input_tokens": 10,
                    "output_tokens": 42,
                    "cache_creation_input_tokens": 4_000,
                    "cache_read_input_tokens": 35_990,
                },
            },
        )
    )
    assert report is not None
    assert report.usage == Usage(input=10, cache_creation=4_000, cache_read=35_990, output=42)
    assert report.usage.context == 40_000
    assert (report.window, report.cost_usd, report.model) == (1_000_000, 0.5, "claude-opus-5-5")
    assert (report.session_id, report.transcript) == (REPORTED, Path(f"/p/{REPORTED}.jsonl"))


def test_the_accounts_limits_are_those_that_the_status_line_tells(claude: Claude) -> None:
    def limits(told: Any) -> Any:
        report = claude.report(status(rate_limits=told))
        assert report is not None
        return report.rate_limits

    five = {"used_percentage": 62.5, "resets_at": 2_000_000_000}
    assert limits({"five_hour": five, "seven_day": {"used_percentage": 130}}) == (
        RateLimit("five_hour", 0.625, 2e9),
        RateLimit("seven_day", 1.0, None),
    )
    assert limits({"five_hour": {"used_percentage": None}, "seven_day": "full"}) == ()
    assert limits(None) == limits([]) == ()
    assert limits({"x\x1b[2J" * 90: five})[0].name.isprintable()
    assert len(limits({f"limit {number}": five for number in range(50)})) == 8


def test_a_limit_that_is_used_up_says_when_it_begins_anew(claude: Claude) -> None:
    def resets(**limits: Any) -> float | None:
        report = claude.report(status(rate_limits=limits))
        assert report is not None
        return report.limit_resets

    week = {"used_percentage": 100, "resets_at": 2_000_600_000}
    assert resets(five_hour={"used_percentage": 99, "resets_at": 2_000_000_000}) is None
    assert resets(five_hour={"used_percentage": 100, "resets_at": 2_000_000_000}) == 2e9
    assert (
        resets(five_hour={"used_percentage": 100, "resets_at": 2e9}, seven_day=week)
        == 2_000_600_000
    )
    assert resets(five_hour={"used_percentage": "all"}, seven_day=None) is None
    assert resets(seven_day={"used_percentage": 100, "resets_at": "soon"}) is None


@pytest.mark.parametrize(
    ("detail", "words", "at"),
    [
        ("usage limit reached|2000000000", "usage limit reached", 2e9),
        ("usage limit reached|soon", "usage limit reached|soon", None),
        ("You've hit your limit · resets 3pm", "You've hit your limit · resets 3pm", None),
    ],
)
def test_a_broken_turn_says_when_its_limit_begins_anew(
    claude: Claude, detail: str, words: str, at: float | None
) -> None:
    said = Signal(API, "StopFailure", {"error": "rate_limit", "error_details": detail}, at=1.0)
    assert claude.cli_events(said) == (TurnBroken("rate_limit", words, at),)


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"context_window": None, "model": "x", "cost": 3},
        {"context_window": {"current_usage": None, "context_window_size": 0}},
        {"context_window": {"current_usage": {"input_tokens": 0, "output_tokens": 0}}},
        {"context_window": {"current_usage": {"input_tokens": "many"}}, "transcript_path": ""},
        {"cost": {"total_cost_usd": float("nan")}, "context_window": {"context_window_size": -1}},
    ],
)
def test_what_is_not_known_is_none_and_never_zero(claude: Claude, payload: dict[str, Any]) -> None:
    report = claude.report(status(**payload))
    assert report is not None
    assert (report.usage, report.window, report.cost_usd, report.model) == (None,) * 4


def test_other_signals_are_no_report(claude: Claude) -> None:
    assert claude.report(Signal(API, "Stop", {"session_id": "s"}, at=1.0)) is None


def test_an_ask_is_laid_for_the_next_tool_and_for_the_turns_end(
    claude: Claude, tmp_path: Path
) -> None:
    assert claude.ask(API, "mid turn", "at the end") is True
    folder = tmp_path / "state" / "verdicts" / "api" / "ask"
    laid = {path.name: json.loads(path.read_text()) for path in folder.iterdir()}
    assert laid["Stop"] == {"decision": "block", "reason": "at the end"}
    for event in ("PostToolUse", "PostToolUseFailure"):
        said = {"hookEventName": event, "additionalContext": "mid turn"}
        assert laid[event] == {"hookSpecificOutput": said}
    assert claude.withdraw_ask(API) is True
    assert claude.withdraw_ask(API) is False


def test_facts_are_laid_for_a_beginning_or_for_the_next_step(
    claude: Claude, tmp_path: Path
) -> None:
    folder = tmp_path / "state" / "verdicts" / "api" / "facts"
    assert claude.supplement(API, "exactly this", at_start=True) is True
    assert [path.name for path in folder.iterdir()] == ["SessionStart"]
    assert claude.supplement(API, "exactly this", at_start=False) is True
    laid = {path.name: json.loads(path.read_text()) for path in folder.iterdir()}
    assert set(laid) == {"UserPromptSubmit", "PostToolUse", "PostToolUseFailure"}
    for event, answer in laid.items():
        said = {"hookEventName": event, "additionalContext": "exactly this"}
        assert answer == {"hookSpecificOutput": said}
    assert claude.ask(API, "mid turn", "at the end") is True
    assert claude.withdraw_ask(API) is True
    assert claude.withdraw_supplement(API) is True
    assert claude.withdraw_supplement(API) is False


def test_a_compaction_is_held_in_the_name_of_this_process_and_released(
    claude: Claude, tmp_path: Path
) -> None:
    assert claude.release_compaction(API) is False
    assert claude.hold_compaction(API) is True
    seal = tmp_path / "state" / "verdicts" / "api" / "seal"
    first = seal.read_text()
    assert first.split()[0] == str(os.getpid())
    assert claude.hold_compaction(API) is True
    assert seal.read_text() != first
    assert claude.release_compaction(API) is True
    assert not (seal.parent / "PreCompact").exists()


def test_what_is_said_in_a_turn_alone_lets_the_turn_end(claude: Claude) -> None:
    assert claude.ask(API, "mid turn", None) is True
    lying = {each.name for each in (claude.responses.folder / API / "ask").iterdir()}
    assert lying == {"PostToolUse", "PostToolUseFailure"}
