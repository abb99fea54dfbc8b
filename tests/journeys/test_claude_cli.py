"""What the real Claude Code does, where our code relies on it. The model is simulated.

Each test runs the CLI that ships inside claude-agent-sdk in a private tmux, with a home of its
own, started by our own adapter and heard through our own reporter and spool.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from cockpit.adapters.agents.claude.program import bundled_path
from cockpit.adapters.agents.claude.runtime import Claude
from cockpit.adapters.process.launch_order import LONGEST_PIECE, MOST_LINES
from cockpit.core.collect import Collector
from cockpit.core.errors import NotNow
from cockpit.core.ids import AgentName, SessionId
from cockpit.core.prompt_files import mention
from cockpit.core.session import (
    Compacted,
    ContextInjected,
    Interrupted,
    PromptFileTaken,
    SessionEvent,
    Skipped,
    TurnEnded,
    UserSaid,
)
from cockpit.demo.conversation import Reply, Request, TokenCount, ToolCall
from cockpit.demo.model import Answer, ModelServer
from cockpit.ports.panes import Screen
from cockpit.ports.runtimes import Activity, Presence, SessionOrder, Signal
from tests.journeys.short_session import SHORT_SESSION
from tests.supervisor.conftest import pause

pytestmark = [
    pytest.mark.claude,
    pytest.mark.tmux,
    pytest.mark.skipif(bundled_path() is None, reason="the SDK of this platform brings no CLI"),
]

T = TypeVar("T")
API = AgentName("api")
KEY = "made-up-key-for-a-simulated-model"
PATIENCE = 120.0
"""Seconds: a cold start on a busy machine takes several."""


def bash(command: str, tokens: int = 20_000) -> Reply:
    call = ToolCall("Bash", {"command": command, "description": "a command"})
    return Reply(tool_calls=(call,), tokens=TokenCount(cache_read=tokens))


def in_turn(*replies: Reply) -> Answer:
    """Answer the main thread's requests with these, by how many were made already."""

    def answer(request: Request) -> Reply:
        if not request.has_tools:
            return Reply("ok")
        return replies[min(request.replies_made, len(replies) - 1)]

    return answer


