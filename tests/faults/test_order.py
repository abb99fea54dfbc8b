"""That the judge of the order sees what is done too early, each kind for itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.kernel_log import Deed, deeds, reason_against, traced
from tests.faults.order import Expected, violations

WAL = "/ck/cockpit.db-wal"
EXPECTED = Expected("old", ("new", "newer"), "/w/handoff.md", "/ck/copy.md", "/ck")


def agent(pid: int, session: str, mode: str = "acceptEdits", flag: str = "--session-id") -> Deed:
    words = ("python", "cockpit.demo.standin", flag, session, "--settings", "/ck/settings/api.json")
    return Deed("exec", pid, words=(*words, "--permission-mode", mode, "--", "Go"))


def kept(path: str) -> list[Deed]:
    folder = path.rpartition("/")[0]
    return [
        Deed("sync", 1, path + ".tmp"),
        Deed("name", 1, path, path + ".tmp"),
        Deed("sync", 1, folder),
    ]


def wrote(state: str) -> list[Deed]:
    return [Deed("state", 1, WAL, states=(state,)), Deed("sync", 1, WAL)]


BEGUN = [Deed("lock", 10, "/ck/api.lock"), agent(10, "old")]
SEALED = [*kept("/ck/copy.md"), *kept("/w/handoff.md")]
STOPPED = [Deed("signal", 1, target=10, number="SIGTERM"), Deed("exit", 10)]
SUCCEEDED = [Deed("lock", 20, "/ck/api.lock"), agent(20, "new")]
ALL = [*BEGUN, *SEALED, *wrote("Stopping"), *STOPPED, *wrote("Starting"), *SUCCEEDED]


def judged(found: list[Deed]) -> str:
    return " / ".join(violations(found, EXPECTED, ended_by_hand=False))


def test_the_right_order_is_not_complained_of() -> None:
    assert judged(ALL) == ""


@pytest.mark.parametrize(
    ("left_out", "said"),
    [
        (Deed("sync", 1, "/w/handoff.md.tmp"), "before its document was synced"),
        (Deed("sync", 1, "/w"), "before its document was synced"),
        (Deed("name", 1, "/w/handoff.md", "/w/handoff.md.tmp"), "before its document was synced"),
        (Deed("sync", 1, "/ck/copy.md.tmp"), "before its copy was synced"),
        (Deed("sync", 1, WAL), "before its intent was synced"),
        (Deed("state", 1, WAL, states=("Stopping",)), "before its intent was synced"),
        (Deed("state", 1, WAL, states=("Starting",)), "before that was synced as an intent"),
        (Deed("exit", 10), "new was started while old (process 10) lived"),
        (Deed("lock", 20, "/ck/api.lock"), "without the lock /ck/api.lock"),
    ],
)
def test_what_is_left_out_is_seen(left_out: Deed, said: str) -> None:
    place = ALL.index(left_out)
    assert said in judged(ALL[:place] + ALL[place + 1 :])


def test_a_document_that_is_written_again_must_be_synced_again() -> None:
    again = [Deed("name", 1, "/w/handoff.md", "/w/again.tmp"), Deed("sync", 1, "/w")]
    ready = [*BEGUN, *SEALED, *again, *wrote("Stopping")]
    assert "before its document was synced" in judged([*ready, *STOPPED])


def test_the_intent_to_start_must_be_synced_before_the_pane_is_asked_for() -> None:
    launch = ("python", "/x/launcher.py", "/ck/1.order")
    asked = Deed("exec", 5, "/usr/bin/tmux", words=("tmux", *launch, ";", "list-panes"))
    launched = [asked, Deed("exec", 20, "/usr/bin/python", words=launch)]
    stopped = [*BEGUN, *SEALED, *wrote("Stopping"), *STOPPED]
    assert judged([*stopped, *wrote("Starting"), *launched, *SUCCEEDED]) == ""
    late = judged([*stopped, *launched, *wrote("Starting"), *SUCCEEDED])
    assert "before that was synced as an intent" in late


def test_a_session_that_is_started_twice_is_seen() -> None:
    assert "a second time" in judged([*ALL, Deed("exit", 20), *SUCCEEDED])


def test_killing_without_asking_is_seen() -> None:
    killed = [Deed("signal", 1, target=10, number="SIGKILL"), Deed("exit", 10)]
    assert "never asked with TERM" in judged([*BEGUN, *SEALED, *wrote("Stopping"), *killed])


def test_a_successor_that_may_do_more_is_seen() -> None:
    said = judged([*ALL[:-1], agent(20, "new", "bypassPermissions")])
    assert "may do more: bypassPermissions after acceptEdits" in said


def test_a_log_of_strace_is_read(tmp_path: Path) -> None:
    if (reason := reason_against()) is not None:
        pytest.skip(reason)
    script = (
        "import os, signal, subprocess, sys\n"
        "made = os.open('a.tmp', os.O_CREAT | os.O_WRONLY); os.fsync(made)\n"
        'os.pwrite(made, b\'{"state": {"is": "Stopping"}}\', 0)\n'
        "here = os.getcwd(); os.rename(here + '/a.tmp', here + '/a')\n"
        "os.fsync(os.open('.', os.O_RDONLY))\n"
        "child = subprocess.Popen(['sleep', '60']); held = os.pidfd_open(child.pid)\n"
        "signal.pidfd_send_signal(held, signal.SIGTERM); child.wait(); print(child.pid)\n"
    )
    log = tmp_path / "log"
    command = traced([sys.executable, "-c", script], log)
    asked = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    child, found = int(asked.stdout), list(deeds(log.read_text()))
    top = str(tmp_path)
    assert [(each.kind, each.path) for each in found if each.path.startswith(top)] == [
        ("sync", f"{top}/a.tmp"),
        ("state", f"{top}/a.tmp"),
        ("name", f"{top}/a"),
        ("sync", top),
    ]
    assert next(each.states for each in found if each.kind == "state") == ("Stopping",)
    assert any(each.words == ("sleep", "60") for each in found)
    assert any(each.kind == "signal" and each.target == child for each in found)
    assert Deed("exit", child) in found
