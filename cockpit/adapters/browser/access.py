"""Who may look at a screen that is served to a browser.

A loopback port is open to every program and every user of this machine, and to every page that
the user's browser shows. So it takes a token, which stands in the address once and is a cookie
afterwards; the names of this machine only, because a page of others may have its own name lead
here; and a socket only for our own page. Listens to nothing, knows no library.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
from urllib.parse import urlsplit


class Door:
    """Decides of one server, for as long as it runs; its secrets die with it."""

    def __init__(self, bound: str) -> None:
        """`bound` is the address that is listened at."""
        self.token = secrets.token_urlsafe(32)
        """Stands in the address that the user opens."""
        self.key = secrets.token_urlsafe(32)
        """What the browser keeps instead; not to be had from the address."""
        self._wide = not is_loopback(bound)
        self._names = {bound.lower(), socket.gethostname().lower()} if self._wide else set()

    def knows(self, host: str) -> bool:
        """Whether a request's `Host` names this machine. Any port: it may have been forwarded."""
        name = _name(f"//{host}")
        if name is None:
            return False
        return is_loopback(name) or name in self._names or (self._wide and _is_address(name))

    def is_ours(self, origin: str, host: str) -> bool:
        """Whether a page that came from `origin` came from us."""
        return bool(host) and origin.lower() == f"http://{host}".lower()

    def opens(self, token: str) -> bool:
        """Whether the address had the right token."""
        return _same(token, self.token)

    def remembers(self, key: str) -> bool:
        """Whether the browser was let in before."""
        return _same(key, self.key)


def is_loopback(address: str) -> bool:
    """Whether only this machine itself can come to that address, or name of one."""
    if address.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _name(url: str) -> str | None:
    """The host of a URL in small letters; None where there is none that makes sense."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 (raises for what is no port)
    except ValueError:
        return None
    plain = not (parts.path or parts.query or parts.fragment or "@" in parts.netloc)
    return parts.hostname if plain else None


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(errors="replace"), other.encode())
