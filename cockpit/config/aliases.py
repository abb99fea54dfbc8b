"""The key names of the founding documents, taken for what they are called today.

Each is accepted with one line that names its counterpart, or says why it has none. They count
where the documents have them (`[session]`, `[context_monitor]`, `[handoff]`, …, for all agents)
and in the same form inside `[defaults]` and `[[agents]]`. The table is data: the guide prints it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from cockpit.config.file import ConfigFile, dotted, shown_path
from cockpit.config.lines import KeyPath
from cockpit.core.bands import parse_threshold
from cockpit.core.errors import BadUsage


@dataclass(frozen=True, slots=True)
class OldName:
    """One founding key, and what becomes of it."""

    key: str
    """Dotted, from the top or from an agent's table."""
    today: str = ""
    """The present key, from an agent's table; empty when there is none."""
    convert: Callable[[Any], Any] | None = None
    """From the founding value to the present one; None where that is what happens anyway.

    Raises `ValueError` with what was expected.
    """
    why: str = ""
    """Why there is none, in a clause."""


_OR_TODAY = 'or a mark such as "65%", "130k" or "30% left"'


def _remaining(value: Any) -> str:
    """A share that is left: 0.10 is "10% left"."""
    return _as_today(value) or f"{_per_cent(value):g}% left"


def _used(value: Any) -> str:
    """A share that is used: 70 and 0.7 are "70%"."""
    return _as_today(value) or f"{_per_cent(value):g}%"


def _as_today(value: Any) -> str | None:
    """A mark in a present spelling, as it is; None for what may be a founding one."""
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
    raise ValueError(f"expected a share such as 0.10 or a percentage such as 70, {_OR_TODAY}")


def _tokens(value: Any) -> str:
    if (written := _as_today(value)) is not None:
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


_FACTS = "the facts of a document are always complete"

OLD_NAMES: tuple[OldName, ...] = (
    OldName("session.context_handoff_threshold", "context.act", _remaining),
    OldName("session.context_threshold", "context.act", _remaining),
    OldName("session.max_handoffs_per_job", "handoff.max_per_job"),
    OldName("session.timeout", "limits.session_time"),
    OldName("session.mode", why="every session can be gone back to"),
    OldName("context_monitor.enabled", "mode", _on_or_off(None, "observe")),
    OldName("context_monitor.warning_threshold", "context.warn", _tokens),
    OldName("context_monitor.critical_threshold", "context.act", _tokens),
    OldName("context_monitor.fallback_tool_count", "context.fallback_tool_calls"),
    OldName("context_monitor.check_frequency", why="every record is followed as it is written"),
    OldName("useSDK", why='the "sdk" writer in handoff.writers is the part that uses it'),
    OldName("maxAgentContinuations", "handoff.max_per_job"),
    OldName("maxAgentChainCostUsd", "handoff.max_chain_cost_usd"),
    OldName("maxAgentTurns", "limits.turns"),
    OldName("autonomous_handoff.enabled", "mode", _on_or_off(None, "observe")),
    OldName("autonomous_handoff.max_turns_to_analyze", why="the whole record is read"),
    OldName("autonomous_handoff.include_recent_activity", why="it is always the last five"),
    OldName("autonomous_handoff.extract.gobby_tasks", why="it belongs to another program"),
    OldName("autonomous_handoff.extract.todowrite", why=_FACTS),
    OldName("autonomous_handoff.extract.files_modified", why=_FACTS),
    OldName("autonomous_handoff.extract.git_commits", why=_FACTS),
    OldName("autonomous_handoff.extract.git_status", why=_FACTS),
    OldName("autonomous_handoff.extract.initial_goal", why=_FACTS),
    OldName("autonomous_handoff.extract.recent_activity", why=_FACTS),
    OldName("autonomous_handoff.git.max_commits", why="it is always twenty"),
    OldName("autonomous_handoff.git.include_diff_stats", why="the successor has git itself"),
    OldName("autonomous_handoff.injection_format", "handoff.format"),
    OldName("handoff.enabled", "mode", _on_or_off(None, "observe")),
    OldName("handoff.threshold", "context.act", _used),
    OldName("handoff.notify_user_at", "context.notice", _used),
    OldName("handoff.retention_days", "handoff.retention_days"),
    OldName("handoff.auto_continue_cli", "mode", _on_or_off("auto", "prompt")),
    OldName("handoff.auto_continue_browser", why="agents in a browser are not flown"),
    OldName("hooks", "hooks"),
    OldName("workspace.strategy", "worktree.strategy"),
    OldName("workspace.worktree_dir", "worktree.directory"),
    OldName("workspace.branch_pattern", "worktree.branch", _pattern),
    OldName("workspace.push_on_success", "worktree.push_on_success"),
    OldName("workspace.create_pr", "worktree.create_pr"),
    OldName("working_directory.default_branch", "worktree.base"),
)
"""Where two of them mean the same setting and both are written, the first in this order counts."""

