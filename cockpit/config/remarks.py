"""What a valid file asks for and will not get, or may not have meant, told before it happens.

Nothing here is refused, and nobody is asked: no name is looked up, no git is run.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from urllib.parse import urlsplit

from cockpit.config.hooks import Hook
from cockpit.config.project import repository_root
from cockpit.config.schema import AgentDefaults, AgentSettings, Settings


def remarks(settings: Settings) -> Iterator[str]:
    """One line each; what several agents inherit is told of the defaults alone."""
    yield from _of_hooks("defaults", settings.defaults, ())
    for agent in settings.agents:
        yield from _of_hooks(f"agents.{agent.name}", agent, settings.defaults.hooks.written())
        yield from _of_worktree(agent)


def _of_hooks(
    at: str, agent: AgentDefaults, inherited: tuple[tuple[str, Hook], ...]
) -> Iterator[str]:
    for event, hook in agent.hooks.written():
        if (event, hook) not in inherited and (why := _never_sent(hook)):
            yield f"{at}.hooks.{event}: {hook.name or hook.type} will not be sent: {why}"


def _never_sent(hook: Hook) -> str:
    """Why, as far as the address itself tells; empty where it may well be sent."""
    if hook.type not in ("webhook", "slack", "discord") or not hook.url.startswith("http://"):
        return ""
    if not hook.allow_private:
        return (
            "http:// is for loopback and private addresses, with allow_private = true; else https"
        )
    try:
        address = ipaddress.ip_address(urlsplit(hook.url).hostname or "")
    except ValueError:
        return ""
    return "http:// to a public address; it has to be https" if address.is_global else ""


def _of_worktree(agent: AgentSettings) -> Iterator[str]:
    root = repository_root(agent.directory)
    if agent.worktree.strategy == "none" or root is None:
        return
    folder = (root / agent.worktree.directory).resolve()
    if not folder.is_relative_to(root.resolve()):
        yield (
            f"agents.{agent.name}.worktree.directory: worktrees are made outside of the repository"
            f" {root}, in {folder}"
        )
