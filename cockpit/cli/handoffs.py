"""`cockpit handoff`, `undo` and `continue`: move a job to another session."""

from __future__ import annotations

import os
import re
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from cockpit.cli.agent_names import agent_names
from cockpit.cli.options import common_options, with_common_options
from cockpit.core.errors import BadUsage, NoSuchAgent
from cockpit.core.safetext import safe_line
from cockpit.core.tool_names import SUCCESSORS

_ID = re.compile(r"[0-9a-f][0-9a-f-]{0,35}")


def successor_names(
    _context: click.Context, _parameter: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Complete the names of built-in CLIs that can take over a job."""
    return [CompletionItem(name) for name in SUCCESSORS if name.startswith(typed)]


@click.command(
    epilog="""\b
Examples:
  cockpit handoff api                  you review the document, unless in mode auto
  cockpit handoff                      inside an agent's pane: hand off this agent
  cockpit handoff api --to codex       continue in Codex
  cockpit handoff api --dry-run        show what would happen, and the facts
  cockpit handoff api --document notes.md"""
)
@with_common_options
@click.argument("name", required=False, envvar="COCKPIT_AGENT", shell_complete=agent_names)
@click.option(
    "--document",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Use this document instead of asking the agent for one.",
)
@click.option(
    "--now",
    is_flag=True,
    help="Interrupt the turn instead of waiting for its end. In modes prompt and observe you "
    "still review the document.",
)
@click.option(
    "--to",
    metavar="RUNTIME",
    shell_complete=successor_names,
    help="Continue the job in another CLI or runtime, never with more permissions. Asks you "
    "first if the CLI has no equal permission mode.",
)
@click.option("--model", metavar="NAME", help="Model of the new session.")
@click.option("--dry-run", is_flag=True, help="Show what would happen; change nothing.")
def handoff(
    name: str | None,
    document: Path | None,
    now: bool,
    to: str | None,
    model: str | None,
    dry_run: bool,
) -> int:
    """Hand off a job to a new session in the same worktree.

    The old session ends only after its document is on disk. Inside an agent's pane, NAME defaults
    to that agent (COCKPIT_AGENT).
    """
    from cockpit.cli.requests import ask, remote_host
    from cockpit.core.ids import agent_name
    from cockpit.wire.verbs import Handoff

    if name is None:
        raise BadUsage(
            "Missing argument NAME",
            "COCKPIT_AGENT is only set inside an agent's pane.",
            "Pass the agent's name: cockpit handoff NAME",
        )
    here = remote_host() is None
    if document is not None and not here:
        raise BadUsage(
            "--document is a file on this machine",
            f"{common_options().host} cannot read files of this machine.",
            f"Copy the file to {common_options().host} and run the command there.",
        )
    path = None if document is None else str(document.absolute())
    inside = here and os.environ.get("COCKPIT_AGENT") == name
    done = ask(
        Handoff(
            name=agent_name(name),
            document=path,
            now=now,
            to=to,
            model=model,
            dry_run=dry_run,
            by_agent=inside,
        )
    )
    if done.text:
        print(done.text)
    return 0


@click.command(
    epilog="""\b
Example:
  cockpit undo api"""
)
@with_common_options
@click.argument("name", shell_complete=agent_names)
def undo(name: str) -> int:
    """End the agent's session, and reopen the previous one.

    Cancels a handoff in progress. The ended session stays in the history.
    """
    from cockpit.cli.requests import ask
    from cockpit.core.ids import agent_name
    from cockpit.wire.verbs import Undo

    ask(Undo(name=agent_name(name)))
    return 0


@click.command(
    "continue",
    epilog="""\b
Examples:
  cockpit continue .cockpit/handoffs/handoff-2026-11-21-201500.md
  cockpit continue 5f0c0f0e            an id from `cockpit history`
  cockpit continue notes.md --name api-again --directory ../repository
  cockpit continue ~/.codex/sessions/2026/11/23/rollout-….jsonl --name api
  cockpit continue notes.md --name api --runtime gemini""",
)
@with_common_options
@click.argument("document", metavar="DOCUMENT")
@click.option(
    "--name",
    metavar="NAME",
    help="Name of the new agent; default: the agent in the document, else `continued`; with a "
    "number if taken.",
)
@click.option(
    "--directory",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Working directory of the new agent; default: the directory in the document.",
)
@click.option(
    "--runtime",
    metavar="NAME",
    help="The CLI of the new agent; default: the CLI of the transcript, else the configured CLI.",
)
def continue_(document: str, name: str | None, directory: Path | None, runtime: str | None) -> int:
    """Start an agent from a handoff document or transcript.

    DOCUMENT is a file, or the id of a handoff, or the id's first characters. Any file with the
    sections of a handoff document works. From a CLI's transcript, cockpit first writes a document,
    as `facts --document` does. Starts a new job; the old job's chain stays unchanged. Starts the
    supervisor if needed.
    """
    from cockpit.cli.lifecycle import local_context, remote_context
    from cockpit.cli.requests import ask, remote_host
    from cockpit.cli.supervisor_process import ensure_supervisor
    from cockpit.cli.transcript_handoff import document_from
    from cockpit.core.ids import agent_name
    from cockpit.wire.verbs import Continue

    here = remote_host() is None
    place = local_context(directory) if here else remote_context(directory)
    path = _document_path(document, here=here)
    if here:
        ensure_supervisor(common_options().config)
    wanted = {"name": None if name is None else agent_name(name), **place}
    config = common_options().config
    with document_from(path, here=here, config=config) as source:
        origin = {"document": str(source.document), "runtime": runtime or source.cli}
        ask(Continue.model_validate({**origin, **wanted}))
    return 0


def _document_path(document: str, *, here: bool) -> Path:
    """Return the file for a path or handoff id, or cockpit's copy if the file is missing.

    Paths on another machine are not checked. Raises `NoSuchAgent` if there is no such document or
    several ids match, and `BadUsage` for a relative path on another machine.
    """
    from cockpit.cli.requests import require_absolute_path, with_client
    from cockpit.cli.supervisor_process import ensure_supervisor

    path, shown = Path(document).absolute(), safe_line(document, 200)
    if path.exists() if here else Path(document).is_absolute():
        return path
    if not _ID.fullmatch(document):
        require_absolute_path(Path(document), "The document")
        raise NoSuchAgent(f"No such file: {shown}", "", "List files and ids: cockpit history")
    if here:
        ensure_supervisor(common_options().config)
    chains = with_client(lambda client: client.history(None))
    handoffs = [
        handoff for chain in chains for session in chain.sessions for handoff in session.handoffs
    ]
    matches = [handoff for handoff in handoffs if handoff.id.startswith(document)]
    paths = [
        Path(path) for handoff in matches for path in (handoff.document, handoff.own_copy) if path
    ]
    existing = [path for path in paths if not here or path.is_file()]
    if len(matches) == 1 and existing:
        return existing[0]
    why = (
        f"{len(matches)} handoff ids start with {shown}."
        if len(matches) > 1
        else f"No handoff id starts with {shown}."
    )
    raise NoSuchAgent(
        f"No such document: {shown}",
        "Both the file and cockpit's copy of it are missing." if len(matches) == 1 else why,
        "List files and ids: cockpit history",
    )
