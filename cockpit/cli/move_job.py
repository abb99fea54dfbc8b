"""Run one move: check, hand off, send, start, confirm, end; or undo everything.

The checks are in `move_check`, the end is in `move_end`. The supervisors do not know each other:
this module sends requests to both, and runs `cockpit move-step` on each for the work with git. The
handoff waits in phase `moving` before any process is ended; the verb `moved` ends the old session.
"""

from __future__ import annotations

import asyncio
import os
import platform
import tempfile
from pathlib import Path

from cockpit.cli.move_check import ALIVE, Checked, MoveCheck, Wanted, row_of
from cockpit.cli.move_end import LOOK, HalfMoved, MoveEnd, works_in
from cockpit.cli.move_machines import Machine
from cockpit.cli.output import say
from cockpit.cli.places import our_places
from cockpit.core import document
from cockpit.core.errors import CockpitError, Failed, NotNow
from cockpit.core.safetext import safe_line
from cockpit.wire.history import HistoryChain
from cockpit.wire.moves import Arrival, Arrived, CurrentState, Packed, SentParcel
from cockpit.wire.verbs import Approve, Continue, Handoff, Moved

MOST_DOCUMENTS = 50
YOU_REVIEW = "you review the document before the session ends"
"""Part of the supervisor's message when the handoff begins.

The supervisor does not know of `--yes`. With `--yes`, this command prints `NO_REVIEW` in its place.
"""
NO_REVIEW = "a document without problems is approved"


