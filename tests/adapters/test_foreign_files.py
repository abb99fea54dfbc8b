"""Paths that an agent can name: what they may lead to, and how little is opened of it."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from cockpit.adapters.files.foreign_files import (
    NotPlain,
    is_file,
    open_file,
    opened,
    read_file,
    read_text,
)


def pipe(path: Path) -> str:
    os.mkfifo(path)
    return "is a named pipe, not a file"


def door(path: Path) -> str:
    bound = socket.socket(socket.AF_UNIX)
    bound.bind(str(path))
    bound.close()
    return "is a socket, not a file"


def folder(path: Path) -> str:
    path.mkdir()
    return "is a directory, not a file"


def device(path: Path) -> str:
    path.symlink_to("/dev/zero")
    return "is a device, not a file"


@pytest.mark.parametrize("make", [pipe, door, folder, device])
def test_only_regular_files_are_opened(make: object, tmp_path: Path) -> None:
    path = tmp_path / "named"
    words = make(path)  # type: ignore[operator]
    with pytest.raises(NotPlain) as refused:
        read_file(path, 10)
    assert refused.value.strerror == words
    assert not is_file(path)


def test_a_link_is_followed_only_where_that_was_meant(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("words")
    (tmp_path / "link").symlink_to("file")
    assert read_text(tmp_path / "link", 100) == "words"
    with pytest.raises(NotPlain, match="symbolic link"):
        read_text(tmp_path / "link", 100, follow_links=False)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_a_file_of_another_user_is_refused_unless_the_user_named_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("words")
    os.chown(path, 65_534, 65_534)
    with pytest.raises(NotPlain, match="belongs to another user"):
        read_file(path, 10)
    assert read_file(path, 10, any_owner=True) == b"words"


def test_a_sparse_terabyte_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(NotPlain, match="is larger than 4 KiB"):
        read_file(path, 4096)
    with pytest.raises(NotPlain, match="is larger than 1 MiB"), opened(path, most=1 << 20):
        pass
    assert read_file(path, 16, cut=True) == bytes(16)


def test_a_name_in_a_folder_that_is_open(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("words")
    os.mkfifo(tmp_path / "pipe")
    held = os.open(tmp_path, os.O_RDONLY)
    try:
        descriptor = open_file("file", dir_fd=held, follow_links=False)
        assert os.read(descriptor, 10) == b"words"
        assert not os.get_inheritable(descriptor)
        os.close(descriptor)
        with pytest.raises(NotPlain):
            open_file("pipe", dir_fd=held)
    finally:
        os.close(held)


def test_what_is_missing_is_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_file(tmp_path / "none", 10)
    assert not is_file(tmp_path / "none")
