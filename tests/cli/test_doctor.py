"""`cockpit doctor`: each fault has its line and its remedy, and nothing is changed by looking."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cockpit.adapters.agents.claude.first_run import open_questions
from cockpit.adapters.agents.tested_versions import TESTED
from cockpit.adapters.store.fitness import check_sqlite
from cockpit.cli.commands import run
from cockpit.cli.doctor_finding import Finding
from cockpit.cli.doctor_machine import (
    check_machine,
    claude,
    disk,
    git,
    other_clis,
    sqlite,
    tmux,
    utf8,
)
from cockpit.cli.doctor_setup import check_setup, configuration, folder
from cockpit.config.paths import Places
from tests.repositories import lay_repository


def of(topic: str, findings: list[Finding]) -> Finding:
    return next(one for one in findings if one.topic == topic)


def premises(config: Path | None = None) -> list[Finding]:
    return check_setup(os.environ, config)


def test_a_machine_that_is_fit(
    own_home: Path, monkeypatch: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(own_home)
    before = sorted(own_home.rglob("*"))

    assert run(["doctor", "--json"]) == 0

    report = json.loads(capsys.readouterr().out)
    assert report["fit"] is True
    assert {"python", "sqlite", "tmux", "git", "claude", "supervisor"} <= {
        one["topic"] for one in report["findings"]
    }
    assert sorted(own_home.rglob("*")) == before


def test_every_fault_has_a_remedy(
    own_home: Path, monkeypatch: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(own_home)
    (own_home / "ck" / "cockpit.toml").write_text("[defaults]\nmood = 1\n")

    assert run(["doctor"]) == 1

    lines = capsys.readouterr().out.splitlines()
    faults = [number for number, line in enumerate(lines) if not line.startswith(("ok", " "))]
    assert faults
    assert all(lines[number + 1].strip().startswith("->") for number in faults)


def test_an_sqlite_that_cannot_search_is_unfit() -> None:
    def forbids(action: int, *_: object) -> int:
        return sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_CREATE_VTABLE else sqlite3.SQLITE_OK

    def check() -> str:
        poor = sqlite3.connect(":memory:")
        poor.set_authorizer(forbids)
        return check_sqlite(poor)

    finding = sqlite(check)
    assert (finding.level, finding.topic) == ("unfit", "sqlite")
    assert "has no full-text search" in finding.said
    assert "another Python" in finding.remedy


@pytest.mark.parametrize("look", [tmux, git], ids=["tmux", "git"])
def test_a_missing_program_is_named_with_how_to_get_it(look: Any, own_home: Path) -> None:
    finding = look({"PATH": str(own_home)})

    assert finding.level == "unfit"
    assert "apt-get install" in finding.remedy


def test_a_claude_that_does_not_work_is_unfit(own_home: Path) -> None:
    broken = own_home / "claude"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o700)

    finding = claude({"PATH": str(own_home), "HOME": str(own_home)}, own_home)[0]

    assert finding.level == "unfit"
    assert str(broken) in finding.said


@pytest.mark.parametrize(
    ("version", "level"),
    [("0.168.9", "note"), ("0.169.0", "fit"), ("0.170.0-alpha.1", "fit"), ("1.0.0", "fit")],
)
def test_a_cli_that_is_older_than_the_tested_one_is_noted(
    own_home: Path, version: str, level: str
) -> None:
    program = own_home / "bin" / "codex"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\necho codex-cli {version}\n")
    program.chmod(0o755)
    (found,) = other_clis({"PATH": f"{program.parent}:/usr/bin:/bin"})
    assert (found.level, found.said.startswith(version)) == (level, True)
    assert ("older than 0.169.0" in found.said) == (level == "note")


def test_the_tested_versions_are_those_of_the_page_and_of_the_journeys() -> None:
    root = Path(__file__).parents[2]
    page = (root / "cockpit" / "docs" / "runtimes.md").read_text().splitlines()
    names, row = (
        [cell.strip(" `") for cell in line.strip("| ").split("|")]
        for line in (page[5], next(line for line in page if line.startswith("| Tested with")))
    )
    assert {name: row[place + 1] for place, name in enumerate(names[:-1])} == TESTED
    packages = json.loads((root / "tests" / "clis_all.json").read_text())["dependencies"]
    assert sorted(packages.values()) == sorted(TESTED[name] for name in TESTED if name != "claude")


def test_each_tested_cli_is_looked_for(own_home: Path) -> None:
    programs = own_home / "clis"
    programs.mkdir()
    for name in TESTED:
        (programs / name).write_text("#!/bin/sh\necho 99.0.0\n")
        (programs / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}

    found = check_machine(environment, own_home)

    assert TESTED.keys() <= {one.topic for one in found if str(programs) in one.said}


def test_first_screens_are_told_beforehand(own_home: Path) -> None:
    repository = own_home / "project"
    lay_repository(repository)
    environment = {"PATH": os.environ["PATH"], "HOME": str(own_home / "home")}

    topics = [one for one in claude(environment, repository) if one.level == "note"]

    assert len(topics) == 2
    assert str(repository) in topics[1].said


@pytest.mark.parametrize("on_path", [True, False])
def test_only_a_program_on_path_is_to_be_run(own_home: Path, *, on_path: bool) -> None:
    repository, programs = own_home / "project", own_home / "programs"
    lay_repository(repository)
    programs.mkdir()
    if on_path:
        (programs / "claude").write_text("#!/bin/sh\necho 99.0.0\n")
        (programs / "claude").chmod(0o755)
    environment = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(own_home / "home")}

    found = [one for one in claude(environment, repository) if one.level == "note"]

    assert [one.remedy.startswith("Run `claude`") for one in found] == [on_path, on_path]
    assert all(one.remedy for one in found)


def test_a_terminal_gets_lines_wrapped_between_words(
    own_home: Path, monkeypatch: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(own_home)
    (own_home / "ck" / "cockpit.toml").write_text("[defaults]\nmood = 1\n")
    assert run(["doctor"]) == 1
    whole = capsys.readouterr().out

    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "50")
    assert run(["doctor"]) == 1
    wrapped = capsys.readouterr().out

    assert wrapped.split() == whole.split()
    # A word that is longer than the line, such as a path, is not broken.
    assert all(len(line) <= 50 or len(line[19:].split()) <= 2 for line in wrapped.splitlines())
    continued = [line for line in wrapped.splitlines() if line.startswith(" " * 19)]
    assert len(continued) > len([line for line in whole.splitlines() if line.startswith(" ")])


@pytest.mark.parametrize("kind", ["worktree", "relative", "bare", "submodule"])
def test_a_folder_is_trusted_as_claude_code_stores_it(own_home: Path, kind: str) -> None:
    """A worktree is trusted with its main checkout or bare repository; a submodule by itself."""
    repository, tree, bare = own_home / "project", own_home / "tree", own_home / "bare.git"
    lay_repository(repository)
    commit = ["git", "-C", str(repository), "commit", "-q", "--allow-empty", "-m", "begin"]
    subprocess.run(commit, check=True)
    trusted = repository
    if kind == "submodule":
        trusted = tree = repository / "inner"
        add = ["git", "-c", "protocol.file.allow=always", "-C", str(repository), "submodule", "add"]
        subprocess.run([*add, "-q", str(repository), "inner"], check=True, capture_output=True)
    else:
        if kind == "bare":
            trusted = bare
            clone = ["git", "clone", "-q", "--bare", str(repository), str(bare)]
            subprocess.run(clone, check=True, capture_output=True)
        add = ["git", "-C", str(trusted), "worktree", "add", "-q", "-b", "side", str(tree)]
        subprocess.run(add, check=True, capture_output=True)
    if kind == "relative":
        (tree / ".git").write_text("gitdir: ../project/.git/worktrees/tree\n")
    environment = {"PATH": os.environ["PATH"], "HOME": str(own_home / "home")}
    file = own_home / "home" / ".claude.json"

    file.write_text(json.dumps({"hasCompletedOnboarding": True}))
    (asked,) = (one for one in claude(environment, tree) if one.level == "note")
    assert asked.said == f"Does not trust {trusted} yet, and will ask in the pane"

    state = {"hasCompletedOnboarding": True,
             "projects": {str(trusted): {"hasTrustDialogAccepted": True}}}  # fmt: skip
    file.write_text(json.dumps(state))
    assert [one.level for one in claude(environment, tree)] == ["fit"]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"projects": 3}', '{"projects": {"/": 3}}'])
def test_a_first_run_file_that_says_nothing(content: str, own_home: Path) -> None:
    (own_home / ".claude.json").write_text(content)

    asked = open_questions({"CLAUDE_CONFIG_DIR": str(own_home)}, own_home)

    assert asked == ["onboarding", "trust"]


def test_trust_in_a_parent_covers_a_repository(own_home: Path) -> None:
    state = {"hasCompletedOnboarding": True,
             "projects": {str(own_home): {"hasTrustDialogAccepted": True}}}  # fmt: skip
    (own_home / ".claude.json").write_text(json.dumps(state))

    assert open_questions({"CLAUDE_CONFIG_DIR": str(own_home)}, own_home / "a" / "b") == []


def test_folders_of_ours(own_home: Path) -> None:
    private, wide, link, file = (own_home / name for name in ("p", "w", "l", "f"))
    private.mkdir(mode=0o700)
    wide.mkdir()
    wide.chmod(0o755)
    link.symlink_to(private)
    file.touch()

    assert [folder(path).level for path in (private, own_home / "none")] == ["fit", "fit"]
    assert [folder(path).level for path in (wide, link, file)] == ["unfit"] * 3
    assert folder(wide).remedy == f"chmod 700 {wide}"


def test_a_socket_path_that_is_too_long(monkeypatch: Any, own_home: Path) -> None:
    monkeypatch.setenv("COCKPIT_HOME", str(own_home / ("x" * 120)))

    finding = of("sockets", premises())

    assert finding.level == "unfit"
    assert "COCKPIT_HOME" in finding.remedy


def test_a_bad_file_is_named_with_its_line(own_home: Path) -> None:
    bad = own_home / "bad.toml"
    bad.write_text('[defaults]\nmodel = ""\nmood = 1\n')

    finding = of("config", premises(bad))

    assert finding.level == "unfit"
    assert f"{bad}:3" in finding.said


def test_broken_themes_are_one_line(own_home: Path) -> None:
    mine = own_home / "ck" / "themes"
    mine.mkdir(parents=True)
    for number in range(9):
        (mine / f"t{number}.toml").write_text("primary = 7")
    (one,) = [each for each in premises() if each.topic == "themes"]
    assert (one.level, one.said[:26]) == ("note", "9 files not loaded: t0.tom")
    assert "config check" in one.remedy


def test_a_project_that_waits_for_trust(own_home: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(own_home)
    (own_home / "cockpit.toml").write_text('[defaults]\nenv = { PATH = "/tmp/x" }\n')

    held = [one for one in premises() if one.topic == "config" and one.level == "note"]

    assert "cockpit config trust" in held[0].remedy


@pytest.mark.parametrize(("version", "level"), [("0.0.1", "note"), (None, "fit")])
def test_the_supervisor_and_its_version(answering: Any, version: str | None, level: str) -> None:
    answering.say("GET /v1/status", {"supervisor": {"pid": 7, "version": version}})

    found = of("supervisor", premises())
    assert found.level == level
    assert (found.remedy == "Run: cockpit restart") is (level == "note")


def test_a_dead_tmux_socket(answering: Any, own_home: Path) -> None:
    (own_home / "ck" / "run" / "tmux.sock").touch()

    assert of("tmux server", premises()).level == "note"


def test_disk_and_locale_are_looked_at(own_home: Path) -> None:
    assert disk(own_home).level == "fit"
    assert utf8().level == "fit"


def test_the_cli_is_looked_for_where_the_agents_would_find_it(
    own_home: Path, monkeypatch: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(own_home)
    program = own_home / "tools" / "claude"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho '2.1.330 (Claude Code)'\n")
    program.chmod(0o755)
    (own_home / "ck" / "cockpit.toml").write_text(
        f'[defaults.env]\nPATH = "{program.parent}:/usr/bin:/bin"\n'
    )
    run(["doctor", "--json"])
    report = json.loads(capsys.readouterr().out)
    said = [one["said"] for one in report["findings"] if one["topic"] == "claude"]
    assert str(program) in said[0]


def test_own_runtimes_are_looked_for(tmp_path: Path) -> None:
    config = tmp_path / "cockpit.toml"
    config.write_text(
        '[runtimes.there]\nprogram = ["sh"]\n[runtimes.gone]\nprogram = ["no-such-agent"]\n'
        '[runtimes.mute]\nprogram = ["sh"]\nsession = ["{session}"]\n'
        'record = "{state}/{session}"\nreader = ["no-such-reader"]\n'
    )
    config.chmod(0o600)
    environment = {"COCKPIT_HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    found = {one.topic: one for one in configuration(Places.of(environment), environment, config)}
    assert found["there"].level == "fit"
    assert "no-such-agent" in found["gone"].said
    assert "no-such-reader" in found["mute"].said
    assert found["gone"].level == found["mute"].level == "unfit"
