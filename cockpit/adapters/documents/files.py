"""Handoff documents as files: the agent's draft, the sealed document, and the notice about it.

A document is saved to disk before its path is used. Drafts are read through one descriptor, and
only from a regular file of the current user with one hard link. `checked_reads` reads documents,
and `core.document` parses the content.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from cockpit.adapters.documents.checked_reads import read_sealed, refusal_reason
from cockpit.adapters.documents.copies import Copies, checked
from cockpit.adapters.files import guarded_folder
from cockpit.adapters.files.foreign_files import is_file, open_file, read_file
from cockpit.config.git_folders import git_folder_around
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.document import LARGEST
from cockpit.core.errors import BadUsage, Failed, OsProblem
from cockpit.core.front_matter import load
from cockpit.core.markdown import plain
from cockpit.core.safetext import safe_line

FOLDER = ".cockpit/handoffs"
NOTICE = "HANDOFF_PENDING.md"
MOST_IN_A_SECOND = 100
LARGEST_SEALED = 16 * LARGEST
"""Maximum bytes of a document whose hash is compared; far more than a sealed document has."""
LONGEST_FRONT = 32_768
"""Number of bytes at a document's beginning that are searched for the front matter."""

Signature = tuple[int, int, int]
"""Inode, size and modification time in nanoseconds; equal signatures mean an unchanged file."""


@dataclass(frozen=True, slots=True)
class DraftSeen:
    """The state of a handoff document's draft, at the time when it was read."""

    signature: Signature | None = None
    """Differs after each change of the draft; None if the draft does not exist yet."""
    text: str | None = None
    """Text of the draft, with invalid bytes replaced; may contain control characters."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """A handoff document that is saved durably, and cockpit's copy of it."""

    path: Path
    copy: Path
    sha256: str
    """The hash of the document and of the copy, which have the same bytes."""


