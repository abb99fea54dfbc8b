"""A real CLI for the cockpit of a test: its own folder, its program, and a simulated model."""

from __future__ import annotations

import json
import shutil
from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from cockpit.core.prompt_files import prompt_files_in
from cockpit.demo.conversation import DOCUMENT_PATH, Reply, Request, TokenCount, ToolCall
from cockpit.demo.model import Answer, ModelServer
from tests.journeys.real_agent import DOCUMENT

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

MODULES = Path(__file__).parents[3] / ".venv" / "npm" / "node_modules"


def installed(name: str, *patterns: str) -> str | None:
    """The program of a CLI: on the user's PATH, or where `make clis` puts it."""
    found = (path for pattern in patterns for path in MODULES.glob(pattern))
    return shutil.which(name) or next(map(str, found), None)


class CliPilot:
    """A CLI's own folder and model for one cockpit."""

    runtime: ClassVar[str]
    program: ClassVar[str | None]
    """None if the CLI is not installed."""
    prompt: ClassVar[str] = "!Count the steps."
    """The first prompt. The CLIs would run a prompt with this first character as a command."""
    permission: ClassVar[str] = "bypassPermissions"
    counts_output: ClassVar[bool] = True
    """Whether the CLI's context includes the last reply itself."""
    act: ClassVar[int] = 70_000
    """Tokens in context after which `act` is reached."""
    has_prompt_file: ClassVar[bool] = True
    """Whether the model must open a file to read its prompt."""

    def __init__(self, cockpit: Cockpit, answer: Answer, model: ModelServer | None = None) -> None:
        """With `model`, its answers come from one that runs already."""
        self.cockpit = cockpit
        self.model = model or ModelServer(answer)
        if model is None:
            self.model.start()
        self.folder = cockpit.home / self.runtime
        self.folder.mkdir(exist_ok=True)
        assert self.program is not None
        link = cockpit.home / "bin" / self.runtime
        link.unlink(missing_ok=True)
        link.symlink_to(Path(self.program).resolve())
        self.set_up()
        self.trust(cockpit.repository)

    @property
    def transcripts(self) -> Path:
        """The folder with the transcripts of its sessions, at any depth."""
        return self.folder

    def set_up(self) -> None:
        """Write what the CLI must know before its first start, besides trust."""

    def trust(self, *folders: Path) -> None:
        """Let these folders be the only ones that the CLI trusts, if it asks about folders."""

    @abstractmethod
    def environment(self) -> dict[str, str]:
        """The variables with which the CLI finds its folder and the model."""

    def settings(self) -> dict[str, object]:
        """Settings of the agent that only this CLI needs."""
        return {}

    def typed(self, prompt: str) -> str:
        """The command with which a user starts the CLI with a prompt."""
        return f"{self.cockpit.home / 'bin' / self.runtime} '{prompt}'"

    def table(self, mode: str = "prompt", more: str = "", permission: str | None = None) -> str:
        """The configuration of the agent `api`; `more` is added to its table."""
        settings = {
            "name": "api",
            "runtime": self.runtime,
            "permission_mode": self.permission if permission is None else permission,
            "mode": mode,
            "directory": str(self.cockpit.repository),
            "prompt": self.prompt,
            **self.settings(),
        }
        return f"[[agents]]\n{_toml(settings)}{more}\n[agents.env]\n{_toml(self.environment())}"

    def has_read(self, document: str) -> bool:
        """Whether the model opened a document."""
        return any(
            call.name == "Read" and call.path == document
            for request in self.model.requests
            for call in request.calls_made
        )

    def counted(self, tokens: int) -> int:
        """The context after a reply that was made with this `cache_read`."""
        count = TokenCount(cache_read=tokens)
        return count.context + (count.output if self.counts_output else 0)

    @classmethod
    def worker(cls, steps: Callable[[Request], Reply]) -> Answer:
        """A model that opens its prompt, reads a document that is named in it, writes the one that
        is asked for, and otherwise does its steps."""

        def answer(request: Request) -> Reply:
            if request.asks_for_answer:
                return Reply(DOCUMENT)  # Codex and Gemini offer their tools here too
            if not request.has_tools:
                return cls.without_tools(request)
            if (opening := cls.opens(request)) is not None:
                return Reply(tool_calls=(opening,))
            if (end := cls.ends(request)) is not None:
                return end
            if request.document_asked is not None:
                given = {"file_path": request.document_asked, "content": DOCUMENT}
                return Reply(
                    tool_calls=(ToolCall("Write", given),), tokens=TokenCount(cache_read=cls.act)
                )
            return steps(request)

        return answer

    @classmethod
    def without_tools(cls, request: Request) -> Reply:
        """Answer the CLI's own request, such as for a title."""
        return Reply("A title")

    @classmethod
    def ends(cls, request: Request) -> Reply | None:
        """The reply that ends the turn, when cockpit asks the agent for that."""
        return None

    @classmethod
    def opens(cls, request: Request) -> ToolCall | None:
        """The next file that a session opens before its steps."""
        done = len(request.calls_made)
        if cls.has_prompt_file and not done:
            return cls.read(prompt_files_in(request.everything)[0])
        named = DOCUMENT_PATH.findall(request.everything if done else request.opening)
        return cls.read_document(named[-1]) if named and done == cls.has_prompt_file else None

    @classmethod
    def read(cls, path: str) -> ToolCall:
        """The call with which the model opens its prompt."""
        return ToolCall("Read", {"file_path": path})

    @classmethod
    def read_document(cls, path: str) -> ToolCall:
        """The call with which the model reads the document of the session before it."""
        return ToolCall("Read", {"file_path": path})


class Pilots:
    """Makes one CLI for a cockpit, with the models that a test names."""

    def __init__(self, cli: type[CliPilot], cockpit: Cockpit) -> None:
        self.cli = cli
        self._cockpit = cockpit
        self._made: list[CliPilot] = []

    def answering(self, answer: Answer) -> CliPilot:
        """The CLI with this model."""
        self._made.append(self.cli(self._cockpit, answer))
        return self._made[-1]

    def working(self, steps: Callable[[Request], Reply]) -> CliPilot:
        """The CLI with a `worker` that does these steps."""
        return self.answering(self.cli.worker(steps))

    def stop(self) -> None:
        """Stop the models."""
        for each in self._made:
            each.model.stop()


def _toml(settings: dict[str, object] | dict[str, str]) -> str:
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items())


def has_read(request: Request) -> bool:
    """Whether the session has opened the document of the one before it."""
    commands = [str(call.input.get("command", "")) for call in request.calls_made]
    opened = [call.path for call in request.calls_made if call.name == "Read"]
    opened += [words.removeprefix("cat ") for words in commands if words.startswith("cat ")]
    return any(ToolCall("Read", {"file_path": path}).is_about_document for path in opened)
