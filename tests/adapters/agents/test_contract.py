"""What holds of every runtime, and that each can do what its capabilities say, and no more."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from cockpit.adapters.agents import RUNTIMES
from cockpit.adapters.hooks.spool import STATUS_LINE
from cockpit.adapters.process.launch_order import LaunchOrders
from cockpit.core.capabilities import SessionIds, Source
from cockpit.core.cli_events import (
    DialogOpened,
    SessionBegan,
    SessionClosed,
    TurnBroken,
    TurnOver,
)
from cockpit.core.errors import BadUsage, Failed, NotNow, ProgramMissing
from cockpit.core.ids import SessionId
from cockpit.core.meter import Meter
from cockpit.core.permission import ASKS_FIRST
from cockpit.core.reading import Confidence
from cockpit.core.session import Compacted, CostCounted, Identified, Skipped, TurnFailed
from cockpit.demo.standin.behaviour import read_flags
from cockpit.ports.panes import Screen
from cockpit.ports.runtimes import Program
from tests.adapters.agents.cases import API, DATA, HOOKS, IDENT, OWN, Case, case

NONSENSE: tuple[object, ...] = (
    *(None, True, -1, 1e308, "", "\0", "\udce9", "../../etc/passwd", "/etc/passwd", [], {}),
    *([{"a": [None]}], {"type": 7}, "x" * 100_000),
)
"""What a forged report can have in any field."""
T = TypeVar("T")


@pytest.fixture(params=(*RUNTIMES, OWN))
def one(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    return case(request.param, tmp_path)


def of(kind: type[T], found: Iterable[object]) -> list[T]:
    return [each for each in found if isinstance(each, kind)]


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# Starting


@pytest.mark.parametrize(
    "prompt", ["!touch x", "--help x", "-p x y", "# note", "/tmp/x is full", "@x y"]
)
def test_the_beginning_of_a_prompt_does_nothing(one: Case, tmp_path: Path, prompt: str) -> None:
    """Nor can other users of the machine read it: it is in a private file. Only a plain command
    gets the prompt itself, after `--`."""
    LaunchOrders(tmp_path / "orders").command(one.launch(prompt=prompt), kept_as="one")
    fields = (tmp_path / "orders" / "one.order").read_bytes().split(b"\0")
    if not one.runtime.capabilities.readings:
        assert fields[-3:-1] == [b"--", prompt.encode()]
        return
    assert not [field for field in fields if prompt.encode() in field]
    (kept,) = [path for path, text in files(tmp_path).items() if text == prompt.encode()]
    assert kept.stat().st_mode & 0o077 == 0
    assert any(str(kept).encode() in field for field in fields)


def test_a_process_carries_its_marks(one: Case) -> None:
    launch = one.launch()
    assert launch.environment["COCKPIT_AGENT"] == API
    assert launch.environment["COCKPIT_RUN"] == "marker"
    assert launch.environment["HOME"] == one.order.environment["HOME"]
    assert launch.directory == one.order.directory
    assert Path(launch.argv[0]).is_absolute()


def test_a_session_is_named_where_its_id_is_known(one: Case) -> None:
    ids, ident = one.runtime.capabilities.session_ids, one.order.session_id
    assert any(ident in word for word in one.launch().argv) is (ids is SessionIds.GIVEN)
    again = any(ident in word for word in one.launch(resume=True).argv)
    assert again is (ids is not SessionIds.NONE)


def test_arguments_that_cockpit_sets_are_refused_with_the_reason(one: Case) -> None:
    for allowed in ("--verbose", "-xap"):  # the value of an option may have any letters
        assert allowed in one.launch(arguments=(allowed,)).argv
    for argument in one.reserved:
        with pytest.raises(BadUsage, match="not allowed") as refused:
            one.launch(arguments=(argument,))
        assert refused.value.detail
        is_option = argument.startswith("-")
        assert ("--OPTION=VALUE" in refused.value.hint) is not is_option


def test_a_missing_program_says_how_to_install_it(one: Case, tmp_path: Path) -> None:
    if not one.package:
        pytest.skip("it is always there")
    with pytest.raises(ProgramMissing) as refused:
        one.runtime.program({"PATH": str(tmp_path)})
    assert one.package in refused.value.hint


# Permission modes


def test_the_nearest_of_its_own_modes_is_itself_or_a_narrower_one(one: Case) -> None:
    for mode, rights in one.runtime.modes.items():
        nearest = one.runtime.nearest_mode(mode, rights)
        assert one.runtime.modes[nearest].within(rights), mode
        assert one.runtime.nearest_mode(nearest, one.runtime.modes[nearest]) == nearest


def test_it_can_be_started_in_each_of_its_modes_and_in_no_other(one: Case) -> None:
    started = {mode: one.launch(permission_mode=mode) for mode in ("", *one.runtime.modes)}
    assert all(launch.argv for launch in started.values())
    if one.runtime.name in ("claude", "command"):  # Claude Code refuses one itself
        return
    with pytest.raises(BadUsage, match="no permission mode") as refused:
        one.launch(permission_mode="everything")
    assert all(mode in refused.value.hint for mode in one.runtime.modes)


def test_an_unknown_mode_of_another_cli_becomes_one_of_its_own(one: Case) -> None:
    nearest = one.runtime.nearest_mode("a mode of tomorrow", ASKS_FIRST)
    assert nearest in one.runtime.modes or not one.runtime.modes


# Reports


def test_no_report_raises(one: Case) -> None:
    known = [("SessionStart", {"source": "startup"}), one.dialog, one.error]
    payloads = [{**payload, "transcript_path": str(one.transcript)} for _, payload in known]
    keys = sorted({key for payload in payloads for key in payload} | {"session_id", "agent_id"})
    for event in HOOKS:
        for payload in payloads:
            for key in keys:
                for value in NONSENSE:
                    signal = one.signal(event, {**payload, key: value})
                    for moment in one.runtime.cli_events(signal):
                        assert not isinstance(moment, SessionBegan) or moment.session
                    one.runtime.report(signal)
                    one.runtime.permission_mode(signal)


def test_a_forged_report_names_no_other_file_as_the_transcript(one: Case) -> None:
    ident, own = one.order.session_id, str(one.transcript)

    def begins(path: str, session: str = ident) -> bool:
        payload = {"session_id": session, "transcript_path": path, "source": "clear"}
        began = of(SessionBegan, one.runtime.cli_events(one.signal("SessionStart", payload)))
        accepted = one.runtime.reported_transcript(path, session)
        assert accepted in (None, Path(path))
        assert bool(began) is (accepted is not None), path
        report = one.runtime.report(one.signal(STATUS_LINE, payload))
        assert report is None or report.transcript == accepted
        return bool(began)

    assert begins(own) is (Source.HOOKS in one.runtime.capabilities.activity)
    other = ident.replace("39a", "49a")
    folder, _, name = own.rpartition("/")
    for forged in (
        "/etc/passwd",
        own.replace(ident, other).replace("39a", "49a"),
        f"{folder}/../{name}",
        f"{folder}/x/../{name}",
        own[1:],
        f"{own}.old",
    ):
        assert not begins(forged), forged
    for session in ("", "../" + ident, other, ident + "\n", f"{ident}/.."):
        assert not begins(own, session), session


# Reopening


def test_only_a_session_of_this_directory_is_reopened(one: Case, tmp_path: Path) -> None:
    if not one.runtime.capabilities.reopening:
        with pytest.raises(NotNow):
            one.runtime.resumable(one.order)
        return
    with pytest.raises(BadUsage, match="no session"):
        one.runtime.resumable(one.order)
    one.keep(tmp_path / "elsewhere")
    with pytest.raises(BadUsage, match="another directory"):
        one.runtime.resumable(one.order)
    one.keep(one.order.directory)
    one.runtime.resumable(one.order)


@pytest.mark.parametrize("ident", ["", "x", "../x", "/etc/passwd", "*", "a\0b", "--help"])
def test_an_id_that_is_none_is_refused(one: Case, ident: str) -> None:
    order = replace(one.order, session_id=SessionId(ident))
    if one.runtime.capabilities.reopening:
        with pytest.raises(BadUsage, match="not a session id"):
            one.runtime.resumable(order)
    assert one.runtime.reported_transcript(str(one.transcript), ident) is None


# Screens and transcripts


def test_nothing_is_read_from_an_empty_screen(one: Case) -> None:
    for screen in (Screen(()), Screen(("",) * 24)):
        assert one.runtime.composer(screen) is None
        assert one.runtime.first_dialog(screen) is None
        assert not one.runtime.screen_events(screen)
    assert one.runtime.presence_in("") is None
    assert one.runtime.presence(1, one.order.environment) is None


def test_every_recorded_line_is_read(one: Case) -> None:
    refused = [line for line in one.recorded() if isinstance(one.runtime.parse(line), Skipped)]
    assert refused == []


def test_a_broken_line_is_skipped_or_read_in_part(one: Case) -> None:
    for line in list(one.recorded())[::3]:
        for broken in broken_lines(line):
            found = one.runtime.parse(broken)
            assert isinstance(found, Skipped | tuple | list), broken[:200]


def broken_lines(line: bytes) -> Iterator[bytes]:
    """What is torn or not text, and what has a value of another type in one place."""
    half = len(line) // 2
    yield line[:half]
    yield line[:-1]
    yield line[:half] + b"\xff\xfe\x00" + line[half:]
    record = json.loads(line)
    for key, value in record.items():
        for wrong in (None, 7, -1e300, "x", [], {}, [None], {"type": [None]}):
            yield json.dumps({**record, key: wrong}).encode()
            inner = value if isinstance(value, dict) else {}
            for name in inner:
                yield json.dumps({**record, key: {**inner, name: wrong}}).encode()


NO_RECORDS = {
    "text": b"junk",
    "list": b"[1]",
    "number": b"7",
    "null": b"null",
    "not UTF-8": b'\xff\xfe{"type":"x\xff"}',
    "zeros": b"\0" * 100,
    "deep list": b"[" * 100_000,
    "deep mapping": b'{"a":' * 100_000,
    "long number": b'{"type":' + b"9" * 5000 + b"}",
}


@pytest.mark.parametrize("line", NO_RECORDS.values(), ids=NO_RECORDS)
def test_what_is_no_record_says_nothing(one: Case, line: bytes) -> None:
    found = one.runtime.parse(line)
    assert isinstance(found, Skipped) or not found


def test_a_large_line_is_no_problem(one: Case) -> None:
    """Half a megabyte: the whole output of a command, or a file."""
    for line in list(one.recorded())[::7]:
        large = line[:-1] + b',"more":"' + b"a" * 500_000 + b'"}'
        assert isinstance(one.runtime.parse(large), Skipped | tuple | list)


# Capabilities


def test_readings(one: Case) -> None:
    can = bool(one.runtime.capabilities.readings)
    meter = Meter()
    for event in one.events():
        meter.feed(event)
    assert (meter.tokens is not None) is can
    known = one.runtime.window("a model of tomorrow", one.order.environment)
    assert (known.confidence is not Confidence.UNKNOWN) is can
    compacts_at = one.runtime.compaction_rule(one.order.environment).compacts_at(200_000)
    assert (compacts_at is not None) is can
    assert not can or 0 < (compacts_at or 0) < 200_000


def test_the_window(one: Case) -> None:
    named = [event.window for event in of(Identified, list(one.events())) if event.window]
    size = {"context_window": {"context_window_size": 1_000_000}}
    report = one.runtime.report(one.signal(STATUS_LINE, size))
    told = bool(named) or (report is not None and report.window == 1_000_000)
    assert told is bool(one.runtime.capabilities.window)


def test_requests(one: Case) -> None:
    """A text in the middle of a turn, and one at its end, of which one is delivered."""
    can = one.runtime.capabilities
    one.launch()
    assert one.runtime.ask(API, "IN-THE-MIDDLE", "AT-THE-END") is bool(can.mid_turn)
    prepared = b" ".join(files(one.order.directory.parent / "state").values())
    assert (b"IN-THE-MIDDLE" in prepared) is bool(can.mid_turn)
    assert (b"AT-THE-END" in prepared) is bool(can.turn_end)
    assert one.runtime.withdraw_ask(API) is bool(can.mid_turn)
    assert one.runtime.withdraw_ask(API) is False
    assert one.runtime.ask(API, "IN-THE-MIDDLE", None) is bool(can.mid_turn)
    assert b"AT-THE-END" not in b" ".join(files(one.order.directory.parent / "state").values())


def test_facts_are_given_where_requests_are(one: Case) -> None:
    can = bool(one.runtime.capabilities.mid_turn)
    one.launch()
    for at_start in (True, False):
        assert one.runtime.supplement(API, "THE-FACTS", at_start=at_start) is can
        prepared = b" ".join(files(one.order.directory.parent / "state").values())
        assert (b"THE-FACTS" in prepared) is can
    one.runtime.ask(API, "x", None)
    assert one.runtime.withdraw_ask(API) is can
    assert one.runtime.withdraw_supplement(API) is can
    assert one.runtime.withdraw_supplement(API) is False


def test_permission_dialogs(one: Case) -> None:
    event, payload = one.dialog
    found = of(DialogOpened, one.runtime.cli_events(one.signal(event, payload)))
    asked = [
        dialog for dialog in found if (dialog.kind, dialog.command) == ("permission", "make x")
    ]
    assert bool(asked) is bool(one.runtime.capabilities.dialogs)


def test_errors_of_the_api(one: Case) -> None:
    event, payload = one.error
    by_hook = of(TurnBroken, one.runtime.cli_events(one.signal(event, payload)))
    by_transcript = of(TurnFailed, one.events())
    assert bool(by_hook or by_transcript) is bool(one.runtime.capabilities.api_errors)


def test_compactions(one: Case) -> None:
    can = one.runtime.capabilities
    assert bool(of(Compacted, list(one.events()))) is bool(can.compactions)
    assert one.runtime.release_compaction(API) is False
    assert one.runtime.hold_compaction(API) is bool(can.held_compactions)
    assert one.runtime.hold_compaction(API) is bool(can.held_compactions)
    assert one.runtime.release_compaction(API) is bool(can.held_compactions)
    assert one.runtime.release_compaction(API) is False


def test_drafts(one: Case) -> None:
    can = bool(one.runtime.capabilities.drafts)
    for _ in range(2):
        assert one.runtime.permit_writing(API, one.order.directory / "draft.md") is can
    for _ in range(2):
        one.runtime.forbid_writing(API)


async def test_a_copy_that_fails_is_told_from_one_that_is_impossible(one: Case) -> None:
    failing = Program(Path("/bin/false"), "1")
    one.keep(one.order.directory)
    with pytest.raises(Failed if one.runtime.capabilities.copies else NotNow):
        await one.runtime.answer_aside(one.order, failing, "What is left?", 20.0)


async def test_a_copy_in_a_directory_that_is_gone_is_told(one: Case) -> None:
    gone = replace(one.order, directory=one.order.directory / "gone")
    one.keep(one.order.directory)
    with pytest.raises((Failed, NotNow)):
        await one.runtime.answer_aside(gone, Program(Path("/bin/false"), "1"), "What?", 20.0)


async def test_a_copy_whose_program_was_removed_after_its_probe_is_told(one: Case) -> None:
    removed = Program(one.order.directory / "removed", "1")
    one.keep(one.order.directory)
    with pytest.raises((Failed, NotNow)) as refused:
        await one.runtime.answer_aside(one.order, removed, "What is left?", 20.0)
    assert one.runtime.name in ("claude", "command", OWN) or (
        str(removed.path) in refused.value.detail and refused.value.hint
    )


def test_cost(one: Case) -> None:
    counted = of(CostCounted, one.events())
    report = one.runtime.report(one.signal(STATUS_LINE, {"cost": {"total_cost_usd": 0.5}}))
    told = bool(counted) or (report is not None and report.cost_usd == 0.5)
    assert told is bool(one.runtime.capabilities.cost)


def test_tools(one: Case, tmp_path: Path) -> None:
    """They are offered only where the order says so."""
    without = one.launch(prompt=None)
    before = files(tmp_path)
    offered = one.launch(prompt=None, offers_tools=True)
    told = (offered.argv, offered.environment, files(tmp_path))
    changed = told != (without.argv, without.environment, before)
    assert changed is bool(one.runtime.capabilities.tools)


def test_background_work(one: Case) -> None:
    tasks = [{"id": "b1", "type": "shell", "command": "make serve"}]
    signal = one.signal("Stop", {"background_tasks": tasks})
    named = [
        task
        for over in of(TurnOver, list(one.runtime.cli_events(signal)))
        for task in over.background
    ]
    assert bool(named) is bool(one.runtime.capabilities.background)


def test_the_end_of_a_session(one: Case) -> None:
    found = list(one.runtime.cli_events(one.signal("SessionEnd", {"reason": "clear"})))
    expected = [SessionClosed("clear")] if one.runtime.capabilities.session_ends else []
    assert found == expected


def test_what_says_what_it_does(one: Case, tmp_path: Path) -> None:
    sources = one.runtime.capabilities.activity
    by_title = one.runtime.presence_in("✋  Action Required (work)")
    assert (by_title is not None) is (Source.TITLE in sources)
    screens = [Screen(tuple(path.read_text().splitlines())) for path in DATA.rglob("*.screen")]
    assert screens
    assert any(map(one.runtime.screen_events, screens)) is (Source.SCREEN in sources)
    by_hook = list(one.runtime.cli_events(one.signal(*one.dialog)))
    assert bool(by_hook) is (Source.HOOKS in sources)
    assert bool(one.events()) is (Source.TRANSCRIPT in sources)
    note(Path(one.order.environment["HOME"]))
    by_note = one.runtime.presence(os.getpid(), one.order.environment)
    assert (by_note is not None) is (Source.NOTE in sources)


def note(home: Path) -> None:
    """Write Claude Code's note of this process."""
    started = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
    told = {"pid": os.getpid(), "sessionId": IDENT, "procStart": started, "status": "idle"}
    (home / "sessions").mkdir(exist_ok=True)
    path = home / "sessions" / f"{os.getpid()}.json"
    path.write_text(json.dumps({**told, "startedAt": int(time.time() * 1000)}))


