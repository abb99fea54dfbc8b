"""Generate `cockpit.toml.example` from the schema: every setting, its description and default.

Settings with defaults are written as they are. Tables that users must fill in (agents, hooks,
hosts, keys) are commented out, with working example values.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from cockpit.config.hooks import Hook, Host, Notifications
from cockpit.config.own_runtimes import OwnRuntime
from cockpit.config.schema import (
    AgentDefaults,
    AgentSettings,
    CockpitSettings,
    DayLimits,
    ElsewhereSettings,
    WorktreeSettings,
)
from cockpit.config.write import spelled

_HEAD = """\
# cockpit.toml: every setting, its default, and what it does.
#
# Precedence, highest first: command-line flags, the environment (COCKPIT_THEME, COCKPIT_REFRESH),
# the project's cockpit.toml, your own cockpit.toml in the config folder, the defaults shown here.
# Include only what you want to change. Relative paths are relative to the file they are in.
# Until you trust a project's file, cockpit ignores its settings for hooks, URLs, commands,
# runtimes, arguments, env, permission modes, keys, automatic handoffs, loops, templates, higher
# limits and the rights of agents. To trust it: cockpit config trust cockpit.toml
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
_SLACK = {
    "type": "slack",
    "name": "slack",
    "token": "${SLACK_BOT_TOKEN}",
    "channel_id": "C0123456789",
    "threads": True,
}
_RUNTIME = {
    "program": ["python3", "{home}/bin/agent.py"],
    "session": ["--session-id", "{session}"],
    "resume": ["--resume", "{session}"],
    "prompt": ["--prompt-file", "{prompt_file}"],
    "takes_paste": True,
    "record": "{state}/{session}.jsonl",
    "arguments": ["--record", "{record}"],
    "window": 200000,
}
_HOST = {"name": "gpu1", "connect": ["ssh", "gpu1"]}

_WITHOUT_A_SPELLING = frozenset({("defaults.worktree", "directory")})
"""Defaults that cannot be written as a value: the worktree folder defaults to the agent's
repository, not to this file's folder."""

_TABLES = ("context", "handoff", "limits", "loop", "worktree", "may", "hooks")


def example() -> str:
    """Return the whole text of the example file."""
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
            "One table per agent. It can also contain anything from [defaults].",
            only=tuple(_AGENT),
        ),
        _sample("[agents.worktree]", WorktreeSettings, _WORKTREE, only=tuple(_WORKTREE)),
        _sample(
            "[[agents.hooks.on_context_threshold]]",
            Hook,
            _SHELL,
            "A command or a message on an event; for all agents: [[defaults.hooks.EVENT]].",
            leave_out=(
                "url",
                "urls",
                "headers",
                "secret",
                "token",
                "channel_id",
                "threads",
                "allow_private",
            ),
        ),
        _sample(
            "[[agents.hooks.on_handoff_complete]]",
            Hook,
            _WEBHOOK,
            only=(*_WEBHOOK, "secret", "allow_private"),
        ),
        _sample("[[agents.hooks.on_needs_you]]", Hook, _SLACK, only=tuple(_SLACK)),
        _sample(
            "[runtimes.inhouse]",
            OwnRuntime,
            _RUNTIME,
            'Programs of your own as runtimes, here for runtime = "inhouse".',
        ),
        _sample("[[hosts]]", Host, _HOST, "Other machines, each with its own supervisor."),
        _table("limits", DayLimits),
        _table("notifications", Notifications),
        _table("elsewhere", ElsewhereSettings),
        "# Action id = keys; `cockpit keys` lists the ids and their current keys.\n[keys]\n",
    ]
    return "\n".join(parts)


def _table(name: str, model: type[BaseModel], leave_out: tuple[str, ...] = ()) -> str:
    about = "" if model is AgentDefaults else (model.__doc__ or "")
    if model is AgentDefaults:
        about = "Defaults for every agent; its [[agents]] table can override them."
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
    """Return a commented-out table, with `##` before each description and `#` before each
    setting."""
    lines = [*_comment(about), f"# {header}"]
    for key, field in model.model_fields.items():
        if key in leave_out or (only and key not in only):
            continue
        lines += [f"#{line}" for line in _comment(field.description or "")]
        value = values[key] if key in values else default_of(model, key)
        lines.append(f"# {key} = {spelled(value)}")
    return "\n".join(lines) + "\n"


def default_of(model: type[BaseModel], key: str) -> Any:
    """Return a default as it would be written in a file."""
    field = model.model_fields[key]
    shown = model.model_construct(**{key: field.default}).model_dump(mode="json", include={key})
    return shown[key]


def _comment(text: str) -> Iterator[str]:
    yield from textwrap.wrap(text, 96, initial_indent="# ", subsequent_indent="# ")
