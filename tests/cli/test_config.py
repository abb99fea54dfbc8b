"""`cockpit config`: as a user types it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.repositories import lay_repository

TEXT = """\
[defaults]
mode = "auto"
[[agents]]
name = "api"
env = { TOKEN = "sesame" }
[agents.context]
act = "120k"
[[agents]]
name = "job"
runtime = "command"
command = ["sh"]
"""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    return lay_repository(tmp_path / "project")


def _cockpit(here: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cockpit", *words],
        cwd=here, env=dict(os.environ), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_check_says_where_the_bands_begin_and_why(here: Path) -> None:
    (here / "cockpit.toml").write_text(TEXT)
    done = _cockpit(here, "config", "check", "--config", "cockpit.toml")
    assert done.returncode == 0
    assert done.stdout.startswith("ok\n")
    words = [line.split(maxsplit=2) for line in done.stdout.splitlines()]
    assert ["act", "120,000", "120k"] in words
    assert ["warn", "250,000", "cap 250k"] not in words
    assert "compacts at 167,000" in done.stdout
    assert "bands of job" not in done.stdout


def test_check_says_which_threshold_is_never_reached(here: Path) -> None:
    (here / "cockpit.toml").write_text(
        '[[agents]]\nname = "a"\nruntime = "gemini"\nmodel = "gemini-2.5-pro"\n'
        '[agents.context]\nwarn = "100k"\nact = "900k"\n'
    )
    done = _cockpit(here, "config", "check", "--config", "cockpit.toml")
    assert "window 1,048,576, the CLI compacts at 524,288 (computed)" in done.stdout
    (act,) = [line for line in done.stdout.splitlines() if line.split()[:1] == ["act"]]
    assert act.endswith("; 900k is 900,000, which the context never reaches")
    (warn,) = [line for line in done.stdout.splitlines() if line.split()[:1] == ["warn"]]
    assert "never" not in warn


def test_check_of_a_wrong_file_ends_with_2_and_says_where(here: Path) -> None:
    (here / "cockpit.toml").write_text('[defaults]\nmod = "auto"\n')
    done = _cockpit(here, "config", "check")
    assert done.returncode == 2
    assert done.stdout == ""
    assert f"{here}/cockpit.toml:2: defaults.mod: unknown key" in done.stderr
    assert 'Did you mean "mode"?' in done.stderr


def test_show_says_where_each_value_comes_from_and_no_secret(here: Path) -> None:
    (here / "cockpit.toml").write_text(TEXT)
    done = _cockpit(here, "--config", "cockpit.toml", "config", "show")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert f'defaults.mode = "auto"  # {here}/cockpit.toml:2' in lines
    assert f'agents.api.mode = "auto"  # {here}/cockpit.toml:2' in lines
    assert f'agents.api.context.act = "120k"  # {here}/cockpit.toml:7' in lines
    assert f'agents.api.env.TOKEN = "(hidden)"  # {here}/cockpit.toml:5' in lines
    assert 'agents.api.strategy = "handoff"  # default' in lines
    assert "sesame" not in done.stdout + done.stderr


def test_what_is_held_is_told_until_the_file_is_trusted(here: Path) -> None:
    (here / "cockpit.toml").write_text(TEXT)
    held = _cockpit(here, "config", "check")
    assert held.returncode == 0
    assert f"{here}/cockpit.toml:5: agents.api.env is ignored until you trust" in held.stderr
    assert f"cockpit config trust {here}/cockpit.toml" in held.stderr
    trusted = _cockpit(here, "config", "trust", "cockpit.toml")
    assert trusted.returncode == 0
    assert "agents.api.env" in trusted.stderr
    assert "sesame" not in trusted.stderr
    assert "is ignored" not in _cockpit(here, "config", "check").stderr


def test_check_tells_what_will_not_be_sent_or_lies_elsewhere(here: Path) -> None:
    (here / "cockpit.toml").write_text(
        '[[agents]]\nname = "api"\n[agents.worktree]\nstrategy = "git_worktree"\n'
        'directory = "../trees"\n[[agents.hooks.on_error]]\ntype = "webhook"\n'
        'url = "http://monitoring.example.com/x"\n'
    )
    done = _cockpit(here, "config", "check", "--config", "cockpit.toml")
    assert done.returncode == 0
    assert "agents.api.hooks.on_error: webhook cannot send: http://" in done.stderr
    assert f"outside the repository {here}, in {here.parent}/trees" in done.stderr


def test_founding_names_are_told_on_stderr(here: Path) -> None:
    (here / "cockpit.toml").write_text("[session]\ncontext_threshold = 0.3\n")
    done = _cockpit(here, "config", "check")
    assert 'session.context_threshold is now defaults.context.act = "30% left"' in done.stderr
    assert done.stdout.startswith("ok\n")


def test_schema_is_json_schema_with_a_sentence_for_every_setting(here: Path) -> None:
    done = _cockpit(here, "config", "schema")
    assert done.returncode == 0
    schema = json.loads(done.stdout)
    assert schema["$schema"].startswith("https://json-schema.org/")
    for model in schema["$defs"].values():
        assert model["description"]
        for key, said in model["properties"].items():
            assert said.get("description") or "$ref" in said, key


def test_a_theme_that_is_nowhere_is_told(here: Path) -> None:
    (here / "cockpit.toml").write_text('[cockpit]\ntheme = "nope"\n')
    done = _cockpit(here, "config", "check")
    assert done.returncode == 0
    assert done.stdout.startswith("ok\n")
    assert "cockpit.theme: Unknown theme 'nope'; using night. Available:" in done.stderr


def test_a_broken_theme_is_told_also_where_one_of_ours_has_its_name(
    here: Path, own_home: Path
) -> None:
    (here / "cockpit.toml").write_text('[cockpit]\ntheme = "night"\n')
    (own_home / "ck" / "themes").mkdir(parents=True)
    for name in ("night", "other"):
        (own_home / "ck" / "themes" / f"{name}.toml").write_text("primary = 7")
    assert _cockpit(here, "config", "check").stderr.splitlines() == [
        "cockpit.theme: other.toml: primary = 7 is not a colour",
        "cockpit.theme: night.toml: primary = 7 is not a colour. Using the built-in night.",
    ]


@pytest.mark.parametrize("name", ["night", "nord", "mine"])
def test_a_theme_of_ours_of_textual_or_of_the_pilot_is_fine(
    here: Path, own_home: Path, name: str
) -> None:
    (here / "cockpit.toml").write_text(f'[cockpit]\ntheme = "{name}"\n')
    (own_home / "ck" / "themes").mkdir(parents=True)
    (own_home / "ck" / "themes" / "mine.toml").write_text('primary = "#336699"\n')
    assert _cockpit(here, "config", "check").stderr == ""


def test_check_says_what_is_ignored_and_names_the_agent(here: Path) -> None:
    (here / "cockpit.toml").write_text(TEXT)
    done = _cockpit(here, "config", "check")
    assert done.returncode == 0
    assert done.stdout.startswith("valid, but 3 settings ignored until you trust the file\n")
    assert "agents.api.env is ignored until you trust this file" in done.stderr
    assert f"cockpit config trust {here / 'cockpit.toml'}" in done.stderr
    assert _cockpit(here, "config", "trust", "cockpit.toml").returncode == 0
    assert _cockpit(here, "config", "check").stdout.startswith("ok\n")


def test_a_first_file_points_to_what_every_installation_has(here: Path) -> None:
    assert _cockpit(here, "init").returncode == 0
    written = (here / "cockpit.toml").read_text()
    assert "cockpit.toml.example" not in written
    assert "`cockpit config show` prints every setting." in written
