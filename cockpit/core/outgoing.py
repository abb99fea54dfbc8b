"""Convert events to messages: webhooks (signed JSON), Slack, Discord. Sends nothing.

Slack and Discord show untrusted text without formatting, so a mention in such text notifies no one.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from cockpit.core.errors import Failed
from cockpit.core.foreign_json import loads
from cockpit.core.hook_events import at_path
from cockpit.core.safetext import safe_line

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SNOWFLAKE = re.compile(r"[0-9]{1,20}")
_DISCORD = re.compile(r"([\\*_~`|>#\[\]()<@:-])")

_COLOURS = {"error": 0xD64545, "needs_you": 0xE0A030, "handoff_complete": 0x3FA45B}
_FIELDS = (
    ("Context", "context.usage_percent"),
    ("Branch", "session.branch_name"),
    ("Handoff", "handoff.handoff_number"),
    ("Document", "handoff.document"),
    ("Needs", "needs.detail"),
    ("Outcome", "outcome"),
)


def expanded(text: str, environment: Mapping[str, str]) -> str:
    """Return the text with each `${NAME}` replaced. Raises `Failed` if a variable is not set."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in environment:
            raise Failed(
                f"{match[1]} is not set in the supervisor's environment",
                hint="Set the variable, then: cockpit restart",
            )
        return environment[match[1]]

    return _VARIABLE.sub(value, text)


def referenced(text: str, environment: Mapping[str, str]) -> list[str]:
    """Return the value of each `${NAME}` in the text; variables that are not set are left out."""
    return [environment[name] for name in _VARIABLE.findall(text) if name in environment]


def signature(secret: str, ident: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Return the Standard Webhooks headers; `secret` is `whsec_` and base64, or any other text.

    Raises `Failed` if the text after `whsec_` is not base64.
    """
    key = secret.encode()
    if secret.startswith("whsec_"):
        try:
            key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
        except binascii.Error:
            raise Failed(
                "the webhook's secret is not base64 after whsec_",
                hint="Copy the whole secret from the receiver's settings.",
            ) from None
    signed = f"{ident}.{timestamp}.".encode() + body
    digest = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return {
        "webhook-id": ident,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{digest}",
    }


def body_for(kind: str, payload: Mapping[str, Any], *, opens_thread: bool = False) -> bytes:
    """Return the body of a message: in Slack's or Discord's format if `kind` is `slack` or
    `discord`, else the payload as JSON.

    `opens_thread` adds the name of a new thread; Discord only.
    """
    if kind == "slack":
        return json.dumps(slack(payload)).encode()
    if kind == "discord":
        thread = {"thread_name": thread_name(payload)} if opens_thread else {}
        return json.dumps(discord(payload) | thread).encode()
    return json.dumps(payload, ensure_ascii=False).encode("utf-8", "replace")


def slack(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return a Slack message. Slack does not parse `plain_text`; the fallback text is escaped."""
    text = safe_line(str(payload["text"]), 500)
    facts = " · ".join(f"{name}: {value}" for name, value in _facts(payload)) or " "
    return {
        "text": text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"),
        "blocks": [
            {"type": "section", "text": plain_block(text)},
            {"type": "context", "elements": [plain_block(safe_line(facts, 1500))]},
        ],
        "unfurl_links": False,
        "unfurl_media": False,
    }


def plain_block(text: str) -> dict[str, Any]:
    """Return a Slack text object without formatting."""
    return {"type": "plain_text", "text": text, "emoji": False}


def discord(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return a Discord message without formatting or mentions."""
    event = str(payload["hook_event_name"])
    return {
        "username": "cockpit",
        "allowed_mentions": {"parse": []},
        "embeds": [
            {
                "title": _escaped(str(payload["session"]["agent_name"])),
                "description": _escaped(safe_line(str(payload["text"]), 500)),
                "color": _COLOURS.get(event, 0x5B7FD6),
                "timestamp": payload["at"],
                "fields": [
                    {"name": name, "value": _escaped(value), "inline": True}
                    for name, value in _facts(payload)
                ],
                "footer": {"text": event},
            }
        ],
    }


def thread_name(payload: Mapping[str, Any]) -> str:
    """Return the name of a job's thread: agent and task, cut to Discord's maximum of 100
    characters."""
    task = safe_line(str(payload.get("original_prompt") or ""), 300).strip()
    name = safe_line(str(payload["session"]["agent_name"]), 60)
    return f"{name}: {task}"[:100] if task else name


def thread_address(url: str, thread: str | None) -> str:
    """Return the webhook's URL for a message in a thread.

    Without `thread`, the message is in no thread, or opens one. `wait=true` makes Discord return
    the thread's id.
    """
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query)) | {"wait": "true"}
    query |= {"thread_id": thread} if thread else {}
    return urlunsplit(parts._replace(query=urlencode(query)))


def thread_of(answer: bytes) -> str | None:
    """Return the id of a message's thread, from Discord's response; None if the response has
    none."""
    try:
        parsed = loads(answer)
    except (ValueError, RecursionError):
        return None
    thread = parsed.get("channel_id") if isinstance(parsed, dict) else None
    return thread if isinstance(thread, str) and _SNOWFLAKE.fullmatch(thread) else None


def _escaped(text: str) -> str:
    return _DISCORD.sub(r"\\\1", text)


def _facts(payload: Mapping[str, Any]) -> list[tuple[str, str]]:
    facts = [(name, at_path(payload, path)) for name, path in _FIELDS]
    known = [(name, value) for name, value in facts if value is not None]
    return [
        (name, f"{value} %" if name == "Context" else safe_line(str(value), 300))
        for name, value in known
    ]
