"""The options that go with every command, before it or after it, and who completes names.

`--config` and `--host` mean the same in both places; the one nearer to the command wins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from cockpit.core.errors import BadUsage, CockpitError, NotNow
from cockpit.core.safetext import quoted

AnyCommand = TypeVar("AnyCommand", bound=Callable[..., Any])


@dataclass
class Asked:
    """What the pilot said for every command."""

    config: Path | None = None
    """Absolute; named on the command line, and therefore trusted."""
    host: str | None = None


def everywhere(command: AnyCommand) -> AnyCommand:
    """Give a command (or the group) `--config` and `--host`; the values go to `Asked`."""
    for option in (_host, _config):
        command = option(command)
    return command


def asked() -> Asked:
    """What was said for the command that is running."""
    return click.get_current_context().ensure_object(Asked)


def _keep_config(_context: click.Context, _parameter: click.Parameter, value: Path | None) -> None:
    if value is not None:
        asked_in(_context).config = value.absolute()


def _keep_host(_context: click.Context, _parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        asked_in(_context).host = value


def asked_in(context: click.Context) -> Asked:
    """The same, from where click hands the context over."""
    return context.ensure_object(Asked)


_config = click.option(
    "--config",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    callback=_keep_config,
    expose_value=False,
    help="Use this file in place of the project's cockpit.toml; naming it is trusting it.",
)
_host = click.option(
    "--host",
    metavar="NAME",
    callback=_keep_host,
    expose_value=False,
    help="Ask the supervisor of this configured host.",
)


def agent_names(
    _context: click.Context, _parameter: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Names of agents that begin with what was typed; none when nobody can be asked."""
    from cockpit.cli.status import rows

    try:
        return [
            CompletionItem(row["name"], help=str(row.get("state", "")))
            for row in rows(patience=1.0)
            if str(row["name"]).startswith(typed)
        ]
    except CockpitError:
        return []


def refuse_far_hosts(configured: list[str], host: str | None) -> None:
    """Answer for `--host`: one that is not configured is a mistake, one that is comes later."""
    if host is None or host == "local":
        return
    if host not in configured:
        known = ", ".join(["local", *configured])
        raise BadUsage(f"No host named {quoted(host)} is configured", f"Known: {known}.")
    raise NotNow(
        f"Host {host} is configured, but other machines cannot be asked yet",
        "This version flies the agents of one machine.",
        f"Run it there: ssh {host} cockpit",
    )
