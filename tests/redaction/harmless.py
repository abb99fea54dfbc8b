# ruff: noqa: E501, SIM905
"""What must stay: real source, documents and lock files, and lines that speak about secrets."""

from __future__ import annotations

import base64
import random
import sysconfig
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIBRARIES = ("apprise", "jwt", "mcp", "requests", "oauthlib", "requests_oauthlib", "click",
             "starlette", "uvicorn", "aiohttp", "cryptography", "claude_agent_sdk", "pip")  # fmt: skip
"""Installed packages whose source speaks of tokens and passwords more than most."""
STANDARD = ("getpass.py", "netrc.py", "smtplib.py", "secrets.py", "token.py", "tokenize.py", "ftplib.py",
            "hmac.py", "imaplib.py", "urllib/request.py", "http/cookies.py", "http/client.py",
            "configparser.py", "uuid.py", "ssl.py", "argparse.py", "dataclasses.py")  # fmt: skip

SPOKEN = tuple(
    line
    for line in r"""
commit 017f79aa70a6490c21d446741f290ede451d40012
session 8003c7bf-4f5c-64f9-8003-c7bf4f5c64f9
session_id: 8003c7bf-4f5c-64f9-8003-c7bf4f5c64f9
"sessionId": "8003c7bf-4f5c-64f9-8003-c7bf4f5c64f9",
sha256:982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1
"integrity": "sha512-+gbBHbuLVy0PAOOKUC+Co3sIYPQZ1ZhtGWWyCQvIYcLyMJG9l0Kqc3vxLQ5z1QmAMbJ2dkTkMbaIFxXvkG4LXA==",
max_tokens: 128000, tokens = 142000, token_count=17
"usage": {"input_tokens": 142000, "cache_read_input_tokens": 98000, "output_tokens": 512}
password = get_password(user)
password: Optional[str] = None
password: str = Field(min_length=8)
api_key = os.environ["ANTHROPIC_API_KEY"]
const token = process.env.GITHUB_TOKEN;
token: ${{ secrets.GITHUB_TOKEN }}
password: {{ .Values.postgres.password }}
token = self.tokenizer.next_token
encoded_credentials = base64.b64encode(raw)
PASSWORD=$DB_PASSWORD PASSWORD=${DB_PASSWORD} PASSWORD=<your password>
POSTGRES_PASSWORD: ${POSTGRES_PASSWORD:?set it}
ANTHROPIC_API_KEY=<your-key>
OPENAI_API_KEY=sk-...
export GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
DB_PASSWORD=%(password)s
API_KEY=%API_KEY%
token = "{{ secret }}"
secret: /run/secrets/db_password_1
the secret: everybody-knows it; the key: readme
https://user:password@example.com and https://example.com:8080/a@b
postgres://${USER}:${PASSWORD}@db/app
postgresql://{user}:{password}@{host}:{port}/{database}
redis://:<password>@localhost:6379/0
https://github.com/owner/repository/commit/017f79aa70a6490c21d446741f290ede451d4001
key = sk-ant-... and ghp_xxx and AKIA and hf_token
sk-learn-is-not-a-key-of-anything-at-all-really
Bearer authentication is described in the handbook
Authorization: Bearer ${TOKEN}
Authorization: Bearer <token>
curl -H "Authorization: Bearer $TOKEN" https://api.example.com/v1/items
curl -u "$USER:$PASSWORD" https://example.com
src/auth/secret_shapes.py:120: def _token(kind)
-----BEGIN CERTIFICATE-----
-----BEGIN PUBLIC KEY-----
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJfX8uMK7gTnQhYr2cZ0mJ0Qv5L1b7yq8wZrD3pS4xEo user@host
git@github.com:owner/repository.git
key='keyboard.shortcut.open' primary_key: user_id_12345
primary_key = "a8f3c91b27d64e50"
cache_key: "user:1234:profile:v2"
sort_key = "2026-11-22T10:15:00Z#a8f3"
idempotency_key: 8003c7bf-4f5c-64f9-8003-c7bf4f5c64f9
public_key: "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE8x"
eyJ is how base64 of JSON begins
#(touch x) `x` {{ 7 * 7 }} [b]bold[/b]
PWD=/home/user/projects/app
OLDPWD=/home/user
SSH_AUTH_SOCK=/tmp/ssh-XXXXXXabc123/agent.4711
GPG_KEY=A035C8C19219BA821ECEA86B64E628F8D684696D
GOOGLE_APPLICATION_CREDENTIALS=/etc/keys/service-account-1.json
<input type="password" name="password" autocomplete="current-password">
<label for="password">Password</label>
"password": "Your password must have at least 12 characters",
passwordPlaceholder: "Enter your password",
throw new Error("token expired at 2026-11-22T10:15:00Z")
error: invalid_token, error_description: "The access token expired"
grant_type=password&scope=openid
token_type: "Bearer", expires_in: 3600
password_hash = hash_password(form.password)
if token.type == "IDENTIFIER_2":
assert response.json()["token"] == expected_token
def authenticate(username: str, password: str) -> Token:
self.api_key = api_key or settings.api_key
The token budget is 200k; the key insight: secrets belong in files.
| password | string | required | The user's password |
| `api_key` | `str` | The key of your account |
--password-file /run/secrets/db --token-ttl 3600 --api-key-name primary
--password PASSWORD  the password of the database
docker run -e POSTGRES_PASSWORD -e TOKEN="$TOKEN" app
password: ********
Password: 
Enter password:
token=$(cat /run/secrets/token)
secret_name: "prod-db-credentials"
secretKeyRef: {name: app-secrets, key: db-password}
valueFrom:
aws_secretsmanager_secret.db.arn
arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbCdEf
"@types/jsonwebtoken": "^9.0.5",
jsonwebtoken@9.0.2
next_page_token: "CAUQAA"
nextToken = response.get("NextToken")
KEY_LENGTH = 2048; TOKEN_PREFIX = "tok_"
author = "A Person 2026"; authority = "login.example.org/v2.0"
keyframes: slideIn-2 0.3s
"key": "ctrl+shift+p", "command": "editor.action.quickFix2"
translation_key = "errors.password.too_short_8"
test_password_reset_sends_mail_1 PASSED
password123 is a bad password
machine-readable output with login shells and password prompts
net use shows what is connected; requirepass is not set
snmp-server community public RO
vault write auth/approle/login role_id="$ROLE_ID" secret_id="$SECRET_ID"
variable "db_password" { type = string, sensitive = true }
openssl pkcs12 -export -passout env:PASS -out x.p12
ldapsearch -x -W -D cn=admin -b dc=example
your secret is safe with us
[REDACTED:github:a1b2] was taken out of token = [REDACTED:assigned:c3d4]
""".splitlines()
    if line
)


