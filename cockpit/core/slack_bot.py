"""Build a Slack bot's messages (`chat.postMessage`), and interpret Slack's responses. Sends
nothing.

Slack reports most errors with status 200 and an error name in the body.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cockpit.core.deliveries import Answer
from cockpit.core.errors import Failed
from cockpit.core.foreign_json import loads
from cockpit.core.outgoing import plain_block, slack, thread_name

METHOD = "chat.postMessage"
ADDRESS = f"https://slack.com/api/{METHOD}"
"""The URL for messages, unless the hook's settings have another (GovSlack, a gateway)."""

_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]+")
_TIMESTAMP = re.compile(r"[0-9]{1,20}\.[0-9]{1,20}")
_ERROR = re.compile(r"[a-z][a-z0-9_]{0,60}")

_LATER = frozenset(
    {
        "ratelimited",
        "rate_limited",
        "message_limit_exceeded",
        "internal_error",
        "fatal_error",
        "service_unavailable",
        "request_timeout",
        "team_added_to_org",
    }
)
"""Slack's names of temporary errors. After any other error, the message is not sent again."""
_THREAD_GONE = frozenset({"thread_not_found", "invalid_thread_ts", "cannot_reply_to_message"})

_TOKEN_STEP = (
    "copy the bot token (xoxb-…) from the app's OAuth & Permissions page into the supervisor's"
    " environment and restart the supervisor"
)
_CHANNEL_STEP = "copy the channel's ID from the end of its About tab into channel_id"
_INVITE_STEP = "invite the bot with /invite in that channel"
_STEPS = {
    **dict.fromkeys(
        ("invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive"),
        _TOKEN_STEP,
    ),
    "not_allowed_token_type": _TOKEN_STEP,
    "missing_scope": "add the scope chat:write to the app and install it again",
    "channel_not_found": f"{_CHANNEL_STEP}; for a private channel, {_INVITE_STEP}",
    "not_in_channel": _INVITE_STEP,
    "is_archived": "unarchive the channel, or put another channel's ID into channel_id",
}
"""How to fix an error, by Slack's name of the error."""


def bearer(token: str) -> str:
    """Return the `Authorization` header for a token. Raises `Failed` for an invalid token."""
    trimmed = token.strip()
    if not _TOKEN.fullmatch(trimmed):
        why = "has invalid characters" if trimmed else "is empty"
        raise Failed(f"the Slack token {why}: {_TOKEN_STEP}")
    return f"Bearer {trimmed}"


def body(
    payload: Mapping[str, Any], channel: str, *, thread: str | None, opens_thread: bool
) -> bytes:
    """Return an event as a message for a channel; a message that opens a thread names the job."""
    message: dict[str, Any] = {**slack(payload), "channel": channel}
    if thread is not None:
        message["thread_ts"] = thread
    elif opens_thread:
        headline = {"type": "section", "text": plain_block(thread_name(payload))}
        message["blocks"] = [headline, *message["blocks"]]
    return json.dumps(message).encode()


def judged(answer: Answer, thread: str | None) -> Answer:
    """Return Slack's response with the error or the thread from its body.

    `thread` is the thread to which the message was sent; None if it was sent to the channel.
    """
    if answer.status is None or not 200 <= answer.status < 300:
        return answer
    try:
        parsed = loads(answer.body)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict) or not isinstance(parsed.get("ok"), bool):
        return _failure(answer, "the response is not from Slack; check the hook's url")
    if parsed["ok"]:
        stamp = parsed.get("ts")
        known = isinstance(stamp, str) and _TIMESTAMP.fullmatch(stamp)
        return replace(answer, thread=thread or (stamp if known else None))
    error = str(parsed.get("error") or "")
    name = error if _ERROR.fullmatch(error) else "an unknown error"
    if thread is not None and error in _THREAD_GONE:
        return replace(_failure(answer, f"Slack returned {name}"), thread_gone=True)
    if error in _LATER:
        return _failure(answer, f"Slack returned {name}")
    step = _STEPS.get(error)
    advice = f"; {step}" if step else ""
    return _failure(answer, f"Slack returned {name}{advice}", permanent=True)


def _failure(answer: Answer, problem: str, *, permanent: bool = False) -> Answer:
    return replace(answer, status=None, problem=problem, permanent=permanent)
