"""Messages for services: signed, escaped, and calling nobody."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json

import pytest

from cockpit.core.errors import Failed
from cockpit.core.hook_payload import sample
from cockpit.core.outgoing import (
    body_for,
    discord,
    expanded,
    signature,
    slack,
    thread_address,
    thread_name,
    thread_of,
)

HOSTILE = "<!channel> @everyone **b** [x](http://evil) `id` \x1b[31m <@U1>"


def test_variables_come_from_the_environment_or_not_at_all() -> None:
    assert expanded("Bearer ${A_B}!", {"A_B": "t"}) == "Bearer t!"
    assert expanded("$A ${} {A}", {"A": "t"}) == "$A ${} {A}"
    with pytest.raises(Failed, match="NOPE"):
        expanded("${NOPE}", {})


def test_the_signature_is_that_of_standard_webhooks() -> None:
    key = b"0123456789abcdef01234567"
    secret = "whsec_" + base64.b64encode(key).decode()
    headers = signature(secret, "msg_1", 1_700_000_000, b'{"a":1}')
    expected = hmac.new(key, b'msg_1.1700000000.{"a":1}', hashlib.sha256).digest()
    assert headers == {
        "webhook-id": "msg_1",
        "webhook-timestamp": "1700000000",
        "webhook-signature": "v1," + base64.b64encode(expected).decode(),
    }
    assert signature("plain", "i", 1, b"") != signature("other", "i", 1, b"")
    with pytest.raises(Failed):
        signature("whsec_!", "i", 1, b"")


def test_slack_parses_none_of_it() -> None:
    told = slack(sample("needs_you", "api", "/r", text=HOSTILE))
    assert "<" not in told["text"]
    assert "\x1b" not in json.dumps(told)
    assert {block["type"] for block in told["blocks"]} == {"section", "context"}
    assert told["blocks"][0]["text"]["type"] == "plain_text"
    assert told["unfurl_links"] is False


def test_discord_mentions_nobody_and_renders_nothing() -> None:
    told = discord(sample("handoff_complete", "api", "/r", text=HOSTILE))
    assert told["allowed_mentions"] == {"parse": []}
    description = told["embeds"][0]["description"]
    assert "**" not in description
    assert r"\[x\]\(http\://evil\)" in description
    assert {"name": "Context", "value": "72.0 %", "inline": True} in told["embeds"][0]["fields"]


def test_a_thread_is_called_as_agent_and_task_and_found_in_the_answer() -> None:
    payload = sample("error", "api", "/r") | {"original_prompt": "Fix\n\x1b[1m it " + "x" * 200}
    name = thread_name(payload)
    assert name.startswith("api: Fix")
    assert name.isprintable()
    assert len(name) == 100
    assert thread_name(payload | {"original_prompt": None}) == "api"
    assert thread_of(b'{"channel_id": "4711"}') == "4711"
    for other in (b"", b"[]", b'{"channel_id": 5}', b'{"channel_id": "../x"}', b"[" * 100_000):
        assert thread_of(other) is None


def test_the_address_of_a_thread_keeps_what_was_written() -> None:
    url = "https://chat.example/w/1/x?with_components=true#f"
    assert thread_address(url, None) == (
        "https://chat.example/w/1/x?with_components=true&wait=true#f"
    )
    assert thread_address(url, "12").endswith("&wait=true&thread_id=12#f")


def test_a_webhook_gets_the_payload_itself() -> None:
    payload = sample("error", "api", "/r")
    assert json.loads(body_for("webhook", payload)) == payload
    assert json.loads(body_for("slack", payload))["blocks"]
    assert json.loads(body_for("discord", payload))["embeds"]
