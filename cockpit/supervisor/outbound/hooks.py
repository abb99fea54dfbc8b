"""Run the hooks of agents.

Hooks of one event run in their configured order, with time limits. Most hooks run in the
background, one after the other for each agent, and delay nothing. cockpit waits only for the hooks
before a session, whose output is prepended to the prompt, and for the hooks at the act threshold,
which may decide about the handoff. Messages go to the outbox.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections import deque
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any
from uuid import uuid4

from cockpit.adapters.process.hook_shell import ShellHooks, ShellRun, keep_output
from cockpit.config.hooks import Hook
from cockpit.core.event_topics import happened
from cockpit.core.events import HookEnded
from cockpit.core.hook_events import (
    PROLOGUE,
    Happening,
    HookResult,
    passed_over,
    setting_of,
)
from cockpit.core.redaction import Redactor
from cockpit.core.safetext import safe_line, safe_text
from cockpit.core.timestamps import rfc3339
from cockpit.ports.records import EventRecord, SessionRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.known_secrets import redactor_of
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.outbound.hook_payloads import Occasion, build_happening

AT_ONCE = 4
"""Maximum background hook programs that run at the same time, for all agents."""
PENDING = 200
"""Maximum waiting hooks of one agent. Further hooks are dropped, and logged."""

MOST_RUNS = 20
RUNS_WITHIN = 60.0
"""An agent's hook that ran `MOST_RUNS` times within this many seconds is skipped."""
TOO_OFTEN = f"cockpit skips the hook for now: it ran {MOST_RUNS} times in a minute"

_log = logging.getLogger(__name__)

Post = Callable[[Agent, Hook, Happening], None]
"""Adds a message to the outbox, in the open transaction."""


