"""`cockpit service`: what is written, run and refused, with a recording stand-in of systemctl."""

from __future__ import annotations

import os
import plistlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cockpit.adapters.service.launchd import LaunchdAgent
from cockpit.adapters.service.systemd import SystemdUnit
from cockpit.cli.commands import run
from cockpit.core.errors import BadUsage

STAND_IN = """\
#!/bin/sh
echo "$(basename "$0") $*" >> "$RECORD"
case "$*" in
  *show-environment*) [ -z "$NO_SESSION" ] || {{ echo "Failed to connect to bus" >&2; exit 1; }};;
  *is-enabled*) echo enabled;;
  *is-active*) echo active;;
  *Linger*) echo "Linger=no";;
  *enable*) [ -z "$REFUSES" ] || {{ echo "Access denied" >&2; exit 1; }};;
esac
"""


@pytest.fixture
def record(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What systemctl and loginctl were asked, line by line."""
    monkeypatch.chdir(own_home)
    folder = own_home / "service-bin"
    folder.mkdir()
    for name in ("systemctl", "loginctl"):
        program = folder / name
        program.write_text(STAND_IN.replace("{{", "{").replace("}}", "}"))
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("RECORD", str(own_home / "asked"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(own_home / "con fig"))
    monkeypatch.setattr(sys, "platform", "linux")
    (own_home / "asked").touch()
    return own_home / "asked"


def unit_of(own_home: Path) -> Path:
    return own_home / "con fig" / "systemd" / "user" / "cockpit.service"


def test_nothing_is_written_or_run_by_a_dry_run(
    record: Path, own_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["service", "install", "--dry-run"]) == 0

    told = capsys.readouterr()
    assert "ExecStart=" in told.out
    assert str(unit_of(own_home)) in told.err
    assert "systemctl --user enable cockpit.service" in told.err
    assert not unit_of(own_home).exists()
    assert record.read_text() == ""


def test_install_says_what_it_writes_and_remove_takes_it_away(
    record: Path, own_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["service", "install"]) == 0

    told = capsys.readouterr().err
    assert f"Wrote {unit_of(own_home)}" in told
    assert "loginctl enable-linger" in told
    text = unit_of(own_home).read_text()
    assert f'ExecStart="{sys.executable}" "-P" "-m" "cockpit" "up" "--foreground"' in text
    assert f'Environment="COCKPIT_HOME={own_home / "ck"}"' in text
    assert "KillMode=process" in text
    asked = record.read_text().splitlines()
    assert [line for line in asked if "daemon-reload" in line or "able" in line] == [
        "systemctl --user daemon-reload",
        "systemctl --user enable cockpit.service",
    ]
    assert "systemctl --user start cockpit.service" in asked

    assert run(["service", "install"]) == 0
    assert "is up to date" in capsys.readouterr().err
    assert run(["service", "status"]) == 0
    assert "active: active" in capsys.readouterr().out
    assert run(["service", "remove"]) == 0
    assert not unit_of(own_home).exists()
    assert "systemctl --user disable cockpit.service" in record.read_text()
    assert not any(" stop " in line for line in record.read_text().splitlines())
    assert run(["service", "remove"]) == 0


def test_without_a_session_of_systemd_nothing_is_written(
    record: Path,
    own_home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("NO_SESSION", "1")
    assert run(["service", "install"]) == 5
    told = capsys.readouterr().err
    assert "Failed to connect to bus" in told
    assert "cockpit up" in told
    assert not unit_of(own_home).exists()

    monkeypatch.setenv("PATH", str(own_home / "nothing"))
    assert run(["service", "install"]) == 6


def test_a_refusal_of_systemd_is_told(
    record: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("REFUSES", "1")
    assert run(["service", "install"]) == 1
    told = capsys.readouterr().err
    assert "systemctl --user enable cockpit.service failed" in told
    assert "Access denied" in told


def test_a_unit_that_somebody_else_wrote_is_left_alone(record: Path, own_home: Path) -> None:
    unit_of(own_home).parent.mkdir(parents=True)
    unit_of(own_home).write_text("[Unit]\nDescription=mine\n")
    assert run(["service", "install"]) == 5
    assert run(["service", "remove"]) == 5
    assert unit_of(own_home).read_text() == "[Unit]\nDescription=mine\n"
    assert "enable cockpit.service" not in record.read_text()


def test_no_credential_of_the_environment_is_written(
    record: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-not-for-files")
    assert run(["service", "install"]) == 0
    assert "sk-ant-not-for-files" not in unit_of(own_home).read_text()


@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is not on this machine"
)
def test_systemd_reads_the_unit_as_it_is_meant(tmp_path: Path) -> None:
    program = tmp_path / "odd %n folder" / "python"
    program.parent.mkdir()
    program.symlink_to(sys.executable)
    unit = SystemdUnit(
        tmp_path,
        (str(program), '--config=/a "b" $HOME %n'),
        {"PATH": "/a b:/c%d", "LANG": "C.UTF-8"},
    )
    unit.path.write_text(unit.text())
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit.path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert unit.path.name not in done.stderr
    for name in ("a'b", "$HOME", 'a"b', "a\\b", "a\nb"):
        with pytest.raises(BadUsage):
            SystemdUnit(tmp_path, (f"/{name}/python",), {}).text()


def test_the_property_list_has_what_launchd_needs(tmp_path: Path) -> None:
    argv = (sys.executable, "-P", "-m", "cockpit", "up", "--foreground")
    agent = LaunchdAgent(tmp_path, argv, {"PATH": "/a & b"}, tmp_path / "up.log")
    read = plistlib.loads(agent.text().encode())
    assert read["ProgramArguments"] == list(argv)
    assert read["EnvironmentVariables"]["PATH"] == "/a & b"
    assert read["AbandonProcessGroup"] is True
    assert read["KeepAlive"] == {"SuccessfulExit": False}
    assert agent.path.name == "cockpit.supervisor.plist"
    assert "cockpit service remove" in agent.text()
