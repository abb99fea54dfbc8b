"""First prompts in private files, with a folder per session or job.

The database contains prompts without secrets. The exact prompt is stored only in these files, until
the CLI has read it. `launch_order` writes a session's files.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path

from cockpit.adapters.files.foreign_files import read_text
from cockpit.adapters.files.private_file import write_private
from cockpit.core.errors import OsProblem

PROMPTS = "prompts"
"""Name of the folder for prompt files, below the state folder."""
TO_PASTE = "paste.md"
"""Name of the file with a first prompt that cockpit will paste, in the session's folder."""
_PASTED = "pasted.md"
_OF_A_JOB = "job.md"
_LONGEST = 4_000_000
"""Maximum bytes of a stored prompt."""


class KeptPrompts:
    """All prompt files, below one private folder. All methods but `begin_paste` are idempotent."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def folder_of(self, owner: str) -> Path:
        """Return the folder for a `COCKPIT_RUN` id or a job id; the folder may not exist."""
        return self._folder / owner

    def keep(self, job: str, prompt: str) -> None:
        """Store a job's prompt until its session starts. Raises `OsProblem`."""
        try:
            make_private_folder(self.folder_of(job))
            write_private(self.folder_of(job) / _OF_A_JOB, prompt.encode("utf-8", "replace"))
        except OSError as refused:
            raise OsProblem(
                "Cannot save the prompt",
                f"{self._folder}: {refused.strerror or refused}",
                "Free some space, or make the folder writable.",
            ) from refused

    def of_job(self, job: str) -> str | None:
        """Return the prompt that `keep` stored for the job; None if there is none."""
        try:
            return read_text(self.folder_of(job) / _OF_A_JOB, _LONGEST)
        except OSError:
            return None

    def taken(self, owner: str, files: Iterable[str]) -> None:
        """Remove those of `files` that are in the owner's folder, because the CLI has read them."""
        folder = self.folder_of(owner)
        for file in map(Path, files):
            if file.parent == folder.absolute():
                with suppress(OSError):
                    file.unlink()
        with suppress(OSError):
            folder.rmdir()

    def to_paste(self, owner: str) -> bool:
        """Return whether the session has a first prompt that is still to be pasted."""
        return (self.folder_of(owner) / TO_PASTE).is_file()

    def begin_paste(self, owner: str) -> str:
        """Return the prompt to paste, once: a prompt that is pasted twice would be sent twice.

        Raises `OSError`, including for a second call.
        """
        folder = self.folder_of(owner)
        text = read_text(folder / TO_PASTE, _LONGEST)
        (folder / TO_PASTE).rename(folder / _PASTED)
        return text

    def is_half_pasted(self, owner: str) -> bool:
        """Return whether `begin_paste` was called without `end_paste`."""
        return (self.folder_of(owner) / _PASTED).is_file()

    def end_paste(self, owner: str) -> None:
        """Record that the prompt was pasted and submitted."""
        self.taken(owner, [str((self.folder_of(owner) / _PASTED).absolute())])

    def forget(self, owner: str | None) -> None:
        """Remove all prompt files of a session or job; does nothing for None."""
        if owner:
            _remove(self.folder_of(owner))

    def sweep(self, owners: Collection[str]) -> None:
        """Remove the files of every owner that is not in `owners`."""
        with suppress(OSError):
            for folder in list(self._folder.iterdir()):
                if folder.name not in owners:
                    _remove(folder)


def make_private_folder(folder: Path) -> None:
    """Create a folder and its parent with mode 0700, if they do not exist. Raises `OSError`."""
    for path in (folder.parent, folder):
        path.mkdir(mode=0o700, parents=True, exist_ok=True)


def _remove(folder: Path) -> None:
    with suppress(OSError):
        if folder.is_symlink():
            folder.unlink()
            return
        for file in list(folder.iterdir()):
            with suppress(OSError):
                file.unlink()
        folder.rmdir()
