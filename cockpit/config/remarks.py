"""Warnings about a valid file: settings that will have no effect, or may be a mistake.

This module refuses nothing, does not ask the user, resolves no host names and does not run git.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from urllib.parse import urlsplit

from cockpit.config.hooks import Hook
from cockpit.config.own_runtimes import OwnRuntime
from cockpit.config.project import repository_root
from cockpit.config.schema import AgentDefaults, AgentSettings, Settings
from cockpit.config.thresholds import early_warnings, explicit


def remarks(settings: Settings) -> Iterator[str]:
    """Yield one line per warning; settings that several agents inherit are reported once."""
    yield from _of_hooks("defaults", settings.defaults, ())
    yield from _of_thresholds("defaults", settings.defaults)
    for agent in settings.agents:
        yield from _of_hooks(f"agents.{agent.name}", agent, settings.defaults.hooks.written())
        if agent.context != settings.defaults.context:
            yield from _of_thresholds(f"agents.{agent.name}", agent)
        yield from _of_worktree(agent)
        yield from _of_runtime(agent, settings.runtimes.get(agent.runtime))


def _of_hooks(
    at: str, agent: AgentDefaults, inherited: tuple[tuple[str, Hook], ...]
) -> Iterator[str]:
    for event, hook in agent.hooks.written():
        if (event, hook) not in inherited and (why := _never_sent(hook)):
            yield f"{at}.hooks.{event}: {hook.name or hook.type} cannot send: {why}"
        if (event, hook) not in inherited and hook.token and "${" not in hook.token:
            yield (
                f"{at}.hooks.{event}.token: the token of {hook.name or hook.type} is in the file;"
                ' put the token into an environment variable and write "${NAME}"'
            )


def _of_thresholds(at: str, agent: AgentDefaults) -> Iterator[str]:
    for warning in early_warnings(agent.context, explicit(agent.context)):
        yield f"{at}.context: {warning}"


def _of_runtime(agent: AgentSettings, own: OwnRuntime | None) -> Iterator[str]:
    """Yield one line per setting, perhaps inherited, that the agent's custom runtime does not
    support."""
    if own is None:
        return
    mode = agent.permission_mode
    if mode and mode not in own.permission_modes:
        yield (
            f"agents.{agent.name}.permission_mode: the runtime {agent.runtime} has no mode {mode!a}"
            ', so the agent cannot start; to start it without a mode: permission_mode = ""'
        )
    if agent.model and not own.model:
        yield (
            f"agents.{agent.name}.model: the runtime {agent.runtime} takes no model, so the agent"
            ' cannot start; to start the agent without a model: model = ""'
        )


def _never_sent(hook: Hook) -> str:
    """Return why the hook's URL can never be used; empty if the URL may work."""
    if hook.type not in ("webhook", "slack", "discord") or not hook.url.startswith("http://"):
        return ""
    if not hook.allow_private:
        return "http:// only works for private addresses, with allow_private = true; use https://"
    try:
        address = ipaddress.ip_address(urlsplit(hook.url).hostname or "")
    except ValueError:
        return ""
    return "http:// does not work for public addresses; use https://" if address.is_global else ""


def _of_worktree(agent: AgentSettings) -> Iterator[str]:
    root = repository_root(agent.directory)
    if agent.worktree.strategy == "none" or root is None:
        return
    folder = (root / agent.worktree.directory).resolve()
    if not folder.is_relative_to(root.resolve()):
        yield (
            f"agents.{agent.name}.worktree.directory: worktrees will be outside the repository"
            f" {root}, in {folder}"
        )
