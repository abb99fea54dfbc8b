"""Which files count for a user, and in which order."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cockpit.config.project import project_file, repository_root
from cockpit.core.errors import BadConfig, BadUsage
from tests.repositories import lay_repository


def test_without_any_file_everything_is_default_and_nothing_is_made(project: Any) -> None:
    loaded = project.load()
    assert loaded.files == ()
    assert loaded.settings.cockpit.theme == "night"
    assert loaded.settings.agents == ()
    assert not project.places.state.exists()


def test_project_over_user_over_default_key_by_key(project: Any) -> None:
    project.write_user('[defaults]\nmode = "auto"\nmodel = "a"\n[defaults.context]\nwarn = "55%"\n')
    project.write('[defaults]\nmodel = "b"\n[defaults.context]\nact = "65%"\n')
    loaded = project.load()
    assert loaded.files == (project.places.user_file, project.file)
    defaults = loaded.settings.defaults
    assert (defaults.mode, defaults.model, defaults.strategy) == ("auto", "b", "handoff")
    assert (defaults.context.warn, defaults.context.act) == ("55%", "65%")


def test_the_environment_counts_over_files(project: Any) -> None:
    project.write('[cockpit]\ntheme = "day"\nrefresh = "auto"\n')
    project.environment["COCKPIT_REFRESH"] = "low"
    loaded = project.load()
    assert (loaded.settings.cockpit.theme, loaded.settings.cockpit.refresh) == ("day", "low")
    assert str(loaded.sources["cockpit.refresh"]) == "environment"


def test_a_wrong_variable_is_named(project: Any) -> None:
    project.environment["COCKPIT_REFRESH"] = "slow"
    with pytest.raises(BadUsage, match="COCKPIT_REFRESH: refresh: expected auto, low or full"):
        project.load()


def test_a_named_file_takes_the_place_of_the_project_file_and_is_trusted(project: Any) -> None:
    project.write('[[agents]]\nname = "a"\n')
    other = project.folder.parent / "other.toml"
    other.write_text('[[agents]]\nname = "b"\npermission_mode = "plan"\n')
    loaded = project.load(config=other)
    assert [agent.name for agent in loaded.settings.agents] == ["b"]
    assert loaded.agent("b").permission_mode == "plan"
    assert loaded.agent("b").directory == other.parent
    assert loaded.held == ()


def test_a_relative_named_file_starts_at_the_current_directory(project: Any) -> None:
    project.write('[[agents]]\nname = "a"\n')
    assert project.load(config=Path("cockpit.toml")).agent("a")
    with pytest.raises(BadConfig, match="cannot be read"):
        project.load(config=Path("none.toml"))


def test_the_project_file_is_found_upwards_as_far_as_the_repository_goes(tmp_path: Path) -> None:
    deep = tmp_path / "repository" / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / "cockpit.toml").touch()
    lay_repository(tmp_path / "elsewhere")
    (tmp_path / "repository" / ".git").write_text("gitdir: ../elsewhere/.git\n")
    assert project_file(deep) is None
    (tmp_path / "repository" / "cockpit.toml").touch()
    assert project_file(deep) == tmp_path / "repository" / "cockpit.toml"
    (deep / "cockpit.toml").touch()
    assert project_file(deep) == deep / "cockpit.toml"


def plant(git: Path, kind: str) -> None:
    """Lay what git takes for no repository where one would be."""
    if kind == "file":
        git.write_text("gitdir: nowhere\n")
    elif kind == "pipe":
        os.mkfifo(git)
    elif kind == "link":
        git.symlink_to("nowhere")
    else:
        git.mkdir()
    if kind == "head":
        (git / "HEAD").write_text("ref: refs/heads/x\n")
    if kind == "no head":
        (git / "objects").mkdir()
        (git / "refs").mkdir()


@pytest.mark.parametrize("kind", ["empty", "head", "no head", "file", "pipe", "link"])
def test_what_git_takes_for_no_repository_is_none(tmp_path: Path, kind: str) -> None:
    plant(tmp_path / ".git", kind)
    (tmp_path / "cockpit.toml").touch()
    (tmp_path / "deep").mkdir()
    words = ["git", "-C", str(tmp_path / "deep"), "rev-parse", "--show-toplevel"]
    assert subprocess.run(words, capture_output=True, check=False).returncode
    assert repository_root(tmp_path / "deep") is None
    assert project_file(tmp_path / "deep") is None


@pytest.mark.parametrize("setting", ["ceiling", "none"])
def test_it_looks_no_further_up_than_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    lay_repository(tmp_path)
    (tmp_path / "deep").mkdir()
    if setting == "ceiling":
        monkeypatch.setenv("GIT_CEILING_DIRECTORIES", f"/nowhere:{tmp_path}")
    words = ["git", "-C", str(tmp_path / "deep"), "rev-parse", "--show-toplevel"]
    found = subprocess.run(words, capture_output=True, check=False).stdout.decode().strip()
    root = repository_root(tmp_path / "deep")
    assert found == ("" if root is None else str(root)) == ("" if setting == "ceiling" else found)
    assert repository_root(tmp_path) == tmp_path


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can give a folder away")
@pytest.mark.parametrize("part", ["project", "project/.git"])
def test_a_project_of_another_user_is_refused_unless_it_is_named(project: Any, part: str) -> None:
    project.write("[defaults]\n")
    assert project.load().files == (project.file,)
    os.chown(project.folder.parent / part, 65534, 65534)
    with pytest.raises(BadConfig, match="belongs to another user") as caught:
        project.load()
    assert f"cockpit --config {project.file}" in caught.value.hint
    assert project.load(config=project.file).files == (project.file,)


def test_outside_a_repository_only_the_directory_itself_is_looked_at(tmp_path: Path) -> None:
    (tmp_path / "cockpit.toml").touch()
    (tmp_path / "a").mkdir()
    assert project_file(tmp_path / "a") is None
    assert project_file(tmp_path) == tmp_path / "cockpit.toml"


def test_a_project_file_that_leads_nowhere_is_refused_and_not_passed_over(project: Any) -> None:
    project.file.symlink_to("gone.toml")
    with pytest.raises(BadConfig, match="a symbolic link"):
        project.load()


def test_a_file_that_is_both_is_the_users_own(project: Any) -> None:
    text = '[[agents]]\nname = "a"\npermission_mode = "plan"\n'
    project.write_user(text)
    lay_repository(project.places.config)
    loaded = project.load(cwd=project.places.config)
    assert loaded.files == (project.places.user_file,)
    assert loaded.agent("a").permission_mode == "plan"


def test_paths_start_at_their_file(project: Any) -> None:
    (project.folder / "job.md").write_text("Do it — all.\n")
    loaded = project.load_named(
        '[defaults.handoff]\ntemplate = "t.md"\n'
        '[[agents]]\nname = "a"\ndirectory = "sub"\nprompt_file = "job.md"\n'
        '[agents.worktree]\ndirectory = "../trees"\n'
        '[[agents.hooks.on_error]]\ntype = "shell"\ncommand = ["./x.sh", "./y"]\n'
        '[[agents]]\nname = "b"\nruntime = "command"\ncommand = ["python3", "./x"]\n'
        '[[agents]]\nname = "c"\ndirectory = "~/elsewhere"\n'
    )
    a = loaded.agent("a")
    assert a.prompt == "Do it — all.\n"
    assert a.directory == project.folder / "sub"
    assert a.handoff.template == project.folder / "t.md"
    assert a.worktree.directory == project.folder.parent / "trees"
    assert a.hooks.on_error[0].command == (str(project.folder / "x.sh"), "./y")
    assert loaded.agent("b").command == ("python3", "./x")
    assert loaded.agent("b").directory == project.folder
    assert loaded.agent("b").worktree.directory == Path(".worktrees")
    assert loaded.agent("c").directory == project.folder.parent / "elsewhere"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"caf\xe9", "is not UTF-8 text"),
        (b"a\0b", "contains a NUL byte"),
        (b"x" * 262_145, "more than 256 KiB"),
    ],
)
def test_a_prompt_file_that_no_agent_could_take_is_refused(
    project: Any, content: bytes, problem: str
) -> None:
    (project.folder / "job.md").write_bytes(content)
    with pytest.raises(BadConfig) as caught:
        project.load_named('[[agents]]\nname = "a"\nprompt_file = "job.md"\n')
    assert caught.value.title.startswith(f"{project.file}:3: agents.a.prompt_file: ")
    assert problem in caught.value.title


def test_a_prompt_of_200_kb_with_everything_in_it_comes_through(project: Any) -> None:
    prompt = "-- '\"`$(touch x)` {a} #(b) 🛩\n" * 7000
    (project.folder / "job.md").write_text(prompt)
    assert (
        project.load_named('[[agents]]\nname="a"\nprompt_file="job.md"').agent("a").prompt == prompt
    )


def test_loading_twice_gives_equal_settings_and_a_bad_file_changes_none(project: Any) -> None:
    good = project.load_named('[[agents]]\nname = "a"\n')
    assert project.load_named().settings == good.settings
    with pytest.raises(BadConfig):
        project.load_named('[[agents]]\nname = "a"\nmod = 1\n')
    assert good.agent("a").mode == "prompt"
