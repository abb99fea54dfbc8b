"""How Gemini CLI is started, and what is read from its screen, its title and its folders."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cockpit.adapters.agents.gemini import extension, models
from cockpit.adapters.agents.gemini.composer import composer_empty
from cockpit.adapters.agents.gemini.first_dialogs import first_dialog
from cockpit.adapters.agents.gemini.hook_events import cli_events
from cockpit.adapters.agents.gemini.runtime import SKIP_TRUST, Gemini
from cockpit.adapters.agents.gemini.screen_notices import notices
from cockpit.adapters.agents.gemini.sessions import (
    record_path,
)
from cockpit.adapters.agents.gemini.titles import presence_in
from cockpit.adapters.agents.gemini.trust import is_trusted, is_worktree_of_trusted
from cockpit.adapters.process.launch_order import LaunchOrders
from cockpit.core.cli_events import (
    DialogOpened,
    PromptTaken,
    SessionBegan,
    SubagentBegan,
    SubagentOver,
    ToolUsed,
    TurnBroken,
    TurnOver,
)
from cockpit.core.errors import NotNow
from cockpit.core.ids import AgentName, SessionId
from cockpit.core.reading import Confidence
from cockpit.ports.panes import Screen
from cockpit.ports.runtimes import Activity, Program, SessionOrder, Signal

DATA = Path(__file__).parents[2] / "data" / "gemini"
API = AgentName("api")
SESSION = SessionId("39a57f58-31ec-487f-a96f-1d42382d2ffb")
NAME = f"session-2026-11-23T13-47-{SESSION[:8]}.jsonl"


@pytest.fixture
def order(tmp_path: Path) -> SessionOrder:
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "home" / ".gemini").mkdir(parents=True)
    environment = {"GEMINI_CLI_HOME": str(tmp_path / "home"), "TMUX": "x", "GEMINI_CLI": "1"}
    order = SessionOrder(API, SESSION, "run", work, prompt="!touch x", environment=environment)
    trust(order, {str(work): "TRUST_FOLDER"})
    return order


def trust(order: SessionOrder, folders: dict[str, str]) -> None:
    (own(order) / "trustedFolders.json").write_text(f"// mine\n{json.dumps(folders)}")


def own(order: SessionOrder) -> Path:
    return Path(order.environment["GEMINI_CLI_HOME"]) / ".gemini"


def launched(tmp_path: Path, order: SessionOrder) -> list[str]:
    return list(Gemini(tmp_path / "state").launch(order, Program(Path("/bin/gemini"), "1")).argv)


def screen(name: str) -> Screen:
    return Screen(tuple((DATA / f"{name}.screen").read_text().splitlines()))


def test_it_is_one_process_with_an_id_of_ours(tmp_path: Path, order: SessionOrder) -> None:
    launch = Gemini(tmp_path).launch(order, Program(Path("/bin/gemini"), "1"))
    assert list(launch.argv)[1:3] == ["--session-id", SESSION]
    assert launch.environment["GEMINI_CLI_NO_RELAUNCH"] == "true"
    assert launch.environment["COCKPIT_RUNTIME"] == "gemini"
    assert not {"TMUX", "GEMINI_CLI"} & set(launch.environment)
    assert launched(tmp_path, replace(order, resume=True))[1:3] == ["--resume", SESSION]


def test_the_prompt_is_the_tail_of_an_option_and_travels_in_a_file(
    tmp_path: Path, order: SessionOrder
) -> None:
    """After `--` it would be dropped, and one that begins with `!` or `/` would act."""
    launch = Gemini(tmp_path / "state").launch(order, Program(Path("/bin/gemini"), "1"))
    orders = LaunchOrders(tmp_path / "orders")
    orders.command(launch, kept_as="one")
    fields = (tmp_path / "orders" / "one.order").read_bytes().split(b"\0")
    assert b"--" not in fields
    (prompt,) = [field.decode() for field in fields if field.startswith(b"--prompt-interactive=")]
    found = re.fullmatch(r"[^=]+=Read the file (/.+\.md) with cat and do what it says\. .+", prompt)
    assert found is not None
    assert Path(found[1]).read_text() == "!touch x"


@pytest.mark.parametrize(
    ("mode", "given"),
    [("", None), ("plan", "plan"), ("acceptEdits", "auto_edit"), ("bypassPermissions", "yolo")],
)
def test_a_mode_is_an_approval_mode(
    tmp_path: Path, order: SessionOrder, mode: str, given: str | None
) -> None:
    argv = launched(tmp_path, replace(order, permission_mode=mode))
    assert ("--approval-mode" in argv) == (given is not None)
    assert given is None or argv[argv.index("--approval-mode") + 1] == given


def test_a_prompt_is_not_started_where_gemini_would_ask_about_the_folder(
    tmp_path: Path, order: SessionOrder
) -> None:
    trust(order, {})
    with pytest.raises(NotNow, match="does not trust") as refused:
        launched(tmp_path, order)
    assert "Run `gemini` in the directory once" in refused.value.hint
    assert SKIP_TRUST not in launched(tmp_path, replace(order, prompt=None))
    launched(tmp_path, replace(order, arguments=(SKIP_TRUST,)))


@pytest.mark.parametrize(
    ("rules", "trusted"),
    [
        ({"{work}": "TRUST_FOLDER"}, True),
        ({"{work}/sub": "TRUST_FOLDER"}, False),
        ({"{work}/..": "TRUST_FOLDER"}, True),
        ({"{work}/other": "TRUST_PARENT"}, True),
        ({"/": "TRUST_FOLDER", "{work}": "DO_NOT_TRUST"}, False),
        ({"/": "DO_NOT_TRUST", "{work}": "TRUST_FOLDER"}, True),
        ({}, False),
    ],
)
def test_trust_is_read_as_gemini_reads_it(
    order: SessionOrder, rules: dict[str, str], trusted: bool
) -> None:
    trust(order, {path.format(work=order.directory): level for path, level in rules.items()})
    assert is_trusted(order.directory, order.environment) is trusted


def test_trust_can_be_switched_off_and_given_by_a_variable(order: SessionOrder) -> None:
    trust(order, {})
    by_variable = {**order.environment, "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    assert is_trusted(order.directory, by_variable)
    settings = {"security": {"folderTrust": {"enabled": False}}}
    (own(order) / "settings.json").write_text(json.dumps(settings))
    assert is_trusted(order.directory, order.environment)
    refused = {**order.environment, "GEMINI_CLI_TRUST_WORKSPACE": "false"}
    assert not is_trusted(order.directory, refused)


def test_a_worktree_of_a_trusted_checkout_is_started(tmp_path: Path, order: SessionOrder) -> None:
    tree = tmp_path / "tree"
    worktree(order.directory, tree)
    assert not is_trusted(tree, order.environment)
    assert is_worktree_of_trusted(tree, order.environment)
    assert SKIP_TRUST in launched(tmp_path, replace(order, directory=tree))
    (tree / "inner").mkdir()
    assert is_worktree_of_trusted(tree / "inner", order.environment)
    trust(order, {str(order.directory): "TRUST_FOLDER", str(tree): "DO_NOT_TRUST"})
    assert not is_worktree_of_trusted(tree, order.environment)


def worktree(repository: Path, tree: Path) -> None:
    def git(*words: str) -> None:
        named = ["-c", "user.name=x", "-c", "user.email=x@y.z"]
        subprocess.run(["git", "-C", str(repository), *named, *words], check=True)

    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "x")
    git("worktree", "add", "-q", str(tree))


def test_a_worktree_may_be_named_by_relative_paths(tmp_path: Path, order: SessionOrder) -> None:
    """As git does with worktree.useRelativePaths."""
    tree, git = tmp_path / "tree", order.directory / ".git"
    worktree(order.directory, tree)
    (tree / ".git").write_text("gitdir: ../work/.git/worktrees/tree\n")
    (git / "worktrees" / "tree" / "gitdir").write_text("../../../../tree/.git\n")
    assert is_worktree_of_trusted(tree, order.environment)
    (git / "worktrees" / "tree" / "gitdir").write_text("../../../tree/.git\n")
    assert not is_worktree_of_trusted(tree, order.environment)


def test_a_folder_that_names_a_trusted_repository_is_not_its_worktree(
    tmp_path: Path, order: SessionOrder, monkeypatch: pytest.MonkeyPatch
) -> None:
    git, evil = order.directory / ".git", tmp_path / "evil"
    worktree(order.directory, tmp_path / "tree")
    evil.mkdir()
    mark = evil / ".git"
    monkeypatch.chdir(order.directory)
    (git / "modules" / "evil").mkdir(parents=True)
    (git / "modules" / "evil" / "gitdir").write_text(f"{mark}\n")
    for pointed in (
        f"{git}/worktrees/nothing",
        f"{git}/worktrees/tree",
        f"{git}/modules/evil",
        f"{git}",
        ".git/worktrees/tree",
        "",
        "\0",
    ):
        mark.write_text(f"gitdir: {pointed}\n")
        assert not is_worktree_of_trusted(evil, order.environment), pointed
    mark.unlink()
    mark.symlink_to(tmp_path / "tree" / ".git")
    assert not is_worktree_of_trusted(evil, order.environment)
    mark.unlink()
    mark.symlink_to(tmp_path / "missing")
    assert not is_worktree_of_trusted(evil, order.environment)


def test_it_compacts_at_half_the_window_or_where_the_user_says(
    tmp_path: Path, order: SessionOrder
) -> None:
    gemini = Gemini(tmp_path)
    window = gemini.window("gemini-2.5-pro", order.environment)
    assert (window.tokens, window.confidence) == (1_048_576, Confidence.DERIVED)
    assert gemini.window("gemma-4-31b-it", order.environment).tokens == 256_000
    assert gemini.window("lab", order.environment).confidence is Confidence.ASSUMED
    assert gemini.compaction_rule(order.environment).compacts_at(window.tokens) == 524_288
    (own(order) / "settings.json").write_text('{"model": {"compressionThreshold": 0.25}}')
    rule = gemini.compaction_rule(order.environment)
    assert (rule.compacts_at(window.tokens), rule.settings) == (262_144, "0.25")
    assert models.compacts_at(999_999) == 500_000


def test_an_empty_prompt_box_is_told_from_a_dialog() -> None:
    assert composer_empty(screen("idle")) is True
    assert composer_empty(screen("working")) is True
    for name in ("permission", "trust", "usage_limit"):
        assert composer_empty(screen(name)) is None
    lines = (DATA / "idle.screen").read_text().replace("Type your message or @path/to/file", "Do")
    assert composer_empty(Screen(tuple(lines.splitlines()))) is False
    assert composer_empty(Screen(("",))) is None


def test_a_dialog_before_the_session_is_named() -> None:
    assert "trust this folder" in (first_dialog(screen("trust")) or "")
    assert first_dialog(screen("idle")) is None
    assert "log in" in (first_dialog(Screen(("Enter Gemini API Key",))) or "")


def test_a_usage_limit_is_read_from_the_screen() -> None:
    now = datetime(2026, 11, 23, 13, 55, tzinfo=UTC)
    resets = datetime(2026, 11, 23, 14, 55, tzinfo=UTC).timestamp()
    words = "Usage limit reached for all Pro models"
    assert notices(screen("usage_limit"), now) == (TurnBroken("rate_limit", words, resets),)
    later = datetime(2026, 11, 23, 15, 0, tzinfo=UTC)
    (told,) = notices(screen("usage_limit"), later)
    assert isinstance(told, TurnBroken)
    assert told.resets_at == resets + 86_400
    assert notices(screen("permission"), now) == ()
    (vague,) = notices(Screen(("Usage limit reached for flash.",)), now)
    assert isinstance(vague, TurnBroken)
    assert vague.resets_at is None


@pytest.mark.parametrize(
    ("title", "activity"),
    [
        ("◇  Ready (work)", Activity.IDLE),
        ("✦  Working… (work)", Activity.BUSY),
        ("✋  Action Required (work)", Activity.WAITING),
    ],
)
def test_the_title_of_its_pane_says_what_it_does(title: str, activity: Activity) -> None:
    presence = presence_in(title)
    assert presence is not None
    assert presence.activity is activity
    assert presence_in("work: bash") is None
    assert presence_in("") is None


def signal(event: str, **payload: object) -> Signal:
    return Signal(API, event, {"session_id": SESSION, "cwd": "/work", **payload}, 0.0)


def test_hooks_tell_what_happens() -> None:
    path = f"/home/pilot/.gemini/tmp/work/chats/{NAME}"
    began = signal("SessionStart", source="startup", transcript_path=path)
    assert cli_events(began) == (SessionBegan(SESSION, "startup"),)
    assert cli_events(signal("BeforeAgent", prompt="Go on.")) == (PromptTaken("Go on."),)
    used = signal("AfterTool", tool_name="run_shell_command", tool_input={"command": "make"})
    assert cli_events(used) == (ToolUsed("Bash make"),)
    assert cli_events(signal("AfterAgent", prompt_response="Done.")) == (TurnOver("Done."),)
    assert cli_events(signal("AfterAgent", prompt_response="[no response text]")) == (TurnOver(""),)
    assert cli_events(signal("ToolOfSubagent", tool_name="run_shell_command")) == ()
    assert cli_events(signal("SomethingNew")) == ()


def test_a_permission_dialog_names_what_is_asked() -> None:
    asked: dict[str, Any] = {"notification_type": "ToolPermission", "message": "Tool Confirm"}
    shell = {"type": "exec", "title": "Confirm Shell Command", "command": "make x"}
    (dialog,) = cli_events(signal("Notification", **asked, details=shell))
    assert dialog == DialogOpened("permission", "Bash make x", "Bash", "make x")
    edit = {"type": "edit", "title": "Confirm Edit", "filePath": "/work/a.py"}
    (dialog,) = cli_events(signal("Notification", **asked, details=edit))
    assert dialog == DialogOpened("permission", "Edit /work/a.py", "Edit", "/work/a.py")
    (dialog,) = cli_events(signal("Notification", **asked, details={"type": "ask_user"}))
    assert isinstance(dialog, DialogOpened)
    assert dialog.kind == "question"
    assert cli_events(signal("Notification", notification_type="Other")) == ()


def test_a_subagent_is_known_by_what_it_was_asked() -> None:
    given = {"agent_name": "generalist", "prompt": "Look."}
    (began,) = cli_events(signal("SubagentBegan", tool_name="invoke_agent", tool_input=given))
    assert isinstance(began, SubagentBegan)
    assert (began.type, began.words) == ("generalist", "Agent generalist")
    (over,) = cli_events(signal("SubagentOver", tool_name="invoke_agent", tool_input=given))
    assert over == SubagentOver(began.id)
    last = cli_events(signal("AfterTool", tool_name="invoke_agent", tool_input=given))
    assert last == (SubagentOver(began.id), ToolUsed("Agent generalist"))


def test_a_transcript_is_recognised_by_its_first_line(order: SessionOrder) -> None:
    chats = own(order) / "tmp" / "work" / "chats"
    chats.mkdir(parents=True)
    record = chats / NAME
    record.write_text('{"sessionId":"39a57f58-0000-0000-0000-000000000000"}\n')
    assert record_path(SESSION, order.environment) is None
    record.write_text(json.dumps({"sessionId": SESSION}) + "\n")
    assert record_path(SESSION, order.environment) == record


def linked(order: SessionOrder, source: Path) -> None:
    folder = own(order) / "extensions" / "cockpit"
    folder.mkdir(parents=True)
    note = {"source": str(source), "type": "link"}
    (folder / ".gemini-extension-install.json").write_text(json.dumps(note))


SOURCE = Path(extension.__file__).parent / "extension"


def test_without_the_extension_nothing_is_asked_in_the_middle_of_a_turn(
    tmp_path: Path, order: SessionOrder
) -> None:
    gemini = Gemini(tmp_path / "state")
    gemini.launch(order, Program(Path("/bin/gemini"), "1"))
    assert "cockpit setup gemini" in (gemini.lacks(API) or "")
    assert gemini.ask(API, "write", "write") is False
    assert gemini.supplement(API, "facts", at_start=False) is False
    again = Gemini(tmp_path / "state")
    assert "cockpit setup gemini" in (again.lacks(API) or "")
    linked(order, SOURCE)
    gemini.launch(order, Program(Path("/bin/gemini"), "1"))
    assert gemini.lacks(API) is None
    assert gemini.ask(API, "write", "stop") is True
    prepared = tmp_path / "state" / "verdicts" / API / "ask"
    assert {path.name for path in prepared.iterdir()} == {"AfterTool", "AfterAgent"}
    assert json.loads((prepared / "AfterAgent").read_text()) == {
        "decision": "deny",
        "reason": "stop",
    }
    assert gemini.withdraw_ask(API) is True


def test_hooks_that_are_switched_off_are_named_with_the_setting(
    tmp_path: Path, order: SessionOrder
) -> None:
    linked(order, SOURCE)
    (own(order) / "settings.json").write_text('{"hooksConfig": {"enabled": false}}')
    Gemini(tmp_path / "state").launch(order, Program(Path("/bin/gemini"), "1"))
    lacks = Gemini(tmp_path / "state").lacks(API) or ""  # by a supervisor that started later
    assert "all hooks are switched off in Gemini's settings" in lacks
    assert "set hooksConfig.enabled to true in" in lacks
    assert "cockpit setup gemini" not in lacks


def test_the_extension_is_recognised_by_its_content(tmp_path: Path, order: SessionOrder) -> None:
    env = order.environment
    assert extension.state_of(env) is extension.Linked.NO
    linked(order, SOURCE)
    assert extension.state_of(env, order.directory) is extension.Linked.YES
    rules = {"cockpit": {"overrides": ["/*", f"!{order.directory}/*"]}}
    (own(order) / "extensions" / "extension-enablement.json").write_text(json.dumps(rules))
    assert extension.state_of(env, order.directory) is extension.Linked.OFF
    assert extension.state_of(env, Path("/elsewhere")) is extension.Linked.YES
    (own(order) / "settings.json").write_text('{"hooksConfig": {"enabled": false}}')
    assert extension.state_of(env, order.directory) is extension.Linked.HOOKS_OFF
    note = {"source": str(tmp_path), "type": "link"}
    (own(order) / "extensions" / "cockpit" / ".gemini-extension-install.json").write_text(
        json.dumps(note)
    )
    assert extension.state_of(env) is extension.Linked.OLD