class Documents:
    """Reads and writes handoff documents: drafts and sealed documents in worktrees, and copies.

    All methods do blocking disk I/O.
    """

    def __init__(self, copies: Path) -> None:
        """`copies` is the folder for copies, below the state folder; created on first use."""
        self.copies = Copies(copies)

    def draft_path(self, worktree: Path, handoff: str, folder: str = FOLDER) -> Path:
        """Return the path for the agent's draft. Creates the folder, and removes an existing draft.

        The path is absolute and without symbolic links, so that every process uses the same file.
        Raises `Failed`, and `BadUsage` for an unsuitable folder.
        """
        place = _place(worktree, folder)
        path = place / f"draft-{checked(handoff)[:8]}.md"
        try:
            with guarded_folder.opened(place, make_below=worktree.resolve()) as descriptor:
                guarded_folder.sweep(descriptor)
                with suppress(FileNotFoundError):
                    os.unlink(path.name, dir_fd=descriptor)
        except OSError as error:
            raise _failed(
                "Cannot create the folder for the handoff document", place, error
            ) from None
        return path

    def look_at_draft(self, path: Path) -> DraftSeen:
        """Return a draft's current state.

        Raises `Failed` if the draft is not a regular file of the current user, or is too long.
        """
        try:
            with guarded_folder.opened(path.parent) as folder:
                return _seen(folder, path.name)
        except FileNotFoundError:
            return DraftSeen()
        except OSError as error:
            raise _failed("Cannot read the draft handoff document", path, error) from None

    def discard_draft(self, path: Path) -> None:
        """Remove a draft that its handoff no longer needs. Idempotent; errors are ignored."""
        with suppress(OSError, Failed), guarded_folder.opened(path.parent) as folder:
            os.unlink(path.name, dir_fd=folder)

    def by_hash(self, folder: Path) -> dict[str, Path]:
        """Return the documents in a worktree's folder by SHA-256; skip files that cannot be read
        safely.
        """
        by_hash: dict[str, Path] = {}
        with suppress(OSError):
            for path in sorted(folder.glob("handoff-*.md")):
                with suppress(OSError):
                    if refusal_reason(path.lstat()) is None:
                        data = read_file(path, LARGEST, follow_links=False)
                        by_hash[hashlib.sha256(data).hexdigest()] = path
        return by_hash

    def seal(
        self, worktree: Path, handoff: str, text: str, created: datetime, folder: str = FOLDER
    ) -> Sealed:
        """Write a document and its copy durably, the copy first.

        Never overwrites another document: if the file name is taken, a number is added to it. A
        document that this handoff already sealed is replaced, so that an interrupted seal can be
        repeated. Raises `Failed`, and `BadUsage` for an unsuitable folder.
        """
        place = _place(worktree, folder)
        data = text.encode("utf-8", "replace")
        try:
            self.copies.keep(handoff, data)
            with guarded_folder.opened(place, make_below=worktree.resolve()) as descriptor:
                if (name := _sealed_before(descriptor, handoff)) is not None:
                    guarded_folder.write_durably(descriptor, name, data, replace=True)
                else:
                    name = _write_new(descriptor, created, data)
        except OSError as error:
            raise _failed("Cannot write the handoff document", place, error) from None
        return self._sealed(place / name, handoff, data)

    def reseal(self, path: Path, handoff: str, text: str) -> Sealed:
        """Replace a sealed document's text, after an edit or with newer facts. Raises `Failed`."""
        data = text.encode("utf-8", "replace")
        try:
            self.copies.keep(handoff, data)
            with guarded_folder.opened(path.parent) as descriptor:
                guarded_folder.write_durably(descriptor, path.name, data, replace=True)
        except OSError as error:
            raise _failed("Cannot write the handoff document", path, error) from None
        return self._sealed(path, handoff, data)

    def is_copied(self, path: Path, handoff: str) -> bool:
        """Return whether a document equals cockpit's copy."""
        with suppress(OSError):
            data = self.copies.path(handoff).read_bytes()
            return self.is_intact(path, hashlib.sha256(data).hexdigest())
        return False

    def copy_again(self, path: Path, handoff: str, sha256: str) -> None:
        """Write cockpit's copy again, if the document has this hash. Raises `OsProblem`."""
        try:
            data = path.read_bytes()
            if hashlib.sha256(data).hexdigest() == sha256:
                self.copies.keep(handoff, data)
        except OSError as error:
            raise _failed("Cannot write the copy of the handoff document", path, error)

    def put_back(self, worktree: Path, path: Path, handoff: str) -> Path | None:
        """Restore a document from cockpit's copy.

        A file that is already at the document's path is renamed; returns that file's new path, or
        None if there was no file. Raises `Failed`, possibly after the rename.
        """
        aside = f"changed-{path.name}"
        try:
            data = self.copies.path(handoff).read_bytes()
            with guarded_folder.opened(path.parent, make_below=worktree.resolve()) as descriptor:
                try:
                    os.rename(path.name, aside, src_dir_fd=descriptor, dst_dir_fd=descriptor)
                except FileNotFoundError:
                    aside = ""
                guarded_folder.write_durably(descriptor, path.name, data, replace=True)
        except OSError as error:
            raise _failed("Cannot restore the handoff document", path, error) from None
        return path.with_name(aside) if aside else None

    def is_intact(self, path: Path, sha256: str) -> bool:
        """Return whether the document on disk has this hash."""
        try:
            return hashlib.sha256(read_file(path, LARGEST_SEALED)).hexdigest() == sha256
        except OSError:
            return False

    def leave_notice(self, worktree: Path, text: str, folder: str = FOLDER) -> Path:
        """Write `HANDOFF_PENDING.md`, replacing an older file. Raises `Failed` or `BadUsage`."""
        place = _place(worktree, folder)
        data = plain(text).encode()
        try:
            with guarded_folder.opened(place, make_below=worktree.resolve()) as descriptor:
                guarded_folder.write_durably(descriptor, NOTICE, data, replace=True)
        except OSError as error:
            raise _failed(f"Cannot write {NOTICE}", place, error) from None
        return place / NOTICE

    def waiting(self, worktree: Path, folder: str = FOLDER) -> Path | None:
        """Return the document to which `HANDOFF_PENDING.md` refers; None if there is no notice or
        no such document.

        Any process that can write to the worktree can write the notice, so only a document in the
        same folder is accepted.
        """
        try:
            place = _place(worktree, folder)
            text = read_sealed(place / NOTICE)
        except (OSError, Failed, BadUsage):
            return None
        named = (Path(line) for line in text.splitlines() if line.startswith("/"))
        return next((path for path in named if _is_document_in(path, place)), None)

    def withdraw_notice(self, worktree: Path, folder: str = FOLDER) -> None:
        """Remove `HANDOFF_PENDING.md`, because a successor has started. Idempotent; errors are
        ignored."""
        with suppress(OSError, Failed):
            place = _place(worktree, folder)
            with guarded_folder.opened(place) as descriptor:
                os.unlink(NOTICE, dir_fd=descriptor)

    def _sealed(self, path: Path, handoff: str, data: bytes) -> Sealed:
        return Sealed(path, self.copies.path(handoff), hashlib.sha256(data).hexdigest())


