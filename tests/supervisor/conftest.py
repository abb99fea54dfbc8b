"""A cockpit of a test's own: the real supervisor over real tmux, with stand-ins for agents.

It flies in the test's own process, or as a process that can be killed. Nothing is faked but the
CLI, and nobody is left afterwards.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from cockpit.adapters.hooks.spool import Spool
from cockpit.client.http import HttpClient
from cockpit.config.paths import Places
from cockpit.core.errors import CockpitError, NoSupervisor
from cockpit.core.prompt_files import prompt_files
from cockpit.demo.leftovers import carriers, send
from cockpit.demo.repository import git
from cockpit.demo.standin.program import install
from cockpit.supervisor.api.listener import bind
from cockpit.supervisor.api.routes import application
from cockpit.supervisor.api.server import server
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.main import dependencies, take_lock
from cockpit.supervisor.serving import served
from cockpit.supervisor.supervisor import Supervisor
from cockpit.wire.status import AgentStatus, Status
from cockpit.wire.stream import Event
from cockpit.wire.verbs import Done, Start, Verb

PATIENCE = 120.0
"""Seconds until a condition that a test waits for counts as never coming true."""
LOOK = 0.06
SELDOM = 0.25


def pause(begun: float) -> float:
    """Seconds until the next look at what is waited for since `begun`.

    A look takes 10 ms of processor time, so what takes long is looked at less often.
    """
    return min(max(LOOK, (time.monotonic() - begun) / 10), SELDOM)


DEFAULTS = """\
[defaults]
runtime = "claude"
permission_mode = "acceptEdits"

