"""What another machine may answer to a step of a move: it is not trusted."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from cockpit.adapters.remote_host import RemoteHost
from cockpit.cli import move_machines
from cockpit.cli.move_check import upgrade_step
from cockpit.cli.move_machines import LARGEST_FILE, MARK, Machine
from cockpit.cli.move_steps import parcel_of
from cockpit.core.errors import CockpitError, Failed, NoSupervisor
from cockpit.core.moved_worktree import REFERENCES
from cockpit.wire.moves import Inspection

OLD = "#!/bin/sh\ncase $* in *--multiplex*) echo 'No option --multiplex' >&2; exit 2;; esac\n"


def answering(home: Path, answer: bytes) -> Machine:
    """A host without `--multiplex` that reads its request, and then says that."""
    (home / "answer").write_bytes(answer)
    script = home / "far"
    script.write_text(f"{OLD}read -r line\ncat {home}/answer\n")
    script.chmod(0o755)
    return Machine("gpu1", RemoteHost("gpu1", [str(script)]))


def line(**answer: object) -> bytes:
    return MARK + json.dumps(answer).encode() + b"\n"


def test_what_a_login_shell_prints_first_is_skipped(own_home: Path) -> None:
    noise = b"Welcome!\n\x1b[31mcockpit-move 2 {}\n" + b"x" * 10_000 + b"\n"
    assert answering(own_home, noise + line(a=1)).step({"step": "x"}) == {"a": 1}


@pytest.mark.parametrize("answer", [b"", b"Welcome\n", MARK + b"{}"])
def test_no_answer_is_told_with_a_next_step(own_home: Path, answer: bytes) -> None:
    with pytest.raises(NoSupervisor, match="did not respond") as caught:
        answering(own_home, answer).step({"step": "x"})
    assert "cockpit doctor --host gpu1" in caught.value.hint


def test_an_endless_answer_is_cut(own_home: Path) -> None:
    script = own_home / "far"
    script.write_text(f"{OLD}yes\n")
    script.chmod(0o755)
    with pytest.raises(NoSupervisor):
        Machine("gpu1", RemoteHost("gpu1", [str(script)])).step({"step": "x"})


@pytest.mark.parametrize(
    "told",
    [{}, {"repository": 1}, {"version": "0", "repository": "/r", "tips": None, "folder": "/f"},
     {"version": "0", "repository": "/r", "tips": [], "folder": "/f", "record": {"name": "a"}}],
)  # fmt: skip
def test_an_answer_of_another_form_is_refused(own_home: Path, told: dict[str, object]) -> None:
    with pytest.raises(Failed, match="gpu1 sent an answer that cannot be read") as caught:
        answering(own_home, line(**told)).ask({"step": "inspect"}, Inspection)
    assert "same version" in caught.value.hint


@pytest.mark.parametrize("answer", [MARK + b"nonsense\n", MARK + b"[1]\n", MARK + b"[" * 90])
def test_an_answer_that_is_none_is_refused(own_home: Path, answer: bytes) -> None:
    with pytest.raises(CockpitError):
        answering(own_home, answer + b"\n").step({"step": "x"})


def test_a_refusal_there_is_ours_without_control_characters(own_home: Path) -> None:
    error = {"title": "no\x1b]0;x\x07 disk", "detail": "full", "hint": "df -h"}
    with pytest.raises(Failed) as caught:
        answering(own_home, line(error=error)).step({"step": "x"})
    assert caught.value.title.startswith("gpu1: no")
    assert "\x1b" not in caught.value.title + caught.value.detail
    assert caught.value.hint == "df -h"


def test_a_file_after_the_answer_is_whole_or_refused(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = bytes(range(256)) * 100
    digest = hashlib.sha256(content).hexdigest()
    whole = line(size=len(content), sha256=digest) + content
    answering(own_home, whole).step({"step": "x"}, receive=own_home / "got")
    assert (own_home / "got").read_bytes() == content
    for number, bad in enumerate((whole[:-1], whole[:-1] + b"!")):
        with pytest.raises(Failed, match="The transfer from"):
            answering(own_home, bad).step({"step": "x"}, receive=own_home / f"bad{number}")
    monkeypatch.setattr(move_machines, "LARGEST_FILE", 1000)
    with pytest.raises(Failed, match="too large") as caught:
        answering(own_home, whole).step({"step": "x"}, receive=own_home / "large")
    assert "the limit is 0 MB" in caught.value.detail


@pytest.mark.parametrize(
    ("size", "why"),
    [
        (0, "an invalid size"),
        (-1, "an invalid size"),
        (LARGEST_FILE + 1, "The worktree's data is too large to move (limit: 2 GB)"),
    ],
)
def test_a_size_that_cannot_be_received_is_named(size: int, why: str, own_home: Path) -> None:
    state = {"head": "a" * 40, "staged": "b" * 40, "files": "c" * 40}
    request = {
        "step": "arrive",
        "name": "api",
        "handoff": "h1",
        "parcel": {"reference": f"{REFERENCES}/api/h1", "commit": "d" * 40, "state": state},
        "folder": str(own_home / "there"),
        "repository": str(own_home),
        "branch": "agent/api",
        "size": size,
        "sha256": "",
    }
    done = subprocess.run(
        [sys.executable, "-P", "-m", "cockpit", "move-step"],
        input=json.dumps(request).encode() + b"\n",
        capture_output=True,
        check=False,
        timeout=60,
    )
    error = json.loads(done.stdout.removeprefix(MARK))["error"]
    assert (done.returncode, why in error["title"]) == (1, True), error
    assert error["hint"]


@pytest.mark.parametrize(
    "sent",
    [None, [], {}, {"state": {}, "reference": "r", "commit": "c"},
     {"state": {"head": "a", "staged": "b", "files": "c"}, "reference": "r", "commit": "c"},
     {"state": {"head": 1, "more": 2}, "reference": "r", "commit": "c"}],
)  # fmt: skip
def test_a_parcel_of_another_form_is_refused(sent: object) -> None:
    with pytest.raises(Failed, match="invalid description"):
        parcel_of(sent)


@pytest.mark.parametrize(
    ("host", "version", "step"),
    [
        ("gpu1", "0.0.9", "cockpit hosts install gpu1"),
        ("gpu1", "99.0.0", "Upgrade cockpit on this machine"),
        (None, "0.0.9", "cockpit restart"),
    ],
)
def test_another_version_has_a_next_step(host: str | None, version: str, step: str) -> None:
    assert step in upgrade_step(host, version)
