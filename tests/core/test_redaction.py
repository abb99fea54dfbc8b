"""Secrets go, in every form in which they travel; hashes, ids, paths and code stay."""

from __future__ import annotations

import base64
import html
import json
import random
import re
import string
import time
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cockpit.core import secret_shapes
from cockpit.core.redaction import Redactor, count_redacted, secret_values
from cockpit.core.secret_shapes import shaped_secrets

_DICE = random.Random(20261121)


def letters(count: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    """Made here, so that no file of ours ever holds what looks like a credential."""
    return "".join(_DICE.choice(alphabet) for _ in range(count - 2)) + "a1"


def capitals(count: int) -> str:
    return letters(count, string.ascii_uppercase + string.digits).upper()


def hexadecimal(count: int) -> str:
    return letters(count, "0123456789abcdef")


SHAPED = {
    "anthropic": "sk-ant-api03-" + letters(93),
    "openai project": "sk-proj-" + letters(48),
    "openai service": "sk-svcacct-" + letters(48),
    "openai old": "sk-" + letters(48),
    "openrouter": "sk-or-v1-" + hexadecimal(64),
    "github classic": "ghp_" + letters(36),
    "github app": "ghs_" + letters(36),
    "github fine": "github_pat_" + letters(22) + "_" + letters(59),
    "aws": "AKIA" + capitals(16),
    "aws session": "ASIA" + capitals(16),
    "google": "AIza" + letters(35),
    "google oauth": "GOCSPX-" + letters(28),
    "google access": "ya29." + letters(60),
    "huggingface": "hf_" + letters(34),
    "slack bot": "xoxb-" + "1234567890-" + letters(24),
    "slack app": "xapp-1-" + capitals(11) + "-" + letters(40),
    "gitlab": "glpat-" + letters(20),
    "gitlab runner": "glrt-" + letters(20),
    "npm": "npm_" + letters(36),
    "pypi": "pypi-" + letters(90),
    "rubygems": "rubygems_" + hexadecimal(48),
    "stripe": "sk_live_" + letters(24),
    "stripe restricted": "rk_test_" + letters(24),
    "webhook secret": "whsec_" + letters(32),
    "sendgrid": "SG." + letters(22) + "." + letters(43),
    "digitalocean": "dop_v1_" + hexadecimal(64),
    "docker": "dckr_pat_" + letters(27),
    "linear": "lin_api_" + letters(40),
    "shopify": "shpat_" + hexadecimal(32),
    "databricks": "dapi" + hexadecimal(32),
    "groq": "gsk_" + letters(52),
    "xai": "xai-" + letters(80),
    "perplexity": "pplx-" + letters(48),
    "replicate": "r8_" + letters(37),
    "vault": "hvs." + letters(24),
    "atlassian": "ATATT3" + letters(180),
    "grafana": "glsa_" + letters(32),
    "newrelic": "NRAK-" + capitals(27),
    "postman": "PMAK-" + hexadecimal(24) + "-" + hexadecimal(34),
    "supabase": "sbp_" + hexadecimal(40),
    "planetscale": "pscale_tkn_" + letters(43),
    "sentry": "sntrys_" + letters(60),
    "notion": "ntn_" + letters(46),
    "telegram": "123456789:AA" + letters(33),
    "square": "sq0csp-" + letters(43),
    "twilio": "SK" + hexadecimal(32),
    "mailchimp": hexadecimal(32) + "-us12",
    "artifactory": "AKCp" + letters(69),
    "age": "AGE-SECRET-KEY-1" + capitals(58),
    "jwt": "eyJ" + letters(20) + ".eyJ" + letters(40) + "." + letters(43),
}
"""Each stands for itself: the whole value goes."""

PASSWORD = letters(20)
HIDDEN = {
    "bearer": f"Authorization: Bearer {PASSWORD}",
    "basic": f'"authorization": "Basic {PASSWORD}"',
    "url": f"postgres://app:{PASSWORD}@db:5432/x",
    "url token": f"https://{PASSWORD}@git.example.org/x.git",
    "slack webhook": f"https://hooks.slack.com/services/T0/B0/{PASSWORD}{PASSWORD}",
    "discord webhook": f"https://discord.com/api/webhooks/1234567/{PASSWORD}",
    "teams webhook": f"https://x.webhook.office.com/webhookb2/{PASSWORD}{PASSWORD}",
    "discord bot": f"Authorization: Bot M{PASSWORD}abc.{letters(6)}.{letters(27)}",
    "azure": f"AccountName=x;AccountKey={PASSWORD}{PASSWORD}==;Endpoint=y",
    "env": f"export DB_PASSWORD={PASSWORD}",
    "shouted": "PASSWORD=onlysmallletters",
    "yaml": f"  client_secret: {PASSWORD}",
    "json": f'{{"api_key": "{PASSWORD}"}}',
    "toml": f'auth-token = "{PASSWORD}"',
    "ruby": f"'access_key' => '{PASSWORD}'",
    "go": f'privateKey := "{PASSWORD}"',
    "python": f"login(password='{PASSWORD}')",
    "header": f"X-Api-Key: {PASSWORD}",
    "quoted small": 'passwd = "onlysmallletters"',
}
"""What goes is the value; the rest of the line stays."""

KEY = "-----BEGIN {0}PRIVATE KEY-----\n{1}\n{1}\n{2}\n-----END {0}PRIVATE KEY-----"
KEY_LINES = (letters(64), letters(30))

STAYS = (
    "commit 017f79aa70a6490c21d446741f290ede451d40012",
    "session 8003c7bf-4f5c-64f9-8003-c7bf4f5c64f9",
    "sha256:982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1",
    "max_tokens: 128000, tokens = 142000, token_count=17",
    "password = get_password(user)",
    "password: Optional[str] = None",
    'api_key = os.environ["ANTHROPIC_API_KEY"]',
    "token = self.tokenizer.next_token",
    "encoded_credentials = base64.b64encode(raw)",
    "PASSWORD=$DB_PASSWORD PASSWORD=${DB_PASSWORD} PASSWORD=<your password>",
    "secret: /run/secrets/db_password_1",
    "the secret: everybody-knows it; the key: readme",
    "https://user:password@example.com and https://example.com:8080/a@b",
    "key = sk-ant-... and ghp_xxx and AKIA and hf_token",
    "sk-learn-is-not-a-key-of-anything-at-all-really",
    "Bearer authentication is described in the handbook",
    "src/auth/secret_shapes.py:120: def _token(kind)",
    "-----BEGIN CERTIFICATE-----",
    "git@github.com:owner/repository.git",
    "key='keyboard.shortcut.open' primary_key: user_id_12345",
    "eyJ is how base64 of JSON begins",
    "#(touch x) `x` {{ 7 * 7 }} [b]bold[/b]",
)


def redacted(text: str, *secrets: str) -> str:
    return Redactor(secrets).redact(text).text


@pytest.mark.parametrize("name", SHAPED)
@pytest.mark.parametrize("line", ["{}", "key: {},", '{{"a": "{}"}}', "`{}`", "X={}\n", "({})."])
def test_a_credential_goes_wherever_it_stands(name: str, line: str) -> None:
    text = redacted(line.format(SHAPED[name]))
    assert SHAPED[name][-12:] not in text
    assert count_redacted(text) == 1
    assert text.startswith(line[: line.index("{}")].replace("{{", "{"))


@pytest.mark.parametrize("name", HIDDEN)
def test_a_value_goes_and_what_names_it_stays(name: str) -> None:
    text = redacted(HIDDEN[name])
    assert PASSWORD not in text
    assert "onlysmall" not in text
    assert count_redacted(text) == 1
    assert text[:5] == HIDDEN[name][:5]


@pytest.mark.parametrize("kind", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "])
@pytest.mark.parametrize("cut", [0, 30])
@pytest.mark.parametrize("escaped", [False, True])
def test_a_private_key_goes_also_without_its_end_and_inside_of_json(
    kind: str, cut: int, escaped: bool
) -> None:
    key = KEY.format(kind, *KEY_LINES)
    key = key[: len(key) - cut] if cut else key
    text = redacted(f"before\n{json.dumps(key)[1:-1] if escaped else key}\n\n## Next\n")
    assert KEY_LINES[0][:20] not in text
    assert KEY_LINES[1][:20] not in text
    assert text.startswith("before\n[REDACTED:private-key:")
    assert text.endswith("\n\n## Next\n")


@pytest.mark.parametrize("line", STAYS)
def test_ordinary_lines_stay(line: str) -> None:
    assert redacted(line) == line


def test_our_own_source_has_no_secret() -> None:
    house = Path(__file__).parents[2] / "cockpit"
    for file in house.rglob("*.py"):
        if file.name == "secret_kinds.py":
            continue  # the table itself: shapes of secrets, under their names
        text = file.read_text()
        found = [(text[start:end], kind) for start, end, kind in shaped_secrets(text)]
        assert found == [], file


@pytest.mark.parametrize(
    "secret",
    ["correct horse/battery+staple", 'quo"ted\\and\n<lined>&', "plain-Value-77", "pässwörd!"],
)
def test_a_known_value_goes_in_every_form(secret: str) -> None:
    forms = (
        secret,
        quote(secret, safe=""),
        quote_plus(secret),
        json.dumps(secret),
        json.dumps(secret, ensure_ascii=False),
        json.dumps({"a": json.dumps({"b": secret})}),
        html.escape(secret),
        base64.b64encode(secret.encode()).decode(),
        base64.b64encode(f"user:{secret}".encode()).decode(),
        base64.urlsafe_b64encode(f"x{secret}".encode()).decode(),
    )
    for form in forms:
        text = redacted(f"a {form} b", secret)
        assert count_redacted(text) == 1, form
        assert secret not in text


def test_the_same_secret_has_the_same_mark_and_another_one_another() -> None:
    text = redacted("one-secret two-secret one-secret", "one-secret", "two-secret")
    first, second, third = text.split(" ")
    assert first == third != second
    assert first.startswith("[REDACTED:known:")


def test_overlapping_secrets_leave_nothing_of_either() -> None:
    assert count_redacted(redacted("abcdefghijkl", "abcdefgh", "efghijkl")) == 1
    text = redacted(f"password={SHAPED['github classic']}tail-of-it")
    assert text.startswith("password=[REDACTED:")
    assert text.endswith("]")


@given(st.text(alphabet="abcdefgh01=:@/ \n-_.", max_size=80), st.text("abcdefgh01", min_size=8))
def test_redacting_twice_is_the_same_as_once(text: str, secret: str) -> None:
    redactor = Redactor([secret, "REDACTED", "known:00"])
    for words in (text, f"{text}{secret}{text}", f"password={text}{secret}", f"sk-ant-{text}"):
        once = redactor.redact(words)
        again = redactor.redact(once.text)
        assert again.text == once.text
        assert again.count == 0


@given(st.text(), st.text(min_size=8))
def test_a_known_secret_never_gets_through(text: str, secret: str) -> None:
    result = redacted(text + secret + text, secret)
    kept = result.split("[REDACTED:")
    assert all(secret not in piece for piece in kept)


@pytest.mark.parametrize(
    ("name", "value", "is_secret"),
    [
        ("ANTHROPIC_API_KEY", "abcdefgh", True),
        ("DB_PASSWORD", "with space", True),
        ("GITHUB_TOKEN", "x" * 20, True),
        ("SLACK_WEBHOOK_URL", "https://example.com/hook/abc", True),
        ("MY_SECRET_2", "abcdefgh1", True),
        ("ANYTHING", SHAPED["anthropic"], True),
        ("PWD", "/home/pilot/secret", False),
        ("SSH_AUTH_SOCK", "/run/agent.sock", False),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/etc/key.json", False),
        ("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "32000000", False),
        ("DB_PASSWORD", "short", False),
        ("SECRET_KEY", "development", False),
        ("KEYBOARD", "qwertz-layout", False),
        ("PATH", "/usr/bin:/bin", False),
    ],
)
def test_which_values_of_an_environment_are_secret(name: str, value: str, is_secret: bool) -> None:
    assert secret_values({name: value}) == ([value] if is_secret else [])


def test_the_password_in_a_url_is_secret_by_itself() -> None:
    assert secret_values({"DATABASE_URL": f"postgres://app:{PASSWORD}@db/x"}) == [PASSWORD]


def test_it_is_linear() -> None:
    redactor = Redactor([letters(20) for _ in range(40)])
    line = "the token: of password = a://b:c eyJ sk- gh -----BEGIN PRIVATE KEY----- =: "
    for text in (line * 3400, "password=" * 28_000, "a" * 262_144, "eyJa.eyJ" * 32_000):
        begun = time.process_time()
        redactor.redact(text)
        assert time.process_time() - begun < 20


def test_lower_case_moves_nothing() -> None:
    longer = [chr(code) for code in range(0x110000) if len(chr(code).lower()) != 1]
    assert longer == ["İ"]
    assert redacted(f"İİİ api_key = '{PASSWORD}'").startswith("İİİ api_key = '[REDACTED:")


def test_what_is_too_short_to_be_found_in_a_text_is_no_secret() -> None:
    assert redacted("abc", "abc") == "abc"
    assert secret_values({"DATABASE_URL": "postgres://app:abc@db/x"}) == []
    assert secret_values({"DATABASE_URL": "postgres://app:aB1x@db/x"}) == []
    assert Redactor([letters(8)]).redact("plain words").count == 0


def test_what_is_only_kept_loses_what_is_known_and_nothing_else() -> None:
    text = f"key {PASSWORD} and sk-{letters(48)}"
    kept = Redactor([PASSWORD]).without_known(text)
    assert PASSWORD not in kept
    assert text.split(" and ")[1] in kept
    assert Redactor([PASSWORD]).without_known("nothing") == "nothing"


@pytest.mark.parametrize(
    ("name", "value", "is_secret"),
    [
        ("SECRET_KEY_BASE", "abcdefgh", True),
        ("GITHUB_TOKEN_RO", "abcdefgh", True),
        ("DB_PASSWORD_PROD", "with space", True),
        ("PIN_TOKEN", "471108", True),
        ("DB_PASSWORD", "12345678", True),
        ("DB_PASSWORD", "tiger7", True),
        ("MAX_THINKING_TOKENS", "128000", False),
        ("TOKEN_TTL_SECONDS", "864000", False),
        ("PASSWORD_MIN_LENGTH", "100000", False),
        ("AUTH_TOKEN_HEADER", "X-Auth-Token", False),
        ("SORT_KEY", "created", False),
        ("AUTHOR", "a-person", False),
        ("TOKENIZERS_PARALLELISM", "disable-it", False),
        ("OLDPWD", "projects", False),
    ],
)
def test_a_secret_word_counts_anywhere_in_a_name(name: str, value: str, is_secret: bool) -> None:
    assert secret_values({name: value}) == ([value] if is_secret else [])
    assert (value in redacted(f"it is {value} here", *secret_values({name: value}))) != is_secret


ODD = """p+a(b)!*'q"&<x>,y~z 7/\u00e9"""


@pytest.mark.parametrize(
    "form",
    [
        "p%2Ba(b)!*'q%22%26%3Cx%3E%2Cy~z%207%2F%C3%A9",  # encodeURIComponent
        "p+a(b)!*'q%22&%3Cx%3E,y~z%207/%C3%A9",  # encodeURI
        "p%2Ba%28b%29%21*%27q%22%26%3Cx%3E%2Cy%7Ez+7%2F%C3%A9",  # URLSearchParams, Java
        """p+a(b)!*'q\\"\\u0026\\u003cx\\u003e,y~z 7/\u00e9""",  # Go's JSON
        "p+a(b)!*&#39;q&#34;&amp;&lt;x&gt;,y~z 7/\u00e9",  # Jinja
        "p&#43;a(b)!*&#39;q&#34;&amp;&lt;x&gt;,y~z 7/\u00e9",  # Go's HTML
        "p+a(b)!*&apos;q&quot;&amp;&lt;x&gt;,y~z 7/\u00e9",  # XML
        r"""p+a\(b\)\!\*\'q\"\&\<x\>\,y~z\ 7/""",  # bash, printf %q
        ODD.encode().hex(":"),
        ODD.encode().hex("-").upper(),
        ODD.encode().hex(" "),
    ],
)
def test_a_known_value_goes_as_other_languages_write_it(form: str) -> None:
    secret = ODD if form[-1] != "/" else ODD[:-1]
    cleaned = Redactor([secret]).redact(f"say {form} twice").text
    assert re.fullmatch(r"say \[REDACTED:known:[0-9a-f]{4}\] twice", cleaned), cleaned


@pytest.mark.parametrize("name", ["dbPassword", "DBPASSWORD", "CLIENTSECRET", "JWT", "DB_PW"])
def test_a_value_is_known_by_the_rule_that_texts_are_read_by(name: str) -> None:
    assert secret_values({name: "harvest-moon-tulip"}) == ["harvest-moon-tulip"]


def test_the_rules_of_shapes_are_the_same_in_each_process() -> None:
    """They are made once a process: here again, so that their making is measured as well."""
    expression, by_start, inner = secret_shapes._rules()
    secret_shapes._rules.cache_clear()
    again, by_start_again, inner_again = secret_shapes._rules()
    assert (again.pattern, by_start_again.keys()) == (expression.pattern, by_start.keys())
    assert [word for word, _ in inner_again] == [word for word, _ in inner]
    assert {shape.family for shapes in by_start.values() for shape in shapes} >= {"aws", "github"}
