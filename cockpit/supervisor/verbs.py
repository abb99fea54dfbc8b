"""What each verb does, one function a verb; `PERFORM` is the whole list.

A verb either answers `Done` with a line for the pilot, or raises a `CockpitError` and has changed
nothing that it did not say.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from cockpit.core.errors import BadUsage, CockpitError, Failed, NotNow
from cockpit.core.handoff.events import Approved, CalledOff, Turn
from cockpit.core.handoff.states import PHASES, Asked, Confirming
from cockpit.core.ids import agent_name
from cockpit.ports.processes import Ending
from cockpit.supervisor import answering, continuing, planning, starting, undoing, worktrees
from cockpit.supervisor.belonging import checked_document
from cockpit.supervisor.seat import Seat
from cockpit.supervisor.sessions import refuse_if_alive
from cockpit.supervisor.supervisor import Supervisor
from cockpit.wire.verbs import (
    Approve,
    Attach,
    Continue,
    Done,
    Down,
    Handoff,
    Load,
    Plan,
    Refuse,
    RemoveWorktree,
    Send,
    Snooze,
    Start,
    Stop,
    Undo,
    Verb,
)

ACCEPTED_WITHIN = 8.0
"""Seconds for an idle agent to take a prompt that was pasted."""
UNREAD = 1.0
"""Seconds for which a dialog that the pilot has just been led to takes no key."""


async def load(supervisor: Supervisor, asked: Load) -> Done:
    """Read a file and take up its agents; a file that does not read changes nothing."""
    config = Path(asked.config) if asked.config else None
    loaded = supervisor.fleet.load(config, named=asked.named)
    for seat in supervisor.fleet:
        supervisor.board.changed(seat)
    await starting.start_automatic(supervisor)
    names = ", ".join(agent.name for agent in loaded.settings.agents) or "no agents"
    return Done(message=f"Read: {names}")


async def start(supervisor: Supervisor, asked: Start) -> Done:
    """Start a configured agent, or a new one."""
    name = agent_name(asked.name)
    if asked.config:
        supervisor.fleet.load(Path(asked.config), named=asked.named)
    seat = supervisor.fleet.find(name)
    if seat is not None:
        refuse_if_alive(seat)
        if seat.handoff is not None:
            raise NotNow(
                f"A handoff of {name} is under way",
                f"It is in the phase {PHASES.get(type(seat.handoff.state), 'ended')}.",
                f"Wait for it, or refuse it: cockpit refuse {name}",
            )
    seat = starting.seat_for(supervisor, name, asked)
    try:
        await starting.start(supervisor, seat, asked.prompt, resume=asked.resume)
    except (CockpitError, OSError):
        _forget_if_unknown(supervisor, seat)
        raise
    supervisor.board.changed(seat)
    if seat.preparing:
        words = f"{name} starts when its worktree is set up: {seat.record.worktree}"
        return Done(message=words, name=name)
    beside = [other.name for other in starting.neighbours(supervisor, seat)]
    words = f"; {planning.company_words(beside)}" if beside else ""
    return Done(
        message=f"Started {name} in {seat.directory}{words}", name=name, pane=seat.record.pane
    )


def _forget_if_unknown(supervisor: Supervisor, seat: Seat) -> None:
    """A start that failed leaves no row of an agent that no file names and that never flew."""
    if seat.record.config_file is None and seat.record.session is None:
        supervisor.fleet.forget(seat)
        supervisor.board.forgotten(seat.name)


async def stop(supervisor: Supervisor, asked: Stop) -> Done:
    """End an agent; its worktree stays, and so does everything it wrote."""
    seat = supervisor.fleet.seat(asked.name)
    if await supervisor.preparing.call_off(seat):
        words = f"The start of {seat.name} was called off; its worktree stays"
        supervisor.feed.tell("agent.not_started", words, seat.name)
        return Done(message=words, name=seat.name)
    await _call_off(supervisor, seat)
    if seat.gave_up:
        supervisor.instruments.store.save_seat(seat.change(gave_up=None))
        supervisor.board.changed(seat)
    if seat.record.session is None or (not seat.alive and not seat.record.wanted):
        return Done(message=f"{seat.name} was not running", name=seat.name)
    supervisor.instruments.store.save_seat(seat.change(wanted=False, note="stopped by you"))
    ending = await supervisor.sessions.end(seat)
    if not ending.gone:
        raise _survived(seat, ending)
    seat.exit, seat.handoff_failed = None, None
    supervisor.sessions.finish(seat)
    told = supervisor.attention.has_told_of_end(seat)
    supervisor.feed.tell("agent.stopped", f"{seat.name} was stopped", seat.name, told=told)
    supervisor.board.changed(seat)
    words = f" ({seat.record.worktree})" if seat.record.worktree else ""
    return Done(message=f"Stopped {seat.name}; its worktree stays{words}", name=seat.name)


async def _call_off(supervisor: Supervisor, seat: Seat) -> None:
    if seat.handoff is None:
        return
    await supervisor.engine.tell(seat, CalledOff("you ended the handoff"))
    if seat.handoff is not None:
        raise NotNow(
            f"{seat.name} is between two sessions",
            "Its old session is being replaced by a new one.",
            "Try again in a few seconds.",
        )


async def send(supervisor: Supervisor, asked: Send) -> Done:
    """Paste a prompt into the live composer, submit it, and see it taken."""
    seat = _living(supervisor, asked.name)
    if not asked.text.strip():
        raise BadUsage("There is nothing to send", hint="Give the prompt as an argument.")
    conduct = seat.sitting.conduct
    if conduct.turn is Turn.DIALOG or seat.trust_asked:
        raise NotNow(
            f"{seat.name} has a question open in its pane",
            "Text would be taken as the answer.",
            f"Answer it there: cockpit attach {seat.name}",
        )
    panes, pane = supervisor.instruments.panes, seat.record.pane
    assert pane is not None
    await _check_composer(supervisor, seat)
    prompts, idle = conduct.prompts, conduct.turn is not Turn.WORKING
    await panes.paste(pane, asked.text)
    await asyncio.sleep(0.3)
    await panes.press(pane, "Enter")
    if not seat.runtime.has_readings or not idle:
        words = "Sent" if not seat.runtime.has_readings else "Queued for the end of its turn"
        return Done(message=f"{words}: {seat.name}", name=seat.name)
    if not await _until(lambda: conduct.prompts > prompts, ACCEPTED_WITHIN):
        raise Failed(
            f"{seat.name} did not take the prompt",
            "It was pasted and submitted, but the agent gave no sign of it.",
            f"Look at its pane: cockpit attach {seat.name}",
        )
    return Done(message=f"{seat.name} took the prompt", name=seat.name)


async def _check_composer(supervisor: Supervisor, seat: Seat) -> None:
    assert seat.record.pane is not None
    screen = await supervisor.instruments.panes.capture(seat.record.pane)
    if seat.runtime.composer(screen) is False:
        raise NotNow(
            f"Something is typed in {seat.name}'s composer",
            "It would be sent together with your prompt.",
            f"Send or clear it there: cockpit attach {seat.name}",
        )


async def handoff(supervisor: Supervisor, asked: Handoff) -> Done:
    """Begin a handoff by hand: no question first; a review unless the agent is automatic."""
    seat = supervisor.fleet.seat(asked.name)
    if seat.session is None or seat.job is None:
        raise NotNow(
            f"{seat.name} was never started",
            "There is no session to hand off.",
            f"Start it: cockpit start {seat.name}",
        )
    given = checked_document(supervisor.instruments.documents, seat, asked.document)
    if asked.dry_run:
        return await _would_do(supervisor, seat, asked)
    if not seat.alive:
        raise NotNow(
            f"{seat.name} is not running",
            "There is nobody to hand off from.",
            f"Start it: cockpit start {seat.name}",
        )
    if seat.handoff is not None and isinstance(seat.handoff.state, Asked):
        await supervisor.engine.tell(seat, Approved(supervisor.instruments.clock.monotonic()))
        return Done(message=f"Handing off {seat.name}: the question that stood is answered yes")
    review = seat.settings.mode != "auto"
    record = await supervisor.engine.begin(
        seat,
        "agent" if asked.by_agent else "manual",
        ask=False,
        review=review,
        now=asked.now,
        given=given,
    )
    await supervisor.engine.look(seat)
    then = "you review the document before anything is ended" if review else "it goes by itself"
    return Done(message=f"Handing off {seat.name}; {then}", name=seat.name, document=record.id)


async def _would_do(supervisor: Supervisor, seat: Seat, asked: Handoff) -> Done:
    why = supervisor.triggers.held_back(seat)
    text = await supervisor.engine.preview(seat, asked.document)
    lines = [
        f"Would hand off {seat.name}: session {seat.record.session}",
        f"writers: {', '.join(supervisor.engine.writers(seat))}",
        "a review comes before anything is ended"
        if seat.settings.mode != "auto"
        else "no review: the agent is automatic",
    ]
    lines += [f"note: {why}"] if why else []
    return Done(message="\n".join(lines), name=seat.name, text=text)


async def undo(supervisor: Supervisor, asked: Undo) -> Done:
    """End this session and reopen the one before it, with everything it knew."""
    seat = supervisor.fleet.seat(asked.name)
    if seat.handoff is not None and isinstance(seat.handoff.state, Confirming):
        return await answering.give_up(supervisor, seat)
    undoing.previous(supervisor, seat)  # refused before anything else is called off
    await _call_off(supervisor, seat)
    before = await undoing.undo(supervisor, seat)
    supervisor.board.changed(seat)
    return Done(message=f"{seat.name} is back in session {before.number}", name=seat.name)


async def continue_(supervisor: Supervisor, asked: Continue) -> Done:
    """Start a new agent from a handoff document."""
    seat = await continuing.continue_from(supervisor, asked)
    supervisor.board.changed(seat)
    words = f"{seat.name} goes on from {asked.document} in {seat.directory}"
    return Done(message=words, name=seat.name, pane=seat.record.pane)


async def attach(supervisor: Supervisor, asked: Attach) -> Done:
    """Where the agent's pane is."""
    seat = supervisor.fleet.seat(asked.name)
    if seat.record.pane is None:
        raise NotNow(
            f"{seat.name} has no pane",
            "Its terminal is gone, and it works on without one."
            if seat.alive
            else "It was not started yet, or its window was closed.",
            f"End it first: cockpit stop {seat.name}"
            if seat.alive
            else f"Start it: cockpit start {seat.name}",
        )
    if seat.alive and (seat.trust_asked or seat.sitting.conduct.turn is Turn.DIALOG):
        # The key that led here, pressed twice or held, would answer a question nobody has read.
        await supervisor.instruments.panes.hold_keys(seat.record.pane, UNREAD)
    socket = str(supervisor.instruments.places.tmux_socket)
    return Done(message=seat.record.pane, name=seat.name, pane=seat.record.pane, socket=socket)