class Agent:
    """One agent: its folders, its model, its pane, and everything that was heard of it."""

    def __init__(self, home: Path, answer: Answer, *, trusted: bool = True) -> None:
        self.home = home
        self.work = home / "work"
        self.work.mkdir()
        subprocess.run(["git", "init", "-q", "-b", "main"], cwd=self.work, check=True)
        self.model = ModelServer(answer)
        self.model.start()
        self.claude = Claude(home / "state of cockpit", bundled_only=True)
        self.environment = self._environment(trusted)
        self.session = SessionId(str(uuid.uuid4()))
        self.signals: list[Signal] = []
        self.pid = 0

    def _environment(self, trusted: bool) -> dict[str, str]:
        config = self.home / "claude"
        config.mkdir()
        known = {str(self.work): {"hasTrustDialogAccepted": True}} if trusted else {}
        approved = {"approved": [KEY[-20:]], "rejected": []}
        said = {"hasCompletedOnboarding": True, "customApiKeyResponses": approved}
        (config / ".claude.json").write_text(json.dumps(said | {"projects": known}))
        return {
            "PATH": os.environ["PATH"],
            "HOME": os.environ["HOME"],
            "TERM": "tmux-256color",
            "LANG": "C.UTF-8",
            "XDG_RUNTIME_DIR": os.environ["XDG_RUNTIME_DIR"],
            "CLAUDE_CODE_TMPDIR": str(self.home),
            "CLAUDE_CONFIG_DIR": str(config),
            "ANTHROPIC_BASE_URL": self.model.url,
            "ANTHROPIC_API_KEY": KEY,
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            **SHORT_SESSION,
        }

    def tmux(self, *words: str) -> str:
        command = ["tmux", "-S", str(self.home / "t"), "-f", "/dev/null", *words]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    def start(
        self,
        prompt: str | None = "begin",
        *,
        resume: bool = False,
        mode: str = "acceptEdits",
        arguments: Sequence[str] = ("--allowedTools", "Bash"),
        model: str = "claude-haiku-4-5",
    ) -> None:
        self.order = SessionOrder(
            API,
            self.session,
            "marker",
            self.work,
            resume=resume,
            model=model,
            permission_mode=mode,
            arguments=arguments,
            environment=self.environment,
        )
        launch = self.claude.launch(self.order, self.claude.program(self.environment))
        pairs = [f"{name}={value}" for name, value in launch.environment.items()]
        words = ["env", "-i", *pairs, *launch.argv, *(["--", prompt] if prompt else [])]
        size = ("-x", "100", "-y", "40", "-c", str(self.work))
        self.tmux("new-session", "-d", *size, *words, ";", "set", "remain-on-exit", "on")
        self.pid = int(self.tmux("list-panes", "-F", "#{pane_pid}"))

    def until(self, ready: Callable[[], T | None]) -> T:
        """Listen until there is an answer; the test fails with the screen when none comes."""
        begun = time.monotonic()
        while time.monotonic() < begun + PATIENCE:
            self.signals += self.claude.spool.take()
            if found := ready():
                return found
            time.sleep(pause(begun))
        heard = [each.event for each in self.signals]
        raise AssertionError(f"waited in vain; heard {heard}, and saw:\n{self.tmux(*SHOW)}")

    def apply(self, event: str, count: int = 1) -> Signal:
        """The `count`th signal of that name."""

        def heard() -> Signal | None:
            found = [each for each in self.signals if each.event == event]
            return found[count - 1] if len(found) >= count else None

        return self.until(heard)

    def heard(self, event: str) -> int:
        return sum(each.event == event for each in self.signals)

    def rest(self, activity: Activity) -> Presence:
        """Wait until the CLI itself says that it does this."""

        def there() -> Presence | None:
            now = self.claude.presence(self.pid, self.environment)
            return now if now is not None and now.activity is activity else None

        return self.until(there)

    def type_in(self, text: str) -> None:
        """Type a prompt, see it in the box, and submit it."""
        self.until(self.composer)
        self.tmux("send-keys", "-l", text)
        self.until(lambda: f"❯\xa0{text}" in self.tmux(*SHOW))
        self.tmux("send-keys", "Enter")

    def composer(self) -> bool | None:
        return self.claude.composer(Screen(tuple(self.tmux(*SHOW, "-e").splitlines())))

    def recorded(self, kind: type[T]) -> list[T]:
        """What the session's record holds of one kind of event."""
        path = self.claude.transcript(self.order)
        found: list[SessionEvent] = []
        for line in path.read_bytes().split(b"\n") if path and path.exists() else ():
            events = self.claude.parse(line)
            found += () if isinstance(events, Skipped) else events
        return [event for event in found if isinstance(event, kind)]

    def end(self) -> None:
        """TERM, and wait until the process is gone."""
        os.kill(self.pid, signal.SIGTERM)
        self.until(self.is_over)

    def end_server(self) -> None:
        """End tmux, and wait until its server no longer takes a client."""
        self.tmux("kill-server")
        self.until(self._refuses)

    def _refuses(self) -> bool:
        with socket.socket(socket.AF_UNIX) as client:
            return client.connect_ex(str(self.home / "t")) != 0

    def is_over(self) -> bool:
        return self.tmux("list-panes", "-F", "#{pane_dead}").strip() == "1"

    def close(self) -> None:
        self.tmux("kill-server")
        self.model.stop()


SHOW = ("capture-pane", "-p")
Seats = Callable[..., Agent]


@pytest.fixture
def agent(own_home: Path) -> Iterator[Seats]:
    made: list[Agent] = []

    def make(answer: Answer, **more: Any) -> Agent:
        made.append(Agent(own_home, answer, **more))
        return made[-1]

    yield make
    for each in made:
        each.close()


