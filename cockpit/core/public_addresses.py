"""Decide which IP addresses are public.

An IPv6 address can contain an IPv4 address to which a router or a kernel sends the packets instead.
Such an IPv6 address is public only if the IPv4 address is public. Python's `is_global` knows only
some of these forms, and each Python version knows different forms, so all forms are listed here.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
"""Contains all public IPv6 addresses, except those of `_INNER_AT_THE_END`."""

_INNER_AT_THE_END = tuple(
    map(
        ipaddress.ip_network,
        (
            "::ffff:0:0/96",  # IPv4-mapped
            "::/96",  # IPv4-compatible; the loopback and the unspecified address too
            "::ffff:0:0:0/96",  # IPv4-translated
            "64:ff9b::/96",  # NAT64
        ),
    )
)
"""Networks whose addresses contain only an IPv4 address, in their last 32 bits."""

_NOT_PUBLIC_V6 = tuple(
    map(
        ipaddress.ip_network,
        (
            "2001::/32",  # Teredo: the inner address is a client behind a NAT
            "2001:2::/48",  # benchmarking
            "2001:10::/28",  # ORCHID, not routed
            "2001:20::/28",  # ORCHIDv2, not routed
            "2001:db8::/32",  # documentation
            "3fff::/20",  # documentation
        ),
    )
)
_NOT_PUBLIC_V4 = tuple(
    map(
        ipaddress.ip_network,
        (
            "192.0.0.0/24",  # protocol assignments
            "192.88.99.0/24",  # relays of 6to4, withdrawn
        ),
    )
)
_ISATAP = (0x00005EFE, 0x02005EFE)


def is_public(address: Address) -> bool:
    """Return whether the address, and every IPv4 address inside it, is public."""
    if isinstance(address, ipaddress.IPv4Address):
        return _is_public_v4(address)
    if any(address in network for network in _INNER_AT_THE_END):
        return _is_public_v4(_last(address))
    if address not in _GLOBAL_UNICAST or any(address in network for network in _NOT_PUBLIC_V6):
        return False
    return address.is_global and all(map(_is_public_v4, _inside(address)))


def _inside(address: ipaddress.IPv6Address) -> Iterator[ipaddress.IPv4Address]:
    if address.sixtofour is not None:
        yield address.sixtofour
    if (int(address) >> 32) & 0xFFFFFFFF in _ISATAP:
        yield _last(address)


def _last(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address:
    return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)


def _is_public_v4(address: ipaddress.IPv4Address) -> bool:
    if any(address in network for network in _NOT_PUBLIC_V4):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved
