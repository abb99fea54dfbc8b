"""Commands that need no supervisor: a demonstration, any transcript, the keys."""

from __future__ import annotations

import os
from pathlib import Path

import click

from cockpit.cli.options import asked, everywhere

_TRANSCRIPT = click.Path(path_type=Path)


@click.command(
    epilog="""\b
Examples:
  cockpit demo               three agents, in the cockpit
  cockpit demo --headless    the same without a screen; exit 0 when all jobs are done
  cockpit demo --pictures docs    every screen as a picture, as in the README"""
)
@everywhere
@click.option("--agents", type=click.IntRange(1, 9), show_default="3", help="How many fly.")
@click.option("--headless", is_flag=True, help="Print what happens, and answer the questions.")
@click.option("--keep", is_flag=True, help="Leave the scratch folder, and say where it is.")
@click.option(
    "--pictures",
    metavar="FOLDER",
    type=click.Path(path_type=Path, file_okay=False),
    help="Fly seven agents without a screen, and leave every screen there as SVG.",
)
def demo(agents: int | None, headless: bool, keep: bool, pictures: Path | None) -> int:
    """A whole flight, with no account and no network.

    The real Claude Code CLI in real panes; only the model is simulated.
    """
    from cockpit.cli.demo import demo as fly

    return fly(agents=agents, headless=headless, keep=keep, pictures=pictures)


@click.command(
    epilog="""\b
Example:
  cockpit usage ~/.claude/projects/*/*.jsonl --json"""
)
@everywhere
@click.argument("transcripts", nargs=-1, required=True, type=_TRANSCRIPT)
@click.option("--json", "as_json", is_flag=True, help="The fixed JSON form.")
def usage(transcripts: tuple[Path, ...], as_json: bool) -> int:
    """How full any transcript's context is, and its totals."""
    from cockpit.cli.usage import usage as read

    return read(list(transcripts), as_json)


@click.command(
    epilog="""\b
Example:
  cockpit facts session.jsonl --json"""
)
@everywhere
@click.argument("transcript", type=_TRANSCRIPT)
@click.option("--json", "as_json", is_flag=True, help="The fixed JSON form.")
def facts(transcript: Path, as_json: bool) -> int:
    """Goal, todos, files and commits of any transcript.

    No model is asked, and no supervisor is needed.
    """
    from cockpit.cli.facts import facts as read

    return read(transcript, as_json)


@click.command(
    epilog="""\b
Example:
  cockpit keys"""
)
@everywhere
def keys() -> int:
    """Every action of the screen, with its keys.

    The name of an action is what the [keys] table of cockpit.toml uses.
    """
    from cockpit.cli.keys import keys as tell
    from cockpit.cli.places import our_places
    from cockpit.config.read import load

    return tell(load(our_places(), asked().config, Path.cwd(), os.environ).settings.keys)
