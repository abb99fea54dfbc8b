"""How Codex is started, and what is read from its screen and its folders."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from cockpit.adapters.agents.codex import models
from cockpit.adapters.agents.codex.composer import composer_empty
from cockpit.adapters.agents.codex.first_dialogs import first_dialog
from cockpit.adapters.agents.codex.hook_events import cli_events
from cockpit.adapters.agents.codex.hook_flags import HOOK_EVENTS, trust_hash
from cockpit.adapters.agents.codex.permission_modes import recorded_mode
from cockpit.adapters.agents.codex.runtime import Codex
from cockpit.adapters.agents.own_command import tool_server
from cockpit.core.cli_events import DialogOpened, PromptTaken, SessionBegan, ToolUsed
from cockpit.core.ids import AgentName, SessionId
from cockpit.core.reading import Confidence
from cockpit.core.request import request
from cockpit.ports.panes import Screen
from cockpit.ports.runtimes import Program, SessionOrder, Signal

DATA = Path(__file__).parents[2] / "data" / "codex"
API = AgentName("api")
SESSION = SessionId("01a20868-5d41-7af2-a946-2ac14cd17dd8")
NAME = f"rollout-2026-11-23T12-36-27-{SESSION}.jsonl"


@pytest.fixture
def order(tmp_path: Path) -> SessionOrder:
    work = tmp_path / "work"
    work.mkdir()
    environment = {"CODEX_HOME": str(tmp_path / "codex"), "TMUX": "x", "PATH": "/usr/bin"}
    return SessionOrder(API, SESSION, "run", work, prompt="!touch x", environment=environment)


def launched(tmp_path: Path, order: SessionOrder) -> list[str]:
    return list(Codex(tmp_path / "state").launch(order, Program(Path("/bin/codex"), "1")).argv)


def screen(name: str) -> Screen:
    return Screen(tuple((DATA / f"{name}.screen").read_text().splitlines()))


def test_it_runs_in_its_pane_and_not_in_a_daemon(tmp_path: Path, order: SessionOrder) -> None:
    assert "--no-daemon" in launched(tmp_path, order)
    assert "resume" not in launched(tmp_path, order)
    argv = launched(tmp_path, replace(order, resume=True))
    assert argv[1] == "resume"
    assert argv[-1] == SESSION


def test_the_prompt_travels_in_a_file(tmp_path: Path, order: SessionOrder) -> None:
    """In the arguments everybody could read it, and one that begins with `!` would be run."""
    launch = Codex(tmp_path).launch(order, Program(Path("/bin/codex"), "1"))
    assert launch.by_file
    assert launch.prompt == "!touch x"
    assert not any("touch" in word for word in launch.argv)
    assert "TMUX" not in launch.environment


def test_our_hooks_are_given_for_this_run_with_their_hashes(
    tmp_path: Path, order: SessionOrder
) -> None:
    argv = launched(tmp_path, order)
    given = tomllib.loads(argv[argv.index("-c") + 1])["hooks"]
    assert set(given) == {*HOOK_EVENTS, "state"}
    (group,) = given["SessionEnd"]
    (hook,) = group["hooks"]
    assert hook["command"].endswith(" api SessionEnd")
    state = given["state"]["/<session-flags>/config.toml:session_end:0:0"]
    assert state == {"trusted_hash": f"sha256:{trust_hash('SessionEnd', hook['command'])}"}


def test_the_tools_are_offered_for_this_run_without_a_question(
    tmp_path: Path, order: SessionOrder
) -> None:
    assert not any("mcp_servers" in word for word in launched(tmp_path, order))
    argv = launched(tmp_path, replace(order, offers_tools=True))
    (given,) = [word for word in argv if word.startswith("mcp_servers.")]
    assert argv[argv.index(given) - 1] == "-c"
    server = tomllib.loads(given)["mcp_servers"]["cockpit"]
    assert [server["command"], *server["args"]] == tool_server()
    assert server["default_tools_approval_mode"] == "approve"


def test_the_hash_is_the_one_that_codex_made() -> None:
    """The value is what 0.169.0 accepted for this very hook."""
    text = (
        '{"event_name":"stop","hooks":[{"async":false,"command":"CMD","timeout":3,'
        '"type":"command"}]}'
    )
    from hashlib import sha256

    assert trust_hash("Stop", "CMD") == sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    ("mode", "arguments"),
    [
        ("", []),
        ("plan", ["--sandbox", "read-only", "--ask-for-approval", "on-request"]),
        ("acceptEdits", ["--sandbox", "workspace-write", "--ask-for-approval", "on-request"]),
        ("dontAsk", ["--sandbox", "workspace-write", "--ask-for-approval", "never"]),
        ("bypassPermissions", ["--dangerously-bypass-approvals-and-sandbox"]),
    ],
)
def test_a_mode_is_a_sandbox_and_a_policy(
    tmp_path: Path, order: SessionOrder, mode: str, arguments: list[str]
) -> None:
    argv = launched(tmp_path, replace(order, permission_mode=mode))
    assert argv[argv.index("-c") + 2 :] == arguments


@pytest.mark.parametrize(
    ("policy", "sandbox", "mode"),
    [
        ("on-request", "read-only", "plan"),
        ("on-request", "workspace-write", "acceptEdits"),
        ("never", "workspace-write", "dontAsk"),
        ("never", "danger-full-access", "bypassPermissions"),
        ("on-request", "danger-full-access", "bypassPermissions"),
        ("on-request", "something-new", "bypassPermissions"),
    ],
)
def test_a_recorded_mode_is_never_narrower_than_it_is(policy: str, sandbox: str, mode: str) -> None:
    assert recorded_mode({"approval_policy": policy, "sandbox_policy": {"type": sandbox}}) == mode
    assert recorded_mode({"approval_policy": policy}) is None


def test_it_compacts_at_ninety_percent_of_the_models_window() -> None:
    assert models.compacts_at(95_000) == 90_000
    assert models.window("gpt-6-sol").tokens == 258_400
    assert models.window("gpt-6-sol").confidence is Confidence.DERIVED
    assert models.window("lab").confidence is Confidence.ASSUMED


def test_an_empty_prompt_box_is_told_from_a_dialog() -> None:
    assert composer_empty(screen("idle")) is True
    assert composer_empty(screen("permission")) is None
    assert composer_empty(screen("trust")) is None
    typed = Screen(("\x1b[1m›\x1b[0m half a sentence",))
    assert composer_empty(typed) is False
    assert composer_empty(Screen(("",))) is None


def test_a_dialog_before_the_session_is_named() -> None:
    trust = "Codex asks whether you trust this folder; answer in the agent's pane"
    assert first_dialog(screen("trust")) == trust
    assert first_dialog(screen("idle")) is None
    assert "hooks" in (first_dialog(Screen(("Hooks need review",))) or "")
    elsewhere = Screen(("This conversation is open in another app",))
    assert "close the session in that process, then press R" in (first_dialog(elsewhere) or "")


def signal(event: str, **payload: object) -> Signal:
    return Signal(API, event, {"session_id": SESSION, "cwd": "/work", **payload}, 0.0)


def test_hooks_tell_what_happens() -> None:
    path = f"/home/pilot/.codex/sessions/2026/11/23/{NAME}"
    began = signal("SessionStart", source="startup", transcript_path=path)
    assert cli_events(began) == (SessionBegan(SESSION, "startup"),)
    assert cli_events(signal("UserPromptSubmit", prompt="Go on.")) == (PromptTaken("Go on."),)
    used = signal("PostToolUse", tool_name="Bash", tool_input={"command": "make"})
    assert cli_events(used) == (ToolUsed("Bash make"),)
    asked = signal("PermissionRequest", tool_name="Bash", tool_input={"command": "make x"})
    assert cli_events(asked) == (DialogOpened("permission", "Bash make x", "Bash", "make x"),)
    assert cli_events(signal("PostToolUse", agent_id="sub", tool_name="Bash")) == ()
    assert cli_events(signal("SomethingNew")) == ()


def test_its_request_names_its_own_tools() -> None:
    text = request("/w/draft.md", "tool", tools=Codex.tools)
    assert "with `apply_patch` to\n/w/draft.md" in text
    assert "Write tool" not in text
