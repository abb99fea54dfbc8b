"""Power cuts: a home on an ext4 image, whose unsynced writes are gone when it is mounted again.

At the cut the image is copied as the block device stands: what a file system had not yet handed
down is not in it. Mounting the copy replays the journal, as after any crash. The options make it
the least forgiving ext4 there is: no commit by time, no help for a rename over an unsynced file.
Root alone can mount; elsewhere `reason_against` says why not.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

MEGABYTES = 48
OPTIONS = "loop,noatime,noauto_da_alloc,commit=600"
FORMAT = ("mkfs.ext4", "-q", "-F", "-b", "4096", "-J", "size=8")


@cache
def reason_against() -> str | None:
    """Why no power can be cut here; None if it can."""
    if os.geteuid() != 0:
        return "only root can mount an image"
    for program in ("mkfs.ext4", "mount", "umount"):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    with tempfile.TemporaryDirectory(prefix="ckfaults-") as folder:
        place = Path(folder) / "mount"
        place.mkdir()
        try:
            plug_in(place)
        except subprocess.CalledProcessError as refused:
            return f"an image cannot be mounted here: {refused.stderr.strip()[-200:]}"
        unplug(place)
    return None


def image(home: Path) -> Path:
    """What holds everything below `home`."""
    return home.with_name(f"{home.name}.img")


def plug_in(home: Path) -> None:
    """Mount the image of `home` there, a new one if there is none. Raises `CalledProcessError`."""
    file = image(home)
    if not file.exists():
        with file.open("wb") as made:
            made.truncate(MEGABYTES * 1024 * 1024)
        _run(*FORMAT, str(file))
    _run("mount", "-o", OPTIONS, str(file), str(home))


def unplug(home: Path) -> None:
    """Unmount it; who has files open there keeps them, on a device that nobody reads again."""
    _run("umount", "-l", str(home))


def settle(home: Path) -> None:
    """Have everything on the device that was written until now."""
    _run("sync", "-f", str(home))


def cut(home: Path) -> None:
    """Keep the device as it stands now. Runs inside of the supervisor: no process is started."""
    with image(home).open("rb") as there, _cut(home).open("wb") as kept:
        end = os.fstat(there.fileno()).st_size
        while kept.tell() < end:
            done = os.sendfile(kept.fileno(), there.fileno(), kept.tell(), end - kept.tell())
            kept.seek(done, os.SEEK_CUR)


def switch_on(home: Path) -> None:
    """Mount what was kept at the cut, in place of what went on after it."""
    unplug(home)
    _cut(home).replace(image(home))
    plug_in(home)


def throw_away(home: Path) -> None:
    """Unmount it where it is mounted, and remove its image."""
    if home.is_mount():
        unplug(home)
    for file in (image(home), _cut(home)):
        file.unlink(missing_ok=True)


def _cut(home: Path) -> Path:
    return home.with_name(f"{home.name}.cut")


def _run(*words: str) -> None:
    # In a session of its own: Ctrl-C is for the runner, which must still unmount.
    subprocess.run(words, check=True, capture_output=True, text=True, start_new_session=True)
