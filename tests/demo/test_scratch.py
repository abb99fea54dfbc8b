"""What the demo prepares is what cockpit reads."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from cockpit.config.read import load
from cockpit.core.errors import BadUsage
from cockpit.demo import scratch
from cockpit.demo.jobs import JOBS, jobs_for
from cockpit.demo.leftovers import carriers, end_leftovers
from cockpit.demo.more_jobs import EXPORT
from cockpit.demo.repository import make_repository
from cockpit.demo.scratch import configuration, make_scratch, put_onboarding


def test_the_configuration_is_one_that_cockpit_accepts(own_home: Path) -> None:
    from cockpit.config.paths import Places

    file = own_home / "cockpit.toml"
    repository = own_home / "tally"
    jobs = {**jobs_for(4), "export": EXPORT}
    file.write_text(configuration(jobs, {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}, repository))
    settings = load(Places.of(os.environ), file, own_home, os.environ).settings
    assert [agent.name for agent in settings.agents] == list(jobs)
    assert [agent.mode for agent in settings.agents] == [
        "auto",
        "prompt",
        "observe",
        "auto",
        "prompt",
    ]
    assert [agent.arguments[1] for agent in settings.agents[3:]] == ["Bash", EXPORT.allowed]
    assert settings.agents[0].prompt == JOBS[0].prompt
    assert settings.agents[0].worktree.strategy == "git_worktree"
    assert settings.agents[0].env["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:1"


def test_names_come_round_with_a_number() -> None:
    jobs = jobs_for(4)
    assert list(jobs) == ["rounding", "durations", "weeks", "rounding-2"]
    assert jobs["rounding-2"] is jobs["rounding"]


def test_the_repository_is_committed_and_its_tests_pass(tmp_path: Path) -> None:
    make_repository(tmp_path / "tally", {"PATH": os.environ["PATH"], "HOME": str(tmp_path)})
    assert "OK" in said(tmp_path / "tally", sys.executable, "-m", "unittest")
    assert said(tmp_path / "tally", "git", "status", "--short") == ""
    assert said(tmp_path / "tally", "git", "log", "--format=%an").strip() == "Demo User"


def said(directory: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=True)
    return done.stdout + done.stderr


def test_the_cli_is_told_only_what_is_needed(tmp_path: Path) -> None:
    key = "sk-ant-simulated-" + "0" * 32
    put_onboarding(tmp_path, key, tmp_path / "tally")
    told = json.loads((tmp_path / ".claude.json").read_text())
    assert told["customApiKeyResponses"]["approved"] == ["0" * 20]
    assert list(told["projects"]) == [str(tmp_path / "tally")]


def test_leftovers_are_found_by_the_folder_and_ended(tmp_path: Path) -> None:
    child = subprocess.Popen(["sleep", "600"], env={"HOME": f"{tmp_path}/home"})
    try:
        # The kernel shows a new program's environment a moment after it runs.
        while carriers(tmp_path) != [child.pid]:
            time.sleep(0.01)
        assert end_leftovers(tmp_path) == [child.pid]
    finally:
        child.kill()
        child.wait()


@pytest.mark.parametrize("name", ["home", "claude", "tmp"])
def test_folders_are_the_flights_own(name: str, own_home: Path) -> None:
    from cockpit.demo.scratch import make_scratch

    scratch = make_scratch(jobs_for(1), "http://127.0.0.1:1")
    try:
        assert stat.S_IMODE((scratch.folder / name).stat().st_mode) == 0o700
        values = [value for value in scratch.environment().values() if str(own_home) in value]
        assert values == []
        assert (scratch.folder / "bin" / "claude").exists()
    finally:
        scratch.remove()
    assert not scratch.folder.exists()


def test_a_long_folder_for_temporary_files_is_left_for_one_that_sockets_fit_in(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = own_home / ("T" * 90)
    long.mkdir()
    monkeypatch.setenv("TMPDIR", str(long))
    monkeypatch.setattr(tempfile, "tempdir", None)
    made = make_scratch(jobs_for(1), "http://127.0.0.1:1", standin=True)
    try:
        made.places.check_sockets()
        assert list(long.iterdir()) == []
    finally:
        made.remove()


def test_no_folder_in_which_sockets_fit_is_refused_and_nothing_is_left(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = own_home / ("T" * 90)
    long.mkdir()
    monkeypatch.setenv("TMPDIR", str(long))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(scratch, "SHORT_PARENT", str(long))
    with pytest.raises(BadUsage, match="too long a path") as refused:
        make_scratch(jobs_for(1), "http://127.0.0.1:1", standin=True)
    assert "TMPDIR=/FOLDER cockpit demo" in refused.value.hint
    assert list(long.iterdir()) == []