def document_name(created: datetime, number: int = 1) -> str:
    """Return `handoff-YYYY-MM-DD-HHMMSS.md`, in UTC; from `number` 2 on, with a suffix such as
    `-2`."""
    stamp = created.astimezone(UTC).strftime("%Y-%m-%d-%H%M%S")
    return f"handoff-{stamp}.md" if number == 1 else f"handoff-{stamp}-{number}.md"


def _is_document_in(path: Path, place: Path) -> bool:
    is_ours = path.name.startswith("handoff-") and path.suffix == ".md"
    return is_ours and path.parent == place and is_file(path)


def _place(worktree: Path, folder: str) -> Path:
    """Return the folder of a worktree's documents.

    Raises `BadUsage` for a folder outside the worktree or in a git directory, and `Failed` for a
    path with control characters.
    """
    inner = Path(folder)
    if inner.is_absolute() or ".." in inner.parts or not inner.parts:
        raise BadUsage(
            f"{safe_line(folder)} is not a valid handoff.directory",
            "The folder must be in the agent's directory.",
            f"Try: {FOLDER}",
        )
    place = worktree.resolve() / inner
    if (git_folder := git_folder_around(place)) is not None:
        raise BadUsage(
            f"{safe_line(folder)} is not a valid handoff.directory",
            f"{safe_line(str(git_folder))} is a .git directory or a bare repository.",
            f"Try: {FOLDER}",
        )
    if any(not char.isprintable() for char in str(place)):
        raise Failed(
            "cockpit cannot pass the directory's name to an agent",
            f"{safe_line(str(place))} contains a line end or another control character.",
            "Rename the directory.",
        )
    return place


def _seen(folder: int, name: str) -> DraftSeen:
    """Check a draft, then read it. The check comes first, because opening a device can have an
    effect."""
    before = os.stat(name, dir_fd=folder, follow_symlinks=False)
    _check_plain(before)
    descriptor = open_file(name, dir_fd=folder, follow_links=False)
    with os.fdopen(descriptor, "rb") as file:
        entry = os.fstat(file.fileno())
        _check_plain(entry)
        data = file.read(LARGEST + 1)
    signature = (entry.st_ino, entry.st_size, entry.st_mtime_ns)
    return DraftSeen(signature, data.decode("utf-8", "replace"))


def _check_plain(entry: os.stat_result) -> None:
    reason = refusal_reason(entry)
    if reason is not None:
        raise Failed(
            "Cannot use the draft handoff document",
            reason,
            f"Write a regular file of at most {LARGEST // 1024} KiB at the requested path.",
        )


def _sealed_before(folder: int, handoff: str) -> str | None:
    """Return the name of the document in the open folder that has this handoff's id in its front
    matter; None without one."""
    for name in os.listdir(folder):
        if not (name.startswith("handoff-") and name.endswith(".md")):
            continue
        with suppress(OSError):
            entry = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if refusal_reason(entry) is None and _ident(folder, name) == handoff:
                return name
    return None


def _ident(folder: int, name: str) -> str:
    with os.fdopen(open_file(name, dir_fd=folder, follow_links=False), "rb") as file:
        front, _ = load(file.read(LONGEST_FRONT).decode("utf-8", "replace"))
    return front.id if front is not None else ""


def _write_new(folder: int, created: datetime, data: bytes) -> str:
    """Write a document under the first free name; a file with the same bytes is used unchanged."""
    for number in range(1, MOST_IN_A_SECOND):
        name = document_name(created, number)
        try:
            guarded_folder.write_durably(folder, name, data, replace=False)
        except FileExistsError:
            if not _holds(folder, name, data):
                continue
            # The file may be from before a crash, when its folder was not synced.
            guarded_folder.write_durably(folder, name, data, replace=True)
        return name
    raise Failed(
        "Cannot create the handoff document",
        "All names for this second are in use.",
        hint="Try again in a few seconds.",
    )


def _holds(folder: int, name: str, data: bytes) -> bool:
    with suppress(OSError):
        entry = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISREG(entry.st_mode) and entry.st_size == len(data):
            with os.fdopen(open_file(name, dir_fd=folder, follow_links=False), "rb") as file:
                return file.read(len(data) + 1) == data
    return False


def _failed(title: str, path: Path, error: OSError) -> OsProblem:
    why = os.strerror(error.errno) if error.errno else str(error)
    hints = {28: "Free some space on that disk.", 30: "Mount the disk writable."}
    return OsProblem(
        title,
        f"{safe_line(str(path))}: {why}.",
        hints.get(error.errno or 0, "To check the folders: cockpit doctor"),
    )
