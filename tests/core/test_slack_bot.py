"""What a Slack bot posts, and what Slack's answers mean."""

from __future__ import annotations

import json

import pytest

from cockpit.core.deliveries import Again, Answer, Delivered, GivenUp, after
from cockpit.core.errors import Failed
from cockpit.core.hook_payload import sample
from cockpit.core.slack_bot import bearer, body, judged

STAMP = "1503435956.000247"


def answered(thread: str | None = None, **said: object) -> Answer:
    """Slack's answer with status 200, judged."""
    return judged(Answer(200, body=json.dumps(said).encode()), thread)


def test_a_message_goes_to_its_channel_and_thread() -> None:
    payload = sample("needs_you", "api", "/r") | {"original_prompt": "Fix <!channel>"}
    opening = json.loads(body(payload, "C1", thread=None, opens_thread=True))
    assert opening["channel"] == "C1"
    assert "thread_ts" not in opening
    headline = opening["blocks"][0]["text"]
    assert headline == {"type": "plain_text", "text": "api: Fix <!channel>", "emoji": False}
    reply = json.loads(body(payload, "C1", thread=STAMP, opens_thread=True))
    assert reply["thread_ts"] == STAMP
    assert reply["blocks"] == opening["blocks"][1:]
    alone = json.loads(body(payload, "C1", thread=None, opens_thread=False))
    assert alone["blocks"] == reply["blocks"]


def test_a_message_that_was_taken_names_its_thread() -> None:
    assert answered(ok=True, ts=STAMP).thread == STAMP
    assert answered("1.2", ok=True, ts=STAMP).thread == "1.2"
    for stamp in ("", "../x", 5, None):
        answer = answered(ok=True, ts=stamp)
        assert answer.thread is None
        assert isinstance(after(answer, 1, 0, 1), Delivered)


@pytest.mark.parametrize(
    ("error", "step"),
    [
        ("invalid_auth", "copy the bot token"),
        ("channel_not_found", "copy the channel's ID"),
        ("not_in_channel", "/invite"),
        ("is_archived", "unarchive"),
        ("missing_scope", "chat:write"),
        ("msg_blocks_too_long", ""),
        ("\x1b[31m<x>", ""),
    ],
)
def test_a_refusal_is_final_and_says_what_to_do(error: str, step: str) -> None:
    result = after(answered(ok=False, error=error), 1, 0, 1)
    assert isinstance(result, GivenUp)
    assert result.why.startswith("Slack returned ")
    assert step in result.why
    assert "\x1b" not in result.why


@pytest.mark.parametrize("error", ["ratelimited", "internal_error", "service_unavailable"])
def test_what_passes_by_itself_is_tried_again(error: str) -> None:
    said = json.dumps({"ok": False, "error": error}).encode()
    result = after(judged(Answer(200, 7.0, body=said), None), 1, 0, 1)
    assert isinstance(result, Again)
    assert result.seconds >= 7


def test_statuses_count_before_the_body() -> None:
    limited = Answer(429, 30.0, "it answered 429")
    assert judged(limited, None) is limited
    silent = Answer(problem="no answer in time")
    assert judged(silent, STAMP) is silent


@pytest.mark.parametrize("said", [b"", b"ok", b"[]", b'{"ok": 1}', b"[" * 100_000])
def test_an_answer_that_is_not_slacks_is_not_taken_for_a_delivery(said: bytes) -> None:
    assert isinstance(after(judged(Answer(200, body=said), None), 1, 0, 1), Again)


def test_a_thread_that_was_deleted_is_told_apart() -> None:
    gone = answered(STAMP, ok=False, error="thread_not_found")
    assert gone.thread_gone
    assert isinstance(after(gone, 1, 0, 1), Again)
    assert isinstance(after(answered(ok=False, error="thread_not_found"), 1, 0, 1), GivenUp)


def test_a_token_is_a_token() -> None:
    assert bearer("xoxb-1-a\n") == "Bearer xoxb-1-a"
    for wrong in ("", " ", "a b", "a\r\nX: y", "ü"):
        with pytest.raises(Failed, match="OAuth") as failed:
            bearer(wrong)
        assert not wrong.strip() or wrong not in failed.value.title
