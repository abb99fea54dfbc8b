"""Generate the table of each CLI's capabilities, for `docs/runtimes.md`."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from cockpit.adapters.agents import RUNTIMES, runtime
from cockpit.core.capabilities import LABELS, Capabilities, text_of


def capabilities_table() -> str:
    """Format the capabilities of all runtimes, one column per runtime."""
    known = [runtime(name, Path()).capabilities for name in RUNTIMES]
    head = "".join(f" `{name}` |" for name in RUNTIMES)
    rows = [
        f"| {LABELS[field.name]} |" + "".join(f" {_cell(one, field.name)} |" for one in known)
        for field in fields(Capabilities)
        if field.name in LABELS
    ]
    return "\n".join((f"| |{head}", "| --- |" + " --- |" * len(known), *rows)) + "\n"


def _cell(one: Capabilities, name: str) -> str:
    return text_of(getattr(one, name)).replace("|", "\\|")
