"""Who is let in to a screen in a browser."""

from __future__ import annotations

import pytest

from cockpit.adapters.browser.access import AccessCheck, is_loopback

LOOPBACK, WIDE = AccessCheck("127.0.0.1"), AccessCheck("0.0.0.0")


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1:8000", "localhost:8000", "LOCALHOST", "[::1]:8000", "127.9.9.9:1"],
)
def test_this_machine_by_its_own_names_and_any_port(host: str) -> None:
    assert LOOPBACK.is_known_host(host)


@pytest.mark.parametrize(
    "host",
    [
        "", "evil.example", "evil.example:8000", "localhost.evil.example", "192.168.1.7:8000",
        "localhost:8000@evil.example", "evil.example/localhost", "localhost:port", "[::1", "[x]:8",
    ],
)  # fmt: skip
def test_no_other_name_leads_here(host: str) -> None:
    assert not LOOPBACK.is_known_host(host)


def test_where_others_may_come_an_address_will_do_and_a_foreign_name_will_not() -> None:
    assert WIDE.is_known_host("192.168.1.7:8000")
    assert WIDE.is_known_host("localhost:8000")
    assert not WIDE.is_known_host("evil.example:8000")
    assert AccessCheck("build.example").is_known_host("build.example:8000")


@pytest.mark.parametrize(
    ("origin", "ours"),
    [
        ("http://localhost:8000", True),
        ("http://LOCALHOST:8000", True),
        ("", False),
        ("null", False),
        ("http://localhost:9000", False),
        ("https://localhost:8000", False),
        ("http://localhost:8000.evil.example", False),
        ("http://evil.example", False),
    ],
)
def test_only_our_own_page_is_ours(origin: str, ours: bool) -> None:
    assert LOOPBACK.is_ours(origin, "localhost:8000") == ours


def test_secrets_are_new_each_time_and_not_each_other() -> None:
    access = AccessCheck("::1")
    assert len({access.token, access.key, LOOPBACK.token, LOOPBACK.key}) == 4
    assert access.is_token(access.token)
    assert access.is_session_cookie(access.key)
    for wrong in ("", access.key, access.token[:-1], access.token + "x", "ü\udcff"):
        assert not access.is_token(wrong)
    assert not access.is_session_cookie(access.token)


@pytest.mark.parametrize(
    ("address", "loopback"),
    [
        ("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False),
        ("10.0.0.1", False), ("example.org", False), ("", False),
    ],
)  # fmt: skip
def test_what_only_this_machine_can_reach(address: str, loopback: bool) -> None:
    assert is_loopback(address) == loopback
