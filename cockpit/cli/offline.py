"""Commands that need no supervisor: the demo, transcripts, redaction and keys."""

from __future__ import annotations

import os
from pathlib import Path

import click

from cockpit.cli.options import common_options, with_common_options

_TRANSCRIPT = click.Path(path_type=Path)


@click.command(
    epilog="""\b
Examples:
  cockpit demo                    three agents, on the screen
  cockpit demo --headless         without a screen; exit 0 when all jobs are done
  cockpit demo --runtime mixed    Claude Code, Codex and Gemini CLI, if all are installed
  cockpit demo --pictures docs    save the pictures of the screens, as in the README"""
)
@with_common_options
@click.option(
    "--agents", metavar="N", type=click.IntRange(1, 9), help="Number of agents, 1 to 9; default: 3."
)
@click.option(
    "--headless", is_flag=True, help="Run without a screen: print events and approve handoffs."
)
@click.option("--keep", is_flag=True, help="Keep the temporary folder, and print its path.")
@click.option(
    "--pictures",
    metavar="FOLDER",
    type=click.Path(path_type=Path, file_okay=False),
    help="Run seven agents without showing a screen, and save pictures of the main screens as SVG.",
)
@click.option(
    "--runtime",
    type=click.Choice(["claude", "codex", "gemini", "mixed"]),
    default="claude",
    show_default=True,
    help="The CLI that the agents run; mixed: all three. Install Codex and Gemini CLI yourself.",
)
def demo(
    agents: int | None, headless: bool, keep: bool, pictures: Path | None, runtime: str
) -> int:
    """Try cockpit with no account and no network.

    Runs the real CLIs in real panes; only the model is simulated. Without Claude Code, a script
    takes its place.
    """
    from cockpit.cli.demo import demo as run

    return run(agents=agents, headless=headless, keep=keep, pictures=pictures, runtime=runtime)


@click.command(
    epilog="""\b
Example:
  cockpit usage ~/.claude/projects/*/*.jsonl --json"""
)
@with_common_options
@click.argument("transcripts", metavar="TRANSCRIPT...", nargs=-1, required=True, type=_TRANSCRIPT)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def usage(transcripts: tuple[Path, ...], as_json: bool) -> int:
    """Show each transcript's context use and token totals."""
    from cockpit.cli.usage import usage as read

    return read(list(transcripts), as_json)


@click.command(
    epilog="""\b
Examples:
  cockpit facts session.jsonl --json
  cockpit facts session.jsonl --document > handoff.md"""
)
@with_common_options
@click.argument("transcript", type=_TRANSCRIPT)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--document", is_flag=True, help="Print the handoff document made from the facts.")
def facts(transcript: Path, as_json: bool, document: bool) -> int:
    """Show a transcript's goal, todos, files and commits.

    Uses no model and needs no supervisor.
    """
    if document and as_json:
        raise click.UsageError("--document and --json cannot be combined.")
    if document:
        from cockpit.cli.facts_document import print_document

        return print_document(transcript, common_options().config)
    from cockpit.cli.facts import facts as read

    return read(transcript, as_json)


@click.command(
    epilog="""\b
Examples:
  cockpit redact < session.log > clean.log
  git diff --cached | cockpit redact --check    exit 1 if there is a secret
  cockpit redact --kinds                        list the kinds of secrets"""
)
@with_common_options
@click.option(
    "--check",
    is_flag=True,
    help="Only print the line number and kind of each secret; exit 1 if there are any.",
)
@click.option("--kinds", is_flag=True, help="List the kinds of secrets that cockpit recognises.")
def redact(check: bool, kinds: bool) -> int:
    """Copy stdin to stdout without secrets.

    Uses the same filter as handoff documents and messages. Also removes the values of secret
    environment variables. Sends nothing over the network.
    """
    from cockpit.cli import redact as filtering

    return filtering.kinds() if kinds else filtering.redact(os.environ, check=check)


@click.command(
    epilog="""\b
Example:
  cockpit keys"""
)
@with_common_options
def keys() -> int:
    """List every action of the screen with its keys.

    The [keys] table of cockpit.toml maps the action ids to other keys.
    """
    from cockpit.cli.keys import keys as print_keys
    from cockpit.cli.places import our_places
    from cockpit.config.read import load

    settings = load(our_places(), common_options().config, Path.cwd(), os.environ).settings
    return print_keys(settings.keys)
