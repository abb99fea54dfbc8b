"""A script on another machine: through any shell and any noise, bounded, and never mistaken."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from cockpit.adapters.host_setup.installation import Installer, install_wheel, run_command
from cockpit.adapters.host_setup.probe import probe
from cockpit.adapters.host_setup.remote_script import MOST_BYTES, run_script
from cockpit.adapters.host_setup.wheel import Wheel, own_wheel
from cockpit.core.errors import Failed, NoSupervisor, ProgramMissing
from cockpit.core.host_facts import host_facts

SMALL = 'printf "%s ready \\n" "$marker"; read -r _; printf "%s echo \\n" "$marker"; '
END = 'printf "%s end \\n" "$marker"'
PATIENCE = 120.0


def through(script: str) -> list[str]:
    """A connection that runs `script`, with the rest of the vector as its arguments."""
    return ["sh", "-c", script, "connect"]


def login(shell: str) -> list[str]:
    """What sshd does: the words after the host, joined, for the user's login shell."""
    return through(f'exec {shell} -c "$*"')


def program(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_a_machine_describes_itself(connect: Any, own_home: Path) -> None:
    answer = probe(connect(own_home / "there"), PATIENCE)
    facts = host_facts(answer.lines)

    assert answer.complete
    assert answer.code == 0
    assert answer.round_trip is not None
    assert facts.uid == os.getuid()
    assert facts.cores == os.cpu_count()
    assert facts.folders["COCKPIT_HOME"] == str(own_home / "there")
    for name in ("tmux", "git", "python", "cockpit"):
        found = facts.program(name)
        assert found is not None, name
        assert found.version, name
    assert facts.status_code == 4  # there is no supervisor
    assert not (own_home / "there").exists()  # and nothing was written


@pytest.mark.parametrize("shell", ["sh", "bash", "dash", "fish", "csh", "tcsh", "zsh"])
def test_any_login_shell_will_do(shell: str, connect: Any, own_home: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}: apt-get install {shell.replace('csh', 'tcsh', 1)}")
    answer = probe([*connect(own_home / "there"), *login(shell)], PATIENCE)

    assert answer.complete, answer
    assert host_facts(answer.lines).program("cockpit")


def test_a_banner_and_a_message_of_the_day_are_no_answer() -> None:
    noise = r"printf 'x ready \nWelcome\033]0;t\007\nend \n%0500000d' 7; echo 'Authorized!' >&2; "
    answer = run_script(through(noise + 'exec "$@"'), f"echo\n{SMALL}{END}", seconds=PATIENCE)

    assert answer.complete
    assert [key for key, _ in answer.lines] == ["ready", "echo", "end"]
    assert answer.noise == "x ready"
    assert answer.errors == ("Authorized!",)


def test_an_answer_is_made_safe_to_show() -> None:
    script = SMALL + r"""printf '%s name a\033]0;title\007b\033[31m\tc\n' "$marker"; """ + END
    answer = run_script(["env"], script, seconds=PATIENCE)

    assert answer.value("name") == "ab c"


@pytest.mark.parametrize("where", ["", " >&2"])
@pytest.mark.parametrize("what", ["yes", "yes | tr -d '\\n'", "cat /dev/zero"])
def test_an_endless_stream_is_cut_off(what: str, where: str) -> None:
    answer = run_script(through(f"{what}{where}"), END, seconds=PATIENCE)

    assert answer.cut_off
    assert not answer.started
    assert not answer.timed_out
    assert sum(map(len, answer.errors)) + len(answer.noise) < 1000


def test_a_long_answer_that_ends_in_time_is_whole() -> None:
    script = f'{SMALL} printf "%s long %0{MOST_BYTES - 1000}d\\n" "$marker" 7; {END}'

    assert len(run_script(["env"], script, seconds=PATIENCE).value("long")) == MOST_BYTES - 1000


@pytest.mark.parametrize(
    "script", ["sleep 600", "trap '' TERM; while :; do sleep 600; done", "exec sleep 600 <&- >&-"]
)
def test_a_host_that_is_silent_is_given_up_and_ended(script: str, own_home: Path) -> None:
    begun = time.monotonic()
    answer = run_script(through(script), END, seconds=0.3)

    assert not answer.started
    assert answer.code is None
    assert answer.timed_out or "<&-" in script
    assert time.monotonic() - begun < PATIENCE


def test_an_output_that_another_process_holds_open_is_not_waited_for(own_home: Path) -> None:
    """As the shared connection of an ssh with ControlPersist may."""
    held = own_home / "held"
    os.mkfifo(held)
    kept = f"(exec cat {shlex.quote(str(held))}) & exec sh -c 'exit 3'"
    answer = run_script(through(kept), END, seconds=PATIENCE)
    held.write_text("")  # ends it

    assert answer.code == 3
    assert not answer.timed_out


def test_an_answer_that_arrives_just_before_the_end_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a busy machine, this process may be suspended whenever it asks whether the other ended."""

    class Suspending(subprocess.Popen[bytes]):
        def poll(self) -> int | None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.wait(2.0)
            return super().poll()

    monkeypatch.setattr(subprocess, "Popen", Suspending)
    late = 'sleep 0.5; printf "%s late \\n%s end \\n" "$marker" "$marker"; exit'
    answer = run_script(through('exec "$@"'), late, seconds=PATIENCE)

    assert answer.complete
    assert [key for key, _ in answer.lines] == ["late", "end"]


def test_a_connection_that_breaks_says_why() -> None:
    answer = run_script(through("echo 'ssh: no route' >&2; exit 255"), END, seconds=PATIENCE)

    assert (answer.code, answer.errors, answer.started) == (255, ("ssh: no route",), False)


def test_a_program_that_is_missing_here_is_named() -> None:
    with pytest.raises(ProgramMissing, match="no-such-program"):
        run_script(["no-such-program"], END, seconds=PATIENCE)


@pytest.fixture
def containers(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`docker` and `kubectl` that run the command here, with standard input only if asked to."""
    folder = own_home / "container-bin"
    folder.mkdir()
    rest = '[ -n "$input" ] && exec "$@"\nexec "$@" </dev/null\n'
    docker = "#!/bin/sh\nshift\ncase $1 in -*i*) input=yes; shift;; esac\nshift\n"
    program(folder, "docker", docker + rest)
    kubectl = (
        "#!/bin/sh\nwhile [ $1 != -- ]; do case $1 in -i) input=yes;; esac; shift; done; shift\n"
    )
    program(folder, "kubectl", kubectl + rest)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


@pytest.mark.parametrize(
    "vector",
    [["docker", "exec", "-i", "box"], ["kubectl", "exec", "-i", "pod", "-c", "main", "--"]],
)
def test_a_container_has_no_shell_and_needs_none(
    vector: list[str], containers: Path, connect: Any, own_home: Path
) -> None:
    answer = probe([*vector, *connect(own_home / "there")], PATIENCE)

    assert answer.complete
    assert run_command("box", vector, "printf", "%s|", "a b", "$x;'")[1] == ["a b|$x;'|"]


def test_a_container_without_input_ends_with_no_answer(containers: Path) -> None:
    answer = probe(["docker", "exec", "box"], PATIENCE)

    assert (answer.started, answer.code) == (False, 0)


def test_a_command_has_its_exit_code_and_both_outputs() -> None:
    assert run_command("x", ["env"], "sh", "-c", "echo a; echo b >&2; exit 7") == (7, ["a", "b"])
    with pytest.raises(NoSupervisor, match="Lost connection to x before `true` had ended"):
        run_command("x", through("exit 255"), "true")


def test_the_wheel_is_the_running_package() -> None:
    wheel = own_wheel()

    with zipfile.ZipFile(BytesIO(wheel.data)) as archive:
        assert archive.testzip() is None
        names = set(archive.namelist())
        record = next(name for name in names if name.endswith("RECORD"))
        rows = archive.read(record).decode().splitlines()
    package = Path(probe.__code__.co_filename).parents[2]
    here = {
        f"cockpit/{path.relative_to(package)}"
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and "pictures" not in path.parts
    }
    assert here <= names
    assert "cockpit/_shipped/cockpit.toml.example" in names
    assert {row.split(",")[0] for row in rows} == names
    assert own_wheel() == wheel


def test_the_wheel_runs_where_it_is_unpacked(tmp_path: Path) -> None:
    with zipfile.ZipFile(BytesIO(own_wheel().data)) as archive:
        archive.extractall(tmp_path)
    code = "import cockpit, cockpit.config.shipped as s; print(cockpit.__file__, s.example_file())"

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    assert all(path.startswith(str(tmp_path)) for path in done.stdout.split())


Installing = Callable[[str], list[str]]


@pytest.fixture
def installing(own_home: Path) -> Installing:
    """Installs a small wheel with a stand-in for uv, which runs the given script."""
    home = os.environ["HOME"]

    def install(script: str) -> list[str]:
        uv = program(own_home, "uv", f"#!/bin/sh\n{script}\n")
        steps: list[str] = []
        wheel = Wheel("small-1-py3-none-any.whl", bytes(range(256)) * 4096)
        install_wheel(
            "gpu1", ["env", f"HOME={home}"], Installer("uv", str(uv)), wheel, steps.append
        )
        return steps

    return install


def test_a_wheel_arrives_byte_for_byte_and_leaves_nothing(
    installing: Installing, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own_home / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(own_home / "tmp"))
    steps = installing(f'cp "$4" {own_home}/arrived; echo "$1 $2 $3" >{own_home}/words')

    assert (own_home / "arrived").read_bytes() == bytes(range(256)) * 4096
    assert (own_home / "words").read_text() == "tool install --force\n"
    assert len(steps) == 1
    assert list((own_home / "tmp").iterdir()) == []


def test_an_installation_that_fails_shows_the_end_of_its_output(installing: Installing) -> None:
    with pytest.raises(Failed) as caught:
        installing("seq 1000; echo 'disk \033[31mfull'; exit 1")

    assert "disk full" in caught.value.detail
    assert "\x1b" not in str(caught.value)
    assert "\n990\n" not in caught.value.detail


def test_a_machine_without_a_network_is_told_apart(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the real pip: libraries cannot be downloaded there."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)

    with pytest.raises(Failed, match="gpu1 could not download the libraries") as caught:
        install_wheel(
            "gpu1", ["env"], Installer("venv", sys.executable), own_wheel(), lambda _: None
        )

    assert "HTTPS_PROXY" in caught.value.hint
    assert not (Path(os.environ["HOME"]) / ".local/bin/cockpit").exists()


def test_a_file_of_the_user_is_not_replaced_by_a_link(own_home: Path) -> None:
    mine = Path(os.environ["HOME"]) / ".local/bin/cockpit"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")

    with pytest.raises(Failed, match="Cannot install"):
        install_wheel(
            "gpu1", ["env"], Installer("venv", sys.executable), own_wheel(), lambda _: None
        )

    assert mine.read_text() == "mine"
    assert not mine.parent.parent.joinpath("share").exists()
