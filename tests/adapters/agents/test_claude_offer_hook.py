"""The hook in the user's own Claude Code settings: one entry, and no other byte is changed."""

from __future__ import annotations

import json
import os
import resource
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cockpit.adapters.agents.claude import offer_hook
from cockpit.adapters.agents.claude.offer_hook import Setup, entry, install, remove, state_of
from cockpit.core.errors import CockpitError

FOREIGN = '{\r\n   "model": "haiku",   "x":1e999,\r\n "ü": "\\u00fc",\r\n "hooks": {"Stop": []}}'


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"CLAUDE_CONFIG_DIR": str(tmp_path / "claude"), "HOME": str(tmp_path)}


@pytest.fixture
def settings(environment: dict[str, str]) -> Path:
    file = Path(environment["CLAUDE_CONFIG_DIR"]) / "settings.json"
    file.parent.mkdir()
    return file


def groups(settings: Path) -> list[Any]:
    found = json.loads(settings.read_text(encoding="utf-8-sig"))["hooks"]["SessionStart"]
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_everything_else_and_the_mode_are_kept(
    environment: dict[str, str], settings: Path, mark: str
) -> None:
    before = (mark + FOREIGN).encode()
    settings.write_bytes(before)
    settings.chmod(0o640)
    assert state_of(environment) is Setup.NO
    install(environment)
    assert state_of(environment) is Setup.YES
    assert groups(settings) == [entry()]
    assert stat.S_IMODE(settings.stat().st_mode) == 0o640
    remove(environment)
    assert settings.read_bytes() == before
    assert stat.S_IMODE(settings.stat().st_mode) == 0o640
    assert [one.name for one in settings.parent.iterdir()] == [settings.name]


def test_each_of_both_can_be_repeated(environment: dict[str, str], settings: Path) -> None:
    settings.write_bytes(FOREIGN.encode())
    install(environment)
    before = settings.stat()
    install(environment)
    assert settings.stat() == before
    remove(environment)
    before = settings.stat()
    remove(environment)
    assert settings.stat() == before


@pytest.mark.parametrize("before", [None, "", " \n"])
def test_without_settings_it_makes_private_ones(
    environment: dict[str, str], settings: Path, before: str | None
) -> None:
    settings.parent.rmdir()
    remove(environment)
    assert not settings.parent.exists()
    if before is not None:
        settings.parent.mkdir()
        settings.write_text(before)
        remove(environment)
        assert settings.read_text() == before
    install(environment)
    assert json.loads(settings.read_text()) == {"hooks": {"SessionStart": [entry()]}}
    if before is None:
        assert stat.S_IMODE(settings.stat().st_mode) == 0o600
        assert stat.S_IMODE(settings.parent.stat().st_mode) == 0o700
    remove(environment)
    assert json.loads(settings.read_text()) == {}


def test_an_older_hook_is_replaced_wherever_the_user_moved_it(
    environment: dict[str, str], settings: Path
) -> None:
    mine = {"type": "command", "command": "mine"}
    old = {"type": "command", "command": "/old/python -P -m cockpit --offer-handoff"}
    settings.write_text(
        json.dumps(
            {
                "hooks": {
                    "SessionStart": [
                        {"hooks": [old]},
                        {"matcher": "startup", "hooks": [old, mine, old]},
                        {"matcher": "clear", "hooks": [mine]},
                        {"matcher": "resume", "hooks": "?"},
                    ]
                }
            }
        )
    )
    kept = [
        {"matcher": "startup", "hooks": [mine]},
        {"matcher": "clear", "hooks": [mine]},
        {"matcher": "resume", "hooks": "?"},
    ]
    assert state_of(environment) is Setup.OLD
    install(environment)
    assert groups(settings) == [*kept, entry()]
    assert state_of(environment) is Setup.YES
    remove(environment)
    assert groups(settings) == kept


def test_a_hook_that_the_user_changed_is_left_alone(
    environment: dict[str, str], settings: Path
) -> None:
    text = json.dumps({"hooks": {"SessionStart": [entry() | {"matcher": ""}, {"hooks": []}]}})
    settings.write_text(text)
    install(environment)
    assert settings.read_text() == text


def test_hooks_that_are_switched_off_are_seen(environment: dict[str, str], settings: Path) -> None:
    settings.write_text('{"disableAllHooks": true}')
    install(environment)
    assert state_of(environment) is Setup.OFF


def _link(file: Path) -> None:
    file.rename(file.with_name("real"))
    file.symlink_to("real")


def _second_name(file: Path) -> None:
    os.link(file, file.with_name("second"))


def _protect(file: Path) -> None:
    file.chmod(0o400)


def _make_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


@pytest.mark.parametrize(
    ("text", "spoil", "reason"),
    [
        ("{}", _link, "is a symbolic link"),
        ("{}", _second_name, "hard link"),
        ("{}", _protect, "is write-protected"),
        ("{}", _make_pipe, "is a named pipe"),
        ("// mine\n{}", None, "is not JSON"),
        ("[]", None, "is not a JSON object"),
        ('{"hooks": []}', None, "not an object"),
        ('{"a": "\udcff"}', None, "is not UTF-8"),
    ],
)
def test_a_file_that_it_cannot_change_is_refused_with_the_reason(
    environment: dict[str, str], settings: Path, text: str, spoil: Any, reason: str
) -> None:
    settings.write_text(text, errors="surrogateescape")
    before = settings.read_bytes()
    if spoil is not None:
        spoil(settings)
    for call in (offer_hook.check, install):
        with pytest.raises(CockpitError) as refused:
            call(environment)
        assert reason in refused.value.detail
        assert "Nothing was changed" in refused.value.detail
    if not settings.is_fifo():
        assert settings.read_bytes() == before
    assert not [one for one in settings.parent.iterdir() if one.suffix == ".tmp"]


def test_a_disk_error_leaves_the_file_and_nothing_else(
    environment: dict[str, str], settings: Path
) -> None:
    settings.write_bytes(FOREIGN.encode())
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
    try:
        with pytest.raises(CockpitError, match=r"Cannot change .*settings\.json"):
            install(environment)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert settings.read_bytes() == FOREIGN.encode()
    assert [one.name for one in settings.parent.iterdir()] == [settings.name]


@pytest.mark.parametrize("agent", ["", "run"])
def test_the_command_is_silent_without_cockpit_and_in_an_agent(tmp_path: Path, agent: str) -> None:
    command = entry()["hooks"][0]["command"]
    python = command.split()[5]
    for word, expected in (("/nowhere/python", ""), ("echo", "" if agent else "-E -P -m cockpit")):
        done = subprocess.run(
            ["sh", "-c", command.replace(python, word)],
            env={"PATH": os.environ["PATH"], "COCKPIT_RUN": agent},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        assert (done.stdout[:16], done.stderr) == (expected, "")
