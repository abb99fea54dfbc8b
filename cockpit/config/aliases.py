"""Aliases: setting names from other tools, converted to cockpit's own.

Each alias is accepted with a one-line notice that names the current setting, or says why there is
none. Aliases work in their original tables (`[session]`, `[context_monitor]`, `[handoff]`, …, for
all agents), and in `[defaults]` and `[[agents]]`. The list in the documentation is generated from
`OLD_NAMES`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from cockpit.config.file import ConfigFile, dotted, shown_path
from cockpit.config.lines import KeyPath
from cockpit.config.old_forms import with_current_formats
from cockpit.core.bands import parse_threshold
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.errors import BadUsage

USUAL_WINDOW = 200_000
"""Window size in tokens for comparing a percentage with a number of tokens."""


@dataclass(frozen=True, slots=True)
class OldName:
    """One alias, and the current setting that it is converted to."""

    key: str
    """Dotted key of the alias, relative to the top level or to an agent's table."""
    today: str = ""
    """Dotted key of the current setting, relative to an agent's table; empty if there is none."""
    convert: Callable[[Any], Any] | None = None
    """Converts the alias's value; without a function, the value stays as it is.

    The function returns None for a value that needs no setting, because cockpit already behaves
    that way. It raises `ValueError`; the message names the expected values.
    """
    why: str = ""
    """Why there is no current setting, as a clause; empty if there is one."""


_OR_TODAY = 'or a threshold such as "65%", "130k" or "30% left"'


def _remaining(value: Any) -> str:
    """Convert the share of the window that is left: 0.10 becomes "10% left"."""
    return _in_current_format(value) or f"{_per_cent(value):g}% left"


def _used(value: Any) -> str:
    """Convert the share of the window that is used: 70 and 0.7 become "70%"."""
    return _in_current_format(value) or f"{_per_cent(value):g}%"


def _in_current_format(value: Any) -> str | None:
    """Return a threshold that is already in the current format; None for other values."""
    if not isinstance(value, str):
        return None
    try:
        parse_threshold(value)
    except BadUsage:
        return None
    return value


def _per_cent(value: Any) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 100:
        return round(value * 100, 4) if value < 1 else value
    raise ValueError(f"expected a fraction such as 0.10, a percentage such as 70, {_OR_TODAY}")


def _tokens(value: Any) -> str:
    if (written := _in_current_format(value)) is not None:
        return written
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1000:
        return str(value)
    raise ValueError(f"expected a number of tokens such as 100000, {_OR_TODAY}")


def _on_or_off(on: str | None, off: str) -> Callable[[Any], str | None]:
    def convert(value: Any) -> str | None:
        if not isinstance(value, bool):
            raise ValueError("expected true or false")
        return on if value else off

    return convert


