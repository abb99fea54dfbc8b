"""Build the API: the handler of each verb, and the components that serve requests."""

from __future__ import annotations

from collections.abc import Mapping

from cockpit.supervisor.api.last_requests import LastRequests
from cockpit.supervisor.api.served import Served
from cockpit.supervisor.api.verbs.adopt import AdoptHandler
from cockpit.supervisor.api.verbs.agent_lock import Perform, UnderAgentLock
from cockpit.supervisor.api.verbs.answer_dialog import AnswerHandler
from cockpit.supervisor.api.verbs.answers import Answers
from cockpit.supervisor.api.verbs.attach import AttachHandler
from cockpit.supervisor.api.verbs.continue_from import ContinueHandler
from cockpit.supervisor.api.verbs.down import DownHandler
from cockpit.supervisor.api.verbs.finish import FinishHandler
from cockpit.supervisor.api.verbs.handoff import HandoffHandler
from cockpit.supervisor.api.verbs.load import LoadHandler
from cockpit.supervisor.api.verbs.put_away import PutAwayHandler
from cockpit.supervisor.api.verbs.send import SendHandler
from cockpit.supervisor.api.verbs.start import StartHandler
from cockpit.supervisor.api.verbs.stop import StopHandler
from cockpit.supervisor.api.verbs.undo import UndoHandler
from cockpit.supervisor.sessions.worktree_sizes import WorktreeSizes
from cockpit.supervisor.supervisor import Supervisor
from cockpit.wire.verbs import (
    Adopt,
    Answer,
    Approve,
    Attach,
    Continue,
    DocumentSession,
    Down,
    Finish,
    Forget,
    Handoff,
    Load,
    Moved,
    Plan,
    Refuse,
    RemoveWorktree,
    Rename,
    Resume,
    Send,
    Snooze,
    Start,
    Stop,
    Undo,
    Verb,
    WatchSession,
)


def performers(of: Supervisor, answer: AnswerHandler | None = None) -> Mapping[type[Verb], Perform]:
    """Return the handler of each verb of `wire.verbs`."""
    parts, fleet, engine, changed = of.dependencies, of.fleet, of.engine, of.publisher.changed
    locked = UnderAgentLock(fleet, of.locks, of.life)
    answers = Answers(
        dependencies=parts,
        fleet=fleet,
        engine=engine,
        triggers=of.triggers,
        history=of.history,
        changed=changed,
    )
    start = StartHandler(
        dependencies=parts,
        fleet=fleet,
        starter=of.starter,
        neighbours=of.neighbours,
        changed=changed,
        forgotten=of.publisher.forgotten,
    )
    stop = StopHandler(
        dependencies=parts,
        fleet=fleet,
        engine=engine,
        setup=of.setup,
        stopper=of.stopper,
        changed=changed,
    )
    undo = UndoHandler(fleet=fleet, engine=engine, answers=answers, undo=of.undo, changed=changed)
    handoff = HandoffHandler(
        dependencies=parts, fleet=fleet, engine=engine, triggers=of.triggers, changed=changed
    )
    finish = FinishHandler(
        dependencies=parts,
        fleet=fleet,
        engine=engine,
        attention=of.attention,
        changed=changed,
    )
    down = DownHandler(
        dependencies=parts,
        fleet=fleet,
        engine=engine,
        locks=of.locks,
        setup=of.setup,
        stopper=of.stopper,
        life=of.life,
    )
    put_away = PutAwayHandler(
        dependencies=parts,
        fleet=fleet,
        sessions=of.sessions,
        locks=of.locks,
        life=of.life,
        changed=changed,
        forgotten=of.publisher.forgotten,
    )
    return {
        Load: LoadHandler(fleet, of.automatic_starts, changed),
        Plan: of.planner.plan,
        Start: locked("being started", start),
        Resume: of.resumer.resume,
        Stop: locked("being stopped", stop),
        Send: SendHandler(parts, fleet, of.locks, of.watch.consider),
        Answer: answer or dialog_answers(of),
        Handoff: locked("beginning a handoff", handoff),
        Moved: locked("being moved", handoff.moved),
        Approve: locked("being approved", answers.approve),
        Refuse: locked("being answered", answers.refuse),
        Snooze: locked("being answered", answers.snooze),
        Finish: locked("being marked as done", finish.finish),
        Undo: locked("being undone", undo, same_session=True),
        Continue: ContinueHandler(parts, of.continuation, changed),
        Adopt: AdoptHandler(of.adoption, of.life, changed),
        WatchSession: of.elsewhere_watch.watch_session,
        DocumentSession: of.elsewhere_documents.write,
        Attach: AttachHandler(parts, fleet),
        Forget: locked("being forgotten", put_away.forget),
        Rename: put_away.rename,
        RemoveWorktree: of.worktrees.remove,
        Down: down,
    }


def dialog_answers(of: Supervisor) -> AnswerHandler:
    return AnswerHandler(of.dependencies, of.fleet, of.locks, of.watch.consider)


def served(of: Supervisor) -> Served:
    """Return the components that serve requests."""
    answer = dialog_answers(of)
    return Served(
        perform=performers(of, answer),
        dialog=answer.show,
        dependencies=of.dependencies,
        callers=of.callers,
        last_requests=LastRequests(of.fleet, of.dependencies.clock, of.publisher.changed),
        fleet=of.fleet,
        rows=of.publisher,
        elsewhere=of.elsewhere,
        daily_costs=of.daily_costs,
        engine=of.engine,
        history=of.history,
        session_facts=of.session_facts,
        lookups=of.lookups,
        worktrees=of.worktrees,
        worktree_sizes=WorktreeSizes(of.dependencies.slow),
        status=of.status,
        life=of.life,
    )
