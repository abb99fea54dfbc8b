"""Where secrets stand in what agents read and write: in files, source, commands, logs, documents.

Written from how such text looks, before the rules were. Each context renders a name and a value as
its language would, quoting included, and says how the value is spelled there. Every second one is
held out: `HELD_OUT` was not looked at while the rules were made.
"""

from __future__ import annotations

import base64
import html
import json
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

Spelled = tuple[str, str]
"""The text, and the secret as it is spelled in it."""


@dataclass(frozen=True)
class Context:
    name: str
    render: Callable[[str, str], Spelled]
    """(name in capitals, value) -> the text and the value as it is spelled there."""


NAMED: list[Context] = []
"""A name with a value."""
WRAPPING: list[tuple[str, Callable[[str], str]]] = []
"""What stands around a line that may hold a secret."""


def _named(name: str) -> Callable[[Callable[[str, str], Spelled]], None]:
    def note(render: Callable[[str, str], Spelled]) -> None:
        NAMED.append(Context(name, render))

    return note


def _plain(name: str, template: str, how: Callable[[str], str] = str) -> None:
    """A context that is one template: NAME, snake, kebab, camel, Pascal, dotted, value."""

    def render(key: str, value: str) -> Spelled:
        spelled = how(value)
        return fill(template, key, spelled), spelled

    NAMED.append(Context(name, render))


def fill(template: str, key: str, spelled: str) -> str:
    words = [word for word in key.lower().split("_") if word]
    pascal = "".join(word.capitalize() for word in words)
    forms = {
        "NAME": key,
        "snake": "_".join(words),
        "kebab": "-".join(words),
        "dotted": ".".join(words),
        "Pascal": pascal,
        "camel": pascal[:1].lower() + pascal[1:],
        "Header": "-".join(word.capitalize() for word in words),
        "v": spelled,
    }
    return re.sub(r"‹(\w+)›", lambda found: forms[found[1]], template)


def in_double(value: str) -> str:
    """As between double quotes of JSON, Python, JavaScript, Go, Rust, Java."""
    return json.dumps(value, ensure_ascii=False)[1:-1]


def in_single(value: str) -> str:
    """As between single quotes of Python, JavaScript, Ruby, PHP."""
    return value.replace("\\", "\\\\").replace("'", "\\'")


def in_env(value: str) -> str:
    """As an env file has it: bare where it can be, else in double quotes."""
    return value if re.fullmatch(r"[^\s'\"\\#$`]+", value) else f'"{in_double(value)}"'


def in_shell(value: str) -> str:
    return shlex.quote(value)


def in_yaml(value: str) -> str:
    simple = re.fullmatch(r"[A-Za-z0-9_./+=~-]+", value)
    return value if simple else "'" + value.replace("'", "''") + "'"


def in_shell_double(value: str) -> str:
    return re.sub(r'([\\"$`])', r"\\\1", value)