class Hooks:
    """Runs the hooks of all agents."""

    def __init__(
        self,
        dependencies: Dependencies,
        find: Callable[[str], Agent | None],
        changed: Callable[[Agent], None],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
        post: Post,
    ) -> None:
        self._dependencies = dependencies
        self._find = find
        self._changed = changed
        self._spawn = spawn
        self._post = post
        self._shell = ShellHooks(
            dependencies.processes, dependencies.environment, dependencies.places.state / "hooks"
        )
        self._begun: dict[tuple[str, str], deque[float]] = {}
        self._pending: dict[str, deque[tuple[Hook, Happening]]] = {}
        self._slots = asyncio.Semaphore(AT_ONCE)

    # Background events

    def handle(self, record: EventRecord) -> None:
        """Start the hooks of an event.

        Runs in the event's transaction; does not block.
        """
        agent = self._find(record.agent) if record.agent else None
        if agent is None:
            return
        for event, outcome in happened(record.event):
            if hooks := _hooks(agent, event):
                occasion = Occasion(
                    event,
                    id=f"event-{record.id}-{event}",
                    at=rfc3339(record.at),
                    text=record.text,
                    cause=record.event,
                    outcome=outcome,
                )
                happening = build_happening(agent, occasion, self._dependencies.environment)
                self._dispatch(agent, hooks, happening)

    def _dispatch(self, agent: Agent, hooks: tuple[Hook, ...], happening: Happening) -> None:
        """Add the hooks' messages to the outbox, and the hooks' programs to the agent's queue."""
        queue, waits = self._pending.get(agent.name), False
        for hook in hooks:
            if passed_over(happening.event, happening.payload, hook.on_events, hook.when):
                continue
            if hook.type != "shell" and not waits:
                self._post(agent, hook, happening)
                continue
            # After a program that may stop the series, messages wait for the program's end too.
            waits = waits or not hook.continue_on_error
            if queue is not None and len(queue) >= PENDING:
                _log.warning(
                    "%s: too many hooks are waiting; dropped one for: %s",
                    agent.name,
                    happening.text,
                )
            else:
                if queue is None:
                    queue = self._pending[agent.name] = deque()
                    self._spawn(self._work(agent, queue))
                queue.append((hook, happening))

    async def _work(self, agent: Agent, queue: deque[tuple[Hook, Happening]]) -> None:
        """Run the waiting hooks of this agent in order, until the queue is empty."""
        stopped_at = ""
        try:
            while queue:
                hook, happening = queue.popleft()
                if happening.payload["id"] == stopped_at:
                    continue
                if hook.type != "shell":
                    self._post(agent, hook, happening)
                    continue
                async with self._slots:
                    result = await self._run(agent, hook, happening)
                if not result.success and not hook.continue_on_error:
                    stopped_at = happening.payload["id"]
        finally:
            self._pending.pop(agent.name, None)

    # Events that wait for their hooks

    async def before_session(
        self, agent: Agent, session: SessionRecord, prompt: str | None
    ) -> str | None:
        """Run the hooks of session_start; return the prompt with their output prepended.

        Uses at most `PROLOGUE` characters of output. Without a prompt, returns None.
        """
        hooks = _hooks(agent, "session_start")
        if not hooks:
            return prompt
        happening = self._now(agent, "session_start", opening=(session, prompt))
        printed = [result.output for _, result in await self.run_all(agent, hooks, happening)]
        prologue = safe_text("\n".join(part for part in printed if part.strip()), PROLOGUE).strip()
        return f"{prologue}\n\n{prompt}" if prologue and prompt else prompt

    async def at_threshold(self, agent: Agent) -> list[tuple[Hook, HookResult]]:
        """Run the hooks of context_threshold. Return each hook that ran, with its result."""
        happening = self._now(agent, "context_threshold")
        return await self.run_all(agent, _hooks(agent, "context_threshold"), happening)

    async def run_all(
        self, agent: Agent, hooks: tuple[Hook, ...], happening: Happening
    ) -> list[tuple[Hook, HookResult]]:
        """Run hooks in order, except those whose `on_events` or `when` excludes this event.

        A failed hook ends the series unless it has `continue_on_error`.
        """
        results: list[tuple[Hook, HookResult]] = []
        for hook in hooks:
            if passed_over(happening.event, happening.payload, hook.on_events, hook.when):
                continue
            if hook.type == "shell":
                result = await self._run(agent, hook, happening)
            else:
                self._post(agent, hook, happening)
                result = HookResult(hook_name(hook), hook.type, success=True)
            results.append((hook, result))
            if not result.success and not hook.continue_on_error:
                break
        return results

    def _now(
        self, agent: Agent, event: str, opening: tuple[SessionRecord, str | None] | None = None
    ) -> Happening:
        reading = agent.session_state.gauge.reading
        share = f" at {reading.used:.0%} of its context" if reading.used is not None else ""
        texts = {
            "session_start": f"{agent.name} is starting a session",
            "context_threshold": f"{agent.name} is{share or ' above its act threshold'}",
        }
        occasion = Occasion(
            event,
            id=str(uuid4()),
            at=rfc3339(self._dependencies.clock.now().timestamp()),
            text=texts[event],
            opening=opening,
        )
        return build_happening(agent, occasion, self._dependencies.environment)

    # Running a hook

    async def _run(self, agent: Agent, hook: Hook, happening: Happening) -> HookResult:
        kept = self._output_file(agent, hook, happening.event)
        if self._runs_too_often(agent, f"{happening.event} {hook_name(hook)}"):
            result = HookResult(hook_name(hook), hook.type, success=False, error=TOO_OFTEN)
            self._record(agent, happening.event, result, kept)
            return result
        run = await self._shell.run(
            hook.command,
            happening.line(),
            directory=agent.directory,
            more=self._variables(agent, happening),
            timeout=hook.timeout,
        )
        redactor = redactor_of(self._dependencies.environment, agent)
        output = run.output.decode("utf-8", "replace")
        await asyncio.to_thread(_save_output, kept, run, redactor)
        result = HookResult(
            name=hook_name(hook),
            kind=hook.type,
            success=not run.problem,
            seconds=run.seconds,
            error=run.problem,
            output=output,
            exit_code=run.exit_code,
        )
        self._record(agent, happening.event, result, kept)
        return result

    def _runs_too_often(self, agent: Agent, hook: str) -> bool:
        """Return whether a hook ran so often that it probably triggers its own event."""
        now, begun = (
            self._dependencies.clock.monotonic(),
            self._begun.setdefault((agent.name, hook), deque()),
        )
        while begun and now - begun[0] > RUNS_WITHIN:
            begun.popleft()
        if len(begun) >= MOST_RUNS:
            return True
        begun.append(now)
        return False

    def _record(self, agent: Agent, event: str, result: HookResult, kept: Path) -> None:
        """Record the result. The screen shows a failure until the hook succeeds."""
        where = setting_of(event)
        if result.success:
            text = f"Hook {result.name} of {agent.name} ran ({where}, {result.seconds:.1f} s)"
            agent.troubles.succeed_hook(f"{event} {result.name}")
        else:
            text = f"Hook {result.name} of {agent.name} failed ({where}): {result.error}"
            trouble = f"hook {result.name} ({where}) failed: {result.error}"
            agent.troubles.fail_hook(f"{event} {result.name}", trouble)
        ended = HookEnded(
            "hook.ran" if result.success else "hook.failed",
            hook=result.name,
            type=result.kind,
            success=result.success,
            duration_ms=round(result.seconds * 1000),
            exit_code=result.exit_code,
            error=result.error or None,
            event=event,
            output=str(kept),
        )
        self._dependencies.event_log.record(ended, safe_line(text, 300), agent.name)
        self._changed(agent)

    def _variables(self, agent: Agent, happening: Happening) -> dict[str, str]:
        places = self._dependencies.places
        home = {"COCKPIT_HOME": str(places.home)} if places.home is not None else {}
        return {
            **home,
            "COCKPIT_AGENT": agent.name,
            "COCKPIT_SOCKET": str(places.socket),
            "COCKPIT_HOOK": happening.event,
        }

    def _output_file(self, agent: Agent, hook: Hook, event: str) -> Path:
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", hook_name(hook))[:60]
        return self._dependencies.places.logs / "hooks" / f"{agent.name}-{event}-{plain}.log"

    async def sweep(self) -> None:
        """End hook programs that a killed supervisor left running."""
        await self._shell.sweep()

    async def close(self) -> None:
        """End every hook program, and wait until all have ended."""
        await self._shell.close()


def hook_name(hook: Hook) -> str:
    """Return the name of a hook for the screen and for events."""
    if hook.name:
        return hook.name
    return Path(hook.command[0]).name if hook.type == "shell" and hook.command else hook.type


def _hooks(agent: Agent, event: str) -> tuple[Hook, ...]:
    configured: tuple[Hook, ...] = getattr(agent.settings.hooks, setting_of(event))
    return configured


def _save_output(kept: Path, run: ShellRun, redactor: Redactor) -> None:
    """Save a hook's output without secrets. Blocks."""
    printed = {"stdout": run.output, "stderr": run.complaint}
    clean = {
        heading: redactor.redact(safe_text(raw.decode("utf-8", "replace"))).text
        for heading, raw in printed.items()
    }
    keep_output(kept, run, clean)
