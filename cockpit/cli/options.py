"""The options that go with every command, before it or after it.

`--config` and `--host` mean the same in both places; the one nearer to the command wins. A command
that works with files of this machine only refuses a host, instead of leaving it unheard.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from cockpit.core.errors import BadUsage

LOCAL = "local"
"""What `--host` calls this machine."""

HERE_ONLY = frozenset({
    "demo", "init", "usage", "facts", "config", "hooks", "keys", "completion", "dial-stdio",
    "serve",
})  # fmt: skip
"""Commands that have nothing to ask a supervisor."""

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
    command = " ".join(_context.command_path.split()[1:2])
    if command in HERE_ONLY and asked_in(_context).host not in (None, LOCAL):
        raise BadUsage(
            f"`cockpit {command}` works with this machine only",
            "It asks no supervisor.",
            f"Run it there, for instance: ssh -t HOST cockpit {command}",
        )


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