_plain("env file", "‹NAME›=‹v›", in_env)
_plain("env file among others", "PORT=8080\n‹NAME›=‹v›\nDEBUG=false\n", in_env)
_plain("export", "export ‹NAME›=‹v›", in_shell)
_plain("export double", 'export ‹NAME›="‹v›"', in_shell_double)
_plain("before a command", "‹NAME›=‹v› npm publish --access public", in_shell)
_plain("printenv", "HOME=/home/app\n‹NAME›=‹v›\nLANG=C.UTF-8")
_plain("json", '{"‹snake›": "‹v›", "port": 5432}', in_double)
_plain("json camel", '  "‹camel›": "‹v›",', in_double)
_plain("yaml", "  ‹snake›: ‹v›", in_yaml)
_plain("yaml quoted", '    ‹camel›: "‹v›"', in_double)
_plain("compose map", "    environment:\n      ‹NAME›: ‹v›\n      TZ: UTC", in_yaml)
_plain("compose list", "    environment:\n      - ‹NAME›=‹v›\n      - TZ=UTC")
_plain("kubernetes env", "        - name: ‹NAME›\n          value: ‹v›", in_yaml)
_plain("kubernetes secret", "stringData:\n  ‹kebab›: ‹v›\n", in_yaml)
_plain("toml", '‹snake› = "‹v›"', in_double)
_plain("ini", "[production]\n‹snake› = ‹v›\nhost = db")
_plain("properties", "app.‹dotted›=‹v›")
_plain("terraform", '  ‹snake›       = "‹v›"', in_double)
_plain("python", '‹NAME› = "‹v›"', in_double)
_plain("python keyword", "client = Client(‹snake›='‹v›', timeout=3)", in_single)
_plain("python dict", "{'host': 'db', '‹snake›': '‹v›', 'port': 5432}", in_single)
_plain("python environ", 'os.environ["‹NAME›"] = "‹v›"', in_double)
_plain("python annotated", 'class Settings:\n    ‹snake›: str = "‹v›"', in_double)
_plain("python getenv", 'key = os.getenv("‹NAME›", "‹v›")', in_double)
_plain("javascript", "const ‹camel› = '‹v›';", in_single)
_plain("javascript object", "  ‹camel›: '‹v›',", in_single)
_plain("javascript env", "process.env.‹NAME› = '‹v›'", in_single)
_plain("javascript default", 'const k = process.env.‹NAME› || "‹v›";', in_double)
_plain("typescript", 'private readonly ‹camel›: string = "‹v›";', in_double)
_plain("go", '‹camel› := "‹v›"', in_double)
_plain("go struct", '\tcfg := Config{‹Pascal›: "‹v›"}', in_double)
_plain("rust", 'const ‹NAME›: &str = "‹v›";', in_double)
_plain("java", 'private static final String ‹NAME› = "‹v›";', in_double)
_plain("c sharp", 'options.‹Pascal› = "‹v›";', in_double)
_plain("php", "define('‹NAME›', '‹v›');", in_single)
_plain("php array", "    '‹snake›' => '‹v›',", in_single)
_plain("ruby", "ENV['‹NAME›'] = '‹v›'", in_single)
_plain("ruby symbol", "  ‹snake›: '‹v›',", in_single)
_plain("shell variable", "‹snake›='‹v›'", lambda value: value.replace("'", "'\\''"))
_plain("shell default", ': "${‹NAME›:=‹v›}"', in_shell_double)
_plain("fish", "set -gx ‹NAME› ‹v›", in_shell)
_plain("csh", "setenv ‹NAME› ‹v›", in_shell)
_plain("powershell", "$env:‹NAME› = '‹v›'", lambda value: value.replace("'", "''"))
_plain("cmd", "set ‹NAME›=‹v›")
_plain("makefile", "‹NAME› := ‹v›", lambda value: value.replace("$", "$$"))
_plain("dockerfile", "ENV ‹NAME›=‹v›", in_env)
_plain("dockerfile old", "ENV ‹NAME› ‹v›")
_plain("docker run", "docker run --rm -e ‹NAME›=‹v› app:latest", in_shell)
_plain("build argument", "docker build --build-arg ‹NAME›=‹v› .", in_shell)
_plain("flag", "deploy --region eu --‹kebab› ‹v› --yes", in_shell)
_plain("flag equals", "deploy --‹kebab›=‹v› --yes", in_shell)
_plain("helm set", "helm upgrade app ./chart --set auth.‹camel›=‹v›", in_shell)
_plain("terraform variable", "terraform apply -var '‹snake›=‹v›'")
_plain("kubectl literal", "kubectl create secret generic s --from-literal=‹kebab›=‹v›", in_shell)
_plain("gh secret", "gh secret set ‹NAME› --body ‹v›", in_shell)
_plain("systemd", 'Environment="‹NAME›=‹v›"', in_double)
_plain("xml element", "  <‹camel›>‹v›</‹camel›>", html.escape)
_plain("xml attribute", '<property name="app.‹dotted›" value="‹v›"/>', html.escape)
_plain("nuget", '<add key="‹Pascal›" value="‹v›" />', html.escape)
_plain("connection string", "Server=db;User Id=sa;‹Pascal›=‹v›;Encrypt=true", lambda v: quote(v))
_plain(
    "query", "GET /v1/items?page=2&‹snake›=‹v>".replace("‹v>", "‹v›"), lambda v: quote(v, safe="")
)
_plain("form body", "grant_type=password&‹snake›=‹v›&scope=all", lambda v: quote(v, safe=""))
_plain("header", "X-‹Header›: ‹v›")
_plain("curl header", "curl -s -H 'X-‹Header›: ‹v›' https://api.example.com/v1")
_plain("log line", "2026-03-01T12:00:01.123Z INFO  config loaded ‹snake›=‹v› retries=3")
_plain("log json", '{"level":"info","msg":"connecting","‹camel›":"‹v›"}', in_double)
_plain("log colon", "[12:00:01] DEBUG ‹snake›: ‹v›")
_plain("numbered", "     7→‹NAME›=‹v›")
_plain("numbered python", "    12→    ‹snake› = '‹v›'", in_single)
_plain("cat -n", "    12\t‹NAME›=‹v›")
_plain("grep", "config/prod.env:42:‹NAME›=‹v›")
_plain("ripgrep", '42:  "‹camel›": "‹v›",', in_double)
_plain("diff added", "@@ -1,2 +1,3 @@\n PORT=1\n+‹NAME›=‹v›\n")
_plain("diff removed json", '-    "‹snake›": "‹v›",', in_double)
_plain("markdown list", "- ‹NAME›: ‹v›")
_plain("markdown bold", "**‹Pascal›**: ‹v›")
_plain("markdown code", "- `‹NAME›`: `‹v›`")
_plain("markdown assignment in code", "Set `‹NAME›=‹v›` before the tests.")
_plain("markdown table", "| ‹NAME› | ‹v› | production |")
_plain("markdown table code", "| `‹snake›` | `‹v›` |")
_plain("box table", "│ ‹NAME› │ ‹v› │")
_plain("quoted mail", "> ‹NAME›=‹v›")
_plain("colon and new line", "‹NAME›:\n  ‹v›\n")
_plain("colon and code block", "‹NAME›:\n\n```\n‹v›\n```\n")
_plain("prose", "The ‹NAME› is `‹v›`, use it for staging.")
_plain("prose equals", "I set ‹NAME› to ‹v› and ran the tests.")
_plain(
    "escaped json", '{"content": "{\\"‹snake›\\": \\"‹v›\\"}"}', lambda v: in_double(in_double(v))
)
_plain("transcript", '{"type":"user","text":"export ‹NAME›=‹v›\\nmake test\\n"}', in_double)
_plain("tool call", '{"command":"‹NAME›=\'‹v›\' npm test"}', in_double)
_plain("python string of lines", 'print("‹NAME›=‹v›\\n")', in_double)
_plain("bytes", "‹NAME› = b'‹v›'", in_single)
_plain("aligned", "‹NAME›:              ‹v›")
_plain("aws configure", "‹NAME› [None]: ‹v›")
_plain("commented out", "# ‹NAME›=‹v›")
_plain("comment in code", "// ‹camel›: '‹v›',", in_single)
_plain("compare", 'if (req.body.‹camel› === "‹v›") {', in_double)
_plain("setter", 'config.set("‹dotted›", "‹v›")', in_double)
_plain("storage", "localStorage.setItem('‹camel›', '‹v›')", in_single)
_plain("colour", "\x1b[36m‹NAME›\x1b[0m=\x1b[33m‹v›\x1b[0m")
_plain("tuple", '("‹NAME›", "‹v›"),', in_double)


