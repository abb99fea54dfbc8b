"""Set up a new worktree: copy files that git does not track, and run the setup command.

The setup runs in the background, and the agent starts after it. The screen shows the last line of
the setup's output, and a file contains the first `KEPT` bytes. The waiting start is saved: after a
restart, the supervisor repeats the setup of a new job, and the user must repeat other starts. A
worktree that cockpit did not create is not set up.
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
from cockpit.core.errors import CockpitError, Failed, OsProblem
from cockpit.core.events import Plain, WorktreeSetUp
from cockpit.core.ids import SessionId
from cockpit.core.safetext import safe_line, safe_text
from cockpit.ports.worktrees import Worktree
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.known_secrets import redactor_of
from cockpit.supervisor.agents.locks import AgentLocks
from cockpit.supervisor.dependencies import Dependencies

LATCH = "preparing"
"""Name of the stored flag of a job whose start waits for a setup. The flag's value is 1 if a
restarted supervisor must repeat the setup, and 0 if the user must."""
KEPT = 1_000_000
"""Maximum bytes of a setup's output that are saved."""
SHOW_EVERY = 0.5
"""Minimum seconds between two updates of a setup's last output line on the screen."""

StartSession = Callable[[], Awaitable[None]]
"""Starts the session after the setup."""


class WorktreeSetup:
    """Runs the setups of all agents."""

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
        """Return whether the worktree must be set up before its agent starts."""
        wanted = agent.settings.worktree
        fresh = made is not None and made.made is not None and not made.made.ready
        return fresh and bool(wanted.setup or wanted.copy_files)

    def begin(self, agent: Agent, home: Path, start_session: StartSession, *, again: bool) -> None:
        """Set up the agent's worktree in the background, then start the agent.

        With `again`, a restarted supervisor repeats an interrupted setup; else the user must do so.
        """
        assert agent.job is not None
        self._dependencies.store.latch(SessionId(agent.job.id), LATCH, 1.0 if again else 0.0)
        agent.start.hooks_run = True
        self._show(agent, "its worktree is being prepared")
        task = asyncio.get_running_loop().create_task(self._prepare(agent, home, start_session))
        self._running[agent.name] = task
        task.add_done_callback(lambda _: self._running.pop(agent.name, None))

    def should_repeat(self, agent: Agent) -> bool | None:
        """Return whether the supervisor must repeat an interrupted setup.

        False if the user must do so; None if no setup was interrupted.
        """
        if agent.job is None or agent.alive or agent.start.hooks_run:
            return None
        if agent.session is not None and agent.session.job == agent.job.id:
            self._unlatch(agent)
            return None
        latched = self._dependencies.store.latched(SessionId(agent.job.id), LATCH)
        return None if latched is None else bool(latched)

    async def _prepare(self, agent: Agent, home: Path, start_session: StartSession) -> None:
        try:
            await self._prepare_files(agent, home)
            async with self._locks.hold(agent.name, "being started"):
                agent.start.hooks_run = False
                await start_session()
                self._unlatch(agent)
        except CockpitError as refused:
            self._give_up(agent, refused)
        except OSError as error:  # such as a full disk
            why = error.strerror or str(error)
            hint = f"Try again: cockpit start {agent.name}"
            self._give_up(agent, Failed(f"Cannot start {agent.name}", why, hint))
        finally:
            agent.start.hooks_run, agent.start.setup = False, None
            self._changed(agent)

    def _give_up(self, agent: Agent, refused: CockpitError) -> None:
        why = " ".join(f"{refused.title}. {refused.detail} {refused.hint}".split())
        with suppress(OsProblem):  # the event has the reason too
            self._unlatch(agent)
            self._dependencies.store.save_agent(agent.change(gave_up=why))
        self._dependencies.event_log.record(Plain("agent.not_started"), str(refused), agent.name)

    async def _prepare_files(self, agent: Agent, home: Path) -> None:
        assert agent.record.worktree is not None
        wanted, tree = agent.settings.worktree, Path(agent.record.worktree)
        copied = await self._dependencies.worktrees.bring(home, tree, wanted.copy_files)
        if missing := [name for name in wanted.copy_files if name not in copied]:
            text = (
                f"Not copied into {agent.name}'s worktree (not in the checkout, or "
                "already in the worktree):"
            )
            self._dependencies.event_log.record(
                Plain("worktree.not_copied"), f"{text} {', '.join(missing)}", agent.name
            )
        if wanted.setup:
            await self._set_up(agent, home, tree)
        await self._dependencies.worktrees.set_ready(tree)

    async def _set_up(self, agent: Agent, home: Path, tree: Path) -> None:
        command = agent.settings.worktree.setup
        shown = safe_line(" ".join(command), 80)
        self._dependencies.event_log.record(
            Plain("worktree.setup"), f"Setting up {agent.name}'s worktree: {shown}", agent.name
        )
        file = self.output_file(agent)
        with _Output(file, lambda line: self._show_line(agent, shown, line)) as output:
            run = await self._shell.run(
                command,
                "",
                directory=agent.directory,
                more={
                    **self._environment(agent),
                    "COCKPIT_AGENT": agent.name,
                    "COCKPIT_REPOSITORY": str(home),
                    "COCKPIT_WORKTREE": str(tree),
                },
                timeout=agent.settings.worktree.setup_timeout,
                heard=output.write,
            )
        redactor = redactor_of(self._dependencies.environment, agent)
        await asyncio.to_thread(_redact_file, file, lambda text: redactor.redact(text).text)
        self._record_result(agent, shown, run, output.line, file)

    def _record_result(
        self, agent: Agent, shown: str, run: ShellRun, last: str, file: Path
    ) -> None:
        if run.problem:
            last_line = f" Last output: {self._redacted(agent, last)}" if last else ""
            raise Failed(
                f"The setup of {agent.name}'s worktree failed ({shown}): {run.problem}",
                f"The agent was not started.{last_line}",
                f"Output: {file}. When the problem is fixed: cockpit start {agent.name}",
            )
        text = f"The worktree of {agent.name} is set up ({shown}, {run.seconds:.1f} s)"
        self._dependencies.event_log.record(WorktreeSetUp(output=str(file)), text, agent.name)

    def _show_line(self, agent: Agent, shown: str, line: str) -> None:
        self._show(agent, f"setup ({shown}): {self._redacted(agent, line)}")

    def _redacted(self, agent: Agent, line: str) -> str:
        return safe_line(redactor_of(self._dependencies.environment, agent).redact(line).text, 200)

    def _show(self, agent: Agent, text: str) -> None:
        agent.start.setup = text
        self._changed(agent)

    def output_file(self, agent: Agent) -> Path:
        """Return the file with the output of this agent's last setup."""
        return self._dependencies.places.logs / "setup" / f"{agent.name}.log"

    def _unlatch(self, agent: Agent) -> None:
        if agent.job is not None:
            self._dependencies.store.unlatch(SessionId(agent.job.id), LATCH)

    async def cancel(self, agent: Agent) -> bool:
        """End the running setup; the agent is not started. Return False if none is running."""
        task = self._running.get(agent.name)
        if task is None:
            return False
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await self._shell.close()
        self._unlatch(agent)
        return True

    async def close(self) -> None:
        """End all setups, and keep their flags for a restarted supervisor; see `should_repeat`."""
        tasks = tuple(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._shell.close()


def _redact_file(file: Path, clean: Callable[[str], str]) -> None:
    """Remove secrets and control bytes from the saved output."""
    with suppress(OSError):
        text = file.read_bytes().decode("utf-8", "replace")
        write_private(file, clean(safe_text(text)).encode()[:KEPT])


class _Output:
    """A setup's output: the first `KEPT` bytes in a file, and the last line in memory."""

    def __init__(self, path: Path, show: Callable[[str], None]) -> None:
        self._path = path
        self._show = show
        self._rest = b""
        self._size = 0
        self._at = 0.0
        self._file = -1
        self.line = ""
        """The last non-empty line."""

    def __enter__(self) -> _Output:
        with suppress(OSError):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
            self._file = os.open(self._path, flags, 0o600)
        return self

    def write(self, block: bytes) -> None:
        """Save up to `KEPT` bytes of output. Show the last line at most every `SHOW_EVERY`
        seconds."""
        room = block[: max(0, KEPT - self._size)]
        self._size += len(room)
        with suppress(OSError):
            if self._file >= 0 and room:
                os.write(self._file, room)
        self._rest = (self._rest + block)[-4000:]
        lines = [line for line in self._rest.replace(b"\r", b"\n").split(b"\n") if line.strip()]
        if lines:
            self.line = safe_text(lines[-1].decode("utf-8", "replace")).strip()
        if time.monotonic() - self._at > SHOW_EVERY:
            self._at = time.monotonic()
            self._show(self.line)

    def __exit__(self, *_: object) -> None:
        if self._file >= 0:
            os.close(self._file)
