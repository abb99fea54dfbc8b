"""Ask a copy of a Gemini session to write the handoff document; the session is not changed.

Gemini cannot fork a session, but it opens a copy of a transcript as a new session (0.61.0). The
copy may only read, and does not run in the agent's directory. cockpit removes the copy's
transcripts afterwards.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from cockpit.adapters.agents.copy_process import start_copy
from cockpit.adapters.agents.gemini.sessions import record_path
from cockpit.adapters.agents.gemini.trust import VARIABLE
from cockpit.adapters.files.bounded_copy import run_copy
from cockpit.core.errors import Failed
from cockpit.core.foreign_json import loads
from cockpit.core.ids import SessionId
from cockpit.core.safetext import safe_line
from cockpit.ports.runtimes import Aside, SessionOrder

LARGEST_ANSWER = 256 * 1024


async def ask_copy(
    program: Path, order: SessionOrder, question: str, environment: dict[str, str], deadline: float
) -> Aside:
    """Return the answer of a copy of the session, after the copy's process has ended. Raises
    `Failed`.

    If the copy does not answer, its transcripts remain, because their names are unknown.
    """
    try:
        async with asyncio.timeout(deadline):
            output = await _output(program, order, question, environment)
    except TimeoutError:
        raise Failed(
            "The copy of the session timed out before it wrote a document",
            f"Time limit: {deadline:g} s.",
        ) from None
    try:
        answer = loads(output)
        text, ident = str(answer["response"] or ""), SessionId(str(answer["session_id"]))
    except (ValueError, LookupError, TypeError, RecursionError):
        return Aside("", problem="Gemini gave no answer")
    await asyncio.to_thread(_remove, ident, order.session_id, environment)
    return Aside(text[:LARGEST_ANSWER], problem="" if text.strip() else "Gemini's answer is empty")


async def _output(
    program: Path, order: SessionOrder, question: str, environment: dict[str, str]
) -> bytes:
    source = await asyncio.to_thread(record_path, order.session_id, environment)
    if source is None:
        raise Failed("There is no transcript to copy", f"Session {order.session_id}.")
    with tempfile.TemporaryDirectory(prefix="cockpit-copy-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder) / "session.jsonl"
        await run_copy(lambda files: files.file(source, copy))
        return await _run(program, order, copy, question, environment)


async def _run(
    program: Path, order: SessionOrder, copy: Path, question: str, environment: dict[str, str]
) -> bytes:
    # Without these variables, the extension's hooks do not report the copy as the agent.
    # COCKPIT_RUN is set, so that processes that the copy starts get the agent's rights only.
    dropped = {"COCKPIT_AGENT", "COCKPIT_RUNTIME"}
    variables = {name: text for name, text in environment.items() if name not in dropped}
    variables["COCKPIT_RUN"] = order.run
    process = await start_copy(
        _arguments(program, order, copy), order.directory, {**variables, VARIABLE: "true"}
    )
    try:
        output, errors = await process.communicate(question.encode())
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
        await process.wait()
    if process.returncode != 0:
        error = safe_line(errors.decode("utf-8", "replace").strip().rpartition("\n")[2], 300)
        raise Failed("The copy of the session wrote no document", error)
    return output


def _arguments(program: Path, order: SessionOrder, copy: Path) -> list[str]:
    arguments = [str(program), "--session-file", str(copy), "--approval-mode", "plan", "-e", "none"]
    if order.model:
        arguments += ["--model", order.model]
    return [*arguments, "--output-format", "json", "--prompt", ""]


def _remove(copy: SessionId, original: SessionId, environment: dict[str, str]) -> None:
    """Remove a copy's transcripts; Gemini writes two."""
    for _ in range(4):
        path = record_path(copy, environment) if copy != original else None
        if path is None:
            return
        with suppress(OSError):
            path.unlink()
