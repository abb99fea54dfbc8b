"""Check whether a session that cockpit did not start could be reopened as an agent.

Fast enough for lists: starts no process, and reads at most the first line of a transcript.
"""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path

from cockpit.core.errors import BadUsage, NotNow
from cockpit.core.ids import suggested_name
from cockpit.core.safetext import quoted, safe_line
from cockpit.ports.live_sessions import LiveSession
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.dependencies import Dependencies

READ_SECONDS = 5.0


async def check_adoptable(dependencies: Dependencies, fleet: Fleet, session: LiveSession) -> None:
    """Raise `NotNow` or `BadUsage` if the session cannot be adopted.

    Raises `NoAnswer` if the file system of the session's directory or transcript does not answer.
    """
    if session.obstacle is not None:
        raise NotNow(
            f"Process {session.pid} cannot be ended for session {session.id}",
            session.obstacle.reason,
            f"{session.obstacle.remedy}. Then: {start_command(session)}",
        )
    if session.kind not in ("", "interactive"):
        raise NotNow(
            f"Session {session.id} is not in a terminal",
            f"The CLI runs the session as {quoted(session.kind, 40)}, and may restart the session.",
            f"End the session where it was started, then: {start_command(session)}",
        )
    held = dependencies.store.session(session.id)
    if held is not None and (owner := fleet.find(held.agent)) is not None:
        stop = f" stop {held.agent}: cockpit stop {held.agent}. Then" if owner.in_use else ""
        raise NotNow(
            f"The session belongs to {held.agent}",
            f"Session {held.number} of {held.agent}'s job was opened outside cockpit.",
            f"End the session's process, then{stop}: cockpit start {held.agent} --resume "
            f"{session.id}",
        )
    slow, live = dependencies.slow, dependencies.live_sessions
    await slow.ask(("elsewhere", session.id), partial(live.check_reopenable, session), READ_SECONDS)
    if not await slow.ask(session.directory, session.directory.is_dir, READ_SECONDS):
        raise BadUsage(
            f"{shown_directory(session)} is not a directory",
            "The session was started in this directory.",
            hint="Create the directory again, then adopt the session.",
        )


def start_command(session: LiveSession) -> str:
    """Return the command that reopens the session as an agent, after its process has ended."""
    directory = shown_directory(session)
    arguments = ["cockpit", "start", suggested_name(Path(directory).name), "--directory", directory]
    if session.runtime != "claude":
        arguments += ["--runtime", session.runtime]
    return shlex.join([*arguments, "--resume", session.id])


def shown_directory(session: LiveSession) -> str:
    return safe_line(str(session.directory), 4096)