# The real programs, and the stand-in


@pytest.mark.parametrize("resume", [False, True])
def test_the_stand_in_takes_what_claude_code_gets(tmp_path: Path, resume: bool) -> None:
    one = case("claude", tmp_path)
    launch = one.launch(resume=resume, model="m", permission_mode="plan", offers_tools=True)
    flags = read_flags(launch.argv[1:])
    assert (flags.session_id, flags.resume) == (IDENT, resume)
    assert (flags.model, flags.permission_mode) == ("m", "plan")


@pytest.mark.parametrize("name", [name for name in RUNTIMES if name != "command"])
def test_the_real_program_has_the_options_that_it_gets(name: str, tmp_path: Path) -> None:
    """Journeys with it are in `tests/supervisor/journeys`."""
    one = case(name, tmp_path)
    environment = {**os.environ, **one.order.environment, "PATH": search_path()}
    try:
        program = one.runtime.program(environment)
    except ProgramMissing:
        pytest.skip("it is not installed")
    known: dict[tuple[str, ...], str] = {}
    for resume in (False, True):
        launch = one.launch(resume=resume, model="m", permission_mode="plan", offers_tools=True)
        words = launch.argv[1:]
        command = tuple(words[:1]) if not words[0].startswith("-") else ()
        if command not in known:
            asked = [str(program.path), *command, "--help"]
            told = subprocess.run(asked, env=environment, capture_output=True, check=True)
            known[command] = (told.stdout + told.stderr).decode()
        options = {word.partition("=")[0] for word in words if word.startswith("--")}
        assert [option for option in sorted(options) if option not in known[command]] == []


def search_path() -> str:
    """The user's PATH, and the programs that `make clis` installs."""
    installed = Path(__file__).parents[3] / ".venv" / "npm" / "node_modules" / ".bin"
    return os.pathsep.join([os.environ.get("PATH", os.defpath), str(installed)])
