"""What of a configuration must never be shown."""

from __future__ import annotations

import pytest

from cockpit.config.hooks import Hooks
from cockpit.config.secrets import configured_secrets

TOKEN = "abcdefghijklmnop1"


@pytest.mark.parametrize(
    ("url", "secrets"),
    [
        ("", []),
        ("http://127.0.0.1:8080", []),
        (f"https://hooks.example.com/T0/{TOKEN}", [TOKEN]),
        ("https://example.com/hook", []),
        ("https://me:pass%21word@example.com/x", ["pass%21word", "pass!word"]),
        (f"https://example.com/?key={TOKEN}", [TOKEN]),
        ("ntfys://topic-9", ["topic-9"]),
        ("mailto://me:hidden-1@example.com", ["hidden-1"]),
        ("https://[broken", []),
    ],
)
def test_an_address_is_secret_with_its_tokens(url: str, secrets: list[str]) -> None:
    whole = [] if url in ("", "http://127.0.0.1:8080") else [url]
    assert configured_secrets(Hooks(), [url]) == whole + secrets


def test_the_headers_and_the_secret_of_a_hook_are_secret() -> None:
    hooks = Hooks.model_validate(
        {
            "on_error": [
                {
                    "type": "webhook",
                    "url": "https://example.com",
                    "headers": {
                        "Authorization": "Bearer tok-4711",
                        "X-Room": "room-815",
                        "Content-Type": "application/json",
                    },
                    "secret": "sign-with-me",
                }
            ]
        }
    )
    assert configured_secrets(_slack("xoxb-4711")) == ["xoxb-4711"]
    found = ["Bearer tok-4711", "tok-4711", "room-815", "sign-with-me"]
    assert configured_secrets(hooks) == found


def test_a_token_of_the_environment_is_secret_under_any_name() -> None:
    found = configured_secrets(_slack("${CHAT}"), (), {"CHAT": "plain words", "OTHER": "not this"})
    assert found == ["${CHAT}", "plain words"]


def _slack(token: str) -> Hooks:
    return Hooks.model_validate(
        {"on_error": [{"type": "slack", "token": token, "channel_id": "C012345"}]}
    )
