"""Decide from a name whether the value is a secret, and how certain this is."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache


class Strength(IntEnum):
    """The certainty that a name's value is a secret."""

    NONE = 0
    KEY = 1
    """A key, session or signature: only a random value is a secret."""
    TOKEN = 2
    """A token, secret or credential: a generated value is a secret, a word is not."""
    PASSWORD = 3
    """Every value that is not a placeholder, reference or code is a secret."""


ANCHORS = (
    "pass", "pwd", "secret", "token", "key", "auth", "cred", "salt", "cookie", "dsn", "session",
    "webhook", "psk", "_pat", "jwt", "connection", "pswd", "_pw", "identified",
)  # fmt: skip
"""Every name of a secret contains one of these strings, in upper or lower case."""

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_PASSWORDS = frozenset(
    {"password", "passwd", "passphrase", "pass", "pwd", "pw", "pswd", "psk", "passwort", "passcode"}
    | {
        "pgpassword",
        "userpassword",
        "dbpassword",
        "rootpassword",
        "sshpass",
        "dbpass",
        "identified",
    }
)
_TOKENS = frozenset(
    {"token", "secret", "secrets", "apikey", "credential", "credentials", "creds", "authtoken"}
    | {"authkey", "accesskey", "secretkey", "privatekey", "accesstoken", "clientsecret", "auth"}
    | {"authorization", "jwt", "salt", "dnkey", "pat", "apitoken", "refreshtoken", "appsecret"}
    | {"appkey", "masterkey", "authpass", "usertoken", "bottoken", "licensekey"}
)
_KEY_OF = frozenset(
    {"api", "access", "secret", "private", "auth", "encryption", "master", "signing", "service"}
    | {"admin", "app", "application", "account", "license", "licence", "subscription", "shared"}
    | {"storage", "deploy", "session", "server", "write", "insert", "ingest", "sdk", "nonce", "aes"}
    | {
        "hmac",
        "rsa",
        "fernet",
        "jwt",
        "webhook",
        "integration",
        "hash",
        "cookie",
        "logged",
        "preshared",
    }
    | {"maps", "management", "personal", "host", "rapidapi", "decryption", "signature", "cipher"}
)
_ABOUT = frozenset(
    {"max", "min", "ttl", "expiry", "expires", "expire", "expiration", "length", "len", "size"}
    | {"count", "limit", "budget", "timeout", "age", "seconds", "minutes", "hours", "days", "file"}
    | {"path", "dir", "folder", "name", "names", "header", "headers", "type", "types", "format"}
    | {"algorithm", "store", "backend", "provider", "region", "enabled", "required", "policy"}
    | {"field", "label", "hint", "help", "title", "placeholder", "prompt", "message", "error"}
    | {"reset", "url", "uri", "endpoint", "status", "state", "at", "index", "usage", "used", "left"}
    | {"regex", "pattern", "prefix", "suffix", "pub", "public", "foreign", "primary", "sort"}
    | {"partition", "cache", "idempotency", "row", "range", "group", "shard", "routing", "map"}
    | {"dict", "object", "hot", "shortcut", "translation", "lookup", "registry", "bindings", "next"}
    | {"page", "cursor", "continuation", "pagination", "cancel", "cancellation", "per", "total"}
    | {"alias", "version", "method", "mode", "scope", "scopes", "issuer", "audience", "input"}
    | {"output", "completion", "context", "bucket", "schema", "natural", "fingerprint", "manager"}
    | {"agent", "sock", "class", "module", "rotation", "strategy", "handler", "service_name"}
)
"""Words of names whose value describes a secret, or is a harmless key."""
_SUFFIXES = frozenset(
    {
        "base64",
        "b64",
        "base",
        "prod",
        "production",
        "staging",
        "dev",
        "test",
        "ro",
        "rw",
        "old",
        "new",
    }
    | {"default", "value", "plain", "raw", "string", "str", "live", "read", "write", "only", "ci"}
    | {
        "main",
        "env",
        "data",
        "bedrock",
        "io",
        "app",
        "terraform",
        "hex",
        "encoded",
        "cleartext",
        "text",
    }
)
"""Words that may follow the word for a secret in a name, as in `token_prod`."""


@lru_cache(maxsize=4096)
def strength(name: str) -> Strength:
    """Return how certain it is that a name's value is a secret.

    The name can have any form: `DB_PASSWORD`, `db-password`, `app.dbPassword`.
    """
    words = [word.lower() for word in _WORDS.findall(name)]
    spelled = list(words)
    while len(words) > 1 and (words[-1].isdigit() or words[-1] in _SUFFIXES):
        if words[-1] == "data" and words[-2] != "key":
            return Strength.NONE
        words.pop()
    if not words or len(words) > 9:
        return Strength.NONE
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    about = _ABOUT.intersection(words[-3:])
    if last in _PASSWORDS:
        return (
            Strength.NONE
            if about - {"prompt", "input", "public", "cache", "service", "app", "agent"}
            else Strength.PASSWORD
        )
    if about:
        return Strength.NONE
    if last in _TOKENS:
        return Strength.TOKEN
    if last == "key" or last == "keys":
        if before in _KEY_OF or (before == "client" and spelled[-1] == "data"):
            return Strength.TOKEN
        return Strength.KEY if before else Strength.NONE
    if last in ("cookie", "dsn", "tokens", "webhook") or (
        last == "session" and (before == "bw" or name.isupper())
    ):
        return Strength.KEY
    if last == "string" or before == "connection":
        return Strength.KEY
    if last == "id" and before == "secret":
        return Strength.KEY
    return Strength.NONE


def is_shouted(name: str) -> bool:
    """Return whether a name is in upper case, as environment variables are."""
    return name.isupper()
