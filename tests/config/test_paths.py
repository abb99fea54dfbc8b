"""Where everything is, and whose it must be."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from cockpit.config.paths import SOCKET_PATH_BYTES, Places
from cockpit.core.errors import BadUsage, Failed


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_one_folder_holds_everything_when_cockpit_home_is_set() -> None:
    places = Places.of({"COCKPIT_HOME": "/x", "XDG_STATE_HOME": "/y", "HOME": "/h"})
    assert places.user_file == Path("/x/cockpit.toml")
    for path in (places.database, places.spool, places.socket, places.tmux_socket, places.logs):
        assert path.is_relative_to("/x")


def test_otherwise_the_xdg_folders_count() -> None:
    places = Places.of(
        {"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s", "XDG_RUNTIME_DIR": "/r"}
    )
    assert places.home is None
    assert places.user_file == Path("/c/cockpit/cockpit.toml")
    assert places.database == Path("/s/cockpit/cockpit.db")
    assert places.socket.parent == Path("/r/cockpit")


def test_without_a_runtime_folder_sockets_are_with_the_state() -> None:
    places = Places.of({"HOME": "/h"})
    assert places.state == Path("/h/.local/state/cockpit")
    assert places.socket.parent == Path("/h/.local/state/cockpit/run")


def test_relative_xdg_variables_are_ignored() -> None:
    places = Places.of({"HOME": "/h", "XDG_STATE_HOME": "s", "XDG_RUNTIME_DIR": "r"})
    assert places.state == Path("/h/.local/state/cockpit")
    assert places.runtime == Path("/h/.local/state/cockpit/run")


def test_a_relative_cockpit_home_starts_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert Places.of({"COCKPIT_HOME": "ck"}).home == tmp_path / "ck"


def test_looking_makes_nothing_and_make_makes_private_folders_twice(tmp_path: Path) -> None:
    places = Places.of({"COCKPIT_HOME": str(tmp_path / "ck")})
    assert not (tmp_path / "ck").exists()
    old = os.umask(0)
    try:
        places.make()
        places.make()
    finally:
        os.umask(old)
    for folder in (places.state, places.runtime, places.handoffs, places.spool, places.verdicts,
                   places.sessions, places.logs):  # fmt: skip
        assert _mode(folder) == 0o700


def test_a_folder_that_was_open_is_closed_but_not_the_home_itself(tmp_path: Path) -> None:
    places = Places.of({"COCKPIT_HOME": str(tmp_path)})
    tmp_path.chmod(0o755)
    places.state.mkdir(mode=0o755)
    places.make()
    assert _mode(places.state) == 0o700
    assert _mode(tmp_path) == 0o755


def test_a_link_in_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    places = Places.of({"COCKPIT_HOME": str(tmp_path)})
    (tmp_path / "elsewhere").mkdir()
    places.state.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Failed) as caught:
        places.make()
    assert "symbolic link" in caught.value.title
    assert caught.value.hint


def test_a_file_in_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    places = Places.of({"COCKPIT_HOME": str(tmp_path)})
    places.runtime.write_text("")
    with pytest.raises(Failed, match=r"Cannot use .* as a folder"):
        places.make()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    places = Places.of({"COCKPIT_HOME": str(tmp_path)})
    places.state.mkdir()
    os.chown(places.state, 12345, 12345)
    with pytest.raises(Failed, match="belongs to another user"):
        places.make()


@pytest.mark.parametrize(
    ("environment", "variable"),
    [
        ({"COCKPIT_HOME": "/{}"}, "COCKPIT_HOME"),
        ({"HOME": "/h", "XDG_RUNTIME_DIR": "/{}"}, "XDG_RUNTIME_DIR"),
        ({"HOME": "/h", "XDG_STATE_HOME": "/{}"}, "XDG_STATE_HOME"),
        ({"HOME": "/{}"}, "HOME"),
    ],
)
def test_a_socket_path_that_is_too_long_names_the_variable_to_shorten(
    environment: dict[str, str], variable: str
) -> None:
    def places(filler: str) -> Places:
        return Places.of({key: value.format(filler) for key, value in environment.items()})

    longest = max(len(str(places("x").socket)), len(str(places("x").tmux_socket)))
    places("x" * (SOCKET_PATH_BYTES - longest + 1)).check_sockets()
    too_long = places("x" * (SOCKET_PATH_BYTES - longest + 2))
    with pytest.raises(BadUsage) as caught:
        too_long.check_sockets()
    assert str(SOCKET_PATH_BYTES + 1) in caught.value.title
    assert caught.value.hint == f"Shorten {variable}."
    with pytest.raises(BadUsage):
        too_long.make()


def test_bytes_count_and_not_characters() -> None:
    with pytest.raises(BadUsage):
        Places.of({"COCKPIT_HOME": "/" + "é" * 50}).check_sockets()


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_home_that_others_can_write_is_refused_with_the_command(
    mode: int, tmp_path: Path
) -> None:
    home = tmp_path / "my home"
    home.mkdir()
    home.chmod(mode)
    with pytest.raises(Failed) as refused:
        Places.of({"COCKPIT_HOME": str(home)}).make()
    assert refused.value.hint == f"chmod go-w '{home}'"
    assert not (home / "state").exists()
    home.chmod(0o755)
    Places.of({"COCKPIT_HOME": str(home)}).make()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_a_home_of_another_user_is_refused(tmp_path: Path) -> None:
    home = tmp_path / "ck"
    home.mkdir()
    os.chown(home, 65_534, 65_534)
    with pytest.raises(Failed, match="belongs to another user"):
        Places.of({"COCKPIT_HOME": str(home)}).make()
    assert not (home / "state").exists()
