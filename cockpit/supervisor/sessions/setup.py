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

from cockpit.adapters.files.private_file import write_private
from cockpit.adapters.process.hook_shell import ShellHooks, ShellRun
from cockpit.core.errors import CockpitError, Failed
from cockpit.core.ids import SessionId
from cockpit.core.safetext import safe_line, safe_text
from cockpit.ports.worktrees import Home, Worktree
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.known_secrets import redactor_of
from cockpit.supervisor.agents.locks import AgentLocks
from cockpit.supervisor.dependencies import Dependencies

LATCH = "preparing"
"""Set on a job whose first session waits for a setup."""
KEPT = 1_000_000
"""Bytes of a setup's output that are kept in its file."""
LOOK = 0.5
"""Seconds between two changes of the row while output comes."""

Fly = Callable[[], Awaitable[None]]
"""Starts the agent, once its worktree is fit."""


class WorktreeSetup:
    """All setups that are under way."""

    def __init__(
        self,
        dependencies: Dependencies,
        changed: Callable[[Agent], None],
        environment: Callable[[Agent], dict[str, str]],
        locks: AgentLocks,
    ) -> None:
        self._dependencies = dependencies
        self._locks = locks
        self._changed = changed
        self._environment = environment
        places = dependencies.places
        self._shell = ShellHooks(
            dependencies.processes,
            dependencies.environment,
            places.state / "hooks",
            mark="setup",
        )
        self._running: dict[str, asyncio.Task[None]] = {}

    def is_due(self, agent: Agent, made: Worktree | None) -> bool:
        """Whether something is to be done before an agent is started there."""
        wanted = agent.settings.worktree
        fresh = made is not None and made.made is not None and not made.made.ready
        return fresh and bool(wanted.setup or wanted.copy_files)

    def begin(self, agent: Agent, home: Home, fly: Fly, *, again: bool) -> None:
        """Prepare the agent's worktree beside, then start its agent.

        With `again`, a supervisor that comes back does it anew; else it asks the user to.
        """
        assert agent.job is not None
        self._dependencies.store.latch(SessionId(agent.job.id), LATCH, 1.0 if again else 0.0)
        agent.start.hooks_run = True
        self._say(agent, "its worktree is being prepared")
        task = asyncio.get_running_loop().create_task(self._prepare(agent, home, fly))
        self._running[agent.name] = task
        task.add_done_callback(lambda _: self._running.pop(agent.name, None))

    def cut_off(self, agent: Agent) -> bool | None:
        """Whether an earlier supervisor's setup is to be done again; None if none was cut off."""
        if agent.job is None or agent.alive or agent.start.hooks_run:
            return None
        if agent.session is not None and agent.session.job == agent.job.id:
            self._forget(agent)
            return None
        noted = self._dependencies.store.latched(SessionId(agent.job.id), LATCH)
        return None if noted is None else bool(noted)

    async def _prepare(self, agent: Agent, home: Home, fly: Fly) -> None:
        try:
            await self._make_fit(agent, home)
            async with self._locks.hold(agent.name, "being started"):
                agent.start.hooks_run = False
                await fly()
                self._forget(agent)
        except CockpitError as refused:
            self._forget(agent)
            words = " ".join(f"{refused.title}. {refused.detail} {refused.hint}".split())
            self._dependencies.store.save_agent(agent.change(gave_up=words))
            self._dependencies.event_log.record("agent.not_started", str(refused), agent.name)
        finally:
            agent.start.hooks_run, agent.start.setup = False, None
            self._changed(agent)

    async def _make_fit(self, agent: Agent, home: Home) -> None:
        assert agent.record.worktree is not None
        wanted, tree = agent.settings.worktree, Path(agent.record.worktree)
        brought = await self._dependencies.worktrees.bring(home.root, tree, wanted.copy_files)
        if missing := [name for name in wanted.copy_files if name not in brought]:
            words = f"Not copied into {agent.name}'s worktree (not there, or there already):"
            self._dependencies.event_log.record(
                "worktree.not_copied", f"{words} {', '.join(missing)}", agent.name
            )
        if wanted.setup:
            await self._set_up(agent, home, tree)
        await self._dependencies.worktrees.set_ready(tree)

    async def _set_up(self, agent: Agent, home: Home, tree: Path) -> None:
        command = agent.settings.worktree.setup
        shown = safe_line(" ".join(command), 80)
        self._dependencies.event_log.record(
            "worktree.setup", f"Setting up {agent.name}'s worktree: {shown}", agent.name
        )
        file = self.output_file(agent)
        with _Kept(file, lambda line: self._heard(agent, shown, line)) as kept:
            run = await self._shell.run(
                command,
                "",
                directory=agent.directory,
                more={
                    **self._environment(agent),
                    "COCKPIT_AGENT": agent.name,
                    "COCKPIT_REPOSITORY": str(home.root),
                    "COCKPIT_WORKTREE": str(tree),
                },
                timeout=agent.settings.worktree.setup_timeout,
                heard=kept.write,
            )
        redactor = redactor_of(self._dependencies.environment, agent)
        await asyncio.to_thread(_clean_file, file, lambda text: redactor.redact(text).text)
        self._conclude(agent, shown, run, kept.line, file)

    def _conclude(self, agent: Agent, shown: str, run: ShellRun, last: str, file: Path) -> None:
        if run.problem:
            said = f" Its last words: {self._clean(agent, last)}" if last else ""
            raise Failed(
                f"The setup of {agent.name}'s worktree failed ({shown}): {run.problem}",
                f"The agent was not started.{said}",
                f"All of it: {file}. When that is mended: cockpit start {agent.name}",
            )
        words = f"The worktree of {agent.name} is set up ({shown}, {run.seconds:.1f} s)"
        self._dependencies.event_log.record("worktree.set_up", words, agent.name, output=str(file))

    def _heard(self, agent: Agent, shown: str, line: str) -> None:
        self._say(agent, f"setup ({shown}): {self._clean(agent, line)}")

    def _clean(self, agent: Agent, line: str) -> str:
        return safe_line(redactor_of(self._dependencies.environment, agent).redact(line).text, 200)

    def _say(self, agent: Agent, words: str) -> None:
        agent.start.setup = words
        self._changed(agent)

    def output_file(self, agent: Agent) -> Path:
        """Where the output of this agent's last setup is kept."""
        return self._dependencies.places.logs / "setup" / f"{agent.name}.log"

    def _forget(self, agent: Agent) -> None:
        if agent.job is not None:
            self._dependencies.store.unlatch(SessionId(agent.job.id), LATCH)

    async def call_off(self, agent: Agent) -> bool:
        """End the setup that is under way; nothing is started then. False if there was none."""
        task = self._running.get(agent.name)
        if task is None:
            return False
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await self._shell.close()
        self._forget(agent)
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
