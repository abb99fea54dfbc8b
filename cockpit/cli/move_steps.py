"""`cockpit move-step`: run one step of `cockpit move` or `cockpit start --host any`.

Not for users. Each step runs on one machine, treats its input as untrusted, and is safe to repeat.
Before files arrive, a step writes a record into the state folder, so that a later command can
remove the files.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Coroutine
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from cockpit import __version__
from cockpit.adapters.documents.copies import Copies, checked
from cockpit.adapters.files.private_file import write_private
from cockpit.adapters.git.arriving_worktree import ArrivingWorktree
from cockpit.adapters.git.leaving_worktree import LeavingWorktree
from cockpit.adapters.git.worktrees import Git
from cockpit.adapters.process.bounded_calls import BoundedCalls
from cockpit.cli.agent_guard import refuse_inside_agent
from cockpit.cli.move_lock import take_lock
from cockpit.cli.move_machines import (
    BLOCK,
    LARGEST_ANSWER,
    LARGEST_FILE,
    MARK,
    error_answer,
    written,
)
from cockpit.cli.places import our_places
from cockpit.config.read import load
from cockpit.core.document import LARGEST
from cockpit.core.errors import BadUsage, CockpitError, Failed
from cockpit.core.exclusion import exclusion
from cockpit.core.ids import agent_name
from cockpit.core.moved_worktree import Parcel, WorktreeState
from cockpit.core.safetext import safe_line
from cockpit.supervisor.sessions.location import find_place

MOST_DOCUMENTS = 200
FOLDER = "moves"
"""Name of the folder, in the state folder, for the records of moves to this machine."""

Request = dict[str, Any]


def run_step() -> int:
    """Run the step in the request on stdin; print the answer on stdout.

    Returns the exit code. An error is part of the answer.
    """
    output = sys.stdout.buffer
    try:
        refuse_inside_agent("move a job to another machine")
        line = sys.stdin.buffer.readline(LARGEST_ANSWER)
        try:
            request = json.loads(line)
            step = STEPS[request["step"]]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise BadUsage(
                "The request on stdin is not a step of a move",
                str(error),
                "Use: cockpit move NAME --to HOST",
            ) from error
        with tempfile.TemporaryDirectory(prefix="move-", dir=_private()) as scratch:
            bundle = Path(scratch) / "bundle"
            try:
                answer = asyncio.run(step(request, bundle, sys.stdin.buffer))
            except OSError as error:
                raise Failed(
                    "Cannot write or read a file",
                    f"{safe_line(str(error.filename or ''))}: {error.strerror}",
                    "If the machine's disk is full (df -h), free some space. Then try again.",
                ) from error
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise BadUsage(
                    "The request of the other machine cannot be read",
                    safe_line(repr(error), 200),
                    "Use the same version of cockpit on both machines.",
                ) from error
            _say(output, answer)
            if answer.get("sends"):
                with bundle.open("rb") as file:
                    while block := file.read(BLOCK):
                        output.write(block)
                output.flush()
            if answer.get("holds"):
                while sys.stdin.buffer.read(BLOCK):
                    pass
    except CockpitError as error:
        _say(output, error_answer(error))
        return error.exit_code
    return 0


async def _hold(request: Request, _bundle: Path, _input: IO[bytes]) -> Request:
    """Lock the agent's moves until stdin is closed."""
    take_lock(_moves(), agent_name(request["name"]), safe_line(str(request["owner"]), 200))
    return {"holds": True}


async def _describe(request: Request, _bundle: Path, _input: IO[bytes]) -> Request:
    """Return the worktree's folders, branch and commits, and which files would move or stay."""
    git, directory = _git(), Path(request["directory"])
    described = await LeavingWorktree(git, directory).describe()
    home = await git.home(directory)
    inside = os.path.relpath(os.path.realpath(directory), os.path.realpath(described.top))  # noqa: ASYNC240
    return {
        "version": __version__,
        "top": str(described.top),
        "home": str(home or described.top),
        "inside": inside,
        "branch": described.branch,
        "head": described.head,
        "roots": list(described.roots),
        "uncommitted": described.uncommitted,
        "ignored": asdict(described.ignored),
        "secret": asdict(described.secret),
        "unstored": asdict(described.unstored),
        "lfs": described.lfs,
    }


