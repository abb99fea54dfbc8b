"""opencode's permissions in a mode of cockpit's: no settings of a repository make them wider.

The first half runs the plugin's own code in node. The second half asks the real opencode, where it
is installed, and lets a simulated model call tools.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from cockpit.adapters.agents.opencode import permission_modes
from cockpit.adapters.agents.opencode.runtime import Opencode
from cockpit.core.ids import AgentName, SessionId
from cockpit.demo.conversation import Reply, Request, TokenCount, ToolCall
from cockpit.demo.model import ModelServer
from cockpit.ports.runtimes import Program, SessionOrder
from tests.long_cases import cases

NODE = shutil.which("node")
RUN = Path(__file__).with_name("opencode_permissions.mjs")
PART = Path(permission_modes.__file__).with_name("cockpit-permissions.js")
MODULES = Path(__file__).parents[3] / ".venv" / "npm" / "node_modules"
INSTALLED = next(MODULES.glob("opencode-*/bin/opencode"), None)
OPENCODE = shutil.which("opencode") or (str(INSTALLED) if INSTALLED else None)
AGENTS = ("build", "plan", "general", "explore", "theirs")
EVERYTHING = {
    "b*": "allow",
    "bash": {"*": "allow"},
    "edit": "allow",
    "mcp_*": "allow",
    "*": "allow",
}
HOSTILE = {
    "permission": EVERYTHING,
    "default_agent": "theirs",
    "agent": {name: {"permission": EVERYTHING} for name in AGENTS},
}
PLAIN = "**"
"""Stands for an action without patterns."""
COMMANDS = ("bash", "webfetch", "websearch", "mcp_tool", "external_directory", "doom_loop")


def rules_of(permission: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    found = []
    for name, given in permission.items():
        patterns = {PLAIN: given} if isinstance(given, str) else given
        found += [(name, pattern, action) for pattern, action in patterns.items()]
    return found


def action(rules: Sequence[tuple[str, str, str]], name: str, about: str = "x") -> str:
    """What opencode does: the last rule that matches counts."""

    def matches(text: str, pattern: str) -> bool:
        expression = re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")
        return re.fullmatch(expression, text, re.S) is not None

    found = [act for rule, path, act in rules if matches(name, rule) and matches(about, path)]
    return found[-1] if found else "ask"


OURS = ("cockpit_handoff_request", "cockpit_read_handoff")
SERVER = {"type": "local", "command": ["cockpit", "mcp"], "enabled": True}


def configured(
    settings: Mapping[str, Any], edit: str | None, tools: Sequence[str] = ()
) -> dict[str, Any]:
    """The settings that opencode works with."""
    if NODE is None:
        pytest.skip("node is not installed")
    mode = {"edit": edit} if edit else None
    offered = {"name": "cockpit", "server": SERVER, "tools": tools} if tools else None
    done = subprocess.run(
        [NODE, "--no-warnings", str(RUN), str(PART), json.dumps(mode), json.dumps(offered)],
        input=json.dumps(settings).encode(),
        stdout=subprocess.PIPE,
        check=True,
        timeout=60,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def enforced(
    settings: Mapping[str, Any], edit: str, tools: Sequence[str] = ()
) -> dict[str, list[tuple[str, str, str]]]:
    """The rules of each agent that counts last, by the agent's name."""
    config = configured(settings, edit, tools)
    found = {name: rules_of(agent["permission"]) for name, agent in config["agent"].items()}
    return {**found, "": rules_of(config["permission"])}


@pytest.mark.parametrize("settings", [{}, HOSTILE])
@pytest.mark.parametrize("edit", ["ask", "allow", "deny"])
def test_commands_and_tools_ask_whatever_a_repository_says(
    settings: Mapping[str, Any], edit: str
) -> None:
    found = enforced(settings, edit)
    assert {"build", "plan", "general", "explore"} <= found.keys()
    for agent, rules in found.items():
        assert "allow" not in {action(rules, name) for name in COMMANDS}, agent
    assert action(found["build"], "bash") == "ask"
    assert action(found["build"], "mcp_tool") == "ask"
    assert action(found["build"], "edit") == edit
    assert {action(found[name], "edit") for name in ("plan", "explore")} == {"deny"}
    assert action(found["build"], "read", "src/a.py") == "allow"
    assert action(found["build"], "read", "sub/.env") == "ask"


def test_opencode_takes_no_patterns_for_some_names() -> None:
    for settings in ({}, HOSTILE, {"permission": {"*": {"x": "ask"}}}):
        for rules in enforced(settings, "ask").values():
            for name in ("todowrite", "question", "webfetch", "websearch", "doom_loop"):
                assert [pattern for rule, pattern, _ in rules if rule == name] == [PLAIN]
    rules = enforced({"permission": {"*": {"x": "ask"}}}, "ask")["build"]
    assert (action(rules, "question"), action(rules, "todowrite")) == ("ask", "ask")


@pytest.mark.parametrize(
    "settings",
    cases(
        {"agent": {"build": {"permission": {"**": "allow", "ba?h": "allow", "*sh": "allow"}}}},
        long=[
            {"agent": {"build": {"permission": "allow"}}, "permission": "allow"},
            {"agent": {"build": {"permission": {"bash": {"**": "allow", "1": "allow"}}}}},
            {"agent": {"build": {"permission": {"bash": "anything"}}}},
            {"agent": {"build": None}},
        ],
    ),
)
def test_no_spelling_of_a_rule_is_wider(settings: Mapping[str, Any]) -> None:
    rules = enforced(settings, "ask")["build"]
    found = {action(rules, "bash", "1"), action(rules, "bash", "x"), action(rules, "edit")}
    assert found == {"ask"}


def test_what_the_settings_refuse_or_ask_about_stays() -> None:
    own = {
        "bash": {"*": "deny", "git status*": "allow"},
        "edit": {"*.lock": "ask", "secret/*": "deny"},
        "webfetch": "deny",
        "jira_*": "deny",
        "read": {"secret/*": "deny", "secret/open": "allow"},
    }
    rules = enforced({"permission": own}, "allow")["build"]
    told = {
        ("bash", "rm x"): "deny",
        ("bash", "git status -s"): "ask",
        ("edit", "a.py"): "allow",
        ("edit", "a.lock"): "ask",
        ("edit", "secret/a"): "deny",
        ("webfetch", "x"): "deny",
        ("jira_close", "x"): "deny",
        ("read", "a.py"): "allow",
        ("read", "secret/a"): "deny",
        ("read", "secret/open"): "ask",
    }
    assert {about: action(rules, *about) for about in told} == told
    theirs = {"permission": {"edit": "ask"}}
    found = enforced({"permission": {"edit": "allow"}, "agent": {"theirs": theirs}}, "allow")
    edits = [action(found[name], "edit") for name in ("build", "general", "theirs")]
    assert edits == ["allow", "allow", "ask"]


def test_the_tools_of_cockpit_are_allowed_and_no_tool_with_a_similar_name() -> None:
    for settings in ({}, {"permission": {"cockpit_*": "allow", OURS[0]: "allow"}}):
        rules = enforced(settings, "ask", OURS)["build"]
        found = [action(rules, name) for name in (*OURS, "cockpit_x", f"{OURS[0]}_x")]
        assert found == ["allow", "allow", "ask", "ask"]
    rules = enforced({"permission": {"cockpit_*": "deny"}}, "ask", OURS)["build"]
    assert {action(rules, name) for name in OURS} == {"deny"}


@pytest.mark.parametrize("name", cases("cockpit@handoff", long=["cockpit_handoff"]))
@pytest.mark.parametrize(
    "permission", cases({"cockpit_*": "allow"}, long=["allow", {"*": "allow"}, None])
)
def test_a_tool_that_another_servers_tool_can_pass_for_is_asked_about(
    name: str, permission: object
) -> None:
    env = {"PYTHONHOME": "/nonexistent"}
    servers = {"cockpit": {**SERVER, "environment": env}, name: {"type": "local"}}
    settings = {"mcp": servers, **({"permission": permission} if permission else {})}
    for edit in ("ask", None):
        config = configured(settings, edit, OURS)
        assert config["mcp"] == {"cockpit": SERVER, name: {"type": "local"}}
        permitted = (config["agent"]["build"] if edit else config)["permission"]
        assert action(rules_of(permitted), OURS[0]) == "ask"
    rules = enforced(settings, "ask", OURS)["build"]
    assert action(rules, OURS[1]) == "allow"


# The real opencode

FOREIGN_SERVER = """
import json, pathlib, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    if asked["method"] == "initialize":
        version = asked["params"]["protocolVersion"]
        result = {"protocolVersion": version, "capabilities": {"tools": {}},
                  "serverInfo": {"name": "x", "version": "1"}}
    elif asked["method"] == "tools/list":
        schema = {"type": "object", "properties": {}}
        result = {"tools": [{"name": "touch", "description": "x", "inputSchema": schema}]}
    elif asked["method"] == "tools/call":
        pathlib.Path(sys.argv[1]).touch()
        result = {"content": [{"type": "text", "text": "done"}]}
    else:
        result = {}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


class Repository:
    """A repository with settings of its own for opencode, and a model that calls tools."""

    def __init__(self, folder: Path) -> None:
        if OPENCODE is None:
            pytest.skip("opencode is not installed: make clis")
        self.program = Path(OPENCODE)
        self.home, self.work, self.state = folder / "home", folder / "work", folder / "state"
        self.by_command, self.by_server = self.work / "by-command", self.work / "by-server"
        self.work.mkdir()
        subprocess.run(["git", "init", "-q", str(self.work)], check=True)
        (folder / "server.py").write_text(FOREIGN_SERVER)
        command = [sys.executable, str(folder / "server.py"), str(self.by_server)]
        servers = {"mcp": {"type": "local", "command": command, "enabled": True}}
        (self.work / "opencode.json").write_text(json.dumps({**HOSTILE, "mcp": servers}))
        self.calls = [
            ToolCall("Bash", {"command": f"touch {self.by_command}"}),
            ToolCall("mcp_touch", {}),
        ]
        self.model = ModelServer(self._answer)

    def _answer(self, request: Request) -> Reply:
        tokens = TokenCount(cache_read=1000)
        if not request.has_tools:
            return Reply("A title", tokens=tokens)
        left = self.calls[len(request.calls_made) :]
        return Reply(tool_calls=tuple(left[:1]), tokens=tokens) if left else Reply("Done.")

    def run(self, mode: str) -> str:
        provider = {
            "npm": "@ai-sdk/anthropic",
            "options": {"baseURL": f"{self.model.url}/v1", "apiKey": "made up"},
            "models": {"large": {}},
        }
        settings = {"model": "lab/large", "small_model": "lab/large", "provider": {"lab": provider}}
        own = self.home / ".config" / "opencode"
        own.mkdir(parents=True, exist_ok=True)
        (own / "opencode.json").write_text(json.dumps(settings))
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "npm_config_registry": "http://127.0.0.1:9",
            "npm_config_fetch_retries": "0",
            "http_proxy": "http://127.0.0.1:9",
            "https_proxy": "http://127.0.0.1:9",
            "no_proxy": "127.0.0.1,localhost",
        }
        order = SessionOrder(
            AgentName("api"), SessionId("x"), "run", self.work, permission_mode=mode,
            environment=environment,
        )  # fmt: skip
        launch = Opencode(self.state).launch(order, Program(self.program, "1"))
        done = subprocess.run(
            [launch.argv[0], "run", *launch.argv[1:], "Go on."],
            cwd=self.work,
            env=dict(launch.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=300,
        )
        return done.stdout.decode()

    def done(self) -> list[str]:
        return [path.name for path in (self.by_command, self.by_server) if path.exists()]


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Repository]:
    made = Repository(tmp_path)
    with made.model:
        yield made


@pytest.mark.parametrize(
    ("mode", "call", "asked"),
    [("default", 0, "bash"), ("plan", 0, "bash"), ("acceptEdits", 1, "mcp_touch")],
)
def test_opencode_asks_where_a_repository_allows_everything(
    repository: Repository, mode: str, call: int, asked: str
) -> None:
    """`opencode run` refuses what it would ask about."""
    repository.calls = repository.calls[call : call + 1]
    assert f"permission requested: {asked} " in repository.run(mode)
    assert repository.done() == []


def test_without_a_mode_the_settings_count(repository: Repository) -> None:
    repository.run("")
    assert repository.done() == ["by-command", "by-server"]
