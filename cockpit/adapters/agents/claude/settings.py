"""The settings that one agent's Claude Code is started with: our hooks and our status line.

They go in by `--settings`, for this process only: hooks add to the user's own, the status line
takes the place of the user's, which is therefore looked up and called from ours. The user's
files are read and never written.

Hooks are given in exec form with the reporter itself as the command: a CLI too old to know
`args` then runs it without any, which does nothing, where a shell as the command would read the
report as a script.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cockpit.adapters.files.foreign_files import read_file, read_text
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
"""Not PreToolUse: a process before every tool call, for nothing that PostToolUse does not say."""

DRAFTS = "//**/draft-*.md"
"""Before a tool writes one of these the reporter is asked whether it is the document."""
WRITERS = ("Write", "Edit")

HOOK_TIMEOUT = 5
"""Seconds after which the CLI goes on without the reporter."""

COMPACTION_TIMEOUT = 15
"""The same for the hook that waits until facts of the session are on the disk: eight at most."""

REPORTER = "reporter.sh"
_LARGEST_POINTER = 8192
"""Bytes of a `.git` file or a `commondir`: one path."""
_LARGEST_SETTINGS = 8_000_000


def config_folder(environment: Mapping[str, str]) -> Path:
    """Where this Claude Code keeps settings, transcripts and the notes of live processes."""
    configured = environment.get("CLAUDE_CONFIG_DIR")
    if configured:
        return Path(configured)
    return Path(environment.get("HOME") or Path.home()) / ".claude"


def session_settings(
    state: Path, agent: AgentName, pilots_line: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The settings for one agent whose reporter lies in `state`."""
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
    # Which file is allowed is said while a handoff asks for it: a rule here would allow it always,
    # and is read once, before its name is known. In plan mode only PermissionRequest decides.
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
    words = [reporter, str(state), agent, "StatusLine"]
    line = dict(pilots_line or {})
    if pilots_line:
        words.append(str(pilots_line["command"]))
    line.update(type="command", command=shlex.join(words))
    return {"hooks": hooks, "statusLine": line}


def pilots_status_line(
    directory: Path, environment: Mapping[str, str], state: Path
) -> dict[str, Any] | None:
    """The status line that Claude Code would show in `directory` without us, if it is a command.

    The first of local, project and user settings that has one; one of ours counts as none. As
    seen on CLI 2.1.330: local settings are those at the root of the main checkout before those of
    the directory, project settings are the directory's only.
    """
    for path in _settings_files(directory, environment):
        line = _status_line(path)
        if line is not None and str(state / REPORTER) not in line["command"]:
            return line
    return None


def install_reporter(state: Path) -> Path:
    """Put the reporter where running agents find it, however the package moves meanwhile.

    Atomic, and nothing is written when the same script lies there already.
    """
    source = Path(__file__).parents[3] / REPORTER
    content = source.read_bytes()
    target = state / REPORTER
    try:
        if target.read_bytes() == content and os.access(target, os.X_OK):
            return target
    except OSError:
        pass
    state.mkdir(parents=True, exist_ok=True, mode=0o700)
    _write(target, content, 0o700)
    return target


def write_settings(path: Path, settings: Mapping[str, Any]) -> None:
    """Write a settings file that only the user can read, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    _write(path, json.dumps(settings, indent=1).encode(), 0o600)


def _settings_files(directory: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    """From the highest layer that we may speak for to the lowest."""
    checkout = main_checkout(directory)
    if checkout is not None:
        yield checkout / ".claude" / "settings.local.json"
    yield directory / ".claude" / "settings.local.json"
    yield directory / ".claude" / "settings.json"
    yield config_folder(environment) / "settings.json"


def main_checkout(directory: Path) -> Path | None:
    """The root of the checkout that `directory` is in or is a worktree of; git is not run."""
    for folder in (directory, *directory.parents):
        marker = folder / ".git"
        if marker.is_dir():
            return folder
        if marker.is_file():
            return _owner_of(marker) or folder
    return None


def _owner_of(marker: Path) -> Path | None:
    """Whose worktree it is, by the `.git` file that git leaves there; None if it is none."""
    try:
        said = read_text(marker, _LARGEST_POINTER).removeprefix("gitdir:").strip()
        private = marker.parent / said
        common = private / read_text(private / "commondir", _LARGEST_POINTER).strip()
    except OSError:
        return None
    return Path(os.path.normpath(common)).parent


def _status_line(path: Path) -> dict[str, Any] | None:
    try:
        settings = json.loads(read_file(path, _LARGEST_SETTINGS))
    except (OSError, ValueError, RecursionError):
        return None
    line = settings.get("statusLine") if isinstance(settings, dict) else None
    if not isinstance(line, dict) or line.get("type") != "command":
        return None
    command = line.get("command")
    return line if isinstance(command, str) and command.strip() else None


def _write(path: Path, content: bytes, mode: int) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    with os.fdopen(os.open(temporary, flags, mode), "wb") as file:
        os.fchmod(file.fileno(), mode)
        file.write(content)
    temporary.replace(path)
