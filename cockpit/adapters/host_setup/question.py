"""Send one question to cockpit on another machine, in one call with a time limit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cockpit.adapters.host_setup.remote_script import ScriptAnswer, run_script


def ask_host(connect: Sequence[str], question: bytes, seconds: float) -> ScriptAnswer:
    """Send a question to a new `cockpit move-step` on a host, with `question.sh`.

    In the result, the key `answer` has the line that `cockpit move-step` printed. The key `missing`
    is set if cockpit is not on the host's PATH. A host that fails or is too slow gives an
    incomplete answer. Raises `ProgramMissing` or `Failed` if `connect` does not start.
    """
    script = Path(__file__).with_name("question.sh").read_text(encoding="utf-8")
    return run_script(connect, script, seconds=seconds, payload=question)
