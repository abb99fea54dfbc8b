"""A record's reader beside its agent: real processes, with and without manners."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cockpit.adapters.agents.own import follower
from cockpit.adapters.agents.own.runtime import COMPANION
from cockpit.adapters.process.processes import LocalProcesses
from cockpit.config.kernel import USES_LINUX

ECHO = """\
import sys
for line in sys.stdin:
    print('{"said": "' + line.strip() + '"}', flush=True)
"""
PATIENCE = 120.0
LIMITS = """\
import sys
sys.path.insert(0, {folder!r})
import follower
follower.{limit} = {value!r}
import json
follower.Follower(json.loads(sys.argv[2]), int(sys.argv[1])).run()
"""


def until(true: Callable[[], Any], what: str) -> Any:
    end = time.monotonic() + PATIENCE
    while not (found := true()):
        assert time.monotonic() < end, what
        time.sleep(0.02)
    return found


class Beside:
    """One agent that sleeps until it is ended, with a reader."""

    def __init__(self, folder: Path, reader: str) -> None:
        self.folder = folder
        self.record = folder / "record.log"
        self.answers = folder / "answers.jsonl"
        self.mark = f"beside-{folder.name}-{os.getpid()}"
        program = folder / "reader.py"
        program.write_text(reader)
        self.spec = {
            "record": str(self.record),
            "reader": [sys.executable, str(program)],
            "answers": str(self.answers),
            "first_line": '{"record": "cockpit/1"}',
        }
        self.agent: subprocess.Popen[bytes] | None = None

    def start(self, *program: str) -> subprocess.Popen[bytes]:
        words = program or ("sleep", "600")
        self.agent = subprocess.Popen(
            [sys.executable, "-I", "-S", str(COMPANION), json.dumps(self.spec), *words],
            env={**os.environ, "COCKPIT_RUN": self.mark},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        return self.agent

    def follow(self, limit: str, value: float) -> subprocess.Popen[bytes]:
        """Follow with another limit, beside an agent that sleeps."""
        self.agent = subprocess.Popen(["sleep", "600"])
        folder = str(COMPANION.parent)
        code = LIMITS.format(folder=folder, limit=limit, value=value)
        return subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", code, str(self.agent.pid), json.dumps(self.spec)],
            env={**os.environ, "COCKPIT_RUN": self.mark},
        )

    def lines(self) -> list[dict[str, Any]]:
        text = self.answers.read_text() if self.answers.exists() else ""
        return [json.loads(line) for line in text.splitlines()]

    def said(self) -> list[str]:
        return [line["said"] for line in self.lines() if "said" in line]

    def fault(self) -> str:
        found = until(lambda: [x for x in self.lines() if "fault" in x], "no fault was written")
        return str(found[0]["fault"])

    def others(self) -> list[int]:
        """The processes beside the agent that carry its mark, also between two programs."""
        agent = self.agent.pid if self.agent is not None else None
        return [one.pid for one in LocalProcesses().marked(self.mark) if one.pid != agent]

    def end(self) -> None:
        if self.agent is not None:
            self.agent.kill()
            self.agent.wait()
            for stream in (self.agent.stdout, self.agent.stderr):
                if stream:
                    stream.close()
        until(lambda: not self.others(), "its reader goes on")


@pytest.fixture
def beside(tmp_path: Path) -> Iterator[Callable[[str], Beside]]:
    made: list[Beside] = []

    def make(reader: str) -> Beside:
        made.append(Beside(tmp_path, reader))
        return made[-1]

    yield make
    for one in made:
        one.end()


def test_what_is_appended_is_answered_while_the_agent_runs(beside: Callable[..., Beside]) -> None:
    one = beside(ECHO)
    one.start()
    until(lambda: one.lines() == [{"record": "cockpit/1"}], "no first line")
    assert one.answers.stat().st_mode & 0o777 == 0o600
    with one.record.open("a") as record:
        for number in range(3):
            record.write(f"step {number}\n")
            record.flush()
            until(lambda: f"step {number}" in one.said(), "the line is not answered")  # noqa: B023
    assert one.said() == ["step 0", "step 1", "step 2"]


def test_it_is_no_child_of_the_program_and_has_none_of_its_files(
    beside: Callable[..., Beside],
) -> None:
    one = beside(ECHO)
    agent = one.start()
    until(lambda: len(one.others()) == 2, "no follower and reader")
    children = Path(f"/proc/{agent.pid}/task/{agent.pid}/children")
    # The process that starts the follower ends a moment after it.
    until(lambda: children.read_text() == "", "the program has a child")
    assert b"sleep" in Path(f"/proc/{agent.pid}/cmdline").read_bytes()
    for pid in one.others():
        assert b"sleep\x00600" not in Path(f"/proc/{pid}/cmdline").read_bytes()
        open_files = {str(path.readlink()) for path in Path(f"/proc/{pid}/fd").iterdir()}
        assert not {path for path in open_files if "pts" in path}


def test_the_last_lines_of_an_agent_that_ends_count(beside: Callable[..., Beside]) -> None:
    one = beside(ECHO)
    agent = one.start("sh", "-c", f"echo first > {one.record}; echo last >> {one.record}")
    agent.wait()
    until(lambda: not one.others(), "its reader goes on")
    assert one.said() == ["first", "last"]
    assert not [line for line in one.lines() if "fault" in line]


def test_an_old_record_is_read_from_its_start_once_more(beside: Callable[..., Beside]) -> None:
    one = beside(ECHO)
    one.record.write_text("old\n")
    one.answers.write_text('{"said": "from before"}\n')
    one.start()
    until(lambda: one.said() == ["old"], "the old line is not answered")


def test_a_record_that_is_replaced_is_read_anew(beside: Callable[..., Beside]) -> None:
    one = beside(ECHO)
    one.record.write_text("one\ntwo\n")
    one.start()
    until(lambda: one.said() == ["one", "two"], "not read")
    other = one.folder / "other"
    other.write_text("three\n")
    other.rename(one.record)
    until(lambda: one.said() == ["three"], "not read anew")


def test_a_named_pipe_is_no_record(beside: Callable[..., Beside]) -> None:
    one = beside(ECHO)
    os.mkfifo(one.record)
    one.start()
    until(lambda: one.lines(), "no first line")
    one.record.unlink()
    one.record.write_text("a file\n")
    until(lambda: one.said() == ["a file"], "not read")


@pytest.mark.parametrize(
    ("reader", "says"),
    [
        ("import sys; sys.stdin.readline(); sys.exit(3)", "exited with code 3"),
        ("import os, sys; sys.stdin.readline(); os.kill(os.getpid(), 9)", "killed by signal 9"),
        ("import sys\nfor l in sys.stdin: print('x' * 2_000_000, flush=True)", "a line of more"),
    ],
)
def test_a_reader_without_manners_is_ended_and_the_agent_is_not(
    beside: Callable[..., Beside], reader: str, says: str
) -> None:
    one = beside(reader)
    agent = one.start()
    one.record.write_text("go\n")
    assert says in one.fault()
    until(lambda: not one.others(), "its reader goes on")
    assert agent.poll() is None


@pytest.mark.parametrize(
    ("limit", "value", "reader", "says"),
    [
        ("PATIENCE", 0.3, "import time; time.sleep(600)", "did not read"),
        ("MOST_ANSWERED", 9, ECHO, "printed more than"),
        pytest.param(
            *("MOST_MEMORY", 1000, ECHO, "of memory"),
            marks=pytest.mark.skipif(not USES_LINUX, reason="no other system says it"),
        ),
    ],
)
def test_its_limits(
    beside: Callable[..., Beside], limit: str, value: float, reader: str, says: str
) -> None:
    one = beside(reader)
    one.record.write_text("a line of some length\n" * 20_000)
    follows = one.follow(limit, value)
    assert says in one.fault()
    assert follows.wait(PATIENCE) == 0


SLOW = "import sys, time\nwhile sys.stdin.buffer.raw.read(1000): time.sleep(0.2)\n"
TAKES_MEMORY = """\
import subprocess, sys, time
if sys.argv[1:]:
    held = bytearray(60_000_000)
    time.sleep(600)
