"""Every setting is harmless or held; a stranger widens nothing of yours, nor empties it."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from cockpit.config import held_rules
from cockpit.config.hooks import Hooks
from cockpit.config.own_runtimes import BUILT_IN
from cockpit.config.schema import Settings
from cockpit.core.tool_names import SUCCESSORS

SHELL = '[{ type = "shell", command = ["x"] }]'

WIDER: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "runtime": ('"command"\ncommand = ["./box"]', ('"claude"',), ('"command"',)),
    "command": ('["./box"]', ("[]", '["claude"]'), ('["./box"]',)),
    "arguments": ('["--disallowedTools", "Bash"]', ("[]", '["-x"]'), ()),
    "env": ('{ A = "1", B = "2" }', ('{ A = "" }', '{ C = "1" }'), ("{}", '{ A = "1" }')),
    "hooks": (
        f"{{ on_context_threshold = {SHELL} }}",
        ("{ on_context_threshold = [] }", f"{{ on_error = {SHELL} }}"),
        ("{}", "{ on_error = [] }"),
    ),
    "may.itself": ('["handoff", "done"]', ('["handoff", "stop"]',), ("[]", '["done"]')),
    "may.others": ('["look"]', ('["look", "stop"]',), ("[]", '["look"]')),
    "permission_mode": ('"plan"', ('""', '"bypassPermissions"'), ('"plan"',)),
    "start": ('"manual"', ('"auto"',), ('"manual"',)),
    "resume": ('"never"', ('"ask"', '"always"'), ('"never"',)),
    "mode": ('"observe"', ('"prompt"', '"auto"'), ('"observe"',)),
    "strategy": ('"hybrid"', ('"handoff"', '"compact"'), ('"hybrid"',)),
    "on_warning": ('"tell"', ('"off"',), ('"tell"',)),
    "mcp": ("false", ("true",), ("false",)),
    "limits.turns": ("50", ("0", "51"), ("1", "50")),
    "limits.session_time": ('"1h"', ('"0"', '"2h"'), ('"1m"',)),
    "limits.cost": ("5.0", ("0.0", "5.1"), ("1.0", "5.0")),
    "limits.grace": ('"1m"', ('"24h"', '"61s"'), ('"0"',)),
    "loop.enabled": ("false", ("true",), ("false",)),
    "loop.max_iterations": ("3", ("20",), ("1",)),
    "loop.completion_marker": ('"OVER"', ('"LOOP_COMPLETE"',), ('"OVER"',)),
    "handoff.writers": ('["agent"]', ('["facts"]', '["agent", "facts"]'), ('["agent"]',)),
    "handoff.deadline": ('"60s"', ('"1s"', '"180s"'), ('"1m"',)),
    "handoff.directory": ('"papers"', ('".cockpit/handoffs"', '"src"'), ('"papers"',)),
    "handoff.successor": ('"claude"', ('"codex"', '["claude", "codex"]'), ('["claude"]',)),
    "handoff.on_limit": ('"wait"', ('"hand_over"',), ('"wait"',)),
    "handoff.max_per_job": ("1", ("3",), ("0",)),
    "handoff.max_chain_cost_usd": ("2.0", ("0.0", "3.0"), ("1.0",)),
    "handoff.concurrent": ("1", ("2",), ("1",)),
    "handoff.cooldown": ('"5m"', ('"0"', '"60s"'), ('"6m"',)),
    "handoff.retention_days": ("0", ("90", "36500"), ("0",)),
    "handoff.compactions": ("5", ("0", "2", "6"), ("5",)),
    "handoff.completion_marker": ('"OVER"', ('"HANDOFF: COMPLETE"',), ('"OVER"',)),
    "handoff.max_tokens": ("8000", ("6000", "500"), ("8000",)),
    "handoff.template": ('"/own.j2"', ('""', '"other.j2"'), ('"/own.j2"',)),
    "worktree.strategy": ('"git_worktree"', ('"none"',), ('"git_worktree"',)),
    "worktree.branch": (
        '"{agent}"\nworktree.push_on_success = true', ('"release"',), ('"{agent}"',),
    ),
    "worktree.work_item": ('"x"\nworktree.create_pr = true', ('""', '"y"'), ('"x"',)),
    "worktree.base": ('"x"\nworktree.create_pr = true', ('""', '"y"'), ('"x"',)),
    "worktree.copy_files": ('[".env"]', ('[".env", "keys"]',), ("[]", '[".env"]')),
    "worktree.setup": ('["npm", "ci"]', ("[]", '["npm"]'), ('["npm", "ci"]',)),
    "worktree.setup_timeout": ('"1m"', ('"600s"',), ('"30s"',)),
    "worktree.push_on_success": ("false", ("true",), ("false",)),
    "worktree.create_pr": ("false", ("true",), ("false",)),
}  # fmt: skip
"""For each held key: your own value, values of a stranger that are held, and that are not."""

CASES = [(key, own, value) for key, (own, held, _) in WIDER.items() for value in held]
ALLOWED = [(key, own, value) for key, (own, _, left) in WIDER.items() for value in left]


def _keys(model: type[BaseModel], name: str = "") -> Iterator[str]:
    for key, field in model.model_fields.items():
        inner = _table(field.annotation)
        whole = f"{name}{key}"
        if inner is None or inner is Hooks or whole in ("hosts", "runtimes"):
            yield whole
        else:
            yield from _keys(inner, f"{whole}.")


def _table(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    parts = typing.get_args(annotation)
    return next((found for part in parts if (found := _table(part)) is not None), None)


def test_every_setting_is_named_as_harmless_or_held() -> None:
    every = {
        key.removeprefix("defaults.").removeprefix("agents.")
        for key in _keys(Settings)
        if key != "agents.name"
    } | {"agents.name"}
    tables = [
        set(held_rules.HELD),
        set(held_rules.PATHS),
        set(held_rules.HELD_ELSEWHERE),
        set(held_rules.HARMLESS),
    ]
    named = [key for table in tables for key in table]
    assert sorted(named) == sorted(every)
    assert set(WIDER) == set(held_rules.HELD)


@pytest.mark.parametrize(("key", "own", "value"), CASES)
@pytest.mark.parametrize("table", ["[defaults]", '[[agents]]\nname = "api"'])
def test_what_is_wider_than_your_own_or_only_different_is_held(
    project: Any, table: str, key: str, own: str, value: str
) -> None:
    project.write_user(f"[defaults]\n{key} = {own}\n")
    project.write(f"{table}\n{key} = {value}\n")
    loaded = project.load()
    assert [held.key.rpartition("].")[2].removeprefix("defaults.") for held in loaded.held] == [key]
    assert loaded.settings.defaults == project.load(cwd=project.folder.parent).settings.defaults
    reads = [_read(agent, key) for agent in loaded.settings.agents]
    assert reads in ([], [_read(loaded.settings.defaults, key)])


@pytest.mark.parametrize(("key", "own", "value"), ALLOWED)
def test_what_is_narrower_or_your_own_is_not_held(
    project: Any, key: str, own: str, value: str
) -> None:
    project.write_user(f"[defaults]\n{key} = {own}\n")
    value = value.replace("./", f"{project.places.config}/")
    project.write(f'[[agents]]\nname = "api"\n{key} = {value}\n')
    assert project.load().held == ()


@pytest.mark.parametrize("key", ["urls = []", "on = []", 'quiet = ""', 'terminal = "bell"'])
def test_notifications_of_yours_are_not_emptied(project: Any, key: str) -> None:
    own = "[notifications]\nurls = ['json://x']\non = ['done']\nquiet = '22:00-07:00'\n"
    project.write_user(f"{own}terminal = 'off'\n")
    project.write(f"[notifications]\n{key}\n")
    loaded = project.load()
    assert [held.key for held in loaded.held] == [f"notifications.{key.split()[0]}"]
    own_alone = project.load(cwd=project.folder.parent).settings.notifications
    assert loaded.settings.notifications == own_alone


@pytest.mark.parametrize(
    ("own", "held"),
    [
        ("", False),
        ('arguments = ["--disallowedTools", "Bash"]', True),
        ('permission_mode = "plan"', True),
        ('runtime = "command"\ncommand = ["./box"]', True),
    ],
)
def test_another_cli_is_held_where_yours_is_restricted(project: Any, own: str, held: bool) -> None:
    project.write_user(f"[defaults]\n{own}\n")
    project.write('[[agents]]\nname = "api"\nruntime = "codex"\n')
    assert [one.key for one in project.load().held] == ["agents[1].runtime"] * held


def test_an_agent_of_yours_is_not_replaced_by_a_file_that_is_not_trusted(project: Any) -> None:
    own = '[[agents]]\nname = "api"\nprompt = "mine"\npermission_mode = "plan"\nmode = "observe"\n'
    project.write_user(f"{own}limits.turns = 50\n")
    project.write('[[agents]]\nname = "api"\nprompt = "x"\n[[agents]]\nname = "b"\n')
    loaded = project.load()
    assert [(held.key, held.line) for held in loaded.held] == [("agents[1].name", 2)]
    assert "your own file has an agent with this name" in str(loaded.held[0])
    alone = project.load(cwd=project.folder.parent)
    assert loaded.agent("api") == alone.agent("api")
    assert loaded.file_of("api") == project.places.user_file
    assert loaded.held_for("api") == ()
    assert loaded.agent("b").prompt == ""
    assert project.load_named().agent("api").prompt == "x"


def _read(settings: BaseModel, key: str) -> Any:
    value: Any = settings
    for part in key.split("."):
        value = getattr(value, part)
    return value


def test_a_job_can_be_handed_off_to_each_cli() -> None:
    assert {*SUCCESSORS, "command"} == set(BUILT_IN)
