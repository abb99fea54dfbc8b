"""Generate parts of the documentation: tables of settings, aliases and events.

Each part is between two markers in the page and is replaced as a whole; text around it is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from pydantic import BaseModel

from cockpit.config.aliases import OLD_NAMES
from cockpit.config.hooks import Hook, Hooks, Host, Notifications
from cockpit.config.own_runtimes import OwnRuntime
from cockpit.config.schema import (
    AgentDefaults,
    AgentSettings,
    CockpitSettings,
    DayLimits,
    ElsewhereSettings,
)
from cockpit.config.write import spelled
from tests.config.generated_example import default_of

_TABLES = ("context", "handoff", "limits", "loop", "worktree")
_MARKS = re.compile(r"(<!-- begin (\S+) -->\n).*?(<!-- end \2 -->)", re.DOTALL)


def with_generated_parts(page: str, more: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return the page with every marked part regenerated. Raises `KeyError` for an unknown marker.

    `more` maps markers to parts that other modules generate.
    """
    parts = {
        "settings": settings_tables(),
        "old-names": old_names_table(),
        "events": events_table(),
        **more,
    }
    return _MARKS.sub(lambda match: f"{match[1]}\n{parts[match[2]]}\n{match[3]}", page)


def settings_tables() -> str:
    """Format every setting with default and description, one table per section."""
    own = tuple(AgentDefaults.model_fields)
    sections = [
        _section("[cockpit]", CockpitSettings),
        _section("[defaults]", AgentDefaults, leave_out=(*_TABLES, "hooks")),
    ]
    for name in _TABLES:
        model = type(AgentDefaults.model_fields[name].default)
        sections.append(_section(f"[defaults.{name}]", model))
    sections += [
        _section("[[agents]]", AgentSettings, leave_out=own),
        _section("[[agents.hooks.EVENT]]", Hook),
        events_table(),
        _section("[runtimes.NAME]", OwnRuntime),
        _section("[[hosts]]", Host),
        _section("[limits]", DayLimits),
        _section("[notifications]", Notifications),
        _section("[elsewhere]", ElsewhereSettings),
    ]
    return "\n".join(sections)


def old_names_table() -> str:
    """Format the aliases and their current settings."""
    rows = (
        f"| `{old.key}` | {f'`{old.today}`' if old.today else 'ignored: ' + old.why} |"
        for old in OLD_NAMES
    )
    return "\n".join(("| alias | current setting |", "| --- | --- |", *rows)) + "\n"


def _section(title: str, model: type[BaseModel], leave_out: tuple[str, ...] = ()) -> str:
    rows = _rows(model, leave_out)
    return "\n".join(
        (f"### `{title}`", "", "| key | default | |", "| --- | --- | --- |", *rows, "")
    )


def _rows(model: type[BaseModel], leave_out: tuple[str, ...]) -> Iterator[str]:
    for key, field in model.model_fields.items():
        if key in leave_out:
            continue
        default = "" if field.is_required() else f"`{spelled(default_of(model, key))}`"
        text = (field.description or "").replace("|", "\\|")
        yield f"| `{key}` | {default} | {text} |"


def events_table() -> str:
    """Format the events that hooks can run on."""
    rows = (f"| `{name}` | {field.description} |" for name, field in Hooks.model_fields.items())
    return "\n".join(("| event | when |", "| --- | --- |", *rows, ""))
