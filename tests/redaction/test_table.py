"""The rules of the table one by one; known values go in all forms.

`test_corpus.py` has every kind in every context, and thousands of lines that must stay.
"""

from __future__ import annotations

import base64
import html
import json
import shlex
from urllib.parse import quote, quote_plus

import pytest

from cockpit.core.redaction import Redactor, count_redacted
from cockpit.core.secret_kinds import KINDS, PEM_KINDS, Kind
from cockpit.core.secret_names import Strength, strength
from cockpit.core.secret_places import _cookie_runs
from cockpit.core.secret_shapes import first_letters
from cockpit.core.secret_templates import expression, parts


def test_the_table_has_enough_kinds_each_once_and_readable() -> None:
    names = [kind.name for kind in KINDS]
    assert len(names) + len(PEM_KINDS) >= 187
    assert len(set(names)) == len(names)
    for kind in KINDS:
        assert parts(kind.template)
        assert expression(kind.template)


@pytest.mark.parametrize("template", ["{W:3", "{Z}", "{W}"])
def test_a_template_that_cannot_be_read_is_refused(template: str) -> None:
    with pytest.raises(ValueError, match="cannot be read"):
        parts(template)


KNOWN = (
    "correct horse/battery+staple",
    'quo"ted\\and\n<lined>&',
    "plain-Value-77",
    "pässwörd!",
    "p$ss%w*rd<[{'`",
    "it's $HOME and 100%",
    "AbCdEfGh12345678AbCdEfGh12345678AbCdEfGh12345678",
)


def spelled(secret: str) -> dict[str, str]:
    data = secret.encode()
    return {
        "plain": secret,
        "url": quote(secret, safe=""),
        "url path": quote(secret),
        "form": quote_plus(secret),
        "url twice": quote(quote(secret, safe=""), safe=""),
        "json": json.dumps(secret),
        "json letters": json.dumps(secret, ensure_ascii=False),
        "json in json": json.dumps({"a": json.dumps({"b": secret})}),
        "html": html.escape(secret),
        "shell": shlex.quote(secret),
        "hex": data.hex(),
        "base64": base64.b64encode(data).decode(),
        "basic": base64.b64encode(b"user:" + data).decode(),
        "base64 url": base64.urlsafe_b64encode(b"x" + data).decode(),
        "base64 longer": base64.b64encode(b"user:" + data + b"@host").decode(),
    }


@pytest.mark.parametrize("secret", KNOWN)
@pytest.mark.parametrize("form", list(spelled("x")))
def test_a_known_value_goes_in_every_form(secret: str, form: str) -> None:
    text = Redactor([secret]).redact(f"before {spelled(secret)[form]} after").text
    assert count_redacted(text) == 1, text
    assert text.startswith("before ")
    assert text.endswith(" after")


@pytest.mark.parametrize("form", ["plain", "url", "json", "base64", "basic", "hex"])
@pytest.mark.parametrize("secret", [KNOWN[0], KNOWN[6]])
@pytest.mark.parametrize("width", [12, 20, 33])
@pytest.mark.parametrize("around", ["\n", "\n    ", " │\n│ ", "\\n", "\n> ", "\n     7→"])
def test_a_known_value_goes_where_lines_are_wrapped(
    form: str, secret: str, width: int, around: str
) -> None:
    whole = spelled(secret)[form].strip('"')
    pieces = [whole[at : at + width] for at in range(0, len(whole), width)]
    text = Redactor([secret]).redact(f"a {around.join(pieces)} b").text
    assert [piece for piece in pieces if len(piece) > 7 and piece in text] == []


@pytest.mark.parametrize(
    ("name", "sure"),
    [
        ("RAILS_MASTER_KEY", Strength.TOKEN),
        ("APP_KEY", Strength.TOKEN),
        ("AUTH_KEY", Strength.TOKEN),
        ("client-key-data", Strength.TOKEN),
        ("PWD", Strength.PASSWORD),
        ("dbPassword", Strength.PASSWORD),
        ("PGPASSWORD", Strength.PASSWORD),
        ("_auth", Strength.TOKEN),
        ("sort_key", Strength.NONE),
        ("publicKey", Strength.NONE),
        ("next_page_token", Strength.NONE),
        ("max_tokens", Strength.NONE),
        ("token_count", Strength.NONE),
        ("password_file", Strength.NONE),
        ("password_data", Strength.NONE),
    ],
)
def test_what_a_name_says(name: str, sure: Strength) -> None:
    assert strength(name) is sure


def test_the_first_letters_of_a_shape_are_all_of_it_where_it_has_no_run() -> None:
    assert first_letters(Kind("made up", "a-{b|c}-d")) == {"a-b-d", "a-c-d"}


