"""What must hold when a flight is over: each violation is a sentence.

Judges by `witness` alone, and by the row that the user is shown where a reason must stand on it.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cockpit.config.paths import Places
from cockpit.wire.status import AgentStatus
from tests.faults import order
from tests.faults.kernel_log import Deed
from tests.faults.order import Expected
from tests.faults.trap import Reached
from tests.faults.witness import Witness, rows

REMOVALS = "select at, data from events where kind = 'worktree.removed'"
GIT_SECONDS = 3.0
"""How long a git that still runs may hold its lock; one that was killed leaves it for good."""


def violations(
    places: Places, home: Path, witness: Witness, row: AgentStatus | None
) -> Iterator[str]:
    """Everything that is wrong, as it stands now."""
    if witness.crowds:
        yield f"more than one agent at once: {witness.crowds[0]}"
    yield from _agent(places, witness, row)
    yield from _documents(places)
    yield from _chain(places, home)


def misplaced(places: Places, home: Path, witness: Witness, *, apart: bool) -> Iterator[str]:
    """Where the agent works, and what git sees there: all of it must be as the agent left it."""
    (seat,) = rows(places.database, "select directory, worktree, branch from seats")
    if apart != (seat["worktree"] is not None):
        yield f"its worktree is {seat['worktree']}"
    where = Path(seat["worktree"] or seat["directory"])
    for agent in witness.agents():
        if (there := directory(agent.pid)) not in (None, where):
            yield f"process {agent.pid} works in {there}, and not in {where}"
    for tree in {where, home / "repository"}:
        if seen := git(tree, "status", "--porcelain", "--untracked-files=all"):
            yield f"git sees changes in {tree.name}: {seen}"
        locked = Path(git(tree, "rev-parse", "--absolute-git-dir")) / "index.lock"
        if stays(locked):
            yield f"git is locked in {tree.name}"
    if apart and git(where, "branch", "--show-current") != seat["branch"]:
        yield f"its worktree is not on {seat['branch']}"


def undone(places: Places, home: Path, outcome: str) -> Iterator[str]:
    """What must hold of a handoff of which nothing that the agent did stood in the way."""
    if outcome != "done":
        yield f"the handoff ended {outcome}, and no agent hindered it"
        return
    (seat,) = rows(places.database, "select * from seats")
    sessions = {each["id"]: each for each in rows(places.database, "select * from sessions")}
    (done,) = rows(places.database, "select * from handoffs where outcome = 'done'")
    old, new = sessions[done["old_session"]], sessions[done["new_session"]]
    if new["permission_mode"] != old["permission_mode"]:
        yield f"the successor has {new['permission_mode']}, and {old['permission_mode']} was set"
    if seat["session"] != new["id"] or new["state"] != "live":
        yield f"{seat['session']} sits, and the successor {new['id']} is {new['state']}"
    (record,) = (home / "claude" / "projects").glob(f"*/{new['id']}.jsonl")
    if done["document"] not in record.read_text("utf-8", "replace"):
        yield f"the successor was never told of {done['document']}"
    for lease in _leases(places, seat):
        if is_free(lease):
            yield f"nobody holds {lease}"


def unsettled(
    places: Places, witness: Witness, row: AgentStatus | None, *, lives: bool
) -> Iterator[str]:
    """What must hold once two clients have asked for everything, and nobody asks any more."""
    (seat,) = rows(places.database, "select * from seats where name = 'api'")
    agents = [agent for agent in witness.agents() if agent.name == "api"]
    known = [seat["pid"]] if seat["pid"] is not None else []
    if bool(agents) is not lives:
        yield f"agents {agents} live, and it was {'started' if lives else 'stopped'}"
    if [agent.pid for agent in agents] != known:
        yield f"agents {agents} live, and the seat names {known}"
    if row is not None and [row.pid] != (known or [None]):
        yield f"agents {agents} live, and the row shows {row.pid} ({row.state})"
    for agent in agents:
        if agent.run != seat["run"]:
            yield f"{agent} lives, and the seat has {seat['run']}"
    live = rows(places.database, "select id from sessions where agent = 'api' and state = 'live'")
    if (left := [each["id"] for each in live]) not in ([], [seat["session"]]):
        yield f"live are {left}, and {seat['session']} sits"
    yield from _documents(places, removed=tuple(_removed_worktrees(places)))


def asked_in_order(places: Places, witness: Witness, deeds: list[Deed] | None) -> Iterator[str]:
    """What must have held all the time while two clients asked for everything."""
    if witness.crowds:
        yield f"more than one agent of a name at once: {witness.crowds[0]}"
    if deeds is not None:
        nobody = Expected("", (), "", "", str(places.state / "leases"))
        yield from order.violations(deeds, nobody, ended_by_hand=True)


def untidy(places: Places, home: Path) -> Iterator[str]:
    """What an undisturbed handoff must leave behind, and what it must not."""
    (seat,) = rows(places.database, "select * from seats")
    if seat["worktree"] and not git(home / "repository", "for-each-ref", "refs/cockpit/keep"):
        yield "no reference keeps the commits of the old session"
    for folder in {places.handoffs, *home.glob("repository/**/.cockpit/handoffs")}:
        for path in folder.iterdir() if folder.is_dir() else ():
            if path.name.startswith((".", "draft-")) or path.name == "HANDOFF_PENDING.md":
                yield f"{path} was left"


def disordered(places: Places, deeds: list[Deed]) -> Iterator[str]:
    """What was done too early, as the kernel saw it, by the last handoff."""
    found = rows(places.database, "select * from handoffs order by created desc limit 1")
    (seat,) = rows(places.database, "select * from seats")
    if not found or found[0]["document"] is None:
        return
    (handoff,) = found
    _, *claims = map(str, _leases(places, seat))
    expected = Expected(
        old=handoff["old_session"],
        successors=tuple(
            each["session"] for each in json.loads(handoff["record"])["plan"]["successors"]
        ),
        document=handoff["document"],
        copy=str(places.handoffs / f"{handoff['id']}.md"),
        leases=str(places.state / "leases"),
        claim=claims[0] if claims else None,
    )
    yield from order.violations(deeds, expected, ended_by_hand=False)


def lost_by_power(places: Places, points: list[Reached]) -> Iterator[str]:
    """What was done before the power went, and is not on the disk now that it is back."""
    found: list[dict[str, Any]] = []
    try:
        found = rows(places.database, "select * from handoffs order by created desc")
    except sqlite3.Error as broken:
        yield f"the power cut left no database: {broken}"
        return
    states = [json.loads(each["record"])["state"]["is"] for each in found]
    wrote = [name for point in points if (name := _wrote(point.name)) is not None]
    # The end is written in one transaction with what it means; it may not be committed yet.
    allowed = {*wrote[-1:], *(wrote[-2:] if wrote[-1:] == ["Ended"] else ())}
    if allowed and not allowed.intersection(states[:1]):
        yield f"the disk knows {states}, and {wrote[-1]} was written down"
    ended = any(point.name == "processes.signal after" for point in points)
    if ended and states[:1] not in ([state] for state in order.BEHIND):
        yield f"the old session was being ended, and the disk knows {states}"
    yield from _documents(places)


def _wrote(point: str) -> str | None:
    """The state of a handoff that was written at this point; each is counted once."""
    words = point.split()
    is_state = words[:3] == ["sql.insert", "into", "handoffs"] and words[-1] == "after"
    return words[3] if is_state and len(words) > 4 else None


def after_power(places: Places, witness: Witness, row: AgentStatus | None) -> Iterator[str]:
    """What must hold when all is over on a machine that was switched on again."""
    if witness.crowds:
        yield f"more than one agent at once: {witness.crowds[0]}"
    if aside := list(places.state.glob("*.unreadable-*")):
        yield f"the database was put aside: {aside}"
    if row is None:
        yield "nobody tells anything of the agent"
    yield from _documents(places)


def stays(lock: Path) -> bool:
    """Whether nobody removes a lock of git's. The agent runs `git status`, which has it briefly."""
    end = time.monotonic() + GIT_SECONDS
    while lock.exists():
        if time.monotonic() > end:
            return True
        time.sleep(0.01)
    return False