async def down(supervisor: Supervisor, asked: Down) -> Done:
    """End the supervisor; with `agents`, first the agents and their tmux server.

    Raises `Failed`, and stays, where an agent could not be ended.
    """
    if asked.agents:
        await _end_all(supervisor)
        await supervisor.instruments.panes.stop_server()
        words = "The agents and the supervisor have ended"
    else:
        alive = sum(seat.alive for seat in supervisor.fleet)
        going = "1 agent goes on by itself" if alive == 1 else f"{alive} agents go on by themselves"
        words = f"The supervisor has ended; {going}"
    supervisor.ended.set()
    return Done(message=words)


async def _end_all(supervisor: Supervisor) -> None:
    async def one(seat: Seat) -> None:
        await supervisor.preparing.call_off(seat)
        # First, because a handoff would start another session for the one that is ended.
        await supervisor.engine.abandon(seat, "cockpit down --agents")
        supervisor.instruments.store.save_seat(seat.change(wanted=False, note="stopped by you"))
        if seat.record.run is None:
            return
        ending = await supervisor.sessions.end(seat)
        if not ending.gone:
            raise _survived(seat, ending)
        supervisor.sessions.finish(seat)

    ended = await asyncio.gather(*(one(seat) for seat in supervisor.fleet), return_exceptions=True)
    for wrong in ended:
        if isinstance(wrong, BaseException) and not isinstance(wrong, CockpitError):
            raise wrong
    if left := [str(wrong) for wrong in ended if isinstance(wrong, CockpitError)]:
        raise Failed(
            "Not all agents have ended; the supervisor stays",
            "\n".join(left),
            "See who: cockpit status. Then again: cockpit down --agents",
        )


