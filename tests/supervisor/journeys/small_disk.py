"""A disk of a test's own that can be full or read-only. As root only."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)
_READ_ONLY, _REMOUNT, _DETACH = 1, 32, 2


class SmallDisk:
    """A mounted file system in memory."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def fill(self) -> None:
        """Leave no room for another byte."""
        with (self.place / "ballast").open("wb", buffering=0) as file:
            try:
                while file.write(bytes(4096)):
                    pass
            except OSError:
                return

    def clear(self) -> None:
        (self.place / "ballast").unlink()

    def read_only(self, *, on: bool) -> None:
        _mount(self.place, _REMOUNT | (_READ_ONLY if on else 0))


@contextmanager
def small_disk(place: Path, size: str = "8m") -> Iterator[SmallDisk]:
    """Mount it until the block is left; raises `OSError` where that is not allowed."""
    place.mkdir()
    _mount(place, 0, f"size={size},mode=700")
    try:
        yield SmallDisk(place)
    finally:
        _LIBC.umount2(os.fsencode(place), _DETACH)


def _mount(place: Path, flags: int, options: str = "") -> None:
    if _LIBC.mount(b"small", os.fsencode(place), b"tmpfs", flags, options.encode() or None):
        raise OSError(ctypes.get_errno(), f"mount {place}")
