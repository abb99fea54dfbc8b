"""Ask a copy of a session to write the handoff document; the session itself is not changed.

The SDK forks the session. The copy gets one question and no tools; its answer is the draft. The
original transcript is only read.

Only this file imports claude-agent-sdk. The import takes two seconds and 68 MB, so a separate
process does the work: `python -m cockpit.adapters.agents.claude.fork`, with a `ForkOrder` as JSON
on stdin.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, field
from pathlib import Path
from typing import Any

from cockpit.adapters.agents.copy_process import start_copy
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.errors import Failed
from cockpit.core.foreign_json import loads
from cockpit.core.safetext import safe_line
from cockpit.ports.runtimes import Aside

TURNS = 2
"""Maximum turns of the copy: one for the answer, and one more if the model does something else
first."""
BUDGET_USD = 2.0
"""Maximum cost of the copy in US dollars: enough to read a large model's full context once,
uncached, and to write a long answer."""
LARGEST_ANSWER = 256 * 1024


@dataclass(frozen=True, slots=True)
class ForkOrder:
    """A question for a copy of a session, and how to start the copy."""

    session: str
    directory: str
    question: str
    program: str
    """Absolute path of the CLI that the agent runs."""
    model: str = ""
    budget_usd: float = BUDGET_USD
    environment: dict[str, str] = field(default_factory=dict)
    """The complete environment of the CLI."""


async def ask_fork(order: ForkOrder, deadline: float) -> Aside:
    """Return the answer of a copy of the session, after the copy's processes have ended. Raises
    `Failed`."""
    arguments = [sys.executable, "-P", "-m", __name__]
    process = await start_copy(arguments, Path(order.directory), _own(order.environment))
    try:
        async with asyncio.timeout(deadline):
            output, errors = await process.communicate(json.dumps(asdict(order)).encode())
    except TimeoutError:
        raise Failed(
            "The copy of the session timed out before it wrote a document",
            f"Time limit: {deadline:g} s.",
        ) from None
    finally:
        await _end(process)
    if process.returncode != 0:
        message = safe_line(errors.decode("utf-8", "replace").strip().rpartition("\n")[2], 300)
        raise Failed("The copy of the session wrote no document", message)
    try:
        answer = loads(output)
        cost = answer["cost_usd"]
        return Aside(
            str(answer["text"])[:LARGEST_ANSWER],
            float(cost) if cost is not None else None,
            safe_line(str(answer["problem"]), 300),
        )
    except (ValueError, KeyError, TypeError) as errors:
        raise Failed("The copy of the session wrote no document", repr(errors)) from None


def _own(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the agent's environment, with a `PYTHONPATH` on which Python finds this package."""
    return {**environment, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the process group, which contains the child process and its CLI."""
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
        # The repository's own settings would start its hooks and servers.
        setting_sources=[],
        strict_mcp_config=True,
        # The copy is never resumed, so it is not saved.
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
                problem = f"the CLI failed: {message.subtype}"
                break
    return Aside("" if problem else "\n".join(parts), cost, problem)


def main() -> None:
    """Read a `ForkOrder` from stdin and print the answer as JSON. Print an error as one line to
    stderr and exit with 1."""
    raw: dict[str, Any] = json.load(sys.stdin)
    try:
        answer = asyncio.run(_answer(ForkOrder(**raw)))
    except Exception as wrong:  # noqa: BLE001 - the SDK can raise any exception
        sys.stderr.write(f"{type(wrong).__name__}: {wrong}".replace("\n", " ") + "\n")
        raise SystemExit(1) from None
    json.dump(asdict(answer), sys.stdout)


if __name__ == "__main__":
    main()