def _pattern(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return value.replace("{workItem}", "{work_item}").replace("{agent_name}", "{agent}")


_FACTS = "every document contains these facts"

OLD_NAMES: tuple[OldName, ...] = (
    OldName("session.context_handoff_threshold", "context.act", _remaining),
    OldName("session.context_threshold", "context.act", _remaining),
    OldName("session.max_handoffs_per_job", "handoff.max_per_job"),
    OldName("session.timeout", "limits.session_time"),
    OldName("session.mode", why="sessions can be reopened without a setting"),
    OldName("context_monitor.enabled", "mode", _on_or_off(None, "observe")),
    OldName("context_monitor.warning_threshold", "context.warn", _tokens),
    OldName("context_monitor.critical_threshold", "context.act", _tokens),
    OldName("context_monitor.fallback_tool_count", "context.fallback_tool_calls"),
    OldName("context_monitor.check_frequency", why="transcripts are read continuously"),
    OldName("useSDK", why='include or remove "sdk" in handoff.writers instead'),
    OldName("maxAgentContinuations", "handoff.max_per_job"),
    OldName("maxAgentChainCostUsd", "handoff.max_chain_cost_usd"),
    OldName("maxAgentTurns", "limits.turns"),
    OldName("autonomous_handoff.enabled", "mode", _on_or_off(None, "observe")),
    OldName("autonomous_handoff.max_turns_to_analyze", why="the whole transcript is read"),
    OldName(
        "autonomous_handoff.include_recent_activity",
        why="every document lists up to five recent tool calls",
    ),
    OldName("autonomous_handoff.extract.gobby_tasks", why="a feature of another program"),
    OldName("autonomous_handoff.extract.todowrite", why=_FACTS),
    OldName("autonomous_handoff.extract.files_modified", why=_FACTS),
    OldName("autonomous_handoff.extract.git_commits", why=_FACTS),
    OldName("autonomous_handoff.extract.git_status", why=_FACTS),
    OldName("autonomous_handoff.extract.initial_goal", why=_FACTS),
    OldName("autonomous_handoff.extract.recent_activity", why=_FACTS),
    OldName("autonomous_handoff.git.max_commits", why="documents list up to twenty commits"),
    OldName("autonomous_handoff.git.include_diff_stats", why="the new session can run git itself"),
    OldName("autonomous_handoff.injection_format", "handoff.format"),
    OldName("handoff.enabled", "mode", _on_or_off(None, "observe")),
    OldName("handoff.threshold", "context.act", _used),
    OldName("handoff.notify_user_at", "context.notice", _used),
    OldName("handoff.retention_days", "handoff.retention_days"),
    OldName("handoff.auto_continue_cli", "mode", _on_or_off("auto", "prompt")),
    OldName("handoff.auto_continue_browser", why="browser agents are not supported"),
    OldName("hooks", "hooks"),
    OldName("workspace.strategy", "worktree.strategy"),
    OldName("workspace.worktree_dir", "worktree.directory"),
    OldName("workspace.branch_pattern", "worktree.branch", _pattern),
    OldName("workspace.push_on_success", "worktree.push_on_success"),
    OldName("workspace.create_pr", "worktree.create_pr"),
    OldName("working_directory.root", "directory"),
    OldName("working_directory.default_branch", "worktree.base"),
)
"""All aliases. If a file sets one setting through two aliases, the first alias in this order wins.
For a threshold, the lower value wins instead."""

_BARE_HOMES = ("", "context.", "handoff.")
"""Key prefixes that an agent's table accepts before the last part of an alias:
`critical_threshold` and `context.critical_threshold` both work."""


def with_current_names(file: ConfigFile) -> tuple[ConfigFile, dict[str, Any], tuple[str, ...]]:
    """Return the file with `old_places`, the converted data, and the notices for the user.

    The data has current names and value formats. A current name takes precedence over an alias.
    Raises `BadConfig` for an alias with an invalid value.
    """
    renaming = _Renaming(file)
    return renaming.result()


class _Renaming:
    def __init__(self, file: ConfigFile) -> None:
        self.file = file
        self.data: dict[str, Any] = _copy(file.data)
        self.moved: dict[KeyPath, KeyPath] = {}
        self.notices: list[tuple[int, KeyPath, str]] = []

    def result(self) -> tuple[ConfigFile, dict[str, Any], tuple[str, ...]]:
        data = self.data
        scopes: list[KeyPath] = [("defaults",)] if isinstance(data.get("defaults"), dict) else []
        agents = data.get("agents")
        if isinstance(agents, list):
            scopes += [("agents", n) for n, agent in enumerate(agents) if isinstance(agent, dict)]
        for scope in ((), *scopes):
            for at, what in with_current_formats(_at(data, scope), scope):
                self._add_notice(at, what)
        for scope in scopes:
            table = _at(data, scope)
            for old, at in self._found(table, _BARE_HOMES):
                self._rename(table, table, old, (*scope, *at), scope)
        for old, at in self._found(data, ("",)):
            self._rename(data, data.setdefault("defaults", {}), old, at, ("defaults",))
        for table in (data, *(_at(data, scope) for scope in scopes)):
            _drop_empty(table)
        if not self.notices:
            return self.file, data, ()
        file = replace(self.file, old_places=self.moved)
        lines = (
            f"{shown_path(file.path)}:{line}: {dotted(was)} {what}"
            for line, was, what in sorted(
                self.notices, key=lambda notice: (notice[0], str(notice[1]))
            )
        )
        return file, data, tuple(lines)

    def _found(
        self, table: Mapping[str, Any], homes: tuple[str, ...]
    ) -> Iterator[tuple[OldName, KeyPath]]:
        """Yield each alias that a table has, with the alias's key path in the table.

        `homes` are key prefixes, as in `_BARE_HOMES`.
        """
        for old in OLD_NAMES:
            places = {tuple(old.key.split("."))}
            leaf = old.key.rsplit(".", 1)[-1]
            if leaf not in _CURRENT_LEAVES:
                places |= {tuple((home + leaf).split(".")) for home in homes}
            for place in sorted(places):
                present = ".".join(place) == old.today and homes is _BARE_HOMES
                if not present and _has(table, place):
                    yield old, place

    def _rename(
        self,
        table: dict[str, Any],
        target: dict[str, Any],
        old: OldName,
        was: KeyPath,
        scope: KeyPath,
    ) -> None:
        value = _take(table, was if table is not target else was[len(scope) :])
        if not old.today:
            self._add_notice(was, f"is ignored: {old.why}")
            return
        if old.today == "directory" and scope == ("defaults",):
            # [defaults] has no directory: each agent without a directory gets the value.
            for agent in _tables_of(self.data.get("agents")):
                agent.setdefault("directory", value)
            self._add_notice(was, "now applies to each agent without a directory")
            return
        try:
            value = old.convert(value) if old.convert else value
        except ValueError as error:
            raise self.file.refusal(was, str(error)) from None
        now = tuple(old.today.split("."))
        present = dotted((*scope, *now))
        if value is None:
            self._add_notice(was, f"has no effect; use {present}")
        elif _put(target, now, value):
            self.moved[(*scope, *now)] = was
            self._add_notice(was, f"is now {present}{_as_value(value)}")
        elif (*scope, *now) in self.moved and _is_lower(value, _at(target, now)):
            earlier = self.moved[(*scope, *now)]
            _set(target, now, value)
            self.moved[(*scope, *now)] = was
            self._add_notice(was, f"is now {present}{_as_value(value)}")
            line = self.file.lines.of(was)
            self.notices = [notice for notice in self.notices if notice[1] != earlier]
            self._add_notice(earlier, f"is ignored: line {line} has a lower {present}")
        else:
            self._add_notice(was, f"is ignored: {present} is set too")

    def _add_notice(self, was: KeyPath, what: str) -> None:
        self.notices.append((self.file.lines.of(was), was, what))


_CURRENT_LEAVES = frozenset(
    {
        "enabled",
        "mode",
        "hooks",
        "strategy",
        "push_on_success",
        "create_pr",
        "retention_days",
        "timeout",
        "root",
    }
)
"""Last parts of aliases that are not recognised outside their original table: they are too
general, or are current names with another meaning."""


def _tables_of(value: Any) -> list[dict[str, Any]]:
    return [table for table in value if isinstance(table, dict)] if isinstance(value, list) else []


def _is_lower(value: Any, other: Any) -> bool:
    """Return whether one threshold is lower than another in a window of `USUAL_WINDOW` tokens.

    False if either threshold is invalid.
    """
    if not (isinstance(value, str) and isinstance(other, str)):
        return False
    try:
        marks = [parse_threshold(text).tokens(USUAL_WINDOW) for text in (value, other)]
    except BadUsage:
        return False
    return marks[0] < marks[1]


_TABLES = frozenset(old.key.split(".")[0] for old in OLD_NAMES if "." in old.key)


def _drop_empty(table: dict[str, Any]) -> None:
    """Remove tables of aliases that are empty after the conversion, such as `[session]`.

    Otherwise validation would refuse an empty table as unknown.
    """
    for name in _TABLES & table.keys():
        if _is_empty(table[name]):
            del table[name]


def _is_empty(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_empty, value.values()))


