"""Makes a new worktree fit for its agent: files that git does not have, and the setup command.

It goes on beside, with its last line on the row and all of it in a file; the agent is started after
it. That a start waits for this is written down, so that a supervisor that comes back does it again.
A worktree that somebody else has made is left as it is.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from cockpit.adapters.hook_shell import ShellHooks, ShellRun
from cockpit.adapters.private_file import write_private
from cockpit.core.errors import CockpitError, Failed
from cockpit.core.ids import SessionId
from cockpit.core.safetext import safe_line, safe_text
from cockpit.ports.worktrees import Home, Worktree
from cockpit.supervisor.instruments import Instruments
from cockpit.supervisor.seat import Seat
from cockpit.supervisor.secrecy import redactor_of

LATCH = "preparing"
"""Set on a job whose first session waits for a setup."""
KEPT = 1_000_000
"""Bytes of a setup's output that are kept in its file."""
LOOK = 0.5
"""Seconds between two changes of the row while output comes."""

Fly = Callable[[], Awaitable[None]]
"""Starts the agent, once its worktree is fit."""


class Preparing:
    """All setups that are under way."""

    def __init__(
        self,
        instruments: Instruments,
        changed: Callable[[Seat], None],
        environment: Callable[[Seat], dict[str, str]],
    ) -> None:
        self._in = instruments
        self._changed = changed
        self._environment = environment
        places = instruments.places
        self._shell = ShellHooks(
            instruments.processes, instruments.environment, places.state / "hooks"
        )
        self._running: dict[str, asyncio.Task[None]] = {}

    def is_due(self, seat: Seat, made: Worktree | None) -> bool:
        """Whether something is to be done before an agent is started there."""
        wanted = seat.settings.worktree
        fresh = made is not None and made.made is not None and not made.made.ready
        return fresh and bool(wanted.setup or wanted.copy_files)

    def begin(self, seat: Seat, home: Home, fly: Fly, *, again: bool) -> None:
        """Prepare the seat's worktree beside, then start its agent.

        With `again`, a supervisor that comes back does it anew; else it asks the pilot to.
        """
        assert seat.job is not None
        self._in.store.latch(SessionId(seat.job.id), LATCH, 1.0 if again else 0.0)
        seat.opening = True
        self._say(seat, "its worktree is being prepared")
        task = asyncio.get_running_loop().create_task(self._prepare(seat, home, fly))
        self._running[seat.name] = task
        task.add_done_callback(lambda _: self._running.pop(seat.name, None))

    def cut_off(self, seat: Seat) -> bool | None:
        """Whether an earlier supervisor's setup is to be done again; None if none was cut off."""
        if seat.job is None or seat.alive or seat.opening:
            return None
        if seat.session is not None and seat.session.job == seat.job.id:
            self._forget(seat)
            return None
        noted = self._in.store.latched(SessionId(seat.job.id), LATCH)
        return None if noted is None else bool(noted)

    async def _prepare(self, seat: Seat, home: Home, fly: Fly) -> None:
        try:
            await self._make_fit(seat, home)
            seat.opening = False
            await fly()
            self._forget(seat)
        except CockpitError as refused:
            self._forget(seat)
            words = " ".join(f"{refused.title}. {refused.detail} {refused.hint}".split())
            self._in.store.save_seat(seat.change(gave_up=words))
            self._in.feed.tell("agent.not_started", str(refused), seat.name)
        finally:
            seat.opening, seat.preparing = False, None
            self._changed(seat)

    async def _make_fit(self, seat: Seat, home: Home) -> None:
        assert seat.record.worktree is not None
        wanted, tree = seat.settings.worktree, Path(seat.record.worktree)
        brought = await self._in.worktrees.bring(home.root, tree, wanted.copy_files)
        if missing := [name for name in wanted.copy_files if name not in brought]:
            words = f"Not copied into {seat.name}'s worktree (not there, or there already):"
            self._in.feed.tell("worktree.not_copied", f"{words} {', '.join(missing)}", seat.name)
        if wanted.setup:
            await self._set_up(seat, home, tree)
        await self._in.worktrees.set_ready(tree)

    async def _set_up(self, seat: Seat, home: Home, tree: Path) -> None:
        command = seat.settings.worktree.setup
        shown = safe_line(" ".join(command), 80)
        self._in.feed.tell(
            "worktree.setup", f"Setting up {seat.name}'s worktree: {shown}", seat.name
        )
        file = self.output_file(seat)
        with _Kept(file, lambda line: self._heard(seat, shown, line)) as kept:
            run = await self._shell.run(
                command,
                "",
                directory=seat.directory,
                more={
                    **self._environment(seat),
                    "COCKPIT_AGENT": seat.name,
                    "COCKPIT_REPOSITORY": str(home.root),
                    "COCKPIT_WORKTREE": str(tree),
                },
                timeout=seat.settings.worktree.setup_timeout,
                heard=kept.write,
            )
        redactor = redactor_of(self._in.environment, seat)
        await asyncio.to_thread(_clean_file, file, lambda text: redactor.redact(text).text)
        self._conclude(seat, shown, run, kept.line, file)

    def _conclude(self, seat: Seat, shown: str, run: ShellRun, last: str, file: Path) -> None:
        if run.problem:
            said = f" Its last words: {self._clean(seat, last)}" if last else ""
            raise Failed(
                f"The setup of {seat.name}'s worktree failed ({shown}): {run.problem}",
                f"The agent was not started.{said}",
                f"All of it: {file}. When that is mended: cockpit start {seat.name}",
            )
        words = f"The worktree of {seat.name} is set up ({shown}, {run.seconds:.1f} s)"
        self._in.feed.tell("worktree.set_up", words, seat.name, output=str(file))

    def _heard(self, seat: Seat, shown: str, line: str) -> None:
        self._say(seat, f"setup ({shown}): {self._clean(seat, line)}")

    def _clean(self, seat: Seat, line: str) -> str:
        return safe_line(redactor_of(self._in.environment, seat).redact(line).text, 200)

    def _say(self, seat: Seat, words: str) -> None:
        seat.preparing = words
        self._changed(seat)

    def output_file(self, seat: Seat) -> Path:
        """Where the output of this seat's last setup is kept."""
        return self._in.places.logs / "setup" / f"{seat.name}.log"

    def _forget(self, seat: Seat) -> None:
        if seat.job is not None:
            self._in.store.unlatch(SessionId(seat.job.id), LATCH)

    async def call_off(self, seat: Seat) -> bool:
        """End the setup that is under way; nothing is started then. False if there was none."""
        task = self._running.get(seat.name)
        if task is None:
            return False
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await self._shell.close()
        self._forget(seat)
        return True

    async def close(self) -> None:
        """End all of them; a supervisor that comes back does them again."""
        tasks = tuple(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._shell.close()


def _clean_file(file: Path, clean: Callable[[str], str]) -> None:
    """Take secrets and control bytes out of what was kept, now that it is over."""
    with suppress(OSError):
        text = file.read_bytes().decode("utf-8", "replace")
        write_private(file, clean(safe_text(text)).encode()[:KEPT])


class _Kept:
    """A setup's output: the beginning of it in a file, and the last line in memory."""

    def __init__(self, path: Path, told: Callable[[str], None]) -> None:
        self._path = path
        self._told = told
        self._rest = b""
        self._size = 0
        self._at = 0.0
        self._file = -1
        self.line = ""
        """The last that was said, in one line."""

    def __enter__(self) -> _Kept:
        with suppress(OSError):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
            self._file = os.open(self._path, flags, 0o600)
        return self

    def write(self, block: bytes) -> None:
        """Keep it as far as there is room, and tell the last line at most twice a second."""
        room = block[: max(0, KEPT - self._size)]
        self._size += len(room)
        with suppress(OSError):
            if self._file >= 0 and room:
                os.write(self._file, room)
        self._rest = (self._rest + block)[-4000:]
        said = [line for line in self._rest.replace(b"\r", b"\n").split(b"\n") if line.strip()]
        if said:
            self.line = safe_text(said[-1].decode("utf-8", "replace")).strip()
        if time.monotonic() - self._at > LOOK:
            self._at = time.monotonic()
            self._told(self.line)

    def __exit__(self, *_: object) -> None:
        if self._file >= 0:
            os.close(self._file)
