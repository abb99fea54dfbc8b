"""Find secrets by their place: after a name, in a URL, a header, a command, a password file.

Every expression is bounded, and is tried only where its first word occurs, so the search takes
linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cockpit.core.deferred_pattern import deferred_pattern
from cockpit.core.secret_names import ANCHORS, Strength, is_shouted, strength
from cockpit.core.secret_values import (
    SHORTEST_PASSWORD,
    is_key,
    is_password,
    is_placeholder,
    is_random,
    is_token,
)
from cockpit.core.secret_words import Words, longest_run

Span = tuple[int, int, str]
LONGEST_NAME = 80
LONGEST_VALUE = 400
LONGEST_RUN = 64
"""Maximum characters of a value that is searched for further names; a longer value is skipped as a
whole, so that no text is read twice."""

_NAME_REST = deferred_pattern(r"[A-Za-z0-9_.-]{0,60}")
_NAME_HEAD = deferred_pattern(r"[A-Za-z0-9_.-]{0,80}")
"""Matches the part of a name before its anchor (see `secret_names.ANCHORS`), in reversed text."""
_COLOUR = r"\x1b\[[0-9;]{0,12}m"
_ESCAPED = r"(?:\\{0,7}[\"'`]|&(?:quot|apos|#0?3[49]|#x2[27]);)"
_BETWEEN = deferred_pattern(
    rf"(?P<close>(?:{_ESCAPED}|{_COLOUR}|[*\])]){{0,5}})"
    r"(?:[ \t]?\[[^\]\n]{0,24}\]){0,2}[ \t]{0,60}"
    r"(?:"
    rf"(?P<sep>:[ \t]?&?[A-Za-z][A-Za-z_.]{{0,24}}[0-9]{{0,3}}(?:[<\[][^=\n]{{0,40}}[>\]])?[ \t]?="
    r"(?=[ \t]{0,9}[^\s=>])"
    r"|[!=]={1,2}|=>|->|[:?+]=|:-|={1}|::|:|\|\||\?\?|or(?= )|,|\||│|>)"
    rf"(?:{_COLOUR}|[*_]){{0,4}}[ \t]{{0,60}}"
    r"|(?P<attribute>\s{0,80}\bvalue\s{0,4}[=:]\s{0,4})"
    r"|(?P<told>(?:is|are|was|to|=)[ \t]{1,4}|--(?:body|value)[ =])"
    r"|(?P<blank>)"
    r")"
    rf"(?:{_COLOUR}){{0,2}}"
    r"(?P<below>(?:\\[rn]|\r?\n){1,2}[ \t>│|]{0,24}(?:[0-9]{1,6}[→\t][ \t]{0,24})?(?:```[a-z]{0,8}\r?\n[ \t]{0,8})?)?"  # noqa: E501
)
_OPENER = deferred_pattern(rf"(?:[A-Za-z]{{0,2}}@?(?P<quote>{_ESCAPED}))?")
_BARE = deferred_pattern(rf"[^\s\"'`\x1b│]{{1,{LONGEST_VALUE}}}")
_LONGER = deferred_pattern(r"[A-Za-z0-9+/=_.-]*")
"""Matches the rest of a value that is longer than `LONGEST_VALUE`."""
_BARE_END = deferred_pattern(
    r"\\+(?:[nrt\"'`]|u00[0-9a-f]{2}|x1b)|</|[;&,|](?:amp;)?[A-Za-z_][A-Za-z0-9_. -]{0,40}[=:]|&quot;|&lt;"  # noqa: E501
    r"|,[{\[]|->"
)
_BRACKETS = {")": "(", "]": "[", "}": "{", ">": "<"}
_QUOTED = {
    quote: deferred_pattern(rf"(?:[^{quote}\\\n]|\\.){{1,{LONGEST_VALUE}}}(?={quote})")
    for quote in "\"'`"
}
_SETS = deferred_pattern(
    r"(?:\b(?:setenv|setx|ENV|ARG|login|machine|password|export|define|defvar|defconst|setq"
    r"|configure set|config set)\b|set -[a-zA-Z]+)[^\n=]{0,60}\Z"
)
_FLAG = deferred_pattern(r"(?:^|[\s\"'`=\[(,+│>])--?\Z")

_URL_USER = deferred_pattern(
    # A password, or a token instead of the user's name.
    r"[^\s:/@\"'<>`]{0,200}:(?P<p>[^\s/\"'<>`]{3,200})@"
    r"|(?P<t>(?=[A-Za-z_-]{0,199}[0-9])[A-Za-z0-9_-]{20,200})@"
)
_URL_SAID = deferred_pattern(r"[a-z]{1,9}|[A-Z_]{1,20}|\{.*|<.*|\[.*\]|\(.*|%[A-Za-z(].*s?")
_SCHEME = deferred_pattern(
    r"(?:bearer|basic|token|apikey|api-key|digest|negotiate|sso-key|key|oauth|bot)(?:\\?[\"'])?[ \t:=]{1,3}(?:\\?[\"'])?"  # noqa: E501
    r"(?P<s>[A-Za-z0-9._~+/%:-]{8,2000}={0,2})",
    re.IGNORECASE,
)
_AUTHORIZATION = deferred_pattern(
    r"\\{0,3}[\"']?[ \t]{0,4}[:=,][ \t]{0,4}\\{0,3}[\"'`]?", re.IGNORECASE
)
_COOKIES = deferred_pattern(r"[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?")
_COOKIES_END = deferred_pattern(r"[\n\"']")
LONGEST_COOKIES = 2000
"""Maximum characters after the word `cookie` that are searched for cookies."""
_A_COOKIE = r"[A-Za-z0-9_.-]{1,80}=(?P<s>[^;\s\\,]{12,800})"
_FIRST_COOKIE = deferred_pattern(_A_COOKIE)
_COOKIE = deferred_pattern(rf"(?:[;,] ?|\s){_A_COOKIE}")
_COMMANDS = (
    ("sshpass", deferred_pattern(r"[ ]{1,4}-p[ ]{0,4}[\"']?(?P<s>[^\s\"'\\`]{4,200})")),
    (
        "redis-cli",
        deferred_pattern(r"[^\n|;]{0,120}?[ ](?:-a|--pass)[ ][\"']?(?P<s>[^\s\"'\\`]{4,200})"),
    ),
    (
        "curl",
        deferred_pattern(
            r"[^\n|;]{0,300}?[ ](?:-u|--user|--proxy-user)[ =]?[\"']?[^\s:\"']{1,80}:(?P<s>[^\s\"'\\`]{4,200})"  # noqa: E501
        ),
    ),
    (
        "mysql",
        deferred_pattern(
            r"(?:dump|admin)?[ ][^\n|;]{0,120}?-p(?P<s>[^\s\"'\\`-][^\s\"'\\`]{3,200})"
        ),
    ),
    (
        "identified",
        deferred_pattern(r"(?i:[ ]by[ ](?:password[ ])?)\\{0,3}['\"](?P<s>[^'\"\n\\]{4,200})"),
    ),
    (
        "password",
        deferred_pattern(r"(?i:[ ]{1,4}(?:=[ ]?)?)\\{0,3}['](?P<s>[^'\n\\]{6,200})\\{0,3}[']"),
    ),
)
_BY_RUN = [(longest_run(word), word, expression) for word, expression in _COMMANDS]
_ANCHORS = [(anchor.encode(), anchor) for anchor in ANCHORS]
_PGPASS = deferred_pattern(
    r"(?<![A-Za-z0-9/.])(?:[A-Za-z0-9.-]{1,100}|\*):(?:[0-9]{4,5}|\*):[A-Za-z0-9_*-]{1,60}:[A-Za-z0-9_-]{1,60}"
    r":(?P<s>(?:[^\s\"'`,)│|\\<]|\\{1,4}:){6,200})"
)


def placed_secrets(text: str, folded: str, words: Words) -> Iterator[Span]:
    """Yield start, end and kind of each secret in a text, found by its place, such as a header.

    `folded` is the text in lower case, of the same length.
    """
    yield from url_secrets(text)
    yield from _named(text, folded, words)
    yield from _authorized(text, folded)
    yield from _in_cookies(text, folded)
    yield from _in_commands(text, folded, words)
    if ":5432:" in text or ":*:" in text or ":543" in text:
        for match in _PGPASS.finditer(text):
            if is_random(match["s"]) or is_password(match["s"], certain=True):
                yield *match.span("s"), "pgpass"


def places(text: str, word: str) -> Iterator[int]:
    """Yield the position after each occurrence of a word."""
    at = text.find(word)
    while at >= 0:
        yield at + len(word)
        at = text.find(word, at + len(word))


def url_secrets(text: str) -> Iterator[Span]:
    """Yield start, end and kind of each password and token in a URL."""
    for at in places(text, "://"):
        match = _URL_USER.match(text, at)
        if match is None:
            continue
        group = "t" if match["p"] is None else "p"
        value = match[group]
        if not is_placeholder(value) and not _URL_SAID.fullmatch(value):
            yield *match.span(group), "url"


def _named(text: str, folded: str, words: Words) -> Iterator[Span]:
    present = [anchor for run, anchor in _ANCHORS if run in words.joined]
    hits = sorted({at for anchor in present for at in places(folded, anchor)})
    done = 0
    for at in hits:
        if at < done:
            continue
        rest = _NAME_REST.match(text, at)
        end = rest.end() if rest else at
        while end > at and text[end - 1] in "-.":
            end -= 1
        between = _BETWEEN.match(text, end)
        assert between is not None, "the expression matches an empty text too"
        span, is_secret = _value(text, at, end, between)
        if span is not None and is_secret:
            begin, done = span
            if done - begin >= LONGEST_VALUE - 8:
                done = _LONGER.match(text, done).end()  # type: ignore[union-attr]
            yield begin, done, "assigned"
        elif span is not None and span[1] - span[0] > LONGEST_RUN and span[0] - end < 4:
            done = span[1]  # skip names inside the value: `password=password=…` is read once
        else:
            done = end


def _value(
    text: str, at: int, end: int, between: re.Match[str]
) -> tuple[tuple[int, int] | None, bool]:
    """Return the start and end of the value that belongs to the name around `at`, and whether the
    value is a secret."""
    begin = _start_of_name(text, at)
    before = text[max(0, begin - 72) : begin]
    name = text[begin:end]
    name_strength = strength(name)
    if name_strength is Strength.NONE and before.endswith("\\") and name[:1] in ("n", "r", "t"):
        begin, name = begin + 1, name[1:]  # the letter of a line end in JSON
        name_strength = strength(name)
    if name_strength is Strength.NONE or name in ("GPG_KEY", "OLDPWD"):
        return None, False
    close, sep = between["close"], between["sep"]
    opener = _OPENER.match(text, between.end())
    assert opener is not None
    quote = opener["quote"]
    certain = quote is not None
    separator = sep or ""
    is_capitals = is_shouted(name)
    if separator == ",":
        if not any(mark in close for mark in "\"'`") or quote is None:
            return None, False
    elif separator == ":" and before.endswith(":") and quote is None and name == "secret":
        return None, False  # an ARN: the name of a secret, not a secret
    elif (separator == ">" and not before.endswith("<")) or (
        separator in ("or", "||", "??") and quote is None
    ):
        return None, False
    elif not separator and between["attribute"] is None:
        spaced = between.end() > end + len(close) or quote is not None
        is_flag = (before.endswith("-") and bool(_FLAG.search(before))) or name.startswith("--")
        if between["told"] is not None:
            certain = False
        elif not spaced or between["below"] is not None:
            return None, False
        elif is_flag or (quote and before.endswith(":")) or _SETS.search(before):
            certain = True
        else:
            return None, False
    elif (
        separator.startswith(("=", ":=", "?=", ":-"))
        and is_capitals
        and text[end : end + 1] in "=:?"
    ):
        certain = True
    if between["below"] is not None:
        if separator != ":" and between["attribute"] is None:
            return None, False
        certain = certain and quote is not None
    span = _span(text, opener.end(), quote)
    if span is None:
        return None, False
    value = text[span[0] : span[1]]
    if separator == ">" and not text.startswith("</", span[1]):
        return None, False
    if quote is None and (_is_call(text, span[1], value) or value.startswith("//")):
        return None, False
    if quote == "`" and separator == "":
        certain = False
    return span, _is_secret(name_strength, name, value, certain)


def _start_of_name(text: str, at: int) -> int:
    backwards = text[max(0, at - LONGEST_NAME) : at][::-1]
    head = _NAME_HEAD.match(backwards)
    name = head[0].rstrip("-.") if head else ""
    return at - len(name)


def _is_secret(name_strength: Strength, name: str, value: str, certain: bool) -> bool:
    if name_strength is Strength.PASSWORD:
        if " " in value:
            words = value.split(" ")
            is_phrase = "phrase" in name.lower() or "psk" in name.lower()
            return certain and is_phrase and len(words) > 2
        return is_password(value, certain=certain)
    if name_strength is Strength.TOKEN:
        return is_token(value, certain=certain)
    return is_key(value)


def _is_call(text: str, end: int, value: str) -> bool:
    return text[end : end + 1] in ("(", "[") or bool(
        "(" in value and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.]*\([^)]*\)?[;,)]*", value)
    )


def _span(text: str, at: int, quote: str | None) -> tuple[int, int] | None:
    if quote is None:
        return _bare(text, at)
    if len(quote) == 1:
        match = _QUOTED[quote].match(text, at)
        return match.span() if match else _bare(text, at)
    end = text.find(quote, at, at + LONGEST_VALUE + len(quote))
    while end > at and text[end - 1] == "\\":
        end = text.find(quote, end + len(quote), at + LONGEST_VALUE + len(quote))
    return (at, end) if end > at else _bare(text, at)


def _bare(text: str, at: int) -> tuple[int, int] | None:
    match = _BARE.match(text, at)
    if match is None:
        return None
    value = match[0]
    cut = _BARE_END.search(value)
    if cut:
        value = value[: cut.start()]
    value = value.rstrip(",;:|")
    while (
        value
        and value[-1] in _BRACKETS
        and value.count(_BRACKETS[value[-1]]) < value.count(value[-1])
    ):
        value = value[:-1].rstrip(",;")
    if value.endswith((".", "?")) and len(value) > SHORTEST_PASSWORD:
        value = value[:-1]
    return (at, at + len(value)) if value else None


def _authorized(text: str, folded: str) -> Iterator[Span]:
    for at in places(folded, "authorization"):
        opened = _AUTHORIZATION.match(text, at)
        match = _SCHEME.match(text, opened.end()) if opened else None
        if match and not is_placeholder(match["s"]):
            yield *match.span("s"), "authorization"
    for at in places(folded, "bearer"):
        match = _SCHEME.match(text, at - 6)
        if match and is_token(match["s"], certain=len(match["s"]) >= 20):
            yield *match.span("s"), "bearer"


def _in_cookies(text: str, folded: str) -> Iterator[Span]:
    """Yield start, end and kind of each secret cookie. Reads each part of the text once, even if
    `cookie` occurs often."""
    judged = 0
    for begin, end, firsts in _cookie_runs(text, folded):
        for match in _COOKIE.finditer(text, begin, end):
            if is_random(match["s"]):
                yield *match.span("s"), "cookie"
        for first in firsts:
            if first < judged:
                continue  # inside a value that was already checked
            cookie = _FIRST_COOKIE.match(text, first, end)
            if cookie is None:
                continue
            judged = cookie.end() if len(cookie["s"]) > LONGEST_RUN else judged
            if is_random(cookie["s"]):
                yield *cookie.span("s"), "cookie"


def _cookie_runs(text: str, folded: str) -> Iterator[tuple[int, int, list[int]]]:
    """Yield start and end of each part of a text that may contain cookies, and the positions in
    this part at which lists of cookies begin."""
    begin = end = stop = 0
    firsts: list[int] = []
    for at in places(folded, "cookie"):
        head = _COOKIES.match(text, at)
        if head is None:
            continue
        first = head.end()
        if first >= stop:
            match = _COOKIES_END.search(text, first)
            stop = match.start() if match else len(text)
        if first > end:
            if firsts:
                yield begin, end, firsts
            begin, firsts = first, []
        firsts.append(first)
        end = max(end, min(first + LONGEST_COOKIES, stop))
    if firsts:
        yield begin, end, firsts


def _in_commands(text: str, folded: str, words: Words) -> Iterator[Span]:
    for run, word, expression in _BY_RUN:
        if not words.may_hold(run):
            continue
        for at in places(folded, word):
            match = expression.match(text, at)
            if match and is_password(match["s"], certain=True):
                yield *match.span("s"), "command"
