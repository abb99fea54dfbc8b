"""One session of every runtime, set up as its CLI would find and leave it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cockpit.adapters.agents import runtime
from cockpit.adapters.agents.claude.sessions import encode_directory
from cockpit.adapters.agents.gemini import extension
from cockpit.adapters.agents.own.definitions import Definitions
from cockpit.config.own_runtimes import OwnRuntime
from cockpit.core.ids import AgentName, SessionId
from cockpit.core.session import SessionEvent, Skipped
from cockpit.ports.panes import Launch
from cockpit.ports.runtimes import Program, Runtime, SessionOrder, Signal

API = AgentName("api")
DATA = Path(__file__).parents[2] / "data"
RELEASES = Path(__file__).parents[2] / "releases"
IDENT = SessionId("39a57f58-31ec-487f-a96f-1d42382d2ffb")
OPENCODE_IDENT = SessionId("ses_39a57f5831ec487fa96f")

OWN = "own"
"""The name of a runtime that the configuration defines."""

Payload = Mapping[str, object]


@dataclass(frozen=True)
class Case:
    """A runtime and an order for a new session of it."""

    runtime: Runtime
    order: SessionOrder
    transcript: Path
    """The path that the CLI reports for the session."""
    transcripts: tuple[Path, ...] = ()
    """Recorded ones of this CLI; of Claude Code also some of the stand-in."""
    lines: tuple[Payload, ...] = ()
    """Lines that are in none of them."""
    dialog: tuple[str, Payload] = ("PermissionRequest", {})
    """The hook of a dialog that asks for `make x`."""
    error: tuple[str, Payload] = ("StopFailure", {})
    """The hook of an error of the API."""
    reserved: tuple[str, ...] = ()
    """Arguments that cockpit sets."""
    keep: Callable[[Path], None] = lambda directory: None
    """Write the session as the CLI does, as one of that directory."""
    package: str = ""
    """What the user installs to have the CLI."""

    def launch(self, **changed: Any) -> Launch:
        order = replace(self.order, **changed)
        return self.runtime.launch(order, Program(Path("/opt/cli"), "1"))

    def signal(self, event: str, payload: Payload) -> Signal:
        known = {"session_id": self.order.session_id, "cwd": str(self.order.directory)}
        return Signal(API, event, {**known, **payload}, 0.0)

    def recorded(self) -> Iterator[bytes]:
        """The lines of the transcripts."""
        yield from (json.dumps(line).encode() for line in self.lines)
        for path in self.transcripts:
            yield from path.read_bytes().splitlines()

    def events(self) -> list[SessionEvent]:
        read = map(self.runtime.parse, self.recorded())
        return [event for events in read if not isinstance(events, Skipped) for event in events]


def case(name: str, tmp_path: Path) -> Case:
    """The case of a runtime, with all that it needs below the folder. Raises `KeyError`."""
    make = _CASES[name]
    own = Definitions.of({OWN: OwnRuntime.model_validate(_TABLE)})
    work, home = tmp_path / "work", tmp_path / "home"
    work.mkdir()
    home.mkdir()
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    order = SessionOrder(API, IDENT, "marker", work, prompt="Go on.", environment=environment)
    return make(runtime(name, tmp_path / "state", own), order, home)


def _order(order: SessionOrder, **variables: Path) -> SessionOrder:
    more = {name: str(path) for name, path in variables.items()}
    return replace(order, environment={**order.environment, **more})


def _write(path: Path, *lines: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def _jsonl(folder: str) -> tuple[Path, ...]:
    return tuple(sorted((DATA / folder).glob("*.jsonl")))


_ASKS = {"tool_name": "Bash", "tool_input": {"command": "make x"}}


def _claude(made: Runtime, order: SessionOrder, home: Path) -> Case:
    def keep(directory: Path) -> None:
        folder = home / "projects" / encode_directory(order.directory)
        _write(folder / f"{IDENT}.jsonl", {"type": "user", "cwd": str(directory)})

    return Case(
        made,
        _order(order, CLAUDE_CONFIG_DIR=home),
        transcript=home / "projects" / "-w" / f"{IDENT}.jsonl",
        transcripts=(*_jsonl("transcripts"), *sorted(RELEASES.glob("*/*/claude/**/*.jsonl"))),
        dialog=("PermissionRequest", _ASKS),
        error=("StopFailure", {"error": "server_error"}),
        reserved=("--session-id", "--resume=x", "-c", "--settings={}", "-p", "--bare", "-ptext"),
        keep=keep,
    )


def _codex(made: Runtime, order: SessionOrder, home: Path) -> Case:
    name = f"rollout-2026-11-23T13-47-00-{IDENT}.jsonl"
    path = home / "sessions" / "2026" / "11" / "23" / name
    return Case(
        made,
        _order(order, CODEX_HOME=home),
        transcript=path,
        transcripts=_jsonl("codex"),
        dialog=("PermissionRequest", _ASKS),
        reserved=(
            *("--sandbox=read-only", "-a", "exec", "--remote", "-C"),
            *("e", "app-server", "exec-server", "mcp-server", "cloud-tasks", "login", "apply"),
            *("-anever", "-C/tmp"),
        ),
        keep=lambda directory: _write(
            path, {"type": "session_meta", "payload": {"cwd": str(directory)}}
        ),
        package="@openai/codex",
    )


def _gemini(made: Runtime, order: SessionOrder, home: Path) -> Case:
    """The extension is linked, and the directory is trusted."""
    own = home / ".gemini"
    source = Path(extension.__file__).parent / "extension"
    note = own / "extensions" / "cockpit" / ".gemini-extension-install.json"
    _write(note, {"source": str(source), "type": "link"})
    _write(own / "trustedFolders.json", {str(order.directory): "TRUST_FOLDER"})
    chats = own / "tmp" / "w" / "chats"

    def keep(directory: Path) -> None:
        _write(chats / f"session-2026-11-23T13-47-{IDENT[:8]}.jsonl", {"sessionId": IDENT})
        (chats.parent / ".project_root").write_text(str(directory))

    details = {"type": "exec", "command": "make x"}
    return Case(
        made,
        _order(order, GEMINI_CLI_HOME=home),
        transcript=chats / f"session-2026-11-23T13-47-{IDENT[:8]}.jsonl",
        transcripts=_jsonl("gemini"),
        dialog=("Notification", {"notification_type": "ToolPermission", "details": details}),
        reserved=("--yolo", "-p", "--resume=latest", "extensions", "-e", "-sy"),
        keep=keep,
        package="@google/gemini-cli",
    )


def _opencode(made: Runtime, order: SessionOrder, home: Path) -> Case:
    def keep(directory: Path) -> None:
        (home / "opencode").mkdir(exist_ok=True)
        with sqlite3.connect(home / "opencode" / "opencode.db") as database:
            database.execute("create table if not exists session (id text, directory text)")
            database.execute("delete from session")
            row = (OPENCODE_IDENT, str(directory))
            database.execute("insert into session values (?, ?)", row)

    return Case(
        made,
        replace(_order(order, XDG_DATA_HOME=home), session_id=OPENCODE_IDENT),
        transcript=home.parent / "state" / "opencode" / f"{OPENCODE_IDENT}.jsonl",
        transcripts=(DATA / "opencode" / "transcript.jsonl",),
        lines=(
            {"type": "compacted", "at": 1, "trigger": "auto"},
            {"type": "failed", "at": 1, "message": "No such thing", "status": 400},
            {"type": "cost", "at": 1, "usd": 0.25},
        ),
        dialog=("PermissionRequest", _ASKS),
        reserved=("--session=x", "--auto", "run", "--prompt", "--pure", "-mprovider/model"),
        keep=keep,
        package="opencode-ai",
    )


def _copilot(made: Runtime, order: SessionOrder, home: Path) -> Case:
    path = home / "session-state" / IDENT / "events.jsonl"
    asks = {"notification_type": "permission_prompt", "message": "Run command: make x"}
    return Case(
        made,
        _order(order, COPILOT_HOME=home),
        transcript=path,
        transcripts=_jsonl("copilot"),
        dialog=("Notification", asks),
        reserved=("--resume=x", "--yolo", "login", "-p", "--acp", "-ptext", "-sp"),
        keep=lambda directory: _write(path, {"data": {"context": {"cwd": str(directory)}}}),
        package="@github/copilot",
    )


def _command(made: Runtime, order: SessionOrder, home: Path) -> Case:
    return Case(made, replace(order, command=("cat",)), transcript=home / "x.jsonl")


_TABLE: Payload = {
    "program": ["sh"],
    "session": ["--session-id", "{session}"],
    "resume": ["--resume", "{session}"],
    "prompt": ["--prompt-file", "{prompt_file}"],
    "takes_paste": True,
    "record": "{home}/{session}.jsonl",
    "compacts_at": 90_000,
}


def _own(made: Runtime, order: SessionOrder, home: Path) -> Case:
    path = home / f"{IDENT}.jsonl"
    first = {"record": "cockpit/1", "session": IDENT, "model": "m", "window": 100_000}
    usage = {"input": 10, "cache_read": 20, "cache_write": 30, "output": 40}
    return Case(
        made,
        order,
        transcript=path,
        lines=(
            first,
            {"turn": "begin", "prompt": "Go on.", "at": 1.5},
            {"compacted": {"trigger": "manual", "before": 9}},
            {"usage": usage, "said": "So.", "tool": {"id": "t", "name": "Read", "input": {}}},
            {"result": {"id": "t", "failed": False, "text": "x"}, "cost_usd": 0.5},
            {"failed": {"message": "Later", "status": 429, "resets_at": 5}, "turn": "end"},
        ),
        keep=lambda directory: _write(path, {**first, "directory": str(directory)}),
    )


_CASES: Mapping[str, Callable[[Runtime, SessionOrder, Path], Case]] = {
    "claude": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "opencode": _opencode,
    "copilot": _copilot,
    "command": _command,
    OWN: _own,
}

HOOKS: Sequence[str] = (
    *("SessionStart", "SessionEnd", "UserPromptSubmit", "BeforeAgent", "AfterAgent", "AfterTool"),
    *("PostToolUse", "PostToolUseFailure", "Stop", "StopFailure", "PermissionRequest"),
    *("Notification", "PreCompact", "PostCompact", "SubagentStart", "SubagentStop"),
    *("SubagentBegan", "SubagentOver", "StatusLine", "AnotherOne"),
)
"""The hooks of all CLIs."""