@_named("base64 of an env file")
def _base64(key: str, value: str) -> Spelled:
    line = base64.b64encode(value.encode()).decode()
    return f"data:\n  {key.lower()}: {line}\n", line


def _wrap(name: str, template: str, how: Callable[[str], str] = str) -> None:
    WRAPPING.append((name, lambda line: template.replace("‹line›", how(line))))


_wrap("alone", "‹line›")
_wrap("read tool", "     1→# notes\n     2→‹line›\n     3→")
_wrap("prose", "I found this in the logs: ‹line›\nThen I went on.")
_wrap("backticks", "The file has `‹line›` in it.")
_wrap("diff", "+‹line›")
_wrap("diff removed", "-‹line›")
_wrap("quote", "> ‹line›")
_wrap("list", "- ‹line›")
_wrap("code block", "```sh\n‹line›\n```")
_wrap("double quoted", 'x = "‹line›"', in_double)
_wrap("single quoted", "x = '‹line›'", in_single)
_wrap("json string", '{"text":"a\\n‹line›\\nb"}', in_double)
_wrap(
    "json in json", '{"text":"{\\"text\\":\\"‹line›\\"}"}', lambda line: in_double(in_double(line))
)
_wrap("table", "| 3 | ‹line› | ok |")
_wrap("box", "│ ‹line› │")
_wrap("comment", "# ‹line›")
_wrap("log", "2026-03-01 12:00:01,123 [main] ERROR request failed: ‹line›")
_wrap("grep", "notes/setup.md:17:‹line›")
_wrap("indented", "        ‹line›,")
_wrap("parentheses", "(‹line›)")
_wrap("shell echo", "$ echo '‹line›' >> ~/.profile")
_wrap("colour", "\x1b[32m‹line›\x1b[0m")
_wrap("windows", "first\r\n‹line›\r\nlast\r\n")
_wrap("html", "<li><code>‹line›</code></li>")


def design(contexts: list) -> list:  # type: ignore[type-arg]
    return contexts[::2]


def held_out(contexts: list) -> list:  # type: ignore[type-arg]
    return contexts[1::2]
