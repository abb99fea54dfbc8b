"""Private addresses in every form that an IPv6 address can give them."""

from __future__ import annotations

import ipaddress

import pytest

from cockpit.core.public_addresses import is_public

PRIVATE = ["127.0.0.1", "10.0.0.1", "169.254.169.254", "192.168.1.1", "100.64.0.1", "0.0.0.0"]
PUBLIC = ["93.184.216.34", "1.1.1.1"]


def forms(inner: str) -> list[str]:
    """Every form that carries an IPv4 address."""
    number = int(ipaddress.IPv4Address(inner))
    high, low = number >> 16, number & 0xFFFF
    return [
        inner,
        f"::ffff:{inner}",
        f"::{inner}",
        f"::ffff:0:{inner}",
        f"64:ff9b::{inner}",
        f"2002:{high:x}:{low:x}::1",
        f"2606:4700::5efe:{high:x}:{low:x}",
        f"2606:4700::200:5efe:{high:x}:{low:x}",
    ]


@pytest.mark.parametrize("inner", PRIVATE)
def test_the_inner_address_decides_that_it_is_private(inner: str) -> None:
    assert [form for form in forms(inner) if is_public(ipaddress.ip_address(form))] == []


@pytest.mark.parametrize("inner", PUBLIC)
def test_the_inner_address_decides_that_it_is_public(inner: str) -> None:
    assert [form for form in forms(inner) if not is_public(ipaddress.ip_address(form))] == []


@pytest.mark.parametrize(
    "address",
    [
        "64:ff9b:1::5db8:d822", "64:ff9b:1:ffff::1", "fec0::1", "feff::1", "fe80::1", "fc00::1",
        "fdff::1", "ff02::1", "ff0e::1", "::", "::1", "100::1", "100:0:0:1::1", "5f00::1",
        "4000::1", "2001:db8::1", "3fff:fff::1", "2001::1", "2001:2::1", "2001:10::1", "2001:20::1",
        "192.0.0.8", "192.88.99.1", "240.0.0.1", "255.255.255.255", "224.0.0.1", "198.18.0.1",
        "203.0.113.1",
    ],
)  # fmt: skip
def test_what_is_local_reserved_or_for_translation(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", ["2606:4700::1111", "2001:4860:4860::8888", "8.8.8.8"])
def test_addresses_of_the_internet(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))
