"""Live sessions of opencode by its log and database: whose session it is, and what is left out."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cockpit.adapters.agents.opencode.other_sessions import OpencodeSessions
from cockpit.adapters.agents.opencode.process_log import ProcessLog, Run, Started, runs_of
from cockpit.adapters.agents.opencode.record import parse
from cockpit.adapters.process.process_table import started_at
from cockpit.config.kernel import USES_LINUX
from cockpit.core.session import (
    AssistantReplied,
    Compacted,
    Identified,
    SessionEvent,
    Skipped,
    ToolFinished,
    UserSaid,
)
from cockpit.ports.live_sessions import LiveSession
from cockpit.ports.runtimes import Activity

pytestmark = pytest.mark.skipif(not USES_LINUX, reason="open files are in /proc")

MAIN, OTHER, CHILD = (f"ses_de085273{number}ffehI0WdPto6Df3a9" for number in "123")
COUNTS = {"input": 3, "output": 120, "reasoning": 7, "cache": {"write": 1000, "read": 30_000}}


class Opencode:
    """A process with opencode's name that has its log open, and the files of opencode."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.data = home / "data" / "opencode"
        (self.data / "log").mkdir(parents=True)
        self.log = self.data / "log" / "opencode.log"
        self.log.touch()
        (home / "a place").mkdir()
        program = home / "opencode"
        shutil.copy(shutil.which("cat") or "/bin/cat", program)
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [program], stdin=subprocess.PIPE, stdout=log, cwd=home / "a place"
            )
        # It is started when its program is executed.
        while Path(f"/proc/{self.process.pid}/comm").read_text() != "opencode\n":
            pass
        with closing(sqlite3.connect(self.data / "opencode.db")) as connection, connection:
            connection.executescript(
                "create table session (id, directory, version, time_updated, parent_id);"
                "create table message (id, session_id, time_created, data);"
                "create table part (id, message_id, data);"
            )

    def add(self, table: str, *values: object) -> None:
        marks = ", ".join("?" * len(values))
        texts = [json.dumps(each) if isinstance(each, dict) else each for each in values]
        with closing(sqlite3.connect(self.data / "opencode.db")) as connection, connection:
            connection.execute(f"insert into {table} values ({marks})", texts)

    def session(self, ident: str = MAIN, parent: str | None = None) -> None:
        self.add("session", ident, str(self.home / "a place"), "1.18.33", 1_795_824_491_045, parent)

    def tell(self, text: str, *, run: str = "6675ab55", after: float = 3.0) -> None:
        """Write a line of the run that began so many seconds after the process."""
        at = datetime.fromtimestamp((started_at(self.process.pid) or 0.0) + after, UTC)
        line = f"timestamp={at.isoformat(timespec='milliseconds')} level=INFO run={run} {text}\n"
        with self.log.open("a") as log:
            log.write(line.replace("+00:00", "Z"))

    def begin(self, *, run: str = "6675ab55", after: float = 3.0) -> None:
        place = json.dumps(str(self.home / "a place"))
        self.tell(f'message="creating instance" directory={place}', run=run, after=after)

    def sessions(self) -> OpencodeSessions:
        environment = {"HOME": str(self.home), "XDG_DATA_HOME": str(self.home / "data")}
        return OpencodeSessions(environment, self.home / "copies")

    def found(self) -> list[LiveSession]:
        return list(self.sessions().look())


@pytest.fixture
def opencode(tmp_path: Path) -> Iterator[Opencode]:
    made = Opencode(tmp_path)
    yield made
    made.process.communicate()


def test_a_session_is_found_with_its_first_prompt(opencode: Opencode) -> None:
    opencode.begin()
    assert opencode.found() == []
    opencode.session()
    opencode.add("message", "m1", MAIN, 1, {"role": "user", "time": {"created": 1}})
    opencode.tell(f"message=created id={MAIN} slug=witty-cabin")
    opencode.tell(f"message=loop session.id={MAIN} step=0")
    (session,) = opencode.found()
    assert (session.id, session.runtime, session.kind) == (MAIN, "opencode", "interactive")
    assert (session.pid, session.version) == (opencode.process.pid, "1.18.33")
    assert session.directory == opencode.home / "a place"
    assert (session.activity, session.obstacle) == (Activity.BUSY, None)
    done = {"role": "assistant", "time": {"created": 2, "completed": 3}}
    opencode.add("message", "m2", MAIN, 2, done)
    assert opencode.found()[0].activity is Activity.IDLE


