"""What `cockpit config check` says of files that are right and will disappoint."""

from __future__ import annotations

from typing import Any

import pytest

from cockpit.config.remarks import remarks

HTTP = "http:// only works for private addresses, with allow_private = true; use https://"


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ('url = "http://monitoring.example.com/x"', HTTP),
        ('url = "http://127.0.0.1/x"', HTTP),
        (
            'url = "http://8.8.8.8/x"\nallow_private = true',
            "http:// does not work for public addresses; use https://",
        ),
        ('url = "http://10.0.0.1/x"\nallow_private = true', ""),
        ('url = "http://ntfy.lan/x"\nallow_private = true', ""),
        ('url = "https://monitoring.example.com/x"', ""),
        ('url = "${HOOK_URL}"', ""),
    ],
)
def test_an_address_that_nothing_is_sent_to_is_told(project: Any, lines: str, why: str) -> None:
    hook = f'[[agents.hooks.on_error]]\ntype = "webhook"\nname = "tell"\n{lines}\n'
    settings = project.load_named(f'[[agents]]\nname = "api"\n{hook}').settings
    told = [f"agents.api.hooks.on_error: tell cannot send: {why}"] if why else []
    assert list(remarks(settings)) == told


def test_what_agents_inherit_is_told_once(project: Any) -> None:
    hook = '[[defaults.hooks.on_error]]\ntype = "slack"\nurl = "http://x.example/x"\n'
    settings = project.load_named(
        f'{hook}[[agents]]\nname = "a"\n[[agents]]\nname = "b"\n'
    ).settings
    assert list(remarks(settings)) == [f"defaults.hooks.on_error: slack cannot send: {HTTP}"]


def test_a_threshold_below_an_earlier_one_is_told_once_with_what_follows(project: Any) -> None:
    settings = project.load_named(
        '[defaults.context]\nact = "45%"\n[[agents]]\nname = "a"\n'
        '[[agents]]\nname = "b"\ncontext = { act = "55%" }\n'
    ).settings
    assert list(remarks(settings)) == [
        "defaults.context: act is below notice and warn: notice and warn begin at 90k of 200k too, "
        "so a handoff comes without a warning.",
        "agents.b.context: act is below warn: warn begins at 110k of 200k too, so a handoff comes "
        "without a warning.",
    ]


@pytest.mark.parametrize(
    ("folder", "outside"), [("../trees", "trees"), ("/srv/trees", "/srv/trees"), (".trees", None)]
)
def test_worktrees_outside_of_the_repository_are_told(
    project: Any, folder: str, outside: str | None
) -> None:
    own = f'[agents.worktree]\nstrategy = "git_worktree"\ndirectory = "{folder}"\n'
    settings = project.load_named(f'[[agents]]\nname = "api"\n{own}').settings
    place = project.folder.parent / outside if outside else None
    told = (
        f"agents.api.worktree.directory: worktrees will be outside the repository"
        f" {project.folder}, in {place}"
    )
    assert list(remarks(settings)) == ([told] if outside else [])


@pytest.mark.parametrize(("token", "told"), [("xoxb-1", True), ("${SLACK_BOT_TOKEN}", False)])
def test_a_token_in_the_file_is_told(project: Any, token: str, told: bool) -> None:
    hook = f'[[defaults.hooks.on_error]]\ntype = "slack"\ntoken = "{token}"\nchannel_id = "C012"\n'
    settings = project.load_named(f'{hook}[[agents]]\nname = "a"\n').settings
    lines = list(remarks(settings))
    assert len(lines) == told
    assert not told or lines[0].startswith(
        "defaults.hooks.on_error.token: the token of slack is in the file"
    )
    assert token not in "".join(lines)


def test_what_a_custom_runtime_refuses_at_the_start_is_told(project: Any) -> None:
    tables = (
        '[defaults]\npermission_mode = "plan"\nmodel = "big"\n'
        '[runtimes.mine]\nprogram = ["mine"]\n'
        '[[agents]]\nname = "a"\nruntime = "mine"\n'
        '[[agents]]\nname = "b"\nruntime = "mine"\npermission_mode = ""\nmodel = ""\n'
        '[[agents]]\nname = "c"\n'
    )
    assert list(remarks(project.load_named(tables).settings)) == [
        "agents.a.permission_mode: the runtime mine has no mode 'plan', so the agent cannot start;"
        ' to start it without a mode: permission_mode = ""',
        "agents.a.model: the runtime mine takes no model, so the agent cannot start;"
        ' to start the agent without a model: model = ""',
    ]
