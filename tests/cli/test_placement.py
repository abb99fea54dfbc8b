"""What a machine says of itself is checked; one that says nothing is named."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cockpit import __version__
from cockpit.adapters.remote_host import RemoteHost
from cockpit.cli import placement
from cockpit.cli.move_machines import Machine
from cockpit.cli.placement import read_answer

GOOD = {
    "version": __version__, "cores": 8, "load": 0.5, "free_memory": 10**9, "directory": "",
    "supervisor": True, "running": 2, "agent": None,
}  # fmt: skip


def test_a_good_answer_is_read() -> None:
    asked = read_answer("gpu1", GOOD)
    one = asked.candidate
    assert (one.refusal, one.running, one.cores, one.load, one.free_memory) == (
        "", 2, 8, 0.5, 10**9,
    )  # fmt: skip
    assert asked.agent == ""


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("running", -1), ("running", True), ("running", "2"), ("running", 10**30),
    ],
)  # fmt: skip
def test_an_impossible_number_is_unknown(key: str, value: object) -> None:
    assert read_answer("gpu1", {**GOOD, key: value}).candidate.running is None
    told = {**GOOD, "cores": value, "load": value, "free_memory": value}
    one = read_answer("gpu1", {**told, "load": float("nan")}).candidate
    assert (one.load, one.free_memory) == (None, None)
    assert one.cores is None


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"version": "9.9.9"}, "cockpit is 9.9.9; this machine has"),
        ({"version": None}, "cockpit is an older version"),
        ({"directory": "no repository at /x"}, "no repository at /x"),
        ({"supervisor": False}, "no supervisor is running"),
        ({"supervisor": "yes"}, "no supervisor is running"),
        ({"error": {"title": "claude was not found\x1b[2J", "hint": 5}}, "claude was not found"),
        ({"error": {}}, "the start would fail"),
    ],
)
def test_a_machine_that_does_not_fit_says_why(more: dict[str, object], why: str) -> None:
    one = read_answer("gpu1", {**GOOD, **more}).candidate
    assert one.refusal.startswith(why)
    assert "\x1b" not in one.refusal


@pytest.mark.parametrize(
    ("version", "step"),
    [
        ("9.9.9", "Upgrade cockpit on this machine; agents keep running."),
        ("0.0.9", "Upgrade gpu1; agents keep running: cockpit hosts install gpu1"),
        (None, "Upgrade gpu1; agents keep running: cockpit hosts install gpu1"),
    ],
)
def test_another_version_has_a_step_that_works(version: str | None, step: str) -> None:
    """`hosts install` replaces no newer cockpit."""
    assert read_answer("gpu1", {**GOOD, "version": version}).candidate.remedy == step


@pytest.mark.parametrize(
    ("connect", "why"),
    [
        (["sh", "-c", "exec sleep 1000"], "no answer within 1 s"),
        (["env", "PATH=/nonexistent:/bin:/usr/bin"], "no cockpit"),
    ],
)
def test_a_host_without_an_answer_is_named(
    connect: list[str], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placement, "SECONDS", 1.0)
    monkeypatch.setattr(placement, "GRACE_SECONDS", 60.0)
    good = read_answer("gpu2", GOOD)
    host = Machine("gpu1", RemoteHost("gpu1", connect))
    hung = {"gpu1": lambda: placement._ask_there(host, {}), "gpu2": lambda: good}
    first, second = placement._ask_all(hung)
    host.close()
    assert first.candidate.refusal.startswith(why)
    assert second == good


def test_other_commands_refuse_any(own_home: Path) -> None:
    for words, said in {
        ("status",): "Only `cockpit start` works with --host any",
        ("start", "x", "--resume"): "--resume does not work with --host any",
    }.items():
        done = subprocess.run(
            [sys.executable, "-P", "-m", "cockpit", *words, "--host", "any"],
            capture_output=True,
            text=True,
            cwd=own_home,
        )
        assert done.returncode == 2, done.stderr
        assert said in done.stderr


def test_a_configured_host_cannot_be_called_any(own_home: Path) -> None:
    file = own_home / "cockpit.toml"
    file.write_text(f'[[hosts]]\nname = "any"\nconnect = {json.dumps(["ssh", "x"])}\n')
    done = subprocess.run(
        [sys.executable, "-P", "-m", "cockpit", "hosts", "--config", str(file)],
        capture_output=True,
        text=True,
        cwd=own_home,
    )
    assert done.returncode == 2, done.stderr
    assert "`any` is reserved" in done.stderr
