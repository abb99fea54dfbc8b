"""Ask a copy of a Codex session to write the handoff document; the session itself is unchanged.

`codex exec fork --ephemeral` answers one question from a copy that is not saved (0.169.0). The copy
may only read; it has no shell and none of cockpit's hooks, and does not run in the agent's
directory.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from cockpit.adapters.agents.copy_process import start_copy
from cockpit.adapters.files.foreign_files import read_text
from cockpit.core.errors import Failed
from cockpit.core.safetext import safe_line
from cockpit.ports.runtimes import Aside, SessionOrder

LARGEST_ANSWER = 256 * 1024
_WITHOUT = ("shell_tool", "unified_exec", "multi_agent", "goals")


async def ask_copy(
    program: Path, order: SessionOrder, question: str, environment: dict[str, str], deadline: float
) -> Aside:
    """Return the answer of a copy of the session, after the copy's process has ended and the copy's
    files are removed. Raises `Failed`."""
    with tempfile.TemporaryDirectory(prefix="cockpit-copy-") as folder:
        answer = Path(folder) / "answer.md"
        process = await start_copy(
            _arguments(program, order, answer),
            order.directory,
            environment,
            stdout=asyncio.subprocess.DEVNULL,
        )
        try:
            async with asyncio.timeout(deadline):
                _, errors = await process.communicate(question.encode())
        except TimeoutError:
            raise Failed(
                "The copy of the session timed out before it wrote a document",
                f"Time limit: {deadline:g} s.",
            ) from None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
            await process.wait()
        if process.returncode != 0:
            message = safe_line(errors.decode("utf-8", "replace").strip().rpartition("\n")[2], 300)
            raise Failed("The copy of the session wrote no document", message)
        try:
            text = read_text(answer, LARGEST_ANSWER)
        except OSError as error:
            return Aside("", problem=f"Cannot read Codex's answer: {error.strerror}")
        return Aside(text, problem="" if text.strip() else "Codex's answer is empty")


def _arguments(program: Path, order: SessionOrder, answer: Path) -> list[str]:
    argv = [str(program), "exec", "--sandbox", "read-only", "--output-last-message", str(answer)]
    argv.append("--skip-git-repo-check")
    if order.model:
        argv += ["--model", order.model]
    argv += ["fork", "--ephemeral", "-c", 'web_search="disabled"']
    for feature in _WITHOUT:
        argv += ["--disable", feature]
    return [*argv, order.session_id, "-"]
