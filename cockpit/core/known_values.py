"""Find secrets whose value is known, even if escaped, encoded or split by a line break."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

from cockpit.core.token_runs import is_run, token_runs

SHORTEST = 6
"""Minimum characters of a known secret; a shorter value would match ordinary words."""
_GRAM = 4
_AROUND = " \t│|>+#\\\"',\r-"
_LINE_END = re.compile(
    r"[ \t│|\\\"'+,]{0,8}(?:\r?\n|\\n|\\r\\n)[ \t│|>+#\"'-]{0,40}(?:[0-9]{1,6}[→\t])?[ \t]{0,40}"
)
"""Matches a line break that a terminal, a table, a mail or an encoder inserted, with the characters
around it."""


def forms(secret: str) -> set[str]:
    """Return the forms of a secret to search for: unchanged, escaped, quoted and encoded.

    Forms with fewer than `SHORTEST` characters are left out.
    """
    if len(secret) < SHORTEST:
        return set()
    data = secret.encode("utf-8", "replace")
    in_json = json.dumps(secret)[1:-1]
    variants = {
        secret,
        secret.strip(),
        quote(data, safe=""),
        quote(data),
        quote_plus(data),
        _small_escapes(quote(data, safe="")),
        quote(quote(data, safe=""), safe=""),
        in_json,
        in_json.replace("/", "\\/"),
        json.dumps(secret, ensure_ascii=False)[1:-1],
        json.dumps(json.dumps(secret))[3:-3],
        html.escape(secret),
        html.escape(secret).replace("&#x27;", "&#39;"),
        *_more_html(secret),
        quote(data, safe="!*'()"),
        quote(data, safe=";,/?:@&=+$#!*'()"),
        quote_plus(data, safe="*").replace("~", "%7E"),
        *map(_html_in_json, (in_json, json.dumps(secret, ensure_ascii=False)[1:-1])),
        secret.replace("'", "'\\''"),
        secret.replace("'", "'\"'\"'"),
        secret.replace("'", "''"),
        secret.replace("\\", "\\\\").replace("'", "\\'"),
        re.sub(r'([\\"$`!])', r"\\\1", secret),
        re.sub(r'([\\"$`])', r"\\\1", secret),
        re.sub(r"([^A-Za-z0-9_./:=@%+,-])", r"\\\1", secret),
        re.sub(r"([^A-Za-z0-9_./:=@%+-])", r"\\\1", secret),
        re.sub(r"(^~|[^A-Za-z0-9_./:=@%+~-])", r"\\\1", secret),
        secret.replace("$", "$$"),
        data.hex(),
        data.hex().upper(),
        *(form for sep in ":- " for form in (data.hex(sep), data.hex(sep).upper())),
        *_base64_forms(data),
    }
    return {form for form in variants if len(form) >= SHORTEST}


def _more_html(secret: str) -> Iterator[str]:
    """Yield the HTML escapes that templates use: numbers in Jinja and Go, `&apos;` in XML."""
    named = html.escape(secret, quote=False)
    yield named
    yield named.replace('"', "&quot;")
    for quotes, apostrophe in (("&#34;", "&#39;"), ("&quot;", "&apos;"), ("&#x22;", "&#x27;")):
        numbered = named.replace('"', quotes).replace("'", apostrophe)
        yield numbered
        yield numbered.replace("+", "&#43;")


def _html_in_json(quoted: str) -> str:
    """Escape HTML's special characters in JSON text, as Go's encoder does."""
    return quoted.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _small_escapes(quoted: str) -> str:
    return re.sub("%[0-9A-F]{2}", lambda match: match[0].lower(), quoted)


def _base64_forms(data: bytes) -> Iterator[str]:
    """Yield the secret's base64 for each alignment in an encoded text such as `user:secret`."""
    for offset in range(3):
        first = -(-offset * 8 // 6)
        last = (offset + len(data)) * 8 // 6
        encoded = base64.b64encode(b"\0" * offset + data).decode()[first:last]
        yield encoded
        yield encoded.replace("+", "-").replace("/", "_")


class KnownValues:
    """Finds known values in texts. Immutable."""

    def __init__(self, secrets: Iterable[str]) -> None:
        every = {form for secret in secrets for form in forms(secret)}
        self.forms = sorted(every, key=len, reverse=True)
        self._in_runs = {form: is_run(form) for form in self.forms}
        self._grams: dict[str, list[str]] = {}
        for form in self.forms:
            for at in range(len(form) - _GRAM + 1) if len(form) >= 2 * _GRAM else ():
                holders = self._grams.setdefault(form[at : at + _GRAM], [])
                if len(holders) < 32 and form not in holders:
                    holders.append(form)
        self._have_line_ends = any("\n" in gram for gram in self._grams)

    def spans(self, text: str, runs: str | None = None) -> Iterator[tuple[int, int]]:
        """Yield the start and end of each known value in the text, even if a line break splits it.

        `runs` is the result of `token_runs` for the text, if the caller already has that result.
        """
        runs = token_runs(text) if runs is None else runs
        for form in self.forms:
            start = text.find(form) if not self._in_runs[form] or form in runs else -1
            while start >= 0:
                yield start, start + len(form)
                start = text.find(form, start + len(form))
        if self._grams and self._may_be_broken(text):
            yield from self._broken(text)

    def _may_be_broken(self, text: str) -> bool:
        if self._have_line_ends:
            return True
        lines = text.split("\n")
        if "\\n" in text:
            lines += text.split("\\n")
        ends = {line[-24:].rstrip(_AROUND)[-_GRAM:] for line in lines}
        begins = {line[:64].lstrip(_AROUND)[:_GRAM] for line in lines}
        if "→" in text:
            begins |= {
                part.lstrip(_AROUND)[:_GRAM] for line in lines for part in line.split("→")[1:]
            }
        return not (ends.isdisjoint(self._grams) and begins.isdisjoint(self._grams))

    def _broken(self, text: str) -> Iterator[tuple[int, int]]:
        for mark in ("\n", "\\n"):
            at = text.find(mark)
            while at >= 0:
                before = text[max(0, at - 24) : at].rstrip(_AROUND)[-_GRAM:]
                after = text[at + len(mark) : at + 64].rpartition("→")[2].lstrip(_AROUND)[:_GRAM]
                for form in self._grams.get(before) or self._grams.get(after) or ():
                    span = _over(text, form, at)
                    if span:
                        yield span
                at = text.find(mark, at + len(mark))


def _over(text: str, form: str, at: int) -> tuple[int, int] | None:
    floor = max(0, at - 2 * len(form) - 24)
    window = text[floor : at + 4 * len(form) + 200]
    pieces, starts, done = [], [], 0
    for end in _LINE_END.finditer(window):
        pieces.append(window[done : end.start()])
        starts.append(done)
        done = end.end()
    pieces.append(window[done:])
    starts.append(done)
    position = "".join(pieces).find(form)
    if position < 0:
        return None
    begin, last = _place(position, pieces, starts), _place(position + len(form) - 1, pieces, starts)
    return floor + begin, floor + last + 1


def _place(at: int, pieces: list[str], starts: list[int]) -> int:
    number = 0
    while at >= len(pieces[number]):
        at -= len(pieces[number])
        number += 1
    return starts[number] + at
