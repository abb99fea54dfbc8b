"""The real Claude CLI, started by the user: it is told of a handoff that waits there."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cockpit.adapters.agents.claude.program import bundled_path
from cockpit.adapters.documents.files import Documents
from cockpit.cli.commands import run
from cockpit.demo.conversation import Reply
from cockpit.demo.leftovers import carriers
from cockpit.demo.model import ModelServer
from cockpit.supervisor.handoff.documents import pending_notice
from tests.journeys.short_session import SHORT_SESSION
from tests.supervisor.conftest import pause

BUNDLED = bundled_path()
pytestmark = [
    pytest.mark.long,
    pytest.mark.claude,
    pytest.mark.tmux,
    pytest.mark.skipif(BUNDLED is None, reason="the SDK of this platform brings no CLI"),
]
KEY = "made-up-key-for-a-simulated-model"
PATIENCE = 120.0
CONTENT = "# Handoff\n\nThe content of the document."


class Terminal:
    """A terminal of the user's, with Claude Code that is set up and trusts the repository."""

    def __init__(self, home: Path, url: str) -> None:
        self.home = home
        self.repository = home.resolve() / "repo"
        self.repository.mkdir()
        subprocess.run(["git", "init", "-q", str(self.repository)], check=True)
        folder = home / "claude"
        folder.mkdir()
        known = {str(self.repository): {"hasTrustDialogAccepted": True}}
        approved = {"approved": [KEY[-20:]], "rejected": []}
        said = {
            "hasCompletedOnboarding": True,
            "customApiKeyResponses": approved,
            "projects": known,
        }
        (folder / ".claude.json").write_text(json.dumps(said))
        self.variables = {
            "CLAUDE_CONFIG_DIR": str(folder),
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": KEY,
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_TMPDIR": str(home),
            **SHORT_SESSION,
        }

    def tmux(self, *words: str) -> str:
        command = ["tmux", "-S", str(self.home / "tmux"), "-f", "/dev/null", *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def claude(self, prompt: str, **more: str) -> None:
        """Start a session in a new window, with its first prompt."""
        given = {**self.variables, **more}
        variables = [word for key, value in given.items() for word in ("-e", f"{key}={value}")]
        where = ["-x", "300", "-y", "40", "-c", str(self.repository)]
        words = [str(BUNDLED), "--model", "claude-haiku-4-5", prompt]
        self.tmux("new-session", "-d", "-s", prompt, *where, *variables, *words)

    def until(self, holds: Callable[[], bool], prompt: str) -> None:
        begun = time.monotonic()
        while not holds():
            assert time.monotonic() < begun + PATIENCE, self.screen(prompt)
            time.sleep(pause(begun))

    def screen(self, prompt: str) -> str:
        return " ".join(self.tmux("capture-pane", "-p", "-t", prompt).split())

    def close(self) -> None:
        with suppress(subprocess.CalledProcessError):
            self.tmux("kill-server")
        end = time.monotonic() + PATIENCE
        while carriers(self.home) and time.monotonic() < end:
            time.sleep(0.05)


@pytest.fixture
def model() -> Iterator[ModelServer]:
    server = ModelServer(lambda _: Reply("Done."))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def terminal(
    own_home: Path, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Terminal]:
    terminal = Terminal(own_home, model.url)
    for name, value in terminal.variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(own_home)
    yield terminal
    terminal.close()


def test_a_session_of_the_users_own_is_told_of_a_handoff_that_waits(
    terminal: Terminal, model: ModelServer
) -> None:
    def told(prompt: str, **more: str) -> str:
        """What the model gets with a session's first prompt."""
        terminal.claude(prompt, **more)

        def sent() -> list[str]:
            asked = [json.dumps(each.messages) for each in model.requests if each.has_tools]
            return [each for each in asked if prompt in each]

        terminal.until(lambda: bool(sent()), prompt)
        return sent()[0]

    assert run(["setup", "claude", "--yes"]) == 0
    assert "waiting here" not in told("first")

    documents = Documents(terminal.home / "copies")
    sealed = documents.seal(terminal.repository, "abcdef12", CONTENT, datetime.now(UTC))
    documents.leave_notice(terminal.repository, pending_notice("api", str(sealed.path)))
    request = told("second")
    assert f"A handoff document of an earlier session is waiting here: {sealed.path}. " in request
    assert "The content of the document" not in request
    shown = f"says: A handoff document is waiting here: {sealed.path}."
    terminal.until(lambda: shown in terminal.screen("second"), "second")

    assert "waiting here" not in told("third", COCKPIT_RUN="run")
    assert run(["setup", "claude", "--remove", "--yes"]) == 0
    assert "waiting here" not in told("fourth")
