"""`cockpit init` and `cockpit config`: writing, checking and explaining configuration files."""

from __future__ import annotations

from pathlib import Path

import click

from cockpit.cli.options import asked, everywhere

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command(
    epilog="""\b
Example:
  cd my-project && cockpit init && cockpit config check"""
)
@everywhere
def init() -> int:
    """Write a commented cockpit.toml for this repository.

    One that is there is not touched.
    """
    from cockpit.cli.init import init as write

    return write()


@click.group(
    epilog="""\b
Examples:
  cockpit config check        is the file right; file, line, key and nearest name if not
  cockpit config show         every value, and the file that it came from
  cockpit config schema       JSON Schema, for an editor
  cockpit config trust FILE   let a project's file set hooks, commands, env and permissions"""
)
@everywhere
def config() -> None:
    """Check, show, describe or trust a configuration."""


@config.command()
@everywhere
@click.argument("file", required=False, type=_FILE)
def check(file: Path | None) -> int:
    """Is the configuration right, and where do the bands begin.

    FILE takes the place of the project's.
    """
    from cockpit.cli.config import check as run

    return run(file or asked().config)


@config.command()
@everywhere
def show() -> int:
    """Every value that holds here, and the file that it came from."""
    from cockpit.cli.config import show as run

    return run(asked().config)


@config.command()
@everywhere
def schema() -> int:
    """JSON Schema of cockpit.toml.

    Under $defs.HookPayload is that of what hooks are told.
    """
    from cockpit.cli.config import schema as run

    return run()


@config.command()
@everywhere
@click.argument("file", type=_FILE)
def trust(file: Path) -> int:
    """Trust FILE as it is now.

    What it runs, sends or widens counts from here on, until it changes.
    """
    from cockpit.cli.config import trust as run

    return run(file)