def test_findings_name_kinds_and_no_marker_is_one() -> None:
    redactor = Redactor(["plain-Value-77"])
    text = "a plain-Value-77\nDB_PASSWORD=Tr0ub4dor&3xyz\n"
    assert [kind for _, _, kind in redactor.findings(text)] == ["known", "assigned"]
    assert redactor.findings(redactor.redact(text).text) == []


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        # The padding of base64 looked like a type and a default: `name: str = value`.
        ("password: U3VwM3JTM2NyZXRWYWx1ZSE=", "U3VwM3JTM2NyZXRWYWx1ZSE="),
        ("ACL SETUSER app on ~* +@all >q7Gk2mZx81Lp", "q7Gk2mZx81Lp"),
        ('kind: Secret\ndata:\n  "smtp": c3VwZXItc2VjcmV0', "c3VwZXItc2VjcmV0"),
        ("apiVersion: v1\ndata:\n  smtp: c3VwZXItc2VjcmV0\nkind: Secret\n", "c3VwZXItc2VjcmV0"),
        ('{\n "data": {\n  "smtp": "c3VwZXItc2VjcmV0"\n },\n "kind": "Secret"\n}', "c3VwZXItc2"),
        ("stringData:\n  smtp: |\n    host=mail\n    q7Gk2mZx81Lp", "q7Gk2mZx81Lp"),
        ('{"value":"q7Gk2mZx81Lp","name":"api_token"}', "q7Gk2mZx81Lp"),
        ("openssl pkcs12 -in a -passin pass:q7Gk2mZx81Lp", "q7Gk2mZx81Lp"),
        ('psk="horse battery staple seven"', "horse battery"),
        (r'"a\npassword=C0rrect-H0rse"', "C0rrect-H0rse"),
        (r'"a\n\ttoken: \"aB3dE5fG7hJ9kL1m\""', "aB3dE5fG7hJ9kL1m"),
        ('"api_token": "summer-2024a-house"', "summer-2024a-house"),
        (r'PASSWORD=\"ab\\"cdX9f7Gk2\" z', "cdX9f7Gk2"),
        (f'{{"keys_b64":["{"q7Gk2mZx81" * 4}Aa"]}}', "q7Gk2mZx81"),
        ('variable "db_password" {\n  default = "q7Gk2mZx81Lp"\n}', "q7Gk2mZx81Lp"),
        ("API_TOKEN=8003c7bf-4f5c-64f9-8003-c7bf4f5c64f9", "8003c7bf"),
        ("API_TOKEN=a1b2-c3d4-e5f6-a7b8", "a1b2"),
        ("API_TOKEN=" + "q7Gk2mZx81" * 60, "q7Gk2mZx81"),
    ],
)
def test_what_is_told_by_its_file_or_its_command_goes(text: str, secret: str) -> None:
    redacted = Redactor().redact(text).text
    assert secret not in redacted
    assert count_redacted(redacted) == 1


def test_the_full_stop_behind_a_secret_stays() -> None:
    text = Redactor().redact("password: q7Gk2mZx81Lp.").text
    assert text.startswith("password: [REDACTED:")
    assert text.endswith("].")


@pytest.mark.parametrize(
    "line",
    [
        "sudo docker exec db mysql -u root -p§ shop",
        'mysql -u root -p"§" shop',
        "docker login --password=§ registry.io",
        "curl --cookie=sid=§ https://example.com",
        "/usr/bin/zip -P § x.zip f",
        "cargo login § && ls",
        "npx wrangler secret put X <<< §",
        "aws configure set aws_secret_access_key § ; docker login -p § x",
    ],
)
def test_a_secret_in_a_command_line_goes(line: str) -> None:
    assert "q7Gk2mZx81LpQ9vT" not in Redactor().redact(line.replace("§", "q7Gk2mZx81LpQ9vT")).text


@pytest.mark.parametrize(
    "line",
    [
        "docker run -p 8080:80 nginx",
        "docker login -u bob -p $TOKEN",
        "docker login -u bob -p",
        "mysql -u root -p shop",
        "mysql -p -u root",
        "mkdir -p archive2024 && cp -p a1b2c3d4 b",
        "unzip x.zip; my-zip -P archive2024x y",
        "sessionId=8003c7bf-4f5c-64f9-8003-c7bf4f5c64f9",
        "echo done2024x | tee log",
        "a sudo docker kubectl helm gh login -p a",
        "wpa_passphrase home",
        "ngrok http 8080",
        'options=("--password", "--access-token")',
    ],
)
def test_a_command_line_without_a_secret_stays(line: str) -> None:
    assert Redactor().redact(line).text == line


