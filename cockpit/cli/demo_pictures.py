"""`cockpit demo --pictures`: save the main screens of a real demo run as SVG.

All files are written after the last picture is taken, so a failed run does not change old pictures.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile

from cockpit.cli.demo_shots import EMPTY, WITH_AGENTS
from cockpit.client.client import Supervisor
from cockpit.config.files import Files
from cockpit.config.shipped import themes_folder
from cockpit.core.errors import BadUsage, Failed
from cockpit.core.plurals import counted
from cockpit.demo.flight import Flight, Say
from cockpit.demo.posing import fly_posing
from cockpit.demo.scratch import Scratch
from cockpit.tui.pictures.picture import Shot, picture
from cockpit.tui.state.context import UIContext

ALWAYS = "/tmp/ckdemo-pictures"
"""A fixed path for pictures, in place of the demo's folder, whose path changes with every run."""

Pictures = Mapping[str, str]
"""Pictures of the screen as SVG text, by file name."""


def save_pictures(folder: Path, *, keep: bool, say: Say, standin: bool = False) -> int:
    """Run the demo, and save the pictures of `demo_shots.py` in `folder`; return 0.

    Raises `BadUsage` before the run if the folder is not writable, and `Failed` if the run or the
    saving fails.
    """
    camera = Camera(len(EMPTY) + len(WITH_AGENTS), say)

    async def take(shots: Sequence[Shot], flight: Flight) -> None:
        hidden = str(flight.scratch.folder)
        await camera.take(shots, flight.client, ui_context(flight.scratch), hidden)

    with writable(folder):
        empty, posed = partial(take, EMPTY), partial(take, WITH_AGENTS)
        fly_posing(empty=empty, posed=posed, keep=keep, say=say, standin=standin)
        write(camera.pictures, folder)
    size = sum(len(svg.encode()) for svg in camera.pictures.values()) // 1000
    say(f"{counted(len(camera.pictures), 'picture')} in {folder}, {size} kB")
    return 0


@contextmanager
def writable(folder: Path) -> Iterator[None]:
    """Create the folder if needed. Raises `BadUsage` if the folder is not writable.

    Afterwards, removes the folder if it was created here and is empty.
    """
    made = not folder.exists()
    try:
        folder.mkdir(exist_ok=True)
        with NamedTemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = f"{folder}: {error.strerror}."
        raise BadUsage(
            "Cannot save the pictures", reason, hint="Choose a folder that you can write to."
        ) from error
    try:
        yield
    finally:
        if made and not any(folder.iterdir()):
            folder.rmdir()


def write(pictures: Pictures, folder: Path) -> None:
    """Write the pictures into the folder, replacing files of the same names.

    Raises `Failed` if a file cannot be written.
    """
    try:
        for name, svg in pictures.items():
            (folder / name).write_text(svg, encoding="utf-8")
    except OSError as error:
        raise Failed(
            "Cannot save a picture",
            f"{error.filename}: {error.strerror}.",
            hint="Choose a folder on a disk with free space.",
        ) from error


class Camera:
    """Takes pictures of the screen, one at a time, and reports progress."""

    def __init__(self, shots: int, say: Say) -> None:
        self.pictures: dict[str, str] = {}
        """The pictures taken so far, as SVG text by file name."""
        self._shots, self._say = shots, say

    async def take(
        self, shots: Iterable[Shot], client: Supervisor, ui: UIContext, hidden: str
    ) -> None:
        """Take the pictures. In their text, `ALWAYS` replaces `hidden`, the path of the demo's
        folder."""
        for shot in shots:
            self._say(f"picture {len(self.pictures) + 1} of {self._shots}: {shot.name}")
            svg = await picture(client, shot, ui, [themes_folder()])
            self.pictures[f"{shot.name}.svg"] = svg.replace(hidden, ALWAYS)


def ui_context(scratch: Scratch) -> UIContext:
    """Return the context of a screen opened in the demo's repository."""
    environment = scratch.environment()
    return UIContext(
        attach=nowhere,
        edit=nowhere,
        home=str(scratch.home),
        directory=scratch.repository,
        files=partial(Files.read, scratch.places, scratch.config, scratch.repository, environment),
    )


async def nowhere(_name: object, _line: int = 1) -> None:
    """Do nothing: attaching and editing are not possible while pictures are taken."""
