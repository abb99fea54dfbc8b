"""`cockpit wait`: wait until agents are done, are idle, need the user, or were handed off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cockpit.cli.agent_names import agent_names
from cockpit.cli.options import with_common_options
from cockpit.core.errors import BadUsage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cockpit.client.client import Supervisor
    from cockpit.client.waiting import Goal, Wait
    from cockpit.wire.status import AgentStatus

TIMED_OUT = 7
ENDED_FIRST = 8
AWAY_SECONDS = 60.0
"""Maximum seconds for which a supervisor may be unreachable, as during `cockpit restart`."""


@click.command(
    name="wait",
    epilog="""\b
Examples:
  cockpit wait api && ./deploy.sh          when the whole job of api is done
  cockpit wait api web --for idle          when both have ended their turns
  cockpit wait api web --any --timeout 1h  when one of them is done
  cockpit wait api --for needs-you && notify-send "api asks"

\b
An agent is done when it has printed its completion marker, or when you run
`cockpit done`; a plain command, when it ends with exit code 0. If an agent needs you,
wait prints the command that answers the agent. --for handoff waits for a handoff
that completes after wait has started. To approve in the same shell, first run wait
in the background.

\b
Exit codes: 0 all agents reached the state (with --any: one), 7 timed out,
8 an agent ended first (with --any: all);
others: cockpit --help""",
)
@with_common_options
@click.argument("names", metavar="NAME...", nargs=-1, required=True, shell_complete=agent_names)
@click.option(
    "--for",
    "goal",
    type=click.Choice(("done", "idle", "needs-you", "handoff")),
    default="done",
    show_default=True,
    help="The state to wait for.",
)
@click.option(
    "--any", "is_any", is_flag=True, help="Return when the first agent reaches the --for state."
)
@click.option("--timeout", metavar="TIME", help='Give up after this time, such as "90s" or "2h".')
def wait(names: tuple[str, ...], goal: Goal, is_any: bool, timeout: str | None) -> int:
    """Wait until agents are done, or reach another state.

    Waits for the state given with --for, and prints a line for each agent that reaches the state.
    """
    from cockpit.cli.requests import with_client
    from cockpit.core.ids import agent_name

    asked = tuple(dict.fromkeys(agent_name(name) for name in names))
    seconds = wait_seconds(timeout)
    return with_client(lambda client: wait_for(client, asked, goal, is_any=is_any, seconds=seconds))


def wait_seconds(written: str | None) -> float | None:
    """Return the seconds of `--timeout`; None if it was not given. Raises `BadUsage` for invalid
    text."""
    if written is None:
        return None
    from cockpit.config.quantities import duration

    try:
        return duration(written)
    except ValueError as wrong:
        raise BadUsage(f"--timeout: {wrong}", "", 'For example: --timeout "90s"') from None


async def wait_for(
    client: Supervisor,
    names: Sequence[str],
    goal: Goal,
    *,
    is_any: bool = False,
    seconds: float | None = None,
) -> int:
    """Wait, print each result, and return the exit code.

    Raises `NoSuchAgent`, and `NoSupervisor` if no supervisor answers at first, or later for
    `AWAY_SECONDS`.
    """
    import asyncio

    from cockpit.cli.output import say

    watching = _Watch(names, goal, is_any=is_any)
    try:
        async with asyncio.timeout(seconds):
            return await watching.run(client)
    except TimeoutError:
        say(f"Timed out waiting for {goal}: {', '.join(watching.left)}")
        return TIMED_OUT


class _Watch:
    """Watches the agents until the wait is over."""

    def __init__(self, names: Sequence[str], goal: Goal, *, is_any: bool) -> None:
        self._names = names
        self._goal = goal
        self._is_any = is_any
        self._reported: dict[str, tuple[str, str]] = {}
        self._waits: dict[str, Wait] = {}
        self._ended: list[str] = []
        self.left: list[str] = list(names)

    async def run(self, client: Supervisor) -> int:
        import asyncio
        import time

        from cockpit.core.errors import NoSupervisor

        last = time.monotonic()
        while True:
            try:
                async for line in client.watch():
                    last = time.monotonic()
                    if (code := self._hear(line)) is not None:
                        return code
            except NoSupervisor:
                if not self._waits or time.monotonic() - last > AWAY_SECONDS:
                    raise
                await asyncio.sleep(0.2)

    def _hear(self, line: object) -> int | None:
        """Handle a line of the stream; return the exit code once the wait is over, else None."""
        from cockpit.core.errors import NoSuchAgent
        from cockpit.wire.stream import AgentChanged, AgentForgotten, Snapshot

        if isinstance(line, Snapshot):
            rows = {row.name: row for row in line.status.agents}
            for name in self.left:
                if name not in rows:
                    raise NoSuchAgent(
                        f"There is no agent {name!a}", "", "List the agents: cockpit status"
                    )
            for name in tuple(self.left):
                self._check_row(rows[name])
        elif isinstance(line, AgentChanged) and line.agent.name in self.left:
            self._check_row(line.agent)
        elif isinstance(line, AgentForgotten) and line.name in self.left:
            self._settle(line.name, reached=False, text=f"{line.name} was removed")
        return self._code()

    def _code(self) -> int | None:
        reached = len(self._names) - len(self.left) - len(self._ended)
        if self._is_any and reached:
            return 0
        if self.left:
            return None
        return ENDED_FIRST if self._ended else 0

    def _check_row(self, row: AgentStatus) -> None:
        from cockpit.cli.output import say
        from cockpit.client.waiting import Verdict, answer_command
        from cockpit.core.safetext import safe_line

        verdict = self._wait(row).verdict(row)
        if verdict is Verdict.REACHED:
            self._settle(row.name, reached=True, text=f"{row.name} {self._state(row)}")
            return
        if verdict is Verdict.ENDED:
            state, why = ("failed", row.needs.detail) if row.needs else (row.state, row.note)
            self._settle(
                row.name, reached=False, text=f"{row.name} {state}" + (f": {why}" if why else "")
            )
            return
        needs = row.needs
        if needs is None:
            self._reported.pop(row.name, None)
        elif self._reported.get(row.name) != (needs.kind, needs.detail):
            self._reported[row.name] = needs.kind, needs.detail
            say(safe_line(f"{row.name} needs you: {needs.detail}", 400))
            say(f"  {answer_command(row, needs)}")

    def _state(self, row: AgentStatus) -> str:
        """Return the text for the state that the agent reached."""
        return "done" if self._goal == "done" else row.state.replace("_", " ")

    def _wait(self, row: AgentStatus) -> Wait:
        from cockpit.client.waiting import Wait

        return self._waits.setdefault(row.name, Wait(self._goal, row.handoffs))

    def _settle(self, name: str, *, reached: bool, text: str) -> None:
        from cockpit.core.safetext import safe_line

        self.left.remove(name)
        if not reached:
            self._ended.append(name)
        print(safe_line(text, 400), flush=True)
