"""Rebuild chains from handoff documents, when the database was lost.

A document describes its session: number, previous document, tokens and cost. The next session is
known from the next document, or from a transcript with the id that was planned for that session.
Otherwise the outcome of the handoff is `unknown`. Reads no files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field, replace
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.front_matter import FrontMatter
from cockpit.core.handoff.details import HandoffDetails
from cockpit.core.handoff.states import Outcome
from cockpit.core.ids import AgentName, HandoffId, JobId, SessionId
from cockpit.ports.records import HandoffRecord, JobRecord, SessionRecord

UNKNOWN = "unknown"
"""The outcome of a handoff if only its document is left."""

LastWrite = Callable[[str], float | None]
"""Returns when a transcript was last written, in unix seconds; None if there is no file."""


@dataclass(frozen=True, slots=True)
class Source:
    """A handoff document from which history is rebuilt."""

    front: FrontMatter
    goal: str | None
    document: str
    """The path in the worktree; the copy's path if the worktree does not have the document."""
    copy: str
    sha256: str

    @property
    def session(self) -> SessionId:
        """The session that the document describes."""
        return SessionId(self.front.old_session_id or "")

    @property
    def at(self) -> float:
        """When the document was written, in unix seconds."""
        return seconds(self.front.created) or 0.0

    @property
    def began(self) -> float:
        """When the session began; if unknown, when the document was written. Unix seconds."""
        return seconds(self.front.started) or self.at


@dataclass(slots=True)
class RebuiltHistory:
    """The rebuilt records, job by job; those of one job are in chronological order."""

    jobs: list[JobRecord] = field(default_factory=list)
    sessions: list[SessionRecord] = field(default_factory=list)
    handoffs: list[HandoffRecord] = field(default_factory=list)


def rebuild_history(sources: Iterable[Source], last_write: LastWrite) -> RebuiltHistory:
    """Rebuild the jobs, sessions and handoffs that these documents describe."""
    history = RebuiltHistory()
    for _, group in groupby(sorted(sources, key=_order), key=lambda source: source.front.job):
        _rebuild_job(history, list(group), last_write)
    return history


def seconds(moment: str) -> float | None:
    """Convert a time of a front matter to unix seconds; return None if it is not valid."""
    try:
        read = datetime.fromisoformat(moment)
    except ValueError:
        return None
    return read.timestamp() if read.tzinfo else read.replace(tzinfo=UTC).timestamp()


def _order(source: Source) -> tuple[str, float, int]:
    return source.front.job, source.at, source.front.number


def _rebuild_job(history: RebuiltHistory, sources: list[Source], last_write: LastWrite) -> None:
    """Rebuild one job from its documents, in chronological order."""
    sessions = _sessions_with_documents(sources)
    followers = _find_followers(sources, sessions)
    _add_sessions_without_documents(sources, sessions, followers, last_write)
    first = sources[0]
    job = JobId(first.front.job)
    began = min(session.created for session in sessions.values())
    history.jobs.append(JobRecord(job, AgentName(first.front.agent), first.goal, began))
    history.sessions += sorted(
        (_with_end(session, sources, followers, last_write) for session in sessions.values()),
        key=lambda session: (session.number, session.created),
    )
    history.handoffs += [_handoff(source, followers.get(source.front.id)) for source in sources]


def _sessions_with_documents(sources: list[Source]) -> dict[SessionId, SessionRecord]:
    """Return every session with a document, described by its newest document."""
    sessions: dict[SessionId, SessionRecord] = {}
    for source in sources:
        front = source.front
        sessions[source.session] = SessionRecord(
            id=source.session,
            agent=AgentName(front.agent),
            job=JobId(front.job),
            number=front.number,
            previous=None,
            run="",
            created=source.began,
            document=front.previous_document,
            transcript=front.transcript,
            state="ended",
            cost_usd=front.cost_usd,
            tokens=front.tokens,
        )
    return sessions