def test_credentials_that_begin_in_one_another_go_as_one() -> None:
    run = "glpat-" + "a1B2c3D4e5-" * 3
    assert Redactor().redact(f"a {run}{run} b").text.count("[REDACTED") == 1
    assert count_redacted(Redactor().redact("sk-ant-" * 50).text) == 1


def test_the_end_of_a_key_without_a_key_stays() -> None:
    assert Redactor().redact("-----END RSA PRIVATE KEY-----").count == 0


def test_a_key_whose_first_lines_are_missing_goes_and_nothing_before_it() -> None:
    before = f"{'A' * 28}\nA sentence of more than forty-eight characters stands in between.\n"
    redacted = Redactor().redact(f"{before}{'B' * 30}\n-----END RSA PRIVATE KEY-----").text
    assert redacted.startswith(before)
    assert "B" * 30 not in redacted


@pytest.mark.parametrize(
    "text",
    [
        "machine\nlogin bob\naccount a",
        "kind: Secret\nmetadata:\n  name: database-login\n  namespace: production2\n",
        "kind: Secret\ndata:\n  tls.crt: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t\n",
        "kind: Secret\nstringData:\n  host: db.internal\n  user: application\n",
        "kind: ConfigMap\ndata:\n  mode: production\n  level: informal\n---\nkind: Secret\n",
        "apiVersion: v1\ndata:\n  database: postgres\nmetadata:\n  name: a\nkind: ConfigMap",
        'variable "db_password" {\n  type = string\n  sensitive = true\n}',
        'variable "region" {\n  default = "eu-central-1"\n}',
        '{"value":"eu-central-1","name":"region"}',
        "secret_id = var.secret_id",
        "requirepass is not set; masterauth <password>",
        "ldapsearch -x -W -b dc=x; openssl enc -k $KEY -in f; net use Z: \\\\srv\\share /delete",
        "snmp-server community public RO",
        "jdbc:oracle:thin:@db:1521/ORCL",
        "Private-Lines: 1 is what PuTTY writes",
        "recovery key 1 of 5 was entered",
        "password: int=5",
        "db.internal:5432:shop:reader:wonderland",
        '"auth_token": "production-cluster"',
        "password = account.field2",
        "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/q7Gk2mZx81LpQ9vT",
        "<password>q7Gk2mZx81Lp",
        "cookie: a=b; theme=dark-mode-always",
        "API_TOKEN=2026-11-22T10:15:00Z",
    ],
)
def test_what_only_speaks_of_files_and_commands_stays(text: str) -> None:
    assert Redactor().redact(text).text == text


@pytest.mark.parametrize(
    "word",
    [
        "machine a login b password ", "machine a ", "&sig=", "unseal key 1: ", "secret_id ",
        "requirepass ", "auth-pass a ", "setuser ", "ldapsearch -w", "openssl -k ", "-pass pass:",
        "net use Z: \\\\a /user:b ", "community ", "jdbc:oracle:thin:a/", "sqlplus a/b",
        "dockerconfigjson: |\n", "Private-Lines: 1\nabcd\n", "keys_b64: [", 'variable "a" {',
        'value="abcdefgh",name', "kind: secret\ndata:\n", "db:5432:a:b:\\:", "psk=", "1→", "\\n",
        "cookie=", "cookie: a=", "password=",
    ],
)  # fmt: skip
def test_many_words_that_may_tell_a_secret_are_read_in_one_pass(word: str) -> None:
    redactor = Redactor()
    text = (word * (250_000 // len(word) + 1))[:250_000]
    assert len(redactor.redact(text).text) > 1


@pytest.mark.parametrize("word", ["cookie=", "cookie: a=", "set-cookie: sid=x; ", 'cookie="'])
def test_no_text_is_looked_through_for_cookies_twice(word: str) -> None:
    """Two thousand characters behind each word would be looked through hundreds of times."""
    text = word * 1000
    runs = list(_cookie_runs(text, text))
    assert sum(end - begin for begin, end, _ in runs) <= len(text)
    assert sum(len(firsts) for _, _, firsts in runs) == 1000


@pytest.mark.parametrize(
    "text",
    [
        "cookie:sid=q7Gk2mZx81LpQ9vT",
        "cookie: a cookie:sid=q7Gk2mZx81LpQ9vT",
        "cookie: " + "a=b; " * 395 + "cookie: c=d; sid=q7Gk2mZx81LpQ9vT",
        "cookie: theme=dark; cookie='sid=q7Gk2mZx81LpQ9vT'",
    ],
)
def test_a_cookie_behind_another_word_for_it_goes(text: str) -> None:
    assert "q7Gk2mZx81LpQ9vT" not in Redactor().redact(text).text
