"""Every key of the founding documents is accepted, and told."""

from __future__ import annotations

import re
from typing import Any

import pytest

from cockpit.config.aliases import OLD_NAMES
from cockpit.core.errors import BadConfig

EFFECTS: dict[str, tuple[str, str, object]] = {
    "session.context_handoff_threshold": ("0.10", "context.act", "10% left"),
    "session.context_threshold": ("0.15", "context.act", "15% left"),
    "session.max_handoffs_per_job": ("5", "handoff.max_per_job", 5),
    "session.timeout": ('"24h"', "limits.session_time", 86400.0),
    "session.mode": ('"persistent"', "mode", "prompt"),
    "context_monitor.enabled": ("false", "mode", "observe"),
    "context_monitor.warning_threshold": ("100000", "context.warn", "100000"),
    "context_monitor.critical_threshold": ("130000", "context.act", "130000"),
    "context_monitor.fallback_tool_count": ("400", "context.fallback_tool_calls", 400),
    "context_monitor.check_frequency": ("5", "mode", "prompt"),
    "useSDK": ("true", "mode", "prompt"),
    "maxAgentContinuations": ("2", "handoff.max_per_job", 2),
    "maxAgentChainCostUsd": ("2.0", "handoff.max_chain_cost_usd", 2.0),
    "maxAgentTurns": ("30", "limits.turns", 30),
    "autonomous_handoff.enabled": ("true", "mode", "prompt"),
    "autonomous_handoff.extract.todowrite": ("true", "mode", "prompt"),
    "autonomous_handoff.git.max_commits": ("20", "mode", "prompt"),
    "autonomous_handoff.injection_format": ('"narrative"', "handoff.format", "narrative"),
    "handoff.enabled": ("true", "mode", "prompt"),
    "handoff.threshold": ("65", "context.act", "65%"),
    "handoff.notify_user_at": ("45", "context.notice", "45%"),
    "handoff.retention_days": ("30", "handoff.retention_days", 30),
    "handoff.auto_continue_cli": ("true", "mode", "auto"),
    "handoff.auto_continue_browser": ("false", "mode", "prompt"),
    "workspace.branch_pattern": (
        '"{agent}/{agent_name}/{workItem}/{work_item}"',
        "worktree.branch",
        "{agent}/{agent}/{work_item}/{work_item}",
    ),
    "workspace.create_pr": ("true", "worktree.create_pr", True),
    "working_directory.default_branch": ('"main"', "worktree.base", "main"),
}  # fmt: skip


def _value(settings: Any, key: str) -> object:
    for part in key.split("."):
        settings = getattr(settings, part)
    return settings


def renamed(notices: tuple[str, ...]) -> list[str]:
    """The notices that are about founding names."""
    present = ("by this version", "has no effect without strategy")
    return [notice for notice in notices if not any(words in notice for words in present)]


def _line(key: str, written: str) -> str:
    table, _, leaf = key.rpartition(".")
    return f"[{table}]\n{leaf} = {written}\n" if table else f"{leaf} = {written}\n"


@pytest.mark.parametrize("key", EFFECTS)
def test_at_the_top_it_counts_for_all_agents_with_one_notice(project: Any, key: str) -> None:
    written, today, expected = EFFECTS[key]
    loaded = project.load_named(_line(key, written) + '[[agents]]\nname = "a"\n')
    assert _value(loaded.settings.defaults, today) == expected
    assert _value(loaded.agent("a"), today) == expected
    (notice,) = renamed(loaded.notices)
    assert re.search(rf":\d: {re.escape(key)} (is|has) ", notice)


@pytest.mark.parametrize("key", EFFECTS)
def test_inside_an_agent_it_counts_for_that_agent(project: Any, key: str) -> None:
    written, today, expected = EFFECTS[key]
    head = '[[agents]]\nname = "b"\n[[agents]]\nname = "a"\n'
    inside = _line(f"agents.{key}", written) if "." in key else _line(key, written)
    loaded = project.load_named(head + inside)
    assert _value(loaded.agent("a"), today) == expected
    assert _value(loaded.agent("b"), today) == _value(loaded.settings.defaults, today)


def test_every_name_in_the_table_is_accepted_at_once(project: Any) -> None:
    tables: dict[str, list[str]] = {}
    for old in OLD_NAMES:
        table, _, leaf = old.key.rpartition(".")
        written = EFFECTS.get(old.key, ("{}" if leaf == "hooks" else "true", "", ""))[0]
        if old.today in ("worktree.directory", "worktree.strategy", "directory"):
            written = '"none"'
        tables.setdefault(table, []).append(f"{leaf} = {written}")
    text = "".join(
        (f"[{table}]\n" if table else "") + "\n".join(lines) + "\n"
        for table, lines in sorted(tables.items())
    )
    told = renamed(project.load_named(text).notices)
    assert len(told) == len(OLD_NAMES)


@pytest.mark.parametrize("table", ["defaults", "defaults.context", "defaults.handoff"])
def test_a_bare_founding_key_is_understood_where_a_pilot_would_put_it(
    project: Any, table: str
) -> None:
    loaded = project.load_named(f"[{table}]\ncontext_handoff_threshold = 0.2\n")
    assert loaded.settings.defaults.context.act == "20% left"


