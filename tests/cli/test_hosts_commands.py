"""`cockpit hosts`: machines are checked, added, listed and removed; here they are folders."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.shell_completion import ShellComplete

from cockpit import __version__
from cockpit.cli.commands import cockpit, run
from cockpit.core.errors import BadUsage

Typed = Callable[..., int]
REFUSES = ["sh", "-c", "echo 'ssh: connect to host x port 22: Connection refused' >&2; exit 255"]


@pytest.fixture
def here(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The configuration of this machine; it has a comment."""
    folder = own_home / "here"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("COCKPIT_HOME", str(folder))
    monkeypatch.chdir(own_home)
    file = folder / "cockpit.toml"
    file.write_text("# my own\n")
    return file


@pytest.fixture
def there(own_home: Path, here: Path, connect: Any) -> Iterator[list[str]]:
    """The vector to another machine; a supervisor that was started on it is ended."""
    vector = connect(own_home / "ck")
    yield vector
    subprocess.run([*vector, "cockpit", "down", "--agents"], capture_output=True, check=False)


def hosts_of(file: Path) -> list[dict[str, Any]]:
    hosts: list[dict[str, Any]] = tomllib.loads(file.read_text()).get("hosts", [])
    return hosts


def write_hosts(file: Path, **vectors: list[str]) -> None:
    tables = [
        f"[[hosts]]\nname = {json.dumps(name)}\nconnect = {json.dumps(vector)}\n"
        for name, vector in vectors.items()
    ]
    file.write_text("# my own\n" + "\n".join(tables))


def test_a_machine_is_added_listed_checked_and_removed(
    here: Path, there: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["hosts", "add", "gpu1", *there]) == 0
    said = capsys.readouterr()
    assert said.out.startswith(f"gpu1  up             {__version__} ")
    assert "ok    tmux" in said.err
    assert f"Added gpu1 to {here}" in said.err
    assert "The supervisor is running on gpu1" in said.err
    assert hosts_of(here) == [{"name": "gpu1", "connect": there}]

    assert run(["hosts", "--json"]) == 0
    (host,) = json.loads(capsys.readouterr().out)
    assert (host["name"], host["state"], host["reason"]) == ("gpu1", "up", None)
    assert (host["version"], host["supervisor"]["version"]) == (__version__, __version__)
    assert host["supervisor"]["started_at"].endswith("Z")
    assert host["agents"] == {"total": 0, "running": 0, "by_state": {}}
    assert host["round_trip_seconds"] < 60
    assert host["cores"] == os.cpu_count()
    assert run(["status", "--host", "gpu1"]) == 0
    capsys.readouterr()

    assert run(["hosts", "check", "gpu1", "--json"]) == 0
    (checked,) = json.loads(capsys.readouterr().out)
    topics = [one["topic"] for one in checked["findings"]]
    assert topics[:2] == ["reachable", "python"]
    assert {"tmux", "git", "cockpit", "path", "sockets", "supervisor"} <= set(topics)
    assert checked["fit"]

    assert run(["hosts", "remove", "gpu1"]) == 0
    said = capsys.readouterr()
    assert "keep running" in said.err
    assert here.read_text() == "# my own\n"
    done = subprocess.run([*there, "cockpit", "status"], capture_output=True, check=False)
    assert done.returncode == 0  # its supervisor is still there
    assert run(["hosts", "remove", "gpu1"]) == 2


