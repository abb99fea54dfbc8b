"""Runs the hooks of an agent: those of one event in the order written, each within its own time.

Events are passed to them in the background, in order for each agent, so that no hook holds anything
up. Only two are waited for: those before a session, whose output goes before its prompt,
and those at the act mark, who may decide (`deciding`). What is sent goes to the outbox instead.
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
from cockpit.core.event_kinds import EventKind
from cockpit.core.hook_events import (
    PROLOGUE,
    Happening,
    HookResult,
    happened,
    passed_over,
    setting_of,
)
from cockpit.core.redaction import Redactor
from cockpit.core.safetext import safe_line, safe_text
from cockpit.ports.records import EventRecord, SessionRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.known_secrets import redactor_of
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.events import rfc3339
from cockpit.supervisor.outbound.hook_payloads import happening

AT_ONCE = 4
"""Programs of hooks that nobody waits for, of all agents."""
PENDING = 200
"""Events of one agent that may wait for their hooks; what comes then is not told to them."""

CIRCLE_RUNS = 20
CIRCLE_SECONDS = 60.0
"""So many runs of one hook of one agent within so many seconds, and it is left out."""
CIRCLE = f"it ran {CIRCLE_RUNS} times in a minute, and is left out until that is over"

_log = logging.getLogger(__name__)

Post = Callable[[Agent, Hook, Happening], None]
"""Lays a message into the outbox, as part of the transaction that is open."""


class Hooks:
    """The hooks of all agents."""

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

    # Events that nobody waits for

    def heard(self, record: EventRecord) -> None:
        """Something happened; called while it is being written down, and never waits."""
        agent = self._find(record.agent) if record.agent else None
        if agent is None:
            return
        for event, outcome in happened(record.kind, record.data):
            if hooks := _hooks(agent, event):
                told = happening(
                    agent,
                    event,
                    self._dependencies.environment,
                    ident=f"event-{record.id}-{event}",
                    at=rfc3339(record.at),
                    text=record.text,
                    data=record.data,
                    outcome=outcome,
                )
                self._hand_out(agent, hooks, told)

    def _hand_out(self, agent: Agent, hooks: tuple[Hook, ...], told: Happening) -> None:
        """To the outbox what is sent, to the agent's own line what is run."""
        line, gated = self._pending.get(agent.name), False
        for hook in hooks:
            if passed_over(told.event, told.payload, hook.on_events, hook.when):
                continue
            if hook.type != "shell" and not gated:
                self._post(agent, hook, told)
                continue
            # What is sent after a program that may end it all waits for that program's end.
            gated = gated or not hook.continue_on_error
            if line is not None and len(line) >= PENDING:
                _log.warning(
                    "%s: too many events wait for hooks; %s is lost", agent.name, told.text
                )
            else:
                if line is None:
                    line = self._pending[agent.name] = deque()
                    self._spawn(self._work(agent, line))
                line.append((hook, told))

    async def _work(self, agent: Agent, line: deque[tuple[Hook, Happening]]) -> None:
        """Run what waits for this agent, in order; ends when nothing does."""
        given_up = ""
        try:
            while line:
                hook, told = line.popleft()
                if told.payload["id"] == given_up:
                    continue
                if hook.type != "shell":
                    self._post(agent, hook, told)
                    continue
                async with self._slots:
                    result = await self._run(agent, hook, told)
                if not result.success and not hook.continue_on_error:
                    given_up = told.payload["id"]
        finally:
            self._pending.pop(agent.name, None)

    # Events that are waited for

    async def before_session(
        self, agent: Agent, session: SessionRecord, prompt: str | None
    ) -> str | None:
        """The prompt with what the hooks of session_start print before it.

        A session without a prompt stays without one.
        """
        hooks = _hooks(agent, "session_start")
        if not hooks:
            return prompt
        told = self._now(agent, "session_start", opening=(session, prompt))
        printed = [result.output for _, result in await self.run_all(agent, hooks, told)]
        prologue = safe_text("\n".join(part for part in printed if part.strip()), PROLOGUE).strip()
        return f"{prologue}\n\n{prompt}" if prologue and prompt else prompt

    async def at_threshold(self, agent: Agent) -> list[tuple[Hook, HookResult]]:
        """Run the hooks of context_threshold, and say how each went."""
        told = self._now(agent, "context_threshold")
        return await self.run_all(agent, _hooks(agent, "context_threshold"), told)

    async def run_all(
        self, agent: Agent, hooks: tuple[Hook, ...], told: Happening
    ) -> list[tuple[Hook, HookResult]]:
        """Run these in order; a failure ends it where the hook says so."""
        results: list[tuple[Hook, HookResult]] = []
        for hook in hooks:
            if passed_over(told.event, told.payload, hook.on_events, hook.when):
                continue
            if hook.type == "shell":
                result = await self._run(agent, hook, told)
            else:
                self._post(agent, hook, told)
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
        words = {
            "session_start": f"{agent.name} begins a session",
            "context_threshold": f"{agent.name} is{share or ' past its act mark'}",
        }
        return happening(
            agent,
            event,
            self._dependencies.environment,
            ident=str(uuid4()),
            at=rfc3339(self._dependencies.clock.now().timestamp()),
            text=words[event],
            opening=opening,
        )

    # Running one

    async def _run(self, agent: Agent, hook: Hook, told: Happening) -> HookResult:
        kept = self._output_file(agent, hook, told.event)
        if self._in_a_circle(agent, f"{told.event} {hook_name(hook)}"):
            result = HookResult(hook_name(hook), hook.type, success=False, error=CIRCLE)
            self._tell(agent, told.event, result, kept)
            return result
        run = await self._shell.run(
            hook.command,
            told.line(),
            directory=agent.directory,
            more=self._variables(agent, told),
            timeout=hook.timeout,
        )
        redactor = redactor_of(self._dependencies.environment, agent)
        output = run.output.decode("utf-8", "replace")
        await asyncio.to_thread(_keep_clean, kept, run, redactor)
        result = HookResult(
            name=hook_name(hook),
            kind=hook.type,
            success=not run.problem,
            seconds=run.seconds,
            error=run.problem,
            output=output,
            exit_code=run.exit_code,
        )
        self._tell(agent, told.event, result, kept)
        return result

    def _in_a_circle(self, agent: Agent, hook: str) -> bool:
        """Whether a hook seems to bring about its own event, again and again."""
        now, begun = (
            self._dependencies.clock.monotonic(),
            self._begun.setdefault((agent.name, hook), deque()),
        )
        while begun and now - begun[0] > CIRCLE_SECONDS:
            begun.popleft()
        if len(begun) >= CIRCLE_RUNS:
            return True
        begun.append(now)
        return False

    def _tell(self, agent: Agent, event: str, result: HookResult, kept: Path) -> None:
        """The result as an event, and a failure on the row until that hook goes well again."""
        where = setting_of(event)
        if result.success:
            words = f"Hook {result.name} of {agent.name} ran ({where}, {result.seconds:.1f} s)"
            agent.troubles.hooks.pop(f"{event} {result.name}", None)
        else:
            words = f"Hook {result.name} of {agent.name} failed ({where}): {result.error}"
            said = f"hook {result.name} ({where}) failed: {result.error}"
            agent.troubles.hooks[f"{event} {result.name}"] = said
        kind: EventKind = "hook.ran" if result.success else "hook.failed"
        data = {**result.told(), "event": event, "output": str(kept)}
        self._dependencies.event_log.record(kind, safe_line(words, 300), agent.name, **data)
        self._changed(agent)

    def _variables(self, agent: Agent, told: Happening) -> dict[str, str]:
        places = self._dependencies.places
        home = {"COCKPIT_HOME": str(places.home)} if places.home is not None else {}
        return {
            **home,
            "COCKPIT_AGENT": agent.name,
            "COCKPIT_SOCKET": str(places.socket),
            "COCKPIT_HOOK": told.event,
        }

    def _output_file(self, agent: Agent, hook: Hook, event: str) -> Path:
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", hook_name(hook))[:60]
        return self._dependencies.places.logs / "hooks" / f"{agent.name}-{event}-{plain}.log"

    async def sweep(self) -> None:
        """End what the hooks of a supervisor that was killed have left."""
        await self._shell.sweep()

    async def close(self) -> None:
        """Every program of a hook is ended before this returns."""
        await self._shell.close()


def hook_name(hook: Hook) -> str:
    """What the row and the log call a hook."""
    if hook.name:
        return hook.name
    return Path(hook.command[0]).name if hook.type == "shell" and hook.command else hook.type


def _hooks(agent: Agent, event: str) -> tuple[Hook, ...]:
    found: tuple[Hook, ...] = getattr(agent.settings.hooks, setting_of(event))
    return found


def _keep_clean(kept: Path, run: ShellRun, redactor: Redactor) -> None:
    """Keep what a hook printed, without secrets. Blocks."""
    printed = {"printed": run.output, "on its error output": run.complaint}
    clean = {
        heading: redactor.redact(safe_text(raw.decode("utf-8", "replace"))).text
        for heading, raw in printed.items()
    }
    keep_output(kept, run, clean)
