# ruff: noqa: E501
"""Find secrets without a name next to them, by the format of the file or command: netrc, Kubernetes,
HashiCorp's tools, Redis, PuTTY, signed URLs, password options.

Every expression is bounded, and is tried only where its first word occurs.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import Literal

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.deferred_pattern import deferred_pattern
from cockpit.core.secret_names import Strength, strength
from cockpit.core.secret_places import places
from cockpit.core.secret_values import is_password, is_placeholder, is_random, is_token
from cockpit.core.secret_words import Words, longest_run

Span = tuple[int, int, str]

_UUID = r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}"
_WHOLE_UUID = deferred_pattern(_UUID)
_QUOTE = r"\\{0,7}[\"'`]"
_SPACE = r"(?:[ \t\r\n]|\\{1,4}[nrt])(?:[ \t\r\n+>│|]|\\{1,4}[nrt]|[0-9]{1,6}[→\t]){0,40}"
"""Matches the space between two words, including a line end with a number or sign after it."""
_TEXT = r"[^\s\"'`\\│]"
_VALUE = rf"(?P<s>{_TEXT}{{4,200}})"
_OPTION = r"[^\n|;]{0,300}?[ ]"
"""Matches the text between a command and one of its options."""


@dataclass(frozen=True, slots=True)
class _Place:
    word: str
    """The word, in lower case, after which the expression is matched."""
    expression: re.Pattern[str]
    judge: Literal["password", "random", "drawn", "sure"] = "password"
    """Which values are secrets. `password`: values that look like a password; `random`: random
    text; `drawn`: random text, but no UUIDs or function calls; `sure`: all values."""
    kind: str = "command"


def _place(
    word: str,
    expression: str,
    judge: Literal["password", "random", "drawn", "sure"] = "password",
    kind: str = "command",
) -> _Place:
    return _Place(word, deferred_pattern(expression), judge, kind)


_PLACES = (
    _place(
        "machine",
        rf"{_SPACE}[^\s\"'\\]{{1,200}}{_SPACE}(?:login{_SPACE}[^\s\"'\\]{{1,100}}{_SPACE})?"
        rf"(?:account{_SPACE}[^\s\"'\\]{{1,100}}{_SPACE})?password{_SPACE}{_VALUE}",
        kind="netrc",
    ),
    _place(
        "login",
        rf"{_SPACE}[^\s\"'\\]{{1,100}}{_SPACE}(?:account{_SPACE}[^\s\"'\\]{{1,100}}{_SPACE})?"
        rf"password{_SPACE}{_VALUE}",
        kind="netrc",
    ),
    _place("sig=", r"(?<=[?&;\s\"']sig=)(?P<s>[A-Za-z0-9%+/_-]{20,200}={0,2})", "random", "azure"),
    _place(
        "signature",
        r"(?i:(?<=[?&]signature)|(?<=x-amz-signature)|(?<=x-goog-signature))"
        rf"(?:=|%3D|(?:{_QUOTE})?[ \t]?[:,=][ \t]?(?:{_QUOTE})?)"
        r"(?P<s>[A-Za-z0-9%+/_~-]{32,1200}={0,2})",
        "random",
        "signed-url",
    ),
    *(
        _place(
            word,
            rf"(?:[ ][0-9]{{1,2}})?(?:{_QUOTE})?[ \t]{{0,2}}[:=][ \t]{{0,20}}(?:{_QUOTE})?"
            r"(?P<s>[A-Za-z0-9+/]{40,90}={0,2})",
            "random",
            "vault",
        )
        for word in ("unseal key", "recovery key")
    ),
    *(
        _place(
            word,
            rf"(?:(?:{_QUOTE})?[ \t]{{0,20}}[:=,][ \t]{{0,20}}(?:{_QUOTE})?|[ \t]{{2,30}})"
            rf"(?P<s>{_UUID})",
            "sure",
            "hashicorp",
        )
        for word in ("secret_id", "secret-id", "secretid", "secret id")
    ),
    *(
        _place(
            word,
            rf"(?:{_QUOTE})?(?:[ \t]{{0,8}}[:=,]){{0,1}}[ \t]{{0,8}}(?:{_QUOTE})?{_VALUE}",
            kind="redis",
        )
        for word in ("requirepass", "masterauth")
    ),
    _place("auth-pass", rf"[ ][A-Za-z0-9_.-]{{1,80}}[ ]{_VALUE}", kind="redis"),
    _place("setuser", rf"[^\n]{{0,200}}?[ ]>{_VALUE}", kind="redis"),
    _place(
        "ldap",
        rf"(?:search|add|modify|delete|whoami|passwd|compare|modrdn|exop)\b{_OPTION}"
        rf"-w[ ]{{0,2}}(?:{_QUOTE})?{_VALUE}",
    ),
    _place("mosquitto_", rf"(?:pub|sub|rr)\b{_OPTION}(?:-P|--pw)[ =](?:{_QUOTE})?{_VALUE}"),
    _place("openssl", rf"{_OPTION}-[kK][ ](?:{_QUOTE})?{_VALUE}"),
    _place("-pass", rf"(?:in|out)?[ =](?:{_QUOTE})?pass:{_VALUE}"),
    _place("net use", rf"[^\n\\]{{0,20}}\\{{2,8}}[^\s\"']{{1,120}}[ ]{{1,4}}{_VALUE}(?=[ ]+/)"),
    _place(
        "net use",
        r"[^\n\\]{0,20}\\{2,8}[^\s\"']{1,120}[ ]{1,4}/(?i:user):[^\s\"'`]{1,80}[ ]{1,4}"
        rf"(?!/){_VALUE}",
    ),
    _place("net user", rf"[ ][^\s\"'`/]{{1,80}}[ ](?!/){_VALUE}"),
    _place("community", rf"[ ](?:{_QUOTE})?{_VALUE}(?:{_QUOTE})?[ ](?i:r[ow])\b"),
    _place("snmp", rf"(?:walk|get|getnext|set|bulkwalk|bulkget|trap)\b{_OPTION}-c[ ]{_VALUE}"),
    _place("jdbc:oracle", r":[a-z0-9]{1,8}:[^\s/\"'@]{1,80}/(?P<s>[^\s\"'@]{4,200})@", kind="url"),
    _place("sqlplus", r"(?:[ ]-[A-Za-z]{1,8}){0,4}[ ][^\s/\"'@]{1,80}/(?P<s>[^\s\"'@]{4,200})@"),
    _place(
        "dockerconfigjson",
        rf"(?:{_QUOTE})?[ ]?:[ ]?(?:[>|]-?{_SPACE}|{_QUOTE})?"
        r"(?P<s>[A-Za-z0-9+/]{20,20000}={0,2})",
        "random",
        "kubernetes",
    ),
)  # fmt: skip

_ALL_FORMS = (
    *(
        _place(word, rf"[ ]{{0,4}}{_QUOTE}[^\"'\n]{{1,80}}{_QUOTE}[ ]{{0,4}},[ ]{{0,4}}{_QUOTE}{_VALUE}", kind="tuple")
        for word in ("auth=(", "auth = (", "basicauth(", "basic_auth(", "digestauth(", "passwordcredentials(")
    ),
    *(
        _place(word, rf"(?:{_QUOTE})?(?:s%3A)?(?P<s>[A-Za-z0-9%._~+/-]{{16,400}}={{0,2}})", "drawn", "cookie")
        for word in ("sessionid=", "sid=", "sessid=", "session=", "csrftoken=", "xsrf-token=", "remember_token=", "aspxauth=", "identity.application=")
    ),
    *(
        _place(word, rf"[ ]?[:：=][ ]?(?:{_QUOTE})?{_VALUE}", "drawn", "assigned")
        for word in ("contraseña", "mot de passe", "пароль", "wachtwoord", "senha", "hasło", "lösenord", "kennwort",
                     "salasana", "adgangskode", "şifre", "heslo", "密码", "パスワード", "비밀번호", "wif", "passord")
    ),
    *(
        _place(word, rf"[ ](?:-n[ ])?(?:{_QUOTE})?(?:%s[ ])?(?:[A-Za-z0-9._-]{{1,40}}:)?{_VALUE}(?:{_QUOTE})?[ ]?\|[^\n]{{0,160}}?"
               r"(?:sudo -S|stdin|chpasswd|passwd|secret|login)")
        for word in ("echo", "printf")
    ),
    _place("$(echo ", rf"(?:{_QUOTE})?{_VALUE}(?<!\))", "drawn"),
    _place("<<<", rf"[ ]?(?:{_QUOTE})?{_VALUE}", "drawn"),
    _place("getpass()", rf"[ ]or[ ]{_QUOTE}{_VALUE}"),
    _place("convertto-securestring", rf"(?:[ ]-String)?[ ](?:{_QUOTE}){_VALUE}"),
    *(
        _place(word, rf"[^,\n]{{1,100}},[ ]?b?{_QUOTE}{_VALUE}", "drawn", "call")
        for word in ("jwt.sign(", "jwt.verify(", "jwt.encode(", "jwt.decode(", "createhmac(", "pbkdf2(", "scryptsync(")
    ),
    _place("hmac.new(", rf"b?{_QUOTE}{_VALUE}", "drawn", "call"),
    _place("login:", r"[ ][^\s/]{1,60}[ ]/[ ](?P<s>[^\s\"'`\\]{4,200})", "drawn"),
    _place("login ", rf"[^\s@]{{1,60}}@[^\s@]{{1,60}}[ ](?:{_QUOTE})?{_VALUE}", "drawn"),
    _place("identified by", rf"[ ]{_VALUE}", "drawn"),
    _place("from-literal=", rf"[A-Za-z0-9_.-]{{1,80}}=(?:{_QUOTE})?{_VALUE}", "drawn"),
    *(
        _place(word, rf"(?:{_QUOTE})?[ ]?[:=][ ]?(?:{_QUOTE})?(?P<s>(?:[a-z]{{3,8}}[ ]){{11,23}}[a-z]{{3,8}})", "sure", "mnemonic")
        for word in ("mnemonic", "seed phrase", "seed_phrase", "recovery phrase")
    ),
)  # fmt: skip
"""Forms of secrets in source code and documents. `core.secret_names` does not know these forms."""
_WORD_FORMS = [form for form in _ALL_FORMS if form.word.isascii() and form.word.isalpha()]
"""Forms that are tried only if the text contains the form's `word` as a whole word."""
_FOREIGN_FORMS = [form for form in _ALL_FORMS if not form.word.isascii()]
_FORMS = [form for form in _ALL_FORMS if form not in (*_WORD_FORMS, *_FOREIGN_FORMS)]
_BY_RUN = [(longest_run(place.word), place) for place in (*_PLACES, *_FORMS)]