@pytest.mark.long
def test_two_names_of_one_supervisor_are_told(
    here: Path, there: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["hosts", "add", "gpu1", *there]) == 0
    write_hosts(here, gpu1=there, gpu2=there)
    capsys.readouterr()
    assert run(["hosts", "--timeout", "60"]) == 0
    lines = capsys.readouterr().out.splitlines()
    first, second, arrow = (line.split()[0] for line in lines)  # in the order of the answers
    assert ({first, second}, arrow) == ({"gpu1", "gpu2"}, "->")
    assert lines[2].endswith(
        f"{second} is the same supervisor as {first}. "
        f"To remove {second}: cockpit hosts remove {second}"
    )
    assert run(["hosts", "--timeout", "60", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(one["name"], one["same_as"]) for one in found] == [("gpu1", None), ("gpu2", "gpu1")]


@pytest.mark.long
def test_a_cockpit_outside_of_the_path_is_found_and_written(
    own_home: Path, here: Path, there: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    local = own_home / "home" / ".local" / "bin"
    local.mkdir(parents=True)
    (own_home / "host-bin" / "cockpit").rename(local / "cockpit")
    there[-1] = f"PATH={own_home / 'host-bin'}:/usr/local/bin:/usr/bin:/bin"

    assert run(["hosts", "add", "gpu1", *there]) == 0

    assert "adding their folders to `connect`" in capsys.readouterr().err
    (host,) = hosts_of(here)
    path = f"PATH={local}:{own_home / 'host-bin'}:/usr/local/bin:/usr/bin:/bin"
    assert host["connect"] == [*there, "env", path]
    there[:] = host["connect"]


def test_a_machine_that_lacks_something_is_told_what_to_do_and_not_added(
    own_home: Path, here: Path, there: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing of the machine is on its PATH but the programs of a bare shell."""
    bare = own_home / "bare"
    bare.mkdir()
    for name in ("sh", "id", "uname", "getconf", "cut", "head", "sed", "env"):
        (bare / name).symlink_to(f"/usr/bin/{name}")
    (bare / "apt-get").symlink_to("/bin/false")

    vector = ["env", f"HOME={own_home}", f"PATH={bare}"]
    assert run(["hosts", "add", "gpu1", *vector]) == 6

    said = capsys.readouterr()
    assert "gpu1 was not added" in said.err
    assert "apt-get install tmux" in said.err
    assert "apt-get install git" in said.err
    assert said.out == ""
    assert hosts_of(here) == []


def test_only_cockpit_is_missing_so_the_next_step_installs_it(
    own_home: Path, here: Path, there: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (own_home / "host-bin" / "cockpit").unlink()
    vector = [there[0], there[1], "PATH=/usr/local/bin:/usr/bin:/bin"]
    assert run(["hosts", "add", "gpu1", *vector]) == 6

    steps = capsys.readouterr().err
    if os.geteuid():
        assert "cockpit hosts add --install gpu1 env COCKPIT_HOME=" in steps
    else:
        assert "Connect as an ordinary user" in steps
        assert run(["hosts", "add", "gpu1", *vector, "--install", "--yes"]) == 5
        assert "Cannot install cockpit as root on gpu1" in capsys.readouterr().err
    assert hosts_of(here) == []


@pytest.fixture
def bare(own_home: Path, there: list[str]) -> list[str]:
    """A machine of an ordinary user with uv, and without cockpit.

    The stand-in for uv takes the wheel and installs this cockpit.
    """
    folder = own_home / "host-bin"
    folder.joinpath("cockpit").rename(own_home / "this-cockpit")
    uv = f"""#!/bin/sh
[ "$1" = --version ] && {{ echo "uv 0.9.0"; exit; }}
[ "$1 $2 $3" = "tool install --force" ] || exit 9
mkdir -p "$HOME/.local/bin" && cp "$4" {own_home}/arrived.whl
cp {own_home}/this-cockpit "$HOME/.local/bin/cockpit"
"""
    for name, text in {
        "uv": uv,
        "id": '#!/bin/sh\n[ "$1" = -u ] && echo 1000 || echo me\n',
        "systemctl": '#!/bin/sh\necho "$*" >>"$HOME/systemctl"; exit ${REFUSES:-0}\n',
    }.items():
        folder.joinpath(name).write_text(text)
        folder.joinpath(name).chmod(0o755)
    there[:] = [*there[:2], f"PATH={folder}:/usr/local/bin:/usr/bin:/bin"]
    return there


@pytest.mark.long
def test_cockpit_installs_itself_and_the_machine_is_added(
    own_home: Path, here: Path, bare: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["hosts", "add", "gpu1", *bare, "--install", "--service"]) == 5
    said = capsys.readouterr().err
    assert "Cannot ask without a terminal" in said
    assert "tool install --force cockpit-" in said
    assert hosts_of(here) == []

    assert run(["hosts", "add", "gpu1", *bare, "--install", "--service", "--yes"]) == 0

    said = capsys.readouterr().err
    assert f"Installed cockpit {__version__} on gpu1" in said
    (host,) = hosts_of(here)
    bare[:] = host["connect"]
    assert bare[-1].startswith(f"PATH={own_home / 'home'}/.local/bin:")
    assert zipfile.is_zipfile(own_home / "arrived.whl")
    assert "enable" in (own_home / "home" / "systemctl").read_text()


@pytest.mark.long
def test_a_service_that_is_refused_leaves_the_host_added_and_running(
    own_home: Path, here: Path, bare: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    bare[1:1] = ["REFUSES=1"]

    assert run(["hosts", "add", "gpu1", *bare, "--install", "--service", "--yes"]) == 1

    said = capsys.readouterr().err
    assert "its service was not installed" in said
    assert "cockpit service install --host gpu1" in said
    bare[:] = hosts_of(here)[0]["connect"]
    assert run(["status", "--host", "gpu1"]) == 0


def test_a_line_that_is_cut_while_the_supervisor_starts_leaves_the_host_added(
    here: Path, own_home: Path, there: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    line = own_home / "line"
    line.write_text(
        '#!/bin/sh\nread -r marker\nread -r asked\n[ "$asked" = "set -- cockpit up" ] && exit 255\n'
        '{ printf "%s\\n" "$marker" "$asked"; cat; } | "$@"\n'
    )
    line.chmod(0o755)
    assert run(["hosts", "add", "gpu1", str(line), *there]) == 4
    said = capsys.readouterr().err
    assert "gpu1 was added, but its supervisor did not start" in said
    assert "Lost connection to gpu1" in said
    assert "Start the supervisor: cockpit up --host gpu1" in said
    assert [host["name"] for host in hosts_of(here)] == ["gpu1"]


@pytest.mark.long
def test_an_older_cockpit_is_noticed_and_upgraded(
    own_home: Path, here: Path, bare: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    old = own_home / "home" / ".local" / "bin" / "cockpit"
    old.parent.mkdir(parents=True)
    old.write_text("#!/bin/sh\necho cockpit 0.0.9\n")
    old.chmod(0o755)
    bare[-1] = f"PATH={old.parent}:{bare[-1].removeprefix('PATH=')}"
    write_hosts(here, gpu1=bare)

    run(["hosts", "check"])
    assert "agents keep running: cockpit hosts install gpu1" in capsys.readouterr().out
    assert run(["hosts", "install", "gpu1", "--yes"]) == 0

    assert f"ok    cockpit      {__version__}" in capsys.readouterr().err
    assert run(["hosts", "--json"]) == 0
    (host,) = json.loads(capsys.readouterr().out)
    assert (host["version"], host["state"]) == (__version__, "no_supervisor")
    assert host["next_step"] == "Start the supervisor: cockpit up --host gpu1"


def test_a_newer_cockpit_is_not_replaced(
    own_home: Path, here: Path, bare: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    new = own_home / "host-bin" / "cockpit"
    new.write_text('#!/bin/sh\n[ "$1" = --version ] && echo cockpit 99.1.0 || exit 4\n')
    new.chmod(0o755)
    write_hosts(here, gpu1=bare)

    assert run(["hosts", "check"]) == 0
    assert "The host has 99.1.0; this machine has" in capsys.readouterr().out
    assert run(["hosts", "install", "gpu1", "--yes"]) == 5
    assert "Upgrade cockpit on this machine" in capsys.readouterr().err
    assert not (own_home / "arrived.whl").exists()


@pytest.mark.parametrize(
    ("status", "code", "why"),
    [
        ("exit 4", 0, "No supervisor is running on gpu1. Start one: cockpit up --host gpu1"),
        ("exit 1", 1, "`cockpit status` on gpu1 exited with code 1"),
        ("echo none", 1, "The output of `cockpit status` on gpu1 cannot be read"),
        ("kill $PPID", 1, "`cockpit status` on gpu1 did not answer"),
    ],
    ids=["none", "failed", "not-json", "silent"],
)
def test_an_installation_calls_no_supervisor_absent_whose_state_is_unknown(
    status: str,
    code: int,
    why: str,
    own_home: Path,
    here: Path,
    bare: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    (own_home / "this-cockpit").write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && {{ echo cockpit {__version__}; exit; }}\n{status}\n'
    )
    write_hosts(here, gpu1=bare)

    assert run(["hosts", "install", "gpu1", "--yes"]) == code

    err = capsys.readouterr().err
    assert why in err
    assert ("No supervisor is running" in err) == (code == 0)
    assert ("agents keep running: cockpit restart --host gpu1" in err) == (code == 1)


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (["GPU 1", "env"], 2, "Try: gpu-1"),
        (["local", "env"], 2, "the name of this machine"),
        (["gpu2", "gpu2.example.com"], 6, "cockpit hosts add gpu2 ssh gpu2.example.com"),
        (["gpu2", "env", "a\nb"], 2, "without control characters"),
        (["gpu2", *REFUSES], 4, "Connection refused"),
        (["gpu2", "echo", "\x1b[31mWelcome"], 2, "control characters"),
        (["gpu2", "echo", "Welcome"], 4, "The host printed 'Welcome sh -s', but no answer"),
        (["taken", "env"], 2, "already configured"),
    ],
)
def test_what_cannot_be_added_says_why(
    words: list[str], code: int, why: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_hosts(here, taken=["ssh", "taken"])
    before = here.read_text()

    assert run(["hosts", "add", *words]) == code

    assert why in capsys.readouterr().err
    assert here.read_text() == before


def test_options_stand_before_the_name_or_at_the_end(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is between belongs to the command to connect, even where it looks like an option."""
    for words in (
        ["--timeout", "5s", "gpu1", "sh", "-c", "echo $0 $1; exit 9", "--", "--yes", "--install"],
        ["--yes", "gpu1", "sh", "-c", "echo $0 $1; exit 9", "--"],
    ):
        assert run(["hosts", "add", *words]) == 4
        assert "The host printed '-- sh', but no answer" in capsys.readouterr().err


@pytest.mark.long
def test_hosts_are_asked_side_by_side_and_a_dead_one_is_the_last(
    own_home: Path, here: Path, there: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Each host waits until the other has been asked too; the dead one outlasts the limit."""
    for name in ("a", "b"):
        os.mkfifo(own_home / name)
    meet = 'echo x >"$0" & read -r _ <"$1"; shift; exec "$@"'
    first = ["sh", "-c", meet, str(own_home / "a"), str(own_home / "b")]
    second = ["sh", "-c", meet, str(own_home / "b"), str(own_home / "a")]
    write_hosts(
        here,
        dead=["sh", "-c", "exec sleep 600"],
        one=[*first, *there],
        two=[*second, *there],
        gone=REFUSES,
    )

    assert run(["hosts", "--timeout", "15s"]) == 0

    lines = [line for line in capsys.readouterr().out.splitlines() if not line[0].isspace()]
    assert sorted(lines[:3])[0].startswith("gone  unreachable    ssh: connect to host x port 22")
    assert [line.split()[0] for line in lines][-1] == "dead"
    assert "dead  unreachable    No answer within 15 s" in lines
    assert sum("no supervisor" in line for line in lines) == 2


def test_a_check_of_a_host_that_is_not_reachable_fails_with_the_next_step(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_hosts(here, gone=REFUSES, missing=["no-such-program-here"])

    assert run(["hosts", "check"]) == 1
    said = capsys.readouterr().out
    assert "Connection refused" in said
    assert "-> Try to connect: sh -c" in said
    assert "Cannot run 'no-such-program-here' on this machine" in said
    assert run(["hosts", "check", "nowhere"]) == 2
    assert "Known: local, gone, missing." in capsys.readouterr().err


def test_there_are_no_hosts(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["hosts"]) == 0
    assert "Add one: cockpit hosts add NAME ssh TARGET" in capsys.readouterr().err
    assert run(["hosts", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert run(["hosts", "--timeout", "soon"]) == 2
    assert run(["hosts", "--host", "gpu1"]) == 2


def test_a_file_that_is_not_trusted_runs_nothing(
    own_home: Path, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    marker = own_home / "ran"
    write_hosts(own_home / "cockpit.toml", evil=["touch", str(marker)])

    assert run(["hosts"]) == 0
    assert run(["hosts", "check"]) == 0
    assert run(["hosts", "remove", "evil"]) == 2

    assert "cockpit config trust" in capsys.readouterr().err
    assert not marker.exists()


def test_an_agent_may_not_change_hosts(here: Path, own_home: Path) -> None:
    marked = {
        **os.environ,
        "COCKPIT_AGENT": "api",
        "COCKPIT_RUN": "r1",
        "COCKPIT_STATE": str(here.parent / "state"),
        "COCKPIT_SOCKET": str(here.parent / "run" / "cockpit.sock"),
    }
    for words in (["hosts"], ["hosts", "add", "x", "env"], ["hosts", "remove", "x"]):
        done = subprocess.run(
            [sys.executable, "-P", "-m", "cockpit", *words],
            env=marked,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 5, done.stderr
        assert "an agent may not" in done.stderr


def test_names_of_hosts_are_completed(here: Path) -> None:
    write_hosts(here, gpu1=["ssh", "gpu1"], build=["ssh", "build"])
    for words in (
        ["hosts", "remove"],
        ["hosts", "check"],
        ["hosts", "install"],
        ["status", "--host"],
    ):
        completed = ShellComplete(cockpit, {}, "cockpit", "_C").get_completions(words, "g")
        assert [one.value for one in completed] == ["gpu1"]


@pytest.mark.parametrize("word", ["--timeout", "--config", "-v"])
def test_an_option_after_the_name_is_not_taken_for_a_command(
    word: str, own_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["hosts", "add", "gpu1", word, "5"]) == BadUsage.exit_code
    assert f"{word} comes after NAME" in capsys.readouterr().err
    assert not (own_home / "config" / "cockpit").exists()