async def _inspect(request: Request, _bundle: Path, _input: IO[bytes]) -> Request:
    """Check that the repository can receive the branch; return the folder for the worktree.

    Raises `BadUsage` if the directory is not in a clone of the same repository.
    """
    git, directory = _git(), Path(request["directory"])
    name, branch = agent_name(request["name"]), str(request["branch"])
    facts = await git.facts(directory) if _is_folder(directory) else None
    home = await git.home(directory) if facts is not None and facts.root else None
    if facts is None or home is None:
        raise BadUsage(
            f"There is no git repository at {safe_line(str(directory))}",
            "The work is sent as commits to a clone of the same repository.",
            "Clone the repository to the other machine, or pass the path of a clone: "
            "--directory DIR",
        )
    arriving = ArrivingWorktree(git, home)
    roots = [str(root) for root in request["roots"]]
    if not any([await arriving.has(root) for root in roots]):
        raise BadUsage(
            f"{safe_line(str(home))} is another repository",
            "The two histories have no first commit in common.",
            "Pass the path of a clone of the same repository: --directory DIR",
        )
    await arriving.check_branch(branch, str(request["head"]))
    return {
        "version": __version__,
        "repository": str(home),
        "tips": await arriving.tips(),
        "folder": str(await _free_folder(git, home, name)),
        "record": _record(request["handoff"]) if request.get("handoff") else None,
    }


async def _pack(request: Request, bundle: Path, _input: IO[bytes]) -> Request:
    leaving = LeavingWorktree(_git(), Path(request["directory"]))
    known = [str(commit) for commit in request["known"]]
    most = min(int(request.get("most") or LARGEST_FILE), LARGEST_FILE)
    label = checked(str(request["handoff"]))
    parcel = await leaving.pack(agent_name(request["name"]), label, known, bundle, most)
    return {
        "sends": True,
        "parcel": asdict(parcel),
        "size": _size(bundle),
        "sha256": await asyncio.to_thread(_digest, bundle),
    }


async def _state(request: Request, _bundle: Path, _input: IO[bytes]) -> Request:
    return {"state": asdict(await LeavingWorktree(_git(), Path(request["directory"])).state())}


async def _arrive(request: Request, bundle: Path, source: IO[bytes]) -> Request:
    """Receive the bundle, and create the worktree and the file with the document."""
    name, handoff = agent_name(request["name"]), checked(str(request["handoff"]))
    parcel, folder = parcel_of(request["parcel"]), Path(request["folder"])
    repository, branch = Path(request["repository"]), str(request["branch"])
    _take(source, bundle, int(request["size"]), str(request["sha256"]))
    if (before := _record(handoff)) is not None:
        raise Failed(
            f"Files of this move are already here: {safe_line(str(before['folder']))}",
            "An earlier attempt at this move left the files.",
            f"Check the agent and its worktree: cockpit status {name}; cockpit worktrees",
        )
    git = _git()
    arriving = ArrivingWorktree(git, repository)
    tip = await arriving.branch_commit(branch)
    record = {
        "handoff": handoff,
        "name": name,
        "from": safe_line(str(request["from"]), 80),
        "repository": str(repository),
        "folder": str(folder),
        "branch": branch,
        "parcel": asdict(parcel),
        "new": tip is None,
        "before": tip,
    }
    _write_record(handoff, record)
    try:
        await arriving.receive(bundle, parcel)
        if folder.parent.is_relative_to(repository):
            inner = folder.parent.relative_to(repository)
            await git.keep_out(repository, exclusion(inner.parts))
        await arriving.restore(parcel, folder, branch, name)
        document = _keep_documents(handoff, request)
    except BaseException:
        # `restore` has removed what it created; commits stay under the reference.
        if not _is_there(folder):
            _forget_record(handoff)
        raise
    return {"folder": str(folder), "document": str(document)}


async def _discard(request: Request, _bundle: Path, _input: IO[bytes]) -> Request:
    """Remove the worktree that arrived if it is unchanged; else return why it was kept."""
    handoff = checked(str(request["handoff"]))
    record = _record(handoff)
    if record is None:
        return {"left": ""}
    arriving = ArrivingWorktree(_git(), Path(record["repository"]))
    parcel, folder = parcel_of(record["parcel"]), Path(record["folder"])
    branch, new, before = record["branch"], bool(record["new"]), record.get("before")
    why = await arriving.discard(parcel, folder, branch, new=new, before=before)
    _forget_record(handoff)
    return {"left": safe_line(str(folder)) if why else "", "why": why}


async def _recorded(request: Request, _bundle: Path, _input: IO[bytes]) -> Request:
    """Return the record of this handoff's arrival; None if there is none, as after a completed
    move."""
    return {"record": _record(request["handoff"])}


async def _finish(request: Request, _bundle: Path, _input: IO[bytes]) -> Request:
    """Delete the record of a completed move."""
    _forget_record(checked(str(request["handoff"])))
    return {}


async def _place(request: Request, _bundle: Path, _input: IO[bytes]) -> Request:
    """Return whether this machine can start an agent, and how busy the machine is."""
    from cockpit.cli.placement_step import place

    return await place(_git(), request)


