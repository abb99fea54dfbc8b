"""`cockpit handoff`, `undo` and `continue`: moving a job to another session."""

from __future__ import annotations

import os
import re
from pathlib import Path

import click

from cockpit.cli.agent_names import agent_names
from cockpit.cli.options import asked, everywhere
from cockpit.core.errors import BadUsage
from cockpit.core.safetext import safe_line

_ID = re.compile(r"[0-9a-f][0-9a-f-]{0,35}")


@click.command(
    epilog="""\b
Examples:
  cockpit handoff api                  ask for one; you review the document
  cockpit handoff                      inside an agent's pane: this agent
  cockpit handoff api --dry-run        what would be done, with which facts
  cockpit handoff api --document notes.md"""
)
@everywhere
@click.argument("name", required=False, envvar="COCKPIT_AGENT", shell_complete=agent_names)
@click.option(
    "--document",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A document that is already written.",
)
@click.option("--now", is_flag=True, help="Do not wait for the turn to end; the review stays.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
def handoff(name: str | None, document: Path | None, now: bool, dry_run: bool) -> int:
    """Move a job to a fresh session in the same worktree.

    Nothing is ended before the document is safely written. Inside an agent's pane the name
    comes from COCKPIT_AGENT.
    """
    from cockpit.cli.asking import ask, far_host
    from cockpit.core.ids import agent_name
    from cockpit.wire.verbs import Handoff

    if name is None:
        raise BadUsage(
            "Which agent?",
            "Outside an agent's pane COCKPIT_AGENT is not set.",
            "Name it: cockpit handoff NAME",
        )
    here = far_host() is None
    if document is not None and not here:
        raise BadUsage(
            "--document is a file of this machine",
            f"{asked().host} could not read it.",
            "Copy it there, and run the command there.",
        )
    path = None if document is None else str(document.absolute())
    inside = here and os.environ.get("COCKPIT_AGENT") == name
    done = ask(
        Handoff(name=agent_name(name), document=path, now=now, dry_run=dry_run, by_agent=inside)
    )
    if done.text:
        print(done.text)
    return 0


@click.command(
    epilog="""\b
Example:
  cockpit undo api"""
)
@everywhere
@click.argument("name", shell_complete=agent_names)
def undo(name: str) -> int:
    """Reopen the session that the last handoff ended."""
    from cockpit.cli.asking import ask
    from cockpit.core.ids import agent_name
    from cockpit.wire.verbs import Undo

    ask(Undo(name=agent_name(name)))
    return 0


@click.command(
    "continue",
    epilog="""\b
Examples:
  cockpit continue .cockpit/handoffs/handoff-2026-11-21-201500.md
  cockpit continue 5f0c0f0e            what `cockpit history` names so
  cockpit continue notes.md --name api-again --directory ../repository""",
)
@everywhere
@click.argument("document", metavar="DOCUMENT")
@click.option(
    "--name", metavar="NAME", help="What the new agent is called; else as the document's agent."
)
@click.option(
    "--directory",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Where it works; else where the document was left.",
)
def continue_(document: str, name: str | None, directory: Path | None) -> int:
    """Start a new agent from a handoff document.

    DOCUMENT is a file, or the id of a handoff or its beginning. Any document with the sections
    of one will do. It is a new job; the old chain stays as it is.
    """
    from cockpit.cli.asking import ask, far_host
    from cockpit.cli.lifecycle import place_here, place_there
    from cockpit.core.ids import agent_name
    from cockpit.wire.verbs import Continue

    here = far_host() is None
    place = place_here(directory) if here else place_there(directory)
    wanted = {
        "document": str(_place_of(document, here=here)),
        "name": None if name is None else agent_name(name),
        **place,
    }
    ask(Continue.model_validate(wanted))
    return 0


def _place_of(document: str, *, here: bool) -> Path:
    """The file that is meant; of an id, the document where it lies, else cockpit's own copy.

    Files of another machine are not looked for. Raises `BadUsage` with what would do.
    """
    from cockpit.cli.asking import with_client

    path, shown = Path(document).absolute(), safe_line(document, 200)
    if path.exists() if here else Path(document).is_absolute():
        return path
    if not _ID.fullmatch(document):
        raise BadUsage(f"There is no file {shown}", "", "Files and ids: cockpit history")
    chains = with_client(lambda client: client.history(None))
    handoffs = [each for chain in chains for one in chain["sessions"] for each in one["handoffs"]]
    found = [each for each in handoffs if str(each["id"]).startswith(document)]
    places = [Path(place) for each in found for place in (each["document"], each["copy"]) if place]
    there = [place for place in places if not here or place.is_file()]
    if len(found) == 1 and there:
        return there[0]
    why = f"{len(found)} handoffs begin with it." if len(found) > 1 else "No handoff has that id."
    raise BadUsage(
        f"There is no document {shown}",
        "Neither its file nor our copy is there." if len(found) == 1 else why,
        "Files and ids: cockpit history",
    )
