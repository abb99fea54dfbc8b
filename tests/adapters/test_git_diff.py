"""How real worktrees differ, hostile ones too: bounded, and without running what they name."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from cockpit.adapters.git.command import GitCommand
from cockpit.adapters.git.diff import LARGEST, MOST_FILES
from cockpit.adapters.git.worktrees import Git
from cockpit.core.errors import Failed, ProgramMissing
from cockpit.ports.worktrees import ChangedFile, Diff


def run(directory: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=directory, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


async def diff(directory: Path, since: str | None = None) -> Diff:
    return await Git().diff(directory, since_commit=since)


def commit(directory: Path, words: str) -> str:
    run(directory, "add", "--all")
    run(directory, "commit", "-q", "--allow-empty", "-m", words)
    return run(directory, "rev-parse", "HEAD")


@pytest.fixture
def repository(own_home: Path) -> Path:
    repository = own_home / "repository"
    repository.mkdir()
    run(repository, "init", "-q")
    (repository / "file").write_text("one\ntwo\nthree\n")
    commit(repository, "one")
    return repository


async def test_nothing_differs(repository: Path) -> None:
    found = await diff(repository)
    assert found == Diff(base=run(repository, "rev-parse", "HEAD"))


async def test_staged_and_not_staged_removed_new_and_binary(repository: Path) -> None:
    (repository / "gone").write_text("x\n")
    (repository / "picture").write_bytes(b"\0\1")
    commit(repository, "more")
    (repository / "file").write_text("one\n2\nthree\nfour\n")
    (repository / "gone").unlink()
    (repository / "picture").write_bytes(b"\0\2")
    (repository / "staged").write_text("s\n")
    run(repository, "add", "staged")
    (repository / "new").touch()
    (repository / "folder").mkdir()
    (repository / "folder" / "a").touch()
    (repository / ".gitignore").write_text("*.log\n")
    (repository / "a.log").touch()

    found = await diff(repository / "folder")

    assert set(found.files) == {
        ChangedFile("file", 2, 1),
        ChangedFile("gone", 0, 1),
        ChangedFile("picture", None, None),
        ChangedFile("staged", 1, 0),
    }
    assert set(found.untracked) == {"new", "folder/", ".gitignore"}
    assert "-two\n+2\n three\n+four\n" in found.text
    assert "+++ b/staged" in found.text
    assert not found.cut
    assert found.unknown is None


async def test_since_a_commit_has_what_was_committed_meanwhile(repository: Path) -> None:
    first = run(repository, "rev-parse", "HEAD")
    (repository / "file").write_text("one\n")
    commit(repository, "less")
    assert (await diff(repository)).files == ()
    assert (await diff(repository, first)).files == (ChangedFile("file", 0, 2),)
    assert (await diff(repository, first)).base == first
    for unknown in ("f" * 40, "--output=x", "HEAD~0", ""):
        assert (await diff(repository, unknown)).base == run(repository, "rev-parse", "HEAD")


async def test_a_renamed_file_has_both_names(repository: Path) -> None:
    run(repository, "mv", "file", "moved")
    assert (await diff(repository)).files == (ChangedFile("file → moved", 0, 0),)


async def test_before_the_first_commit_everything_is_new(own_home: Path) -> None:
    repository = own_home / "empty"
    repository.mkdir()
    run(repository, "init", "-q")
    (repository / "file").write_text("one\n")
    run(repository, "add", "file")
    found = await diff(repository)
    assert (found.base, found.files) == (None, (ChangedFile("file", 1, 0),))


async def test_what_is_no_worktree_is_said(own_home: Path) -> None:
    assert (await diff(own_home)).unknown == "The directory is not in a git worktree."
    assert "Cannot run" in ((await diff(own_home / "gone")).unknown or "")
    with pytest.raises(ProgramMissing):
        await Git(program="no-such-git").diff(own_home)


async def test_names_are_safe_to_show_and_text_is_as_git_has_it(repository: Path) -> None:
    (repository / "a\n\x1b[2Jb").write_text("x\n")
    (repository / "file").write_text("\x1b[31mone\n")
    run(repository, "add", "--all")
    found = await diff(repository)
    assert {one.path for one in found.files} == {"a b", "file"}
    assert "+\x1b[31mone" in found.text


async def test_a_repository_decides_nothing_and_runs_nothing(
    repository: Path, own_home: Path
) -> None:
    ran = own_home / "ran"
    program = own_home / "program"
    program.write_text(f"#!/bin/sh\necho >> {ran}\ncat\n")
    program.chmod(0o755)
    for name, value in {
        "diff.external": str(program),
        "diff.evil.textconv": str(program),
        "diff.evil.command": str(program),
        "core.fsmonitor": str(program),
        "core.pager": str(program),
        "color.ui": "always",
        "diff.noprefix": "true",
        "diff.mnemonicPrefix": "true",
        "diff.relative": "true",
        "diff.context": "0",
    }.items():
        run(repository, "config", name, value)
    (repository / ".gitattributes").write_text("* diff=evil\n")
    (repository / "file").write_text("one\n2\nthree\n")

    found = await diff(repository)

    assert "\n--- a/file\n+++ b/file\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n" in found.text
    assert not ran.exists()

    run(repository, "config", "filter.evil.clean", str(program))
    (repository / ".gitattributes").write_text("* filter=evil\n")
    assert "filter programs" in ((await diff(repository)).unknown or "")
    assert not ran.exists()


async def test_it_locks_nothing_and_writes_nothing(repository: Path) -> None:
    os.utime(repository / "file", ns=(1, 1))
    index = repository / ".git" / "index"
    before = index.stat().st_mtime_ns, index.read_bytes()
    (repository / ".git" / "index.lock").touch()
    assert (await diff(repository)).unknown is None
    assert (index.stat().st_mtime_ns, index.read_bytes()) == before


async def test_it_has_an_end_and_says_so(repository: Path) -> None:
    (repository / "file").write_text("a line of some length\n" * 40_000)
    found = await diff(repository)
    assert found.cut
    assert LARGEST - 100 < len(found.text) <= LARGEST
    assert found.text.endswith("length\n")
    assert found.files == (ChangedFile("file", 40_000, 3),)

    run(repository, "checkout", "-q", "file")
    for number in range(MOST_FILES + 5):
        (repository / f"new-{number}").touch()
    found = await diff(repository)
    assert len(found.untracked) == MOST_FILES
    assert found.cut


async def test_a_git_without_end_is_ended(own_home: Path) -> None:
    endless, silent = own_home / "endless", own_home / "silent"
    endless.write_text("#!/bin/sh\nexec yes\n")
    silent.write_text("#!/bin/sh\nsleep 100 & wait\n")
    for program in (endless, silent):
        program.chmod(0o755)
    answer = await GitCommand(os.environ, str(endless)).run_limited(
        own_home, "rev-parse", most=1_000
    )
    assert (answer.ok, answer.cut, len(answer.output)) == (True, True, 1_000)
    with pytest.raises(Failed, match="took longer"):
        await GitCommand(os.environ, str(silent)).run_limited(
            own_home, "rev-parse", most=1_000, deadline=0.2
        )
