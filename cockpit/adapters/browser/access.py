"""Decide who may use a screen that is served to a browser.

A loopback port is open to every program and user of this machine, and to every page in the user's
browser. So a token is required, which is in the address once and then in a cookie. Only this
machine's names are accepted as `Host`, because another site's name may resolve to this machine; and
only our own page may open the socket. Listens to nothing, uses no library.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
from urllib.parse import urlsplit


class AccessCheck:
    """Checks requests to one server; its secrets are valid while it runs."""

    def __init__(self, bound: str) -> None:
        """`bound` is the address that the server listens on."""
        self.token = secrets.token_urlsafe(32)
        """Part of the address that the user opens."""
        self.api_token = secrets.token_urlsafe(32)
        """For the API; it does not open the screen."""
        self.key = secrets.token_urlsafe(32)
        """The value of the cookie; it cannot be derived from the address."""
        self._wide = not is_loopback(bound)
        self._names = {bound.lower(), socket.gethostname().lower()} if self._wide else set()

    def is_known_host(self, host: str) -> bool:
        """Return whether a request's `Host` names this machine; any port, because it may be
        forwarded.
        """
        name = _name(f"//{host}")
        if name is None:
            return False
        return is_loopback(name) or name in self._names or (self._wide and _is_address(name))

    def is_ours(self, origin: str, host: str) -> bool:
        """Return whether a page of this `origin` is ours."""
        return bool(host) and origin.lower() == f"http://{host}".lower()

    def is_token(self, token: str) -> bool:
        """Return whether the address had the right token."""
        return _same(token, self.token)

    def is_api_token(self, token: str) -> bool:
        """Return whether it is the token of the API."""
        return _same(token, self.api_token)

    def is_session_cookie(self, key: str) -> bool:
        """Return whether the cookie is valid."""
        return _same(key, self.key)


def is_loopback(address: str) -> bool:
    """Return whether only this machine can connect to that address or name."""
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
    """Return the host of a URL in lower case; None for an invalid one."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 (raises for what is no port)
    except ValueError:
        return None
    plain = not (parts.path or parts.query or parts.fragment or "@" in parts.netloc)
    return parts.hostname if plain else None


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(errors="replace"), other.encode())
