"""A file system that never answers: a FUSE mount whose server does nothing but say hello.

Every call below it hangs in the kernel, as on an NFS whose server is away. As root only.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)
_FORCE_DETACH = 1 | 2
_HEADER = struct.Struct("<IIQQIIII")
_HELLO = struct.Struct("<IIIIHHIIHHIIHHI6I")


@contextmanager
def hanging_mount(place: Path) -> Iterator[Path]:
    """Mount it until the block is left; raises `OSError` where that is not allowed."""
    place.mkdir()
    device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    try:
        options = f"fd={device},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()}"
        if _LIBC.mount(b"hanging", os.fsencode(place), b"fuse", 0, options.encode()):
            raise OSError(ctypes.get_errno(), "mount")
        try:
            _say_hello(device)
            yield place
        finally:
            # Whoever hangs in it gets an error, and ends.
            _LIBC.umount2(os.fsencode(place), _FORCE_DETACH)
    finally:
        os.close(device)


def _say_hello(device: int) -> None:
    """Answer the kernel's first message; it sends the others only after that."""
    unique = _HEADER.unpack_from(os.read(device, 65_536))[2]
    hello = _HELLO.pack(7, 31, 0, 0, 0, 0, 4096, 0, 0, 0, 0, 0, 0, 0, 0, *(0,) * 6)
    os.write(device, struct.pack("<IiQ", 16 + 64, 0, unique) + hello.ljust(64, b"\0")[:64])
