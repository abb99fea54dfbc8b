"""The demo's agents in other CLIs than Claude Code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cockpit.config.paths import Places
from cockpit.config.read import load
from cockpit.core.errors import ProgramMissing
from cockpit.demo.clis import CHOICES, agents_for, find_programs
from cockpit.demo.flight import fly_headless
from cockpit.demo.jobs import WEEKS
from cockpit.demo.scratch import make_scratch
from cockpit.demo.simulation import PACE_VARIABLE

NPM = Path(__file__).parents[2] / ".venv" / "npm" / "node_modules" / ".bin"
INSTALLED = os.pathsep.join([os.environ["PATH"], str(NPM)])
IN_CI = bool(os.environ.get("CI"))


def put_program(folder: Path, name: str) -> None:
    """A program that answers everything with a version."""
    path = folder / name
    path.write_text("#!/bin/sh\necho 1.2.3\n")
    path.chmod(0o700)


def test_each_choice_gives_every_agent_a_job_and_a_cli() -> None:
    assert agents_for(3, "claude")[1] == {}
    jobs, clis = agents_for(3, "codex")
    assert list(jobs) == ["rounding", "durations", "rounding-2"]
    assert set(clis.values()) == {"codex"}
    assert clis.keys() == jobs.keys()
    jobs, clis = agents_for(4, "mixed")
    assert clis == {"rounding": "codex", "durations": "gemini", "rounding-2": "codex"}
    # What is only compacted is Claude Code's: nothing else of the demo waits for a compaction.
    for choice in CHOICES:
        jobs, clis = agents_for(9, choice)
        assert len(jobs) == 9
        assert all(jobs[name] is not WEEKS for name in clis)


def test_all_that_is_missing_is_named_with_how_to_install_it(tmp_path: Path) -> None:
    with pytest.raises(ProgramMissing) as missing:
        find_programs({"codex", "gemini"}, {"PATH": str(tmp_path)})
    assert missing.value.title == "Codex is not installed. Gemini CLI is not installed"
    assert "npm install -g @openai/codex" in missing.value.hint
    assert "npm install -g @google/gemini-cli" in missing.value.hint


def test_a_missing_cli_is_told_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for program in ("git", "tmux"):
        put_program(tmp_path, program)
    monkeypatch.setenv("PATH", str(tmp_path))
    told: list[str] = []
    with pytest.raises(ProgramMissing, match="Codex is not installed"):
        fly_headless(1, keep=False, say=told.append, runtime="codex")
    assert told == []


def test_the_configuration_names_each_agents_own_cli(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = own_home / "programs"
    programs.mkdir()
    for name in ("codex", "gemini"):
        put_program(programs, name)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    jobs, clis = agents_for(3, "mixed")
    scratch = make_scratch(jobs, "http://127.0.0.1:9", standin=True, clis=clis)
    try:
        settings = load(Places.of(os.environ), scratch.config, own_home, os.environ).settings
        agents = {agent.name: agent for agent in settings.agents}
        runtimes = {name: agent.runtime for name, agent in agents.items()}
        assert runtimes == {"rounding": "codex", "durations": "gemini", "weeks": "claude"}
        assert agents["rounding"].arguments == ()
        assert agents["weeks"].arguments[0] == "--allowedTools"
        assert agents["rounding"].env["CODEX_HOME"] == str(scratch.folder / "codex")
        assert agents["durations"].env["GEMINI_CLI_HOME"] == str(scratch.folder / "gemini")
        assert scratch.others == {"codex": "1.2.3", "gemini": "1.2.3"}
        assert scratch.uses_claude
    finally:
        scratch.remove()


@pytest.mark.long
@pytest.mark.timeout(900)  # the real CLI on a busy machine
@pytest.mark.tmux
@pytest.mark.parametrize(
    ("choice", "agents"), [("codex", 2), ("gemini", 2), ("mixed", 3)], ids=lambda given: str(given)
)
def test_the_command_flies_the_real_cli(choice: str, agents: int) -> None:
    if choice != "codex" and IN_CI:
        pytest.skip("takes 50 s of processor time: make clis, then without CI")
    for cli in ("codex", "gemini") if choice == "mixed" else (choice,):
        if not any((Path(folder) / cli).exists() for folder in INSTALLED.split(os.pathsep)):
            pytest.skip(f"{cli} is not installed: make clis")
    command = [sys.executable, "-P", "-m", "cockpit", "demo", "--headless", "--runtime", choice]
    done = subprocess.run(
        [*command, "--agents", str(agents)],
        capture_output=True,
        text=True,
        timeout=800,
        check=False,
        env={**os.environ, "PATH": INSTALLED, PACE_VARIABLE: "0.2"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "their model is simulated" in done.stdout
    # How many handoffs it takes depends on how far a turn gets while the document is asked for.
    assert f"\n{agents} agents, " in done.stdout
    if choice == "mixed":
        # Each CLI worked: its agent is past its first threshold, or compacted.
        for agent in ("rounding", "durations", "weeks"):
            assert f"{agent} is at " in done.stdout, done.stdout