_BARE_HOMES = ("", "context.", "handoff.")
"""Where a founding key may also stand without its own table: the agent's, and its present ones."""


def with_present_names(file: ConfigFile) -> tuple[ConfigFile, dict[str, Any], tuple[str, ...]]:
    """The file with its old places noted, its data in present names, and the notices.

    A present name counts over a founding one. Raises `BadConfig` for a value that cannot be
    what the founding key took.
    """
    renaming = _Renaming(file)
    return renaming.done()


class _Renaming:
    def __init__(self, file: ConfigFile) -> None:
        self.file = file
        self.moved: dict[KeyPath, KeyPath] = {}
        self.notices: list[tuple[int, str]] = []

    def done(self) -> tuple[ConfigFile, dict[str, Any], tuple[str, ...]]:
        data = _copy(self.file.data)
        scopes: list[KeyPath] = [("defaults",)] if isinstance(data.get("defaults"), dict) else []
        agents = data.get("agents")
        if isinstance(agents, list):
            scopes += [("agents", n) for n, one in enumerate(agents) if isinstance(one, dict)]
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
        return file, data, tuple(text for _, text in sorted(self.notices))

    def _found(
        self, table: Mapping[str, Any], homes: tuple[str, ...]
    ) -> Iterator[tuple[OldName, KeyPath]]:
        """Every founding key in a table: in a table of its own, or bare in one of the homes."""
        for old in OLD_NAMES:
            places = {tuple(old.key.split("."))}
            leaf = old.key.rsplit(".", 1)[-1]
            if leaf not in _PRESENT_LEAVES:
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
        """Take a founding key out of a table, and put what it means into the agent's."""
        value = _take(table, was if table is not target else was[len(scope) :])
        if not old.today:
            self._tell(was, f"is accepted and ignored: {old.why}")
            return
        try:
            value = old.convert(value) if old.convert else value
        except ValueError as error:
            raise self.file.refusal(was, str(error)) from None
        now = tuple(old.today.split("."))
        present = dotted((*scope, *now))
        if value is None:
            self._tell(was, f"is accepted and changes nothing: {present} decides")
        elif _put(target, now, value):
            self.moved[(*scope, *now)] = was
            self._tell(was, f"is now {present}{_as_value(value)}")
        else:
            self._tell(was, f"is ignored: {present} is written too")

    def _tell(self, was: KeyPath, what: str) -> None:
        line = self.file.lines.of(was)
        self.notices.append((line, f"{shown_path(self.file.path)}:{line}: {dotted(was)} {what}"))


_PRESENT_LEAVES = frozenset(
    {
        "enabled",
        "mode",
        "hooks",
        "strategy",
        "push_on_success",
        "create_pr",
        "retention_days",
        "timeout",
    }
)
"""Last words of founding keys that say nothing, or something else, without their own table."""


_TABLES = frozenset(old.key.split(".")[0] for old in OLD_NAMES if "." in old.key)


def _drop_empty(table: dict[str, Any]) -> None:
    """A founding table that says nothing is no unknown key: what it said may be said below now."""
    for name in _TABLES & table.keys():
        if _says_nothing(table[name]):
            del table[name]


def _says_nothing(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_says_nothing, value.values()))


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
    """Remove a key, and the tables that are empty without it."""
    first, *rest = path
    if not rest:
        return table.pop(str(first))
    inner = table[str(first)]
    value = _take(inner, tuple(rest))
    if not inner:
        del table[str(first)]
    return value


def _put(table: Any, path: KeyPath, value: Any) -> bool:
    """Set a key that is not set; False if it is, or if something else stands in its way."""
    *tables, last = path
    for part in tables:
        if not isinstance(table, dict):
            return False
        table = table.setdefault(part, {})
    if not isinstance(table, dict) or last in table:
        return False
    table[last] = value
    return True