def told(request: Request) -> str:
    """Everything that the model was told, system messages included."""
    return json.dumps(request.messages)


def test_an_ask_reaches_the_model_in_the_middle_of_a_turn(agent: Seats) -> None:
    api = agent(in_turn(bash("echo one"), bash("echo two"), Reply("done")))
    api.claude.ask(API, "PLEASE-WRITE mid turn", "PLEASE-WRITE at the end")
    api.start()
    assert api.apply("PostToolUse").verdict is True
    assert api.apply("Stop").verdict is False
    asked = [request for request in api.model.requests if request.has_tools]
    assert ["PLEASE-WRITE mid turn" in told(request) for request in asked] == [False, True, True]
    assert not any("at the end" in told(request) for request in asked)
    injected = api.until(lambda: api.recorded(ContextInjected))
    assert [each.text for each in injected] == ["PLEASE-WRITE mid turn"]
    assert api.claude.withdraw_ask(API) is False


@pytest.mark.long
def test_an_ask_at_the_end_of_a_turn_keeps_the_turn_going(agent: Seats) -> None:
    api = agent(in_turn(Reply("finished"), Reply("written")))
    api.claude.ask(API, "PLEASE-WRITE mid turn", "PLEASE-WRITE at the end")
    api.start()
    first, second = api.apply("Stop"), api.apply("Stop", 2)
    assert (first.verdict, second.verdict) == (True, False)
    assert first.payload["prompt_id"] == second.payload["prompt_id"]
    assert second.payload["stop_hook_active"] is True
    assert second.payload["last_assistant_message"] == "written"
    api.rest(Activity.IDLE)
    api.until(lambda: api.recorded(TurnEnded))
    feedback = [said for said in api.recorded(UserSaid) if "PLEASE-WRITE at the end" in said.text]
    assert [said.meta for said in feedback] == [True]
    assert [each.hook_event for each in api.recorded(ContextInjected)] == ["Stop"]


@pytest.mark.long
def test_the_status_line_tells_what_fills_the_window(agent: Seats) -> None:
    api = agent(in_turn(Reply("done", tokens=TokenCount(3, 1_000, 88_997, 120))))
    line = {"type": "command", "command": "head -c 20; printf ' MY LINE'"}
    settings = Path(api.environment["CLAUDE_CONFIG_DIR"]) / "settings.json"
    settings.write_text(json.dumps({"statusLine": line}))
    api.start()

    def full() -> Any:
        latest = api.claude.spool.latest_status(API)
        report = api.claude.report(latest) if latest else None
        return report if report is not None and report.usage else None

    report = api.until(full)
    assert (report.usage.context, report.window) == (90_000, 200_000)
    assert (report.session_id, report.transcript) == (
        api.session,
        api.claude.transcript(api.order),
    )
    assert report.cost_usd > 0
    api.until(lambda: '{"session_id":"' in (now := api.tmux(*SHOW)) and "MY LINE" in now)


@pytest.mark.long
def test_a_prompt_arrives_as_it_was_given(agent: Seats) -> None:
    prompt = "--help; #(touch x) $(touch y) `touch z` 'q' \"q\" \\n\nsecond line 🚀\n\n-- end"
    api = agent(in_turn(Reply("done")))
    api.start(prompt)
    assert api.apply("UserPromptSubmit").payload["prompt"] == prompt
    assert api.apply("SessionStart").payload["source"] == "startup"
    api.apply("Stop")
    # The record lags behind the hooks, by a whole short turn.
    api.until(lambda: prompt in [said.text for said in api.recorded(UserSaid)])
    assert [path.name for path in api.work.iterdir()] == [".git"]


@pytest.mark.long
def test_an_interrupt_is_told_by_presence_and_record_only(agent: Seats) -> None:
    api = agent(in_turn(bash("tail -f /dev/null"), Reply("done")))
    api.start()
    api.until(lambda: "tail -f" in api.tmux(*SHOW))
    assert api.rest(Activity.BUSY).session_id == api.session
    api.tmux("send-keys", "Escape")
    api.rest(Activity.IDLE)
    api.until(lambda: api.recorded(Interrupted))
    api.until(lambda: api.composer() is True)
    assert api.heard("Stop") == api.heard("StopFailure") == 0


