"""The tools that cockpit offers to an agent's model. The supervisor answers each call.

The supervisor identifies the agent by the process at the other end of the connection, so no tool
needs an agent's name. The texts are for a model, which cannot run `cockpit up` or answer questions
for the user.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from cockpit.adapters.files.main_checkout import main_checkout
from cockpit.client.http import HttpClient
from cockpit.core.errors import CockpitError, NoSuchAgent, NoSupervisor, NotNow
from cockpit.core.safetext import safe_line
from cockpit.core.tool_names import SUCCESSORS
from cockpit.ports.agent_tools import Argument, Resource, Tool
from cockpit.wire.history import HistoryChain, HistoryHandoff, HistorySession
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Handoff

INSTRUCTIONS = (
    "This session runs under cockpit, which hands the job to a new session before the context is "
    "full. These tools show how full the context is, hand the job off, and read the documents that "
    "earlier sessions of the job left. For a handoff that cockpit asks you for, you need no tool."
)
SCHEME = "cockpit://handoff/"
MOST_FOUND = 20
MOST_SUBAGENTS = 50
MOST_RESOURCES = 100
LONGEST_SEARCH = 1_000
"""Maximum characters of a search. A longer search is refused, because the supervisor would ignore
the rest."""
LONGEST_DOCUMENT = 80_000
"""Maximum characters of a document in one answer; about 20,000 tokens."""

TOOLS = (
    Tool(
        "handoff_request",
        "Ask cockpit to hand this job to a new session. cockpit then asks you for the document.",
        (
            Argument(
                "to",
                f"The runtime of the new session, if it should change: {', '.join(SUCCESSORS)}, or "
                "a runtime that the user has configured.",
            ),
            Argument(
                "model",
                "The model of the new session; default: the current model, or the configured model "
                "of another runtime.",
            ),
        ),
        changes=True,
    ),
    Tool(
        "handoff_created",
        "Hand this job to a new session with a handoff document that you have already written.",
        (Argument("path", "The document's file, in this agent's directory.", required=True),),
        changes=True,
    ),
    Tool("handoff_status", "Show whether a handoff is in progress, and what you must do next."),
    Tool(
        "context_status",
        "Show how full this session's context is, and about how many replies are left until "
        "cockpit acts or the CLI compacts.",
    ),
    Tool(
        "get_subagent_status",
        "List the subagents of this session and of the previous session, with the last known state "
        "of each.",
        (Argument("id", "List only the subagent with this id."),),
    ),
    Tool(
        "read_handoff",
        "Read the document that this session started from, or another handoff document.",
        (Argument("id", "The id or path of a handoff document; see search_history."),),
    ),
    Tool(
        "search_history",
        "Find handoff documents in this repository that contain all of these words.",
        (Argument("words", "Words, in any order.", required=True, longest=LONGEST_SEARCH),),
    ),
)

NEXT: Mapping[str, str] = {
    "asked": "cockpit asks the user whether to hand off. Continue your work.",
    "waiting": "cockpit asks you for the document: with this answer, after your next tool call, or "
    "at the end of your turn. Finish the current step, start nothing new, and end your turn.",
    "documenting": "Write the document to the path that cockpit named, then end your turn.",
    "review": "The user reviews the document. Start nothing new, and end your turn.",
    "moving": "The job moves to another machine. Start nothing new, and end your turn.",
    "stopping": "The job moves to a new session. End your turn.",
    "starting": "The job moves to a new session. End your turn.",
    "confirming": "A new session has begun. If you are that session, continue with Next Steps in "
    "the document.",
}
"""What the agent must do in each phase of a handoff."""
NO_HANDOFF = "No handoff is in progress. Continue your work."
SUBAGENTS_END = (
    "Subagents end with their session. Unfinished work of a subagent of the previous session is "
    "lost. Start the subagent again if you still need the result."
)

Answer = Mapping[str, Any] | str


class OwnTools:
    """The tools and documents of the agent in which this process runs."""

    instructions = INSTRUCTIONS
    tools: Sequence[Tool] = TOOLS

    def __init__(self, client: HttpClient) -> None:
        self._client = client
        self.calls: Mapping[str, Callable[..., Awaitable[Answer]]] = {
            "handoff_request": self._request,
            "handoff_created": self._created,
            "handoff_status": self._handoff_status,
            "context_status": self._context_status,
            "get_subagent_status": self._subagents,
            "read_handoff": self._read_handoff,
            "search_history": self._search,
        }

    async def call(self, name: str, arguments: Mapping[str, str]) -> Answer:
        async with _for_a_model():
            return await self.calls[name](**arguments)

    async def resources(self) -> list[Resource]:
        """Return the newest `MOST_RESOURCES` documents of the agent's job, oldest first."""
        async with _for_a_model():
            return [
                Resource(
                    uri=f"{SCHEME}{handoff.id}",
                    name=Path(handoff.document or "").name,
                    description=f"Session {session.number}, {handoff.created}, "
                    f"{(handoff.outcome or 'open').replace('_', ' ')}",
                )
                for session, handoff in (await self._of_job())[-MOST_RESOURCES:]
            ]

    async def read(self, uri: str) -> str:
        async with _for_a_model():
            known = {f"{SCHEME}{handoff.id}": handoff.id for _, handoff in await self._of_job()}
            if uri not in known:
                raise NoSuchAgent(
                    f"This job has no document {safe_line(uri, 200)}",
                    "These resources are only the documents of this agent's job.",
                    hint="To find and read a document of another job: search_history, read_handoff",
                )
            return _cut(await self._client.document(known[uri]))

    # Handoffs

    async def _request(self, to: str | None = None, model: str | None = None) -> Answer:
        asked = Handoff(name=await self._name(), to=to, model=model, by_agent=True)
        done = await self._client.ask(asked)
        return {"message": done.message, **_handoff(await self._row())}

    async def _created(self, path: str) -> Answer:
        row = await self._row()
        document = Path(row.directory, path)
        asked = Handoff(name=row.name, document=str(document), by_agent=True)
        done = await self._client.ask(asked)
        return {"message": done.message, **_handoff(await self._row())}

    async def _handoff_status(self) -> Answer:
        row = await self._row()
        counts = {"mode": row.mode, "handoffs": row.handoffs, "max_handoffs": row.max_handoffs}
        return {**_handoff(row), "session_number": row.session_number, **counts}

    # The session

    async def _context_status(self) -> Answer:
        row = await self._row()
        context = row.context
        return {
            "tokens": context.tokens,
            "window": context.window,
            "used": context.used,
            "band": context.band,
            "marks": context.marks.model_dump(),
            "compacts_at": context.compacts_at,
            "tokens_per_turn": context.tokens_per_turn,
            "turns_left": context.turns_left,
            "confidence": context.confidence,
            "age_seconds": context.age_seconds,
            "compactions": row.compactions,
            "strategy": row.strategy,
        }

    async def _subagents(self, id: str | None = None) -> Answer:  # noqa: A002 - the tool's argument
        row = await self._row()
        now = _only(_of(await self._client.facts(row.name)), id)
        before, unknown = [], None
        if row.previous_session_id is not None:
            try:
                past = await self._client.facts(row.name, row.previous_session_id)
                before = _only(_of(past), id)
            except NoSupervisor:
                raise
            except CockpitError as error:
                unknown = (
                    f"{error.title}. See Background Work in the previous session's document "
                    "(tool read_handoff)."
                )
        if id is not None and not now and not before and unknown is None:
            raise NoSuchAgent(
                f"There is no subagent {safe_line(id, 80)!r}",
                "Neither this session nor the previous session started a subagent with this id.",
                "List all subagents: get_subagent_status without an id.",
            )
        return {
            "this_session": now[-MOST_SUBAGENTS:],
            "session_before": before[-MOST_SUBAGENTS:] if unknown is None else None,
            "session_before_unknown": unknown,
            "older": len(now[:-MOST_SUBAGENTS]) + len(before[:-MOST_SUBAGENTS]),
            "note": SUBAGENTS_END,
        }

    # Documents

    async def _read_handoff(self, id: str | None = None) -> Answer:  # noqa: A002 - see above
        named = id or await self._newest(await self._row())
        await self._name()
        try:
            return _cut(await self._client.document(named))
        except NoSuchAgent as error:
            hint = "Find handoff documents: search_history"
            raise NoSuchAgent(error.title, error.detail, hint) from error

    async def _newest(self, row: AgentStatus) -> str:
        """Return the id or path of the document that this session started from.

        If the session did not start from a document, returns the id of the job's newest document.
        Raises `NotNow` if the job has no document.
        """
        chain = await self._chain(row)
        here = (
            [session for session in chain.sessions if session.id == row.session_id] if chain else []
        )
        if here and here[0].began_with:
            return here[0].began_with
        handoffs = [handoff.id for _, handoff in _documents(chain)]
        if not handoffs:
            raise NotNow(
                "This job has no handoff document yet",
                "No session of the job has written a document.",
                "Find documents of earlier jobs: search_history",
            )
        return handoffs[-1]

    async def _search(self, words: str) -> Answer:
        row = await self._row()
        chains = await self._client.history(None, words)
        matches = [
            (handoff.created, chain.agent, handoff)
            for chain in chains
            for _, handoff in _documents(chain)
        ]
        own = await asyncio.to_thread(in_repository, Path(row.directory), matches)
        own.sort(key=lambda match: match[0], reverse=True)
        return {
            "found": [
                {
                    "id": handoff.id,
                    "agent": agent,
                    "created": created,
                    "document": handoff.document,
                    "text": handoff.found,
                }
                for created, agent, handoff in own[:MOST_FOUND]
            ],
            "more": max(0, len(own) - MOST_FOUND),
        }

    # The caller

    async def _name(self) -> str:
        """Return the name of the agent in which this process runs, as the supervisor knows it.

        Raises `NotNow` outside an agent.
        """
        caller = await self._client.caller()
        if caller.kind == "agent" and caller.name:
            return caller.name
        process = "This process" if caller.pid is None else f"Process {caller.pid}"
        raise NotNow(
            "These tools are for agents that cockpit started",
            f"{process} belongs to no agent of the supervisor.",
            "Continue without these tools. The user starts an agent with: cockpit start NAME",
        )

    async def _row(self) -> AgentStatus:
        name = await self._name()
        status = await self._client.status()
        for row in status.agents:
            if row.name == name:
                return row
        raise NoSuchAgent(f"The agent {name} was removed", hint="Continue without these tools.")

    async def _of_job(self) -> list[tuple[HistorySession, HistoryHandoff]]:
        return _documents(await self._chain(await self._row()))

    async def _chain(self, row: AgentStatus) -> HistoryChain | None:
        """Return the agent's current job with its sessions; None before the job's first session."""
        chains = await self._client.history(row.name) if row.job else []
        return next((chain for chain in chains if chain.job == row.job), None)