class Job:
    """The move of one agent's job from one machine to another."""

    def __init__(self, source: Machine, target: Machine, wanted: Wanted) -> None:
        self.source = source
        self.target = target
        self.wanted = wanted
        self._checks = MoveCheck(source, target, wanted)
        self._end = MoveEnd(source, target, wanted)

    # Checks

    async def show(self) -> int:
        """Check both machines, print what would be moved, and return 0."""
        checked = await self._checks.check()
        self._checks.print(checked)
        say("Nothing was changed.")
        return 0

    async def move(self) -> int:
        """Move the job; return the exit code. Raises `CockpitError`."""
        checked = await self._checks.check()
        self._checks.print(checked)
        command = f"cockpit move {self._end.full_name} --to {self.target.name}"
        owner = f"{command} (process {os.getpid()} on {platform.node()})"
        with self.source.held({"step": "hold", "name": self.wanted.name, "owner": owner}):
            handoff = await self._handed_off(checked)
            try:
                return await self._send(checked, handoff)
            except (KeyboardInterrupt, asyncio.CancelledError):
                say(self._end.how_to_go_on())
                raise

    # The handoff

    async def _handed_off(self, checked: Checked) -> str:
        """Begin or continue the handoff, and wait for phase `moving`; return the handoff's id.

        Raises `NotNow` if the handoff ends before that phase.
        """
        row, wanted = checked.row, self.wanted
        if row.handoff is None:
            asked = Handoff(name=wanted.name, host=self._checks.label, to=wanted.runtime)
            done = await self.source.client.ask(asked)
            say(done.message.replace(YOU_REVIEW, NO_REVIEW) if wanted.yes else done.message)
            ident = str(done.document)
        else:
            ident = row.handoff.id
        shown = ""
        while True:
            now = await row_of(self.source, wanted.name)
            handoff = now.handoff if now is not None else None
            if handoff is None or handoff.id != ident:
                raise NotNow(
                    f"The handoff of {wanted.name} ended before anything was moved",
                    "The handoff was refused or cancelled, or it failed.",
                    f"See the outcome: {self.source.by_hand('history', wanted.name)}",
                )
            if handoff.phase == "moving":
                return ident
            if handoff.phase != shown:
                shown = handoff.phase
                await self._report_phase(ident, shown)
            await asyncio.sleep(LOOK)

    async def _report_phase(self, ident: str, phase: str) -> None:
        if phase != "review":
            say(f"{self.wanted.name}: {phase}")
            return
        if self.wanted.yes:
            text = await self.source.client.document(ident)
            problems = [problem.text for problem in document.validate(text)]
            if not problems:
                await self.source.client.ask(Approve(name=self.wanted.name, handoff=ident))
                return
            say("The document has problems: " + safe_line(" ".join(problems), 400))
        approve = self.source.by_hand("approve", self.wanted.name)
        say(f"Review the document: {self.source.by_hand('show', ident[:8])}")
        say(f"Then approve the document: {approve}. This command waits for your answer.")

    # The move

    async def _send(self, checked: Checked, handoff: str) -> int:
        record = checked.there.record
        try:
            if record is not None:
                if await self._continues(checked, handoff, record):
                    return await self._done(handoff)
                await self._end.take_back(
                    handoff, "an earlier attempt was interrupted", refuse=False
                )
                checked = await self._checks.again(checked)
            arrived, parcel = await self._arrive(checked, handoff)
            say(f"The worktree is at {safe_line(arrived.folder)} on {self.target.shown}")
            await self._start(checked, arrived, handoff)
            await self._confirmed(arrived.folder)
            await self._unchanged(checked, parcel)
            await self._end.end_old(handoff)
        except HalfMoved:
            raise
        except (CockpitError, OSError) as error:
            await self._end.take_back(handoff, str(error))
            if isinstance(error, CockpitError):
                raise Failed(
                    f"{self.wanted.name} was not moved: {error.title}", error.detail, error.hint
                ) from error
            raise
        return await self._done(handoff)

    async def _continues(self, checked: Checked, handoff: str, record: Arrival) -> bool:
        """If the new session of an earlier attempt has replied, end the old session.

        Returns whether the new session has replied.
        """
        row = await row_of(self.target, self.wanted.new_name)
        if row is None or row.state not in ALIVE or not works_in(row, record.folder):
            return False
        if row.context.tokens is None:
            return False
        await self._unchanged(checked, record.parcel)
        await self._end.end_old(handoff)
        return True

    async def _arrive(self, checked: Checked, handoff: str) -> tuple[Arrived, SentParcel]:
        with tempfile.TemporaryDirectory(prefix="move-", dir=our_places().state) as scratch:
            bundle = Path(scratch) / "bundle"
            packed = await asyncio.to_thread(
                self.source.ask,
                {
                    "step": "pack",
                    "directory": checked.row.directory,
                    "name": self.wanted.name,
                    "handoff": handoff,
                    "known": checked.there.tips,
                },
                Packed,
                receive=bundle,
            )
            say(f"Sending {max(1, bundle.stat().st_size // 1000)} kB")
            text = await self.source.client.document(handoff)
            arrived = await asyncio.to_thread(
                self.target.ask,
                {
                    "step": "arrive",
                    "name": self.wanted.new_name,
                    "handoff": handoff,
                    "from": self._origin,
                    "repository": checked.there.repository,
                    "folder": checked.there.folder,
                    "branch": checked.branch,
                    "parcel": packed.parcel.model_dump(),
                    "size": packed.size,
                    "sha256": packed.sha256,
                    "document": text,
                    "documents": await self._documents(handoff, text),
                },
                Arrived,
                send=bundle,
            )
        return arrived, packed.parcel

    @property
    def _origin(self) -> str:
        return self.source.name if self.source.host is not None else platform.node()

    async def _chain(self, handoff: str) -> HistoryChain | None:
        """Return the chain with this handoff; None if no chain of the agent has the handoff."""
        for chain in await self.source.client.history(self.wanted.name):
            if any(item.id == handoff for session in chain.sessions for item in session.handoffs):
                return chain
        return None

    async def _documents(self, handoff: str, text: str) -> list[tuple[str, str]]:
        """Return the job's documents with their ids, newest first; at most `MOST_DOCUMENTS`.

        Leaves out earlier documents that cannot be read, and prints a message about each.
        """
        documents = [(handoff, text)]
        chain = await self._chain(handoff)
        earlier = [item for session in chain.sessions for item in session.handoffs] if chain else []
        for item in reversed(earlier):
            if item.document and item.id != handoff and len(documents) < MOST_DOCUMENTS:
                try:
                    documents.append((item.id, await self.source.client.document(item.id)))
                except CockpitError:
                    say(f"Cannot read an earlier document, so it is not moved: {item.id[:8]}")
        return documents

    async def _start(self, checked: Checked, arrived: Arrived, handoff: str) -> None:
        folder = Path(arrived.folder) / checked.here.inside
        done = await self.target.client.ask(
            Continue(
                document=arrived.document,
                name=self.wanted.new_name,
                directory=str(folder),
                runtime=self.wanted.runtime or checked.row.runtime,
                moved_from=safe_line(self._origin, 80),
                handoff=handoff,
                chain=await self._chain(handoff),
            )
        )
        say(done.message)

    async def _confirmed(self, folder: str) -> None:
        """Wait for the first reply of the new session.

        Raises `Failed` if the session ends first, or does not reply in time.
        """
        name, need = self.wanted.new_name, ""
        end = asyncio.get_running_loop().time() + self.wanted.seconds
        while True:
            row = await row_of(self.target, name)
            if row is None or row.state not in ALIVE or not works_in(row, folder):
                why = (row.note if row is not None else None) or "The session's process has ended."
                raise Failed(
                    f"The new session on {self.target.shown} ended before its first reply",
                    safe_line(why, 300),
                    f"See the events: {self.target.by_hand('events')}",
                )
            if row.context.tokens is not None:
                return
            needs = row.needs.detail if row.needs is not None else ""
            if needs and needs != need:
                need = needs
                say(f"The new session is waiting for you: {safe_line(needs, 300)}")
                say(f"  {self.target.by_hand('attach', name)}")
            if asyncio.get_running_loop().time() > end:
                raise Failed(
                    f"The new session on {self.target.shown} did not reply in time",
                    f"No reply in {self.wanted.seconds:g} s.",
                    f"Wait longer with --wait SECONDS, or check the CLI on {self.target.shown}.",
                )
            await asyncio.sleep(LOOK)

    async def _unchanged(self, checked: Checked, parcel: SentParcel) -> None:
        """Raise `NotNow` if the old worktree has changed since its files were packed."""
        request = {"step": "state", "directory": checked.row.directory}
        state = await asyncio.to_thread(self.source.ask, request, CurrentState)
        if state.state != parcel.state:
            raise NotNow(
                f"Files of {self.wanted.name} changed while the job was being moved",
                "The other machine does not have the changes.",
                "Try again when no process is changing files in the worktree.",
            )

    async def _done(self, handoff: str) -> int:
        """Report a completed move, and let the target complete its history and forget the move."""
        name = self.wanted.new_name
        say(f"{self.wanted.name} was moved to {self.target.shown}")
        try:
            await self.target.client.ask(Moved(name=name, handoff=handoff, arrived=True))
        except CockpitError as error:
            say(f"Could not complete the history on {self.target.shown}: {error.title}")
        try:
            request = {"step": "finish", "handoff": handoff}
            await asyncio.to_thread(self.target.step, request)
        except CockpitError as error:
            say(f"Could not delete the record of this move on {self.target.shown}: {error.title}")
            say("  The move itself is complete.")
        say(f"  open the agent: {self.target.by_hand('attach', name)}")
        remove = self.source.by_hand("worktrees", "remove", self.wanted.name)
        say(f"  the old worktree stays on {self.source.shown}; remove it with: {remove}")
        return 0
