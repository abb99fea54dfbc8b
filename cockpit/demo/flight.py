"""One run of the demo, with temporary folder, simulated model, supervisor and agents.

Uses only cockpit's command line and client, as a user does. `script.py` has the model's replies,
and `watch.py` watches the agents. At the end, all processes are ended, and the folder is removed
unless the user keeps it.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from cockpit.adapters.documents.copies import Copies
from cockpit.adapters.process.terminals import without_echo
from cockpit.client.http import HttpClient
from cockpit.config.paths import DEMO_VARIABLE, KEPT
from cockpit.core.errors import CockpitError, Failed
from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_text
from cockpit.demo.clis import CLAUDE, OTHERS, agents_for
from cockpit.demo.jobs import Jobs, answers_needed
from cockpit.demo.leftovers import end_leftovers
from cockpit.demo.scratch import Scratch, make_scratch
from cockpit.demo.summary import check, summary
from cockpit.demo.watch import Watch
from cockpit.wire.status import Status
from cockpit.wire.verbs import Start

CAP_SECONDS = 300.0
"""Time limit for a run without a screen, in seconds."""
COMMAND_SECONDS = 90.0
LOG_LINES = 12
"""Number of lines of each log in the error if the supervisor does not start."""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Flight:
    """A running demo: a temporary folder with a supervisor."""

    scratch: Scratch
    jobs: Jobs
    say: Say
    began: float
    """When the run began, in monotonic seconds."""
    keep: bool = False
    """Whether the folder is kept after the run."""

    @property
    def client(self) -> HttpClient:
        return HttpClient(self.scratch.places.socket)

    def run(
        self,
        *arguments: str,
        quiet: bool = True,
        seconds: float | None = None,
        errors: IO[str] | None = None,
    ) -> int:
        """Run a cockpit command in the demo's environment; return its exit code.

        The command's stderr is written to `errors`; without it, to this process's stderr.
        """
        return subprocess.run(
            [sys.executable, "-P", "-m", "cockpit", *arguments],
            cwd=self.scratch.repository,
            env=self.environment(),
            stdin=subprocess.DEVNULL if quiet else None,
            stdout=subprocess.DEVNULL if quiet else None,
            stderr=errors,
            timeout=seconds,
            check=False,
        ).returncode

    def environment(self) -> dict[str, str]:
        """Return the environment of cockpit's commands. One variable tells the screen whether the
        demo's folder is kept."""
        kept = {DEMO_VARIABLE: KEPT} if self.keep else {}
        return self.scratch.environment() | kept

    async def start_agents(self) -> None:
        """Start the agents one at a time, each in its own worktree."""
        for name in self.jobs:
            config = str(self.scratch.config)
            await self.client.ask(Start(name=name, config=config, named=True))

    def tell(self, status: Status) -> None:
        """Print the summary of this run."""
        documents = self.scratch.documents()
        seconds = time.monotonic() - self.began
        folder, kept = self.scratch.folder, self.keep
        saved = len(Copies(self.scratch.places.handoffs).all())
        self.say(summary(status, documents, folder, seconds, kept=kept, saved=saved))


def fly_headless(
    agents: int,
    *,
    keep: bool,
    say: Say,
    cap: float = CAP_SECONDS,
    standin: bool = False,
    runtime: str = CLAUDE,
) -> int:
    """Run the demo without a screen; return 0 if every job is done. Raises `Failed` otherwise."""
    jobs, clis = agents_for(agents, runtime)
    with flight(jobs, keep=keep, say=say, standin=standin, clis=clis) as running:
        asyncio.run(watched(running, cap))
    return 0


async def watched(running: Flight, cap: float) -> None:
    """Start the agents, wait until their jobs are done, and check the result.

    Raises `Failed` if a job is not done within `cap` seconds, or the result is not as expected.
    """
    watch = Watch(running.client, running.say, cap, expected=answers_needed(running.jobs))
    await running.start_agents()
    status = await watch.until_reached()
    running.tell(status)
    check(status, running.scratch.documents(), running.jobs)


def fly_on_screen(agents: int, *, keep: bool, say: Say, runtime: str = CLAUDE) -> int:
    """Run the demo with the screen in this terminal until the user quits; return the exit code."""
    jobs, clis = agents_for(agents, runtime)
    with without_echo(), flight(jobs, keep=keep, say=say, clis=clis) as running:
        trouble: list[str] = []
        starting = threading.Thread(target=start_behind, args=(running, trouble), daemon=True)
        starting.start()
        code = running.run("--config", str(running.scratch.config), quiet=False)
        for line in trouble:
            running.say(line)
        with suppress(CockpitError):
            running.tell(asyncio.run(running.client.status()))
    return code