@pytest.mark.long
def test_an_interrupt_before_the_first_answer_puts_the_prompt_back(agent: Seats) -> None:
    """No hook, no record: only presence and the prompt box show it."""
    api = agent(lambda _: Reply("late", delay=60))
    api.start("take your time")
    api.until(lambda: any(request.has_tools for request in api.model.requests))
    api.until(lambda: "esc to interrupt" in api.tmux(*SHOW))
    api.tmux("send-keys", "Escape")
    api.rest(Activity.IDLE)
    api.until(lambda: api.composer() is False)
    assert "❯\xa0take your time" in api.tmux(*SHOW)
    assert not api.recorded(Interrupted)
    assert api.heard("Stop") == 0


@pytest.mark.long
def test_a_session_ends_by_term_and_is_opened_again(agent: Seats) -> None:
    api = agent(in_turn(Reply("done"), Reply("done again")))
    api.start()
    api.apply("Stop")
    api.rest(Activity.IDLE)
    with pytest.raises(NotNow):
        api.claude.resumable(api.order)
    api.end()
    assert api.apply("SessionEnd").payload["reason"] == "other"
    api.claude.resumable(api.order)
    first = api.claude.transcript(api.order)
    api.end_server()
    api.start("go on", resume=True)
    assert api.apply("SessionStart", 2).payload["source"] == "resume"
    assert api.apply("Stop", 2).payload["transcript_path"] == str(first)
    assert api.apply("Stop", 2).session_id == api.session


@pytest.mark.long
def test_term_in_the_middle_of_a_tool_ends_the_tool_too(agent: Seats) -> None:
    api = agent(in_turn(bash("tail -f /dev/null & echo $! > tool; wait"), Reply("done")))
    api.start()
    tool = Path(f"/proc/{api.until(lambda: read(api.work / 'tool'))}")
    api.rest(Activity.BUSY)
    api.end()
    api.apply("SessionEnd")
    api.until(lambda: not tool.exists())


def test_a_permission_dialog_is_told_three_ways(agent: Seats) -> None:
    api = agent(in_turn(bash("touch /etc/nothing"), Reply("done")))
    api.start(mode="default", arguments=())
    request = api.apply("PermissionRequest")
    assert request.payload["tool_name"] == "Bash"
    assert request.payload["permission_mode"] == "default"
    assert api.rest(Activity.WAITING).waiting_for == "permission prompt"
    api.until(lambda: "Do you want to proceed?" in api.tmux(*SHOW))
    assert api.composer() is None


@pytest.mark.long
def test_a_directory_that_is_not_trusted_asks_before_anything_else(agent: Seats) -> None:
    """Neither hooks nor status line nor presence: the pane is the only witness."""
    api = agent(in_turn(Reply("done")), trusted=False)
    api.start()
    api.until(lambda: "Yes, I trust this folder" in api.tmux(*SHOW))
    assert api.composer() is None
    assert api.claude.presence(api.pid, api.environment) is None
    assert api.signals == []


@pytest.mark.long
def test_a_subagent_names_itself_before_its_words(agent: Seats) -> None:
    """The reporter tells by the beginning of a report whether a subagent wrote it."""
    child = ToolCall(
        "Agent", {"description": "a", "prompt": "CHILD", "subagent_type": "general-purpose"}
    )
    main = in_turn(Reply(tool_calls=(child,)), Reply("done"))
    inside = in_turn(bash("echo inside"), Reply("child done"))
    api = agent(lambda request: (inside if "begin" not in request.opening else main)(request))
    api.start(arguments=("--allowedTools", "Bash", "Agent"))
    api.until(lambda: [each for each in api.signals if each.event == "SubagentStop"])
    from_child = [each for each in api.signals if each.subagent and each.event != "SubagentStart"]
    assert {each.event for each in from_child} == {"PostToolUse", "SubagentStop"}
    for each in from_child:
        assert before(each.payload, "agent_id", "hook_event_name")


