"""`cockpit move` between two real supervisors, each with a home and a clone of its own."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.client.http import HttpClient
from cockpit.core.errors import NoSuchAgent, NoSupervisor, NotNow
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Approve, Forget, Handoff, Moved, Refuse, Start, Stop, Undo
from tests.journeys.sshd import Sshd, sshd
from tests.long_cases import cases
from tests.supervisor.conftest import DEFAULTS, LOOK, PATIENCE

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

__all__ = ["sshd"]

pytestmark = pytest.mark.tmux

LONG = 300.0
"""Seconds for a whole handoff, on a machine that is busy with other things."""
COCKPIT = [sys.executable, "-P", "-m", "cockpit"]


def git(where: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=where, check=True, capture_output=True)
    return done.stdout.decode(errors="replace").strip()


def tree_of(folder: Path) -> dict[str, str]:
    """Hashes of all files that travel."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if name.startswith((".git", ".cockpit", "ignored", ".env")) or path.is_dir():
            continue
        what = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
        found[name] = f"{path.lstat().st_mode:o} {hashlib.sha256(what).hexdigest()}"
    return found


class Far:
    """The other machine: a folder with its own supervisor and its own clone."""

    def __init__(self, near: Cockpit, connect: Callable[[Path], list[str]]) -> None:
        self.home = near.home / "far"
        self.home.mkdir(mode=0o700)
        self.near = near
        self.repository = near.home / "clone"
        subprocess.run(["git", "clone", "-q", str(near.repository), self.repository], check=True)
        self.environment = {**os.environ, "COCKPIT_HOME": str(self.home), "STANDIN_PACE": "0.05"}
        self.environment |= {"STANDIN_STEPS": "2", "STANDIN_STEP_TOKENS": "9000"}
        self.client = HttpClient(self.home / "run" / "cockpit.sock")
        self.process: subprocess.Popen[bytes] | None = None
        (self.home / "cockpit.toml").write_text(DEFAULTS)
        self.connect = connect(self.home)
        self.tell_near(self.connect)

    def tell_near(self, connect: list[str]) -> None:
        file = self.near.places.user_file
        file.write_text(f'[[hosts]]\nname = "gpu1"\nconnect = {json.dumps(connect)}\n')
        file.chmod(0o600)

    async def launch(self, **more: str) -> None:
        with (self.near.home / "far.out").open("ab") as said:
            self.process = subprocess.Popen(
                [*COCKPIT, "up", "--foreground"],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                env={**self.environment, **more},
                cwd=self.home,
            )
        end = time.monotonic() + PATIENCE
        while True:
            try:
                await self.client.status()
                return
            except NoSupervisor:
                assert self.process.poll() is None, (self.near.home / "far.out").read_text()
                assert time.monotonic() < end
                await asyncio.sleep(LOOK)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    async def rows(self) -> list[AgentStatus]:
        return (await self.client.status()).agents

    @property
    def trees(self) -> list[str]:
        return [line.split()[0] for line in git(self.repository, "worktree", "list").splitlines()]


@pytest.fixture
def far(cockpit: Cockpit, connect: Callable[[Path], list[str]]) -> Iterator[Far]:
    made = Far(cockpit, connect)
    yield made
    made.kill()


def typed(near: Cockpit, *words: str, **more: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*COCKPIT, "move", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, **more},
        cwd=near.home,
    )


async def moved(near: Cockpit, *words: str, **more: str) -> tuple[int, str]:
    """Run `cockpit move` to its end: the exit code, and what it said."""
    process = typed(near, *words, **more)
    output, _ = await asyncio.to_thread(process.communicate, timeout=LONG)
    return process.returncode, output.decode()


async def flying(near: Cockpit, far: Far) -> AgentStatus:
    """An agent in a worktree with all kinds of uncommitted work, and both supervisors."""
    more = '[agents.worktree]\nstrategy = "git_worktree"\n'
    table = near.agent(mode="prompt", more=more, steps=2, step_tokens=9000)
    await near.launch(table)
    await far.launch()
    await near.start()
    row = await near.until(lambda row: row.state in ("idle", "done") and row.context.tokens)
    tree = Path(str(row.worktree))
    (tree / "new file").write_bytes(bytes(range(256)))
    (tree / "staged").write_text("one\n")
    git(tree, "add", "staged")
    (tree / "staged").write_text("two\n")
    (tree / "link").symlink_to("staged")
    (tree / ".env").write_text("TOKEN=secret\n")
    exclude = Path(git(tree, "rev-parse", "--git-path", "info/exclude"))
    with (tree / exclude).open("a") as file:
        file.write("ignored/\n")
    (tree / "ignored").mkdir()
    (tree / "ignored" / "big").write_text("x" * 1000)
    (tree / "empty").mkdir()
    return row


