"""The shapes of well-known credentials: prefixes, key blocks, tokens, URLs, assignments.

A shape is only looked for where a word that it must contain occurs, so that ordinary text costs
one search per word. Every expression is linear: no shape can be made slow by what it reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Shape:
    """One kind of credential."""

    kind: str
    words: tuple[str, ...]
    """One of them occurs in every text that has such a credential."""
    expression: str
    """The group `s`, or the whole match, is the secret."""

    def found(self, text: str, searched: str) -> Iterator[re.Match[str]]:
        """Every match in a text, if a word occurs in `searched`: the text, or its lower case."""
        if any(word in searched for word in self.words):
            yield from _compiled(self.expression).finditer(text)


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    """Compiled when first needed: most texts never need most of them."""
    return re.compile(expression)


def _token(kind: str, prefix: str, rest: str, *words: str) -> Shape:
    """A credential that says by its first letters what it is."""
    return Shape(kind, words or (prefix.replace("\\", ""),), rf"(?<![A-Za-z0-9]){prefix}{rest}")


_PLAIN = "[A-Za-z0-9]"
_DASHED = "[A-Za-z0-9_-]"
_DIGEST = "[a-f0-9]"

_TOKENS = (
    _token("anthropic", "sk-ant-", _DASHED + "{16,}"),
    _token("openai", "sk-(?:proj|svcacct|admin|None|or-v1)-", _DASHED + "{16,}", "sk-"),
    _token("openai", "sk-", "(?=[A-Za-z]*[0-9])" + _PLAIN + "{32,}"),
    _token("github", "gh[pousr]_", _PLAIN + "{30,}", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    _token("github", "github_pat_", "[A-Za-z0-9_]{22,}"),
    _token(
        "aws", "A(?:KIA|SIA|BIA|CCA)", "[0-9A-Z]{16}(?![A-Za-z0-9])", "AKIA", "ASIA", "ABIA", "ACCA"
    ),
    _token("google", "AIza", _DASHED + "{35}"),
    _token("google", "GOCSPX-", _DASHED + "{20,}"),
    _token("google", r"ya29\.", _DASHED + "{20,}"),
    _token("huggingface", "hf_", _PLAIN + "{30,}"),
    _token("slack", "xox[abeoprs]-", "[A-Za-z0-9-]{10,}", "xox"),
    _token("slack", "xapp-", "[0-9]-[A-Za-z0-9-]{20,}"),
    *(
        _token("gitlab", f"gl{name}-", "[A-Za-z0-9_.-]{20,}")
        for name in ("pat", "dt", "rt", "cbt", "ptt", "ft", "soat", "imt", "agent", "oas")
    ),
    _token("npm", "npm_", _PLAIN + "{36}"),
    _token("pypi", "pypi-", _DASHED + "{50,}"),
    _token("rubygems", "rubygems_", _DIGEST + "{48}"),
    _token("stripe", "[rs]k_(?:live|test)_", _PLAIN + "{16,}", "k_live_", "k_test_"),
    _token("webhook", "whsec_", "[A-Za-z0-9+/=]{24,}"),
    _token("sendgrid", r"SG\.", _DASHED + r"{16,32}\." + _DASHED + "{16,64}"),
    _token("digitalocean", "do[opr]_v1_", _DIGEST + "{64}", "_v1_"),
    _token("docker", "dckr_(?:pat|oat)_", _DASHED + "{20,}", "dckr_"),
    _token("linear", "lin_(?:api|oauth)_", _PLAIN + "{32,}", "lin_"),
    _token("shopify", "shp(?:at|ca|pa|ss)_", "[A-Fa-f0-9]{32}", "shp"),
    _token("databricks", "dapi", _DIGEST + "{32}"),
    _token("groq", "gsk_", _PLAIN + "{40,}"),
    _token("xai", "xai-", _PLAIN + "{60,}"),
    _token("perplexity", "pplx-", _PLAIN + "{40,}"),
    _token("replicate", "r8_", _PLAIN + "{37}"),
    _token("vault", r"hv[bs]\.", _DASHED + "{24,}", "hvs.", "hvb."),
    _token("atlassian", "ATATT3", "[A-Za-z0-9_=-]{60,}"),
    _token("grafana", "gl(?:sa|c)_", "[A-Za-z0-9+/=_]{32,}", "glsa_", "glc_"),
    _token("newrelic", "NRAK-", "[A-Z0-9]{27}"),
    _token("postman", "PMAK-", _DIGEST + "{24}-" + _DIGEST + "{34}"),
    _token("supabase", "sbp_", _DIGEST + "{40}"),
    _token("planetscale", "pscale_(?:tkn|pw|oauth)_", "[A-Za-z0-9_.=-]{30,}", "pscale_"),
    _token("sentry", "sntry[su]_", "[A-Za-z0-9+/=_-]{40,}", "sntry"),
    _token("notion", "ntn_", _PLAIN + "{40,}"),
    _token("telegram", "[0-9]{8,10}:AA", _DASHED + "{33}", ":AA"),
    _token("square", "sq0(?:csp|atp)-", _DASHED + "{22,}", "sq0"),
    _token("twilio", "SK", _DIGEST + "{32}(?![A-Za-z0-9])"),
    _token("mailchimp", "", _DIGEST + "{32}-us[0-9]{1,2}(?![A-Za-z0-9])", "-us"),
    _token("artifactory", "AKC[a-z]", _PLAIN + "{30,}", "AKC"),
    _token("age", "AGE-SECRET-KEY-1", "[0-9A-Z]{58}"),
    _token("jwt", "eyJ", _DASHED + r"{8,}\.eyJ" + _DASHED + r"{8,}\." + _DASHED + "*"),
)

_BREAK = r"(?:\s|\\[rn]){1,8}"
"""Also as JSON writes it."""
_KEY_NAME = "[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_KEY_LINE = r"(?:[A-Za-z0-9-]{1,40}: [^\n\\]{0,100}|[A-Za-z0-9+/=]{1,100})(?![A-Za-z0-9+/=])"

_OTHERS = (
    Shape(
        "discord",
        ("discord", "bot"),
        rf"(?<![A-Za-z0-9])[MNO]{_PLAIN}{{23,25}}\.{_DASHED}{{6}}\.{_DASHED}{{27,38}}",
    ),
    Shape(
        "private-key",
        ("private key",),
        # A block without its end is a key all the same.
        rf"-----BEGIN {_KEY_NAME}(?:{_BREAK}{_KEY_LINE})*(?:{_BREAK}-----END {_KEY_NAME})?",
    ),
    Shape(
        "azure",
        ("accesskey=", "accountkey="),
        "(?i:AccountKey|SharedAccessKey)=(?P<s>[A-Za-z0-9+/]{40,}={0,2})",
    ),
    Shape(
        "webhook",
        ("hooks.slack.com",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<s>[A-Za-z0-9/_-]{20,})",
    ),
    Shape(
        "webhook",
        ("/webhooks/",),
        r"discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/(?P<s>[0-9]{5,}/[A-Za-z0-9_-]{20,})",
    ),
    Shape(
        "webhook",
        ("webhook.office.com",),
        r"webhook\.office\.com/(?P<s>[A-Za-z0-9@/_-]{40,})",
    ),
    Shape(
        "bearer",
        ("bearer",),
        r"(?i:\bbearer)[ \t]+(?P<s>(?=[A-Za-z._~+/-]*[0-9])[A-Za-z0-9._~+/-]{16,}={0,2})",
    ),
    Shape(
        "basic",
        ("authorization",),
        r"(?i:\bauthorization)[\"']?[ \t]*[:=][ \t]*[\"']?(?i:basic|token)[ \t]+"
        r"(?P<s>[A-Za-z0-9._~+/-]{8,}={0,2})",
    ),
)

_URL_USER = re.compile(
    # A password, or a token that stands alone where the user's name would be.
    r"[^\s:/@\"'<>`]{0,200}:(?P<p>[^\s/@\"'<>`]{3,200})@"
    r"|(?P<t>(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{20,200})@"
)
_KEY_WORDS = (
    "password", "passwd", "passphrase", "secret", "token", "credential", "credentials", "apikey",
    *(
        f"{what}{between}key"
        for what in ("api", "access", "secret", "private", "auth", "encryption")
        for between in ("_", "-", "")
    ),
)  # fmt: skip
_VALUE = re.compile(
    r"(?:_(?:id|base64|b64))?(?P<sep>[\"']?[ \t]{0,4}(?:=>|:=|=|:)[ \t]{0,4})"
    r"(?:(?P<q>[\"'])(?P<quoted>[^\"'\n]{8,400})(?P=q)|(?P<bare>[^\s\"'`,;()<>{}\[\]]{8,400}))",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"(?i)[<{$%*\[]|x{4,}|\.{3}|…|your[_-]|example|changeme|change[_-]me|placeholder|redacted|dummy"
    r"|^(?:test|fake|none|null|true|false|undefined|optional|required)"
)
_CODE = re.compile(r"[A-Za-z_]+(?:[.:]+[A-Za-z_]+)*")
_PATH = re.compile(r"(?:~|\.{1,2})?/")


def shaped_secrets(text: str) -> Iterator[tuple[int, int, str]]:
    """Where credentials stand in a text: start, end and kind; they may overlap."""
    # The one letter whose lower case is longer would move everything behind it.
    folded = text.replace("İ", "I").lower()
    for shapes, searched in ((_TOKENS, text), (_OTHERS, folded)):
        for shape in shapes:
            for found in shape.found(text, searched):
                start, end = found.span("s" if "s" in found.re.groupindex else 0)
                yield start, end, shape.kind
    yield from _in_urls(text)
    yield from _assigned(text, folded)


def looks_secret(value: str) -> bool:
    """Whether a value as a whole has the shape of a credential."""
    whole = (0, len(value))
    return any(found.span() == whole for shape in _TOKENS for found in shape.found(value, value))


def url_passwords(value: str) -> Iterator[str]:
    """The passwords that stand in URLs in a value."""
    for start, end, _ in _in_urls(value):
        yield value[start:end]


def _in_urls(text: str) -> Iterator[tuple[int, int, str]]:
    for at in _places(text, "://"):
        found = _URL_USER.match(text, at)
        if found is None:
            continue
        group = "t" if found["p"] is None else "p"
        if not _PLACEHOLDER.search(found[group]) and found[group] not in ("password", "pass"):
            yield *found.span(group), "url"


def _assigned(text: str, folded: str) -> Iterator[tuple[int, int, str]]:
    for word in _KEY_WORDS:
        for at in _places(folded, word):
            found = _VALUE.match(text, at)
            if found is None:
                continue
            group = "bare" if found["quoted"] is None else "quoted"
            is_call = group == "bare" and text[found.end() : found.end() + 1] in ("(", "[")
            if not is_call and _is_meant(text[at - len(word) : at], found, found[group]):
                yield *found.span(group), "assigned"


def _places(text: str, word: str) -> Iterator[int]:
    """Where the text goes on after each occurrence of a word."""
    at = text.find(word)
    while at >= 0:
        yield at + len(word)
        at = text.find(word, at + len(word))


def _is_meant(name: str, found: re.Match[str], value: str) -> bool:
    """Whether an assigned value is meant: code, paths, URLs, prose and placeholders are not."""
    if _PLACEHOLDER.search(value) or _PATH.match(value) or "://" in value or " " in value:
        return False
    has_digit = any(char.isdigit() for char in value)
    has_letter = any(char.isalpha() for char in value)
    if "pass" in name.casefold():
        shouted = name.isupper() and found["sep"] == "="
        return found["quoted"] is not None or shouted or (has_digit and has_letter)
    return not _CODE.fullmatch(value) and has_digit and has_letter and len(value) >= 12
