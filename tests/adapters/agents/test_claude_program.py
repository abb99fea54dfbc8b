"""Claude Code is found, and has answered, before anything is built on it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cockpit.adapters.agents.claude.program import INSTALL, bundled_path, find_program
from cockpit.adapters.agents.probe import probed_version
from cockpit.core.errors import ProgramMissing


def program(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def test_the_pilots_own_comes_first(tmp_path: Path) -> None:
    own = program(tmp_path / "bin" / "claude", "echo '9.8.7 (Claude Code)'")
    found = find_program({"PATH": f"{own.parent}:/usr/bin"})
    assert (found.path, found.version, found.bundled) == (own, "9.8.7", False)


@pytest.mark.skipif(bundled_path() is None, reason="the SDK of this platform brings no CLI")
def test_the_bundled_one_comes_next_or_when_asked_for(tmp_path: Path) -> None:
    own = program(tmp_path / "bin" / "claude", "echo 9.8.7")
    for found in (
        find_program({"PATH": "/nonexistent"}),
        find_program({"PATH": str(own.parent)}, bundled_only=True),
    ):
        assert (found.path, found.bundled) == (bundled_path(), True)
        assert found.version[0].isdigit()


def test_a_named_one_is_the_only_one(tmp_path: Path) -> None:
    named = program(tmp_path / "my claude", "echo 1.2.3")
    assert find_program({}, path=named).path == named
    with pytest.raises(ProgramMissing, match="Cannot find"):
        find_program({}, path=tmp_path / "none")


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("exit 3", "exited with code 3."),
        ("echo hello", "printed no version: hello"),
        ("echo 1.2.3; printf 'no\tGPU' >&2; exit 1", "exited with code 1: no GPU"),
        ("kill -9 $$", "exited with code -9."),
    ],
)
def test_one_that_does_not_answer_is_a_failure(tmp_path: Path, script: str, why: str) -> None:
    """Not a reason to run another one than the user's."""
    own = program(tmp_path / "bin" / "claude", script)
    with pytest.raises(ProgramMissing, match="does not work") as refused:
        find_program({"PATH": f"{own.parent}:/usr/bin:/bin"})
    assert refused.value.detail == f"--version {why}"


def test_links_that_go_round_in_circles_are_said_to_be_missing(tmp_path: Path) -> None:
    (tmp_path / "claude").symlink_to(tmp_path / "claude")
    with pytest.raises(ProgramMissing):
        probed_version(tmp_path / "claude", {}, INSTALL)


def test_what_cannot_be_executed_is_said(tmp_path: Path) -> None:
    (tmp_path / "claude").write_bytes(b"\x7fELF truncated")
    (tmp_path / "claude").chmod(0o755)
    with pytest.raises(ProgramMissing, match="does not work"):
        probed_version(tmp_path / "claude", {}, INSTALL)


def test_it_is_asked_again_only_when_it_has_changed(tmp_path: Path) -> None:
    count = tmp_path / "asked"
    own = program(tmp_path / "claude", f"echo x >> {count}; echo 1.2.3")
    environment = {"PATH": os.environ["PATH"]}
    for _ in range(3):
        assert probed_version(own, environment, INSTALL) == "1.2.3"
    assert count.read_text() == "x\n"
    program(own, f"echo x >> {count}; echo 1.2.4 is newer")
    assert probed_version(own, environment, INSTALL) == "1.2.4"