async def still_there(near: Cockpit, far: Far, row: AgentStatus, before: dict[str, str]) -> None:
    """The job is where it was: the same session, the same files, and nothing on the other side."""
    now = await near.until(lambda one: one.handoff is None)
    assert (now.session_id, now.pid) == (row.session_id, row.pid)
    assert tree_of(Path(str(row.worktree))) == before
    assert await far.rows() == []
    assert far.trees == [str(far.repository)]
    assert git(far.repository, "for-each-ref", "--format=%(refname)", "refs/heads") == (
        "refs/heads/main"
    )


@pytest.mark.parametrize("and_back", cases(False, long=[True]), ids=["there", "and back"])
async def test_there_and_back_with_nothing_lost(cockpit: Cockpit, far: Far, and_back: bool) -> None:
    row = await flying(cockpit, far)
    tree = Path(str(row.worktree))
    before, status = tree_of(tree), git(tree, "status", "--porcelain")

    code, told = await moved(
        cockpit, "api", "--to", "gpu1", "--yes", "--directory", str(far.repository)
    )

    assert code == 0, told
    assert "Handing off api to gpu1; a document without problems is approved\n" in told
    assert "stays (ignored): ignored/; 1000 bytes" in told
    assert "stays (not stored by git): empty/\n" in told
    assert ".env" in told
    assert "TOKEN" not in told
    (there,) = await far.rows()
    assert there.name == "api"
    assert there.context.tokens
    landed = Path(there.directory)
    assert tree_of(landed) == before
    assert git(landed, "status", "--porcelain") == status.replace("?? .env\n", "")
    assert not (landed / ".env").exists()
    assert not (landed / "ignored").exists()
    assert there.branch == row.branch
    left = await cockpit.row()
    assert (left.state, left.pid, left.note) == ("stopped", None, "moved to gpu1")
    assert left.moved_away
    assert left.handoffs == 1
    assert not there.moved_away
    assert tree_of(tree) == before
    (chain,) = await cockpit.client.history("api")
    assert chain.sessions[0].outcome == "moved"
    assert chain.sessions[0].state == "handed_off"
    (arrived,) = await far.client.history("api")
    assert (arrived.job, arrived.goal) == (chain.job, chain.goal)
    assert [one.number for one in arrived.sessions] == [1, 2]
    here, followed = arrived.sessions
    assert (here.id, here.state, here.outcome) == (row.session_id, "handed_off", "done")
    assert here.machine == platform.node()
    assert here.tokens == chain.sessions[0].tokens
    assert here.transcript is None
    assert followed.machine is None
    assert there.session_number == 2
    assert followed.began_with
    (there,) = await far.rows()
    assert there.handoffs == 1
    with pytest.raises(NoSuchAgent, match="is on "):
        await far.client.facts("api", session=here.id)
    kinds = [event.kind for event in await far.client.events()]
    assert "agent.arrived" in kinds
    assert "Count the steps." in Path(followed.began_with).read_text()
    git(far.repository, "fsck", "--strict")
    git(cockpit.repository, "fsck", "--strict")

    if not and_back:
        return
    # Back: the old worktree has the branch, so another one is named.
    again, told = await moved(
        cockpit, "gpu1/api", "--to", "local", "--yes", "--directory", str(cockpit.repository)
    )
    assert again == 1, told
    assert "checked out on the other machine" in told
    (landed / "there").write_text("made there\n")
    code, told = await moved(
        cockpit,
        *("gpu1/api", "--to", "local", "--yes", "--branch", "agent/back"),
        *("--directory", str(cockpit.repository)),
    )
    assert code == 0, told
    home = await cockpit.row()
    assert home.state not in ("stopped", "exited")
    assert home.branch == "agent/back"
    back = tree_of(Path(home.directory))
    assert back == tree_of(landed)
    assert back == {**before, "there": back["there"]}
    assert (await far.rows())[0].state == "stopped"
    (whole,) = await cockpit.client.history("api")
    assert [one.id for one in whole.sessions[:2]] == [row.session_id, there.session_id]
    assert [one.machine for one in whole.sessions] == [None, "gpu1", None]
    assert [one.number for one in whole.sessions] == [1, 2, 3]
    assert [one.outcome for one in whole.sessions] == ["moved", "done", None]
    assert home.session_id == whole.sessions[2].id
    assert (whole.handoffs, home.handoffs) == (2, 2)
    with pytest.raises(NotNow, match="is on gpu1"):
        await cockpit.client.ask(Undo(name="api"))
    git(cockpit.repository, "fsck", "--strict")
    git(far.repository, "fsck", "--strict")


