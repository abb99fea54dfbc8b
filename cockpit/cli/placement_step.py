"""The step `place` of `cockpit move-step`: report whether an agent can start on this machine.

Also reports how busy the machine is. Changes nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cockpit import __version__
from cockpit.adapters.git.worktrees import Git
from cockpit.adapters.process import free_resources
from cockpit.cli.places import our_places
from cockpit.client.http import HttpClient
from cockpit.core.errors import CockpitError, NoSupervisor
from cockpit.core.ids import AgentName, agent_name
from cockpit.core.safetext import safe_line
from cockpit.wire.verbs import Plan

MOST_ROOTS = 20


async def place(git: Git, request: dict[str, Any]) -> dict[str, Any]:
    """Return whether an agent can start on this machine, and how busy the machine is.

    `request`: `plan`, the fields of `Start`; `directory`; `needs_repository`; `roots`, the
    repository's root commits. The directory's repository must have at least one of these commits.
    """
    plan = Plan.model_validate(request["plan"])
    problem = await _directory_problem(
        git,
        Path(request["directory"]),
        needed=bool(request["needs_repository"]),
        roots=[str(root) for root in request["roots"]],
    )
    return {
        "version": __version__,
        "cores": free_resources.cores(),
        "load": free_resources.load(),
        "free_memory": free_resources.free_memory(),
        "directory": problem,
        **await _supervisor(plan, agent_name(plan.name), fits=not problem),
    }


async def needed_repository(git: Git, directory: Path) -> tuple[bool, list[str]]:
    """Return whether the directory is in a git repository, and the repository's root commits.

    At most `MOST_ROOTS` commits; none if they are unknown.
    """
    if not directory.is_dir():  # noqa: ASYNC240 - nothing else runs in this event loop
        return False, []
    facts = await git.facts(directory)
    if facts.root is None or facts.head is None:
        return facts.root is not None, []
    answer = await git.command.run(directory, "rev-list", "--max-parents=0", "HEAD", deadline=60.0)
    return True, answer.output.decode("ascii", "replace").split()[:MOST_ROOTS] if answer.ok else []


async def _directory_problem(git: Git, directory: Path, *, needed: bool, roots: list[str]) -> str:
    """Return why the agent cannot work in the directory; empty if it can."""
    shown = safe_line(str(directory), 400)
    is_there = directory.is_dir()  # noqa: ASYNC240 - nothing else runs in this event loop
    if not needed:
        return "" if is_there else f"no directory {shown}"
    facts = await git.facts(directory) if is_there else None
    if facts is None or facts.root is None:
        return f"no repository at {shown}"
    if not roots or any([await git.known(directory, root) for root in roots]):
        return ""
    return f"{shown} is another repository"


async def _supervisor(plan: Plan, name: AgentName, *, fits: bool) -> dict[str, Any]:
    """Return the number of running agents, and whether the supervisor can start the agent `name`.

    If that agent was started before, returns its state. Otherwise, if the directory `fits`, returns
    the error with which the supervisor would refuse the start, if any. If no supervisor answers,
    returns only the reason for that.
    """
    client = HttpClient(our_places().socket)
    try:
        rows = (await client.status()).agents
    except NoSupervisor as error:
        return {"supervisor": False, "why": safe_line(error.title, 300)}
    own = next((row for row in rows if row.name == name and row.session_id is not None), None)
    state: dict[str, Any] = {
        "supervisor": True,
        "running": sum(row.pid is not None for row in rows),
        "agent": own.state if own is not None else None,
    }
    if own is None and fits:
        try:
            await client.ask(plan)
        except CockpitError as error:
            state |= {"error": {"title": error.title, "hint": error.hint}}
    return state
