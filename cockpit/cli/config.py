"""`cockpit config check|show|schema|trust`: what the files say, and what comes out of them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cockpit.cli.places import our_places
from cockpit.cli.speech import say
from cockpit.config.loaded import Loaded
from cockpit.config.read import load
from cockpit.config.remarks import remarks
from cockpit.config.schema import AgentDefaults, Settings
from cockpit.config.thresholds import thresholds
from cockpit.core.bands import MARK_NAMES, marks
from cockpit.core.hook_payload import SCHEMA
from cockpit.core.reading import DEFAULT_WINDOW, LARGE_WINDOW
from cockpit.core.safetext import safe_line

_SECRET_TABLES = ("env", "headers", "urls", "url")
"""Settings whose values may be keys and tokens; that they are set is shown, and no more."""


def check(config: Path | None) -> int:
    """Say that the files are right, and where the bands of the agents begin.

    Raises `BadConfig` with file, line, key and nearest name when they are not.
    """
    loaded = load(our_places(), config, Path.cwd(), os.environ)
    _tell(loaded)
    for remark in remarks(loaded.settings):
        say(safe_line(remark, 400))
    _tell_of_theme(loaded.settings.cockpit.theme)
    print("ok")
    for path in loaded.files:
        print(f"  {safe_line(str(path))}")
    if not loaded.files:
        print("  no file; everything is default")
    for line in _bands(loaded.settings):
        print(line)
    return 0


def show(config: Path | None) -> int:
    """Print every value that holds, in TOML's spelling, and where it was written."""
    loaded = load(our_places(), config, Path.cwd(), os.environ)
    _tell(loaded)
    for key, value in _leaves(loaded.settings):
        source = loaded.sources.get(key, "default")
        print(safe_line(f"{key} = {value}  # {source}", 4000))
    return 0


def schema() -> int:
    """Print the JSON Schema of a file, and under `$defs` that of what hooks are told."""
    described = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Settings.model_json_schema(),
        "title": "cockpit.toml",
    }
    described["$defs"]["HookPayload"] = SCHEMA
    print(json.dumps(described, indent=2))
    return 0


def trust(file: Path) -> int:
    """Trust a file as it is now, and say what that lets it decide."""
    from cockpit.config.trust import trust as remember

    places = our_places()
    path = file.absolute()
    held = load(places, path, Path.cwd(), os.environ, named=False).held
    remember(places, path)
    say(f"trusted as it is now: {safe_line(str(path))}")
    for one in held:
        say(f"  {safe_line(f'line {one.line}: {one.key}')}")
    return 0


def _tell(loaded: Loaded) -> None:
    for notice in loaded.notices:
        say(safe_line(notice, 400))
    for held in loaded.held:
        say(safe_line(str(held), 400))
    if loaded.held:
        file = safe_line(str(loaded.held[0].file))
        say(f"Read the file, then: cockpit config trust {file}")


def _tell_of_theme(name: str) -> None:
    """Say it when the screen would have to use another theme, and what is wrong with each file."""
    from cockpit.config.shipped import themes_folder
    from cockpit.tui.themes import chosen, load

    found = load([themes_folder(), our_places().themes])
    _, trouble = chosen(name, found)
    others = [line for theme, line in found.troubles.items() if theme != name]
    for line in (*others, *([trouble] if trouble else [])):
        say(safe_line(f"cockpit.theme: {line}", 400))


def _bands(settings: Settings) -> Iterator[str]:
    """The marks in tokens, once for all agents that have the same."""
    groups: dict[tuple[Any, ...], list[tuple[str, AgentDefaults]]] = {}
    seats: list[tuple[str, AgentDefaults]] = [(agent.name, agent) for agent in settings.agents]
    for name, agent in seats or [("defaults", settings.defaults)]:
        if agent.runtime == "command":
            continue
        kind = (agent.runtime, agent.context.model_dump_json(), frozenset(agent.env.items()))
        groups.setdefault(kind, []).append((name, agent))
    for members in groups.values():
        yield f"\nbands of {', '.join(name for name, _ in members)}"
        yield from _marks_of(members[0][1])


def _marks_of(agent: AgentDefaults) -> Iterator[str]:
    override = agent.context.override
    for window in (override,) if override else (DEFAULT_WINDOW, LARGE_WINDOW):
        compacts_at = _compacts_at(agent, window)
        compacts = f", compacts at {compacts_at:,}" if compacts_at else ""
        yield f"  window of {window:,}{compacts}"
        found = marks(thresholds(agent.context), window, compacts_at)
        for name in MARK_NAMES:
            mark = getattr(found, name)
            yield f"    {name:<7}{mark.tokens:>9,}  {mark.why}"


def _compacts_at(agent: AgentDefaults, window: int) -> int | None:
    if agent.runtime != "claude":
        return None
    from cockpit.adapters.agents.claude_models import compacts_at

    return compacts_at(window, {**os.environ, **agent.env})


def _leaves(settings: Settings) -> Iterator[tuple[str, str]]:
    """Every setting with its dotted key, agents and hosts by name."""
    told = settings.model_dump(mode="json")
    for agent in told.pop("agents"):
        told.setdefault("agents", {})[agent["name"]] = agent
    for host in told.pop("hosts"):
        told.setdefault("hosts", {})[host["name"]] = host
    yield from _walk("", told)


def _walk(name: str, value: Any) -> Iterator[tuple[str, str]]:
    from cockpit.config.write import spelled

    last = name.rsplit(".", 1)[-1]
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            hidden = last in _SECRET_TABLES and inner
            yield from _walk(f"{name}.{key}".lstrip("."), "(hidden)" if hidden else inner)
    elif last in _SECRET_TABLES and value:
        yield name, '"(hidden)"'
    elif isinstance(value, list) and any(isinstance(one, Mapping) for one in value):
        yield name, f'"{len(value)} written"'
    elif last == "prompt" and len(value) > 200:
        yield name, spelled(f"{value[:200]}…")
    else:
        yield name, spelled(value)