@pytest.mark.long
def test_a_compaction_can_be_put_off_once_and_is_recorded(agent: Seats) -> None:
    """This CLI compacts by itself only where a window for it is named."""
    turn = in_turn(*(bash("seq 1 200", tokens) for tokens in (30_000, 90_000, 95_000, 97_000)))

    def answer(request: Request) -> Reply:
        if request.asks_for_summary:
            return Reply("<summary>all of it</summary>")
        return Reply("after") if request.is_compacted else turn(request)

    api = agent(answer)
    refusal = {"decision": "block", "reason": "a handoff is under way"}
    api.claude.responses.ask(API, {"PreCompact": refusal})
    api.start(arguments=("--allowedTools", "Bash", "--autocompact", "100k"))
    assert api.apply("PreCompact").verdict is True
    assert api.apply("PreCompact", 2).verdict is False
    assert api.apply("PostCompact").payload["trigger"] == "auto"
    assert api.apply("SessionStart", 2).payload["source"] == "compact"
    (compacted,) = api.until(lambda: api.recorded(Compacted))
    assert (compacted.trigger, (compacted.pre_tokens or 0) > 90_000) == ("auto", True)
    api.apply("Stop")


@pytest.mark.long
@pytest.mark.parametrize("command", ["/compact", "/clear"])
def test_a_session_that_begins_anew_is_told_what_lies_ready(agent: Seats, command: str) -> None:
    """Once, at the start itself, and the record shows it."""

    def answer(request: Request) -> Reply:
        if request.asks_for_summary:
            return Reply("<summary>all of it</summary>")
        return Reply("well")

    api = agent(answer)
    api.start()
    api.apply("Stop")
    api.rest(Activity.IDLE)
    api.claude.supplement(API, "THE-FACTS of the work", at_start=True)
    api.type_in(command)
    began = api.apply("SessionStart", 2)
    assert (began.payload["source"], began.verdict) == (command[1:], True)
    assert (began.session_id == api.session) is (command == "/compact")
    api.rest(Activity.IDLE)
    api.type_in("go on")
    api.apply("Stop", 2)
    assert "THE-FACTS of the work" in told(api.model.requests[-1])
    api.session = SessionId(str(began.session_id))
    api.order = replace(api.order, session_id=api.session)
    (given,) = api.until(lambda: api.recorded(ContextInjected))
    assert (given.hook_event, given.text) == ("SessionStart", "THE-FACTS of the work")


@pytest.mark.long
def test_facts_laid_for_the_next_step_go_in_with_the_next_prompt(agent: Seats) -> None:
    api = agent(in_turn(Reply("well")))
    api.start()
    api.apply("Stop")
    api.rest(Activity.IDLE)
    api.claude.supplement(API, "THE-FACTS of the work", at_start=False)
    api.type_in("go on")
    api.apply("Stop", 2)
    assert "THE-FACTS of the work" in told(api.model.requests[-1])
    (given,) = api.until(lambda: api.recorded(ContextInjected))
    assert given.hook_event == "UserPromptSubmit"
    assert api.claude.withdraw_supplement(API) is False


def test_an_argument_that_it_does_not_know_ends_it_at_once(agent: Seats) -> None:
    api = agent(in_turn(Reply("done")))
    api.start(arguments=("--no-such-flag",))
    # What tmux says of a dead pane may push the only line into the history.
    api.until(lambda: "unknown option" in api.tmux(*SHOW, "-S", "-"))
    api.until(api.is_over)
    assert api.signals == []


def read(path: Path) -> str | None:
    return path.read_text().strip() if path.exists() else None


def before(payload: Mapping[str, Any], first: str, second: str) -> bool:
    names = list(payload)
    return names.index(first) < names.index(second)