[defaults.handoff]
writers = ["agent", "facts"]
deadline = "30s"
"""


class PatientClient(HttpClient):
    """A client that waits longer for an answer: the machine may stop for a moment."""

    async def _fetch(self, method: str, target: str, body: bytes, patience: float) -> bytes:
        return await super()._fetch(method, target, body, max(patience, PATIENCE))


class Cockpit:
    """One state folder, one repository, one configuration; the supervisor of it as it comes."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.places = Places.of(os.environ)
        self.repository = home / "repository"
        self.config = home / "cockpit.toml"
        self.client: HttpClient = PatientClient(self.places.socket)
        self.supervisor: Supervisor | None = None
        """The one that flies in this process."""
        self.world: Callable[[Places], Dependencies] = dependencies
        """What the one in this process flies in."""
        self.process: subprocess.Popen[bytes] | None = None
        """The one that flies as a process of its own."""

    # Configuration

    def agent(
        self,
        name: str = "api",
        mode: str = "auto",
        *,
        prompt: str = "Count the steps.",
        faults: str = "",
        more: str = "",
        **standin: object,
    ) -> str:
        """An agent's table. Its stand-in is past the act mark at its third reply.

        `steps=4` and the like set the stand-in's `STANDIN_STEPS`.
        """
        activity = {"pace": 0.05, "step_tokens": 60_000, "faults": faults, **standin}
        env = ", ".join(f'STANDIN_{key.upper()} = "{value}"' for key, value in activity.items())
        return (
            f"[[agents]]\nname = {json.dumps(name)}\nmode = {json.dumps(mode)}\n"
            f"directory = {json.dumps(str(self.repository))}\n"
            f"prompt = {json.dumps(prompt)}\nenv = {{ {env} }}\n{more}\n"
        )

    def configure(self, *tables: str, defaults: str = "") -> Path:
        self.config.write_text("\n".join([DEFAULTS, defaults, *tables]), encoding="utf-8")
        self.config.chmod(0o600)
        return self.config

    # The supervisor

    @asynccontextmanager
    async def flying(self, *tables: str, defaults: str = "") -> AsyncIterator[Supervisor]:
        """The supervisor in this process, until the block is left; its agents go on.

        Without tables it reads the configuration that is there.
        """
        if tables:
            self.configure(*tables, defaults=defaults)
        mask = os.umask(0o077)
        self.places.make()
        lock = take_lock(self.places.lease)
        parts = self.world(self.places)
        self.supervisor = supervisor = Supervisor(parts, Spool(self.places.spool))
        try:
            await supervisor.restore(self.config, named=True)
            await supervisor.repair.reconcile()
            supervisor.run()
            listener = bind(self.places.socket)
            serving = server(application(served(supervisor)))
            task = asyncio.create_task(serving._serve(sockets=[listener]))
            await supervisor.automatic_starts.run()
            await supervisor.resumer.resume_automatic()
            try:
                yield supervisor
            finally:
                await supervisor.close()
                serving.should_exit = True
                await task
                listener.close()
                self.places.socket.unlink(missing_ok=True)
        finally:
            parts.store.close()
            lock.close()
            os.umask(mask)
            self.supervisor = None

    async def launch(self, *tables: str, defaults: str = "") -> int:
        """The supervisor as a process; its pid, once it answers."""
        if tables:
            self.configure(*tables, defaults=defaults)
        self.places.make()
        command = [sys.executable, "-P", "-m", "cockpit", "--config", str(self.config)]
        with (self.home / "supervisor.out").open("ab") as said:
            self.process = subprocess.Popen(
                [*command, "up", "--foreground"], stdin=subprocess.DEVNULL, stdout=said, stderr=said
            )
        end = time.monotonic() + PATIENCE
        while True:
            with suppress(NoSupervisor):
                await self.client.status()
                return self.process.pid
            assert self.process.poll() is None, (self.home / "supervisor.out").read_text()
            assert time.monotonic() < end, "the supervisor never answered"
            await asyncio.sleep(LOOK)

    def kill(self) -> None:
        """End the supervisor's process as a power cut does. Twice is the same as once."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    # Asking

    async def ask(self, verb: Verb) -> Done:
        return await self.client.ask(verb)

    async def refused(self, verb: Verb) -> CockpitError:
        """The refusal of a verb that must be refused."""
        try:
            done = await self.client.ask(verb)
        except CockpitError as refusal:
            return refusal
        raise AssertionError(f"it was done: {done}")

    async def start(self, name: str = "api", **more: Any) -> AgentStatus:
        """Start a configured agent; its row."""
        await self.ask(Start(name=name, config=str(self.config), named=True, **more))
        return await self.row(name)

    async def row(self, name: str = "api") -> AgentStatus:
        status: Status = await self.client.status()
        return next(each for each in status.agents if each.name == name)

    async def until(
        self,
        true: Callable[[AgentStatus], object],
        name: str = "api",
        *,
        within: float = PATIENCE,
    ) -> AgentStatus:
        """The agent's row once the condition holds of it, as a client gets it."""
        begun = time.monotonic()
        while True:
            row = self.supervisor_row(name)
            if row is None or true(row):
                row = await self.row(name)
                if true(row):
                    return row
            if time.monotonic() > begun + within:
                told = "\n".join(f"{each.kind}: {each.text}" for each in await self.events())
                raise AssertionError(f"it never came true of {row!r}\n{told}")
            await asyncio.sleep(LOOK if self.supervisor else pause(begun))

    def supervisor_row(self, name: str = "api") -> AgentStatus | None:
        """The row of the supervisor in this process: a request takes five times as long."""
        if self.supervisor is None or (agent := self.supervisor.fleet.find(name)) is None:
            return None
        return self.supervisor.publisher.row(agent)

    async def events(self, kind: str = "") -> list[Event]:
        """Everything that happened, oldest first; of one kind if asked so."""
        told = await self.client.events(limit=2000)
        return [each for each in told if each.kind == kind] if kind else told

    async def event(self, kind: str, *, number: int = 1, within: float = PATIENCE) -> Event:
        """The first event of a kind (or the one of that number), once it has happened."""
        begun = time.monotonic()
        told = await self.events()
        while len(found := [each for each in told if each.kind == kind]) < number:
            if time.monotonic() > begun + within:
                lines = "\n".join(f"{each.kind}: {each.text}" for each in told)
                raise AssertionError(f"there was no {kind} in:\n{lines}")
            await asyncio.sleep(pause(begun))
            told += (
                await self.client.events(after=told[-1].id, limit=2000)
                if told
                else (await self.events())
            )
        return found[number - 1]

    # The world

    def said(self, row: AgentStatus) -> list[dict[str, Any]]:
        """The lines of the session's own record."""
        assert row.transcript is not None
        text = Path(row.transcript).read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]

    def prompts(self, row: AgentStatus) -> list[str]:
        """What the session was told by a person, as its record has it; a first prompt whole."""
        found: list[str] = []
        files: list[str] = []
        for line in self.said(row):
            if line["type"] == "user" and isinstance(line["message"]["content"], str):
                found.append(line["message"]["content"])
                files = prompt_files(found[-1])
            elif line.get("attachment", {}).get("filename") in files:
                begun = "" if prompt_files(found[-1]) else found[-1]
                found[-1] = begun + line["attachment"]["content"]["file"]["content"]
        return found

    def living(self, row: AgentStatus) -> list[int]:
        """Pids of the stand-ins that work in the agent's directory."""
        where = row.worktree or row.directory
        found = [pid for pid in carriers(self.home) if is_standin(pid) and cwd(pid) == where]
        # A child that has not become its own program yet still looks like its parent.
        return [pid for pid in found if parent(pid) not in found]

    async def lives(self, row: AgentStatus, *others: AgentStatus) -> None:
        """Wait until exactly this agent's process (or the others' ones) lives in its directory.

        A row has the pane's pid as soon as tmux answers; until its program is executed, that
        process still looks like tmux.
        """
        pids = sorted(each.pid or 0 for each in others or (row,))
        end = time.monotonic() + PATIENCE
        while (found := sorted(self.living(row))) != pids:
            assert time.monotonic() < end, f"{found} live where only {pids} may"
            await asyncio.sleep(LOOK)

    def tmux(self, *words: str) -> str:
        """Ask the private tmux server something."""
        command = ["tmux", "-S", str(self.places.tmux_socket), *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.stdout

    def end_everybody(self) -> None:
        """Whoever carries this cockpit's folder in its environment is ended, the hard way."""
        self.kill()
        end = time.monotonic() + PATIENCE
        while left := carriers(self.home):
            assert time.monotonic() < end, f"these cannot be ended: {left}"
            for pid in left:
                send(pid, signal.SIGKILL)
            time.sleep(0.02)


def is_standin(pid: int) -> bool:
    with suppress(OSError):
        return b"cockpit.demo.standin" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def parent(pid: int) -> int | None:
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return None


def cwd(pid: int) -> str | None:
    with suppress(OSError):
        return str(Path(f"/proc/{pid}/cwd").readlink())
    return None


def copy_project(project: Path, to: Path) -> None:
    """Make a repository that does not exist yet from the one in `project`."""
    shutil.copytree(project, to)
    # Git compares inode numbers with those of its index, and would take all files for changed.
    git(
        to, ("update-index", "--refresh"), {"PATH": os.environ["PATH"], "HOME": str(project.parent)}
    )


@pytest.fixture
def cockpit(own_home: Path, monkeypatch: pytest.MonkeyPatch, project: Path) -> Iterator[Cockpit]:
    """A cockpit with nothing in it; whoever it has started is ended afterwards."""
    bin_folder = own_home / "bin"
    install(bin_folder)
    monkeypatch.setenv("PATH", f"{bin_folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(own_home / "claude"))
    flown = Cockpit(own_home)
    copy_project(project, flown.repository)
    yield flown
    flown.end_everybody()