@pytest.mark.long
async def test_a_job_moves_over_a_real_ssh(cockpit: Cockpit, far: Far, sshd: Sshd) -> None:
    far.tell_near([*sshd.ssh, "env", f"COCKPIT_HOME={far.home}"])
    row = await flying(cockpit, far)
    before = tree_of(Path(str(row.worktree)))

    code, told = await moved(
        cockpit, "api", "--to", "gpu1", "--yes", "--directory", str(far.repository)
    )

    assert code == 0, told
    (there,) = await far.rows()
    assert tree_of(Path(there.directory)) == before
    assert (await cockpit.row()).note == "moved to gpu1"
    assert sshd.log.read_text().count("Accepted publickey") == 1


@pytest.mark.long
async def test_a_command_is_not_moved(cockpit: Cockpit, far: Far) -> None:
    await cockpit.launch(cockpit.agent("logs", more='runtime = "command"\ncommand = ["cat"]\n'))
    await far.launch()
    await cockpit.start("logs")

    code, told = await moved(cockpit, "logs", "--to", "gpu1")

    assert code == 5, told
    assert "logs runs a command" in told
    assert "cockpit start logs --host gpu1 -- COMMAND" in told


@pytest.mark.long
async def test_a_dry_run_changes_nothing(cockpit: Cockpit, far: Far) -> None:
    row = await flying(cockpit, far)
    before = tree_of(Path(str(row.worktree)))
    to = ("api", "--to", "gpu1", "--dry-run", "--directory", str(far.repository))
    code, told = await moved(cockpit, *to)
    assert code == 0, told
    assert "Nothing was changed." in told
    assert (await cockpit.row()).handoff is None
    await still_there(cockpit, far, row, before)
    for words, why in {
        ("--directory", str(cockpit.home)): "There is no git repository",
        ("--directory", "relative"): "must be an absolute path",
        ("--runtime", "nonsense"): "nonsense",
    }.items():
        code, told = await moved(cockpit, *to, *words)
        assert code != 0
        assert why in told
    other = cockpit.home / "other"
    other.mkdir()
    git(other, "init", "-q")
    git(other, "commit", "-q", "--allow-empty", "-m", "x")
    code, told = await moved(cockpit, *to, "--directory", str(other))
    assert code == 1
    assert "another repository" in told
    assert (await cockpit.row()).handoff is None


@pytest.mark.long
async def test_a_session_that_never_replies_leaves_the_job_where_it_was(
    cockpit: Cockpit, far: Far
) -> None:
    row = await flying(cockpit, far)
    before = tree_of(Path(str(row.worktree)))
    far.kill()
    await far.launch(STANDIN_PACE="600")

    code, told = await moved(
        cockpit,
        *("api", "--to", "gpu1", "--yes", "--wait", "2"),
        *("--directory", str(far.repository)),
    )

    assert code == 1, told
    assert "did not reply in time" in told
    await still_there(cockpit, far, row, before)
    (handoff,) = (await cockpit.client.history("api"))[0].sessions[0].handoffs
    assert handoff.outcome == "refused"