def _as_value(value: Any) -> str:
    if isinstance(value, str):
        return f' = "{value}"' if value.isprintable() and len(value) < 60 else ""
    return f" = {str(value).lower()}" if isinstance(value, bool | int | float) else ""


def _copy(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copy(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_copy(inner) for inner in value]
    return value


def _at(data: Any, path: KeyPath) -> Any:
    for part in path:
        data = data[part]
    return data


def _has(table: Any, path: KeyPath) -> bool:
    for part in path:
        if not isinstance(table, dict) or part not in table:
            return False
        table = table[part]
    return True


def _take(table: dict[str, Any], path: KeyPath) -> Any:
    """Remove a key and return its value; also remove the tables that become empty."""
    first, *rest = path
    if not rest:
        return table.pop(str(first))
    inner = table[str(first)]
    value = _take(inner, tuple(rest))
    if not inner:
        del table[str(first)]
    return value


def _set(table: Any, path: KeyPath, value: Any) -> None:
    *tables, last = path
    _at(table, tuple(tables))[last] = value


def _put(table: Any, path: KeyPath, value: Any) -> bool:
    """Set a key that has no value yet; return whether the key was set.

    False also if a parent is not a table.
    """
    *tables, last = path
    for part in tables:
        if not isinstance(table, dict):
            return False
        table = table.setdefault(part, {})
    if not isinstance(table, dict) or last in table:
        return False
    table[last] = value
    return True
