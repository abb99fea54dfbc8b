"""Real processes, hostile ones too, are recognised, waited for and ended for good."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cockpit.adapters.process.processes import LocalProcesses
from cockpit.config.kernel import USES_LINUX
from cockpit.core.capabilities import EndSignal
from cockpit.ports.processes import Processes, ProcessId

MARKER = f"api:{os.getpid():x}"
"""Of this test run: tests in other workers end all processes with theirs."""

DEAF = """
import signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGHUP, signal.SIG_IGN)
print("ready", flush=True); time.sleep(600)
"""

REPLACING = """
import os, pathlib, sys
file = pathlib.Path(os.environ["HOME"], "again"); file.write_text("exec /bin/sh " + str(file))
print("ready", flush=True); os.execv("/bin/sh", ["sh", str(file)])
"""

ORPHANING = """
import os, subprocess, sys, time
child = ("import os, signal, time; os.setsid(); signal.signal(signal.SIGHUP, signal.SIG_IGN);"
         "print(os.getpid(), flush=True); time.sleep(600)")
subprocess.Popen([sys.executable, "-c", child], close_fds=False); time.sleep(600)
"""

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def processes() -> LocalProcesses:
    return LocalProcesses()


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts Python programs; whoever is left at the end is killed."""
    started: list[subprocess.Popen[str]] = []

    def start_program(code: str, marker: str = "another") -> subprocess.Popen[str]:
        environment = {**os.environ, "COCKPIT_RUN": marker}
        process = subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment
        )
        started.append(process)
        return process

    yield start_program
    for process in started:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()