Step = Callable[[Request, Path, IO[bytes]], Coroutine[Any, Any, Request]]
STEPS: dict[str, Step] = {
    "hold": _hold,
    "describe": _describe,
    "inspect": _inspect,
    "pack": _pack,
    "state": _state,
    "arrive": _arrive,
    "record": _recorded,
    "discard": _discard,
    "finish": _finish,
    "place": _place,
}


def parcel_of(sent: Any) -> Parcel:
    """Read another machine's description of a worktree. Raises `Failed` for an invalid one."""
    try:
        state = WorktreeState(**{key: str(value) for key, value in sent["state"].items()})
        parcel = Parcel(str(sent["reference"]), str(sent["commit"]), state)
    except (TypeError, KeyError, AttributeError) as error:
        raise _invalid() from error
    if not parcel.is_valid:
        raise _invalid()
    return parcel


def _invalid() -> Failed:
    return Failed(
        "The other machine sent an invalid description of its worktree",
        "A hash or a reference has the wrong format.",
        "Use the same version of cockpit on both machines.",
    )


async def _free_folder(git: Git, home: Path, name: str) -> Path:
    """Return the folder in which `cockpit start --worktree` would create a worktree.

    If the folder is taken, adds a number to the name. Raises `Failed` if all numbers up to 99 are
    taken.
    """
    loaded = load(our_places(), None, home, os.environ)
    settings = loaded.new_agent(agent_name(name), home, worktree={"strategy": "git_worktree"})
    place = await find_place(git, BoundedCalls(), settings, None)
    assert place is not None
    for target in (
        place.folder / name,
        *(place.folder / f"{name}-{number}" for number in range(2, 100)),
    ):
        if not _is_there(target):
            return target
    raise Failed(
        f"All names for a worktree of {name} are taken in {safe_line(str(place.folder))}",
        hint="Remove old worktrees: cockpit worktrees remove PATH",
    )


def _keep_documents(handoff: str, request: Request) -> Path:
    """Keep copies of the chain's documents; write the newest document, and return its path.

    Keeps at most `MOST_DOCUMENTS` copies, and leaves out documents that are too large. Raises
    `Failed` if the newest document is too large.
    """
    copies = Copies(our_places().handoffs)
    documents = [*request.get("documents", ())][:MOST_DOCUMENTS]
    for ident, text in documents:
        data = str(text).encode("utf-8", "replace")
        if len(data) <= LARGEST and not copies.path(str(ident)).exists():
            copies.keep(str(ident), data)
    data = str(request["document"]).encode("utf-8", "replace")
    if len(data) > LARGEST:
        raise Failed(
            "The handoff document is too large",
            hint="Hand off without a move instead: cockpit handoff NAME",
        )
    path = _moves() / f"{handoff}.md"
    write_private(path, data)
    return path


def _take(source: IO[bytes], bundle: Path, size: int, sha256: str) -> None:
    """Write the bundle that follows the request to `bundle`; check its size and hash.

    Raises `Failed` if the size or the hash is wrong.
    """
    if size <= 0:
        raise Failed(
            "The other machine sent an invalid size of its worktree's data",
            f"Size: {size} bytes.",
            "Use the same version of cockpit on both machines.",
        )
    if size > LARGEST_FILE:
        raise Failed(
            f"The worktree's data is too large to move (limit: {LARGEST_FILE // 10**9} GB)",
            f"Size: {size // 10**6} MB.",
            "Push the branch, and fetch it on the other machine. Then try again: cockpit sends "
            "only the rest.",
        )
    if problem := written(source, bundle, size, sha256):
        raise Failed("The transfer of the worktree failed", problem, "Try again.")


def _digest(file: Path) -> str:
    with file.open("rb") as held:
        return hashlib.file_digest(held, "sha256").hexdigest()


def _say(output: IO[bytes], answer: Request) -> None:
    output.write(MARK + json.dumps(answer).encode() + b"\n")
    output.flush()


def _is_folder(path: Path) -> bool:
    return path.is_dir()


def _size(path: Path) -> int:
    return path.stat().st_size


def _is_there(path: Path) -> bool:
    return os.path.lexists(path)


def _git() -> Git:
    return Git(os.environ, private=_private())


def _private() -> Path:
    folder = _moves() / "scratch"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _moves() -> Path:
    folder = our_places().state / FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _record(handoff: Any) -> Request | None:
    path = _moves() / f"{checked(str(handoff))}.json"
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return held if isinstance(held, dict) else None


def _write_record(handoff: str, record: Request) -> None:
    write_private(_moves() / f"{handoff}.json", json.dumps(record).encode())


def _forget_record(handoff: str) -> None:
    for ending in ("json", "md"):
        (_moves() / f"{handoff}.{ending}").unlink(missing_ok=True)
