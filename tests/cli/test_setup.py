"""`cockpit setup`: what is asked, run and undone; Gemini is a stand-in that records."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from cockpit.adapters.agents.claude.offer_hook import entry
from cockpit.cli.commands import run
from cockpit.cli.doctor_machine import gemini, own_sessions
from cockpit.cli.places import our_places

STAND_IN = """\
#!/bin/sh
[ "$1" != --version ] || { echo 0.61.0; exit; }
echo "$*" >> "$RECORD"
here=$GEMINI_CLI_HOME/.gemini/extensions/cockpit
case $2 in
link) mkdir -p "$here" && printf '{"source":"%s"}' "$3" >"$here/.gemini-extension-install.json" ;;
uninstall) rm -r "$here" ;;
esac
"""


@pytest.fixture
def record(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What Gemini was asked, line by line."""
    monkeypatch.chdir(own_home)
    folder = own_home / "gemini-bin"
    folder.mkdir()
    program = folder / "gemini"
    program.write_text(STAND_IN)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("RECORD", str(own_home / "asked"))
    monkeypatch.setenv("GEMINI_CLI_HOME", str(own_home))
    monkeypatch.setenv("GEMINI_CLI_TRUST_WORKSPACE", "true")
    (own_home / "asked").touch()
    return own_home / "asked"


def findings(own_home: Path) -> list[str]:
    return [one.said for one in gemini(os.environ, own_home)]


def test_it_says_what_it_writes_and_asks_first(
    record: Path, own_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["setup", "gemini"]) == 5
    told = capsys.readouterr().err
    assert str(own_home / ".gemini" / "extensions" / "cockpit") in told
    assert "Add --yes" in told
    assert record.read_text() == ""


