"""Describe the result of a start: directory and branch, or the error. Changes nothing.

The start form shows this description, so that the form and a start cannot differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from cockpit.config.loaded import COMMAND_HINT
from cockpit.config.project import folder_in_worktree
from cockpit.config.schema import AgentSettings
from cockpit.core.errors import BadUsage
from cockpit.core.ids import agent_name
from cockpit.ports.worktrees import GitFacts
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.commit_note import commit_note
from cockpit.supervisor.sessions.location import (
    DIRECTORY_SECONDS,
    Place,
    find_place,
    refuse_git_folder,
)
from cockpit.supervisor.sessions.neighbours import Neighbours
from cockpit.supervisor.sessions.refusals import refuse_if_alive
from cockpit.supervisor.sessions.start import Starter
from cockpit.supervisor.sessions.waiting_document import offer_text, waiting_document
from cockpit.wire.verbs import Done, Plan


class Planner:
    """Describes what a start would do, without starting anything (`Plan`)."""

    def __init__(
        self,
        dependencies: Dependencies,
        fleet: Fleet,
        starter: Starter,
        neighbours: Neighbours,
    ) -> None:
        self._dependencies = dependencies
        self._fleet = fleet
        self._starter = starter
        self._neighbours = neighbours

    async def plan(self, asked: Plan) -> Done:
        """Describe the result of `Start` with the same arguments.

        Raises the errors of `Start` that can be found without changing anything.
        """
        name = agent_name(asked.name)
        if (agent := self._fleet.find(name)) is not None:
            refuse_if_alive(agent)
        settings, file = self._starter.settings.combined(name, asked)
        _refuse_runtime(settings)
        slow, directory = self._dependencies.slow, settings.directory
        if not await slow.ask(directory, directory.is_dir, DIRECTORY_SECONDS):
            raise BadUsage(f"{directory} is not a directory", "", "Choose another directory.")
        refuse = partial(refuse_git_folder, settings, directory)
        await slow.ask(directory, refuse, DIRECTORY_SECONDS)
        worktrees = self._dependencies.worktrees
        place = await find_place(worktrees, slow, settings, None)
        facts = await worktrees.facts(settings.directory)
        works_in = directory
        if place:
            await self._neighbours.refuse_nesting(name, place.root)
            inner = partial(folder_in_worktree, place.target, directory)
            works_in = await slow.ask(directory, inner, DIRECTORY_SECONDS)
            exists = await worktrees.foresee(place.root, place.target, place.branch, place.base)
            where = _worktree_text(place, branch_exists=exists)
        else:
            where = _directory_text(settings, facts)
        await self._neighbours.refuse_taken(name, works_in, own=place is not None)
        sentences = [f"{name} starts {'as configured' if file else 'as a new agent'} {where}"]
        if facts.root is None and place is None:
            sentences.append("No git repository: cockpit cannot verify handoff documents.")
        if names := [other.name for other in await self._neighbours.at(name, works_in)]:
            sentences.append(f"{neighbours_text(names)}: their edits may conflict.")
        await self._starter.check_program(settings)
        in_git = facts.root is not None or place is not None
        if in_git and (note := commit_note(self._dependencies, settings)):
            sentences.append(f"{note}.")
        waiting = await waiting_document(self._dependencies, works_in, settings)
        sentences += [f"But {offer_text(waiting)}"] if waiting else []
        return Done(message=" ".join(sentences), name=name)


def _refuse_runtime(settings: AgentSettings) -> None:
    if settings.runtime == "command" and not settings.command:
        raise BadUsage('runtime "command" needs a command', "", COMMAND_HINT)


def _worktree_text(place: Place, *, branch_exists: bool) -> str:
    """Return the text about the worktree of a start."""
    if place.left:
        return f"in the worktree {place.target} again, on branch {place.branch}."
    base = f" from {place.base}" if place.base else ""
    base = ", which already exists" if branch_exists else base
    return f"in a new worktree {place.target} on branch {place.branch}{base}."


def _directory_text(settings: AgentSettings, facts: GitFacts) -> str:
    branch = f" on branch {facts.branch}" if facts.branch else ""
    return f"in {settings.directory}{branch}."


def neighbours_text(names: Sequence[str]) -> str:
    """Return a clause that says which agents work in the same directory; `names` is not empty."""
    return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} running there too"