subprocess.Popen([sys.executable, __file__, "child"])
while sys.stdin.buffer.raw.read(1000):
    time.sleep(0.2)
"""


@pytest.mark.skipif(not USES_LINUX, reason="no other system says it")
def test_the_memory_of_one_that_is_behind_counts_with_its_childrens(
    beside: Callable[..., Beside],
) -> None:
    one = beside(TAKES_MEMORY)
    one.record.write_text("a line of some length\n" * 20_000)
    follows = one.follow("MOST_MEMORY", 50_000_000)
    assert "of memory" in one.fault()
    assert follows.wait(PATIENCE) == 0
    until(lambda: not one.others(), "its child goes on")


def test_one_that_is_behind_at_the_end_of_its_agent_is_ended(beside: Callable[..., Beside]) -> None:
    one = beside(SLOW)
    one.record.write_text("a line of some length\n" * 20_000)
    follows = one.follow("REST_PATIENCE", 0.5)
    until(lambda: len(one.others()) == 2, "no follower and reader")
    assert one.agent is not None
    one.agent.kill()
    one.agent.wait()
    assert "had unread input 0.5 s after" in one.fault()
    assert follows.wait(PATIENCE) == 0
    until(lambda: not one.others(), "its reader goes on")


def test_one_that_does_not_end_is_ended(beside: Callable[..., Beside]) -> None:
    one = beside("import signal, time\nsignal.signal(15, signal.SIG_IGN)\ntime.sleep(600)")
    agent = one.start()
    until(lambda: len(one.others()) == 2, "no follower and reader")
    agent.send_signal(signal.SIGKILL)
    agent.wait()
    assert f"did not exit within {follower.END_PATIENCE} s" in one.fault()
    until(lambda: not one.others(), "its reader goes on")


def test_a_reader_or_a_program_that_is_missing(beside: Callable[..., Beside]) -> None:
    one = beside(ECHO)
    one.spec["reader"] = ["/no/such/reader"]
    one.start()
    assert "cannot run the reader /no/such/reader" in one.fault()
    one.end()
    missing = one.start("/no/such/program")
    assert missing.wait() == 127
    assert missing.stderr is not None
    assert b"no such program" in missing.stderr.read()
