"""cockpit's plugin for opencode, fed with events that opencode 1.18.33 sent.

The plugin runs in node; opencode runs it in its own program.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from cockpit.adapters.agents.opencode.permission_modes import permission_mode
from cockpit.adapters.agents.opencode.plugin import FOLDER, plugin_environment
from cockpit.adapters.agents.opencode.record import parse
from cockpit.adapters.agents.opencode.runtime import Opencode
from cockpit.core.cli_events import (
    CliEvent,
    CompactionBegins,
    CompactionOver,
    DialogOpened,
    PromptTaken,
    SessionBegan,
    SubagentBegan,
    SubagentOver,
    ToolUsed,
    TurnOver,
)
from cockpit.core.ids import AgentName, SessionId
from cockpit.core.meter import Meter
from cockpit.core.session import (
    Compacted,
    ContextInjected,
    Identified,
    Interrupted,
    SessionEvent,
    Skipped,
    ToolFinished,
    TurnFailed,
    TurnRecorded,
    UserSaid,
)
from cockpit.ports.runtimes import SessionOrder

DATA = Path(__file__).parents[2] / "data" / "opencode"
REPLAY = Path(__file__).with_name("opencode_replay.mjs")
API = AgentName("api")
T = TypeVar("T")

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")


class Replayed:
    """What the plugin made of one recording."""

    def __init__(self, folder: Path) -> None:
        self.state = folder / "state"
        self.runtime = Opencode(self.state)
        self.runtime.spool.prepare(API)
        self.prompt = folder / "prompt.md"
        self.variables: dict[str, str] = {}
        self.calls: list[list[str]] = []

    def play(self, recording: str, session: str = "") -> None:
        order = SessionOrder(
            API, SessionId(session), "run", Path("/home/pilot/work"), resume=bool(session)
        )
        prompt = self.prompt if self.prompt.exists() else None
        environment = plugin_environment(self.state, order, permission_mode(""), prompt)
        assert NODE is not None
        played = subprocess.run(
            [
                NODE,
                "--no-warnings",
                str(REPLAY),
                json.loads(environment["OPENCODE_CONFIG_CONTENT"])["plugin"][-1],
                str(DATA / f"{recording}.jsonl") if recording else "/dev/null",
                "/home/pilot/work",
            ],
            env={"PATH": "/usr/bin:/bin", **self.variables, **environment},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        self.calls = [json.loads(line) for line in played.stdout.splitlines()]

    @property
    def events(self) -> list[SessionEvent]:
        (record,) = (self.state / FOLDER).glob("ses_*.jsonl")
        found: list[SessionEvent] = []
        for line in record.read_bytes().splitlines():
            events = parse(line)
            assert not isinstance(events, Skipped), line
            found += events
        return found

    def of(self, kind: type[T]) -> list[T]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def cli_events(self) -> list[CliEvent]:
        return [
            moment
            for signal in self.runtime.spool.take()
            for moment in self.runtime.cli_events(signal)
        ]


@pytest.fixture
def replayed(tmp_path: Path) -> Callable[..., Replayed]:
    def play(recording: str, session: str = "", prepare: Callable[[Replayed], None] | None = None):  # type: ignore[no-untyped-def]
        made = Replayed(tmp_path)
        if prepare is not None:
            prepare(made)
        made.play(recording, session)
        return made

    return play


@pytest.mark.parametrize(
    ("limit", "point"), [("4000", 96_000), ("20000", 92_000), ("-5", 92_000), ("0.5", 92_000)]
)
def test_the_limit_of_a_reply_moves_the_compaction_point(
    replayed: Callable[..., Replayed], limit: str, point: int
) -> None:
    def set_limit(made: Replayed) -> None:
        made.variables["OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX"] = limit

    told = replayed("command", prepare=set_limit).of(Identified)
    (about,) = [each for each in told if each.window]
    assert about.compacts_at == point


def test_a_turn_with_a_command(replayed: Callable[..., Replayed]) -> None:
    flown = replayed("command")
    meter = Meter()
    for event in flown.events:
        meter.feed(event)
    assert meter.tokens == 31_123
    assert (meter.api_calls, meter.tool_calls, meter.turns) == (2, 1, 1)
    (about,) = [each for each in flown.of(Identified) if each.window]
    assert (about.model, about.window, about.compacts_at) == ("lab/lab-model", 100_000, 92_000)
    assert [prompt.text for prompt in flown.of(UserSaid)] == ["Do the work."]
    assert [each.text for each in flown.of(ToolFinished)] == ["hi\n"]
    assert [each.exit for each in flown.of(ToolFinished)] == [0]
    kinds = [type(moment) for moment in flown.cli_events]
    assert kinds == [SessionBegan, PromptTaken, ToolUsed, TurnOver]


def test_the_end_of_a_long_output_is_recorded(
    replayed: Callable[..., Replayed], tmp_path: Path
) -> None:
    """The line with the result of a check is the last one."""
    long = f"{'x' * 4_000}4 passed"
    recorded = (DATA / "command.jsonl").read_text()
    (tmp_path / "long.jsonl").write_text(recorded.replace('"hi\\n"', f'"{long}"'))
    (finished,) = replayed(str(tmp_path / "long")).of(ToolFinished)
    assert (finished.text, finished.tail) == (long[:2_000], long[-1_000:])


def test_every_report_names_the_transcript(replayed: Callable[..., Replayed]) -> None:
    flown = replayed("command")
    signals = flown.runtime.spool.take()
    for signal in signals:
        path = signal.payload["transcript_path"]
        found = flown.runtime.reported_transcript(path, signal.session_id or "")
        assert found is not None
        assert found.is_file()
    assert found is not None
    assert found.stat().st_mode & 0o777 == 0o600


def test_a_request_reaches_the_model_with_the_next_result(
    replayed: Callable[..., Replayed],
) -> None:
    flown = replayed(
        "command", prepare=lambda made: made.runtime.ask(API, "Write it down.", "At the end.")
    )
    (result,) = [call[1] for call in flown.calls if call[0] == "result"]
    assert result.endswith("<system-reminder>\nWrite it down.\n</system-reminder>")
    assert not [call for call in flown.calls if call[0] == "prompt"]


def test_a_request_at_the_end_goes_on_as_a_prompt(replayed: Callable[..., Replayed]) -> None:
    def lay(made: Replayed) -> None:
        made.runtime.responses.ask(API, {"Stop": {"decision": "block", "reason": "At the end."}})

    flown = replayed("command", prepare=lay)
    (prompt,) = [call for call in flown.calls if call[0] == "prompt"]
    assert prompt[2] == "At the end."


def test_the_first_prompt_comes_from_its_file(replayed: Callable[..., Replayed]) -> None:
    def lay(made: Replayed) -> None:
        made.prompt.write_text("!touch x")

    flown = replayed("command", prepare=lay)
    # The recorded prompt is not the sentence that names the file, so it stays.
    assert ["said", "Do the work."] in flown.calls


def test_a_reopened_session_gets_its_prompt_from_the_plugin(
    replayed: Callable[..., Replayed],
) -> None:
    session = "ses_df7578438ffeAeoheROLxG4bce"

    def lay(made: Replayed) -> None:
        made.prompt.write_text("Go on.")

    flown = replayed("", session=session, prepare=lay)
    assert ["prompt", session, "Go on."] in flown.calls
    assert flown.cli_events[0] == SessionBegan(session, "resume")


def test_dialogs_and_questions(replayed: Callable[..., Replayed]) -> None:
    flown = replayed("permissions")
    opened = [moment for moment in flown.cli_events if isinstance(moment, DialogOpened)]
    assert [(each.kind, each.tool) for each in opened] == [
        ("permission", "Bash"),
        ("permission", "Write"),
        ("permission", "Write"),
        ("permission", "Write"),
        ("question", ""),
    ]
    assert opened[0].command == "echo one"
    assert opened[-1].detail == "Which colour?"
    assert flown.of(TurnRecorded)[-1].working is False


def test_one_file_is_allowed_without_a_dialog(replayed: Callable[..., Replayed]) -> None:
    path = Path("/home/pilot/work/a.md")
    flown = replayed("permissions", prepare=lambda made: made.runtime.permit_writing(API, path))
    # The folder does not exist here, so the reporter allows nothing.
    assert not [call for call in flown.calls if call[0] == "permission"]


def test_an_error_of_the_api_is_in_the_transcript(replayed: Callable[..., Replayed]) -> None:
    flown = replayed("error")
    (failed,) = flown.of(TurnFailed)
    assert (failed.error.error, failed.error.status) == ("No such thing", 400)
    assert not [moment for moment in flown.cli_events if isinstance(moment, TurnOver)]


def test_an_interrupt_is_no_error(replayed: Callable[..., Replayed]) -> None:
    flown = replayed("interrupted")
    assert len(flown.of(Interrupted)) == 1
    assert not flown.of(TurnFailed)
    # The command ends after the turn: a report would say that the agent works again.
    assert len(flown.of(ToolFinished)) == 1
    assert not [each for each in flown.cli_events if isinstance(each, TurnOver | ToolUsed)]


def test_a_compaction_is_announced_and_told(replayed: Callable[..., Replayed]) -> None:
    flown = replayed("compaction")
    assert [event.trigger for event in flown.of(Compacted)] == ["auto"]
    meter = Meter()
    for event in flown.events:
        meter.feed(event)
    assert meter.tokens == 10_123
    kinds = [type(moment) for moment in flown.cli_events]
    assert kinds.index(CompactionBegins) < kinds.index(CompactionOver)


def test_facts_after_a_compaction_come_with_the_next_step(
    replayed: Callable[..., Replayed],
) -> None:
    flown = replayed(
        "compaction",
        prepare=lambda made: made.runtime.supplement(API, "Remember this.", at_start=False),
    )
    assert ContextInjected("UserPromptSubmit", "Remember this.") in flown.of(ContextInjected)


def test_a_subagent_costs_tokens_but_fills_no_context(replayed: Callable[..., Replayed]) -> None:
    flown = replayed("subagent")
    meter = Meter()
    for event in flown.events:
        meter.feed(event)
    assert meter.tokens == 23_123
    assert meter.totals.cache_read == 5_000 + 6_000 + 20_000 + 22_000
    seen = flown.cli_events
    (began,) = [moment for moment in seen if isinstance(moment, SubagentBegan)]
    (over,) = [moment for moment in seen if isinstance(moment, SubagentOver)]
    assert (began.type, over.id) == ("general", began.id)
    assert [type(moment) for moment in seen].count(ToolUsed) == 1


def test_without_an_order_it_does_nothing(tmp_path: Path) -> None:
    made = Replayed(tmp_path)
    made.play("command")
    plugin = made.state / FOLDER / "cockpit-reports.js"
    assert NODE is not None
    done = subprocess.run(
        [NODE, "--no-warnings", str(REPLAY), plugin.as_uri(), "/dev/null", "/"],
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0
