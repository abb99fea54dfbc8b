"""Write the handoff document of a session that cockpit did not start, using a copy of the session.

The session itself is only read: its process keeps running, and nothing is typed into its terminal.
Nothing is stored before the document is sealed, so a supervisor that is killed earlier leaves
nothing behind.
"""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path, PurePath
from uuid import uuid4

from cockpit.adapters.documents.template import apply_template
from cockpit.adapters.git.session_commits import with_commits
from cockpit.adapters.transcripts.scan import read_all
from cockpit.config.schema import AgentDefaults, Settings
from cockpit.core import composition, document, fact_lines
from cockpit.core.bands import Band
from cockpit.core.collect import Collector
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.errors import BadUsage, Failed, NotNow
from cockpit.core.events import ElsewhereDocument, Plain
from cockpit.core.exclusion import exclusion
from cockpit.core.facts import Facts
from cockpit.core.front_matter import FrontMatter
from cockpit.core.ids import AgentName, HandoffId, model_name, suggested_name
from cockpit.core.reading import Confidence
from cockpit.core.request import request_reply
from cockpit.core.session import SessionEvent, Skipped, UserSaid
from cockpit.core.short_ids import short_session_id
from cockpit.core.timestamps import rfc3339
from cockpit.core.token_counts import token_count
from cockpit.core.verified_facts import GitView, claimed_commits
from cockpit.ports.live_sessions import LiveSession
from cockpit.ports.runtimes import Runtime, SessionOrder
from cockpit.supervisor.agents.background_work import task_text
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.agents.known_secrets import redactor_of_defaults
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.handoff.document_sources import document_in, traces, view_of_git
from cockpit.supervisor.sessions.adoptable import shown_directory
from cockpit.supervisor.sessions.context_usage import filling
from cockpit.supervisor.sessions.elsewhere import OtherSessions
from cockpit.supervisor.sessions.lifecycle import Sessions
from cockpit.supervisor.sessions.transcript_end import TranscriptEnd
from cockpit.wire.verbs import DocumentSession, Done

READ_SECONDS = 60.0
"""Maximum seconds to read a whole transcript; real transcripts have up to some hundred MB."""
LOOK_SECONDS = 5.0


@dataclass(slots=True)
class _Read:
    """Data read from a session's transcript."""

    path: Path
    end: TranscriptEnd
    facts: Facts
    began: datetime | None
    """The time of the first prompt."""


