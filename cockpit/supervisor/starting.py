"""Starting an agent by hand or by configuration: its settings, its worktree, its job, its session.

Everything that can be refused is refused before anything is made. Handoffs start their own
sessions in `acts`.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from cockpit.config.loaded import Loaded, changed_agent
from cockpit.config.schema import AgentSettings
from cockpit.core.continuation import Succession, continuation, first_prompt
from cockpit.core.errors import BadUsage, CockpitError, NoSuchAgent, NotNow
from cockpit.core.ids import AgentName, SessionId
from cockpit.ports.records import SessionRecord
from cockpit.ports.worktrees import GitFacts, Worktree
from cockpit.supervisor.placing import place_of, same_place
from cockpit.supervisor.seat import Seat
from cockpit.supervisor.supervisor import Supervisor
from cockpit.wire.verbs import Start

DECISIVE = frozenset({"arguments", "command", "env", "permission_mode"})
"""Settings whose absence changes what an agent is."""


@dataclass(frozen=True, slots=True)
class Inheritance:
    """What an agent is started to go on from, when it is not the first at its job."""

    document: str
    """Absolute path, where the agent can read it."""
    first_step: str | None


def seat_for(
    supervisor: Supervisor, name: AgentName, asked: Start, *, in_place: bool = False
) -> Seat:
    """The seat that is to be started, with what the command line says of it.

    A name that no file knows needs a directory; `in_place` makes no worktree of it, whatever the
    files say. Raises `NoSuchAgent`, `BadUsage`.
    """
    settings, file = settings_for(supervisor, name, asked, in_place=in_place)
    seat = supervisor.fleet.take_up(settings, file)
    supervisor.instruments.store.save_seat(seat.change(directory=str(settings.directory)))
    return seat


def settings_for(
    supervisor: Supervisor, name: AgentName, asked: Start, *, in_place: bool = False
) -> tuple[AgentSettings, Path | None]:
    """The settings that `seat_for` would start with, and the file that names the agent."""
    said: dict[str, Any] = {}
    if asked.directory:
        said["directory"] = straight(Path(asked.directory))
    if asked.runtime:
        said["runtime"] = asked.runtime
    if asked.mode:
        said["mode"] = asked.mode
    if asked.worktree:
        said["worktree"] = {"strategy": "git_worktree"}
    if in_place:
        said["worktree"] = {"strategy": "none"}
    return _settings(supervisor, name, said, asked.cwd)


def straight(path: Path) -> Path:
    """Without `..`, which leads elsewhere behind a link than it seems to; else as it is."""
    return path.resolve() if ".." in path.parts else path


def _settings(
    supervisor: Supervisor, name: AgentName, said: dict[str, Any], cwd: str | None
) -> tuple[AgentSettings, Path | None]:
    loaded = supervisor.fleet.loaded
    assert loaded is not None
    seat = supervisor.fleet.find(name)
    _refuse_if_held(loaded, name)
    try:
        known = loaded.agent(name)
        return (changed_agent(known, **said) if said else known), loaded.file_of(name)
    except NoSuchAgent:
        if loaded.held_for(name):
            raise
        if seat is not None:
            base = seat.settings
            return (changed_agent(base, **said) if said else base), None
        if "directory" not in said and cwd is None:
            raise
        directory = said.pop("directory", None) or Path(str(cwd))
        return loaded.new_agent(name, directory, **said), None


def _refuse_if_held(loaded: Loaded, name: AgentName) -> None:
    """Without its own environment or mode an agent would run as something nobody asked for."""
    held = [one for one in loaded.held_for(name) if one.key.rpartition(".")[2] in DECISIVE]
    if held:
        raise NotNow(
            f"{name} is held until its file is trusted",
            "\n".join(str(one) for one in held),
            f"Read the file, then: cockpit config trust {held[0].file}",
        )


async def start(
    supervisor: Supervisor,
    seat: Seat,
    prompt: str | None,
    *,
    resume: str | None = None,
    inheritance: Inheritance | None = None,
) -> None:
    """Begin a job in the seat: worktree, first session, process.

    The prompt is the job; with an inheritance, the session is told where to go on from instead.
    Where a new worktree has to be set up first, the session begins beside, after that.
    """
    settings = seat.settings
    if not settings.directory.is_dir():
        raise BadUsage(
            f"{settings.directory} is not a directory",
            f"{seat.name} is to work in it.",
            "Name another one with --directory, or make it.",
        )
    text = prompt if prompt is not None else settings.prompt
    ident = SessionId(resume) if resume else None
    if ident is not None:
        _check_resumable(supervisor, seat, ident)
    seat.environment = supervisor.sessions.environment(seat)
    await _probe(supervisor, seat)
    job = supervisor.sessions.new_job(seat, text or None, None)
    made = await _make_worktree(supervisor, seat, job.id)
    _check_place(seat)
    _refuse_company(supervisor, seat)
    await supervisor.sessions.leases.free(seat)
    found = await supervisor.instruments.worktrees.facts(seat.directory)
    job = replace(job, base_commit=found.head)
    supervisor.instruments.store.add_job(job)
    supervisor.instruments.store.save_seat(
        seat.change(job=job.id, branch=found.branch, gave_up=None)
    )
    seat.job, seat.handoffs = job, 0
    seat.handoff_failed = seat.trust_asked = None
    fly = partial(_fly, supervisor, seat, text, ident, inheritance)
    home = await supervisor.instruments.worktrees.home(settings.directory)
    if home is not None and supervisor.preparing.is_due(seat, made):
        plainly = ident is None and inheritance is None
        supervisor.preparing.begin(seat, home, fly, again=plainly)
        return
    await fly()


async def _fly(
    supervisor: Supervisor,
    seat: Seat,
    text: str,
    resume: SessionId | None,
    inheritance: Inheritance | None,
) -> None:
    """Open the job's first session, now that everything is there."""
    found = await supervisor.instruments.worktrees.facts(seat.directory)
    opening = _opening(seat, text, inheritance, found)
    await _first_session(supervisor, seat, opening, resume, inheritance)
    words = "reopened a session" if resume else "started"
    supervisor.feed.tell(
        "agent.started",
        f"{seat.name} {words} in {seat.directory}",
        seat.name,
        session=seat.record.session,
        directory=str(seat.directory),
        branch=found.branch,
    )


