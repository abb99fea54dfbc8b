"""`cockpit adopt`: take over, watch or document a session that cockpit did not start."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from cockpit.cli.options import common_options, with_common_options
from cockpit.core.errors import BadUsage, NoSuchAgent, NotNow
from cockpit.core.safetext import quoted, safe_line

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def _session_ids(
    _: click.Context, __: click.Parameter, incomplete: str
) -> list[str | CompletionItem]:
    """Complete the ids of sessions that cockpit did not start.

    Completes nothing if no supervisor is reachable, or if the supervisor does not list such
    sessions.
    """
    from cockpit.cli.places import our_places
    from cockpit.cli.status import other_sessions
    from cockpit.core.errors import CockpitError

    try:
        sessions = other_sessions(our_places().socket) or []
    except (CockpitError, OSError, ValueError):
        return []
    ids = (safe_line(str(session["session_id"])) for session in sessions)
    return [ident for ident in ids if ident.startswith(incomplete)]


@click.command(
    epilog="""\b
Examples:
  cockpit status --elsewhere     list the sessions
  cockpit adopt 0b6e6c1e         the first characters of the id are enough
  cockpit adopt 0b6e6c1e --name fix-login --yes
  cockpit adopt 0b6e6c1e --watch         only notify you when the context fills up
  cockpit adopt 0b6e6c1e --unwatch
  cockpit adopt 0b6e6c1e --document      write the document and print its path

\b
With --watch the session keeps running in its terminal. cockpit notifies you once when the session's
context passes the act threshold of [defaults], and again only after a compaction or /clear. The
watch survives a restart of the supervisor, and ends with the session's process.

\b
With --document a copy of the session writes the document, and cockpit saves the document in the
handoff folder of the session's directory. The copy cannot change files, runs no hooks and no MCP
servers of the repository, and costs one request with the whole context. The session keeps running.

\b
The reopened session gets the environment and options that cockpit gives its agents, not those
of its old terminal."""
)
@with_common_options
@click.argument("session", metavar="SESSION", shell_complete=_session_ids)
@click.option(
    "--name",
    metavar="NAME",
    help="Name of the agent; default: the name of the session's directory, with a number if taken.",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option(
    "--watch", is_flag=True, help="Watch the session; notify you when its context fills up."
)
@click.option("--unwatch", is_flag=True, help="Stop watching the session.")
@click.option(
    "--document",
    is_flag=True,
    help="Write a handoff document from a copy of the session. Costs one model request.",
)
def adopt(
    session: str, name: str | None, yes: bool, watch: bool, unwatch: bool, document: bool
) -> int:
    """Adopt a session that cockpit did not start.

    Ends the session's process, and reopens the session as a new agent in the same directory, with
    its whole conversation. Asks first.

    --watch, --unwatch and --document leave the session as it is, and do not ask. You can combine
    --document with --watch or --unwatch.
    """
    from cockpit.cli.requests import ask, remote_host, supervisor_address
    from cockpit.cli.status import other_sessions
    from cockpit.cli.supervisor_process import ensure_supervisor
    from cockpit.core.ids import agent_name
    from cockpit.wire.verbs import Adopt

    if not session:
        raise BadUsage(
            "SESSION is empty",
            hint="Pass an id, or its first characters, from: cockpit status --elsewhere",
        )
    if watch and unwatch:
        raise BadUsage(
            "--watch cannot be used with --unwatch", "", "Usage: cockpit adopt SESSION --watch"
        )
    asked = {"watch": watch, "unwatch": unwatch, "document": document}
    actions = [action for action, is_asked in asked.items() if is_asked]
    if actions and (name is not None or yes):
        raise BadUsage(
            f"--{actions[0]} cannot be used with {'--name' if name is not None else '--yes'}",
            "cockpit asks and names an agent only when it adopts a session.",
            f"Usage: cockpit adopt SESSION --{actions[0]}",
        )
    wanted = agent_name(name) if name is not None else None
    if remote_host() is None:
        ensure_supervisor(common_options().config)
    sessions = other_sessions(supervisor_address())
    if sessions is None:
        # The supervisor refuses this request and gives the reason: an agent asked, or `[elsewhere]
        # show` is off. No process has pid 0, so a session that was not shown cannot be adopted.
        if not actions:
            ask(Adopt(session=session, pid=0, name=wanted))
        for action in actions:
            _ask_only(action, session, 0)
        return 0
    chosen = _chosen(sessions, session)
    for action in actions:
        _ask_only(action, chosen["session_id"], chosen["pid"])
    if actions:
        return 0
    if not yes:
        _ask(chosen, wanted)
    ask(Adopt(session=chosen["session_id"], pid=chosen["pid"], name=wanted))
    return 0


def _ask_only(action: str, session: str, pid: int) -> None:
    """Send the request for `--watch`, `--unwatch` or `--document`; the session keeps running.

    For `--document`, prints the document's path.
    """
    from cockpit.cli.requests import ask
    from cockpit.wire.verbs import DocumentSession, WatchSession

    if action == "document":
        print(ask(DocumentSession(session=session, pid=pid)).document)
    else:
        ask(WatchSession(session=session, pid=pid, stop=action == "unwatch"))


def _chosen(sessions: list[dict[str, Any]], typed: str) -> dict[str, Any]:
    """Return the only session whose id starts with `typed`, ignoring case.

    Raises `NoSuchAgent` for no match, and `BadUsage` for several matches.
    """
    matches = [
        session for session in sessions if session["session_id"].lower().startswith(typed.lower())
    ]
    if len(matches) == 1:
        return matches[0]
    kind, problem = (
        (BadUsage, "Several session ids start")
        if matches
        else (NoSuchAgent, "No session elsewhere has an id that starts")
    )
    raise kind(
        f"{problem} with {quoted(typed, 80)}",
        "\n".join(safe_line(session["session_id"]) for session in matches),
        "List the sessions: cockpit status --elsewhere",
    )


def _ask(chosen: dict[str, Any], name: str | None) -> None:
    """Print what adopting does, and ask. Raises `NotNow` unless the user agrees."""
    from cockpit.cli.elsewhere import state
    from cockpit.cli.output import say
    from cockpit.core.short_ids import short_session_id

    if not sys.stdin.isatty():
        raise NotNow("Cannot ask without a terminal", "Nothing was changed.", "Add --yes.")
    say(
        f"Session {short_session_id(chosen['session_id'])} ({state(chosen)}) in "
        f"{safe_line(chosen['directory'], 400)}:"
    )
    say(f"  1. Process {chosen['pid']} gets SIGTERM, and saves the session.")
    if chosen["status"] == "unknown":
        say("     If a turn is running, it will be interrupted.")
    elif chosen["status"] != "idle":
        say("     The session is busy: its current turn will be interrupted.")
    say(
        f"  2. The session is reopened as {f'agent {name}' if name else 'a new agent'} "
        "in one of cockpit's panes, in the same directory."
    )
    if not click.confirm("Adopt the session?", default=False, err=True):
        raise NotNow("Cancelled", "Nothing was changed.", hint="To skip the question: --yes")
