"""Files that cockpit writes: right, whole, and never over somebody's own."""

from __future__ import annotations

import os
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cockpit.config.schema import AgentSettings
from cockpit.config.write import add_agent, first_file, spelled, write_first_file
from cockpit.core.errors import BadConfig, Failed


@given(
    st.recursive(
        st.text() | st.integers(-(2**60), 2**60) | st.booleans(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.text(min_size=1, max_size=5), inner, max_size=3)
        ),
        max_leaves=5,
    )
)
def test_a_spelled_value_reads_as_itself(value: object) -> None:
    assert tomllib.loads(f"x = {spelled(value)}") == {"x": value}


@pytest.mark.parametrize("branch", ["main", "a'\"b", None])
def test_the_first_file_is_right_as_it_is(project: Any, branch: str | None) -> None:
    text = first_file("My Project!", branch)
    assert "comment" not in text
    loaded = project.load_named(text)
    assert [agent.name for agent in loaded.settings.agents] == ["my-project"]
    assert loaded.notices == ()
    assert ("git_worktree" in text) == (branch is not None)


def test_the_first_file_is_closed_to_other_writers_whatever_the_umask(tmp_path: Path) -> None:
    path = tmp_path / "cockpit.toml"
    old = os.umask(0)
    try:
        write_first_file(path, "# é\n")
    finally:
        os.umask(old)
    assert path.read_text() == "# é\n"
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_file_that_is_there_is_not_touched_nor_one_a_link_leads_to(tmp_path: Path) -> None:
    path = tmp_path / "cockpit.toml"
    path.write_text("mine")
    link = tmp_path / "link.toml"
    link.symlink_to(tmp_path / "gone")
    for taken in (path, link):
        with pytest.raises(Failed, match="already exists"):
            write_first_file(taken, "theirs")
    assert path.read_text() == "mine"
    assert not (tmp_path / "gone").exists()


def _agent(folder: Path, **said: Any) -> AgentSettings:
    return AgentSettings.model_validate({"name": "new", "directory": str(folder), **said})


def test_an_added_agent_keeps_comments_and_reads_as_itself(project: Any) -> None:
    project.write('# mine\n[[agents]]\nname = "old" # first\n\n[keys]\nstop = "X" # last\n')
    agent = _agent(
        project.folder / "sub",
        prompt='do "it"\n$(x) é',
        context={"act": "65%"},
        handoff={"deadline": "90s"},
        env={"A": "b"},
        hooks={"on_error": [{"type": "shell", "command": ["x"]}]},
    )
    add_agent(project.file, agent)
    text = project.file.read_text()
    assert all(comment in text for comment in ("# mine", "# first", "# last"))
    loaded = project.load_named()
    assert loaded.agent("new") == agent
    assert [one.name for one in loaded.settings.agents] == ["old", "new"]
    assert 'directory = "sub"' in text
    assert "strategy" not in text


def test_an_agent_is_added_to_a_file_that_is_not_there(project: Any) -> None:
    add_agent(project.file, _agent(project.folder))
    assert project.load_named().agent("new").directory == project.folder


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
@example("\n")
@example("\nfirst\r\n\ttab \"\"\" ''' \\ \\\n# [x]\n")
@example('ends in a quote\n"')
def test_a_prompt_of_several_lines_reads_as_itself(prompt: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cockpit.toml"
        add_agent(file, _agent(Path(folder), prompt=prompt))
        assert tomllib.loads(file.read_text())["agents"][0]["prompt"] == prompt


def test_a_prompt_of_several_lines_stands_on_several_lines(project: Any) -> None:
    add_agent(project.file, _agent(project.folder, prompt="one\ntwo # no comment\n"))
    assert "one\ntwo # no comment\n" in project.file.read_text()


def test_a_file_never_becomes_larger_than_what_is_read(project: Any) -> None:
    add_agent(project.file, _agent(project.folder, prompt="x" * 600_000))
    before = project.file.read_bytes()
    second = _agent(project.folder, prompt="x" * 600_000).model_copy(update={"name": "b"})
    with pytest.raises(BadConfig, match="would be too large") as refused:
        add_agent(project.file, second)
    assert "prompt_file" in refused.value.hint
    assert project.file.read_bytes() == before


def test_a_prompt_file_stays_a_file(project: Any) -> None:
    (project.folder / "job.md").write_text("job")
    project.write('[[agents]]\nname = "a"\nprompt_file = "job.md"\n')
    agent = project.load_named().agent("a").model_copy(update={"name": "b"})
    add_agent(project.file, agent)
    assert project.load_named().agent("b").prompt == "job"
    assert 'prompt = "' not in project.file.read_text()


def test_a_name_that_is_taken_is_refused_and_the_file_stays(project: Any) -> None:
    add_agent(project.file, _agent(project.folder))
    before = project.file.read_bytes()
    with pytest.raises(BadConfig, match='"new" already exists'):
        add_agent(project.file, _agent(project.folder))
    project.write("agents = []\n")
    with pytest.raises(BadConfig, match=r"not written as \[\[agents\]\]"):
        add_agent(project.file, _agent(project.folder))
    assert before
    assert [path.name for path in project.folder.iterdir() if path.is_file()] == ["cockpit.toml"]
