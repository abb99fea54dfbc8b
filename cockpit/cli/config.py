"""`cockpit config check|show|schema|trust`: check the files, and show the resulting settings."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cockpit.cli.output import say
from cockpit.cli.places import our_places
from cockpit.config.loaded import Loaded
from cockpit.config.read import load
from cockpit.config.remarks import remarks
from cockpit.config.schema import AgentDefaults, Settings
from cockpit.config.thresholds import thresholds
from cockpit.core.bands import MARK_NAMES, MarkName, marks
from cockpit.core.hook_payload import SCHEMA
from cockpit.core.plurals import counted
from cockpit.core.reading import DEFAULT_WINDOW, LARGE_WINDOW
from cockpit.core.safetext import safe_line

if TYPE_CHECKING:
    from cockpit.ports.runtimes import Runtime

_SECRET_TABLES = ("env", "headers", "urls", "url")
"""Settings whose values may be secret; `cockpit config show` prints "(hidden)" for each value."""


def check(config: Path | None) -> int:
    """Report that the files are valid, and print each agent's thresholds.

    Raises `BadConfig` for an invalid file, with its path, line, key and the nearest valid name.
    """
    loaded = load(our_places(), config, Path.cwd(), os.environ)
    _print_notices(loaded)
    for remark in remarks(loaded.settings):
        say(safe_line(remark, 400))
    _print_theme_problems(loaded.settings.cockpit.theme)
    if loaded.held:
        ignored = counted(len(loaded.held), "setting")
        print(f"valid, but {ignored} ignored until you trust the file")
    else:
        print("ok")
    for path in loaded.files:
        print(f"  {safe_line(str(path))}")
    if not loaded.files:
        print("  no file; all settings are defaults")
    for line in _threshold_tables(loaded.settings):
        print(line)
    return 0


def show(config: Path | None) -> int:
    """Print every setting in effect, in TOML syntax, and the file and line that set it.

    Values that may be secret are hidden, and a long prompt is cut.
    """
    loaded = load(our_places(), config, Path.cwd(), os.environ)
    _print_notices(loaded)
    for key, value in _all_settings(loaded.settings):
        source = loaded.sources.get(key, "default")
        print(safe_line(f"{key} = {value}  # {source}", 4000))
    return 0


def schema() -> int:
    """Print the JSON Schema of a configuration file, with the hook payloads' schema in `$defs`."""
    described = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Settings.model_json_schema(),
        "title": "cockpit.toml",
    }
    described["$defs"]["HookPayload"] = SCHEMA
    print(json.dumps(described, indent=2))
    return 0


def trust(file: Path) -> int:
    """Trust a file as it is now, and list the settings that take effect."""
    from cockpit.cli.agent_guard import refuse_inside_agent
    from cockpit.config.trust import trust as trust_file

    refuse_inside_agent("trust a file")
    places = our_places()
    path = file.absolute()
    held = load(places, path, Path.cwd(), os.environ, named=False).held
    trust_file(places, path)
    say(f"Trusted until the file changes: {safe_line(str(path))}")
    for setting in held:
        say(f"  {safe_line(f'line {setting.line}: {setting.shown_key}')}")
    return 0


def _print_notices(loaded: Loaded) -> None:
    for notice in loaded.notices:
        say(safe_line(notice, 400))
    for held in loaded.held:
        say(safe_line(str(held), 400))
    if loaded.held:
        file = safe_line(str(loaded.held[0].file))
        say(f"Read the file, then run: cockpit config trust {file}")


def _print_theme_problems(name: str) -> None:
    """Print problems in theme files, and any fallback to another theme."""
    from cockpit.config.shipped import themes_folder
    from cockpit.tui.terminal.themes import chosen, load

    themes = load([themes_folder(), our_places().themes])
    _, trouble = chosen(name, themes)
    others = [line for theme, line in themes.troubles.items() if theme != name]
    for line in (*others, *([trouble] if trouble else [])):
        say(safe_line(f"cockpit.theme: {line}", 400))


