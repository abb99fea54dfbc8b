"""Having a session's own model write its handoff document without touching the session.

The session is forked: the copy gets one question and no tools, and its answer is the draft. The
original's record is only read. This is the one file that knows claude-agent-sdk; importing that
takes two seconds and 68 MB, so the work is done in a process of its own, run as
`python -m cockpit.adapters.agents.claude.fork` with an order as JSON on its standard input.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

from cockpit.adapters.process.descriptors import with_given_limit
from cockpit.core.errors import Failed
from cockpit.core.safetext import safe_line
from cockpit.ports.runtimes import Aside

TURNS = 2
"""One for the answer, one should the model begin with something else."""
BUDGET_USD = 2.0
"""A full context of a large model read once, uncached, and a long answer; not more."""
LARGEST_ANSWER = 256 * 1024


@dataclass(frozen=True, slots=True)
class ForkOrder:
    """One question to a copy of a session."""

    session: str
    directory: str
    question: str
    program: str
    """The CLI, absolute: the one that the agent runs."""
    model: str = ""
    budget_usd: float = BUDGET_USD
    environment: dict[str, str] = field(default_factory=dict)
    """Of the CLI, whole."""


async def ask_a_fork(order: ForkOrder, deadline: float) -> Aside:
    """The answer of a copy of the session. Raises `Failed`; leaves no process behind."""
    process = await asyncio.create_subprocess_exec(
        *with_given_limit([sys.executable, "-P", "-m", __name__]),
        cwd=order.directory,
        env=_own(order.environment),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(deadline):
            said, wrong = await process.communicate(json.dumps(asdict(order)).encode())
    except TimeoutError:
        raise Failed(
            "The copy of the session gave no document in time", f"{deadline:g} s were up."
        ) from None
    finally:
        await _end(process)
    if process.returncode != 0:
        words = safe_line(wrong.decode("utf-8", "replace").strip().rpartition("\n")[2], 300)
        raise Failed("The copy of the session gave no document", words)
    try:
        answer = json.loads(said)
        cost = answer["cost_usd"]
        return Aside(
            str(answer["text"])[:LARGEST_ANSWER],
            float(cost) if cost is not None else None,
            safe_line(str(answer["problem"]), 300),
        )
    except (ValueError, KeyError, TypeError) as wrong:
        raise Failed("The copy of the session gave no document", repr(wrong)) from None


def _own(environment: Mapping[str, str]) -> dict[str, str]:
    """The agent's environment, and where Python finds us."""
    return {**environment, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the helper and the CLI it started: they are one process group of their own."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, 9)
    await process.wait()


async def _answer(order: ForkOrder) -> Aside:
    from claude_agent_sdk import (
        AssistantMessage,
        ClaudeAgentOptions,
        ResultMessage,
        TextBlock,
        query,
    )

    options = ClaudeAgentOptions(
        resume=order.session,
        fork_session=True,
        cwd=order.directory,
        cli_path=order.program,
        model=order.model or None,
        tools=[],
        max_turns=TURNS,
        max_budget_usd=order.budget_usd,
        # The repository's own settings would bring its hooks and servers to life.
        setting_sources=[],
        strict_mcp_config=True,
        # A copy is nobody's session to find again.
        extra_args={"no-session-persistence": None},
        env=order.environment,
    )
    parts: list[str] = []
    cost, problem = None, ""
    async for message in query(prompt=order.question, options=options):
        if isinstance(message, AssistantMessage):
            texts = [block.text for block in message.content if isinstance(block, TextBlock)]
            parts = texts or parts
        elif isinstance(message, ResultMessage):
            cost = message.total_cost_usd
            if message.is_error:
                problem = f"the CLI ended with {message.subtype}"
                break
    return Aside("" if problem else "\n".join(parts), cost, problem)


def main() -> None:
    """Read an order, print the answer as JSON; whatever goes wrong is one line and exit code 1."""
    raw: dict[str, Any] = json.load(sys.stdin)
    try:
        said = asyncio.run(_answer(ForkOrder(**raw)))
    except Exception as wrong:  # noqa: BLE001 - the SDK's own family is not ours to list
        sys.stderr.write(f"{type(wrong).__name__}: {wrong}".replace("\n", " ") + "\n")
        raise SystemExit(1) from None
    json.dump(asdict(said), sys.stdout)


if __name__ == "__main__":
    main()
