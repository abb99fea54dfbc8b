"""Taking secrets out of text before it is kept or sent anywhere.

Two ways: the exact values that we know of, in the forms in which they travel (certain), and the
shapes that well-known credentials have (`core.secret_shapes`). What is taken out becomes
`[REDACTED:kind:hash]`, so that two places with the same secret can be told to be the same.
Ordinary hashes, UUIDs, paths and code stay. Nothing is ever asked of the network.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote, quote_plus

from cockpit.core.secret_shapes import looks_secret, shaped_secrets, url_passwords

SHORTEST = 6
"""Characters; a shorter value would be found in ordinary words."""
SHORTEST_UNNAMED = 8
"""Characters of a value that only its place, or a weak word of its name, tells to be secret."""
LONGEST_CHAIN = 4
"""Rounds: what a replacement laid bare is looked at again."""

_MARKER = re.compile(r"\[REDACTED:[a-z-]{2,24}:[0-9a-f]{4}\]")
_SECRET_NAME = re.compile(
    r"(?:^|_)(?:API_?KEYS?|KEYS?|TOKENS?|SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|PASS|PWD|PAT|DSN"
    r"|CREDENTIALS?|AUTH|COOKIE|WEBHOOK|WEBHOOK_URL|CONNECTION_STRING)(?:_?\d+|_BASE64|_B64)?$",
    re.IGNORECASE,
)
_STRONG_WORD = re.compile(
    r"(?:^|_)(?:API_?KEYS?|TOKENS?|SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|CREDENTIALS?)(?:_|\d|$)",
    re.IGNORECASE,
)
"""Secret wherever it stands in a name, and so sure that even a short or all-digit value counts."""
_STRONG_END = re.compile(r"(?:^|_)(?:PASS|PWD)$", re.IGNORECASE)
_ABOUT_A_SECRET = re.compile(
    r"(?:^|_)(?:MAX|MIN|TTL|EXPIRY|EXPIRES|EXPIRATION|LENGTH|SIZE|COUNT|LIMIT|BUDGET|TIMEOUT|AGE"
    r"|SECONDS|MINUTES|HOURS|DAYS|FILE|PATH|DIR|NAME|HEADER|TYPE|FORMAT|ALGORITHM|STORE|BACKEND"
    r"|PROVIDER|REGION|ENABLED|REQUIRED)(?:_|$)",
    re.IGNORECASE,
)
"""A name that says this tells something about secrets, and holds none."""
_ORDINARY_NAMES = frozenset({"PWD", "OLDPWD", "GPG_KEY", "XAUTHORITY"})
_ORDINARY_VALUES = frozenset(
    {
        "changeme",
        "default",
        "development",
        "disabled",
        "enabled",
        "localhost",
        "passwd",
        "password",
        "production",
        "secret",
        "undefined",
    }
)


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets."""

    text: str
    count: int
    """How many places were replaced now; markers of an earlier time are not counted."""


class Redactor:
    """Knows some secrets exactly and all shapes; immutable, so one serves everybody."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets for form in _forms(secret)}
        self._forms = sorted(forms, key=len, reverse=True)

    def redact(self, text: str) -> Redacted:
        """The text with every secret replaced. Twice is the same as once; linear in its length."""
        count = 0
        for _ in range(LONGEST_CHAIN):  # pragma: no branch - no text is known that takes all
            pieces, found = self._round(text)
            if not found:
                break
            text, count = pieces, count + found
        return Redacted(text, count)

    def without_known(self, text: str) -> str:
        """The text with what is known exactly taken out, shapes left: for what is only kept."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, _marker("known", form))
        return text

    def _round(self, text: str) -> tuple[str, int]:
        out: list[str] = []
        count = at = 0
        for marker in [*_MARKER.finditer(text), None]:
            end = marker.start() if marker else len(text)
            piece, found = self._replaced(text[at:end])
            out += [piece, marker[0] if marker else ""]
            count += found
            at = marker.end() if marker else end
        return "".join(out), count

    def _replaced(self, text: str) -> tuple[str, int]:
        out: list[str] = []
        count = at = 0
        for start, end, kind in _merged([*self._known(text), *shaped_secrets(text)]):
            out += [text[at:start], _marker(kind, text[start:end])]
            count += 1
            at = end
        out.append(text[at:])
        return "".join(out), count

    def _known(self, text: str) -> Iterator[tuple[int, int, str]]:
        for form in self._forms:
            start = text.find(form)
            while start >= 0:
                yield start, start + len(form), "known"
                start = text.find(form, start + len(form))


def count_redacted(text: str) -> int:
    """How many secrets were taken out of a text, now or earlier."""
    return sum(1 for _ in _MARKER.finditer(text))


def secret_values(environment: Mapping[str, str]) -> list[str]:
    """The values of an environment that must never be shown: by their variable's name or shape.

    Paths and a few ordinary words are left out even under a secret's name; numbers and short values
    count where the name leaves no doubt.
    """
    values: dict[str, None] = {}
    for name, value in environment.items():
        for password in url_passwords(value):
            if len(password) >= SHORTEST_UNNAMED:
                values[password] = None
        if _is_secret(name, value):
            values[value] = None
    return list(values)


def _is_secret(name: str, value: str) -> bool:
    if len(value) < SHORTEST or value.casefold() in _ORDINARY_VALUES:
        return False
    if len(value) >= SHORTEST_UNNAMED and looks_secret(value):
        return True
    if name.upper() in _ORDINARY_NAMES:
        return False
    is_path = value.startswith(("/", "./", "~/")) and " " not in value
    if _is_strong(name):
        return not is_path
    is_short = len(value) < SHORTEST_UNNAMED
    return bool(_SECRET_NAME.search(name)) and not (is_path or is_short or value.isdigit())


def _is_strong(name: str) -> bool:
    if _ABOUT_A_SECRET.search(name):
        return False
    return bool(_STRONG_WORD.search(name) or _STRONG_END.search(name))


def _forms(secret: str) -> set[str]:
    """The forms in which a secret travels."""
    if len(secret) < SHORTEST:
        return set()
    data = secret.encode("utf-8", "replace")
    forms = {
        secret,
        secret.strip(),
        quote(data, safe=""),
        quote(data),
        quote_plus(data),
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        json.dumps(json.dumps(secret))[3:-3],
        html.escape(secret),
        *_base64_forms(data),
    }
    return {form for form in forms if len(form) >= SHORTEST}


def _base64_forms(data: bytes) -> Iterator[str]:
    """Base64 of the secret wherever it stands inside of what was encoded (`user:secret`)."""
    for offset in range(3):
        first = -(-offset * 8 // 6)
        last = (offset + len(data)) * 8 // 6
        encoded = base64.b64encode(b"\0" * offset + data).decode()[first:last]
        yield encoded
        yield encoded.replace("+", "-").replace("/", "_")


def _merged(found: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Spans in order, those that overlap joined under the kind of the one that begins first."""
    spans: list[tuple[int, int, str]] = []
    for start, end, kind in sorted(found, key=lambda span: (span[0], -span[1])):
        if spans and start < spans[-1][1]:
            first, before, name = spans[-1]
            spans[-1] = (first, max(before, end), name)
        else:
            spans.append((start, end, kind))
    return spans


def _marker(kind: str, secret: str) -> str:
    digest = hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
    return f"[REDACTED:{kind}:{digest[:4]}]"
