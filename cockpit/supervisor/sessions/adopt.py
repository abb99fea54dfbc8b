"""Taking up a living agent that no record names any more, as after a database that was lost.

The process tells by itself what is needed: the marker in its environment, where it works, and,
by its CLI's own note, which session it sits in. What the database alone knew is gone, and is said
to be. Ends nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from cockpit.config.project import repository_root
from cockpit.core.errors import BadUsage, CockpitError
from cockpit.core.handoff.states import Outcome
from cockpit.core.ids import SessionId, agent_name
from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line
from cockpit.ports.panes import Pane
from cockpit.ports.processes import Origin
from cockpit.ports.records import SessionRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.lifecycle import Sessions


def adopt_unknown(dependencies: Dependencies, fleet: Fleet, panes: Iterable[Pane]) -> list[Agent]:
    """An agent for each living agent of ours that neither the record nor a file names.

    Its settings went with the record, so it is only observed. Who cannot be seated is told of.
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
                raise BadUsage("Its marker is another agent's", "", "")
            agents.append(_observed(fleet, pane.label, origin))
        except CockpitError as refused:
            _tell_unowned(dependencies, pane, origin, refused)
    return agents


def _observed(fleet: Fleet, name: str, origin: Origin) -> Agent:
    assert fleet.loaded is not None
    said = {"mode": "observe", "worktree": {"strategy": "none"}}
    return fleet.take_up(fleet.loaded.new_agent(name, origin.directory, **said), None)


def _tell_unowned(
    dependencies: Dependencies, pane: Pane, origin: Origin, refused: CockpitError
) -> None:
    dependencies.event_log.record(
        "agent.unowned",
        f"Process {pane.pid} of cockpit's lives in {safe_line(str(origin.directory), 200)} and is "
        f"in no list ({safe_line(refused.title, 200)}). Look at it, and end it: kill {pane.pid}",
        pid=pane.pid,
    )


def say_unknown(dependencies: Dependencies, agent: Agent) -> None:
    """Leave word on the row of what its settings were lost for, with the next step."""
    again = f" --resume {agent.record.session}" if agent.record.session else ""
    words = (
        "it was found alive without its settings, so it is only observed. To go on: "
        f"cockpit stop {agent.name}, then cockpit start {agent.name} --mode prompt{again}"
    )
    dependencies.store.save_agent(agent.change(note=words))


def regain(
    dependencies: Dependencies, sessions: Sessions, agent: Agent, panes: Iterable[Pane]
) -> bool:
    """Take up the process that lives in the pane of this name; False if none does.

    It is one that no record names, or of another session of ours than the row names.

    Its chain is the one that its documents told of; else its job begins anew on record, with a
    prompt that is not known.
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
    presence = agent.runtime.presence(pane.pid, sessions.environment(agent))
    session = presence.session_id if presence is not None else None
    known = _write_down(dependencies, sessions, agent, origin, session)
    sessions.seated(agent, pane)
    before = (
        f"its documents tell of {counted(len(agent.chain), 'session')} of its job"
        if known
        else "what it did before is unknown here"
    )
    dependencies.event_log.record(
        "agent.regained",
        f"{agent.name} was found alive without a record of it; {before}",
        agent.name,
        session=session,
        pid=pane.pid,
    )
    return True


def _write_down(
    dependencies: Dependencies,
    sessions: Sessions,
    agent: Agent,
    origin: Origin,
    session: SessionId | None,
) -> bool:
    """Whether the session was on record, by its documents."""
    elsewhere = str(origin.directory) != agent.record.directory
    # An agent of a sub-folder works in that of its worktree.
    top = repository_root(origin.directory) or origin.directory
    agent.change(run=origin.marker, wanted=True, worktree=str(top) if elsewhere else None)
    store = dependencies.store
    known = store.session(session) if session else store.session_of_run(origin.marker)
    if known is not None:
        again = replace(known, run=origin.marker, state="live", ended=None)
        transcript = agent.runtime.transcript(sessions.order(agent, again, None))
        _take_over(dependencies, sessions, agent, again, transcript)
        return True
    job = sessions.new_job(agent, None, None)
    minted, _ = sessions.mint(agent)
    record = SessionRecord(
        # Without the CLI's word the session has no name that could be resumed.
        id=session or minted,
        agent=agent.name,
        job=job.id,
        number=1,
        previous=None,
        run=origin.marker,
        created=dependencies.clock.now().timestamp(),
        permission_mode=agent.settings.permission_mode,
    )
    transcript = agent.runtime.transcript(sessions.order(agent, record, None))
    _take_over(dependencies, sessions, agent, record, transcript if session else None)
    return False


def _take_over(
    dependencies: Dependencies,
    sessions: Sessions,
    agent: Agent,
    session: SessionRecord,
    transcript: Path | None,
) -> None:
    """Put a session on record for a process that lives already."""
    session = replace(session, transcript=str(transcript) if transcript else None)
    with dependencies.store.transaction():
        dependencies.store.save_session(session)
        dependencies.store.save_agent(agent.change(job=session.job, session=session.id))
    agent.job, agent.session = dependencies.store.job(session.job), session
    agent.chain = dependencies.store.chain(session.job)
    agent.handoffs = sum(
        each.outcome == Outcome.DONE.value for each in dependencies.store.handoffs(session.job)
    )
    agent.begin_session(sessions.tail(agent, transcript))
