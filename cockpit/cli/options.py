"""The options that every command takes, before or after the command's name.

`--config` and `--host` mean the same in both places; if both are given, the later one wins.
Commands that only work on local files refuse `--host`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from cockpit.core.errors import BadUsage

LOCAL = "local"
"""The name of this machine for `--host`."""

HERE_ONLY = frozenset({
    "demo", "init", "usage", "facts", "config", "hooks", "keys", "completion", "dial-stdio",
    "mcp", "serve", "api",
})  # fmt: skip
"""Commands that work on local files only."""

AnyCommand = TypeVar("AnyCommand", bound=Callable[..., Any])


@dataclass
class CommonOptions:
    """The options common to all commands."""

    config: Path | None = None
    """Absolute path; trusted, because the user named it."""
    host: str | None = None


def with_common_options(command: AnyCommand) -> AnyCommand:
    """Add `--config` and `--host` to a command or group; store the values in `CommonOptions`."""
    for option in (_host, _config):
        command = option(command)
    return command


def common_options() -> CommonOptions:
    """Return the common options of the running command."""
    return click.get_current_context().ensure_object(CommonOptions)


def _keep_config(_context: click.Context, _parameter: click.Parameter, value: Path | None) -> None:
    if value is not None:
        options_of(_context).config = value.absolute()


def _keep_host(_context: click.Context, _parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        options_of(_context).host = value
    command = " ".join(_context.command_path.split()[1:2])
    if command in HERE_ONLY and options_of(_context).host not in (None, LOCAL):
        raise BadUsage(
            f"`cockpit {command}` only works on this machine",
            "It does not use the supervisor of another one.",
            f"Run it on the host: ssh -t HOST cockpit {command}",
        )


def options_of(context: click.Context) -> CommonOptions:
    """Return the common options of the given click context."""
    return context.ensure_object(CommonOptions)


_config = click.option(
    "--config",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    callback=_keep_config,
    expose_value=False,
    help="Use this file instead of the project's cockpit.toml, and trust it.",
)
_host = click.option(
    "--host",
    metavar="NAME",
    callback=_keep_host,
    expose_value=False,
    help="Use the supervisor on this host (see [[hosts]]).",
)