def _check_place(seat: Seat) -> None:
    """The folder that the agent works in may be younger than the commit of its worktree."""
    if seat.record.worktree and not seat.directory.is_dir():
        raise BadUsage(
            f"{seat.directory} is not in the worktree",
            f"{seat.settings.directory} is not in the commit that it begins at.",
            "Commit that folder, or set worktree.base to a branch that has it.",
        )


def _refuse_company(supervisor: Supervisor, seat: Seat) -> None:
    """Nobody else works in a worktree that was made for one; elsewhere it is only told.

    Raises `NotNow`. Two agents in one plain directory are the pilot's own choice.
    """
    for other in neighbours(supervisor, seat):
        if other.record.worktree or seat.record.worktree:
            raise NotNow(
                f"{other.name} works in {seat.directory}",
                "A worktree has one living agent.",
                f"Stop it first: cockpit stop {other.name}. Or start {seat.name} with --worktree.",
            )
        supervisor.feed.tell(
            "agent.company",
            f"{seat.name} works in the same directory as {other.name}; their edits may meet",
            seat.name,
        )


def neighbours(supervisor: Supervisor, seat: Seat) -> list[Seat]:
    """Other living agents in the same directory."""
    return [
        other
        for other in supervisor.fleet
        if other is not seat and other.alive and same_place(other.directory, seat.directory)
    ]


async def _probe(supervisor: Supervisor, seat: Seat) -> None:
    """The program is found before a worktree is made for it."""
    await asyncio.to_thread(seat.runtime.program, seat.environment)


def _opening(seat: Seat, text: str, inheritance: Inheritance | None, found: GitFacts) -> str | None:
    """The first prompt; None to leave the first word to the pilot."""
    if inheritance is None:
        return first_prompt(text, _marker(seat)) if text else None
    return continuation(
        Succession(
            document=inheritance.document,
            goal=text or None,
            first_step=inheritance.first_step,
            has_git=found.root is not None,
            branch=found.branch,
            marker=_marker(seat),
        )
    )


async def _first_session(
    supervisor: Supervisor,
    seat: Seat,
    opening: str | None,
    resume: SessionId | None,
    inheritance: Inheritance | None,
) -> None:
    assert seat.job is not None
    minted, run = supervisor.sessions.mint(seat)
    session = SessionRecord(
        id=resume or minted,
        agent=seat.name,
        job=seat.job.id,
        number=1,
        previous=None,
        run=run,
        created=supervisor.instruments.clock.now().timestamp(),
        document=inheritance.document if inheritance else None,
        permission_mode=seat.settings.permission_mode,
    )
    await supervisor.sessions.open(seat, session, opening, resume=resume is not None)


def _marker(seat: Seat) -> str | None:
    """What the agent is told to say at the end, where nobody else would see that it is done."""
    settings = seat.settings
    if not seat.runtime.has_readings:
        return None
    if settings.loop.enabled:
        return settings.loop.completion_marker
    limited = settings.limits.turns or settings.limits.session_time
    unattended = settings.mode == "auto" or limited
    return settings.handoff.completion_marker if unattended else None


