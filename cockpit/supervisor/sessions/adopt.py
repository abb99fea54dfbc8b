"""Adopt a process that is missing from its agent's record, for example after a database loss.

The data comes from the process itself: its directory, the marker in its environment, and its
session, which is found in the CLI's status file or by the files that the process has open. Data
that was only in the database is lost, and the screen says so. Ends no process.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from cockpit.config.project import folder_in_worktree, repository_root
from cockpit.core.errors import BadUsage, CockpitError
from cockpit.core.events import AgentRegained, AgentUnowned
from cockpit.core.handoff.states import Outcome
from cockpit.core.ids import SessionId, agent_name
from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line
from cockpit.ports.panes import Pane
from cockpit.ports.processes import Origin
from cockpit.ports.records import SessionRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.agents.latches import EARLIER_COST
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.lifecycle import Sessions


def adopt_unknown(dependencies: Dependencies, fleet: Fleet, panes: Iterable[Pane]) -> list[Agent]:
    """Create the agent of each running process whose agent has neither a record nor a config entry.

    The settings are lost, so the agent is only observed. An event reports each process that cannot
    be adopted.
    """
    agents = []
    for pane in panes:
        origin = (
            None if pane.dead or fleet.find(pane.label) else dependencies.processes.origin(pane.pid)
        )
        if origin is None:
            continue
        try:
            if not origin.marker.startswith(f"{agent_name(pane.label)}-"):
                raise BadUsage(
                    "The process belongs to another agent",
                    hint=f"To end it: kill {pane.pid}",
                )
            agents.append(_observed(fleet, pane.label, origin))
        except CockpitError as refused:
            _record_unowned(dependencies, pane, origin, refused)
    return agents


def _observed(fleet: Fleet, name: str, origin: Origin) -> Agent:
    assert fleet.loaded is not None
    settings = {"mode": "observe", "worktree": {"strategy": "none"}}
    return fleet.take_up(fleet.loaded.new_agent(name, origin.directory, **settings), None)


def _record_unowned(
    dependencies: Dependencies, pane: Pane, origin: Origin, refused: CockpitError
) -> None:
    dependencies.event_log.record(
        AgentUnowned(pid=pane.pid),
        f"Process {pane.pid}, started by cockpit, is running in "
        f"{safe_line(str(origin.directory), 200)} but cannot be listed "
        f"({safe_line(refused.title, 200)}). Check it, and end it: kill {pane.pid}",
    )


def note_lost_settings(dependencies: Dependencies, agent: Agent) -> None:
    """Show on the screen that the agent's settings were lost, with the next step."""
    again = f" --resume {agent.record.session}" if agent.record.session else ""
    note = (
        "the agent was found running without its settings, so cockpit only observes it. To "
        f"continue: cockpit stop {agent.name}, then cockpit start {agent.name} --mode prompt{again}"
    )
    dependencies.store.save_agent(agent.change(note=note))


def adopt(
    dependencies: Dependencies, sessions: Sessions, agent: Agent, panes: Iterable[Pane]
) -> bool:
    """Adopt the process in this agent's pane; return False if there is none to adopt.

    Adopts the process if the agent's record has no session. Also adopts a process whose marker
    differs from the record's (`run`), if the database contains the marker of the process. If the
    session of the process is not stored for this agent, stores a new job without a prompt.
    """
    pane = next((pane for pane in panes if pane.label == agent.name and not pane.dead), None)
    if pane is None:
        return False
    origin = dependencies.processes.origin(pane.pid)
    if origin is None or not origin.marker.startswith(f"{agent.name}-"):
        return False
    ours = origin.marker != agent.record.run and dependencies.store.has_run(origin.marker)
    if agent.record.session is not None and not ours:
        return False
    environment = sessions.orders.environment(agent)
    presence = agent.runtime.presence(pane.pid, environment)
    session = presence.session_id if presence is not None else None
    session = session or agent.runtime.open_session(pane.pid, environment)
    known = _save_process(dependencies, sessions, agent, origin, session)
    sessions.attach_process(agent, pane)
    before = (
        f"its documents show {counted(len(agent.chain), 'session')} of its job"
        if known
        else "its earlier sessions are unknown"
    )
    dependencies.event_log.record(
        AgentRegained(session=session, pid=pane.pid),
        f"{agent.name} was found running without a record; {before}",
        agent.name,
    )
    return True


def _save_process(
    dependencies: Dependencies,
    sessions: Sessions,
    agent: Agent,
    origin: Origin,
    session: SessionId | None,
) -> bool:
    """Store the process and its session. Return whether the session was already stored."""
    elsewhere = str(origin.directory) != agent.record.directory
    # The agent may work in a subfolder of its worktree.
    top = repository_root(origin.directory) or origin.directory
    agent.change(run=origin.marker, wanted=True, worktree=None, folder=None)
    if elsewhere:
        folder = folder_in_worktree(top, Path(agent.record.directory))
        agent.change(worktree=str(top), folder=str(folder))
    store = dependencies.store
    known = store.session_of_run(origin.marker)
    if session is not None and (known is None or session not in (known.id, known.cli_id)):
        known = store.session(session)
    if known is not None and known.agent == agent.name:
        again = replace(known, run=origin.marker, state="live", ended=None)
        agent.runtime = sessions.orders.runtime_of(agent, again)
        transcript = agent.runtime.transcript(sessions.orders.of(agent, again, None))
        _save_session(dependencies, sessions, agent, again, transcript)
        return True
    job = sessions.new_job(agent, None, None)
    # If the CLI does not report the session, the new id cannot be resumed.
    ident, cli_id = sessions.ids_of(agent, session) if session else (sessions.mint(agent)[0], None)
    record = SessionRecord(
        id=ident,
        cli_id=cli_id,
        agent=agent.name,
        job=job.id,
        number=1,
        previous=None,
        run=origin.marker,
        created=dependencies.clock.now().timestamp(),
        permission_mode=agent.settings.permission_mode,
    )
    store.latch(record.id, EARLIER_COST, record.created)
    transcript = agent.runtime.transcript(sessions.orders.of(agent, record, None))
    _save_session(dependencies, sessions, agent, record, transcript if session else None)
    return False


def _save_session(
    dependencies: Dependencies,
    sessions: Sessions,
    agent: Agent,
    session: SessionRecord,
    transcript: Path | None,
) -> None:
    """Store a session for a process that is already running, and set it on the agent."""
    session = replace(session, transcript=str(transcript) if transcript else None)
    record = replace(agent.record, job=session.job, session=session.id)
    with dependencies.store.transaction():
        dependencies.store.save_session(session)
        dependencies.store.save_agent(record)
    agent.record = record
    agent.job, agent.session = dependencies.store.job(session.job), session
    agent.read_chain(dependencies.store, session.job)
    agent.handoffs = sum(
        handoff.outcome == Outcome.DONE.value
        for handoff in dependencies.store.handoffs(session.job)
    )
    agent.begin_session(sessions.tail(agent, transcript))
    sessions.transcript_begins()
