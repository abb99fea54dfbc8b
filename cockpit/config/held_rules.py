"""For every setting: whether an untrusted file may set it, and if not, why.

A value needs trust if it grants more than the user's own value. If a setting's values have no
order, as with a command, any value other than the user's own needs trust, even an empty one. A
setting that needs trust is ignored until the file is trusted. A test compares these tables with the
schema, so each new setting must be added here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from cockpit.config.hooks import Hooks
from cockpit.config.own_runtimes import BUILT_IN
from cockpit.config.schema import AgentDefaults
from cockpit.core.deferred_dataclass import dataclass

RUNS: Final = "it runs code"
SENDS: Final = "it sends data"
WIDENS: Final = "it changes what an agent may do"
OUTSIDE: Final = "it points outside the repository"
IN_GIT: Final = "it points into a .git directory"
UNASKED: Final = "it starts handoffs or sessions without asking you"
RAISES: Final = "it raises your limit"
SHORTENS: Final = "it is shorter than your own value"
STARTS_OTHER: Final = "it continues jobs in another program"
CHANGES: Final = "it changes how handoffs work"
FINISHES: Final = "it decides when a job is done"
SHARES: Final = "it takes away an agent's own worktree"
COPIES: Final = "it copies files that are not in git"
SILENCES: Final = "it changes your notifications"
KEYS: Final = "it changes your keys"
RENDERS: Final = "it changes what documents contain"
YOURS: Final = "your own file has an agent with this name"

Wider = Callable[[Any, Any, AgentDefaults], bool]
"""Takes the file's value of a setting, the user's value, and the user's `[defaults]`. Returns
whether the file's value needs trust."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that decides whether a setting needs trust, and the reason shown to the user."""

    reason: str
    wider: Wider


def differs(value: Any, own: Any, _: AgentDefaults) -> bool:
    return bool(value != own)


def higher(value: Any, own: Any, _: AgentDefaults) -> bool:
    return bool(value > own)


def lower(value: Any, own: Any, _: AgentDefaults) -> bool:
    return bool(value < own)


def higher_or_unlimited(value: Any, own: Any, _: AgentDefaults) -> bool:
    """Return whether a file's limit is higher than the user's. 0 means no limit."""
    return bool(own) and (not value or value > own)


def kept_shorter(value: Any, own: Any, _: AgentDefaults) -> bool:
    """Return whether a file's retention is shorter than the user's. 0 means keep forever."""
    return bool(value) and (not own or value < own)


def switched_on(value: Any, own: Any, _: AgentDefaults) -> bool:
    return bool(value) and not own


def more(value: Any, own: Any, _: AgentDefaults) -> bool:
    return bool(set(value) - set(own))


def later_in(*order: str) -> Wider:
    def later(value: Any, own: Any, _: AgentDefaults) -> bool:
        return order.index(value) > order.index(own)

    return later


def _any_entry(value: Any, own: Any, _: AgentDefaults) -> bool:
    """Return whether the file's table changes any of the user's values.

    Keys that the file's table omits keep the user's values.
    """
    return any(own.get(name) != text for name, text in value.items())


def _any_event(value: Hooks, own: Hooks, _: AgentDefaults) -> bool:
    return any(getattr(value, event) != getattr(own, event) for event in value.model_fields_set)


def _another_runtime(value: Any, own: Any, defaults: AgentDefaults) -> bool:
    """Return whether a file chooses another runtime in a way that needs trust.

    A runtime that the user or a package added always needs trust: cockpit cannot know which actions
    such a runtime takes without asking. Another built-in runtime needs trust if the user has set a
    command, arguments or a permission mode, which may be wrong for that runtime; for the runtime
    `command`, only if the user has set a command. The file's own `command` has a separate rule.
    """
    if value not in BUILT_IN:
        return bool(value != own)
    yours: list[object] = [defaults.command]
    if value != "command":
        yours += [defaults.arguments, defaults.permission_mode]
    return bool(value != own) and any(yours)


def _where_yours_are_pushed(value: Any, own: Any, defaults: AgentDefaults) -> bool:
    pushes = defaults.worktree.push_on_success or defaults.worktree.create_pr
    return pushes and bool(value != own)


def _always_auto(value: Any, _own: Any, _: AgentDefaults) -> bool:
    return bool(value == "auto")


