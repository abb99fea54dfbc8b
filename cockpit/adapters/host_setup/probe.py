"""Ask another machine for its description, in one call."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cockpit.adapters.host_setup.remote_script import ScriptAnswer, run_script


def probe(connect: Sequence[str], seconds: float) -> ScriptAnswer:
    """Run `probe.sh` on a host; `core.host_facts` reads the answer.

    A host that fails or is too slow gives an incomplete answer. Raises `ProgramMissing`
    or `Failed` if `connect` does not start.
    """
    script = Path(__file__).with_name("probe.sh").read_text(encoding="utf-8")
    return run_script(connect, script, seconds=seconds)
