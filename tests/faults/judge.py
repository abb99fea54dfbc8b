"""What must hold when a flight is over: each violation is a sentence.

Judges by `witness` alone, and by the row that the pilot is shown where a reason must stand on it.
"""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

from cockpit.config.paths import Places
from cockpit.wire.status import AgentStatus
from tests.faults.witness import Witness, rows


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
        if locked.exists():
            yield f"git is locked in {tree.name}"
    if apart and git(where, "branch", "--show-current") != seat["branch"]:
        yield f"its worktree is not on {seat['branch']}"


def directory(pid: int) -> Path | None:
    """Where a process works; None once it is gone."""
    try:
        return Path(f"/proc/{pid}/cwd").readlink()
    except OSError:
        return None


def git(directory: Path, *words: str) -> str:
    """What git says, without a lock of its own; empty where it fails."""
    asked = ["git", "--no-optional-locks", "-C", str(directory), *words]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()


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


def _documents(places: Places) -> Iterator[str]:
    for handoff in rows(places.database, "select * from handoffs"):
        if handoff["sha256"] is None:
            if handoff["outcome"] == "done":
                yield f"handoff {handoff['id']} is done without a document"
            continue
        for path in (Path(handoff["document"]), places.handoffs / f"{handoff['id']}.md"):
            if path.is_file() and _sha256(path) == handoff["sha256"]:
                break
        else:
            yield f"no document of handoff {handoff['id']} has the recorded hash"


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