_PUTTY = deferred_pattern(
    rf":[ ][0-9]{{1,4}}"
    rf"(?P<s>(?:{_SPACE}[A-Za-z0-9+/]{{4,64}}={{0,2}}(?![A-Za-z0-9+/=:-])){{1,60}})"
)
_UNSEAL_KEYS = deferred_pattern(rf"(?:{_QUOTE})?[ ]?:[ ]?\[(?P<all>[^\[\]]{{40,2000}})")
_UNSEAL_KEY = deferred_pattern(r"[A-Za-z0-9+/]{40,90}={0,2}")
_VARIABLE = deferred_pattern(
    rf"[ ]{_QUOTE}(?P<name>[A-Za-z0-9_-]{{1,80}}){_QUOTE}[ ]?\{{[^{{}}]{{0,600}}?\bdefault"
    r"[ \t]{0,20}=[ \t]{0,20}\\{0,7}\"(?P<s>[^\"\n\\]{6,400})"
)
_VALUE_AND_NAME = deferred_pattern(
    rf"(?:{_QUOTE})?[ ]?[:=][ ]?{_QUOTE}(?P<s>[^\"'\n\\]{{6,400}}){_QUOTE},?[ ]?"
    rf"(?:{_QUOTE})?(?:name|key)(?:{_QUOTE})?[ ]?[:=][ ]?"
    rf"{_QUOTE}(?P<name>[A-Za-z0-9_.-]{{1,80}}){_QUOTE}"
)
_SECRET_OBJECTS = ("kind: secret", 'kind": "secret"', 'kind":"secret"', "stringdata:")
_BLOCK = deferred_pattern(
    r"(?:\n|\\{1,4}n)(?:[ \t]{0,8}[0-9]{1,6}[→\t]|[>│|+-][ ]?)?(?P<indent>[ ]{0,40})"
    r"(?:[\"']?(?P<key>[A-Za-z0-9_.-]{1,253})[\"']?:(?=\s|\\|\Z)[ ]?)?(?P<rest>[^\n\\]{0,8000})"
)
_BASE64 = deferred_pattern(r"[A-Za-z0-9+/]{8,8000}={0,2}")
_CERTIFICATE = "LS0tLS1CRUdJTiBDRVJU"
"""The beginning of a certificate in base64."""
LONGEST_OBJECT = 20_000
LONGEST_BEFORE = 4_000
"""Maximum characters before an object's `kind` that are searched, because a tool that sorts fields
writes `data` before `kind`."""


