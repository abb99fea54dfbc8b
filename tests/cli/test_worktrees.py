"""`cockpit worktrees` says in lines what there is; the commands themselves are flown elsewhere."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from click.testing import CliRunner

from cockpit.cli.commands import cockpit, run
from cockpit.tui.present.worktrees import Sizes, lines
from cockpit.wire.worktrees import Obstacle, WorktreeStatus

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def tree(**more: object) -> WorktreeStatus:
    plain = {
        "directory": "/r/.worktrees/api", "repository": "/r", "branch": "agent/api",
        "agent": "api", "state": "needs_you", "made": True, "made_at": "2026-11-21T07:00:00Z",
        "changed": 0, "untracked": 0, "alone": 0, "behind": 0,
    }  # fmt: skip
    return WorktreeStatus.model_validate(plain | more)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({}, "api (needs you), agent/api, 5 h old, clean"),
        ({"made_at": "2026-11-18T12:00:00Z", "state": None}, "api, agent/api, 3 days old, clean"),
        ({"changed": 1, "untracked": 2}, "5 h old, 1 file changed, 2 untracked"),
        (
            {"changed": 2, "overlooked": 1},
            "2 files changed (1 hidden from git status)",
        ),
        ({"changed": None}, "git status unknown"),
        ({"alone": 2, "behind": 3}, "clean, 2 commits not pushed or merged, 3 behind"),
        ({"missing": True}, "folder missing"),
        ({"branch": None, "busy": "rebase"}, "detached, 5 h old, clean, rebase"),
        ({"made": False, "agent": None, "state": None}, "not cockpit's, agent/api"),
        ({"lock": ""}, "clean, locked (no reason given)"),
    ],
)
def test_a_worktree_is_one_line(more: dict[str, object], words: str) -> None:
    told = lines(tree(**more), NOW)
    assert len(told) == 1
    assert words in told[0]
    assert told[0].startswith("/r/.worktrees/api  ")


@pytest.mark.parametrize(
    ("more", "end"),
    [
        ({"size": 2_140_000_000}, "clean, size 2.1 GB"),
        ({"size": 2_140_000_000, "size_partial": True}, "clean, size over 2.1 GB"),
        ({}, "clean, size –"),
        ({"missing": True}, "folder missing"),
    ],
)
def test_a_line_ends_with_the_size(more: dict[str, object], end: str) -> None:
    (told,) = lines(tree(**more), NOW, Sizes.MEASURED)
    assert told.endswith(end)
    assert "size" not in lines(tree(**more), NOW)[0]


def test_what_stands_against_a_removal_follows() -> None:
    obstacle = Obstacle(why="api works in it", next="Stop it: cockpit stop api", agent="api")
    assert lines(tree(obstacles=[obstacle]), NOW)[1:] == ["    blocks removal: api works in it"]
    assert len(lines(tree(obstacles=[obstacle], made=False), NOW)) == 1


def test_hostile_names_are_shown_and_not_obeyed() -> None:
    (told,) = lines(tree(directory="/r/\x1b]0;x\x07\ny", branch="\x1b[2J"), NOW)
    assert "\x1b" not in told
    assert "\n" not in told


def test_the_help_teaches() -> None:
    said = CliRunner().invoke(cockpit, ["worktrees", "--help"]).output
    assert "cockpit worktrees remove api --salvage" in said
    more = CliRunner().invoke(cockpit, ["worktrees", "remove", "--help"]).output
    assert "refs/cockpit/salvage/AGENT/TIME" in more


def test_files_are_restored_beside_the_repository(own_home: Path) -> None:
    repository = own_home / "r"
    repository.mkdir()
    (repository / "file").write_bytes(b"a\r\n")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "one")):
        subprocess.run(["git", *words], cwd=repository, check=True)
    asked = ["worktrees", "restore", "HEAD", str(own_home / "new"), "--repository", str(repository)]
    done = CliRunner().invoke(cockpit, asked)
    assert "Restored 1 file into" in done.output
    assert (own_home / "new" / "file").read_bytes() == b"a\r\n"


def test_on_a_terminal_the_list_comes_before_the_sizes(
    answering: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Measuring takes up to half a minute."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    here = f"directory={quote(str(Path.cwd()), safe='')}"
    known = WorktreeStatus(directory="/r/.worktrees/api", repository="/r", made=True)
    measured = known.model_copy(update={"size": 4_700_000})
    answering.say(f"GET /v1/worktrees?{here}", [known.model_dump()])
    answering.say(f"GET /v1/worktrees?{here}&sizes=1", [measured.model_dump()])

    assert run(["worktrees"]) == 0

    listed, _, sizes = capsys.readouterr().out.partition("Measuring sizes…")
    assert listed.startswith("/r/.worktrees/api  ")
    assert "4.7 MB" not in listed
    assert sizes.removeprefix("\r\x1b[K").splitlines() == ["4.7 MB  /r/.worktrees/api"]
    assert answering.asked[0][0].endswith(here)


def test_elsewhere_there_is_one_list_with_the_sizes(
    answering: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    here = f"directory={quote(str(Path.cwd()), safe='')}"
    tree = WorktreeStatus(directory="/r/.worktrees/api", repository="/r", made=True, size=4_700_000)
    answering.say(f"GET /v1/worktrees?{here}&sizes=1", [tree.model_dump()])

    assert run(["worktrees"]) == 0

    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("/r/.worktrees/api  ")
    assert line.endswith("size 4.7 MB")
    assert len(answering.asked) == 1