def harmless_lines() -> Iterator[tuple[str, str]]:
    """(where it is from, a text), each text once; nothing in them is a secret."""
    seen: set[str] = set()
    for file, line in _all_lines():
        if line not in seen:
            seen.add(line)
            yield file, line


def _all_lines() -> Iterator[tuple[str, str]]:
    for line in SPOKEN:
        yield "spoken", line
    for pattern in ("cockpit/**/*.py", "cockpit/**/*.md", "*.md", "*.lock", "*.toml", "*.example"):
        for file in sorted(ROOT.glob(pattern)):
            if "secret_kinds" not in file.name:
                yield from _lines(file)
    paths = sysconfig.get_paths()
    for name in LIBRARIES:
        for file in sorted(Path(paths["purelib"], name).rglob("*.py")):
            if "certifi" not in str(file):
                yield from _lines(file)
    for name in STANDARD:
        yield from _lines(Path(paths["stdlib"], name))
    yield from made_lines(random.Random(10))


def _lines(file: Path) -> Iterator[tuple[str, str]]:
    for line in file.read_text("utf-8", "replace").splitlines():
        if line.strip():
            yield str(file), line


def made_lines(dice: random.Random) -> Iterator[tuple[str, str]]:
    """What tools write by the thousand: hashes, ids, paths, lock files, pictures."""
    words = "api auth token session user cache store build worker index handler".split()

    def drawn(count: int) -> str:
        return dice.randbytes((count + 1) // 2).hex()[:count]

    def uuid() -> str:
        return f"{drawn(8)}-{drawn(4)}-4{drawn(3)}-8{drawn(3)}-{drawn(12)}"

    for _ in range(400):
        word, other = dice.choice(words), dice.choice(words)
        coded = base64.b64encode(dice.randbytes(64)).decode()
        yield from (
            ("made", line)
            for line in (
                f"{drawn(40)} refs/heads/{word}-{dice.randint(1, 99)}",
                f"* {drawn(7)} Fix the {word} of the {other}",
                f"index {drawn(7)}..{drawn(7)} 100644",
                f'  "resolved": "https://registry.example.org/{word}/-/{word}-1.{dice.randint(0, 9)}.0.tgz",',
                f'  "integrity": "sha512-{coded}",',
                f"{word}=={dice.randint(0, 9)}.1 --hash=sha256:{drawn(64)}",
                f"request_id={uuid()} user={dice.randint(1, 9999)} took=12ms",
                f'{{"uuid":"{uuid()}","parentUuid":"{uuid()}","isSidechain":false}}',
                f"/home/user/projects/{word}/src/{other}_{dice.randint(1, 99)}.py:{dice.randint(1, 900)}:12",
                f"data:image/png;base64,iVBORw0KGgo{coded}",
                f'checksum = "{drawn(64)}"',
                f'etag: W/"{drawn(32)}"',
                f"sha256 digest {drawn(64)} of {word}.tar.gz",
                f"tests/{word}/test_{other}.py::test_{word}_{dice.randint(1, 99)} PASSED [ 12%]",
                f"pid {dice.randint(1000, 99999)} pane %{dice.randint(0, 99)} {word}-{other}-{drawn(6)}",
                f"toolu_01{coded[:22].replace('/', 'x').replace('+', 'y')} msg_01{drawn(24)}",
                f"{coded}",
                f"image: registry.example.org/{word}@sha256:{drawn(64)}",
                f'<div class="{word}-{other} css-{drawn(6)}" data-key="{word}-{dice.randint(1, 99)}">',
                f"0x{drawn(8)} <{word}_{other}+{dice.randint(1, 400)}>:  mov %rax,%rbx",
            )
        )
