"""`cockpit redact`: remove secrets from any text, with the filter for documents and messages."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from cockpit.core.redaction import Redactor, secret_values
from cockpit.core.secret_kinds import KINDS, PEM_KINDS
from cockpit.core.secret_templates import parts

FOUND = 1
"""Exit code of `--check` when there is a secret."""


def redact(environment: Mapping[str, str], *, check: bool) -> int:
    """Copy stdin to stdout without secrets; with `check`, only print the line number and kind of
    each secret.

    Bytes that are not UTF-8 pass unchanged.
    """
    text = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    redactor = Redactor(secret_values(environment))
    if check:
        return _print_findings(redactor, text)
    clean = redactor.redact(text).text
    sys.stdout.buffer.write(clean.encode("utf-8", "surrogateescape"))
    sys.stdout.buffer.flush()
    return 0


def _print_findings(redactor: Redactor, text: str) -> int:
    """Print the line number and the kind of each secret, never the secret itself."""
    findings = redactor.findings(text)
    for start, _, kind in findings:
        line = text.count("\n", 0, start) + 1
        print(f"line {line}: {kind}", file=sys.stderr)
    return FOUND if findings else 0


def kinds() -> int:
    """Print a table of the kinds of secrets and how each is recognised."""
    for name, shape, how in kind_rows():
        print(f"{name:28} {how:6} {shape}")
    return 0


def kind_rows() -> list[tuple[str, str, str]]:
    """Return each kind's name, its pattern, and how it is recognised: shape, name or position."""
    rows = [
        (kind.name, _pattern_text(kind.template, kind.names, kind.how), kind.how) for kind in KINDS
    ]
    blocks = [
        (f"private key {label}".strip().lower(), f"-----BEGIN {label}PRIVATE KEY-----", "shape")
        for label in PEM_KINDS
    ]
    return rows + blocks


def _pattern_text(template: str, names: tuple[str, ...], how: str) -> str:
    if how == "name":
        return ", ".join(names)
    literal = [part if isinstance(part, str) else "…" for part in parts(template)]
    shown = "".join(literal)
    while "……" in shown:
        shown = shown.replace("……", "…")
    return shown