def file_secrets(text: str, folded: str, words: Words) -> Iterator[Span]:
    """Yield start, end and kind of each secret in a text, found by the format of a file or command.

    `folded` is the text in lower case, of the same length; `words` are the words of `folded`.
    """
    in_words = [form for form in _WORD_FORMS if form.word.encode() in words.each]
    foreign = () if text.isascii() else _FOREIGN_FORMS
    joined = words.joined  # `may_hold`, inlined for speed: most texts have none of these words
    present = [place for run, place in _BY_RUN if run in joined]
    for place in (*present, *in_words, *foreign):
        done = 0
        for at in places(folded, place.word):
            match = place.expression.match(text, at) if at >= done else None
            done = match.end() if match else done
            if match and _is_one(match["s"], place.judge):
                yield *match.span("s"), place.kind
    for at in places(folded, "private-lines") if words.may_hold(b"private-lines") else ():
        match = _PUTTY.match(text, at)
        if match:
            yield *match.span("s"), "private-key"
    for word in ("keys_b64", "keys_hex") if words.may_hold(b"keys_") else ():
        for at in places(folded, word):
            for key in _all_of(_UNSEAL_KEYS.match(text, at), _UNSEAL_KEY):
                yield *key, "vault"
    for word, expression in (("variable", _VARIABLE), ("value", _VALUE_AND_NAME)):
        for at in places(folded, word):
            match = expression.match(text, at)
            if match and _is_named(match["name"], match["s"]):
                yield *match.span("s"), "assigned"
    if words.may_hold(b"kind") or words.may_hold(b"stringdata"):
        yield from _in_secret_objects(text, folded)


