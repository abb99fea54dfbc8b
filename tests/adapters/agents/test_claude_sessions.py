"""Where a session's record is, and which sessions may be opened again."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from cockpit.adapters.agents.claude.sessions import check_resumable, encode_directory, record_path
from cockpit.core.errors import BadUsage, NotNow
from cockpit.core.ids import SessionId

SESSION = SessionId("11111111-2222-4333-8444-555555555555")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"CLAUDE_CONFIG_DIR": str(tmp_path / "conf")}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def record(path: Path, *cwds: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ['{"type":"mode"}', *(json.dumps({"type": "user", "cwd": cwd}) for cwd in cwds)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    ("directory", "name"),
    [("/a/b-c_d.e", "-a-b-c-d-e"), ("/ü/x", "---x"), ("/😀", "---"), ("/A9", "-A9")],
)
def test_a_directory_is_encoded_as_the_cli_does(directory: str, name: str) -> None:
    assert encode_directory(Path(directory)) == name


def test_a_record_that_is_not_there_yet_has_a_place(
    tmp_path: Path, work: Path, environment: dict[str, str]
) -> None:
    expected = tmp_path / "conf" / "projects" / encode_directory(work) / f"{SESSION}.jsonl"
    assert record_path(SESSION, work, environment) == expected


def test_a_link_is_followed_as_the_process_will_see_it(
    tmp_path: Path, work: Path, environment: dict[str, str]
) -> None:
    (tmp_path / "link").symlink_to(work)
    assert record_path(SESSION, tmp_path / "link", environment) == record_path(
        SESSION, work, environment
    )


def test_a_record_that_moved_is_found_by_its_id(
    tmp_path: Path, work: Path, environment: dict[str, str]
) -> None:
    moved = record(tmp_path / "conf" / "projects" / "-elsewhere" / f"{SESSION}.jsonl")
    assert record_path(SESSION, work, environment) == moved


def test_a_long_name_is_cut_and_matched_by_its_beginning(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    deep = tmp_path / ("d" * 120) / ("e[x]" * 30)
    assert record_path(SESSION, deep, environment) is None
    folder = tmp_path / "conf" / "projects" / f"{encode_directory(deep)[:200]}-1x2y3z"
    there = record(folder / f"{SESSION}.jsonl")
    assert record_path(SESSION, deep, environment) == there


def test_the_pilots_own_folder_name_is_obeyed(
    tmp_path: Path, work: Path, environment: dict[str, str]
) -> None:
    found = record_path(SESSION, work, environment | {"CLAUDE_CODE_PROJECT_DIR_NAME": "mine"})
    assert found == tmp_path / "conf" / "projects" / "mine" / f"{SESSION}.jsonl"


def test_a_session_of_this_directory_may_be_opened(work: Path, environment: dict[str, str]) -> None:
    path = record_path(SESSION, work, environment)
    assert path is not None
    record(path, str(work))
    assert check_resumable(SESSION, work, environment) == path


def test_a_session_of_another_directory_may_not(
    tmp_path: Path, work: Path, environment: dict[str, str]
) -> None:
    """Folder names are lossy: `/a/b-c` and `/a/b/c` share one."""
    path = record_path(SESSION, work, environment)
    assert path is not None
    record(path, "/somewhere/else")
    with pytest.raises(BadUsage, match="another directory"):
        check_resumable(SESSION, work, environment)
    record(path)
    with pytest.raises(BadUsage, match="another directory"):
        check_resumable(SESSION, work, environment)


def test_a_session_that_a_live_process_has_may_not(
    tmp_path: Path, work: Path, environment: dict[str, str]
) -> None:
    path = record_path(SESSION, work, environment)
    assert path is not None
    record(path, str(work))
    started = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
    notes = tmp_path / "conf" / "sessions"
    notes.mkdir()
    now = int(time.time() * 1000)
    said = {"pid": os.getpid(), "sessionId": SESSION, "procStart": started, "startedAt": now}
    (notes / f"{os.getpid()}.json").write_text(json.dumps(said))
    with pytest.raises(NotNow, match="already open"):
        check_resumable(SESSION, work, environment)
