"""`cockpit.toml.example`, made from the schema: every setting with its sentence and its default.

What has a default is written as it is; tables that a pilot has to fill (agents, hooks, hosts,
keys) are shown commented out, with values that would work.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from cockpit.config.hooks import Hook, Host, Notifications
from cockpit.config.schema import AgentDefaults, AgentSettings, CockpitSettings, WorktreeSettings
from cockpit.config.write import spelled

_HEAD = """\
# cockpit.toml: every setting, its default, and what it does.
#
# A command-line flag counts over the environment (COCKPIT_THEME, COCKPIT_REFRESH), that over the
# project's cockpit.toml, that over your own in the config folder, that over the defaults here.
# Write only what you want to differ. Relative paths start at the file they are written in.
# What a project's file says about hooks, URLs, commands, arguments, env and permission modes
# counts once you have trusted it: cockpit config trust cockpit.toml
"""

_AGENT = {"name": "api", "prompt": "Implement the endpoint of LIN-42.", "directory": "."}
_WORKTREE = {
    "strategy": "git_worktree",
    "directory": ".worktrees",
    "work_item": "lin-42",
    "base": "main",
}
_SHELL = {"type": "shell", "name": "save", "command": ["./scripts/save-handoff.sh"]}
_WEBHOOK = {
    "type": "webhook",
    "name": "monitoring",
    "url": "https://monitoring.example.com/hooks",
    "headers": {"Authorization": "Bearer ${MONITORING_TOKEN}"},
}
_HOST = {"name": "gpu1", "connect": ["ssh", "gpu1"]}

_WITHOUT_A_SPELLING = frozenset({("defaults.worktree", "directory")})
"""Defaults that no value can say: this one starts at the agent's repository, not at the file."""

_TABLES = ("context", "handoff", "limits", "loop", "worktree", "hooks")


def example() -> str:
    """The whole text of the example file."""
    parts = [
        _HEAD,
        _table("cockpit", CockpitSettings),
        _table("defaults", AgentDefaults, leave_out=_TABLES),
    ]
    for name in _TABLES:
        if name != "hooks":
            field = AgentDefaults.model_fields[name]
            parts.append(_table(f"defaults.{name}", type(field.default)))
    parts += [
        _sample(
            "[[agents]]",
            AgentSettings,
            _AGENT,
            "One table for each agent. Anything of [defaults] can stand in it too.",
            only=tuple(_AGENT),
        ),
        _sample("[agents.worktree]", WorktreeSettings, _WORKTREE, only=tuple(_WORKTREE)),
        _sample(
            "[[agents.hooks.on_context_threshold]]",
            Hook,
            _SHELL,
            "What to run or send when something happens; also as [[defaults.hooks.EVENT]].",
            leave_out=("url", "urls", "headers", "secret", "allow_private"),
        ),
        _sample(
            "[[agents.hooks.on_handoff_complete]]",
            Hook,
            _WEBHOOK,
            only=(*_WEBHOOK, "secret", "allow_private"),
        ),
        _sample("[[hosts]]", Host, _HOST, "Other machines, each with a supervisor of its own."),
        _table("notifications", Notifications),
        "# Action id = keys; `cockpit keys` lists the ids and what they have now.\n[keys]\n",
    ]
    return "\n".join(parts)


def _table(name: str, model: type[BaseModel], leave_out: tuple[str, ...] = ()) -> str:
    about = "" if model is AgentDefaults else (model.__doc__ or "")
    if model is AgentDefaults:
        about = "What every agent inherits; its [[agents]] table may say otherwise."
    lines = [*_comment(about), f"[{name}]"]
    for key, field in model.model_fields.items():
        if key in leave_out:
            continue
        lines += _comment(field.description or "")
        mark = "# " if (name, key) in _WITHOUT_A_SPELLING else ""
        lines.append(f"{mark}{key} = {spelled(default_of(model, key))}")
    return "\n".join(lines) + "\n"


def _sample(
    header: str,
    model: type[BaseModel],
    values: Mapping[str, Any],
    about: str = "",
    *,
    only: tuple[str, ...] = (),
    leave_out: tuple[str, ...] = (),
) -> str:
    """A table that is commented out: two signs before what is said, one before what would count."""
    lines = [*_comment(about), f"# {header}"]
    for key, field in model.model_fields.items():
        if key in leave_out or (only and key not in only):
            continue
        lines += [f"#{line}" for line in _comment(field.description or "")]
        value = values[key] if key in values else default_of(model, key)
        lines.append(f"# {key} = {spelled(value)}")
    return "\n".join(lines) + "\n"


def default_of(model: type[BaseModel], key: str) -> Any:
    """A default as a file would have it."""
    field = model.model_fields[key]
    shown = model.model_construct(**{key: field.default}).model_dump(mode="json", include={key})
    return shown[key]


def _comment(text: str) -> Iterator[str]:
    yield from textwrap.wrap(text, 96, initial_indent="# ", subsequent_indent="# ")