@pytest.mark.parametrize("key", ["context_handoff_threshold", "critical_threshold", "threshold"])
@pytest.mark.parametrize("written", ["65%", "130k", "30% left"])
def test_a_threshold_may_also_be_written_as_it_is_today(
    project: Any, key: str, written: str
) -> None:
    loaded = project.load_named(f'[defaults.context]\n{key} = "{written}"\n')
    assert loaded.settings.defaults.context.act == written
    assert loaded.notices[0].endswith(f'is now defaults.context.act = "{written}"')


def test_a_threshold_that_is_neither_is_refused_with_both_spellings(project: Any) -> None:
    with pytest.raises(
        BadConfig, match=r"expected a fraction such as 0.10.*or a threshold such as"
    ) as no:
        project.load_named('[session]\ncontext_handoff_threshold = "much"\n')
    assert ":2: session.context_handoff_threshold:" in no.value.title


def test_todays_name_counts_over_the_founding_one(project: Any) -> None:
    loaded = project.load_named('[defaults.context]\nact = "66%"\n[handoff]\nthreshold = 70\n')
    assert loaded.settings.defaults.context.act == "66%"
    assert loaded.notices == (
        f"{project.file}:4: handoff.threshold is ignored: defaults.context.act is set too",
    )


def test_an_error_in_a_founding_value_points_at_the_founding_key(project: Any) -> None:
    with pytest.raises(BadConfig) as caught:
        project.load_named("[session]\n\nmax_handoffs_per_job = -1\n")
    assert caught.value.title == (
        f"{project.file}:3: session.max_handoffs_per_job: expected at least 0"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[session]\ncontext_threshold = 200\n",
            "2: session.context_threshold: expected a fraction",
        ),
        ("[context_monitor]\nwarning_threshold = 60\n", "expected a number of tokens"),
        ('[handoff]\nauto_continue_cli = "yes"\n', "expected true or false"),
    ],
)
def test_what_a_founding_key_never_took_is_refused(project: Any, text: str, said: str) -> None:
    with pytest.raises(BadConfig, match=said):
        project.load_named(text)


def test_an_unknown_key_beside_a_founding_one_is_still_refused(project: Any) -> None:
    with pytest.raises(BadConfig, match="session: unknown key"):
        project.load_named("[session]\ncontext_threshold = 0.1\nnonsense = 1\n")


def test_marks_from_two_documents_stand_in_order(project: Any) -> None:
    context = project.load_named(
        "[context_monitor]\nwarning_threshold = 100000\ncritical_threshold = 130000\n"
    ).settings.defaults.context
    assert (context.warn, context.act) == ("100000", "130000")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("[session]\ncontext_threshold = 0.1\n", "[handoff]\nthreshold = 70\n"),
        ("[handoff]\nthreshold = 70\n", "[context_monitor]\ncritical_threshold = 150000\n"),
    ],
)
def test_of_two_founding_marks_the_lower_one_counts(project: Any, one: str, other: str) -> None:
    for text in (one + other, other + one):
        loaded = project.load_named(text)
        assert loaded.settings.defaults.context.act == "70%"
        assert sum("is now defaults.context.act" in each for each in loaded.notices) == 1
        assert sum("is ignored" in each for each in loaded.notices) == 1


def test_a_root_is_the_directory_of_every_agent_that_names_none(project: Any) -> None:
    for name in ("app", "own"):
        (project.file.parent / name).mkdir()
    agents = '[[agents]]\nname = "a"\n[[agents]]\nname = "b"\ndirectory = "own"\n'
    loaded = project.load_named('[working_directory]\nroot = "app"\n' + agents)
    assert loaded.agent("a").directory == project.file.parent / "app"
    assert loaded.agent("b").directory == project.file.parent / "own"
    (notice,) = renamed(loaded.notices)
    assert ":2: working_directory.root now applies to each agent" in notice


def test_commands_may_be_texts_and_times_milliseconds(project: Any) -> None:
    loaded = project.load_named(
        "[[hooks.on_context_threshold]]\n"
        'type = "shell"\ncommand = "scripts/save.sh --now \'a b\'"\ntimeout = 30000\n'
        "[[hooks.after_run]]\n"
        'type = "shell"\ncommand = "cat | tee log"\ntimeout = 60\n'
        "[session]\ntimeout = 86400000\n"
        '[[agents]]\nname = "a"\nruntime = "command"\ncommand = "htop -d 5"\n'
    )
    (threshold,) = loaded.settings.defaults.hooks.on_context_threshold
    assert threshold.command == ("scripts/save.sh", "--now", "a b")
    assert threshold.timeout == 30.0
    (after,) = loaded.settings.defaults.hooks.after_run
    assert after.command == ("sh", "-c", "cat | tee log")
    assert after.timeout == 60.0
    assert loaded.settings.defaults.limits.session_time == 86_400.0
    assert loaded.agent("a").command == ("htop", "-d", "5")
    assert any(":4: " in each and "milliseconds: 30s" in each for each in loaded.notices)
    assert any("is a string; cockpit runs it with sh" in each for each in loaded.notices)