HELD: Mapping[str, Rule] = {
    "runtime": Rule(RUNS, _another_runtime),
    "command": Rule(RUNS, differs),
    "arguments": Rule(WIDENS, differs),
    "env": Rule(RUNS, _any_entry),
    "hooks": Rule(RUNS, _any_event),
    "may.itself": Rule(WIDENS, more),
    "may.others": Rule(WIDENS, more),
    "permission_mode": Rule(WIDENS, differs),
    "start": Rule(RUNS, _always_auto),
    "resume": Rule(UNASKED, later_in("never", "ask", "always")),
    "mode": Rule(UNASKED, later_in("observe", "prompt", "auto")),
    "strategy": Rule(CHANGES, differs),
    "on_warning": Rule(CHANGES, differs),
    "mcp": Rule(WIDENS, switched_on),
    "limits.turns": Rule(RAISES, higher_or_unlimited),
    "limits.session_time": Rule(RAISES, higher_or_unlimited),
    "limits.grace": Rule(RAISES, higher),
    "limits.cost": Rule(RAISES, higher_or_unlimited),
    "loop.enabled": Rule(UNASKED, switched_on),
    "loop.max_iterations": Rule(RAISES, higher),
    "loop.completion_marker": Rule(FINISHES, differs),
    "handoff.writers": Rule(CHANGES, differs),
    "handoff.deadline": Rule(CHANGES, differs),
    "handoff.directory": Rule(CHANGES, differs),
    "handoff.max_per_job": Rule(RAISES, higher),
    "handoff.max_chain_cost_usd": Rule(RAISES, higher_or_unlimited),
    "handoff.concurrent": Rule(RAISES, higher),
    "handoff.cooldown": Rule(SHORTENS, lower),
    "handoff.retention_days": Rule(SHORTENS, kept_shorter),
    "handoff.compactions": Rule(CHANGES, differs),
    "handoff.completion_marker": Rule(FINISHES, differs),
    "handoff.max_tokens": Rule(CHANGES, differs),
    "handoff.template": Rule(RENDERS, differs),
    "handoff.successor": Rule(STARTS_OTHER, differs),
    "handoff.on_limit": Rule(UNASKED, differs),
    "worktree.strategy": Rule(SHARES, lambda value, own, _: value == "none" != own),
    "worktree.branch": Rule(SENDS, _where_yours_are_pushed),
    "worktree.work_item": Rule(SENDS, _where_yours_are_pushed),
    "worktree.base": Rule(SENDS, _where_yours_are_pushed),
    "worktree.copy_files": Rule(COPIES, more),
    "worktree.setup": Rule(RUNS, differs),
    "worktree.setup_timeout": Rule(RAISES, higher),
    "worktree.push_on_success": Rule(SENDS, switched_on),
    "worktree.create_pr": Rule(SENDS, switched_on),
}
"""The rules for the settings of `[defaults]` and of agents. A rule for a table (`hooks`) includes
everything in the table."""

PATHS = ("directory", "prompt_file", "worktree.directory")
"""Settings whose path needs trust if it leads outside the repository, or into a `.git`
directory."""

ESSENTIAL = frozenset({"runtime", "command", *PATHS})
"""Settings that decide which program an agent runs, in which directory, and with which prompt.

If one of these is ignored, the file's whole entry for the agent is ignored.
"""

HELD_ELSEWHERE: Mapping[str, str] = {
    "hosts": RUNS,
    "keys": KEYS,
    "runtimes": RUNS,
    "limits.cost_per_day": RAISES,
    "notifications.urls": SENDS,
    "notifications.on": SILENCES,
    "notifications.quiet": SILENCES,
    "notifications.terminal": SILENCES,
    "agents.name": YOURS,
}
"""Settings outside `HELD` that need trust, and why. `agents.name` is for an agent with the name of
one of the user's agents."""

HARMLESS: Mapping[str, str] = {
    "model": "text of one argument; your cost limit still applies",
    "prompt": "text; the agent acts on it with the permissions you gave it",
    "context.notice": "a colour",
    "context.warn": "text on a row",
    "context.act": "when you are asked, or when a handoff starts, if you allowed that",
    "context.force": "same as act",
    "context.cap.notice": "same as notice",
    "context.cap.warn": "same as warn",
    "context.cap.act": "same as act",
    "context.cap.force": "same as act",
    "context.window": "position of the thresholds",
    "context.fallback_tool_calls": "text on a row",
    "handoff.format": "format of facts",
    "cockpit.theme": "the name of a theme, not a path",
    "cockpit.refresh": "how often the screen is drawn",
    "cockpit.glyphs": "how the screen looks",
    "cockpit.colours": "how the screen looks",
    "elsewhere.show": "what the screen lists; adopting a session asks you",
}
"""Settings that any file may change, and why that is harmless."""
