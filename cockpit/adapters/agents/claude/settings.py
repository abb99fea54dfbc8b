"""Write the settings for one agent's Claude Code: cockpit's hooks and status line.

The settings are passed with `--settings`, for this process only. Hooks are added to the user's own.
cockpit's status line replaces the user's, and calls the user's command. cockpit never writes the
user's files.

Hooks use the exec form, with the reporter as the command. A CLI that is too old for `args` runs the
reporter without arguments; the reporter then does nothing. With a shell as the command, such a CLI
would run the report as a script.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cockpit.adapters.agents.reporter import REPORTER, write_whole
from cockpit.adapters.files.foreign_files import read_file
from cockpit.adapters.files.main_checkout import main_checkout
from cockpit.core.foreign_json import loads
from cockpit.core.ids import AgentName

HOOK_EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PostToolUse",
    "PostToolUseFailure",
    "Stop",
    "StopFailure",
    "Notification",
    "PermissionRequest",
    "PreCompact",
    "PostCompact",
    "SubagentStart",
    "SubagentStop",
    "SessionEnd",
)
"""Events that always run the reporter. `PreToolUse` runs the reporter only for `DRAFTS`, because it
would otherwise start a process before every tool call and report no more than `PostToolUse`."""

DRAFTS = "//**/draft-*.md"
"""Pattern of the files that can be the draft of a handoff document. Before a tool writes such a
file, the reporter checks the file's path."""
WRITERS = ("Write", "Edit")

HOOK_TIMEOUT = 5
"""Seconds after which the CLI continues without the reporter."""

COMPACTION_TIMEOUT = 15
"""Seconds after which the CLI begins a compaction without the reporter. The reporter waits for at
most 8 s, until the session's facts are saved."""

_LARGEST_SETTINGS = 8_000_000


def config_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder of Claude Code's settings, transcripts and status files."""
    configured = environment.get("CLAUDE_CONFIG_DIR")
    if configured:
        return Path(configured)
    return Path(environment.get("HOME") or Path.home()) / ".claude"


def session_settings(
    state: Path,
    agent: AgentName,
    user_line: Mapping[str, Any] | None,
    allowed: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the CLI's settings for one agent. `state` is the state folder, which contains the
    reporter script.

    `user_line` is the user's own status line, whose command the reporter runs. `allowed`:
    permission rules for tools that need no approval.
    """
    reporter = str(state / REPORTER)
    hooks: dict[str, list[dict[str, Any]]] = {
        event: [
            {
                "hooks": [
                    {
                        "type": "command",
                        "command": reporter,
                        "args": [str(state), agent, event],
                        "timeout": COMPACTION_TIMEOUT if event == "PreCompact" else HOOK_TIMEOUT,
                    }
                ]
            }
        ]
        for event in HOOK_EVENTS
    }
    # A permission rule cannot allow the draft: it would always apply, and the CLI reads rules once,
    # before the draft's name is known. In plan mode, only PermissionRequest hooks run.
    hooks["PreToolUse"] = [
        {
            "matcher": tool,
            "hooks": [
                {
                    "type": "command",
                    "command": reporter,
                    "args": [str(state), agent, "PreToolUse"],
                    "if": f"{tool}({DRAFTS})",
                    "timeout": HOOK_TIMEOUT,
                }
            ],
        }
        for tool in WRITERS
    ]
    argv = [reporter, str(state), agent, "StatusLine"]
    line = dict(user_line or {})
    if user_line:
        argv.append(str(user_line["command"]))
    line.update(type="command", command=shlex.join(argv))
    permissions = {"permissions": {"allow": [*allowed]}} if allowed else {}
    return {"hooks": hooks, "statusLine": line, **permissions}


def user_status_line(
    directory: Path, environment: Mapping[str, str], state: Path
) -> dict[str, Any] | None:
    """Return the user's own status line for `directory`; None without one that runs a command.

    Of local, project and user settings, the first with such a status line is used; cockpit's own
    status line is ignored. As of CLI 2.1.330, local settings at the root of the main checkout come
    before those of the directory, and project settings are only those of the directory.
    """
    for path in _settings_files(directory, environment):
        line = _status_line(path)
        if line is not None and str(state / REPORTER) not in line["command"]:
            return line
    return None


def write_settings(path: Path, settings: Mapping[str, Any]) -> None:
    """Write a settings file atomically, with access for the user only."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_whole(path, json.dumps(settings, indent=1).encode(), 0o600)


def _settings_files(directory: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield the settings files that apply in `directory`, highest precedence first."""
    checkout = main_checkout(directory)
    if checkout is not None:
        yield checkout / ".claude" / "settings.local.json"
    yield directory / ".claude" / "settings.local.json"
    yield directory / ".claude" / "settings.json"
    yield config_folder(environment) / "settings.json"


def _status_line(path: Path) -> dict[str, Any] | None:
    try:
        settings = loads(read_file(path, _LARGEST_SETTINGS))
    except (OSError, ValueError, RecursionError):
        return None
    line = settings.get("statusLine") if isinstance(settings, dict) else None
    if not isinstance(line, dict) or line.get("type") != "command":
        return None
    command = line.get("command")
    return line if isinstance(command, str) and command.strip() else None
