"""Who may not come in: a second supervisor, and other users of the machine."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import pytest

from cockpit.core.errors import NotNow
from cockpit.supervisor.api.connections import UserOnly
from cockpit.supervisor.main import take_lock

SOMEBODY = 65534


def test_a_second_supervisor_is_refused_with_the_pid_of_the_first(tmp_path: Path) -> None:
    with (
        take_lock(tmp_path / "supervisor.lock"),
        pytest.raises(NotNow, match=f"already running \\(pid {os.getpid()}\\)"),
    ):
        take_lock(tmp_path / "supervisor.lock")
    take_lock(tmp_path / "supervisor.lock").close()


def test_a_lock_file_that_was_removed_lets_no_second_supervisor_run(tmp_path: Path) -> None:
    lock = tmp_path / "supervisor.lock"
    with take_lock(lock):
        lock.unlink()
        with pytest.raises(NotNow, match="already running"):
            take_lock(lock)
        assert not lock.exists()
    take_lock(lock).close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else for a moment")
def test_a_connection_of_another_user_is_closed_before_anything_is_read() -> None:
    os.seteuid(SOMEBODY)
    try:
        ours, theirs = socket.socketpair()  # the kernel notes now who that is
    finally:
        os.seteuid(0)
    with ours, theirs:
        connection = Connection(ours)
        UserOnly.connection_made(UserOnly.__new__(UserOnly), connection)
        assert connection.is_closed


class Connection:
    """As much of a transport as is asked before a word is read."""

    def __init__(self, opened: socket.socket) -> None:
        self._opened = opened
        self.is_closed = False

    def get_extra_info(self, _name: str) -> Any:
        return self._opened

    def abort(self) -> None:
        self.is_closed = True
