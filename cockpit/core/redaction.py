"""Remove secrets from text before it is stored or sent.

Finds known values (`core.known_values`), and the shapes of common credentials
(`core.secret_shapes`). A secret becomes `[REDACTED:kind:hash]`; equal secrets have equal hashes.
Ordinary hashes, UUIDs, paths and code stay. Uses no network.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.known_values import SHORTEST, KnownValues
from cockpit.core.secret_kinds import KINDS
from cockpit.core.secret_names import Strength, strength
from cockpit.core.secret_shapes import looks_secret, shaped_secrets, url_passwords
from cockpit.core.token_runs import token_runs

SHORTEST_UNNAMED = 8
"""Minimum characters of a secret value, unless the variable's name is certainly secret."""
LONGEST_CHAIN = 4
"""Maximum rounds of replacement, because replacing one secret can reveal another."""

_MARKER = re.compile(r"\[REDACTED:[a-z0-9-]{2,24}:[0-9a-f]{4}\]")
_SECRET_NAME = re.compile(
    r"(?:^|_)(?:API_?KEYS?|KEYS?|TOKENS?|SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|PASS|PWD|PAT|DSN"
    r"|CREDENTIALS?|AUTH|COOKIE|WEBHOOK|WEBHOOK_URL|CONNECTION_STRING)(?:_?\d+|_BASE64|_B64)?$",
    re.IGNORECASE,
)
_STRONG_WORD = re.compile(
    r"(?:^|_)(?:API_?KEYS?|TOKENS?|SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|CREDENTIALS?)(?:_|\d|$)",
    re.IGNORECASE,
)
"""Matches a word that makes a name secret, anywhere in the name; even a short or numeric value is
then secret."""
_STRONG_END = re.compile(r"(?:^|_)(?:PASS|PWD)$", re.IGNORECASE)
_ABOUT_A_SECRET = re.compile(
    r"(?:^|_)(?:MAX|MIN|TTL|EXPIRY|EXPIRES|EXPIRATION|LENGTH|SIZE|COUNT|LIMIT|BUDGET|TIMEOUT|AGE"
    r"|SECONDS|MINUTES|HOURS|DAYS|FILE|PATH|DIR|NAME|HEADER|TYPE|FORMAT|ALGORITHM|STORE|BACKEND"
    r"|PROVIDER|REGION|ENABLED|REQUIRED)(?:_|$)",
    re.IGNORECASE,
)
"""Matches words in a name whose value describes a secret but is not a secret."""
_ORDINARY_NAMES = frozenset({"PWD", "OLDPWD", "GPG_KEY", "XAUTHORITY"})
_TABLE_NAMES = frozenset(name for kind in KINDS for name in kind.names)
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


Finding = tuple[int, int, str]
"""Start and end of a secret, and its kind."""


@dataclass(frozen=True, slots=True)
class Redacted:
    """The result of `Redactor.redact`: a text in which the secrets are replaced."""

    text: str
    count: int
    """Number of secrets that this call replaced; secrets replaced earlier are not counted."""


class Redactor:
    """Replaces secrets in text: known values, and credentials by their shape. Immutable."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._known_values = KnownValues(secrets)

    def redact(self, text: str) -> Redacted:
        """Return the text with every secret replaced. Idempotent, and takes linear time."""
        count = 0
        for _ in range(LONGEST_CHAIN):  # pragma: no branch - no known text needs all rounds
            pieces, replaced = self._round(text)
            if not replaced:
                break
            text, count = pieces, count + replaced
        return Redacted(text, count)

    def findings(self, text: str) -> list[Finding]:
        """Return the secrets in the order of the text, without overlaps. Secrets that overlap a
        redaction marker are left out."""
        spans = self._everything(text)
        markers = [marker.span() for marker in _MARKER.finditer(text)]
        return [
            finding
            for finding in spans
            if not any(a < finding[1] and finding[0] < b for a, b in markers)
        ]

    def without_known(self, text: str) -> str:
        """Return the text with only the known values replaced. For text that is never sent."""
        out: list[str] = []
        at = 0
        for start, end, kind in _merged(list(self._known(text))):
            out += [text[at:start], _marker(kind, text[start:end])]
            at = end
        return "".join([*out, text[at:]])

    def _round(self, text: str) -> tuple[str, int]:
        out: list[str] = []
        count = at = 0
        for marker in [*_MARKER.finditer(text), None]:
            end = marker.start() if marker else len(text)
            piece, replaced = self._replaced(text[at:end])
            out += [piece, marker[0] if marker else ""]
            count += replaced
            at = marker.end() if marker else end
        return "".join(out), count

    def _replaced(self, text: str) -> tuple[str, int]:
        out: list[str] = []
        count = at = 0
        for start, end, kind in self._everything(text):
            out += [text[at:start], _marker(kind, text[start:end])]
            count += 1
            at = end
        out.append(text[at:])
        return "".join(out), count

    def _everything(self, text: str) -> list[Finding]:
        runs = token_runs(text)
        return _merged([*self._known(text, runs), *shaped_secrets(text, runs)])

    def _known(self, text: str, runs: str | None = None) -> Iterator[Finding]:
        return ((start, end, "known") for start, end in self._known_values.spans(text, runs))


def count_redacted(text: str) -> int:
    """Return the number of secrets that were replaced in a text, now or earlier."""
    return sum(1 for _ in _MARKER.finditer(text))


def secret_values(environment: Mapping[str, str]) -> list[str]:
    """Return the secret values of an environment, and the passwords and tokens in its URLs.

    A value is secret by the variable's name or by the value's shape. Paths and a few ordinary words
    are left out, even under a secret name. Numbers and short values are included only under a name
    that is certainly secret.
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
    if (
        name.upper() in _TABLE_NAMES
        and len(value) >= SHORTEST_UNNAMED
        and not value.startswith("/")
    ):
        return True
    is_path = value.startswith(("/", "./", "~/")) and " " not in value
    name_strength = strength(name)
    if _is_strong(name) or name_strength is Strength.PASSWORD:
        return not is_path
    is_short = len(value) < SHORTEST_UNNAMED
    is_secret = name_strength is Strength.TOKEN or bool(_SECRET_NAME.search(name))
    return is_secret and not (is_path or is_short or value.isdigit())


def _is_strong(name: str) -> bool:
    if _ABOUT_A_SECRET.search(name):
        return False
    return bool(_STRONG_WORD.search(name) or _STRONG_END.search(name))


def _merged(findings: list[Finding]) -> list[Finding]:
    spans: list[Finding] = []
    for start, end, kind in sorted(findings, key=lambda span: (span[0], -span[1])):
        if spans and start < spans[-1][1]:
            first, before, name = spans[-1]
            spans[-1] = (first, max(before, end), name)
        else:
            spans.append((start, end, kind))
    return spans


def _marker(kind: str, secret: str) -> str:
    digest = hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
    return f"[REDACTED:{kind}:{digest[:4]}]"
