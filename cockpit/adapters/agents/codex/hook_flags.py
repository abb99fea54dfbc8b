"""Build the arguments that add cockpit's hooks to Codex for one run, each with its trust hash.

Hooks from the option `-c` are added to the user's own hooks, and are not saved. Codex asks about
every hook that is not trusted; the hashes make only cockpit's hooks trusted. As of 0.169.0 the hash
is the SHA-256 of the hook as JSON with sorted keys and without spaces. If another version of Codex
computes another hash, Codex opens a dialog ("Hooks need review"), and cockpit shows this dialog on
the agent's row.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from pathlib import Path

from cockpit.core.ids import AgentName

HOOK_EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PermissionRequest",
    "PostToolUse",
    "Stop",
    "Interrupt",
    "PreCompact",
    "PostCompact",
    "SubagentStart",
    "SubagentStop",
    "SessionEnd",
)
"""Events that run the reporter. `PreToolUse` is left out, because it would start a process before
every tool call and report no more than `PostToolUse`."""

TIMEOUT = 3
"""Seconds after which Codex continues without the reporter. Codex allows no more for
`SessionEnd`."""

SOURCE = "/<session-flags>/config.toml"
"""The file name that Codex gives to hooks from an argument."""


def hook_flags(reporter: Path, state: Path, agent: AgentName) -> list[str]:
    """Return the option `-c` with a value that adds one agent's hooks to Codex as trusted hooks."""
    tables, trusted = [], []
    for event in HOOK_EVENTS:
        command = shlex.join([str(reporter), str(state), agent, event])
        handler = f'{{type="command",command={_quoted(command)},timeout={TIMEOUT}}}'
        tables.append(f"{event}=[{{hooks=[{handler}]}}]")
        place = _quoted(f"{SOURCE}:{snake_case(event)}:0:0")
        trusted.append(f'{place}={{trusted_hash="sha256:{trust_hash(event, command)}"}}')
    return ["-c", f"hooks={{{','.join(tables)},state={{{','.join(trusted)}}}}}"]


def trust_hash(event: str, command: str) -> str:
    """Return the hash by which Codex recognises a trusted hook, in hex."""
    hook = {
        "event_name": snake_case(event),
        "hooks": [{"async": False, "command": command, "timeout": TIMEOUT, "type": "command"}],
    }
    text = json.dumps(hook, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def snake_case(event: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", event).lower()


def _quoted(text: str) -> str:
    """Return a text as a TOML basic string. The text is written as JSON, which escapes the same
    characters in the same way."""
    return json.dumps(text, ensure_ascii=False)