@asynccontextmanager
async def _for_a_model() -> AsyncIterator[None]:
    """Replace the hint of `NoSupervisor` with one that an agent can follow."""
    try:
        yield
    except NoSupervisor as error:
        raise NoSupervisor(
            error.title,
            error.detail,
            "Continue your work: this session is not affected. If you need the answer, ask the "
            "user to run: cockpit up",
        ) from error


def _handoff(row: AgentStatus) -> dict[str, Any]:
    """Return the handoff that is in progress, if any, and the agent's next step."""
    current = row.handoff
    if current is None:
        return {"handoff": None, "next": NO_HANDOFF}
    known = current.model_dump(exclude_none=True)
    return {"handoff": known, "next": NEXT.get(current.phase, NO_HANDOFF)}


def _documents(chain: HistoryChain | None) -> list[tuple[HistorySession, HistoryHandoff]]:
    """Return the job's handoffs that have a document, each with its session, oldest first."""
    sessions = chain.sessions if chain else []
    return [
        (session, handoff)
        for session in sessions
        for handoff in session.handoffs
        if handoff.document
    ]


def _cut(text: str) -> str:
    if len(text) <= LONGEST_DOCUMENT:
        return text
    return f"{text[:LONGEST_DOCUMENT]}\n\n(cut here; the document has {len(text)} characters)"


def _of(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    subagents = facts.get("subagents")
    return (
        [subagent for subagent in subagents if isinstance(subagent, dict)]
        if isinstance(subagents, list)
        else []
    )


def _only(subagents: list[dict[str, Any]], ident: str | None) -> list[dict[str, Any]]:
    return [subagent for subagent in subagents if ident is None or subagent.get("id") == ident]


Match = tuple[str, str, HistoryHandoff]


def in_repository(directory: Path, matches: Sequence[Match]) -> list[Match]:
    """Return the matches whose documents were written in the directory's repository.

    If the directory is in no repository, returns the matches with documents in the directory
    itself.

    A document belongs to the directory where it was written, even if that directory's worktree was
    removed. Documents in directories that cannot be read are left out.
    """
    real = Path(os.path.realpath(directory))
    home = main_checkout(real)

    def belongs(document: str) -> bool:
        place = Path(os.path.realpath(Path(document).parent))
        with suppress(OSError):
            around = main_checkout(place)
            return around == home if home or around else place.is_relative_to(real)
        return False

    return [match for match in matches if match[2].document and belongs(match[2].document)]