def _survived(seat: Seat, ending: Ending) -> Failed:
    pids = ", ".join(str(pid) for pid in ending.survivors)
    return Failed(f"{seat.name} cannot be ended", f"Processes {pids} survive even KILL.")


def _living(supervisor: Supervisor, name: str) -> Seat:
    seat = supervisor.fleet.seat(name)
    if not seat.alive or seat.record.pane is None:
        raise NotNow(
            f"{name} is not running",
            str(seat.exit) if seat.exit else "",
            f"Start it: cockpit start {name}",
        )
    return seat


async def _until(true: Callable[[], bool], seconds: float) -> bool:
    deadline = asyncio.get_running_loop().time() + seconds
    while not true():
        if asyncio.get_running_loop().time() > deadline:
            return False
        await asyncio.sleep(0.05)
    return True


Perform = Callable[[Supervisor, Any], Awaitable[Done]]

PERFORM: dict[type[Verb], Perform] = {
    Load: load,
    Plan: planning.plan,
    Start: start,
    Stop: stop,
    Send: send,
    Handoff: handoff,
    Approve: answering.approve,
    Refuse: answering.refuse,
    Snooze: answering.snooze,
    Undo: undo,
    Continue: continue_,
    Attach: attach,
    RemoveWorktree: worktrees.remove,
    Down: down,
}
"""Every verb of `wire.verbs`; a test keeps the two equal."""
