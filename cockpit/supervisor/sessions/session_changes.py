"""Follow the changes that a CLI makes to its session: another id, transcript or conversation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from cockpit.adapters.transcripts.tail import Tail
from cockpit.core.events import SessionCleared
from cockpit.core.ids import SessionId
from cockpit.ports.records import SessionRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.lifecycle import Sessions


class SessionChanges:
    """Saves the session changes that running CLIs report. The process stays the same."""

    def __init__(self, dependencies: Dependencies, sessions: Sessions) -> None:
        self._dependencies = dependencies
        self._sessions = sessions

    def follow_transcript(self, agent: Agent, transcript: Path) -> None:
        """Switch to the transcript that the CLI reported, and read it from its beginning.

        Does nothing if the session uses it already.
        """
        if agent.session is None or agent.session.transcript == str(transcript):
            return
        session = replace(agent.session, transcript=str(transcript))
        self._dependencies.store.save_session(session)
        agent.session = session
        agent.read_chain(self._dependencies.store, session.job)
        agent.begin_transcript(Tail(transcript, agent.runtime.parse))
        self._sessions.transcript_begins()

    def found_session(self, agent: Agent, ident: SessionId, transcript: Path | None) -> None:
        """Save the id that the CLI gave the agent's session.

        Follows the session's transcript too, unless `transcript` is None.
        """
        assert agent.session is not None
        named = str(transcript) if transcript else agent.session.transcript
        session = replace(agent.session, cli_id=ident, transcript=named)
        self._dependencies.store.save_session(session)
        agent.session = session
        agent.read_chain(self._dependencies.store, agent.session.job)
        if transcript is not None:
            agent.begin_transcript(Tail(transcript, agent.runtime.parse))
            self._sessions.transcript_begins()

    def follow_new_session(
        self, agent: Agent, session: SessionId, transcript: Path | None, source: str
    ) -> None:
        """Follow another session that the user began or opened in the same process.

        `source` is the CLI's name for the change: `clear`, `resume` or `fork`. The session becomes
        the next one of the agent's job, even if it is an earlier session of this job or a session
        of another agent.
        """
        assert agent.session is not None
        self._sessions.save_counts(agent)
        old, facts = agent.session, agent.session_state.reading.collector.facts()
        known = self._dependencies.store.session(session)
        now = self._dependencies.clock.now().timestamp()
        ident, cli_id = self._sessions.ids_of(agent, session)
        new = replace(
            old,
            id=ident,
            cli_id=cli_id,
            number=self._sessions.next_number(old.job),
            previous=old.id,
            created=now,
            document=None,
            transcript=str(transcript) if transcript else None,
            state="live",
            cost_usd=None,
            tokens=None,
            compactions=0,
        )
        if transcript is None and not agent.runtime.capabilities.chooses_ids:
            transcript = agent.runtime.transcript(self._sessions.orders.of(agent, new, None))
            new = replace(new, transcript=str(transcript) if transcript else None)
        record = replace(agent.record, session=new.id)
        with self._dependencies.store.transaction():
            self._dependencies.store.save_session(replace(old, state="ended", ended=now))
            self._dependencies.store.save_session(new)
            self._dependencies.store.save_agent(record)
        agent.record, agent.session = record, new
        agent.troubles.shared = _shared(agent, known)
        self._sessions.save_start_time(new)
        agent.read_chain(self._dependencies.store, new.job)
        agent.begin_session(self._sessions.tail(agent, transcript))
        self._sessions.transcript_begins()
        agent.session_state.before = facts if source == "clear" else None
        self._dependencies.event_log.record(
            SessionCleared(old_session=old.id, new_session=new.id),
            _follow_text(agent.name, new, source, known),
            agent.name,
        )


def _shared(agent: Agent, known: SessionRecord | None) -> str | None:
    """Return a message if the agent opened a session that another agent has open; else None."""
    if known is None or known.agent == agent.name or known.state != "live":
        return None
    return (
        f"{agent.name} opened {known.agent}'s session: two processes now write to one "
        f"conversation. Close the session in one of them: /clear in {agent.name}, or "
        f"cockpit stop {known.agent}"
    )


def _follow_text(name: str, new: SessionRecord, source: str, known: SessionRecord | None) -> str:
    """Return the text of the event that an agent's process changed its session."""
    if known is not None:
        return (
            f"Session {known.number} of {known.agent} was reopened in {name}'s pane; it is now "
            f"session {new.number} of {name}'s job"
        )
    if source == "clear":
        return f"{name}'s session was cleared in its pane; the new session is session {new.number}"
    return f"Another session was opened in {name}'s pane: session {new.number}"
