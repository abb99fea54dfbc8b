"""Ask a copy of an opencode session to write the handoff document; the session is not changed.

`opencode run --session ID --fork` answers one question from a copy (1.18.33). The copy has no
tools, and neither cockpit's plugin nor the repository's settings apply to it. opencode saves the
copy as a new session, so cockpit deletes the copy afterwards.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from contextlib import suppress
from pathlib import Path

from cockpit.adapters.agents.copy_process import start_copy
from cockpit.adapters.agents.opencode.plugin import ORDER, PERMISSION
from cockpit.adapters.agents.opencode.sessions import is_session_id
from cockpit.core.errors import Failed
from cockpit.core.foreign_json import loads
from cockpit.core.safetext import safe_line
from cockpit.ports.runtimes import Aside, SessionOrder

LARGEST_ANSWER = 4 * 1024 * 1024
DELETING = 20.0
"""Seconds after which cockpit gives up deleting the copy."""
NO_TOOLS = json.dumps({"*": "deny"})


async def ask_copy(program: Path, order: SessionOrder, question: str, deadline: float) -> Aside:
    """Return the answer of a copy of the session, after the copy's process has ended. Raises
    `Failed`."""
    arguments = ["run", "--session", order.session_id, "--fork", "--format", "json", "--pure"]
    if order.model:
        arguments += ["--model", order.model]
    code, output = await _run(program, order, arguments, question, deadline)
    copy, answer, cost, problem = _read(output, order.session_id)
    if copy is not None:
        with suppress(Failed):
            await _run(program, order, ["session", "delete", copy, "--pure"], "", DELETING)
    if code not in (0, None) and not answer:
        last = output.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise Failed("The copy of the session wrote no document", problem or safe_line(last, 300))
    if not answer.strip():
        return Aside("", cost, problem or "opencode's answer is empty")
    return Aside(answer, cost)


async def _run(
    program: Path, order: SessionOrder, arguments: list[str], prompt: str, deadline: float
) -> tuple[int | None, bytes]:
    """Run opencode; return its exit code and output. Kills opencode when it has answered.

    The exit code is None if opencode was killed. Raises `Failed` after `deadline` seconds, and for
    a line that is longer than `LARGEST_ANSWER`.
    """
    # `OPENCODE_CONFIG_CONTENT` stays: the user's settings in it can define the model's provider.
    dropped = {ORDER, PERMISSION, "COCKPIT_AGENT"}
    environment = {name: text for name, text in order.environment.items() if name not in dropped}
    # Processes that the copy starts get the agent's rights only.
    environment["COCKPIT_RUN"] = order.run
    process = await start_copy(
        [str(program), *arguments],
        order.directory,
        {
            **environment,
            # opencode prefers PWD to its actual working directory.
            "PWD": str(order.directory),
            PERMISSION: NO_TOOLS,
            # opencode continues a session only in the session's directory, whose settings can start
            # programs.
            "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
        },
        stderr=asyncio.subprocess.STDOUT,
        limit=LARGEST_ANSWER,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        async with asyncio.timeout(deadline):
            process.stdin.write(prompt.encode())
            process.stdin.close()
            output = await _until_answered(process.stdout)
            if not _is_last(output[-1:]):
                await process.wait()
    except TimeoutError:
        raise Failed(
            "The copy of the session timed out before it wrote a document",
            f"Time limit: {deadline:g} s.",
        ) from None
    except ValueError:
        raise Failed("The copy of the session wrote a line that is too long") from None
    finally:
        code = process.returncode
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    return code, b"".join(output)


async def _until_answered(stream: asyncio.StreamReader) -> list[bytes]:
    """Return the lines until the answer or the stream ends, or `LARGEST_ANSWER` is reached."""
    lines: list[bytes] = []
    while not _is_last(lines[-1:]) and sum(map(len, lines)) < LARGEST_ANSWER:
        line = await stream.readline()
        if not line:
            break
        lines.append(line)
    return lines


def _is_last(lines: list[bytes]) -> bool:
    try:
        event = loads(lines[0])
        kind = event["type"]
        return kind == "error" or bool(
            kind == "step_finish" and event["part"]["reason"] != "tool-calls"
        )
    except (ValueError, LookupError, TypeError, RecursionError):
        return False


def _read(output: bytes, original: str) -> tuple[str | None, str, float | None, str]:
    """Parse opencode's output: return the copy's id, its answer, its cost and an error message."""
    copy, texts, cost, problem = None, [], None, ""
    for line in output.splitlines():
        try:
            event = loads(line)
            session, part = event.get("sessionID"), event.get("part") or {}
            kind = event.get("type")
        except (ValueError, AttributeError, RecursionError):
            continue
        if isinstance(session, str) and session != original and is_session_id(session):
            copy = session
        if kind == "text":
            texts.append(str(part.get("text", "")))
        elif kind == "step_finish" and isinstance(part.get("cost"), int | float):
            cost = (cost or 0.0) + part["cost"]
        elif kind == "error":
            problem = safe_line(json.dumps(event.get("error")), 300)
    return copy, "\n".join(texts), cost or None, problem