class ElsewhereDocuments:
    """Writes the handoff document of a session that cockpit did not start (`DocumentSession`)."""

    def __init__(
        self, dependencies: Dependencies, fleet: Fleet, sessions: Sessions, others: OtherSessions
    ) -> None:
        self._dependencies = dependencies
        self._fleet = fleet
        self._sessions = sessions
        self._others = others

    async def write(self, asked: DocumentSession) -> Done:
        """Let a copy of the session write the handoff document; seal it in the session's directory.

        If a check fails, raises an error such as `NotNow` before the copy is started. Raises
        `Failed` if the copy wrote no valid document.
        """
        session = await self._others.find(asked.session, asked.pid)
        await self._others.refuse_inside(asked.asker, "write the document of")
        with self._others.hold(session, "writing the handoff document of"):
            return await self._write(session)

    async def _write(self, session: LiveSession) -> Done:
        runtime = self._dependencies.runtimes(session.runtime)
        read = await self._check(session, runtime)
        settings = self._settings()
        draft, cost = await self._ask_copy(session, runtime, read, settings.defaults)
        ident = HandoffId(str(uuid4()))
        text = await self._composed(session, read, settings, draft, ident)
        path = await self._seal(session, settings.defaults, ident, text)
        spent = f" The copy cost ${cost:.2f}." if cost else ""
        self._dependencies.event_log.record(
            ElsewhereDocument(
                session=session.id,
                pid=session.pid,
                directory=shown_directory(session),
                document=str(path),
            ),
            f"A copy of session {short_session_id(session.id)} wrote its handoff document: "
            f"{path}.{spent}",
        )
        return Done(
            message=f"Wrote the handoff document of session {short_session_id(session.id)}.{spent} "
            f"To continue from the document: cockpit continue {path} --name NAME",
            document=str(path),
        )

    def _settings(self) -> Settings:
        loaded = self._fleet.loaded
        if loaded is None:
            raise NotNow("No configuration is loaded", "", "Load a configuration: cockpit up")
        return loaded.settings

    # Before the copy

    async def _check(self, session: LiveSession, runtime: Runtime) -> _Read:
        """Read the transcript. Raises if no document can be written from a copy of the session."""
        if not (copies := runtime.capabilities.copies):
            why = getattr(copies, "why", "")
            raise NotNow(
                f"A copy of a {runtime.name} session cannot write a document",
                f"{why[:1].upper()}{why[1:]}",
                "Ask the session itself for a document, in its terminal.",
            )
        parts = self._dependencies
        slow, live = parts.slow, parts.live_sessions
        if not await slow.ask(session.directory, session.directory.is_dir, LOOK_SECONDS):
            raise BadUsage(
                f"{shown_directory(session)} is not a directory",
                "cockpit writes the document in the session's directory.",
                "Restore the directory, then try again.",
            )
        key = ("elsewhere", session.id)
        path = await slow.ask(key, partial(live.transcript, session), LOOK_SECONDS)
        read = None
        if path is not None:
            read = await slow.ask(("whole", path), partial(_read, path, runtime), READ_SECONDS)
        if read is None or read.end.replied is None:
            raise NotNow(
                f"Session {session.id} has no reply yet",
                "There is nothing to write a document about.",
                "Try again when the session has replied.",
            )
        # The copy starts like a reopened session.
        environment = self._sessions.orders.environment_with(self._settings().defaults.env)
        await slow.ask(key, partial(live.check_reopenable, session, environment), LOOK_SECONDS)
        return read

    async def _ask_copy(
        self, session: LiveSession, runtime: Runtime, read: _Read, defaults: AgentDefaults
    ) -> tuple[str, float | None]:
        """Return the copy's draft, and the copy's cost in US dollars."""
        order = SessionOrder(
            agent=AgentName(suggested_name(session.directory.name)),
            session_id=session.id,
            run=f"document-{secrets.token_hex(6)}",
            directory=session.directory,
            resume=True,
            model=_model(read.end.model),
            environment=self._sessions.orders.environment_with(defaults.env),
        )
        program = await asyncio.to_thread(runtime.program, order.environment)
        known = filling(self._dependencies, self._fleet, session.runtime, read.end)
        question = request_reply(
            used=f"{token_count(known.tokens)} of {token_count(known.window.tokens)} tokens"
            if known
            else None,
            filling=known is not None and known.band.severity >= Band.WARN.severity,
            running=[task_text(task) for task in read.facts.background if task.status == "running"],
            told=fact_lines.reminder(read.facts),
        )
        answer = await runtime.answer_aside(order, program, question, defaults.handoff.deadline)
        return document_in(answer), answer.cost_usd

    # The document

    async def _composed(
        self,
        session: LiveSession,
        read: _Read,
        settings: Settings,
        draft: str,
        ident: HandoffId,
    ) -> str:
        """Return the whole document, without secrets. Raises `Failed` if it is not valid."""
        parts, defaults = self._dependencies, settings.defaults
        folder = str(session.directory / defaults.handoff.directory)
        files = tuple(path for path in read.facts.files_modified if not path.startswith(folder))
        facts = replace(read.facts, files_modified=files)
        state = await parts.worktrees.facts(session.directory, since=read.began)
        if state.root is not None:
            facts = await with_commits(parts.worktrees, session.directory, state, facts)
        # Other processes may have made some of the commits since the session began.
        state = replace(state, commits=())
        hashes = {*claimed_commits(draft), *(made.hash for made in facts.commits)}
        git = await view_of_git(parts.worktrees, session.directory, state, hashes)
        claimed = composition.files_claimed(draft)
        looked_for = await asyncio.to_thread(traces, session.directory, git, claimed)
        text = await asyncio.to_thread(
            composition.compose,
            composition.DocumentInput(
                draft=draft,
                front=self._front(session, read, git, ident),
                facts=facts,
                git=replace(git, looked_for=looked_for),
                goal=None,
                redactor=redactor_of_defaults(
                    parts.environment, defaults, settings.notifications.urls
                ),
                links=composition.Links(
                    transcript=str(read.path), copy=str(parts.documents.copies.path(ident))
                ),
            ),
        )
        if (template := defaults.handoff.template) is not None:
            text, complaint = await asyncio.to_thread(apply_template, text, template)
            if complaint is not None:
                parts.event_log.record(Plain("handoff.template_failed"), complaint)
        if problems := document.validate(text, complete=True):
            raise Failed(
                "The document is not valid",
                " ".join(map(str, problems)),
                hint="Correct handoff.template, or remove it, then try again.",
            )
        return text

    def _front(
        self, session: LiveSession, read: _Read, git: GitView, ident: HandoffId
    ) -> FrontMatter:
        known = filling(self._dependencies, self._fleet, session.runtime, read.end)
        return FrontMatter(
            id=ident,
            worktree=str(session.directory),
            branch=git.branch,
            head_commit=git.head,
            old_session_id=session.id,
            tokens=known.tokens if known else None,
            window=known.window.tokens if known else None,
            percent=round(known.used * 100, 1) if known else None,
            confidence=(known.window.confidence if known else Confidence.UNKNOWN).value,
            writer="sdk",
            created=rfc3339(self._dependencies.clock.now().timestamp()),
            started=rfc3339(session.began) if session.began is not None else "",
            transcript=str(read.path),
        )

    async def _seal(
        self, session: LiveSession, defaults: AgentDefaults, ident: HandoffId, text: str
    ) -> Path:
        """Save the document and a copy durably; return the document's path."""
        parts, folder = self._dependencies, defaults.handoff.directory
        await parts.worktrees.keep_out(session.directory, exclusion(PurePath(folder).parts))
        sealed = await asyncio.to_thread(
            parts.documents.seal, session.directory, ident, text, parts.clock.now(), str(folder)
        )
        return sealed.path


def _read(path: Path, runtime: Runtime) -> _Read | None:
    """Read a whole transcript; None if it cannot be read. Blocks."""
    end, collector = TranscriptEnd(path, runtime), Collector()
    began: list[datetime] = []

    def feed(event: SessionEvent | Skipped) -> None:
        if not began and isinstance(event, UserSaid) and event.at is not None:
            began.append(event.at)
        collector.feed(event)

    end.read()
    try:
        read_all(path, runtime.parse, feed)
    except OSError:
        return None
    return _Read(path, end, collector.facts(), began[0] if began else None)


def _model(recorded: str | None) -> str:
    """Return the name of the session's model; empty if the name is unknown or not valid.

    The copy uses this model, because the context might not fit into another model's window.
    """
    try:
        return model_name(recorded or "")
    except BadUsage:
        return ""