def test_it_links_once_and_undoes_it(
    record: Path, own_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert any("not linked" in said for said in findings(own_home))
    assert run(["setup", "gemini", "--yes"]) == 0
    (asked,) = record.read_text().splitlines()
    folder = Path(asked.split()[2])
    assert asked == f"extensions link {folder} --consent"
    assert (folder / "hooks" / "hooks.json").is_file()
    assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
    assert not any("extension" in said for said in findings(own_home))

    assert run(["setup", "gemini", "--yes"]) == 0
    assert "already linked" in capsys.readouterr().err
    assert len(record.read_text().splitlines()) == 1

    assert run(["setup", "gemini", "--remove", "--yes"]) == 0
    assert record.read_text().splitlines()[-1] == "extensions uninstall cockpit"
    assert not folder.exists()
    assert run(["setup", "gemini", "--remove", "--yes"]) == 0
    assert "is not linked" in capsys.readouterr().err


def test_a_new_version_of_the_extension_replaces_the_old_one(record: Path, own_home: Path) -> None:
    assert run(["setup", "gemini", "--yes"]) == 0
    folder = Path(record.read_text().split()[2])
    (folder / "report.sh").write_text("exit 0\n")
    assert any("another version" in said for said in findings(own_home))
    assert run(["setup", "gemini", "--yes"]) == 0
    assert [line.split()[1] for line in record.read_text().splitlines()] == [
        "link",
        "uninstall",
        "link",
    ]
    assert "reporter.sh" in (folder / "report.sh").read_text()


def test_hooks_that_gemini_has_switched_off_are_named_with_the_setting(
    record: Path, own_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = own_home / ".gemini" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"hooksConfig": {"enabled": false}}')
    assert run(["setup", "gemini", "--yes"]) == 0
    told = capsys.readouterr().err
    assert f"set hooksConfig.enabled to true in\n  {settings}\n" in told

    (found,) = [one for one in gemini(os.environ, own_home) if "extension" in one.said]
    assert "all hooks are switched off" in found.said
    assert found.remedy == f"Set hooksConfig.enabled to true in {settings}"
    assert run(["setup", "gemini", "--yes"]) == 5
    assert f"hooksConfig.enabled is false in {settings}" in capsys.readouterr().err
    assert len(record.read_text().splitlines()) == 1

    settings.write_text('{"hooksConfig": {"enabled": true}}')
    assert run(["setup", "gemini", "--yes"]) == 0
    assert "already linked" in capsys.readouterr().err


def test_an_extension_that_cannot_be_written_is_an_error_with_its_folder(
    record: Path, own_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = our_places().state / "gemini-extension"
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.touch()
    assert run(["setup", "gemini", "--yes"]) == 1
    told = capsys.readouterr().err
    assert f"Cannot write cockpit's extension to {folder}" in told
    assert "free space on its disk. Then: cockpit setup gemini" in told
    assert record.read_text() == ""


def test_without_gemini_it_says_how_to_install_it(
    own_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(own_home))
    assert run(["setup", "gemini", "--yes"]) == 6
    assert "@google/gemini-cli" in capsys.readouterr().err


@pytest.fixture
def settings(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The settings of the user's own Claude Code, which is installed."""
    monkeypatch.chdir(own_home)
    program = own_home / "claude-bin" / "claude"
    program.parent.mkdir()
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(own_home / "claude-config"))
    file = own_home / "claude-config" / "settings.json"
    file.parent.mkdir()
    file.write_text(MINE)
    return file


MINE = '{ "model" : "haiku" }'


def of_own_sessions() -> tuple[str, str]:
    (found,) = own_sessions(os.environ)
    return found.level, found.said


def test_claudes_settings_are_named_before_they_are_changed(
    settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["setup", "claude"]) == 5
    told = capsys.readouterr().err
    assert f"  {settings}\n" in told
    assert json.dumps(entry()) in told
    assert "Add --yes" in told
    assert settings.read_text() == MINE


def test_claudes_hook_is_added_once_and_removed(
    settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert of_own_sessions()[0] == "fit"
    assert "do not show pending handoffs (to show them: cockpit setup" in of_own_sessions()[1]
    assert run(["setup", "claude", "--yes"]) == 0
    assert "cockpit setup claude --remove" in capsys.readouterr().err
    added = settings.read_text()
    assert json.loads(added)["hooks"] == {"SessionStart": [entry()]}
    assert of_own_sessions() == (
        "fit",
        "Sessions that you start yourself show pending handoffs",
    )

    assert run(["setup", "claude", "--yes"]) == 0
    assert "already set up" in capsys.readouterr().err
    assert settings.read_text() == added

    assert run(["setup", "claude", "--remove"]) == 5
    assert str(settings) in capsys.readouterr().err
    assert settings.read_text() == added
    assert run(["setup", "claude", "--remove", "--yes"]) == 0
    assert settings.read_text() == MINE
    assert run(["setup", "claude", "--remove", "--yes"]) == 0
    assert "is not set up" in capsys.readouterr().err


def test_claudes_settings_that_cannot_be_changed_are_refused_before_asking(
    settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.write_text("// mine")
    assert run(["setup", "claude"]) == 1
    told = capsys.readouterr().err
    assert "is not JSON" in told
    assert json.dumps(entry()) in told
    assert "Add --yes" not in told
    assert settings.read_text() == "// mine"


def test_claudes_hook_that_does_not_run_is_noted(
    settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.write_text('{"disableAllHooks": true}')
    assert run(["setup", "claude", "--yes"]) == 0
    assert of_own_sessions()[0] == "note"
    assert "switched off" in of_own_sessions()[1]
    assert run(["setup", "claude", "--yes"]) == 5
    assert "disableAllHooks" in capsys.readouterr().err
    settings.write_text(json.dumps({"hooks": {"SessionStart": [entry()]}}).replace(" -E ", " "))
    assert of_own_sessions()[0] == "note"
    assert "by another installation or an older version of cockpit" in of_own_sessions()[1]
    assert run(["setup", "claude", "--yes"]) == 0
    assert of_own_sessions()[0] == "fit"


def test_without_claude_on_the_path_the_doctor_does_not_speak_of_it(
    settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(settings.parent))
    assert own_sessions(os.environ) == []