def _leases(places: Places, seat: dict[str, Any]) -> list[Path]:
    """The locks that the agent must hold: its own, and in a linked worktree that one's."""
    held = [places.state / "leases" / f"{seat['name']}.lock"]
    if seat["worktree"]:
        folder = Path(git(Path(seat["worktree"]), "rev-parse", "--absolute-git-dir"))
        held.append(folder / "cockpit.lease")
    return held


def is_free(lease: Path) -> bool:
    """Whether anybody could have the lock now."""
    try:
        handle = os.open(lease, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(handle)
    return True


def directory(pid: int) -> Path | None:
    """Where a process works; None once it is gone."""
    try:
        return Path(f"/proc/{pid}/cwd").readlink()
    except OSError:
        return None


def git(directory: Path, *words: str) -> str:
    """What git says, without a lock of its own; empty where it fails."""
    asked = ["git", "--no-optional-locks", "-C", str(directory), *words]
    # In a session of its own: Ctrl-C is for the runner, and cycles that fly are judged to the end.
    return subprocess.run(
        asked, capture_output=True, text=True, check=False, start_new_session=True
    ).stdout.strip()


def _agent(places: Places, witness: Witness, row: AgentStatus | None) -> Iterator[str]:
    (seat,) = rows(places.database, "select * from seats")
    agents = witness.agents()
    for pid, run in witness.marked().items():
        if run != seat["run"]:
            yield f"process {pid} carries an old marker {run}, the seat has {seat['run']}"
    if len(agents) == 1:
        (agent,) = agents
        if (agent.pid, agent.started) != (seat["pid"], seat["started"]):
            yield f"the seat names process {seat['pid']}, and {agent.pid} lives"
        if row is not None and row.pid != agent.pid:
            yield f"the row shows process {row.pid}, and {agent.pid} lives"
        return
    reason = row is not None and (row.needs is not None or bool(row.note))
    if not agents and row is not None and row.state in {"needs_you", "exited"} and reason:
        return
    yield f"agents {agents} live, and the row says {row and (row.state, row.needs, row.note)}"


def _removed_worktrees(places: Places) -> Iterator[tuple[Path, float]]:
    """Worktrees that a client had removed, and when: the documents in them went with them."""
    for event in rows(places.database, REMOVALS):
        yield Path(json.loads(event["data"])["directory"]), event["at"]


def _documents(places: Places, removed: tuple[tuple[Path, float], ...] = ()) -> Iterator[str]:
    """Every agreed document must be there and whole, in its place and as our copy.

    Only our copy must be there once somebody had the worktree `removed`.
    """
    for handoff in rows(places.database, "select * from handoffs"):
        if handoff["sha256"] is None:
            if handoff["outcome"] == "done":
                yield f"handoff {handoff['id']} is done without a document"
            continue
        document = Path(handoff["document"])
        for path in (document, _copy(places, str(handoff["id"]))):
            if not path.is_file():
                if path == document and any(
                    path.is_relative_to(tree) and at > handoff["created"] for tree, at in removed
                ):
                    continue
                yield f"{path} of handoff {handoff['id']} is not there"
            elif _sha256(path) != handoff["sha256"]:
                yield f"{path} is not what was agreed in handoff {handoff['id']}"


def _copy(places: Places, ident: str) -> Path:
    """Our copy: beside the others, or, once its handoff is over, in their archive."""
    archived = places.handoffs / "archive" / f"{ident}.md"
    return archived if archived.exists() else places.handoffs / f"{ident}.md"


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _chain(places: Places, home: Path) -> Iterator[str]:
    sessions = rows(places.database, "select * from sessions order by number, created")
    known = {session["id"]: session for session in sessions}
    records = {path.stem for path in (home / "claude" / "projects").glob("*/*.jsonl")}
    if lost := records - set(known):
        yield f"sessions with a record and no row: {lost}"
    for session in sessions:
        before = session["previous"]
        if before is not None and known.get(before, {}).get("number") != session["number"] - 1:
            yield f"session {session['id']} follows {before}, which is not the one before it"
        if session["state"] in {"handed_off", "live"} and session["id"] not in records:
            yield f"session {session['id']} ({session['state']}) has no record"
    (seat,) = rows(places.database, "select * from seats")
    living = [session["id"] for session in sessions if session["state"] == "live"]
    if living not in ([seat["session"]], []):
        yield f"live are {living}, and {seat['session']} sits"
    for done in rows(places.database, "select * from handoffs where outcome = 'done'"):
        if known[done["old_session"]]["state"] != "handed_off":
            yield f"session {done['old_session']} was handed off and says otherwise"
        if done["new_session"] not in known:
            yield f"the successor {done['new_session']} has no row"
