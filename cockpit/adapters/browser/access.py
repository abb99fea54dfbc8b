"""Check requests to a screen that is served to a browser.

All programs and users of this machine, and all pages in the user's browser, can connect to a
loopback port. So a token is required: first in the URL, then in a cookie. Only this machine's names
are accepted as `Host`, because another site's name may resolve to this machine. Only cockpit's own
page may open the screen's WebSocket. This module does no network I/O and uses no library.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
from urllib.parse import urlsplit


class AccessCheck:
    """Checks the requests to one server. The tokens and the cookie are valid until the server
    ends."""

    def __init__(self, bound: str) -> None:
        """`bound` is the address that the server listens on."""
        self.token = secrets.token_urlsafe(32)
        """The token in the URL that the user opens; the API accepts this token too."""
        self.api_token = secrets.token_urlsafe(32)
        """A token for the API; it gives no access to the screen."""
        self.key = secrets.token_urlsafe(32)
        """The value of the cookie; it cannot be derived from the URL."""
        self._wide = not is_loopback(bound)
        self._names = {bound.lower(), socket.gethostname().lower()} if self._wide else set()

    def is_known_host(self, host: str) -> bool:
        """Return whether a request's `Host` names this machine. Any port is accepted, because the
        port may be forwarded. If other machines can connect, every IP address counts as this
        machine's."""
        name = _name(f"//{host}")
        if name is None:
            return False
        return is_loopback(name) or name in self._names or (self._wide and _is_address(name))

    def is_ours(self, origin: str, host: str) -> bool:
        """Return whether `origin` is the origin of cockpit's page at `host`."""
        return bool(host) and origin.lower() == f"http://{host}".lower()

    def is_token(self, token: str) -> bool:
        """Return whether this is the screen's token."""
        return _same(token, self.token)

    def is_api_token(self, token: str) -> bool:
        """Return whether this is the token for the API."""
        return _same(token, self.api_token)

    def is_session_cookie(self, key: str) -> bool:
        """Return whether this is the value of the screen's cookie."""
        return _same(key, self.key)


def is_loopback(address: str) -> bool:
    """Return whether only this machine can connect to this address or host name."""
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
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 (raises for an invalid port)
    except ValueError:
        return None
    plain = not (parts.path or parts.query or parts.fragment or "@" in parts.netloc)
    return parts.hostname if plain else None


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(errors="replace"), other.encode())
