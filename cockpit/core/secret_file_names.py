"""Decide from a file's name whether the file holds secrets."""

from __future__ import annotations

import re

_EXAMPLE = re.compile(r"\.(example|sample|template|dist|defaults?)$")
_SECRET = re.compile(
    r"""
    \.env(\..+)? | .+\.env | \.envrc
    | .+\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk|gpg|asc|tfvars|tfstate)
    | id_(rsa|dsa|ecdsa|ed25519)(\..*)?
    | \.(netrc|pgpass|npmrc|pypirc|htpasswd|git-credentials|dockercfg|s3cfg|boto)
    | _netrc
    | (.*[-_.])?(secrets?|credentials?)(\.(json|ya?ml|toml|ini|txt|xml|cfg|conf|properties))?
    | service[-_]?account.*\.json
    | kubeconfig
    """,
    re.VERBOSE,
)


def is_secret_file(path: str) -> bool:
    """Return whether a file of this path usually holds secrets.

    False for public keys (`.pub`) and for examples (`.env.example`).
    """
    name = path.rpartition("/")[2].lower()
    if name.endswith(".pub") or _EXAMPLE.search(name):
        return False
    return _SECRET.fullmatch(name) is not None