@pytest.mark.long
@pytest.mark.parametrize("mode", ["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"])
def test_mentioned_prompt_files_are_in_the_first_request_and_in_no_argument(
    agent: Seats, own_home: Path, mode: str
) -> None:
    """As many as a prompt of 120 kB makes, each as long as it may be, in a folder with a space."""
    folder = own_home / "a state folder"
    folder.mkdir()
    files = [folder / f"prompt-{number:016x}.md" for number in range(6)]
    for number, path in enumerate(files):
        lines = [f"WORDS-OF-THE-USER {number} {line}" for line in range(MOST_LINES)]
        path.write_text("\n".join(lines)[:LONGEST_PIECE])
        path.chmod(0o600)
    api = agent(in_turn(Reply("done")))
    if mode == "bypassPermissions":
        # Else the CLI refuses the mode to root, and asks everybody whether it is meant.
        api.environment["IS_SANDBOX"] = "1"
        known = Path(api.environment["CLAUDE_CONFIG_DIR"]) / ".claude.json"
        said = {**json.loads(known.read_text()), "bypassPermissionsModeAccepted": True}
        known.write_text(json.dumps(said))
    api.start(mention(files), mode=mode)
    api.apply("Stop")
    assert api.heard("PermissionRequest") == 0
    first = told(next(request for request in api.model.requests if request.has_tools))
    found = [first.find(f"WORDS-OF-THE-USER {number} 700") for number in range(6)]
    assert -1 not in found
    assert found == sorted(found)
    assert b"WORDS-OF-THE-USER" not in Path(f"/proc/{api.pid}/cmdline").read_bytes()


@pytest.mark.long
def test_the_record_has_what_a_prompt_file_held_and_a_removed_one_is_not_missed(
    agent: Seats, own_home: Path
) -> None:
    file = own_home / "prompt-0123456789abcdef.md"
    file.write_text("WORDS-OF-THE-USER\nand more\n")
    api = agent(in_turn(Reply("done"), Reply("well")))
    api.start(mention([file]))
    api.apply("Stop")
    (taken,) = api.until(lambda: api.recorded(PromptFileTaken))
    assert (taken.path, taken.text) == (str(file), "WORDS-OF-THE-USER\nand more\n")
    collector = Collector()
    for said in api.recorded(UserSaid):
        collector.feed(said)
    collector.feed(taken)
    assert collector.goal == taken.text
    file.unlink()
    api.rest(Activity.IDLE)
    api.type_in("go on")
    api.apply("Stop", 2)
    api.end()
    api.end_server()
    api.start(None, resume=True)
    api.rest(Activity.IDLE)
    api.type_in("go on again")
    api.apply("Stop", 3)
    assert "WORDS-OF-THE-USER" in told(api.model.requests[-1])


@pytest.mark.long
def test_a_session_can_be_left_for_an_earlier_one(agent: Seats) -> None:
    """With `/resume ID`: the process reports the earlier session's id, and writes its file."""
    api = agent(in_turn(Reply("well")))
    api.start()
    api.apply("Stop")
    api.rest(Activity.IDLE)
    first, length = api.session, len(api.recorded(TurnEnded))
    record = api.claude.transcript(api.order)
    assert record is not None
    api.type_in("/clear")
    second = api.apply("SessionStart", 2)
    assert second.session_id != first
    api.rest(Activity.IDLE)
    api.type_in("go on")
    api.apply("Stop", 2)
    api.rest(Activity.IDLE)
    api.type_in(f"/resume {first}")
    again = api.apply("SessionStart", 3)
    assert (again.payload["source"], again.session_id) == ("resume", first)
    assert again.payload["transcript_path"] == str(record)
    assert [each.payload["reason"] for each in api.signals if each.event == "SessionEnd"] == [
        "clear",
        "resume",
    ]
    assert api.rest(Activity.IDLE).session_id == first
    api.type_in("and on")
    assert api.apply("Stop", 3).session_id == first
    api.until(lambda: len(api.recorded(TurnEnded)) > length)
