"""Start a new agent from a handoff document: its name, its directory and its first prompt.

Any valid handoff document is accepted, even from another machine. The request's name and directory
take precedence over those in the front matter. A directory from the front matter must exist, and no
agent may work in it. The document itself is not changed. A document outside the agent's directory
is copied into that directory. Secrets are removed from the copy and from the first prompt.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path, PurePath
from uuid import uuid4

from cockpit.adapters.documents.checked_reads import read_chosen
from cockpit.adapters.files.foreign_files import is_file
from cockpit.config.same_paths import is_within, same_path
from cockpit.core import document
from cockpit.core.chain_memory import as_own, dropped, fold
from cockpit.core.document import Document
from cockpit.core.errors import BadUsage, CockpitError, NotNow
from cockpit.core.exclusion import exclusion
from cockpit.core.ids import AgentName, agent_name, suggested_name
from cockpit.core.markdown import plain
from cockpit.core.safetext import safe_line
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.chain_documents import documents_before
from cockpit.supervisor.agents.document_reads import read_document
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.agents.known_secrets import redactor_of
from cockpit.supervisor.agents.locks import PATIENCE, AgentLocks
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.inheritance import Inheritance, Predecessor
from cockpit.supervisor.sessions.refusals import refuse_if_alive, refuse_if_handing_off
from cockpit.supervisor.sessions.start import Starter
from cockpit.wire.verbs import Continue, Start

Join = Callable[[AgentName], Awaitable[Predecessor]]


class Continuation:
    """Starts an agent that continues from a handoff document (`Continue`)."""

    def __init__(
        self,
        dependencies: Dependencies,
        fleet: Fleet,
        locks: AgentLocks,
        starter: Starter,
    ) -> None:
        self._dependencies = dependencies
        self._fleet = fleet
        self._locks = locks
        self._starter = starter

    async def continue_from(self, asked: Continue, join: Join | None = None) -> Agent:
        """Start an agent that continues from the document.

        `join` stores the chain of a moved job before the agent starts, and returns the job and the
        session that the agent's session follows. Without `join`, the agent begins a new job.

        Raises `BadUsage` for a file that is not a handoff document or has no usable directory, and
        `NotNow` if the agent is running or another one works in the directory. After an error, a
        new agent without a session is removed again.
        """
        parts, named = self._dependencies, Path(asked.document)
        path = await read_document(parts, named, partial(self._place_of, named))
        text = await read_document(parts, path, partial(read_chosen, path))
        if problems := [problem.text for problem in document.validate(text) if not problem.mends]:
            raise BadUsage(
                f"{path} is not a handoff document",
                "\n".join(problems),
                hint="To list the documents of all jobs: cockpit history",
            )
        left = document.read(text)
        if asked.config:
            await self._fleet.reload(Path(asked.config), named=asked.named)
        name = self._name(asked.name, left)
        async with self._locks.hold(name, "being started", patience=PATIENCE):
            return await self._continue(asked, name, path, text, left, join)

    async def _continue(
        self,
        asked: Continue,
        name: AgentName,
        path: Path,
        text: str,
        left: Document,
        join: Join | None,
    ) -> Agent:
        """Start the agent with that name. The caller holds the agent's lock."""
        known = self._fleet.find(name)
        if known is not None and asked.name is None:
            raise NotNow(
                f"There is already an agent {name}",
                "Another command started the agent at the same time.",
                "Pass --name NAME, or try again: cockpit then picks a free name.",
            )
        if known is not None:
            refuse_if_alive(known)
            refuse_if_handing_off(known)
        directory = self._directory(asked, left)
        ordered = Start(name=name, directory=str(directory), runtime=asked.runtime)
        agent = self._starter.agent_for(name, ordered, in_place=True)
        agent.start.under_way = True  # from here on, other starts see that the directory is in use
        try:
            redactor = redactor_of(self._dependencies.environment, agent)
            clean = await asyncio.to_thread(lambda: redactor.redact(plain(text)).text)
            place = await self._copied_if_outside(agent, path, clean)
            left = document.read(as_own(clean))
            standing = await self._standing(path, left)
            inheritance = Inheritance(
                str(place),
                left.first_step,
                tuple(redactor.redact(statement).text for statement in standing),
                await join(name) if join is not None else None,
            )
            await self._starter.start(agent, left.goal or "", inheritance=inheritance)
            await self._withdraw_notice(path, agent)
        except (CockpitError, OSError):
            # With a session, its process may be running.
            if known is None and agent.record.session is None:
                self._fleet.forget(agent)
            raise
        finally:
            agent.start.under_way = False
        return agent

    async def _standing(self, path: Path, left: Document) -> list[str]:
        """Return the chain's decisions and constraints that still hold and are not in the document.

        Empty if the document's handoff is not stored.
        """
        named = self._dependencies.store.handoffs_named(str(path))
        if not named:
            return []
        session = self._dependencies.store.session(named[-1].old_session)
        if session is None:
            return []
        memory = fold(await documents_before(self._dependencies, session))
        agent = named[-1].agent
        return [
            f"{statement.text} ({statement.last.of(agent)})" for statement in dropped(memory, left)
        ]

    async def _withdraw_notice(self, path: Path, agent: Agent) -> None:
        """Remove the notice `HANDOFF_PENDING.md` if it names this document."""
        documents, folder = self._dependencies.documents, str(agent.settings.handoff.directory)
        steps = len(PurePath(folder).parts)
        worktree = path.parents[steps] if len(path.parents) > steps else path.parent

        def withdraw() -> None:
            if documents.waiting(worktree, folder) == path:
                documents.withdraw_notice(worktree, folder)

        with suppress(OSError):  # the session is running; a later handoff replaces the notice
            await asyncio.to_thread(withdraw)

    def _place_of(self, named: Path) -> Path:
        """Return the document's path, or the path of cockpit's copy if the document is missing."""
        if named.exists():
            return named
        records = self._dependencies.store.handoffs_named(str(named))
        copies = [Path(record.copy) for record in records if record.copy]
        return next((copy for copy in copies if is_file(copy)), named)

    def _directory(self, asked: Continue, left: Document) -> Path:
        """Return the requested directory, else the directory in the document's front matter.

        Raises if the directory is missing. Also raises if an agent works in the directory, unless
        the directory was requested.
        """
        if asked.directory is not None:
            if not (named := Path(asked.directory)).is_dir():
                raise BadUsage(
                    f"{named} is not a directory",
                    "",
                    "Create the directory, or choose another directory.",
                )
            return named
        place = Path(left.front.worktree) if left.front and left.front.worktree else None
        if place is None or not place.is_absolute() or not place.is_dir():
            raise BadUsage(
                "No directory for the new agent",
                _why_unusable(place),
                "Choose a directory: --directory DIR",
            )
        for agent in self._fleet:
            if agent.in_use and same_path(agent.directory, place):
                raise NotNow(
                    f"{agent.name} is already running in {place}",
                    "Two agents in one directory overwrite each other's work.",
                    f"Stop the agent: cockpit stop {agent.name}. Or choose another "
                    "directory: --directory DIR",
                )
        return place

    def _name(self, wanted: str | None, left: Document) -> AgentName:
        """Return the requested name; else the document's agent or `continued`, with a number
        if the name is taken.
        """
        if wanted is not None:
            return agent_name(wanted)
        stem = suggested_name(left.front.agent if left.front and left.front.agent else "continued")
        return self._fleet.free_name(stem)

    async def _copied_if_outside(self, agent: Agent, path: Path, text: str) -> Path:
        """Return the path of the document, or of its copy, in the agent's directory.

        A document outside that directory is copied into it, because the agent needs no permission
        to read files in its directory. `text` is the copy's text.
        """
        folder = str(agent.settings.handoff.directory)
        if (inside := _inside(path, agent.directory)) is not None:
            return inside
        parts = self._dependencies
        await parts.worktrees.keep_out(agent.directory, exclusion(PurePath(folder).parts))
        sealed = await asyncio.to_thread(
            parts.documents.seal, agent.directory, str(uuid4()), text, parts.clock.now(), folder
        )
        return sealed.path


def _why_unusable(place: Path | None) -> str:
    """Return a sentence that says why no agent can start in the directory of a front matter."""
    if place is None:
        return "The document does not contain a directory."
    shown = f"The document's directory {safe_line(str(place), 400)}"
    if not place.is_absolute():
        return f"{shown} is not an absolute path."
    return f"{shown} is not a directory on this machine."


def _inside(path: Path, directory: Path) -> Path | None:
    """Return the real path of a file inside the directory; None for a file outside."""
    real = path.resolve()
    return real if is_within(real, directory.resolve()) else None
