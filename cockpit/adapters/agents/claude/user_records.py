"""Parse user records of a Claude Code transcript: prompts, interrupts and notices.

The CLI writes tool results as `user` records too; `tool_results` parses those.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from cockpit.adapters.agents.claude.tool_results import (
    RESULT_KEPT,
    SUBAGENT_STATUS,
    result_events,
)
from cockpit.core.session import (
    Compacted,
    Identified,
    Interrupted,
    PlanRecorded,
    SessionEvent,
    ToolFinished,
    UserSaid,
)

Record = dict[str, Any]

BLOCKS_KEPT = 1_000
"""Maximum blocks read from one record's content; the CLI writes one or a few."""
_INTERRUPTED = "[Request interrupted by user"
BY_THE_CLI = (
    "<bash-input>",
    "<bash-stderr>",
    "<bash-stdout>",
    "<command-message>",
    "<command-name>",
    "<cross-session-message",
    "<local-command-",
    "<task-notification>",
    "<teammate-message",
    "<user-prompt-submit-hook>",
)
"""Beginnings of texts that come from the CLI itself, from a hook or from another session."""
NOTICE = "<task-notification>"
_NOTICED = re.compile(r"<(task-id|tool-use-id|status|result)>([^<]*)")
_TIMED_OUT = re.compile(r"<event>[^<]*\[Monitor timed out\b")
"""Matches the notice that a monitor timed out. Such a notice has no status (2.1.330)."""
_PASTED = re.compile(
    r'\n{0,2}<pasted_content id="([\w-]{1,40})">\n(.*?)\n</pasted_content id="\1">\n?', re.DOTALL
)
"""Matches pasted lines, with the CLI's markers around them (2.1.330)."""
_ADDED = re.compile(r"<(ide_[a-z_]{1,40}|system-reminder)>.*?</\1>[ \t]*\n?", re.DOTALL)
"""Matches text that the CLI adds to a prompt: the open file of an editor, or a reminder."""
_COMMAND = re.compile(r"<command-name>\s*(/[^<\s]{1,100})\s*</command-name>")
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_SHELL = re.compile(r"<bash-(?:input|stdout)>(.*?)</bash-(?:input|stdout)>", re.DOTALL)
_NO_WORK = re.compile(
    r"/(?:add-dir|agents|bashes|bug|clear|color|compact|config|context|copy|cost|doctor|effort|exit"
    r"|export|extra-usage|fast|feedback|help|hooks|ide|install-github-app|keybindings|login|logout"
    r"|mcp|memory|model|output-style|permissions|plugins?|privacy-settings|quit|release-notes"
    r"|reload-plugins|rename|resume|rewind|sandbox|stats|status|statusline|tasks|terminal-setup"
    r"|theme|todos|upgrade|usage|vim)"
)
"""Slash commands that change the CLI and give the agent no work."""
_MODEL_CHOSEN = re.compile(
    r"(?:Set model to|Kept model as) (Haiku|Sonnet|Opus|Fable|Mythos) (\d+(?:\.\d+)?)"
    r"(?: \(([^)]{1,40})\))?"
)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
LARGE = "1M context"
_OWN_MARK = re.compile(r"<\\(?=/?pasted_content\b)")
"""Matches the `<\\` with which the CLI escapes a `pasted_content` marker that the user wrote."""


def events_of_user(record: Record, at: datetime | None) -> Sequence[SessionEvent]:
    """Return the events of a `user` record in order: tool results first, then the prompt."""
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    sidechain = record.get("isSidechain") is True
    if isinstance(content, str):
        return _prompt_events(record, content, sidechain, at)
    if not isinstance(content, list):
        return ()
    events: list[SessionEvent] = []
    texts: list[str] = []
    for block in content[:BLOCKS_KEPT]:
        if not isinstance(block, dict):
            continue
        if block.get("type") == "tool_result":
            events.extend(result_events(record, block, sidechain, at))
        elif isinstance(block.get("text"), str):
            texts.append(block["text"])
    if texts:
        events.extend(_prompt_events(record, "\n".join(texts), sidechain, at))
    return events


