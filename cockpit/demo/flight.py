"""A whole flight: scratch folder, simulated model, supervisor, agents, and everything gone again.

Uses cockpit as a user does, by its command line and its client; nothing here reaches into the
supervisor. What the model does is in `script.py`, what is watched in `watch.py`.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from cockpit.client.http import HttpClient
from cockpit.core.errors import CockpitError, Failed
from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_text
from cockpit.demo.jobs import Jobs, jobs_for
from cockpit.demo.leftovers import end_leftovers
from cockpit.demo.scratch import Scratch, make_scratch
from cockpit.demo.summary import check, summary
from cockpit.demo.watch import Watch
from cockpit.wire.status import Status
from cockpit.wire.verbs import Start

CAP_SECONDS = 300.0
"""A flight without a screen is over by then, one way or the other."""
COMMAND_SECONDS = 90.0
LOG_LINES = 12
"""What is shown of a log when its folder is about to go."""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Flight:
    """A scratch folder with a supervisor flying in it."""

    scratch: Scratch
    jobs: Jobs
    say: Say
    began: float
    """By the monotonic clock."""

    @property
    def client(self) -> HttpClient:
        return HttpClient(self.scratch.places.socket)

    def run(
        self,
        *arguments: str,
        quiet: bool = True,
        seconds: float | None = None,
        speech: IO[str] | None = None,
    ) -> int:
        """Run a command of cockpit in this flight's surroundings; its exit code.

        `speech` takes what it says on stderr.
        """
        return subprocess.run(
            [sys.executable, "-P", "-m", "cockpit", *arguments],
            cwd=self.scratch.repository,
            env=self.scratch.environment(),
            stdin=subprocess.DEVNULL if quiet else None,
            stdout=subprocess.DEVNULL if quiet else None,
            stderr=speech,
            timeout=seconds,
            check=False,
        ).returncode

    async def start_agents(self) -> None:
        """Start every agent, one after the other: each makes its own worktree."""
        for name in self.jobs:
            config = str(self.scratch.config)
            await self.client.ask(Start(name=name, config=config, named=True))

    def tell(self, status: Status) -> None:
        """Say what it came to."""
        documents = self.scratch.documents()
        seconds = time.monotonic() - self.began
        self.say(summary(status, documents, self.scratch.folder, seconds))


def fly_headless(
    agents: int,
    *,
    keep: bool,
    say: Say,
    cap: float = CAP_SECONDS,
    standin: bool = False,
) -> int:
    """Fly without a screen; 0 when every job has reported its end. Raises `Failed` otherwise."""
    with flight(jobs_for(agents), keep=keep, say=say, standin=standin) as flown:
        asyncio.run(watched(flown, cap))
    return 0


async def watched(flown: Flight, cap: float) -> None:
    """Start the agents, see their jobs through, and check what came of it."""
    watch = Watch(flown.client, flown.say, cap)
    await flown.start_agents()
    status = await watch.until_reached()
    flown.tell(status)
    check(status, flown.scratch.documents(), flown.jobs)


def fly_on_screen(agents: int, *, keep: bool, say: Say) -> int:
    """Fly in the cockpit, in this terminal; over when the user leaves. The screen's exit code."""
    with flight(jobs_for(agents), keep=keep, say=say) as flown:
        trouble: list[str] = []
        starting = threading.Thread(target=start_behind, args=(flown, trouble), daemon=True)
        starting.start()
        code = flown.run("--config", str(flown.scratch.config), quiet=False)
        for line in trouble:
            flown.say(line)
        with suppress(CockpitError):
            flown.tell(asyncio.run(flown.client.status()))
    return code


def start_behind(flown: Flight, trouble: list[str]) -> None:
    """Start the agents while the screen is coming up; what goes wrong is told afterwards."""
    try:
        asyncio.run(flown.start_agents())
    except CockpitError as error:
        trouble.append(str(error))


@contextmanager
def flight(
    jobs: Jobs, *, keep: bool, say: Say, standin: bool = False, empty: bool = False
) -> Iterator[Flight]:
    """A supervisor in a scratch folder, with nobody in it yet; nothing is left afterwards.

    With `empty` it has not even heard of the agents that will be started.

    With `keep` the folder stays, and where it is, is said.
    """
    began = time.monotonic()
    with simulated_model() as url:
        scratch = make_scratch(jobs, url, standin=standin)
        flown = Flight(scratch, jobs, say, began)
        introduce(flown)
        try:
            take_off(flown, empty=empty)
            yield flown
        finally:
            land(flown, keep=keep)


def introduce(flown: Flight) -> None:
    """Say what flies: a stand-in is never passed off as the real one."""
    scratch = flown.scratch
    flown.say(f"A flight of {len(flown.jobs)} in {scratch.folder}; no account, no network.")
    if scratch.real:
        flown.say(f"The agents are Claude Code {scratch.cli}; their model is simulated.")
    else:
        flown.say(f"Claude Code cannot be flown here: {scratch.cli}")
        flown.say("The agents are a scripted stand-in; everything else is real.")


def take_off(flown: Flight, *, empty: bool = False) -> None:
    """Start the supervisor. Raises `Failed` with its own words: its logs go with the folder."""
    named = () if empty else ("--config", str(flown.scratch.config))
    with TemporaryFile("w+", errors="replace") as speech:
        code = flown.run(*named, "up", seconds=COMMAND_SECONDS, speech=speech)
        speech.seek(0)
        said = speech.read()
    if code:
        logs = flown.scratch.places.logs
        told = [line.strip() for line in said.splitlines() if str(logs) not in line]
        for log in (logs / "up.log", logs / "supervisor.log"):
            told += last_lines(log)
        raise Failed(
            f"The supervisor did not start: `cockpit up` ended with {code}",
            safe_text("\n".join(told)),
        )


def last_lines(log: Path) -> list[str]:
    """How a log ends, under its name; nothing of one that is empty or not there."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    return [f"{log.name} ends:", *lines[-LOG_LINES:]] if lines else []


def land(flown: Flight, *, keep: bool) -> None:
    """End everything that the flight has started, and take its folder away.

    Speaks last: the terminal may be gone.
    """
    with suppress(subprocess.TimeoutExpired):
        flown.run("down", "--agents", seconds=COMMAND_SECONDS)
    left = end_leftovers(flown.scratch.folder)
    if not keep:
        flown.scratch.remove()
    if left:
        flown.say(
            f"Ended by hand, because they were left: {counted(len(left), 'process', 'processes')}."
        )
    if keep:
        flown.say(f"Kept: {flown.scratch.folder}")


@contextmanager
def simulated_model() -> Iterator[str]:
    """The model's process and its address; it ends with us, however we end."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "cockpit.demo.simulation"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        # Ctrl-C is for us: the agents need their model until they have ended.
        start_new_session=True,
    )
    # Leaving closes the pipes, which ends the process, and waits for it.
    with process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        if not url:
            raise Failed("The simulated model did not start", "Its words are above.")
        yield url
