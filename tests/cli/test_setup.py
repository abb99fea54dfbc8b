"""`cockpit setup`: what is asked, run and undone, with a recording stand-in of Gemini."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from cockpit.cli.commands import run
from cockpit.cli.doctor_machine import gemini

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


def test_without_gemini_it_says_how_to_install_it(
    own_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(own_home))
    assert run(["setup", "gemini", "--yes"]) == 6
    assert "@google/gemini-cli" in capsys.readouterr().err
