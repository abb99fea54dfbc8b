"""Check whether an agent's job can move to another machine. Changes nothing."""

from __future__ import annotations

import asyncio
import platform
import re
from dataclasses import dataclass, replace
from pathlib import PurePath

from cockpit import __version__
from cockpit.cli.host_checks import numbers
from cockpit.cli.move_machines import Machine, shown_list
from cockpit.cli.output import say
from cockpit.core.errors import Failed, NoSuchAgent, NotNow
from cockpit.core.ids import AgentName
from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line
from cockpit.wire.moves import Description, Inspection, Staying
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Plan

ALIVE = frozenset({"starting", "working", "idle", "needs_you", "handing_off", "done", "unknown"})


@dataclass(frozen=True, slots=True)
class Wanted:
    """The user's choices for a move, from the command line."""

    name: AgentName
    new_name: AgentName
    directory: str | None
    branch: str | None
    runtime: str | None
    yes: bool
    seconds: float
    """Maximum seconds to wait for the first reply of the new session."""


@dataclass(frozen=True, slots=True)
class Checked:
    """The results of the checks of one move, on both machines."""

    row: AgentStatus
    here: Description
    there: Inspection
    branch: str


class MoveCheck:
    """The checks of one move, on both machines."""

    def __init__(self, source: Machine, target: Machine, wanted: Wanted) -> None:
        self.source = source
        self.target = target
        self.wanted = wanted

    async def check(self) -> Checked:
        """Check both machines. Raises `CockpitError` with the reason and the next step."""
        wanted = self.wanted
        row = await row_of(self.source, wanted.name)
        if row is None:
            raise NoSuchAgent(
                f"There is no agent {wanted.name} on {self.source.shown}",
                hint=f"List the agents: {self.source.by_hand('status')}",
            )
        self._check_row(row)
        here = await asyncio.to_thread(
            self.source.ask, {"step": "describe", "directory": row.directory}, Description
        )
        self._same_version(self.source, here.version)
        inside = PurePath(here.inside)
        if inside.is_absolute() or ".." in inside.parts:
            raise Failed(
                f"{self.source.shown} reported a directory outside the worktree",
                safe_line(str(inside), 200),
                f"Check the agent's directory: {self.source.by_hand('status', row.name)}",
            )
        branch = wanted.branch or here.branch
        if not branch:
            raise NotNow(
                f"{wanted.name} is not on a branch",
                "HEAD is detached.",
                "Choose a branch for the other machine: --branch NAME",
            )
        # Ask the supervisor first: its error best explains why a host is unreachable.
        before = await row_of(self.target, wanted.new_name)
        ident = row.handoff.id if row.handoff is not None and row.handoff.host else None
        there = await self._inspect(
            wanted.directory or here.home,
            "cockpit/none" if ident is not None else branch,
            here,
            ident,
        )
        self._same_version(self.target, there.version)
        record = there.record
        if record is not None and record.name != wanted.new_name:
            began = safe_line(record.name, 40)
            raise NotNow(
                f"This move of {wanted.name} began with the name {began} on {self.target.shown}",
                f"A session named {began} may be running on {self.target.shown}.",
                f"Continue the move with the same name: --name {began}",
            )
        if record is None:
            self._check_free(before)
            plan = Plan(
                name=wanted.new_name,
                directory=there.repository,
                runtime=wanted.runtime or row.runtime,
            )
            await self.target.client.ask(plan)
        return Checked(row, here, there, branch)

    def _check_row(self, row: AgentStatus) -> None:
        if row.handoff is not None:
            if row.handoff.host == self.label:
                return
            raise NotNow(
                f"A handoff of {row.name} is already in progress",
                f"Current phase: {row.handoff.phase}.",
                f"Wait, or refuse the handoff: {self.source.by_hand('refuse', row.name)}",
            )
        if row.moved_away:
            raise NotNow(
                f"{row.name} is no longer on {self.source.shown}",
                safe_line(f"The agent's job was {row.note}.")
                if row.note
                else "The agent's job was moved to another machine.",
                "Move the job from the machine where it is: cockpit move HOST/NAME --to HOST",
            )
        if row.runtime == "command":
            raise NotNow(
                f"{row.name} runs a command, which cannot continue from a document",
                "Only the job of an agent that reads its handoff document can be moved.",
                f"Start the command on {self.target.shown}: "
                f"cockpit start {row.name} --host {self.target.name} -- COMMAND",
            )
        if row.session_id is None or row.state not in ALIVE:
            note = f"{row.note}. " if row.note else ""
            raise NotNow(
                f"{row.name} is not running",
                safe_line(f"{note}Only the job of a running agent can be moved."),
                f"Start the agent: {self.source.by_hand('start', row.name, '--resume')}",
            )

    def _check_free(self, before: AgentStatus | None) -> None:
        """Raise `NotNow` if the new name is taken on the target.

        `before` is the target's agent of that name; None if there is none. The name is also free if
        that agent was never started, or if its job was moved away.
        """
        if before is None or before.session_id is None:
            return
        if not before.moved_away:
            raise NotNow(
                f"{self.target.shown} already has an agent {before.name}",
                f"State of {before.name}: {before.state}.",
                f"Give the moved agent another name: --name {before.name}-2",
            )

    def _same_version(self, machine: Machine, version: str) -> None:
        if version != __version__:
            raise NotNow(
                f"{machine.shown} has another version of cockpit",
                f"{machine.shown}: {safe_line(version, 40)}; this machine: {__version__}.",
                upgrade_step(machine.host.name if machine.host else None, version),
            )

    @property
    def label(self) -> str:
        """The name by which the source shows the target, such as in the status of a moved agent.

        This is the configured name of a host; for this machine, a name made from its hostname.
        """
        if self.target.host is not None:
            return self.target.name
        node = re.sub(r"[^a-z0-9._-]+", "-", platform.node().lower()).lstrip("._-")[:32]
        return node or "elsewhere"

    def print(self, checked: Checked) -> None:
        here = checked.here
        say(f"Move {self.wanted.name} from {self.source.shown} to {self.target.shown}")
        say(f"  to {checked.there.folder}, branch {checked.branch}")
        files = counted(here.uncommitted, "uncommitted file")
        say(f"  moved: the handoff document, the commits of {checked.branch}, {files}")
        _print_staying("ignored", here.ignored)
        _print_staying("names suggest secrets", here.secret)
        _print_staying("not stored by git", here.unstored)
        if here.lfs:
            say(
                f"  Git LFS: {counted(here.lfs, 'file')} moved as in the worktree; to move other "
                "versions: git lfs push --all REMOTE"
            )

    async def again(self, checked: Checked) -> Checked:
        """Check both machines again, after an earlier attempt was undone."""
        row = await row_of(self.source, self.wanted.name)
        there = await self._inspect(checked.there.repository, checked.branch, checked.here, None)
        return replace(checked, row=row or checked.row, there=there)

    async def _inspect(
        self, directory: str, branch: str, here: Description, handoff: str | None
    ) -> Inspection:
        request = {
            "step": "inspect",
            "directory": directory,
            "name": self.wanted.new_name,
            "branch": branch,
            "head": here.head,
            "roots": here.roots,
            "handoff": handoff,
        }
        return await asyncio.to_thread(self.target.ask, request, Inspection)


async def row_of(machine: Machine, name: str) -> AgentStatus | None:
    """Return the agent's current status; None if no agent has that name."""
    status = await machine.client.status()
    return next((row for row in status.agents if row.name == name), None)


def _print_staying(what: str, stays: Staying) -> None:
    if not stays.count:
        return
    names = shown_list(stays.names)
    more = stays.count - len(names)
    rest = f" and {more} more" if more > 0 else ""
    amount = f"{stays.size / 1_000_000:.1f} MB" if stays.size >= 100_000 else f"{stays.size} bytes"
    weight = f"; {amount}" if stays.size else ""
    say(f"  stays ({what}): {', '.join(names)}{rest}{weight}")


def upgrade_step(host: str | None, version: str) -> str:
    """Return the next step to get the same version of cockpit on both machines.

    `version` is that of `host`, or of this machine's supervisor if `host` is None.
    """
    if host is None:
        return "Restart the supervisor; agents keep running: cockpit restart"
    if numbers(version) > numbers(__version__):
        return "Upgrade cockpit on this machine; agents keep running."
    return f"Upgrade {host}; agents keep running: cockpit hosts install {host}"