def test_a_subagents_session_is_not_the_users(opencode: Opencode) -> None:
    opencode.begin()
    opencode.session()
    opencode.session(CHILD, MAIN)
    opencode.tell(f"message=loop session.id={MAIN} step=0")
    opencode.tell(f"message=loop session.id={CHILD} step=0")
    assert [session.id for session in opencode.found()] == [MAIN]


def test_a_session_beside_one_that_works_cannot_be_adopted(opencode: Opencode) -> None:
    opencode.begin()
    opencode.session()
    opencode.session(OTHER)
    opencode.add("message", "m1", MAIN, 1, {"role": "assistant", "time": {"created": 1}})
    opencode.tell(f"message=loop session.id={MAIN} step=0")
    opencode.tell(f"message=loop session.id={OTHER} step=0")
    (session,) = opencode.found()
    assert session.id == OTHER
    assert session.obstacle is not None
    assert MAIN in session.obstacle.reason


def test_a_process_with_two_possible_runs_is_left_out(opencode: Opencode) -> None:
    opencode.begin()
    opencode.session()
    opencode.tell(f"message=loop session.id={MAIN} step=0")
    assert len(opencode.found()) == 1
    opencode.begin(run="another", after=20)
    assert opencode.found() == []


def test_an_earlier_run_in_the_directory_is_not_the_processs(opencode: Opencode) -> None:
    opencode.session()
    opencode.begin(run="before", after=-9)
    opencode.tell(f"message=loop session.id={MAIN} step=0", run="before", after=-8)
    assert opencode.found() == []


def test_a_run_without_its_beginning_counts_for_nobody(opencode: Opencode) -> None:
    opencode.session()
    opencode.tell(f"message=loop session.id={MAIN} step=0")
    opencode.begin()
    assert opencode.found() == []


def test_a_process_that_ended_has_no_session(opencode: Opencode) -> None:
    opencode.begin()
    opencode.session()
    opencode.tell(f"message=loop session.id={MAIN} step=0")
    opencode.process.communicate()
    assert opencode.found() == []


@pytest.mark.parametrize(
    "text", [b"", b"\n", b"nonsense\n", b"timestamp=x level=INFO run=1 \xff\n", b"\0" * 100]
)
def test_a_log_of_another_form_has_no_runs(tmp_path: Path, text: bytes) -> None:
    log = tmp_path / "opencode.log"
    log.write_bytes(text)
    assert [run.directory for run in ProcessLog(log).read()] in ([], [""])


def test_new_lines_are_read_once_and_a_new_log_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "opencode.log"
    begin = 'timestamp=2026-11-28T00:04:32.548Z level=INFO run=a message="creating instance" '
    path.write_text(f"{begin}directory=/one\ntimestamp=2026-11-28T00:04:33Z level=INFO ru")
    log = ProcessLog(path)
    (run,) = log.read()
    assert (run.directory, list(run.sessions)) == ("/one", [])
    with path.open("a") as file:
        file.write(f"n=a message=loop session.id={MAIN} step=0\n")
    (run,) = log.read()
    assert list(run.sessions) == [MAIN]
    path.unlink()
    path.write_text(f"{begin}directory=/two\n")
    assert [run.directory for run in log.read()] == ["/two"]


def test_two_processes_have_different_runs() -> None:
    early, late = Run(105.0, "/x"), Run(135.0, "/x")
    both = [Started(1, 100.0, "/x"), Started(2, 130.0, "/x")]
    assert runs_of(both, [early, late]) == {1: early, 2: late}
    assert runs_of([both[0]], [early, late]) == {}
    assert runs_of([Started(1, 100.0, "/x"), Started(2, 100.1, "/x")], [early]) == {}
    assert runs_of([Started(1, 100.0, "/y")], [early]) == {}


