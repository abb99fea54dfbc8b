"""Ask a copy of a Copilot session to write the handoff document; the session is not changed.

Copilot cannot fork a session, but it accepts a copy of a session's folder with another id
(1.0.102). The copy has no tools and none of cockpit's hooks, does not run in the agent's directory,
and is removed afterwards.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import uuid
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from cockpit.adapters.agents.copilot.sessions import TRANSCRIPT, session_folder
from cockpit.adapters.agents.copy_process import start_copy
from cockpit.adapters.files.bounded_copy import BoundedCopy, run_copy
from cockpit.core.errors import Failed, NotNow
from cockpit.core.safetext import safe_line
from cockpit.ports.runtimes import Aside, SessionOrder

LARGEST_ANSWER = 256 * 1024
COPIED = (TRANSCRIPT, "checkpoints")
"""The files of a session that are copied. `workspace.yaml` is left out, because with that file the
copy would use the agent's directory."""
_NO_TOOLS = ("--available-tools=none", "--no-auto-update", "--disable-builtin-mcps")


async def ask_copy(
    program: Path,
    order: SessionOrder,
    question: str,
    environment: Mapping[str, str],
    deadline: float,
) -> Aside:
    """Return the answer of a copy of the session.

    Returns after the copy's process has ended and the copy is removed. Raises `NotNow` if the
    session has no transcript, and `Failed` if the session cannot be copied, or if Copilot fails or
    exceeds the deadline.
    """
    original = session_folder(order.session_id, environment)
    if original is None or not original.is_dir():
        raise NotNow("The session has no transcript to copy")
    ident = str(uuid.uuid4())
    copy = original.parent / ident
    arguments = [
        str(program),
        f"--resume={ident}",
        "-C",
        str(order.directory),
        "--silent",
        *_NO_TOOLS,
    ]
    if order.model:
        arguments += ["--model", order.model]
    try:
        async with asyncio.timeout(deadline):
            await run_copy(partial(_copy, original, copy))
            code, answer, errors = await _run(arguments, order.directory, environment, question)
    except TimeoutError:
        raise Failed(
            "The copy of the session timed out before it wrote a document",
            f"Time limit: {deadline:g} s.",
        ) from None
    finally:
        await asyncio.to_thread(shutil.rmtree, copy, ignore_errors=True)
    if code != 0:
        message = safe_line(errors.strip().rpartition("\n")[2], 300)
        raise Failed("The copy of the session wrote no document", message)
    return Aside(answer, problem="" if answer.strip() else "Copilot's answer is empty")


def _copy(original: Path, copy: Path, files: BoundedCopy) -> None:
    """Copy a session's files, and replace the session's id in the copied transcript."""
    try:
        files.parts(original, COPIED, copy, (original.name.encode(), copy.name.encode()))
    except Failed:  # the caller may have stopped waiting, so the copy is removed here
        shutil.rmtree(copy, ignore_errors=True)
        raise


async def _run(
    arguments: list[str], directory: Path, environment: Mapping[str, str], question: str
) -> tuple[int, str, str]:
    process = await start_copy(arguments, directory, environment)
    try:
        answer, errors = await process.communicate(question.encode())
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
        await process.wait()
    text = answer[:LARGEST_ANSWER].decode("utf-8", "replace")
    return process.returncode or 0, text, errors.decode("utf-8", "replace")
