"""`cockpit demo --pictures`: every screen of a real flight, as SVG.

Nothing is written before the last picture is taken, so that a flight that fails leaves the
pictures that there were.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile

from cockpit.cli.shots import EMPTY, FLYING
from cockpit.client.client import Supervisor
from cockpit.config.files import Files
from cockpit.config.shipped import themes_folder
from cockpit.core.errors import BadUsage, Failed
from cockpit.core.plurals import counted
from cockpit.demo.flight import Flight, Say
from cockpit.demo.posing import fly_posing
from cockpit.demo.scratch import Scratch
from cockpit.tui.picture import Shot, picture
from cockpit.tui.surroundings import Surroundings

ALWAYS = "/tmp/ckdemo-pictures"
"""What every picture calls the scratch folder, whose name is another in every flight."""

Pictures = Mapping[str, str]
"""SVG by file name."""


def fly_for_pictures(folder: Path, *, keep: bool, say: Say, standin: bool = False) -> int:
    """Leave a picture of every screen there; 0.

    Raises `BadUsage` at once where nothing can be written there.
    """
    camera = Camera(len(EMPTY) + len(FLYING), say)

    async def take(shots: Sequence[Shot], flown: Flight) -> None:
        hidden = str(flown.scratch.folder)
        await camera.take(shots, flown.client, around(flown.scratch), hidden)

    with writable(folder):
        empty, posed = partial(take, EMPTY), partial(take, FLYING)
        fly_posing(empty=empty, posed=posed, keep=keep, say=say, standin=standin)
        write(camera.pictures, folder)
    size = sum(len(svg.encode()) for svg in camera.pictures.values()) // 1000
    say(f"{counted(len(camera.pictures), 'picture')} in {folder}, {size} kB")
    return 0


@contextmanager
def writable(folder: Path) -> Iterator[None]:
    """The folder is there and can be written to; one that was made and stayed empty goes again."""
    made = not folder.exists()
    try:
        folder.mkdir(exist_ok=True)
        with NamedTemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = f"{folder}: {error.strerror}."
        raise BadUsage("The pictures cannot be written there", reason) from error
    try:
        yield
    finally:
        if made and not any(folder.iterdir()):
            folder.rmdir()


def write(pictures: Pictures, folder: Path) -> None:
    """Put them into the folder, in the place of those of the same names. Raises `Failed`."""
    try:
        for name, svg in pictures.items():
            (folder / name).write_text(svg, encoding="utf-8")
    except OSError as error:
        raise Failed(
            "A picture could not be written", f"{error.filename}: {error.strerror}."
        ) from error


class Camera:
    """Takes one picture after the other, and says so."""

    def __init__(self, shots: int, say: Say) -> None:
        self.pictures: dict[str, str] = {}
        """SVG by file name."""
        self._shots, self._say = shots, say

    async def take(
        self, shots: Iterable[Shot], client: Supervisor, around: Surroundings, hidden: str
    ) -> None:
        """Pictures of what is there now; the folder that is to be hidden is called `ALWAYS`."""
        for shot in shots:
            self._say(f"picture {len(self.pictures) + 1} of {self._shots}: {shot.name}")
            svg = await picture(client, shot, around, [themes_folder()])
            self.pictures[f"{shot.name}.svg"] = svg.replace(hidden, ALWAYS)


def around(scratch: Scratch) -> Surroundings:
    """What surrounds a screen that somebody opens in the flight's repository."""
    environment = scratch.environment()
    return Surroundings(
        attach=nowhere,
        edit=nowhere,
        home=str(scratch.home),
        directory=scratch.repository,
        files=partial(Files.read, scratch.places, scratch.config, scratch.repository, environment),
    )


async def nowhere(_name: object) -> None:
    """A picture leads nowhere."""
