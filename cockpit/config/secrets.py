"""Which values of a configuration are secret: addresses to send to, headers, signing secrets.

Says which; taking them out of a text is `core.redaction`'s business.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from urllib.parse import parse_qsl, unquote, urlsplit

from cockpit.config.hooks import Hooks

LONG_SEGMENT = 16
"""Characters from which a segment of an address's path is taken for a token."""
SHORTEST_TOKEN = 6
_PLAIN_HEADERS = frozenset({"accept", "content-type", "user-agent", "accept-language"})
_WEB = frozenset({"http", "https"})


def configured_secrets(hooks: Hooks, notified: Iterable[str] = ()) -> list[str]:
    """The secret values of an agent's hooks, and of the addresses of the pilot's notifications."""
    found: dict[str, None] = {}
    for _, hook in hooks.written():
        found.update(dict.fromkeys(_of_headers(hook.headers)))
        found[hook.secret] = None
        for url in (hook.url, *hook.urls):
            found.update(dict.fromkeys(_of_address(url)))
    for url in notified:
        found.update(dict.fromkeys(_of_address(url)))
    return [value for value in found if len(value) >= SHORTEST_TOKEN]


def _of_headers(headers: dict[str, str]) -> Iterator[str]:
    for name, value in headers.items():
        if name.casefold() in _PLAIN_HEADERS:
            continue
        yield value
        scheme, _, token = value.partition(" ")
        if scheme.casefold() in ("bearer", "basic", "token"):
            yield token.strip()


def _of_address(url: str) -> Iterator[str]:
    """The whole of an address that says more than a host, and every token in it."""
    try:
        parts = urlsplit(url)
    except ValueError:
        yield url
        return
    web, segments = parts.scheme in _WEB, [each for each in parts.path.split("/") if each]
    if segments or parts.query or "@" in parts.netloc or (url and not web):
        yield url
    if parts.password:
        yield from (parts.password, unquote(parts.password))
    host = parts.netloc.rpartition("@")[2].partition(":")[0]
    named = [] if web or "." in host or host == "localhost" else [host]
    tokens = [*segments, parts.username or "", *(value for _, value in parse_qsl(parts.query))]
    yield from (*named, *(each for each in tokens if len(each) >= LONG_SEGMENT))