def start_behind(running: Flight, trouble: list[str]) -> None:
    """Start the agents while the screen starts; add errors to `trouble`, for the caller to
    print."""
    try:
        asyncio.run(running.start_agents())
    except CockpitError as error:
        trouble.append(str(error))


@contextmanager
def flight(
    jobs: Jobs,
    *,
    keep: bool,
    say: Say,
    standin: bool = False,
    empty: bool = False,
    clis: Mapping[str, str] | None = None,
) -> Iterator[Flight]:
    """Provide a supervisor in a temporary folder, without agents.

    Afterwards ends the supervisor and removes the folder. With `empty`, the supervisor does not
    load the configuration of the agents. With `keep`, the folder is kept, and its path is printed.
    """
    began = time.monotonic()
    with simulated_model() as model:
        scratch = make_scratch(jobs, model.url, standin=standin, clis=clis)
        model.clean_up_after(scratch.folder, keep=keep)
        running = Flight(scratch, jobs, say, began, keep)
        introduce(running)
        try:
            take_off(running, empty=empty)
            yield running
        finally:
            land(running, keep=keep)


def introduce(running: Flight) -> None:
    """Print the number of agents, their folder, and the CLIs that they run."""
    scratch = running.scratch
    running.say(
        f"{counted(len(running.jobs), 'agent')} in {scratch.folder}; no account, no network."
    )
    clis = [f"{OTHERS[name].title} {version}" for name, version in scratch.others.items()]
    if scratch.real and scratch.uses_claude:
        clis.append(f"Claude Code {scratch.cli}")
    if clis:
        running.say(f"The agents run {', '.join(clis)}; their model is simulated.")
    if scratch.uses_claude and not scratch.real:
        running.say(f"Claude Code cannot be used here: {scratch.cli}")
        running.say("The agents run a scripted stand-in instead; everything else is real.")


def take_off(running: Flight, *, empty: bool = False) -> None:
    """Start the supervisor. Raises `Failed` with the supervisor's output and the end of its logs.

    With `empty`, the supervisor does not load the configuration of the agents.
    """
    named = () if empty else ("--config", str(running.scratch.config))
    with TemporaryFile("w+", errors="replace") as errors:
        code = running.run(*named, "up", seconds=COMMAND_SECONDS, errors=errors)
        errors.seek(0)
        output = errors.read()
    if code:
        logs = running.scratch.places.logs
        detail = [line.strip() for line in output.splitlines() if str(logs) not in line]
        for log in (logs / "up.log", logs / "supervisor.log"):
            detail += last_lines(log)
        raise Failed(
            f"The supervisor did not start: `cockpit up` exited with {code}",
            safe_text("\n".join(detail)),
            hint="To check this machine: cockpit doctor",
        )


def last_lines(log: Path) -> list[str]:
    """Return the last lines of a log with a heading; empty if the log is empty or missing."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    return [f"End of {log.name}:", *lines[-LOG_LINES:]] if lines else []


def land(running: Flight, *, keep: bool) -> None:
    """End all processes that the demo has started; unless `keep`, remove the demo's folder.

    Prints only after the cleanup, because printing fails if the terminal is closed.
    """
    with suppress(subprocess.TimeoutExpired):
        running.run("down", "--agents", seconds=COMMAND_SECONDS)
    left = end_leftovers(running.scratch.folder)
    if not keep:
        running.scratch.remove()
    if left:
        running.say(f"Ended {counted(len(left), 'leftover process', 'leftover processes')}.")
    if keep:
        running.say(f"Kept: {running.scratch.folder}")


@dataclass(frozen=True, slots=True)
class SimulatedModel:
    """The process of the simulated model. If the demo's process is killed, the model's process
    cleans up before it ends."""

    url: str
    stdin: IO[str]

    def clean_up_after(self, folder: Path, *, keep: bool) -> None:
        """Let the model's process clean up when the demo's process has ended, for whatever reason.

        The cleanup ends all processes that the demo has left and, unless `keep`, removes the demo's
        folder. Call once.
        """
        print(json.dumps({"folder": str(folder), "keep": keep}), file=self.stdin, flush=True)


@contextmanager
def simulated_model() -> Iterator[SimulatedModel]:
    """Run the simulated model as a process, until the block or this process ends.

    Raises `Failed` if the model does not start.
    """
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "cockpit.demo.simulation"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        # Ctrl-C must not end the process: the agents need their model until they have ended.
        start_new_session=True,
    )
    # Leaving the block closes the pipes, which ends the process, and waits for it.
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        if not url:
            raise Failed(
                "The simulated model did not start",
                "The simulated model's output is above.",
                hint="Please report this error with the output.",
            )
        yield SimulatedModel(url, process.stdin)