def _find_followers(
    sources: list[Source], sessions: dict[SessionId, SessionRecord]
) -> dict[str, SessionId]:
    """Map each handoff to the session that followed; set `previous` of these sessions."""
    followers: dict[str, SessionId] = {}
    for matching in (_naming, _newest_before):
        for session in sorted(sessions.values(), key=lambda session: session.number):
            free = [
                source
                for source in sources
                if source.front.id not in followers and source.session != session.id
            ]
            before = matching(session, free)
            if before is not None and session.previous is None:
                followers[before.front.id] = session.id
                began = replace(session, previous=before.session, document=before.document)
                sessions[session.id] = began
    return followers


def _naming(session: SessionRecord, sources: list[Source]) -> Source | None:
    """Return the document from which the session continued; None if no document fits.

    Found by the document's path, or by the next session's id in the document.
    """
    named = (
        source
        for source in sources
        if source.front.new_session_id == session.id or source.document == session.document
    )
    return next(named, None)


def _newest_before(session: SessionRecord, sources: list[Source]) -> Source | None:
    """Return the newest document of an earlier session, written before this session began.

    None for the first session of a job.
    """
    if session.number == 1:
        return None
    earlier = (
        source
        for source in sources
        if source.at <= session.created and source.front.number < session.number
    )
    return max(earlier, key=lambda source: source.at, default=None)


def _add_sessions_without_documents(
    sources: list[Source],
    sessions: dict[SessionId, SessionRecord],
    followers: dict[str, SessionId],
    last_write: LastWrite,
) -> None:
    """Add the sessions that have no document, but a transcript in their predecessor's folder."""
    highest = 0
    for source in sources:
        highest = max(highest, source.front.number)
        if (follower := followers.get(source.front.id)) is not None:
            highest = max(highest, sessions[follower].number)
            continue
        transcript = _next_transcript(source.front)
        if transcript is None or last_write(transcript) is None:
            continue
        highest += 1
        new = SessionId(source.front.new_session_id or "")
        followers[source.front.id] = new
        sessions[new] = replace(
            sessions[source.session],
            id=new,
            number=highest,
            previous=source.session,
            created=source.at,
            document=source.document,
            transcript=transcript,
            cost_usd=None,
            tokens=None,
        )


def _next_transcript(front: FrontMatter) -> str | None:
    """Return where the next session's transcript would be: next to the old session's transcript.

    None if the document lacks the data, or if the CLI does not name transcripts by session id.
    """
    if front.transcript is None or front.new_session_id is None:
        return None
    transcript = Path(front.transcript)
    if transcript.stem != front.old_session_id:
        return None
    return str(transcript.with_name(front.new_session_id + transcript.suffix))


def _with_end(
    session: SessionRecord,
    sources: list[Source],
    followers: dict[str, SessionId],
    last_write: LastWrite,
) -> SessionRecord:
    """Return the session with its state and its end.

    The end is the last handoff that another session followed. Otherwise it is the last document or
    the last write of the transcript, whichever is later.
    """
    done = [
        source
        for source in sources
        if source.session == session.id and source.front.id in followers
    ]
    if done:
        return replace(session, state="handed_off", ended=done[-1].at)
    seen = [source.at for source in sources if source.session == session.id]
    if session.transcript and (written := last_write(session.transcript)):
        seen.append(written)
    back = [
        source
        for source in sources
        if source.session == session.previous and source.at > session.created
    ]
    state = "undone" if back else "ended"
    return replace(session, state=state, ended=max(seen, default=session.created))


def _handoff(source: Source, follower: SessionId | None) -> HandoffRecord:
    front = source.front
    return HandoffRecord(
        id=HandoffId(front.id),
        agent=AgentName(front.agent),
        job=JobId(front.job),
        old_session=source.session,
        reason=front.trigger,
        created=source.at,
        boot="",
        record={},
        details=HandoffDetails(rebuilt=True),
        ended=source.at,
        outcome=Outcome.DONE.value if follower else UNKNOWN,
        why=None if follower else "only the handoff's document is left; the outcome is unknown",
        new_session=follower,
        document=source.document,
        copy=source.copy,
        sha256=source.sha256,
        writer=front.writer,
    )
