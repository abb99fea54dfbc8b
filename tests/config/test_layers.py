"""Files laid over each other, and what can be told of the outcome."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cockpit.config.loaded import changed_agent
from cockpit.core.errors import BadUsage, NoSuchAgent

USER = """\
[defaults]
mode = "auto"
env = { A = "user", B = "user" }
[[agents]]
name = "mine"
directory = "/"
[[agents]]
name = "both"
model = "user"
"""


def test_an_agent_inherits_the_defaults_of_its_own_file_over_the_users(project: Any) -> None:
    project.write_user(USER)
    loaded = project.load_named(
        '[defaults]\nmode = "observe"\nenv = { B = "project" }\n'
        '[[agents]]\nname = "theirs"\nenv = { C = "agent" }\n'
    )
    assert loaded.agent("mine").mode == "auto"
    assert loaded.agent("mine").env == {"A": "user", "B": "user"}
    assert loaded.agent("theirs").mode == "observe"
    assert loaded.agent("theirs").env == {"A": "user", "B": "project", "C": "agent"}
    assert loaded.settings.defaults.mode == "observe"


def test_an_agent_of_the_project_replaces_one_of_the_user_whole(project: Any) -> None:
    project.write_user(USER)
    loaded = project.load_named('[[agents]]\nname = "both"\nprompt = "x"\n')
    assert loaded.agent("both").model == ""
    assert loaded.file_of("both") == project.file
    assert loaded.file_of("mine") == project.places.user_file
    assert any('"both"' in notice for notice in loaded.notices)
    assert "agents.both.model" not in loaded.sources


def test_a_list_is_replaced_whole_and_other_events_stay(project: Any) -> None:
    hook = '[[{}.hooks.{}]]\ntype = "shell"\ncommand = ["{}"]\n'
    loaded = project.load_named(
        hook.format("defaults", "on_error", "a")
        + hook.format("defaults", "after_run", "b")
        + '[[agents]]\nname = "x"\n'
        + hook.format("agents", "on_error", "c")
    )
    hooks = dict(loaded.agent("x").hooks.written())
    assert {event: hook.command for event, hook in hooks.items()} == {
        "after_run": ("b",),
        "on_error": ("c",),
    }


def test_each_value_has_its_source(project: Any) -> None:
    project.write_user(USER)
    loaded = project.load_named(
        '[defaults]\nmode = "observe"\n[[agents]]\nname = "a"\nmodel = "m"\n'
    )
    user, own = project.places.user_file, project.file
    told = {key: str(source) for key, source in loaded.sources.items()}
    assert told["defaults.mode"] == f"{own}:2"
    assert told["agents.a.mode"] == f"{own}:2"
    assert told["agents.a.model"] == f"{own}:5"
    assert told["agents.a.env.A"] == f"{user}:3"
    assert told["agents.mine.mode"] == f"{user}:2"
    assert "agents.a.strategy" not in told
    assert "agents.a.directory" not in told


@pytest.mark.parametrize("branch", ["agent/{agent}", "work/{job}", "work/{work_item}"])
def test_worktrees_of_one_pattern_are_fine_where_their_branches_differ(
    project: Any, branch: str
) -> None:
    project.load_named(
        f'[defaults.worktree]\nstrategy = "git_worktree"\nbranch = "{branch}"\n'
        '[[agents]]\nname = "a"\n[[agents]]\nname = "b"\n'
    )


def test_hosts_hooks_and_addresses_are_taken_without_a_word(project: Any) -> None:
    loaded = project.load_named(
        '[notifications]\nurls = ["ntfy://x"]\n[[hosts]]\nname = "g"\nconnect = ["ssh", "g"]\n'
        '[[defaults.hooks.on_error]]\ntype = "shell"\ncommand = ["a"]\n'
    )
    assert loaded.notices == ()
    assert project.load_named("").notices == ()


def test_an_agent_that_is_not_there_is_answered_with_the_nearest(project: Any) -> None:
    loaded = project.load_named('[[agents]]\nname = "backend"\n')
    with pytest.raises(NoSuchAgent) as caught:
        loaded.agent("backnd")
    assert caught.value.hint == "Did you mean backend?"


def test_a_new_agent_has_the_defaults_that_hold_here(project: Any, tmp_path: Path) -> None:
    loaded = project.load_named('[defaults]\nmode = "auto"\n[defaults.context]\nact = "65%"\n')
    agent = loaded.new_agent("new", tmp_path, prompt="do it", worktree={"strategy": "git_worktree"})
    assert (agent.name, agent.mode, agent.prompt) == ("new", "auto", "do it")
    assert agent.worktree.strategy == "git_worktree"
    assert "act" in agent.context.model_fields_set
    assert "warn" not in agent.context.model_fields_set


def test_defaults_of_a_project_that_was_found_hold_in_that_project_only(
    project: Any, tmp_path: Path
) -> None:
    project.places.user_file.parent.mkdir(parents=True, exist_ok=True)
    project.places.user_file.write_text('[defaults]\nmodel = "own"\n')
    project.write('[defaults]\nmode = "observe"\nmodel = "theirs"\n')
    found, named = project.load(cwd=project.folder), project.load(config=project.file)
    inside, outside = project.folder / "lib", tmp_path / "project-2"
    for loaded, directory, wanted in (
        (found, inside, ("observe", "theirs")),
        (found, outside, ("prompt", "own")),
        (named, outside, ("observe", "theirs")),
    ):
        agent = loaded.new_agent("new", directory)
        assert (agent.mode, agent.model) == wanted


def test_what_the_command_line_says_of_an_agent_is_checked_too(project: Any) -> None:
    agent = project.load_named('[[agents]]\nname = "a"\n[agents.context]\nact = "65%"\n').agent("a")
    changed = changed_agent(agent, mode="auto", prompt="x")
    assert (changed.mode, changed.prompt, changed.context.act) == ("auto", "x", "65%")
    assert changed.context.model_fields_set == {"act"}
    with pytest.raises(BadUsage, match="a: mode: expected observe, prompt or auto"):
        changed_agent(agent, mode="never")
    with pytest.raises(BadUsage, match="needs a command"):
        changed_agent(agent, runtime="command")
    with pytest.raises(BadUsage, match="Try: my-agent"):
        project.load().new_agent("My Agent", Path("/"))


def test_a_setting_without_effect_is_told(project: Any) -> None:
    loaded = project.load_named(
        '[defaults.worktree]\ncreate_pr = true\n[[agents]]\nname = "a"\n'
        '[[agents]]\nname = "b"\n[agents.worktree]\ncreate_pr = false\npush_on_success = true\n'
        '[[agents]]\nname = "c"\n[agents.worktree]\nstrategy = "git_worktree"\n'
    )
    assert loaded.notices == (
        'agents.a.worktree.create_pr: has no effect without strategy = "git_worktree"',
        'agents.b.worktree.push_on_success: has no effect without strategy = "git_worktree"',
    )
