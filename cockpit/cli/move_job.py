"""Drive one move: check, hand off, send, start, confirm, end; or take everything back."""

from __future__ import annotations

import asyncio
import os
import platform
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from cockpit import __version__
from cockpit.cli.move_machines import Machine, shown_list
from cockpit.cli.output import say
from cockpit.cli.places import our_places
from cockpit.core import document
from cockpit.core.errors import CockpitError, Failed, NoSuchAgent, NotNow
from cockpit.core.ids import AgentName
from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Approve, Continue, Forget, Handoff, Moved, Plan, Refuse, Stop

LOOK = 0.5
"""Seconds between two looks at a supervisor."""
MOST_DOCUMENTS = 50
ALIVE = frozenset({"starting", "working", "idle", "needs_you", "handing_off", "done", "unknown"})


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the user asked for."""

    name: AgentName
    new_name: AgentName
    directory: str | None
    branch: str | None
    runtime: str | None
    yes: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class Checked:
    """Both sides, after all checks."""

    row: AgentStatus
    here: dict[str, Any]
    there: dict[str, Any]
    branch: str

    @property
    def folder(self) -> str:
        return str(self.there["folder"])


class Stranded(Failed):
    """The move failed, and the other machine cannot be asked to take back what arrived."""


class Job:
    """One agent's job, on its way from one machine to another."""

    def __init__(self, source: Machine, target: Machine, wanted: Wanted) -> None:
        self.source = source
        self.target = target
        self.wanted = wanted

    # Checks

    async def show(self) -> int:
        """Check everything, and print what would happen."""
        checked = await self._check()
        self._print(checked)
        say("Nothing was changed.")
        return 0

    async def move(self) -> int:
        """Move the job; return the exit code. Raises `CockpitError`."""
        checked = await self._check()
        self._print(checked)
        command = f"cockpit move {self._full_name} --to {self.target.name}"
        owner = f"{command} (process {os.getpid()} on {platform.node()})"
        with self.source.held({"step": "hold", "name": self.wanted.name, "owner": owner}):
            handoff = await self._handed_off(checked)
            try:
                return await self._send(checked, handoff)
            except (KeyboardInterrupt, asyncio.CancelledError):
                say(self._how_to_go_on())
                raise

    async def _check(self) -> Checked:
        wanted = self.wanted
        row = await self._row(self.source, wanted.name)
        if row is None:
            raise NoSuchAgent(
                f"There is no agent {wanted.name} on {self.source.shown}",
                hint=f"List them: {self.source.by_hand('status')}",
            )
        self._check_row(row)
        here = await self._step(self.source, {"step": "describe", "directory": row.directory})
        self._same_version(self.source, here)
        inside = PurePath(str(here.get("inside") or "."))
        if inside.is_absolute() or ".." in inside.parts:
            raise Failed(
                f"{self.source.shown} sent a directory outside the worktree",
                safe_line(str(inside), 200),
                f"Check where it works: {self.source.by_hand('status', row.name)}",
            )
        branch = wanted.branch or here.get("branch")
        if not branch:
            raise NotNow(
                f"{wanted.name} is on no branch",
                "HEAD is detached.",
                "Name a branch for the other machine: --branch NAME",
            )
        # The supervisor is asked first, because its answers say best why a host is unreachable.
        before = await self._row(self.target, wanted.new_name)
        ident = row.handoff.id if row.handoff is not None and row.handoff.host else None
        there = await self._step(
            self.target,
            {
                "step": "inspect",
                "directory": wanted.directory or here["home"],
                "name": wanted.new_name,
                "branch": branch if ident is None else "cockpit/none",
                "head": here["head"],
                "roots": here["roots"],
                "handoff": ident,
            },
        )
        self._same_version(self.target, there)
        record = there.get("record")
        if isinstance(record, dict) and record.get("name") != wanted.new_name:
            began = safe_line(str(record.get("name")), 40)
            raise NotNow(
                f"This move of {wanted.name} began with the name {began} on {self.target.shown}",
                "A session with that name may be running there.",
                f"Continue it with the same name: --name {began}",
            )
        if record is None:
            self._check_free(before)
            plan = Plan(
                name=wanted.new_name,
                directory=str(there["repository"]),
                runtime=wanted.runtime or row.runtime,
            )
            await self.target.client.ask(plan)
        return Checked(row, here, there, str(branch))

    def _check_row(self, row: AgentStatus) -> None:
        if row.handoff is not None:
            if row.handoff.host == self._label:
                return
            raise NotNow(
                f"A handoff of {row.name} is already in progress",
                f"Current phase: {row.handoff.phase}.",
                f"Wait for its end, or refuse it: {self.source.by_hand('refuse', row.name)}",
            )
        if row.moved_away:
            raise NotNow(
                f"{row.name} is not on {self.source.shown} any more",
                safe_line(f"Its job was {row.note}.") if row.note else "Its job was moved away.",
                "Move it from there: cockpit move HOST/NAME --to HOST",
            )
        if row.session_id is None or row.state not in ALIVE:
            note = f"{row.note}. " if row.note else ""
            raise NotNow(
                f"{row.name} is not running",
                safe_line(f"{note}Only the job of a running agent can be moved."),
                f"Start it: {self.source.by_hand('start', row.name, '--resume')}",
            )

    def _check_free(self, before: AgentStatus | None) -> None:
        """A name is free if its agent was never started there, or was moved away from there."""
        if before is None or before.session_id is None:
            return
        if not before.moved_away:
            raise NotNow(
                f"There is an agent {before.name} on {self.target.shown} already",
                f"Its state: {before.state}.",
                f"Give the moved agent another name: --name {before.name}-2",
            )

    def _same_version(self, machine: Machine, answer: dict[str, Any]) -> None:
        if answer.get("version") != __version__:
            raise NotNow(
                f"{machine.shown} has another version of cockpit",
                f"There {safe_line(str(answer.get('version')), 40)}, here {__version__}.",
                "Upgrade the older one; its agents keep running.",
            )

    @property
    def _label(self) -> str:
        """The target's name for the rows of the source."""
        if self.target.host is not None:
            return self.target.name
        node = re.sub(r"[^a-z0-9._-]+", "-", platform.node().lower()).lstrip("._-")[:32]
        return node or "elsewhere"

    def _print(self, checked: Checked) -> None:
        here = checked.here
        say(f"Move {self.wanted.name} from {self.source.shown} to {self.target.shown}")
        say(f"  to {checked.folder}, branch {checked.branch}")
        files = counted(int(here["uncommitted"]), "uncommitted file")
        say(f"  travels: the handoff document, the commits of {checked.branch}, {files}")
        for key, what in (("ignored", "ignored"), ("secret", "with secrets, by their names")):
            stays = here.get(key)
            if not isinstance(stays, dict) or not stays.get("count"):
                continue
            names = shown_list(stays.get("names"))
            more = int(stays["count"]) - len(names)
            rest = f" and {more} more" if more > 0 else ""
            size = int(stays.get("size", 0))
            amount = f"{size / 1_000_000:.1f} MB" if size >= 100_000 else f"{size} bytes"
            say(f"  stays ({what}): {', '.join(names)}{rest}; {amount}")

    # The handoff

    async def _handed_off(self, checked: Checked) -> str:
        """Begin the handoff, and wait until the old session waits for its end; return its id."""
        row, wanted = checked.row, self.wanted
        if row.handoff is None:
            done = await self.source.client.ask(Handoff(name=wanted.name, host=self._label))
            say(done.message)
            ident = str(done.document)
        else:
            ident = row.handoff.id
        shown = ""
        while True:
            now = await self._row(self.source, wanted.name)
            handoff = now.handoff if now is not None else None
            if handoff is None or handoff.id != ident:
                raise NotNow(
                    f"The handoff of {wanted.name} ended before anything was moved",
                    "It was refused or cancelled; the session continues.",
                    f"See: {self.source.by_hand('history', wanted.name)}",
                )
            if handoff.phase == "moving":
                return ident
            if handoff.phase != shown:
                shown = handoff.phase
                await self._tell_phase(ident, shown)
            await asyncio.sleep(LOOK)

    async def _tell_phase(self, ident: str, phase: str) -> None:
        if phase != "review":
            say(f"{self.wanted.name}: {phase}")
            return
        if self.wanted.yes:
            text = await self.source.client.document(ident)
            problems = [one.text for one in document.validate(text)]
            if not problems:
                await self.source.client.ask(Approve(name=self.wanted.name, handoff=ident))
                return
            say("The document has problems: " + safe_line("; ".join(problems), 400))
        approve = self.source.by_hand("approve", self.wanted.name)
        say(f"Review the document: {self.source.by_hand('show', ident[:8])}")
        say(f"Then approve it: {approve}. This command waits.")

    # The move

    async def _send(self, checked: Checked, handoff: str) -> int:
        record = checked.there.get("record")
        try:
            if isinstance(record, dict):
                if await self._continues(checked, handoff, record):
                    return await self._done(handoff)
                await self._back(handoff, "an earlier attempt was interrupted", refuse=False)
                checked = await self._again(checked)
            arrived, parcel = await self._arrive(checked, handoff)
            say(f"The worktree is at {safe_line(str(arrived['folder']))} on {self.target.shown}")
            await self._start(checked, arrived)
            await self._confirmed(str(arrived["folder"]))
            await self._unchanged(checked, parcel)
            await self._end_old(handoff)
        except Stranded:
            raise
        except (CockpitError, OSError, KeyError) as error:
            await self._back(handoff, str(error))
            if isinstance(error, CockpitError):
                raise Failed(
                    f"{self.wanted.name} was not moved: {error.title}", error.detail, error.hint
                ) from error
            raise
        return await self._done(handoff)

    async def _again(self, checked: Checked) -> Checked:
        """Check both sides again, after an earlier attempt was taken back."""
        row = await self._row(self.source, self.wanted.name)
        there = await self._step(
            self.target,
            {
                "step": "inspect",
                "directory": checked.there["repository"],
                "name": self.wanted.new_name,
                "branch": checked.branch,
                "head": checked.here["head"],
                "roots": checked.here["roots"],
            },
        )
        return Checked(row or checked.row, checked.here, there, checked.branch)

    async def _continues(self, checked: Checked, handoff: str, record: dict[str, Any]) -> bool:
        """Finish an earlier attempt whose new session has replied already."""
        row = await self._row(self.target, self.wanted.new_name)
        folder = str(record.get("folder"))
        if row is None or row.state not in ALIVE or not _is_in(row, folder):
            return False
        if row.context.tokens is None:
            return False
        parcel = record.get("parcel")
        await self._unchanged(checked, parcel if isinstance(parcel, dict) else {})
        await self._end_old(handoff)
        return True

    async def _arrive(
        self, checked: Checked, handoff: str
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        with tempfile.TemporaryDirectory(prefix="move-", dir=our_places().state) as scratch:
            bundle = Path(scratch) / "bundle"
            packed = await asyncio.to_thread(
                self.source.step,
                {
                    "step": "pack",
                    "directory": checked.row.directory,
                    "name": self.wanted.name,
                    "handoff": handoff,
                    "known": checked.there.get("tips", []),
                },
                receive=bundle,
            )
            say(f"Sending {max(1, bundle.stat().st_size // 1000)} kB")
            text = await self.source.client.document(handoff)
            arrived = await asyncio.to_thread(
                self.target.step,
                {
                    "step": "arrive",
                    "name": self.wanted.new_name,
                    "handoff": handoff,
                    "from": self._origin,
                    "repository": checked.there["repository"],
                    "folder": checked.folder,
                    "branch": checked.branch,
                    "parcel": packed["parcel"],
                    "size": packed["size"],
                    "sha256": packed["sha256"],
                    "document": text,
                    "documents": await self._chain(handoff, text),
                },
                send=bundle,
            )
        return arrived, packed["parcel"]

    @property
    def _origin(self) -> str:
        return self.source.name if self.source.host is not None else platform.node()

    async def _chain(self, handoff: str, text: str) -> list[tuple[str, str]]:
        """Return the documents of the job with their ids, the newest first."""
        found = [(handoff, text)]
        for chain in await self.source.client.history(self.wanted.name):
            for session in chain.sessions:
                for one in session.handoffs:
                    if one.document and one.id != handoff and len(found) < MOST_DOCUMENTS:
                        try:
                            found.append((one.id, await self.source.client.document(one.id)))
                        except CockpitError:
                            say(f"An earlier document cannot be read and stays: {one.id[:8]}")
        return found

    async def _start(self, checked: Checked, arrived: dict[str, Any]) -> None:
        inside = checked.here.get("inside") or "."
        folder = Path(str(arrived["folder"])) / str(inside)
        done = await self.target.client.ask(
            Continue(
                document=str(arrived["document"]),
                name=self.wanted.new_name,
                directory=str(folder),
                runtime=self.wanted.runtime or checked.row.runtime,
                moved_from=safe_line(self._origin, 80),
            )
        )
        say(done.message)

    async def _confirmed(self, folder: str) -> None:
        """Wait for the first reply of the new session. Raises `Failed`."""
        name, told = self.wanted.new_name, ""
        end = asyncio.get_running_loop().time() + self.wanted.seconds
        while True:
            row = await self._row(self.target, name)
            if row is None or row.state not in ALIVE or not _is_in(row, folder):
                why = (row.note if row is not None else None) or "Its process has ended."
                raise Failed(
                    f"The new session on {self.target.shown} ended before its first reply",
                    safe_line(why, 300),
                    f"See: {self.target.by_hand('events')}",
                )
            if row.context.tokens is not None:
                return
            needs = row.needs.detail if row.needs is not None else ""
            if needs and needs != told:
                told = needs
                say(f"The new session is waiting for you: {safe_line(needs, 300)}")
                say(f"  {self.target.by_hand('attach', name)}")
            if asyncio.get_running_loop().time() > end:
                raise Failed(
                    f"The new session on {self.target.shown} did not reply in time",
                    f"No reply in {self.wanted.seconds:g} s.",
                    "Wait longer with --wait SECONDS, or check the CLI there.",
                )
            await asyncio.sleep(LOOK)

    async def _unchanged(self, checked: Checked, parcel: dict[str, Any]) -> None:
        """Raise `NotNow` if the worktree was changed since it was packed."""
        found = await self._step(self.source, {"step": "state", "directory": checked.row.directory})
        if found.get("state") != parcel.get("state"):
            raise NotNow(
                f"Files of {self.wanted.name} changed while the job was moved",
                "The other machine does not have the changes.",
                "Try again when nothing writes in the worktree.",
            )

    async def _done(self, handoff: str) -> int:
        """The job is there for good."""
        name = self.wanted.new_name
        say(f"{self.wanted.name} was moved to {self.target.shown}")
        try:
            await self._step(self.target, {"step": "finish", "handoff": handoff})
        except CockpitError as error:
            say(f"A note of the move stays on {self.target.shown}: {error.title}")
        say(f"  open it: {self.target.by_hand('attach', name)}")
        remove = self.source.by_hand("worktrees", "remove", self.wanted.name)
        say(f"  the old worktree stays on {self.source.shown}; remove it with: {remove}")
        return 0

    async def _end_old(self, handoff: str) -> None:
        """Let the source end the old session.

        Raises what the source refuses, and `Stranded` if its answer was lost and it is not known
        whether the session ends: then neither session may be taken back.
        """
        try:
            await self.source.client.ask(Moved(name=self.wanted.name, handoff=handoff))
        except (NotNow, NoSuchAgent):
            if not await self._is_moved(handoff):
                raise
        except (CockpitError, OSError) as error:
            if not await self._is_moved(handoff):
                raise Stranded(
                    f"The new session of {self.wanted.name} runs on {self.target.shown}; "
                    f"{self.source.shown} did not confirm the end of the old one",
                    str(error),
                    self._how_to_go_on(),
                ) from error

    async def _is_moved(self, handoff: str) -> bool:
        """Whether the source has ended the session, although its answer was lost.

        Waits while the session is being ended. Raises `Stranded` if the source cannot be asked.
        """
        end = asyncio.get_running_loop().time() + self.wanted.seconds
        while True:
            try:
                row = await self._row(self.source, self.wanted.name)
            except CockpitError as error:
                raise Stranded(
                    f"{self.source.shown} cannot be asked whether it ended {self.wanted.name}",
                    f"{error.title}. The new session runs on {self.target.shown}.",
                    self._how_to_go_on(),
                ) from error
            if row is None or row.handoff is None:
                return row is not None and row.moved_away
            late = asyncio.get_running_loop().time() > end
            if row.handoff.id != handoff or row.handoff.phase == "moving" or late:
                return False
            await asyncio.sleep(LOOK)

    # Taking back

    async def _back(self, handoff: str, why: str, *, refuse: bool = True) -> None:
        """End the new session, take back what arrived, and let the old session continue.

        Raises `Stranded` if the other machine cannot be asked: a session may run there, so the old
        one waits.
        """
        say(f"Taking back the move: {safe_line(why, 300)}")
        try:
            await self._take_back_there(handoff)
        except CockpitError as error:
            raise Stranded(
                f"{self.wanted.name} was not moved; {self.target.shown} could not be cleaned up",
                f"{error.title}. A session of the job may be running there, so the one on "
                f"{self.source.shown} waits.",
                self._how_to_go_on(),
            ) from error
        if not refuse:
            return
        try:
            await self.source.client.ask(Refuse(name=self.wanted.name, handoff=handoff))
        except CockpitError as error:
            say(f"The handoff is over already: {error.title}")
        say(f"{self.wanted.name} keeps its session on {self.source.shown}")

    async def _take_back_there(self, handoff: str) -> None:
        found = await self._step(
            self.target,
            {"step": "record", "handoff": handoff},
        )
        record = found.get("record")
        if not isinstance(record, dict):
            return
        folder = str(record.get("folder"))
        for row in (await self.target.client.status()).agents:
            if not _is_in(row, folder):
                continue
            if row.state in ALIVE:
                await self.target.client.ask(Stop(name=row.name))
            try:
                await self.target.client.ask(Forget(name=row.name))
            except CockpitError as error:
                say(f"{row.name} stays in the list of {self.target.shown}: {error.title}")
        answer = await self._step(self.target, {"step": "discard", "handoff": handoff})
        if left := answer.get("left"):
            reason = safe_line(str(answer.get("why")), 300)
            say(f"The worktree on {self.target.shown} was kept: {safe_line(str(left))} ({reason})")

    def _how_to_go_on(self) -> str:
        again = f"cockpit move {self._full_name} --to {self.target.name}"
        return (
            f"To continue: {again}\nTo keep the job on {self.source.shown} instead: "
            f"{self.target.by_hand('stop', self.wanted.new_name)}; "
            f"{self.source.by_hand('refuse', self.wanted.name)}"
        )

    @property
    def _full_name(self) -> str:
        if self.source.host is None:
            return str(self.wanted.name)
        return f"{self.source.name}/{self.wanted.name}"

    # Asking

    async def _step(self, machine: Machine, request: dict[str, Any]) -> dict[str, Any]:
        return await asyncio.to_thread(machine.step, request)

    async def _row(self, machine: Machine, name: str) -> AgentStatus | None:
        status = await machine.client.status()
        return next((row for row in status.agents if row.name == name), None)


def _is_in(row: AgentStatus, folder: str) -> bool:
    """Whether the agent works in that worktree."""
    return Path(row.directory).is_relative_to(folder)
