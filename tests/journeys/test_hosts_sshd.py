"""`cockpit hosts` through a real sshd: keys, banners, other shells, a jump, a shared connection."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from cockpit import __version__
from cockpit.cli.commands import run
from cockpit.core.errors import NoSuchAgent
from tests.journeys.sshd import Sshd, program, sshd

__all__ = ["sshd"]

pytestmark = pytest.mark.tmux


@pytest.fixture
def host(sshd: Sshd) -> Iterator[Sshd]:
    """A machine behind sshd; its supervisor is ended afterwards, however that is reached."""
    program("ssh")
    yield sshd
    script = sshd.folder / "cockpit"
    subprocess.run([str(script), "down", "--agents"], capture_output=True, check=False)


def configured(sshd: Sshd, *lines: str) -> None:
    """Begin again, with more lines in the configuration of sshd."""
    sshd.end()
    with (sshd.folder / "sshd_config").open("a") as file:
        file.write("\n".join([*lines, ""]))
    sshd.begin()


def client(sshd: Sshd, *lines: str) -> None:
    """More lines in the user's own configuration of ssh."""
    with (sshd.folder / "config").open("a") as file:
        file.write("\n".join([*lines, ""]))


def written() -> list[str]:
    """The command to connect of the only host in the user's file."""
    file = Path(os.environ["COCKPIT_HOME"]) / "cockpit.toml"
    (one,) = tomllib.loads(file.read_text())["hosts"]
    return list(one["connect"])


@pytest.mark.long
def test_a_machine_is_added_behind_a_banner_and_noise(
    host: Sshd, capsys: pytest.CaptureFixture[str]
) -> None:
    (host.folder / "banner").write_text("Authorized use only\n")
    noise = r"printf 'Last login\033[2J\nend \n'; "
    configured(
        host,
        f"Banner {host.folder}/banner",
        f'ForceCommand {noise}exec sh -c "$SSH_ORIGINAL_COMMAND"',
    )

    assert run(["hosts", "add", "gpu1", *host.ssh]) == 0

    said = capsys.readouterr()
    assert said.out.startswith(f"gpu1  up             {__version__} ")
    assert "ok    key          accepted" in said.err
    assert "\x1b" not in said.out + said.err
    assert written() == host.ssh
    assert run(["hosts", "check"]) == 0
    for words, code in {
        ("status",): 0,  # a raw request
        ("stop", "nobody"): NoSuchAgent.exit_code,  # one request
        ("history",): 0,  # a connection that is kept
    }.items():
        assert run([*words, "--host", "gpu1"]) == code, words
    assert run(["hosts", "remove", "gpu1"]) == 0


@pytest.mark.long
@pytest.mark.parametrize("shell", ["fish", "csh"])
def test_another_login_shell(shell: str, host: Sshd) -> None:
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"there is no {shell}: apt-get install fish tcsh")
    configured(host, f'ForceCommand {found} -c "$SSH_ORIGINAL_COMMAND"')

    assert run(["hosts", "add", "gpu1", *host.ssh]) == 0
    assert run(["hosts", "check"]) == 0


@pytest.mark.long
def test_a_jump_and_a_shared_connection(host: Sshd, capsys: pytest.CaptureFixture[str]) -> None:
    port = next(
        line.split()[1]
        for line in (host.folder / "config").read_text().splitlines()
        if "Port" in line
    )
    user = pwd.getpwuid(os.getuid()).pw_name
    shared = host.folder / "shared"
    client(
        host,
        "Host inner",
        "  HostName 127.0.0.1",
        f"  Port {port}",
        f"  User {user}",
        f"  IdentityFile {host.folder}/user",
        "  IdentitiesOnly yes",
        f"  UserKnownHostsFile {host.folder}/known",
        "  ProxyJump 127.0.0.1",
        "  ControlMaster auto",
        f"  ControlPath {shared}",
        "  ControlPersist 60",
    )
    vector = [*host.ssh[:-1], "inner"]
    try:
        assert run(["hosts", "add", "inner", *vector]) == 0
        assert shared.exists()
        assert run(["hosts", "check"]) == 0
    finally:
        subprocess.run([*vector[:-1], "-O", "exit", "inner"], capture_output=True, check=False)


@pytest.mark.long
def test_a_host_key_that_is_not_known(host: Sshd, capsys: pytest.CaptureFixture[str]) -> None:
    known = host.folder / "known"
    known.write_text("")

    assert run(["hosts", "add", "gpu1", *host.ssh]) == 4

    said = capsys.readouterr().err
    assert "does not know the host's key" in said
    assert f"accept the key once: {' '.join(host.ssh)} true" in said
    assert known.read_text() == ""
    assert not (Path(os.environ["COCKPIT_HOME"]) / "cockpit.toml").exists()


def test_a_host_key_that_has_changed(host: Sshd, capsys: pytest.CaptureFixture[str]) -> None:
    known = host.folder / "known"
    other = (host.folder / "user.pub").read_text().split(" ")[1]
    known.write_text(" ".join([*known.read_text().split(" ")[:2], other]) + "\n")

    assert run(["hosts", "add", "gpu1", *host.ssh]) == 4

    said = capsys.readouterr().err
    assert "The host's key has changed" in said
    assert "ssh-keygen -R" in said


@pytest.mark.long
def test_a_key_that_is_refused(host: Sshd, capsys: pytest.CaptureFixture[str]) -> None:
    file = host.folder / "sshd_config"
    file.write_text(file.read_text().replace("/user.pub", "/none"))
    configured(host, "PasswordAuthentication no")

    assert run(["hosts", "add", "gpu1", *host.ssh]) == 4

    said = capsys.readouterr().err
    assert "refused to log in without a password" in said
    assert "ssh-copy-id" in said


@pytest.mark.long
def test_a_machine_that_is_off(host: Sshd, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["hosts", "add", "gpu1", *host.ssh]) == 0
    host.end()

    assert run(["hosts"]) == 0
    assert "gpu1  unreachable    ssh: connect to host 127.0.0.1" in capsys.readouterr().out
    assert run(["hosts", "check"]) == 1
    assert run(["hosts", "remove", "gpu1"]) == 0
