"""Runs the hooks of a seat: those of one event in the order written, each within its own time.

What happened is told to them beside, one event after the other for each seat, so that no hook holds
anything up. Only two are waited for: those before a session, whose output goes before its prompt,
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

from cockpit.adapters.hook_shell import ShellHooks, keep_output
from cockpit.config.hooks import Hook
from cockpit.core.hook_events import (
    PROLOGUE,
    Happening,
    HookResult,
    happened,
    passed_over,
    setting_of,
)
from cockpit.core.safetext import safe_line, safe_text
from cockpit.ports.records import EventRecord, SessionRecord
from cockpit.supervisor.feed import rfc3339
from cockpit.supervisor.hook_telling import happening
from cockpit.supervisor.instruments import Instruments
from cockpit.supervisor.seat import Seat
from cockpit.supervisor.secrecy import redactor_of

AT_ONCE = 4
"""Programs of hooks that nobody waits for, of all seats."""
PENDING = 200
"""Events of one seat that may wait for their hooks; what comes then is not told to them."""

CIRCLE_RUNS = 20
CIRCLE_SECONDS = 60.0
"""So many runs of one hook of one agent within so many seconds, and it is left out."""
CIRCLE = f"it ran {CIRCLE_RUNS} times in a minute, and is left out until that is over"

_log = logging.getLogger(__name__)

Post = Callable[[Seat, Hook, Happening], None]
"""Lays a message into the outbox, as part of the transaction that is open."""


class Hooks:
    """The hooks of all seats."""

    def __init__(
        self,
        instruments: Instruments,
        find: Callable[[str], Seat | None],
        changed: Callable[[Seat], None],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
        post: Post,
    ) -> None:
        self._in = instruments
        self._find = find
        self._changed = changed
        self._spawn = spawn
        self._post = post
        self._shell = ShellHooks(
            instruments.processes, instruments.environment, instruments.places.state / "hooks"
        )
        self._begun: dict[tuple[str, str], deque[float]] = {}
        self._pending: dict[str, deque[tuple[Hook, Happening]]] = {}
        self._slots = asyncio.Semaphore(AT_ONCE)

    # Events that nobody waits for

    def heard(self, record: EventRecord) -> None:
        """Something happened; called while it is being written down, and never waits."""
        seat = self._find(record.agent) if record.agent else None
        if seat is None:
            return
        for event, outcome in happened(record.kind, record.data):
            if hooks := _hooks(seat, event):
                told = happening(
                    seat,
                    event,
                    self._in.environment,
                    ident=f"event-{record.id}-{event}",
                    at=rfc3339(record.at),
                    text=record.text,
                    data=record.data,
                    outcome=outcome,
                )
                self._hand_out(seat, hooks, told)

    def _hand_out(self, seat: Seat, hooks: tuple[Hook, ...], told: Happening) -> None:
        """To the outbox what is sent, to the seat's own line what is run."""
        line, gated = self._pending.get(seat.name), False
        for hook in hooks:
            if passed_over(told.event, told.payload, hook.on_events, hook.when):
                continue
            if hook.type != "shell" and not gated:
                self._post(seat, hook, told)
                continue
            # What is sent after a program that may end it all waits for that program's end.
            gated = gated or not hook.continue_on_error
            if line is not None and len(line) >= PENDING:
                _log.warning("%s: too many events wait for hooks; %s is lost", seat.name, told.text)
            else:
                if line is None:
                    line = self._pending[seat.name] = deque()
                    self._spawn(self._work(seat, line))
                line.append((hook, told))

    async def _work(self, seat: Seat, line: deque[tuple[Hook, Happening]]) -> None:
        """Run what waits for this seat, in order; ends when nothing does."""
        given_up = ""
        try:
            while line:
                hook, told = line.popleft()
                if told.payload["id"] == given_up:
                    continue
                if hook.type != "shell":
                    self._post(seat, hook, told)
                    continue
                async with self._slots:
                    result = await self._run(seat, hook, told)
                if not result.success and not hook.continue_on_error:
                    given_up = told.payload["id"]
        finally:
            self._pending.pop(seat.name, None)

    # Events that are waited for

    async def before_session(
        self, seat: Seat, session: SessionRecord, prompt: str | None
    ) -> str | None:
        """The prompt with what the hooks of session_start print before it.

        A session without a prompt stays without one.
        """
        hooks = _hooks(seat, "session_start")
        if not hooks:
            return prompt
        told = self._now(seat, "session_start", opening=(session, prompt))
        printed = [result.output for _, result in await self.run_all(seat, hooks, told)]
        prologue = safe_text("\n".join(part for part in printed if part.strip()), PROLOGUE).strip()
        return f"{prologue}\n\n{prompt}" if prologue and prompt else prompt

    async def at_threshold(self, seat: Seat) -> list[tuple[Hook, HookResult]]:
        """Run the hooks of context_threshold, and say how each went."""
        told = self._now(seat, "context_threshold")
        return await self.run_all(seat, _hooks(seat, "context_threshold"), told)

    async def run_all(
        self, seat: Seat, hooks: tuple[Hook, ...], told: Happening
    ) -> list[tuple[Hook, HookResult]]:
        """Run these in order; a failure ends it where the hook says so."""
        results: list[tuple[Hook, HookResult]] = []
        for hook in hooks:
            if passed_over(told.event, told.payload, hook.on_events, hook.when):
                continue
            if hook.type == "shell":
                result = await self._run(seat, hook, told)
            else:
                self._post(seat, hook, told)
                result = HookResult(hook_name(hook), hook.type, success=True)
            results.append((hook, result))
            if not result.success and not hook.continue_on_error:
                break
        return results

    def _now(
        self, seat: Seat, event: str, opening: tuple[SessionRecord, str | None] | None = None
    ) -> Happening:
        reading = seat.sitting.gauge.reading
        share = f" at {reading.used:.0%} of its context" if reading.used is not None else ""
        words = {
            "session_start": f"{seat.name} begins a session",
            "context_threshold": f"{seat.name} is{share or ' past its act mark'}",
        }
        return happening(
            seat,
            event,
            self._in.environment,
            ident=str(uuid4()),
            at=rfc3339(self._in.clock.now().timestamp()),
            text=words[event],
            opening=opening,
        )

    # Running one

    async def _run(self, seat: Seat, hook: Hook, told: Happening) -> HookResult:
        kept = self._output_file(seat, hook, told.event)
        if self._in_a_circle(seat, f"{told.event} {hook_name(hook)}"):
            result = HookResult(hook_name(hook), hook.type, success=False, error=CIRCLE)
            self._tell(seat, told.event, result, kept)
            return result
        run = await self._shell.run(
            hook.command,
            told.line(),
            directory=seat.directory,
            more=self._variables(seat, told),
            timeout=hook.timeout,
        )
        redactor = redactor_of(self._in.environment, seat)
        output = run.output.decode("utf-8", "replace")
        keep_output(
            kept,
            run,
            {
                "printed": redactor.redact(safe_text(output)).text,
                "on its error output": redactor.redact(
                    safe_text(run.complaint.decode("utf-8", "replace"))
                ).text,
            },
        )
        result = HookResult(
            name=hook_name(hook),
            kind=hook.type,
            success=not run.problem,
            seconds=run.seconds,
            error=run.problem,
            output=output,
            exit_code=run.exit_code,
        )
        self._tell(seat, told.event, result, kept)
        return result

    def _in_a_circle(self, seat: Seat, hook: str) -> bool:
        """Whether a hook seems to bring about its own event, again and again."""
        now, begun = self._in.clock.monotonic(), self._begun.setdefault((seat.name, hook), deque())
        while begun and now - begun[0] > CIRCLE_SECONDS:
            begun.popleft()
        if len(begun) >= CIRCLE_RUNS:
            return True
        begun.append(now)
        return False

    def _tell(self, seat: Seat, event: str, result: HookResult, kept: Path) -> None:
        """The result as an event, and a failure on the row until that hook goes well again."""
        where = setting_of(event)
        if result.success:
            words = f"Hook {result.name} of {seat.name} ran ({where}, {result.seconds:.1f} s)"
            seat.hooks_failed.pop(f"{event} {result.name}", None)
        else:
            words = f"Hook {result.name} of {seat.name} failed ({where}): {result.error}"
            said = f"hook {result.name} ({where}) failed: {result.error}"
            seat.hooks_failed[f"{event} {result.name}"] = said
        kind = "hook.ran" if result.success else "hook.failed"
        data = {**result.told(), "event": event, "output": str(kept)}
        self._in.feed.tell(kind, safe_line(words, 300), seat.name, **data)
        self._changed(seat)

    def _variables(self, seat: Seat, told: Happening) -> dict[str, str]:
        places = self._in.places
        home = {"COCKPIT_HOME": str(places.home)} if places.home is not None else {}
        return {
            **home,
            "COCKPIT_AGENT": seat.name,
            "COCKPIT_SOCKET": str(places.socket),
            "COCKPIT_HOOK": told.event,
        }

    def _output_file(self, seat: Seat, hook: Hook, event: str) -> Path:
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", hook_name(hook))[:60]
        return self._in.places.logs / "hooks" / f"{seat.name}-{event}-{plain}.log"

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


def _hooks(seat: Seat, event: str) -> tuple[Hook, ...]:
    found: tuple[Hook, ...] = getattr(seat.settings.hooks, setting_of(event))
    return found
