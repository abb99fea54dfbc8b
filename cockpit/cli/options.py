"""The options `--config` and `--host`, before or after a command's name.

They mean the same in both places; if an option is given twice, the later one wins. Commands that
only run on this machine refuse `--host`. A command's help does not list an option that the command
refuses or ignores.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from cockpit.core.errors import BadUsage

LOCAL = "local"
"""The name of this machine for `--host`."""

HERE_ONLY = frozenset({
    "demo", "init", "usage", "facts", "config", "hooks", "keys", "completion", "dial-stdio",
    "mcp", "serve", "api", "hosts",
})  # fmt: skip
"""Commands that only run on this machine, and refuse `--host`."""
WITHOUT_HOST = HERE_ONLY | {"completion", "redact", "run", "worktrees restore"}
"""Commands whose help does not list `--host`, because they refuse or ignore it."""
WITHOUT_CONFIG = frozenset({
    "api", "completion", "config schema", "config trust", "demo", "dial-stdio", "facts", "init",
    "mcp", "redact", "run", "usage", "worktrees restore",
})  # fmt: skip
"""Commands whose help does not list `--config`. They ignore it, except `facts --document`."""
CONFIG_FOR_HOST = frozenset({
    "approve", "answer", "attach", "done", "down", "events", "forget", "handoff", "history",
    "refuse", "rename", "send", "service remove", "service status", "show", "snooze", "status",
    "stop", "undo", "wait", "worktrees",
})  # fmt: skip
"""Commands that read the file of `--config` only to find a host."""
RUNS_THERE = frozenset({"doctor", "down", "restart", "service", "setup", "up"})
"""Commands that `--host` runs on the host; all others send a request to the host's supervisor."""

AnyCommand = TypeVar("AnyCommand", bound=Callable[..., Any])


@dataclass
class CommonOptions:
    """The values of `--config` and `--host`."""

    config: Path | None = None
    """Absolute path of the file from `--config`. The user named the file, so it is trusted."""
    host: str | None = None


def with_common_options(command: AnyCommand) -> AnyCommand:
    """Add `--config` and `--host` to a command or group; store the values in `CommonOptions`."""
    for option in (_host, _config):
        command = option(command)
    return command


def common_options() -> CommonOptions:
    """Return the values of `--config` and `--host` for the running command."""
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
            "This command cannot be used with --host.",
            f"Run the command on the host: ssh -t HOST cockpit {command}",
        )


def _complete_host(
    context: click.Context, parameter: click.Parameter, typed: str
) -> list[CompletionItem]:
    from cockpit.cli.host_names import host_names

    return host_names(context, parameter, typed)


class _CommonOption(click.Option):
    """The option `--config` or `--host`, with help for each command.

    `hidden_in`: the commands whose help does not list the option. `special_in`: the commands for
    which the option means `special_help`.
    """

    def __init__(
        self,
        *arguments: Any,
        hidden_in: frozenset[str],
        special_in: frozenset[str],
        special_help: str,
        **settings: Any,
    ) -> None:
        super().__init__(*arguments, **settings)
        self._hidden_in = hidden_in
        self._special_in = special_in
        self._special_help = special_help

    def describe_for(self, path: str) -> None:
        """Set the option's help for a command, or hide the option if the command refuses or
        ignores it.

        `path` is the command as typed after `cockpit`, such as `worktrees restore`.
        """
        names = {path.split()[0], path}
        self.hidden = bool(self._hidden_in & names)
        if self._special_in & names:
            self.help = self._special_help


def describe_options(group: click.Group, path: str = "") -> None:
    """Adapt the help and Tab completion of the common options to each command."""
    for name, command in group.commands.items():
        own = f"{path} {name}".strip()
        for option in command.params:
            if isinstance(option, _CommonOption):
                option.describe_for(own)
        if isinstance(command, click.Group):
            describe_options(command, own)


def options_of(context: click.Context) -> CommonOptions:
    """Return the values of `--config` and `--host` in the given click context."""
    return context.ensure_object(CommonOptions)


_config = click.option(
    "--config",
    cls=_CommonOption,
    hidden_in=WITHOUT_CONFIG,
    special_in=CONFIG_FOR_HOST,
    special_help="With --host: use and trust FILE instead of the project's cockpit.toml.",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    callback=_keep_config,
    expose_value=False,
    help="Use and trust FILE instead of the project's cockpit.toml.",
)
_host = click.option(
    "--host",
    cls=_CommonOption,
    hidden_in=WITHOUT_HOST,
    special_in=RUNS_THERE,
    special_help="Run the command on host NAME (see [[hosts]] in ~/.config/cockpit/cockpit.toml).",
    metavar="NAME",
    callback=_keep_host,
    shell_complete=_complete_host,
    expose_value=False,
    help="Use the supervisor on host NAME (see [[hosts]] in ~/.config/cockpit/cockpit.toml).",
)