def _all_of(around: re.Match[str] | None, pattern: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    if around:
        for match in pattern.finditer(around.string, *around.span("all")):
            yield match.span()


def _is_one(value: str, judge: str) -> bool:
    if judge == "password":
        return is_password(value, certain=True)
    if judge == "drawn" and (_WHOLE_UUID.fullmatch(value) or "(" in value):
        return False
    return judge == "sure" or (is_random(value) and not is_placeholder(value))


def _is_named(name: str, value: str) -> bool:
    sure = strength(name)
    if sure is Strength.PASSWORD:
        return " " not in value and is_password(value, certain=True)
    return sure is Strength.TOKEN and is_token(value, certain=True)


def _in_secret_objects(text: str, folded: str) -> Iterator[Span]:
    """Yield the secret values of Kubernetes Secrets in YAML: `data:` in base64, and `stringData:`."""
    done = 0
    for at in sorted({at for word in _SECRET_OBJECTS for at in places(folded, word)}):
        if at <= done:
            continue
        begin = max(done, at - LONGEST_BEFORE)
        begin = max(begin, text.rfind("\n---", begin, at))
        done = text.find("\n---", at, at + LONGEST_OBJECT)
        done = done if done >= 0 else min(len(text), at + LONGEST_OBJECT)
        yield from _in_secret_object(text, begin, done)


def _in_secret_object(text: str, begin: int, end: int) -> Iterator[Span]:
    section, depth = "", -1
    for line in _BLOCK.finditer("\n" + text[begin:end]):
        key, rest, indent = line["key"], line["rest"], len(line["indent"])
        if key in ("data", "stringData") and rest.strip() in ("", "{"):
            section, depth = key, indent
        elif key and indent <= depth:
            section = ""
        if not section or not rest.strip():
            continue
        value = rest.strip().strip("\"'`,")
        start = begin + line.start("rest") - 1 + rest.find(value)
        if section == "data":
            is_secret = _is_coded(value)
        else:
            is_secret = is_random(value) or is_password(value, certain=False)
        if is_secret:
            yield start, start + len(value), "kubernetes"


def _is_coded(value: str) -> bool:
    if len(value) % 4 or not _BASE64.fullmatch(value) or value.startswith(_CERTIFICATE):
        return False
    return is_random(value) or base64.b64decode(value).isascii()
