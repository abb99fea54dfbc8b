"""The command that connects to a host: its kind, and a PATH that is added to it."""

from __future__ import annotations

import pytest

from cockpit.core.host_connect import attach_vector, forwards_input, typed, with_path
from cockpit.core.host_facts import HostFacts, Program

PATH = "/usr/bin:/mnt/c/Program Files/x:/bin"


def facts(*programs: tuple[str, str, bool], path: str = PATH) -> HostFacts:
    return HostFacts(
        path=path, programs={name: Program(at, seen, "1.0") for name, at, seen in programs}
    )


def test_the_folders_of_hidden_programs_come_first_and_odd_ones_are_left_out() -> None:
    found = facts(
        ("cockpit", "/home/me/.local/bin/cockpit", False),
        ("tmux", "/opt/homebrew/bin/tmux", False),
        ("git", "/usr/bin/git", True),
        ("uv", "/home/me/.cargo/bin/uv", False),
    )

    assert with_path(["ssh", "gpu1"], found) == (
        "ssh", "gpu1", "env", "PATH=/home/me/.local/bin:/opt/homebrew/bin:/usr/bin:/bin",
    )  # fmt: skip


def test_a_path_that_is_there_is_replaced() -> None:
    found = facts(("cockpit", "/a/cockpit", False), path="/b:/usr/bin")

    changed = with_path(["ssh", "gpu1", "env", "PATH=/b:/usr/bin"], found)

    assert changed == ("ssh", "gpu1", "env", "PATH=/a:/b:/usr/bin")


@pytest.mark.parametrize(
    "folder", ["/home/my name/bin", "/a;b", "/a$b", "relative", "/a'b", '/a"b', "/a\nb", "/a:b"]
)
def test_a_folder_that_a_shell_would_change_is_never_added(folder: str) -> None:
    assert with_path(["ssh", "gpu1"], facts(("cockpit", f"{folder}/cockpit", False))) is None


def test_nothing_is_added_where_nothing_is_missing() -> None:
    assert with_path(["ssh", "gpu1"], facts(("cockpit", "/usr/bin/cockpit", True))) is None


@pytest.mark.parametrize(
    ("connect", "attach"),
    [
        (["ssh", "gpu1"], ()),
        (["/usr/bin/docker", "exec", "-i", "box"], ("/usr/bin/docker", "exec", "-it", "box")),
        (["kubectl", "exec", "--stdin", "pod", "--"], ("kubectl", "exec", "-it", "pod", "--")),
    ],
)
def test_a_container_gets_a_terminal_to_attach(connect: list[str], attach: tuple[str, ...]) -> None:
    assert attach_vector(connect) == attach


def test_which_containers_pass_their_input_on() -> None:
    assert forwards_input(["docker", "exec", "-i", "box"])
    assert forwards_input(["docker", "exec", "-ti", "box"])
    assert not forwards_input(["docker", "exec", "box"])
    assert not forwards_input(["kubectl", "exec", "pod", "-c", "main", "--"])


def test_a_command_to_type_is_quoted_and_asks_in_a_terminal() -> None:
    assert typed(["ssh", "a b"], "true") == "ssh 'a b' true"
    assert typed(["ssh", "gpu1"], "sudo", "x", terminal=True) == "ssh -t gpu1 sudo x"
    assert typed(["docker", "exec", "box"], "x", terminal=True) == "docker exec box x"