def _check_resumable(supervisor: Supervisor, seat: Seat, session: SessionId) -> None:
    held = supervisor.instruments.store.session(session)
    probe = SessionRecord(
        id=session,
        agent=seat.name,
        job=held.job if held else seat.record.job,  # type: ignore[arg-type]
        number=1,
        previous=None,
        run="",
        created=0.0,
    )
    seat.runtime.resumable(supervisor.sessions.order(seat, probe, None, resume=True))
    for other in supervisor.fleet:
        if other.alive and other.record.session == session:
            raise NotNow(f"Session {session} is open already", f"{other.name} sits in it.")


async def _make_worktree(supervisor: Supervisor, seat: Seat, job: str) -> Worktree | None:
    worktrees = supervisor.instruments.worktrees
    place = await place_of(worktrees, seat.settings, job)
    if place is None:
        supervisor.instruments.store.save_seat(seat.change(worktree=None, branch=None))
        return None
    await _refuse_nesting(supervisor, seat, place.root)
    made = await worktrees.ensure(
        place.root, place.target, place.branch, place.base, agent=seat.name, job=job
    )
    if place.folder.is_relative_to(place.root):
        inner = place.folder.relative_to(place.root)
        await worktrees.keep_out(place.root, f"/{inner.parts[0]}/")
    supervisor.instruments.store.save_seat(
        seat.change(worktree=str(made.directory), branch=made.branch)
    )
    wanted = seat.settings.worktree
    if made.created and not (wanted.setup or wanted.copy_files):
        await worktrees.set_ready(made.directory)
    unfiltered = ", ".join(made.unfiltered)
    aside = f"; the repository's own filters were not run: {unfiltered}" if unfiltered else ""
    supervisor.feed.tell(
        "worktree.ready",
        f"The worktree of {seat.name} {_came_about(made)}{aside}",
        seat.name,
        directory=str(made.directory),
        branch=made.branch,
        created=made.created,
        new_branch=made.new_branch,
    )
    return made


def _came_about(made: Worktree) -> str:
    """What is new of it, and what was there and is gone on with."""
    if not made.created:
        return f"was there and is taken up as it is: {made.directory} ({made.branch})"
    if made.new_branch:
        return f"was made: {made.directory} ({made.branch})"
    return f"was made: {made.directory}; the branch {made.branch} was there and is taken up"


async def _refuse_nesting(supervisor: Supervisor, seat: Seat, root: Path) -> None:
    """No worktree inside one that is an agent's own: it would end up among that one's files.

    Raises `NotNow`. A worktree that the pilot made is a place like any other.
    """
    for other in supervisor.fleet:
        if other.record.worktree and same_place(Path(other.record.worktree), root):
            raise NotNow(
                f"{root} is the worktree of {other.name}",
                f"The worktree of {seat.name} would lie inside it, among its files.",
                f"Name the repository itself: --directory {other.record.directory}",
            )
    await supervisor.sessions.leases.free_of_owners(root)


async def _prepare_again(supervisor: Supervisor) -> None:
    """Take up the starts whose setup was cut off with an earlier supervisor."""
    for seat in supervisor.fleet:
        again = supervisor.preparing.cut_off(seat)
        home = None
        if again is not None:
            home = await supervisor.instruments.worktrees.home(seat.settings.directory)
        if again and home is not None and seat.directory.is_dir():
            seat.environment = supervisor.sessions.environment(seat)
            text = (seat.job.prompt if seat.job else None) or ""
            fly = partial(_fly, supervisor, seat, text, None, None)
            supervisor.preparing.begin(seat, home, fly, again=True)
        elif again is not None:
            words = f"the setup of its worktree was cut off. Again: cockpit start {seat.name}"
            supervisor.instruments.store.save_seat(seat.change(gave_up=words))
            supervisor.board.changed(seat)


async def start_automatic(supervisor: Supervisor) -> None:
    """Start what is configured to start by itself and was never started; each on its own.

    First those whose start an earlier supervisor could not finish.
    """
    await _prepare_again(supervisor)
    for seat in supervisor.fleet:
        if (
            seat.settings.start != "auto"
            or seat.alive
            or seat.opening
            or seat.record.session is not None
        ):
            continue
        try:
            await start(supervisor, seat, None)
        except CockpitError as refused:
            words = f"{refused.title}. {refused.hint}".strip()
            supervisor.instruments.store.save_seat(seat.change(gave_up=words))
            supervisor.feed.tell("agent.not_started", str(refused), seat.name)
        supervisor.board.changed(seat)