def heard(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def identity(processes: Processes, pid: int) -> ProcessId:
    found = processes.identify(pid)
    assert found is not None
    return found


def test_a_process_is_itself_and_nobody_else(processes: LocalProcesses, start: Start) -> None:
    process = start("import time; time.sleep(600)")
    known = identity(processes, process.pid)
    assert processes.alive(known)
    assert not processes.alive(replace(known, started=known.started + 1))
    assert not processes.alive(replace(known, boot="another"))


async def test_another_process_with_the_same_number_is_never_signalled(
    processes: LocalProcesses, start: Start
) -> None:
    process = start("import time; time.sleep(600)")
    stranger = replace(identity(processes, process.pid), started=1)
    assert not processes.signal(stranger, signal.SIGKILL)
    ending = await processes.end(stranger, "", patience=0.1)
    assert ending.gone
    assert process.poll() is None


async def test_a_zombie_is_gone(processes: LocalProcesses, start: Start) -> None:
    process = start("import time; time.sleep(600)")
    known = identity(processes, process.pid)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not processes.alive(known)
    assert processes.identify(process.pid) is None
    assert await processes.wait_for_end(known, 0)


def test_no_process_has_no_identity(processes: LocalProcesses) -> None:
    assert processes.identify(2**22 + 1) is None


async def test_waiting_ends_with_the_process_or_with_its_time(
    processes: LocalProcesses, start: Start
) -> None:
    process = start("import sys; sys.stdin.read(); import time; time.sleep(600)")
    known = identity(processes, process.pid)

    assert not await processes.wait_for_end(known, 0.05)
    asyncio.get_running_loop().call_later(0.05, process.kill)
    begun = time.monotonic()
    assert await processes.wait_for_end(known, 30)
    assert time.monotonic() - begun < 5


async def test_an_exit_is_told_unless_it_was_forgotten(
    processes: LocalProcesses, start: Start
) -> None:
    first, second = start("input()"), start("import time; time.sleep(600)")
    told: list[str] = []

    done = asyncio.Event()
    identity_of_second = identity(processes, second.pid)
    forget = processes.on_exit(identity_of_second, lambda: told.append("second"))
    processes.on_exit(identity(processes, first.pid), done.set)
    forget()
    forget()
    second.kill()
    first.kill()
    await asyncio.wait_for(done.wait(), 60)
    await processes.wait_for_end(identity_of_second, 10)
    await asyncio.sleep(0)
    assert told == []


async def test_the_exit_of_one_that_is_gone_is_told_at_once(
    processes: LocalProcesses, start: Start
) -> None:
    process = start("pass")
    known = ProcessId(process.pid, 1, "another boot")

    done = asyncio.Event()
    processes.on_exit(known, done.set)
    await asyncio.wait_for(done.wait(), 60)


async def test_one_that_listens_ends_by_term(processes: LocalProcesses, start: Start) -> None:
    process = start("import time; print(1, flush=True); time.sleep(600)", MARKER)
    heard(process)
    ending = await processes.end(identity(processes, process.pid), MARKER)
    assert (ending.gone, ending.killed, ending.stragglers) == (True, False, ())
    assert process.wait(60) == -signal.SIGTERM


@pytest.mark.parametrize(("first", "number"), [("INT", signal.SIGINT), ("HUP", signal.SIGHUP)])
async def test_the_first_signal_can_be_another(
    processes: LocalProcesses, start: Start, first: EndSignal, number: int
) -> None:
    code = (
        "import signal, sys\n"
        f"signal.signal({int(number)}, lambda *_: sys.exit(9))\n"
        "print(1, flush=True)\n"
        "signal.pause()"
    )
    process = start(code, MARKER)
    heard(process)
    ending = await processes.end(identity(processes, process.pid), MARKER, first=first)
    assert (ending.gone, ending.killed, process.wait(60)) == (True, False, 9)


async def test_one_that_is_deaf_is_killed(processes: LocalProcesses, start: Start) -> None:
    process = start(DEAF)
    heard(process)
    ending = await processes.end(identity(processes, process.pid), "", patience=0.2)
    assert (ending.gone, ending.killed) == (True, True)


async def test_one_that_is_stopped_gets_its_signal(processes: LocalProcesses, start: Start) -> None:
    process = start("import time; print(1, flush=True); time.sleep(600)")
    heard(process)
    process.send_signal(signal.SIGSTOP)
    ending = await processes.end(identity(processes, process.pid), "", patience=10)
    assert (ending.gone, ending.killed) == (True, False)


async def test_a_child_that_left_the_session_is_found_by_its_marker(
    processes: LocalProcesses, start: Start
) -> None:
    process = start(ORPHANING, MARKER)
    orphan = int(heard(process))
    bystander = start("import time; time.sleep(600)", MARKER + "0")
    assert {one.pid for one in processes.marked(MARKER)} == {process.pid, orphan}
    ending = await processes.end(identity(processes, process.pid), MARKER, patience=1)
    assert ending.gone
    assert ending.stragglers == (orphan,)
    assert processes.identify(orphan) is None
    assert processes.marked(MARKER) == []
    assert bystander.poll() is None


def test_a_process_that_replaces_its_program_is_found(
    processes: LocalProcesses, start: Start
) -> None:
    """Between two programs, Linux shows an empty environment: about one reading in fifty here."""
    process = start(REPLACING, MARKER)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    one = processes.identify(process.pid)
    assert one is not None
    assert [found for _ in range(2000) if (found := processes.carries(one, MARKER)) is False] == []


async def test_stragglers_are_ended_when_the_process_is_gone_already(
    processes: LocalProcesses, start: Start
) -> None:
    process = start(ORPHANING, MARKER)
    orphan = int(heard(process))
    process.kill()
    process.wait()
    ending = await processes.end(None, MARKER, patience=1)
    assert (ending.gone, ending.stragglers) == (True, (orphan,))


async def test_no_marker_marks_nobody(processes: LocalProcesses, start: Start) -> None:
    process = start("import time; time.sleep(600)", "")
    assert processes.marked("") == []
    assert (await processes.end(None, "")).gone
    assert process.poll() is None


def test_we_never_end_ourselves(own_home: Path, start: Start) -> None:
    code = (
        "import asyncio; from cockpit.adapters.process.processes import LocalProcesses;"
        f"print(asyncio.run(LocalProcesses().end(None, {MARKER!r}, patience=0.1)).gone, flush=True)"
    )
    assert heard(start(code, MARKER)) == "True"


def test_who_uses_a_directory_is_found(
    processes: LocalProcesses, own_home: Path, start: Start
) -> None:
    place, other = own_home / "place", own_home / "place2"
    for folder in (place, other):
        folder.mkdir()
    (place / "file").touch()
    (own_home / "link").symlink_to(place)
    file = str(place / "file")

    def working(folder: Path, kept: str, mode: str) -> subprocess.Popen[str]:
        return start(
            f"import os, time; os.chdir({str(folder)!r}); kept = open({kept!r}, {mode!r});"
            "print('ready', flush=True); time.sleep(600)"
        )

    inside = working(place, os.devnull, "r")
    writer, reader = working(own_home, file, "a"), working(own_home, file, "r")
    for one in (inside, writer, reader):
        assert heard(one) == "ready"
    found = processes.occupants([own_home / "link", other])
    told = [(one.pid, one.file) for one in found[own_home / "link"]]
    assert sorted(told) == sorted([(inside.pid, None), (writer.pid, Path(file))])
    assert {one.name[:6] for one in found[own_home / "link"]} == {"python"}
    assert found[other] == []
    (place / "file").unlink()
    assert [one.pid for one in processes.occupants([place])[place]] == [inside.pid]


def test_who_called_us_is_known(processes: LocalProcesses, start: Start) -> None:
    child = start("import time; print('ready', flush=True); time.sleep(600)")
    assert heard(child) == "ready"
    assert processes.lineage(child.pid)[:3] == [child.pid, os.getpid(), os.getppid()]
    assert processes.lineage(2**22 + 1) == []


HIDING = """
import os, subprocess, sys, time
child = ("import os, time; os.setsid(); print(os.getpid(), flush=True); time.sleep(600)")
subprocess.Popen([sys.executable, "-c", child], env={}); time.sleep(600)
"""


@pytest.mark.skipif(USES_LINUX, reason="on Linux no process hides its environment from its user")
async def test_a_process_that_hides_its_environment_belongs_to_the_one_that_started_it(
    processes: LocalProcesses, start: Start
) -> None:
    parent, stranger = start(HIDING, MARKER), start(HIDING)
    child, other = (identity(processes, int(heard(one))) for one in (parent, stranger))
    assert processes.carries(child, MARKER) is None
    assert processes.marked(MARKER) == [identity(processes, parent.pid), child]
    ending = await processes.end(identity(processes, parent.pid), MARKER, patience=5)
    assert (ending.gone, ending.stragglers) == (True, (child.pid,))
    assert not processes.alive(child)
    assert processes.alive(other)
    os.kill(other.pid, signal.SIGKILL)
