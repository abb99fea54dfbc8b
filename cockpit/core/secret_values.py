"""Decide whether a value is a secret, given that its name is a secret's name.

Such a value can also be a placeholder, code, a path or prose.
"""

from __future__ import annotations

import re

from cockpit.core.deferred_pattern import deferred_pattern

SHORTEST_PASSWORD = 6
SHORTEST_TOKEN = 8
SHORTEST_KEY = 16

_REFERENCE = deferred_pattern(
    r"\$[A-Za-z_][A-Za-z0-9_.]*(?:[:/].*)?"  # $NAME
    r"|\$\{[^{}]*\}?|\$\(.*\)?|\$\$?\{\{.*|\{\{.*"  # ${NAME}, $(command), ${{ secret }}, {{ secret }}  # noqa: E501
    r"|\$[0-9@*#?]|--?[a-z][a-z-]*"
    r"|%\([A-Za-z0-9_.]+\)[a-z]?|%[A-Za-z_][A-Za-z0-9_]*%|%[-+ 0#]?[0-9.]*[bcdeEfgGopqrstUvxX]"
    r"|\{[A-Za-z0-9_.!:\[\]]*\}|#\{.*\}?|@[A-Za-z_.]+@|\$\[.*\]"
    r"|<[^<>]*>?|\[[A-Za-z _.:|-]*\]?|\([A-Za-z _.-]*\)?|@\w+"
    r"|!(?:Ref|Sub|GetAtt|vault|secret)\b.*|(?:vault|op|env|ssm|secret|file|arn|kms):.*|\\[0-9]"
)
"""Matches a reference to a value in another place."""
_MASKED = deferred_pattern(
    r"(.)\1*|[*x•·.-]+|[xX0*]{4,}.*|.*(?:\*{3,}|x{5,}|X{5,}|\.{3}|…|•{3,}).*", re.DOTALL
)
_SAMPLE = deferred_pattern(
    r"(?i)your[-_ ]?|example|change[-_ ]?(?:me|it|this)|placeholder|redacted|dummy|replace[-_ ]?(?:me|with)"  # noqa: E501
    r"|(?<![a-z0-9])(?:insert|todo|fixme|sample|fake|mock|foo|foobar|bar|baz|secret-?here|goes-?here"
    r"|n/a|tbd|abc123|abcdef|deadbeef)(?![a-z0-9])"
    r"|(?:-|_)here$|^(?:my|the|some|any|a|an|test)[-_ ][a-z]+(?:[-_ ][a-z]+)*[0-9]{0,3}$"
    r"|0123456789|123456789|1234567890abcdef|abcdefgh"
)
_SAID = frozenset(
    """
    admin any api apikey app auth authtoken basic bearer bool boolean bytes cert client confirm
    correct current default demo dev development disabled empty enabled env environment expired
    false float get guest hash hashed header hidden int integer invalid jwt key letmein local
    localhost login missing mysql new nil no none null number oauth off ok old on optional pass
    passphrase passwd password plain postgres prod production prompt public pwd qwerty raw read
    redis required root salt secret self server session set staging str string test
    testing text this token true type undefined unknown unset user username valid
    value var wrong yes write
    """.split()  # noqa: SIM905
)
"""Words that people write instead of a secret, or that describe a secret."""
_PATH = deferred_pattern(
    r"(?:~|\.{1,2})?/[A-Za-z0-9_.~$-]+(?:/|$|\.[a-z]{1,5}$)|[A-Za-z]:\\\\?|[\w.-]+/[\w./-]+\.[a-z]{1,5}$"
)
_CODE = deferred_pattern(
    r"[A-Za-z_$][A-Za-z0-9_]*(?:(?:\.|::|->|\?\.|!\.)[A-Za-z_$][A-Za-z0-9_]*)+\??!?"
    r"|[A-Za-z_][A-Za-z0-9_]*\(.*|[a-z]+[A-Z][A-Za-z]*|[A-Za-z_][A-Za-z0-9_]*\[.*|&?[A-Za-z_]+\*?"
    r"|(?:await|new|return|not|lambda|self|this|os|process|env|config|settings)\b.*"
)
_CALL = deferred_pattern(r"[A-Za-z_.]+[(\[{]")
_WORDS = deferred_pattern(r"[A-Za-z]+(?:[-_.: ][A-Za-z]+)*[-_.:!?]?")
_DATED = deferred_pattern(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}.*|v?[0-9]+(?:\.[0-9]+)+.*|[0-9.,_eE+-]+[a-z%]{0,3}"
)
_UUID = deferred_pattern(r"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_CHANGES = deferred_pattern(r"[A-Za-z](?=[0-9])|[0-9](?=[A-Za-z])")
_SPELLED = deferred_pattern(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
"""Matches the parts of a name (`get`, `User`, `2`). Random text has shorter parts than a name."""
_PIECES = deferred_pattern(r"[A-Za-z0-9]+")


def is_placeholder(value: str) -> bool:
    """Return whether a value is a placeholder for a secret.

    A reference or a mask must be the whole value, because a generated password can contain the
    signs of references and masks (`$ % * < [ {`) too.
    """
    if _REFERENCE.fullmatch(value) or _MASKED.fullmatch(value) or _SAMPLE.search(value):
        return True
    return all(word.lower() in _SAID for word in re.findall("[A-Za-z]+", value)) and not re.search(
        r"[0-9]{4}|[^A-Za-z0-9 _.:-]", value
    )


def is_random(value: str) -> bool:
    """Return whether a value looks random, such as a UUID or a mix of letters and digits."""
    if _UUID.fullmatch(value):
        return True
    if _DATED.fullmatch(value) or value.count(" ") > 0:
        return False
    longest = max(_PIECES.findall(value), key=len, default="")
    changes = len(_CHANGES.findall(longest))
    if len(longest) >= 10 and changes >= 3:
        return True
    if len(value) >= 16 and len(_CHANGES.findall(value)) >= 4:
        return True
    mixed = not (longest.islower() or longest.isupper())
    return len(longest) >= 14 and mixed and len(_SPELLED.findall(longest)) * 3.2 > len(longest)


def is_password(value: str, *, certain: bool) -> bool:
    """Return whether a value is a secret, given that its name has `Strength.PASSWORD`.

    `certain`: whether the text is surely a value, such as a quoted text or an option's argument.
    """
    if len(value) < SHORTEST_PASSWORD or is_placeholder(value) or _PATH.match(value):
        return False
    has_digit, has_letter = bool(re.search("[0-9]", value)), bool(re.search("[A-Za-z]", value))
    symbols = len(re.findall(r"[^A-Za-z0-9\s_.-]", value))
    if certain:
        if _WORDS.fullmatch(value):
            one_case = value.islower() or value.isupper()
            return value.isalpha() and ((one_case and len(value) >= 12) or is_random(value))
        return not _CODE.fullmatch(value) or has_digit
    if not has_letter or _DATED.fullmatch(value) or not (has_digit or symbols):
        return False
    if len(value) >= 8 and is_random(value):
        return True
    if _CODE.fullmatch(value) and not re.fullmatch(r"[A-Za-z]{1,9}[0-9]{1,6}", value):
        return False
    if symbols >= 2 and has_digit and len(value) >= 12 and not _CALL.match(value):
        return True
    return has_digit and len(value) >= 8 and not re.search(r"[()\[\]{}=\"']", value)


def is_token(value: str, *, certain: bool) -> bool:
    """Return whether a value is a secret, given that its name has `Strength.TOKEN`.

    `certain` is as in `is_password`.
    """
    if len(value) < SHORTEST_TOKEN or " " in value or "://" in value:
        return False
    if is_placeholder(value) or _PATH.match(value):
        return False
    has_digit, has_letter = bool(re.search("[0-9]", value)), bool(re.search("[A-Za-z]", value))
    if is_random(value):
        return True
    if not certain or len(value) < 12 or _DATED.fullmatch(value) or _CODE.fullmatch(value):
        return False
    if has_digit and has_letter:
        pieces = _PIECES.findall(value)
        return any(not piece.isdigit() and not piece.isalpha() for piece in pieces)
    return False


def is_key(value: str) -> bool:
    """Return whether a value is a secret, given that its name has `Strength.KEY`, as `STRIPE_KEY`
    has."""
    if len(value) < SHORTEST_KEY or _UUID.fullmatch(value) or "://" in value or " " in value:
        return False
    return not (is_placeholder(value) or _PATH.match(value)) and is_random(value)
