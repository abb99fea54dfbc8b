"""Run the hooks and the status line of a settings file, as Claude Code does."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from cockpit.core.deferred_dataclass import dataclass

TIMEOUT = 5.0
"""Time limit in seconds for the status line, and for hooks without a timeout."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The combined response of all hooks of one event."""

    context: str = ""
    """Text that the hooks add for the model."""
    reason: str | None = None
    """Why a hook refused; None if no hook refused."""
    command: str = ""
    """The command of the hook that refused; empty if no hook refused."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """The hooks and the status line of one session."""

    settings: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, path: str | None) -> Hooks:
        """Read the hooks of a settings file; without a path, there are no hooks."""
        return cls(json.loads(Path(path).read_text(encoding="utf-8")) if path else {})

    def call(self, event: str, payload: Mapping[str, Any]) -> Verdict:
        """Run the hooks of an event in order, with the payload on stdin; combine the responses."""
        given = json.dumps({**payload, "hook_event_name": event}) + "\n"
        verdict = Verdict()
        for group in self.settings.get("hooks", {}).get(event, []):
            for hook in group.get("hooks", []):
                verdict = judged(verdict, hook["command"], answer_of(hook, given))
        return verdict

    def status_line(self, payload: Mapping[str, Any]) -> str:
        """Run the status line's command; return its output, empty if there is no command."""
        line = self.settings.get("statusLine")
        if not line:
            return ""
        return run(["/bin/sh", "-c", line["command"]], json.dumps(payload) + "\n", TIMEOUT).strip()


def answer_of(hook: Mapping[str, Any], given: str) -> Mapping[str, Any]:
    """Run one hook, directly if the hook has `args`, else in a shell; return its response.

    The response is empty if the hook prints no JSON object.
    """
    command = str(hook["command"])
    arguments = hook.get("args")
    argv = ["/bin/sh", "-c", command] if arguments is None else [command, *map(str, arguments)]
    printed = run(argv, given, float(hook.get("timeout", TIMEOUT)))
    if not printed.lstrip().startswith("{"):
        return {}
    answer = json.loads(printed)
    return answer if isinstance(answer, dict) else {}


def judged(verdict: Verdict, command: str, answer: Mapping[str, Any]) -> Verdict:
    """Return `verdict` combined with `answer`, the response of one more hook."""
    added = (answer.get("hookSpecificOutput") or {}).get("additionalContext", "")
    context = "\n".join(part for part in (verdict.context, added) if part)
    if answer.get("decision") == "block":
        return Verdict(context, str(answer.get("reason", "")), command)
    return Verdict(context, verdict.reason, verdict.command)


def run(argv: list[str], given: str, timeout: float) -> str:
    """Run a program; return its output, empty if it cannot be started or takes too long."""
    environment = {**os.environ, "CLAUDECODE": "1", "CLAUDE_PROJECT_DIR": str(Path.cwd())}
    try:
        done = subprocess.run(
            argv,
            input=given,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            timeout=timeout,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout
