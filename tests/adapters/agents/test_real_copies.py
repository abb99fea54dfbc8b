"""Copies of a session by the real CLIs: they answer, and nothing of the repository is started."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from cockpit.adapters.agents import runtime
from cockpit.core.ids import AgentName, SessionId
from cockpit.demo.conversation import Reply, Request, TokenCount
from cockpit.demo.model import ModelServer
from cockpit.ports.runtimes import Program, SessionOrder

MODULES = Path(__file__).parents[3] / ".venv" / "npm" / "node_modules"
PLACES = {
    "codex": ".bin/codex",
    "gemini": ".bin/gemini",
    "opencode": "opencode-*/bin/opencode",
    "copilot": "@github/copilot-*/copilot",
}
IDENT = "39a57f58-31ec-487f-a96f-1d42382d2ffb"
WORD = "remember the word BANANA"


def answer(request: Request) -> Reply:
    return Reply("# The document", tokens=TokenCount(cache_read=1000))


class Session:
    """A session of a real CLI in a repository that then gets settings which start programs."""

    def __init__(self, folder: Path, name: str, model: ModelServer) -> None:
        found = shutil.which(name) or next(map(str, MODULES.glob(PLACES[name])), None)
        if found is None:
            pytest.skip(f"{name} is not installed: make clis")
        self.name, self.program, self.model = name, Path(found).resolve(), model
        self.home, self.work, self.state = folder / "home", folder / "work", folder / "state"
        self.started = folder / "started"
        for each in (self.home, self.work):
            each.mkdir()
        subprocess.run(["git", "init", "-q", str(self.work)], check=True)
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.home)}
        self.ident = SessionId(getattr(self, f"_begin_{name}")())
        getattr(self, f"_hostile_{name}")()

    def _run(self, *words: str) -> str:
        done = subprocess.run(
            [str(self.program), *words],
            cwd=self.work,
            env={**self.environment, "PWD": str(self.work)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            timeout=300,
            check=True,
        )
        return done.stdout.decode()

    def _write(self, path: Path, content: object) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))

    def _begin_codex(self) -> str:
        self.environment |= {"CODEX_HOME": str(self.home), "LAB_KEY": "made up"}
        self._write(
            self.home / "config.toml",
            "model = 'lab'\nmodel_provider = 'lab'\ncheck_for_update_on_startup = false\n"
            f"[projects.{json.dumps(str(self.work))}]\ntrust_level = 'trusted'\n"
            f"[model_providers.lab]\nname = 'Lab'\nbase_url = '{self.model.url}/v1'\n"
            "wire_api = 'responses'\nenv_key = 'LAB_KEY'\nrequest_max_retries = 0\n"
            "stream_max_retries = 0\n",
        )
        self._run("exec", WORD)
        (record,) = self.home.glob("sessions/**/*.jsonl")
        return record.stem[-36:]

    def _hostile_codex(self) -> None:
        server = f"command = 'touch'\nargs = [{json.dumps(str(self.started))}]\n"
        self._write(self.work / ".codex" / "config.toml", f"[mcp_servers.x]\n{server}")

    def _begin_gemini(self) -> str:
        self.environment |= {
            "GEMINI_CLI_HOME": str(self.home),
            "GEMINI_API_KEY": "made up",
            "GOOGLE_GEMINI_BASE_URL": self.model.url,
        }
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "general": {"enableAutoUpdate": False, "maxAttempts": 1},
            "privacy": {"usageStatisticsEnabled": False},
        }
        own = self.home / ".gemini"
        self._write(own / "settings.json", settings)
        self._write(own / "trustedFolders.json", {str(self.work): "TRUST_FOLDER"})
        self._run("--session-id", IDENT, "-m", "gemini-2.5-pro", "-p", WORD)
        self._write(own / "trustedFolders.json", {str(self.work): "DO_NOT_TRUST"})
        return IDENT

    def _hostile_gemini(self) -> None:
        command = f"/usr/bin/touch {self.started}"
        self._write(
            self.work / ".gemini" / "settings.json", {"tools": {"discoveryCommand": command}}
        )

    def _begin_opencode(self) -> str:
        self.environment |= {
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "npm_config_registry": "http://127.0.0.1:9",
            "npm_config_fetch_retries": "0",
            "http_proxy": "http://127.0.0.1:9",
            "https_proxy": "http://127.0.0.1:9",
            "no_proxy": "127.0.0.1,localhost",
        }
        provider = {
            "npm": "@ai-sdk/anthropic",
            "options": {"baseURL": f"{self.model.url}/v1", "apiKey": "made up"},
            "models": {"large": {}},
        }
        settings = {"model": "lab/large", "small_model": "lab/large", "provider": {"lab": provider}}
        self._write(self.home / ".config" / "opencode" / "opencode.json", settings)
        found = re.search("ses_[0-9A-Za-z]+", self._run("run", "--format", "json", "--pure", WORD))
        assert found is not None
        return found[0]

    def _hostile_opencode(self) -> None:
        server = {"type": "local", "command": ["touch", str(self.started)], "enabled": True}
        self._write(self.work / "opencode.json", {"mcp": {"x": server}})

    def _begin_copilot(self) -> str:
        self.environment |= {
            "COPILOT_HOME": str(self.home),
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_MODEL": "lab",
            "COPILOT_PROVIDER_TYPE": "anthropic",
            "COPILOT_PROVIDER_BASE_URL": self.model.url,
            "COPILOT_PROVIDER_API_KEY": "made up",
            "COPILOT_PROVIDER_MAX_PROMPT_TOKENS": "100000",
            "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS": "8000",
        }
        self._write(self.home / "config.json", {"trustedFolders": [str(self.work)]})
        self._run(f"--session-id={IDENT}", "--silent", "-p", WORD)
        return IDENT

    def _hostile_copilot(self) -> None:
        server = {"type": "local", "command": "touch", "args": [str(self.started)], "tools": ["*"]}
        self._write(self.work / ".mcp.json", {"mcpServers": {"x": server}})


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer(answer) as server:
        yield server


@pytest.mark.parametrize(
    "name", [it if it == "codex" else pytest.param(it, marks=pytest.mark.long) for it in PLACES]
)
async def test_a_copy_answers_and_starts_nothing_of_the_repository(
    name: str, tmp_path: Path, model: ModelServer
) -> None:
    session = Session(tmp_path, name, model)
    before = len(model.requests)
    order = SessionOrder(
        AgentName("api"),
        session.ident,
        "api-run",
        session.work,
        model="gemini-2.5-pro" if name == "gemini" else "",
        environment=session.environment,
    )
    cli = runtime(name, session.state)
    for _ in range(2):  # nothing is left in the folder of copies
        told = await cli.answer_aside(order, Program(session.program, "1"), "Write it.", 300)
        assert (told.text.strip(), told.problem) == ("# The document", "")
    assert not session.started.exists()
    assert all(WORD in request.everything for request in model.requests[before:])
