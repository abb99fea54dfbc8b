"""The names of users: only plain ones are shown."""

from __future__ import annotations

import pytest

from cockpit.core.actors import actor_name, actor_of, ago, what_was_done
from cockpit.core.callers import Caller, CallerKind, named


@pytest.mark.parametrize(
    ("login", "machine", "name"),
    [
        ("ana", "laptop", "ana@laptop"),
        ("ana", "laptop.example.com", "ana@laptop"),
        ("DOM\\ana b", "läptop", "DOM-ana-b@l-ptop"),
        ("", "", "unknown@unknown"),
        ("a" * 99, "b" * 99, f"{'a' * 32}@{'b' * 64}"),
    ],
)
def test_a_name_is_made_of_plain_characters(login: str, machine: str, name: str) -> None:
    assert actor_name(login, machine) == name
    assert actor_of(name) == name


@pytest.mark.parametrize(
    "header", ["", "ana", "ana@", "@laptop", "ana@laptop\x1b[2J", "a b@c", "ana@laptop\n", "é@b"]
)
def test_any_other_header_names_nobody(header: str) -> None:
    assert actor_of(header) == ""


def test_only_users_are_named_and_the_own_user_stays_you() -> None:
    user = Caller(CallerKind.USER, terminal="pts/3")
    agent = Caller(CallerKind.AGENT, "api")
    assert named(user, "ana@laptop", "ben@gpu1").description == "ana@laptop on pts/3"
    assert named(user, "ben@gpu1", "ben@gpu1").description == "you on pts/3"
    assert named(agent, "ana@laptop", "ben@gpu1") == agent


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "just now"), (5, "5 s ago"), (59.4, "59 s ago"), (150, "2 min ago"), (7200, "2 h ago")],
)
def test_times(seconds: float, text: str) -> None:
    assert ago(seconds) == text
    assert what_was_done("approve", "ana@laptop", text) == f"approved by ana@laptop {text}"
