"""Find the secret values in a configuration: URLs, headers, tokens, signing secrets.

`core.redaction` removes these values from text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import parse_qsl, unquote, urlsplit

from cockpit.config.hooks import Hooks
from cockpit.core.outgoing import referenced

LONG_SEGMENT = 16
"""Minimum characters of a path segment, user name or query value in a URL to count as a token."""
SHORTEST_TOKEN = 6
"""Minimum characters of a secret; shorter values are left out."""
_PLAIN_HEADERS = frozenset({"accept", "content-type", "user-agent", "accept-language"})
_WEB = frozenset({"http", "https"})
NOTHING_SET: Mapping[str, str] = {}


def configured_secrets(
    hooks: Hooks,
    notified: Iterable[str] = (),
    environment: Mapping[str, str] = NOTHING_SET,
) -> list[str]:
    """Return the secrets of an agent's hooks and of the user's notification URLs.

    If a token or signing secret refers to an environment variable, the variable's value is a secret
    too.
    """
    values: dict[str, None] = {}
    for _, hook in hooks.written():
        values.update(dict.fromkeys(_of_headers(hook.headers)))
        for secret in (hook.secret, hook.token):
            values.update(dict.fromkeys((secret, *referenced(secret, environment))))
        for url in (hook.url, *hook.urls):
            values.update(dict.fromkeys(_of_address(url)))
    for url in notified:
        values.update(dict.fromkeys(_of_address(url)))
    return [value for value in values if len(value) >= SHORTEST_TOKEN]


def _of_headers(headers: dict[str, str]) -> Iterator[str]:
    for name, value in headers.items():
        if name.casefold() in _PLAIN_HEADERS:
            continue
        yield value
        scheme, _, token = value.partition(" ")
        if scheme.casefold() in ("bearer", "basic", "token"):
            yield token.strip()


def _of_address(url: str) -> Iterator[str]:
    """Yield the URL, unless it is an http(s) URL with only a host; also yield its password and
    tokens.

    In a URL for Apprise, a host without a dot is a token too.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        yield url
        return
    web, segments = parts.scheme in _WEB, [part for part in parts.path.split("/") if part]
    if segments or parts.query or "@" in parts.netloc or (url and not web):
        yield url
    if parts.password:
        yield from (parts.password, unquote(parts.password))
    host = parts.netloc.rpartition("@")[2].partition(":")[0]
    named = [] if web or "." in host or host == "localhost" else [host]
    tokens = [*segments, parts.username or "", *(value for _, value in parse_qsl(parts.query))]
    yield from (*named, *(token for token in tokens if len(token) >= LONG_SEGMENT))
