"""`cockpit init` and `cockpit config`: write, check and explain configuration files."""

from __future__ import annotations

from pathlib import Path

import click

from cockpit.cli.options import common_options, with_common_options

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command(
    epilog="""\b
Example:
  cd my-project && cockpit init && cockpit config check"""
)
@with_common_options
def init() -> int:
    """Write a commented cockpit.toml for this repository. Never overwrites an existing file.

    Outside a repository, writes the file into the current directory.
    """
    from cockpit.cli.init import init as write

    return write()


@click.group(
    epilog="""\b
Examples:
  cockpit config check        validate the config; errors name file, line and key
  cockpit config show         print every setting and where it comes from
  cockpit config schema       print the JSON Schema, for an editor
  cockpit config trust FILE   let a project's file set hooks, commands, env and permissions"""
)
@with_common_options
def config() -> None:
    """Check, show or trust configuration files."""


@config.command(
    epilog="""\b
Examples:
  cockpit config check                       the configuration in use here
  cockpit config check ../shop/cockpit.toml"""
)
@with_common_options
@click.argument("file", required=False, type=_FILE)
def check(file: Path | None) -> int:
    """Validate the config and show its thresholds.

    With FILE, checks FILE as if you trusted it, instead of the project's cockpit.toml.
    """
    from cockpit.cli.config import check as run

    return run(file or common_options().config)


@config.command(
    epilog="""\b
Example:
  cockpit config show"""
)
@with_common_options
def show() -> int:
    """Print every setting and where it is set.

    Values that may be secret are hidden.
    """
    from cockpit.cli.config import show as run

    return run(common_options().config)


@config.command(
    epilog="""\b
Example:
  cockpit config schema > cockpit.schema.json"""
)
@with_common_options
def schema() -> int:
    """Print the JSON Schema of cockpit.toml.

    The schema of hook payloads is in $defs.HookPayload.
    """
    from cockpit.cli.config import schema as run

    return run()


@config.command(
    epilog="""\b
Example:
  cockpit config trust cockpit.toml"""
)
@with_common_options
@click.argument("file", type=_FILE)
def trust(file: Path) -> int:
    """Trust FILE as it is now.

    Settings in FILE that need trust, such as hooks, commands, URLs and permissions, take effect
    until FILE changes.
    """
    from cockpit.cli.config import trust as run

    return run(file)