def _prompt_events(
    record: Record, text: str, sidechain: bool, at: datetime | None
) -> Sequence[SessionEvent]:
    if text.startswith(_INTERRUPTED):
        return () if sidechain else (Interrupted(at),)
    own = _ADDED.sub("", text) if "<" in text else text
    summary = record.get("isCompactSummary") is True
    prompt = UserSaid(
        _without_paste_marks(own if own.strip() else text),
        meta=_is_meta(record, own if own.strip() else text) or not own.strip(),
        compact_summary=summary,
        sidechain=sidechain,
        at=at,
        command=_command(own),
        shell=_shell(own),
    )
    if summary and not sidechain and str(record.get("version")).startswith("1."):
        # CLI 1.0 often writes no other record of a compaction.
        return (Compacted("", None, at), prompt)
    if text.startswith(NOTICE):
        return (prompt, *notice(text, at))
    if isinstance(plan := record.get("planContent"), str) and plan.strip():
        return (prompt, PlanRecorded(plan))
    chosen = _model_chosen(text)
    return (prompt,) if chosen is None else (prompt, Identified(model=chosen))


def _command(text: str) -> str:
    """Return the slash command in a prompt; empty without one, or if it gives the agent no work."""
    if "<command-name>" not in text[:2_000]:
        return ""
    name, arguments = _COMMAND.search(text), _ARGUMENTS.search(text)
    if name is None or _NO_WORK.fullmatch(name[1]):
        return ""
    return f"{name[1]} {arguments[1].strip() if arguments else ''}".strip()


def _shell(text: str) -> str:
    """Return the command or the output in a text of the CLI's shell mode; empty for other texts."""
    match = _SHELL.match(text)
    return match[1][:RESULT_KEPT] if match else ""


def _model_chosen(text: str) -> str | None:
    """Return the model in the output of `/model`; None for any other text."""
    if not text.startswith("<local-command-stdout>"):
        return None
    match = _MODEL_CHOSEN.search(_COLOUR.sub("", text[:500]))
    return None if match is None else model_name(match[1], match[2], match[3] or "")


def model_name(family: str, version: str, note: str) -> str:
    """Return a model's API name from its display name: `Opus`, `4.6`, and `1M context` or empty."""
    suffix = "[1m]" if note.removeprefix("with ") == LARGE else ""
    return f"claude-{family.lower()}-{version.replace('.', '-')}{suffix}"


def _without_paste_marks(text: str) -> str:
    """Return a prompt without the CLI's markers around pasted lines."""
    if "pasted_content" not in text:
        return text
    bare = _PASTED.sub(lambda match: f"\n{match[2]}\n", text)
    return _OWN_MARK.sub("<", bare).strip("\n")


def _is_meta(record: Record, text: str) -> bool:
    origin = record.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else None
    by_the_cli = record.get("isMeta") is True or kind not in (None, "human")
    return by_the_cli or text.lstrip().startswith(BY_THE_CLI)


def notice(text: str, at: datetime | None) -> Sequence[SessionEvent]:
    """Parse a notice of the CLI: return the event for a background task or subagent that has ended.

    Empty if the notice reports no end.
    """
    fields = dict(reversed(_NOTICED.findall(text)))
    tool, status = fields.get("tool-use-id", ""), fields.get("status")
    if not status and _TIMED_OUT.search(text):
        status = "stopped"
    if not (tool or fields.get("task-id")) or not status:
        return ()
    ended = SUBAGENT_STATUS.get(status, "failed")
    return (
        ToolFinished(
            tool_use_id=tool,
            failed=ended == "failed",
            text=fields.get("result", "")[:RESULT_KEPT],
            agent_id=fields.get("task-id"),
            agent_status=ended,
            at=at,
        ),
    )
