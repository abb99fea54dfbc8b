"""Chains read back from the documents that their sessions left, where their rows are lost.

A document tells of the session that left it: its place, what it began with, what it held and cost.
Who came after is told by the next document, or by a record of the session that was to come. What
neither tells is not made up: how such a handoff ended is `unknown`. Reads no file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

from cockpit.core.front_matter import FrontMatter
from cockpit.core.handoff.details import HandoffDetails
from cockpit.core.handoff.states import Outcome
from cockpit.core.ids import AgentName, HandoffId, JobId, SessionId
from cockpit.ports.records import HandoffRecord, JobRecord, SessionRecord

UNKNOWN = "unknown"
"""The outcome of a handoff of which only the document is left."""

LastSign = Callable[[str], float | None]
"""When a record was last written, in unix seconds; None if it is not there."""


@dataclass(frozen=True, slots=True)
class Paper:
    """A document that is left of one handoff."""

    front: FrontMatter
    goal: str | None
    document: str
    """Where it lies in the worktree; the copy's place where it is gone from there."""
    copy: str
    sha256: str

    @property
    def session(self) -> SessionId:
        """The one that left it."""
        return SessionId(self.front.old_session_id or "")

    @property
    def at(self) -> float:
        """When it was written, in unix seconds."""
        return seconds(self.front.created) or 0.0

    @property
    def began(self) -> float:
        """When its session began; no later than the document where that is not known."""
        return seconds(self.front.started) or self.at


@dataclass(slots=True)
class Lineage:
    """What was read back, each list in the order in which it came to be."""

    jobs: list[JobRecord] = field(default_factory=list)
    sessions: list[SessionRecord] = field(default_factory=list)
    handoffs: list[HandoffRecord] = field(default_factory=list)


def lineage(papers: Iterable[Paper], last_sign: LastSign) -> Lineage:
    """The jobs, sessions and handoffs that these documents tell of."""
    found = Lineage()
    for _, group in groupby(sorted(papers, key=_place), key=lambda paper: paper.front.job):
        _read_back(found, list(group), last_sign)
    return found


def seconds(moment: str) -> float | None:
    """A moment of a front matter in unix seconds; None for what is none."""
    try:
        read = datetime.fromisoformat(moment)
    except ValueError:
        return None
    return read.timestamp() if read.tzinfo else read.replace(tzinfo=UTC).timestamp()


def _place(paper: Paper) -> tuple[str, float, int]:
    return paper.front.job, paper.at, paper.front.number


def _read_back(found: Lineage, papers: list[Paper], last_sign: LastSign) -> None:
    """One job, from its documents in the order in which they were written."""
    sessions = _those_that_left(papers)
    followed = _followed(papers, sessions)
    _add_last(papers, sessions, followed, last_sign)
    first = papers[0]
    job = JobId(first.front.job)
    began = min(each.created for each in sessions.values())
    found.jobs.append(JobRecord(job, AgentName(first.front.agent), first.goal, began))
    found.sessions += sorted(
        (_ended(each, papers, followed, last_sign) for each in sessions.values()),
        key=lambda session: (session.number, session.created),
    )
    found.handoffs += [_handoff(paper, followed.get(paper.front.id)) for paper in papers]


def _those_that_left(papers: list[Paper]) -> dict[SessionId, SessionRecord]:
    """Every session that left a document; of several, the newest tells what it held."""
    sessions: dict[SessionId, SessionRecord] = {}
    for paper in papers:
        front = paper.front
        sessions[paper.session] = SessionRecord(
            id=paper.session,
            agent=AgentName(front.agent),
            job=JobId(front.job),
            number=front.number,
            previous=None,
            run="",
            created=paper.began,
            document=front.previous_document,
            transcript=front.transcript,
            state="ended",
            cost_usd=front.cost_usd,
            tokens=front.tokens,
        )
    return sessions


def _followed(
    papers: list[Paper], sessions: dict[SessionId, SessionRecord]
) -> dict[str, SessionId]:
    """By a handoff's id, the session that took it up; sessions learn what came before them."""
    followed: dict[str, SessionId] = {}
    for taken_up in (_named, _last_before):
        for session in sorted(sessions.values(), key=lambda each: each.number):
            free = [each for each in papers if each.front.id not in followed]
            left = taken_up(session, [each for each in free if each.session != session.id])
            if left is not None and session.previous is None:
                followed[left.front.id] = session.id
                began = replace(session, previous=left.session, document=left.document)
                sessions[session.id] = began
    return followed


def _named(session: SessionRecord, papers: list[Paper]) -> Paper | None:
    """The document that names this session as the next, or that this session names as its first."""
    named = (
        each
        for each in papers
        if each.front.new_session_id == session.id or each.document == session.document
    )
    return next(named, None)


def _last_before(session: SessionRecord, papers: list[Paper]) -> Paper | None:
    """The newest document that was there when the session began."""
    if session.number == 1:
        return None
    earlier = (
        each for each in papers if each.at <= session.created and each.front.number < session.number
    )
    return max(earlier, key=lambda each: each.at, default=None)


def _add_last(
    papers: list[Paper],
    sessions: dict[SessionId, SessionRecord],
    followed: dict[str, SessionId],
    last_sign: LastSign,
) -> None:
    """Sessions that left no document yet, but a record where their predecessor's is."""
    highest = 0
    for paper in papers:
        highest = max(highest, paper.front.number)
        if (follower := followed.get(paper.front.id)) is not None:
            highest = max(highest, sessions[follower].number)
            continue
        transcript = _beside(paper.front)
        if transcript is None or last_sign(transcript) is None:
            continue
        highest += 1
        new = SessionId(paper.front.new_session_id or "")
        followed[paper.front.id] = new
        sessions[new] = replace(
            sessions[paper.session],
            id=new,
            number=highest,
            previous=paper.session,
            created=paper.at,
            document=paper.document,
            transcript=transcript,
            cost_usd=None,
            tokens=None,
        )


def _beside(front: FrontMatter) -> str | None:
    """Where the record of the next session would be: a folder has those of one directory."""
    if front.transcript is None or front.new_session_id is None:
        return None
    record = Path(front.transcript)
    if record.stem != front.old_session_id:
        return None
    return str(record.with_name(front.new_session_id + record.suffix))


def _ended(
    session: SessionRecord,
    papers: list[Paper],
    followed: dict[str, SessionId],
    last_sign: LastSign,
) -> SessionRecord:
    """How a session ended, as far as the documents tell."""
    done = [each for each in papers if each.session == session.id and each.front.id in followed]
    if done:
        return replace(session, state="handed_off", ended=done[-1].at)
    seen = last_sign(session.transcript) if session.transcript else None
    back = [
        each for each in papers if each.session == session.previous and each.at > session.created
    ]
    state = "undone" if back else "ended"
    return replace(session, state=state, ended=seen or session.created)


def _handoff(paper: Paper, follower: SessionId | None) -> HandoffRecord:
    front = paper.front
    return HandoffRecord(
        id=HandoffId(front.id),
        agent=AgentName(front.agent),
        job=JobId(front.job),
        old_session=paper.session,
        reason=front.trigger,
        created=paper.at,
        boot="",
        record={},
        details=HandoffDetails(rebuilt=True),
        ended=paper.at,
        outcome=Outcome.DONE.value if follower else UNKNOWN,
        why=None if follower else "only its document is left; how it ended is not known",
        new_session=follower,
        document=paper.document,
        copy=paper.copy,
        sha256=paper.sha256,
        writer=front.writer,
    )