CUT = """\
#!/bin/sh
case "$*" in
*--multiplex*) echo "No such option: --multiplex" >&2; exit 2 ;;
*move-step*) {limit} ;;
*) exec env "$@" ;;
esac
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ('head -c 12000 | env "$@"', "The transfer of the worktree failed"),
        ('ulimit -f 100; exec env "$@"', "Cannot write or read a file"),
    ],
    ids=["the line is cut", "the disk is full"],
)
async def test_work_that_does_not_arrive_leaves_the_job_where_it_was(
    cockpit: Cockpit, far: Far, limit: str, words: str
) -> None:
    row = await flying(cockpit, far)
    tree = Path(str(row.worktree))
    (tree / "large").write_bytes(os.urandom(200_000))
    before = tree_of(tree)
    cut = cockpit.home / "cut"
    cut.write_text(CUT.format(limit=limit))
    cut.chmod(0o755)
    far.tell_near([str(cut), *far.connect[1:]])

    code, told = await moved(
        cockpit, "api", "--to", "gpu1", "--yes", "--directory", str(far.repository)
    )

    assert code == 1, told
    assert words in told
    await still_there(cockpit, far, row, before)


@pytest.mark.long
async def test_a_move_that_was_killed_is_continued_by_the_same_command(
    cockpit: Cockpit, far: Far
) -> None:
    row = await flying(cockpit, far)
    before = tree_of(Path(str(row.worktree)))
    far.kill()
    await far.launch(STANDIN_PACE="600")
    words = ("api", "--to", "gpu1", "--yes", "--directory", str(far.repository))
    process = typed(cockpit, *words)
    end = time.monotonic() + LONG
    while not await far.rows():
        assert process.poll() is None, process.communicate()[0].decode()
        assert time.monotonic() < end
        await asyncio.sleep(LOOK)
    process.kill()
    process.communicate()

    waiting = await cockpit.row()
    assert waiting.handoff is not None
    assert (waiting.handoff.phase, waiting.handoff.host) == ("moving", "gpu1")
    assert "if `cockpit move` was interrupted, run it again" in str(waiting.handoff.detail)
    assert (waiting.session_id, waiting.pid) == (row.session_id, row.pid)
    cockpit.kill()
    await cockpit.launch()
    far.kill()
    await far.launch()

    code, told = await moved(cockpit, *words)
    assert code == 0, told
    (there,) = await far.rows()
    assert tree_of(Path(there.directory)) == before
    assert (await cockpit.row()).note == "moved to gpu1"


@pytest.mark.long
async def test_files_that_change_after_they_were_sent_are_not_left_behind(
    cockpit: Cockpit, far: Far
) -> None:
    row = await flying(cockpit, far)
    tree = Path(str(row.worktree))
    git(tree, "commit", "-q", "--allow-empty", "--only", "-m", "more")
    git(far.repository, "branch", str(row.branch))
    before = git(far.repository, "rev-parse", str(row.branch))
    process = typed(cockpit, "api", "--to", "gpu1", "--yes", "--directory", str(far.repository))
    end = time.monotonic() + LONG
    while not (far.repository / ".worktrees").exists():
        assert process.poll() is None, process.communicate()[0].decode()
        assert time.monotonic() < end
        await asyncio.sleep(0.005)
    (tree / "late").write_text("late\n")
    output, _ = await asyncio.to_thread(process.communicate, timeout=LONG)
    assert process.returncode == 1, output.decode()
    assert "changed while the job was being moved" in output.decode()
    now = await cockpit.until(lambda one: one.handoff is None)
    assert now.session_id == row.session_id
    assert (tree / "late").exists()
    assert git(far.repository, "rev-parse", str(row.branch)) == before


@pytest.mark.long
async def test_only_the_user_moves_a_job_and_only_in_its_phase(cockpit: Cockpit, far: Far) -> None:
    await flying(cockpit, far)
    refused = await cockpit.refused(Handoff(name="api", host="no/host"))
    assert "not a valid host name" in refused.title
    done = await cockpit.ask(Handoff(name="api", host="gpu1"))
    await cockpit.until(lambda row: row.handoff and row.handoff.phase == "review")
    code, told = await moved(cockpit, "api", "--to", "local", "--directory", str(far.repository))
    assert code == 2
    assert "already on this machine" in told
    await cockpit.ask(Refuse(name="api", handoff=done.document))
    assert (await cockpit.until(lambda row: row.handoff is None)).state != "stopped"


async def moving(near: Cockpit, **more: int) -> AgentStatus:
    """An agent whose handoff waits for the end of a move."""
    table = near.agent(mode="prompt", steps=2, step_tokens=9000, **more)  # type: ignore[arg-type]
    await near.launch(table)
    await near.start()
    await near.until(lambda row: row.state in ("idle", "done") and row.context.tokens)
    await near.ask(Handoff(name="api", host="gpu1"))
    waiting = await near.until(lambda row: row.handoff and row.handoff.phase == "review")
    assert waiting.handoff is not None
    await near.ask(Approve(name="api", handoff=waiting.handoff.id))
    return await near.until(lambda row: row.handoff and row.handoff.phase == "moving")


@pytest.mark.long
async def test_a_session_whose_job_was_moved_is_reopened_only_with_force(cockpit: Cockpit) -> None:
    row = await moving(cockpit)
    assert row.handoff is not None
    await cockpit.ask(Moved(name="api", handoff=row.handoff.id))
    await cockpit.until(lambda row: row.state == "stopped" and row.handoff is None)

    for named in ("last", str(row.session_id)):
        refused = await cockpit.refused(Start(name="api", resume=named))
        assert "was moved to gpu1" in refused.title
        assert f"cockpit start api --resume {row.session_id} --force" in refused.hint
    assert (await cockpit.row()).state == "stopped"

    await cockpit.ask(Start(name="api", resume="last", force=True))
    again = await cockpit.until(lambda row: row.state in ("idle", "done"))
    assert again.session_id == row.session_id
    await cockpit.ask(Stop(name="api"))
    await cockpit.until(lambda row: row.state == "stopped")
    await cockpit.ask(Start(name="api", resume="last"))


@pytest.mark.long
async def test_no_other_agent_reopens_a_session_whose_job_was_moved(cockpit: Cockpit) -> None:
    row = await moving(cockpit)
    assert row.handoff is not None
    await cockpit.ask(Moved(name="api", handoff=row.handoff.id))
    await cockpit.until(lambda row: row.state == "stopped" and row.handoff is None)
    cockpit.configure()  # a configured agent cannot be forgotten
    asked = Start(name="new", directory=str(cockpit.repository), resume=row.session_id)

    refused = await cockpit.refused(asked)
    assert "was moved to gpu1" in refused.title
    assert f"cockpit start api --resume {row.session_id} --force" in refused.hint
    await cockpit.ask(Forget(name="api"))
    refused = await cockpit.refused(asked)
    assert "was moved to gpu1" in refused.title
    assert f"cockpit start new --resume {row.session_id} --force" in refused.hint
    assert (await cockpit.client.status()).agents == []

    await cockpit.ask(asked.model_copy(update={"force": True}))
    again = await cockpit.until(lambda row: row.state in ("idle", "done"), "new")
    assert again.transcript == row.transcript
    last = await cockpit.refused(Start(name="unknown", directory=asked.directory, resume="last"))
    assert "unknown has no session to reopen" in last.title


@pytest.mark.long
async def test_a_prompt_during_the_move_is_not_cut_off_by_its_end(cockpit: Cockpit) -> None:
    row = await moving(cockpit)
    assert row.handoff is not None
    cockpit.tmux("send-keys", "-t", str(row.pane), "One more thing", "Enter")
    await cockpit.until(lambda row: row.state == "working" or row.handoff is None)
    refused = await cockpit.refused(Moved(name="api", handoff=row.handoff.id))
    assert "ended" in refused.detail
    now = await cockpit.until(lambda row: row.handoff is None)
    assert (now.session_id, now.pid) == (row.session_id, row.pid)


@pytest.mark.long
async def test_a_second_command_for_the_agent_is_refused(cockpit: Cockpit, far: Far) -> None:
    await flying(cockpit, far)
    words = ("api", "--to", "gpu1", "--directory", str(far.repository))
    process = typed(cockpit, *words)
    await cockpit.until(lambda row: row.handoff and row.handoff.phase == "review")
    code, told = await moved(cockpit, *words, "--yes")
    assert code == 1
    assert "being moved by another command" in told
    assert f"process {process.pid}" in told
    waiting = (await cockpit.row()).handoff
    assert waiting is not None
    assert waiting.phase == "review"

    process.kill()
    process.communicate()
    code, told = await moved(cockpit, *words, "--yes", "--name", "api")
    assert code == 0, told
