"""What a start would do, told beforehand: where, on which branch, and why not. Changes nothing.

The program is not probed: this is asked while a pilot types.
"""

from __future__ import annotations

from collections.abc import Sequence

from cockpit.config.checks import NOT_FLOWN
from cockpit.config.schema import AgentSettings
from cockpit.core.errors import BadUsage, NotNow
from cockpit.core.ids import AgentName, agent_name
from cockpit.ports.worktrees import GitFacts
from cockpit.supervisor.placing import Place, place_of, same_place
from cockpit.supervisor.sessions import refuse_if_alive
from cockpit.supervisor.starting import settings_for
from cockpit.supervisor.supervisor import Supervisor
from cockpit.wire.verbs import Done, Plan


async def plan(supervisor: Supervisor, asked: Plan) -> Done:
    """Say in a sentence or two what `Start` would do with the same words, or refuse as it would."""
    name = agent_name(asked.name)
    if (seat := supervisor.fleet.find(name)) is not None:
        refuse_if_alive(seat)
    settings, file = settings_for(supervisor, name, asked)
    _refuse_runtime(settings)
    if not settings.directory.is_dir():
        raise BadUsage(f"{settings.directory} is not a directory", "", "Name another one.")
    worktrees = supervisor.instruments.worktrees
    place = await place_of(worktrees, settings, None)
    found = await worktrees.facts(settings.directory)
    if place:
        there = await worktrees.foresee(place.root, place.target, place.branch, place.base)
        words = _place_words(place, there)
    else:
        words = _directory_words(settings, found)
    told = [f"{name} starts {'as configured' if file else 'as a new agent'} {words}"]
    if found.root is None and place is None:
        told.append("No git there: nothing of a handoff's document can be checked.")
    told += _company(supervisor, name, settings, place)
    return Done(message=" ".join(told), name=name)


def _refuse_runtime(settings: AgentSettings) -> None:
    if settings.runtime in NOT_FLOWN:
        raise NotNow(
            f'runtime "{settings.runtime}" is not flown yet by this version',
            "",
            "Choose claude, or command in cockpit.toml.",
        )
    if settings.runtime == "command" and not settings.command:
        raise BadUsage('runtime "command" needs a command', "", "Write it in cockpit.toml.")


def _place_words(place: Place, there: bool) -> str:
    """`there`: its branch is."""
    if place.left:
        return f"in the worktree {place.target} again, on branch {place.branch}."
    base = f" from {place.base}" if place.base else ""
    base = ", which is there already" if there else base
    return f"in a new worktree {place.target} on branch {place.branch}{base}."


def _directory_words(settings: AgentSettings, found: GitFacts) -> str:
    branch = f" on branch {found.branch}" if found.branch else ""
    return f"in {settings.directory}{branch}."


def _company(
    supervisor: Supervisor, name: AgentName, settings: AgentSettings, place: Place | None
) -> list[str]:
    where = place.target if place else settings.directory
    there = [
        other.name
        for other in supervisor.fleet
        if other.name != name and other.alive and same_place(other.directory, where)
    ]
    return [f"{company_words(there)}: their edits may meet."] if there else []


def company_words(names: Sequence[str]) -> str:
    """That these agents are in the same place; at least one."""
    return f"{', '.join(names)} {'works' if len(names) == 1 else 'work'} there too"