def test_the_transcript_is_written_from_the_database(opencode: Opencode) -> None:
    opencode.begin()
    opencode.session()
    opencode.tell(f"message=loop session.id={MAIN} step=0")
    opencode.add("message", "m1", MAIN, 1, {"role": "user", "time": {"created": 1_795_824_000_000}})
    opencode.add("part", "p1", "m1", {"type": "text", "text": "Count."})
    opencode.add("message", "m2", MAIN, 2, {
        "role": "assistant", "providerID": "lab", "modelID": "large", "tokens": COUNTS,
        "time": {"created": 1_795_824_000_001, "completed": 1_795_824_000_002}, "cost": 0.5,
    })  # fmt: skip
    state = {"status": "completed", "input": {"command": "false"}, "output": "x" * 9000,
             "metadata": {"exit": 3}, "time": {"end": 1_795_824_000_002}}  # fmt: skip
    opencode.add(
        "part", "p2", "m2", {"type": "tool", "tool": "bash", "callID": "c", "state": state}
    )
    opencode.add("part", "p3", "m2", {"type": "compaction", "auto": True})
    opencode.add("part", "p4", "m2", "not JSON")
    sessions = opencode.sessions()
    (session,) = sessions.look()
    path = sessions.transcript(session)
    assert path == opencode.home / "copies" / f"{MAIN}.jsonl"
    events: list[SessionEvent] = []
    for line in path.read_bytes().splitlines():
        parsed = parse(line)
        assert not isinstance(parsed, Skipped), line
        events += parsed
    assert [each.session_id for each in events if isinstance(each, Identified)] == [MAIN]
    assert [each.text for each in events if isinstance(each, UserSaid)] == ["Count."]
    (reply,) = (each for each in events if isinstance(each, AssistantReplied) and each.context)
    assert reply.context is not None
    assert (reply.context.context, reply.model) == (31_130, "lab/large")
    (tool,) = (each for each in events if isinstance(each, ToolFinished))
    assert (tool.failed, tool.exit, len(tool.text)) == (True, 3, 2_000)
    assert sum(isinstance(each, Compacted) for each in events) == 1
    before = path.stat()
    assert sessions.transcript(session) == path
    assert path.stat().st_ino == before.st_ino
    with closing(sqlite3.connect(opencode.data / "opencode.db")) as connection, connection:
        connection.execute("update session set time_updated = 1795824999999")
    old = path.with_name("ses_old.jsonl")
    old.touch()
    os.utime(old, (1.0, 1.0))
    assert sessions.transcript(session) == path
    assert path.stat().st_ino != before.st_ino
    assert not old.exists()
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [b"", b"not a database" * 100])
def test_a_database_that_is_none_has_no_sessions(opencode: Opencode, content: bytes) -> None:
    opencode.begin()
    opencode.session()
    opencode.tell(f"message=loop session.id={MAIN} step=0")
    (session,) = opencode.found()
    (opencode.data / "opencode.db").write_bytes(content)
    assert opencode.found() == []
    assert opencode.sessions().transcript(session) is None


async def test_a_line_in_the_open_log_is_told(opencode: Opencode) -> None:
    told = asyncio.Event()
    stop = opencode.sessions().watch(told.set)
    try:
        assert opencode.process.stdin is not None
        opencode.process.stdin.write(b"a line\n")
        opencode.process.stdin.flush()
        async with asyncio.timeout(120):
            await told.wait()
    finally:
        stop()


def test_the_process_must_have_the_log_open(opencode: Opencode) -> None:
    opencode.begin()
    opencode.session()
    opencode.tell(f"message=loop session.id={MAIN} step=0")
    assert len(opencode.found()) == 1
    text = opencode.log.read_bytes()
    opencode.log.unlink()
    opencode.log.write_bytes(text)
    assert opencode.found() == []