def _threshold_tables(settings: Settings) -> Iterator[str]:
    """Yield the lines of the threshold tables: one table per group of agents with equal thresholds.

    Without configured agents, there is one table, of [defaults]. Leaves out agents whose runtime
    does not report its context.
    """
    groups: dict[tuple[Any, ...], list[tuple[str, AgentDefaults]]] = {}
    agents: list[tuple[str, AgentDefaults]] = [(agent.name, agent) for agent in settings.agents]
    for name, agent in agents or [("defaults", settings.defaults)]:
        if not _runtime(settings, agent.runtime).capabilities.readings:
            continue
        kind = (agent.runtime, agent.context.model_dump_json(), frozenset(agent.env.items()))
        groups.setdefault(kind, []).append((name, agent))
    for members in groups.values():
        yield f"\nthresholds of {', '.join(name for name, _ in members)}"
        first = members[0][1]
        yield from _threshold_lines(first, _runtime(settings, first.runtime))


def _threshold_lines(agent: AgentDefaults, runtime: Runtime) -> Iterator[str]:
    override = agent.context.override
    for window in (override,) if override else _windows(agent, runtime):
        compacts_at = runtime.compaction_rule({**os.environ, **agent.env}).compacts_at(window)
        compacts = f", the CLI compacts at {compacts_at:,} (computed)" if compacts_at else ""
        yield f"  window {window:,}{compacts}"
        own_marks = marks(thresholds(agent.context), window, compacts_at)
        for name in MARK_NAMES:
            mark = getattr(own_marks, name)
            late = _too_high(agent, name, window, compacts_at)
            yield f"    {name:<7}{mark.tokens:>9,}  {mark.why}{late}"


def _too_high(agent: AgentDefaults, name: MarkName, window: int, compacts_at: int | None) -> str:
    """Return a remark if the CLI compacts below the user's threshold; else an empty text."""
    own = thresholds(agent.context).own(name)
    if name not in agent.context.model_fields_set or compacts_at is None:
        return ""
    at = own.tokens(window)
    return f"; {own.text} is {at:,}, which the context never reaches" if at > compacts_at else ""


def _windows(agent: AgentDefaults, runtime: Runtime) -> tuple[int, ...]:
    """Return the usual context window sizes of an agent's models, in tokens."""
    if agent.runtime == "claude":
        return DEFAULT_WINDOW, LARGE_WINDOW
    environment = {**os.environ, **agent.env}
    return (runtime.window(agent.model or None, environment).tokens,)


def _runtime(settings: Settings, name: str) -> Runtime:
    from cockpit.adapters.agents import runtime
    from cockpit.adapters.agents.own.definitions import Definitions

    return runtime(name, our_places().state, Definitions.of(settings.runtimes))


def _all_settings(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield every setting: its dotted key, such as `agents.api.mode`, and its value in TOML."""
    dumped = settings.model_dump(mode="json")
    for agent in dumped.pop("agents"):
        dumped.setdefault("agents", {})[agent["name"]] = agent
    for host in dumped.pop("hosts"):
        dumped.setdefault("hosts", {})[host["name"]] = host
    yield from _walk("", dumped)


def _walk(name: str, value: Any) -> Iterator[tuple[str, str]]:
    from cockpit.config.write import spelled

    last = name.rsplit(".", 1)[-1]
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            hidden = last in _SECRET_TABLES and inner
            yield from _walk(f"{name}.{key}".lstrip("."), "(hidden)" if hidden else inner)
    elif last in _SECRET_TABLES and value:
        yield name, '"(hidden)"'
    elif isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
        yield name, f'"{len(value)} hidden"'
    elif last == "prompt" and len(value) > 200:
        yield name, spelled(f"{value[:200]}…")
    else:
        yield name, spelled(value)
