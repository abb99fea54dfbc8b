"""Worktrees from their making to their removal: set up, worked in, published, lost and kept."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.core.errors import BadUsage, NotNow
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Down, Handoff, RemoveWorktree, Start, Stop
from cockpit.wire.worktrees import WorktreeStatus
from tests.long_cases import cases
from tests.supervisor.left_alone import until

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit


def git(directory: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=directory, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def program(home: Path, name: str, text: str) -> str:
    path = home / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def worktree(*more: str, setup: list[str] | None = None) -> str:
    lines = ['strategy = "git_worktree"', 'branch = "agent/{agent}"', *more]
    lines += [f"setup = {json.dumps(setup)}"] if setup else []
    return "[agents.worktree]\n" + "\n".join(lines)


def done(row: AgentStatus) -> bool:
    return row.state == "done"


async def listed(cockpit: Cockpit) -> list[WorktreeStatus]:
    return await cockpit.client.worktrees(str(cockpit.repository))


async def refusal(cockpit: Cockpit, **more: object) -> str:
    asked = RemoveWorktree.model_validate({"tree": "api", **more})
    refused = await cockpit.refused(asked)
    assert isinstance(refused, NotNow | BadUsage), refused
    return str(refused)


# Setting up


async def test_the_agent_starts_after_the_setup_of_its_worktree(cockpit: Cockpit) -> None:
    (cockpit.repository / ".env").write_text("SECRET=1\n")
    (cockpit.repository / ".git" / "info").mkdir(exist_ok=True)
    (cockpit.repository / ".git" / "info" / "exclude").write_text(".env\ninstalled\n")
    setup = program(
        cockpit.home,
        "install",
        'echo installing; cat .env > installed; pwd >> installed; echo "$COCKPIT_REPOSITORY" '
        f">> installed; until test -e {cockpit.home}/go; do sleep 0.02; done",
    )
    more = worktree('copy_files = [".env", "nothing"]', setup=[setup])

    async with cockpit.flying(cockpit.agent(mode="observe", steps=2, more=more)):
        waiting = await cockpit.start()
        assert (waiting.state, waiting.pid) == ("starting", None)
        assert (await cockpit.refused(Stop(name="nobody"))).exit_code == 3
        row = await cockpit.until(lambda row: "installing" in (row.note or ""))
        assert row.worktree is not None
        again = await cockpit.refused(Start(name="api"))
        assert "Current step: " in str(again)
        (cockpit.home / "go").touch()
        await cockpit.until(done)
        kept = (Path(row.worktree) / "installed").read_text().splitlines()
        assert kept == ["SECRET=1", row.worktree, str(cockpit.repository)]
        log = cockpit.places.logs / "setup" / "api.log"
        assert log.read_text() == "installing\n"
        assert "nothing" in (await cockpit.event("worktree.not_copied")).text
        # What the main checkout has just the same is no reason against a removal.
        stopped = await cockpit.ask(Stop(name="api"))
        assert stopped.message == f"Stopped api; its worktree is kept ({row.worktree})"
        assert (await listed(cockpit))[0].ignored == [".env", "installed"]
        assert "ignores would be lost: installed\n" in await refusal(cockpit)
        # A second job in the same worktree needs no second setup.
        (cockpit.home / "go").unlink()
        assert (await cockpit.start()).pid is not None


async def test_a_setup_that_fails_is_told_and_tried_again(cockpit: Cockpit) -> None:
    secret = "sk-ant-api03-CANARY0123456789CANARY0123456789"
    words = f"echo {secret}; echo no network >&2; test -e {cockpit.home}/net"
    setup = program(cockpit.home, "install", words)

    more = worktree(setup=[setup])
    async with cockpit.flying(cockpit.agent(mode="observe", steps=2, more=more)):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.needs)
        assert row.needs is not None
        assert row.needs.kind == "failed"
        for words in ("exit code 1", "no network", "cockpit start api", "setup/api.log"):
            assert words in row.needs.detail
        assert row.pid is None
        kept = (cockpit.places.logs / "setup" / "api.log").read_text()
        assert "REDACTED" in kept
        assert secret not in kept
        (cockpit.home / "net").touch()
        await cockpit.start()
        await cockpit.until(done)


@pytest.mark.long
@pytest.mark.parametrize("way", cases("late", long=["stopped"]))
async def test_a_setup_that_never_ends_is_ended(cockpit: Cockpit, way: str) -> None:
    setup = program(cockpit.home, "install", "sleep 600 & echo $$; sleep 600")
    limit = 'setup_timeout = "1s"' if way == "late" else 'setup_timeout = "10m"'

    more = worktree(limit, setup=[setup])
    async with cockpit.flying(cockpit.agent(mode="observe", more=more)):
        await cockpit.start()
        if way == "late":
            row = await cockpit.until(lambda row: row.needs)
            assert row.needs is not None
            assert "timed out (1 s)" in row.needs.detail
        else:
            await cockpit.until(lambda row: row.note and "setup (" in row.note)
            told = await cockpit.ask(Stop(name="api"))
            assert "cancelled" in told.message
            assert (await cockpit.row()).state == "stopped"
        while sleepers():
            await asyncio.sleep(0.02)


def sleepers() -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if b"sleep\x00600" in (entry / "cmdline").read_bytes():
                environment = (entry / "environ").read_bytes()
                found += [entry.name] if b"COCKPIT_RUN=setup-" in environment else []
        except OSError:
            continue
    return found


@pytest.mark.long
async def test_what_a_setup_runs_does_nothing_for_the_user(cockpit: Cockpit) -> None:
    out = cockpit.home / "asked"
    cli = f"{sys.executable} -P -m cockpit"
    setup = program(
        cockpit.home,
        "install",
        f"for line in 'config trust {cockpit.config}' 'stop other' 'start other' 'send other x' "
        f"down; do {cli} $line >> {out}.text 2>&1; echo $? >> {out}; done",
    )

    more = worktree(setup=[setup])
    async with cockpit.flying(
        cockpit.agent(mode="observe", steps=2, more=more), cockpit.agent("other", steps=2)
    ):
        await cockpit.start()
        await cockpit.until(lambda row: row.pid is not None)
        assert out.read_text().split() == ["5"] * 5
        assert "the worktree setup of agent 'api'" in Path(f"{out}.text").read_text()
        told = await cockpit.events("verb.refused")
        assert {event.data["by"]["kind"] for event in told} == {"agent"}


@pytest.mark.long
async def test_a_setup_that_a_crash_cut_off_is_done_again(cockpit: Cockpit) -> None:
    setup = program(
        cockpit.home,
        "install",
        f"echo once >> {cockpit.home}/tries; test -e {cockpit.home}/net || sleep 600",
    )

    more = worktree(setup=[setup])
    await cockpit.launch(cockpit.agent(mode="observe", steps=2, more=more))
    await cockpit.start(prompt="Count the steps of the crash.")
    while not (cockpit.home / "tries").exists():
        await asyncio.sleep(0.02)
    cockpit.kill()
    (cockpit.home / "net").touch()
    await cockpit.launch()
    row = await cockpit.until(done)
    assert "the crash" in cockpit.prompts(row)[0]
    assert (cockpit.home / "tries").read_text().split() == ["once", "once"]
    assert sleepers() == []
    await cockpit.ask(Down(agents=True))


# Places


@pytest.mark.long
async def test_an_agent_of_a_sub_folder_works_in_that_of_its_worktree(cockpit: Cockpit) -> None:
    git(cockpit.repository, "branch", "before")
    inner = cockpit.repository / "packages" / "web"
    inner.mkdir(parents=True)
    (inner / "file").write_text("one\n")
    git(cockpit.repository, "add", "packages")
    git(cockpit.repository, "commit", "-q", "-m", "web")

    agents = (
        cockpit.agent(steps=30, pause=3, more=worktree()),
        cockpit.agent("old", more=worktree('base = "before"')),
    )
    tables = [table.replace(f'"{cockpit.repository}"', f'"{inner}"', 1) for table in agents]
    async with cockpit.flying(*tables):
        first = await cockpit.start()
        assert first.worktree == str(cockpit.repository / ".worktrees" / "api")
        where = Path(first.worktree) / "packages" / "web"
        last = await cockpit.until(lambda row: row.handoffs == 1 and row.handoff is None)
        assert last.worktree == first.worktree
        assert last.pid is not None
        assert Path(f"/proc/{last.pid}/cwd").readlink() == where
        assert list((where / ".cockpit" / "handoffs").glob("handoff-*.md"))
        assert ".cockpit" not in git(where, "status", "--porcelain")
        refused = await cockpit.refused(Start(name="old"))
        assert "not in the commit that the worktree starts from" in str(refused)


async def test_agents_of_one_repository_are_apart(cockpit: Cockpit) -> None:
    agents = [cockpit.agent(name, mode="observe", steps=2, more=worktree()) for name in ("a", "b")]
    async with cockpit.flying(*agents):
        places = {(await cockpit.start(name)).worktree for name in ("a", "b")}
        assert len(places) == 2
        found = await listed(cockpit)
        assert {(tree.agent, tree.branch) for tree in found} == {
            ("a", "agent/a"), ("b", "agent/b"),
        }  # fmt: skip
        assert all(tree.made and tree.made_at for tree in found)


# Removing


@pytest.mark.long
async def test_a_worktree_goes_when_the_job_is_over_and_the_pilot_says_so(cockpit: Cockpit) -> None:
    agent = cockpit.agent(mode="observe", steps=2, more=worktree())
    async with cockpit.flying(agent):
        await cockpit.start()
        row = await cockpit.until(done)
        assert row.worktree is not None
        tree = Path(row.worktree)
        git(tree, "add", ".")
        assert (
            "api is running in the worktree\n  Stop the agent: cockpit stop "
            "api" in await refusal(cockpit)
        )
        await cockpit.ask(Stop(name="api"))
        (tree / "late").write_text("late\n")
        words = await refusal(cockpit)
        assert "untracked" in words
        assert "--salvage" in words
        kept = await cockpit.ask(RemoveWorktree(tree="api", salvage_only=True))
        assert tree.is_dir()
        assert git(tree, "show", f"{kept.text}:late") == "late"
        removed = await cockpit.ask(RemoveWorktree(tree=str(tree), salvage=True))
        assert not tree.exists()
        assert "the branch agent/api is kept" in removed.message
        assert removed.text != kept.text
        assert git(cockpit.repository, "show", f"{removed.text}:late") == "late"
        assert await listed(cockpit) == []
        assert "removed (refs/cockpit/salvage/api/" in ((await cockpit.row()).note or "")
        # The next job gets one anew, on the branch that is there; then both are there.
        assert (await cockpit.start()).worktree == str(tree)
        await cockpit.until(done)
        await cockpit.ask(Stop(name="api"))
        await cockpit.start()
        ready = [event.text for event in await cockpit.events("worktree.ready")]
        assert ready == [
            f"The worktree of api was created: {tree} (agent/api)",
            f"The worktree of api was created: {tree}; the branch agent/api already exists and "
            "is used",
            f"The worktree of api already exists and is used as it is: {tree} (agent/api)",
        ]


@pytest.mark.long
async def test_processes_that_an_agent_started_are_part_of_the_agent(cockpit: Cockpit) -> None:
    """Such as its MCP servers: stopping the agent is the only step."""
    child = "sleep 600 & echo $! > child; wait"
    agent = (
        f'[[agents]]\nname = "api"\nruntime = "command"\nmode = "observe"\n'
        f"directory = {json.dumps(str(cockpit.repository))}\n"
        f"command = {json.dumps(['sh', '-c', child])}\n{worktree()}\n"
    )
    async with cockpit.flying(agent):
        row = await cockpit.start()
        assert row.worktree is not None
        written = Path(row.worktree) / "child"
        await until(lambda: written.exists() and written.read_text().strip())
        words = await refusal(cockpit, salvage=True)
        assert "api is running in the worktree\n  Stop the agent: cockpit stop api" in words
        assert f"process {written.read_text().strip()}" not in words


@pytest.mark.long
async def test_each_reason_against_a_removal_is_told_with_a_next_step(cockpit: Cockpit) -> None:
    agent = cockpit.agent(mode="observe", steps=2, more=worktree())
    async with cockpit.flying(agent):
        row = await cockpit.start()
        await cockpit.until(done)
        await cockpit.ask(Stop(name="api"))
        assert row.worktree is not None
        tree, repository = Path(row.worktree), cockpit.repository
        git(tree, "add", ".")
        git(tree, "commit", "-q", "--allow-empty", "-m", "mine")
        assert "1 commit not pushed or merged" in await refusal(cockpit)
        git(repository, "worktree", "unlock", str(tree))
        git(repository, "worktree", "lock", "--reason", "on a stick", str(tree))
        (Path(git(tree, "rev-parse", "--absolute-git-dir")) / "MERGE_HEAD").touch()
        git(tree, "init", "-q", "clone")
        sleeper = await asyncio.create_subprocess_exec("sleep", "600", cwd=tree / "clone")
        with (tree / "log").open("w") as log:
            writer = await asyncio.create_subprocess_exec("sleep", "600", cwd="/", stdout=log)
        try:
            words = await refusal(cockpit, salvage=True)
            of_sleeper = await refusal(cockpit, salvage=True, pid=sleeper.pid)
        finally:
            for process in (sleeper, writer):
                process.kill()
                await process.wait()
        assert f"process {sleeper.pid} is running" not in of_sleeper
        for reason in (
            "the worktree is locked: on a stick\n",
            f"process {sleeper.pid} is running in the worktree (sleep)",
            f"process {writer.pid} has {tree}/log open for writing (sleep)",
            "a git operation is in progress: merge",
            "other repositories are inside the worktree: clone",
        ):  # fmt: skip
            assert reason in words
        assert "nowhere" not in words
        assert tree.is_dir()
        git(repository, "worktree", "add", "-q", "-b", "mine", str(cockpit.home / "mine"))
        assert "cockpit did not create the worktree" in await refusal(
            cockpit, tree=str(cockpit.home / "mine"), salvage=True
        )
        assert "There is no worktree" in await refusal(cockpit, tree="nobody")
        assert "is not ignored in" in await refusal(cockpit, leave_out=["src"])


async def test_only_ignored_files_that_a_salvage_would_save_count_against_its_limit(
    cockpit: Cockpit,
) -> None:
    tree = cockpit.home / "mine"
    git(cockpit.repository, "worktree", "add", "-q", "-b", "mine", str(tree))
    (cockpit.repository / ".git" / "info").mkdir(exist_ok=True)
    (cockpit.repository / ".git" / "info" / "exclude").write_text("build/\ncache\nsmall\n")
    (tree / "build").mkdir()
    for name in ("build/large", "cache"):
        (tree / name).touch()
        os.truncate(tree / name, 400_000_000)  # takes no disk space
    (tree / "small").write_text("small\n")
    asked = {"tree": str(tree), "cwd": str(cockpit.repository), "salvage_only": True}
    async with cockpit.flying(cockpit.agent(mode="observe")):
        refused = await refusal(cockpit, **asked)
        assert "would grow by 800 MB of ignored files" in refused
        assert "--leave-out build/ --leave-out cache --leave-out small" in refused
        os.truncate(tree / "cache", 501_000_000)
        refused = await refusal(cockpit, **asked, leave_out=["build"])
        assert "would grow by 501 MB of ignored files" in refused
        assert "Also leave out what you do not need: --leave-out cache --leave-out small" in refused
        asked["leave_out"] = ["build", "cache"]
        kept = await cockpit.ask(RemoveWorktree.model_validate(asked))
        assert git(tree, "show", f"{kept.text}:small") == "small"
        assert "large" not in git(tree, "ls-tree", "-r", "--name-only", str(kept.text))


@pytest.mark.long
async def test_an_agent_that_ended_before_its_job_was_over_keeps_its_worktree(
    cockpit: Cockpit,
) -> None:
    agent = cockpit.agent(mode="observe", steps=30, pause=2, step_tokens=10, more=worktree())
    async with cockpit.flying(agent):
        row = await cockpit.start()
        assert row.pid is not None
        os.kill(row.pid, 9)
        await cockpit.until(lambda row: row.pid is None)
        assert "the job of api is not over" in await refusal(cockpit, salvage=True)


# Losing


@pytest.mark.long
async def test_a_worktree_deleted_under_its_agent_is_told_and_not_made_again(
    cockpit: Cockpit,
) -> None:
    agent = cockpit.agent(mode="prompt", steps=3, pause=3, step_tokens=10, more=worktree())
    async with cockpit.flying(agent):
        row = await cockpit.start()
        await cockpit.until(lambda row: row.state in ("idle", "done"))
        assert row.worktree is not None
        tree = Path(row.worktree)
        tree.rename(cockpit.home / "elsewhere")
        told = await cockpit.until(lambda row: "is missing" in (row.note or ""))
        assert "its branch is agent/api" in (told.note or "")
        await cockpit.event("worktree.lost")
        refused = await cockpit.refused(Handoff(name="api"))
        assert "Cannot create the folder for the handoff document" in str(refused)
        assert (await cockpit.row()).pid == row.pid
        assert not tree.exists()
        (cockpit.home / "elsewhere").rename(tree)
        await cockpit.until(lambda row: "is missing" not in (row.note or ""))
        await cockpit.event("worktree.back")


@pytest.mark.long
async def test_one_that_is_gone_is_given_up_and_begun_anew(cockpit: Cockpit) -> None:
    agent = cockpit.agent(mode="observe", steps=2, more=worktree())
    async with cockpit.flying(agent):
        row = await cockpit.start()
        await cockpit.until(done)
        await cockpit.ask(Stop(name="api"))
        assert row.worktree is not None
        Path(row.worktree).rename(cockpit.home / "elsewhere")
        assert [tree.missing for tree in await listed(cockpit)] == [True]
        refused = await cockpit.refused(Start(name="api"))
        assert "cockpit worktrees remove" in str(refused)
        done_so = await cockpit.ask(RemoveWorktree(tree="api"))
        assert "its git data is saved" in done_so.message
        assert "its content" not in done_so.message
        again = await cockpit.start()
        assert (again.worktree, again.branch) == (row.worktree, "agent/api")


# Handed off in one


def conflict(tree: Path, what: str) -> str:
    """Begin an operation that git cannot end by itself; answers the word for it."""
    if what == "bisect":
        git(tree, "bisect", "start")
        return what
    begun = git(tree, "rev-parse", "HEAD")
    (tree / "file").write_text("theirs\n")
    git(tree, "add", "file")
    git(tree, "commit", "-q", "-m", "theirs")
    git(tree, "branch", "theirs")
    git(tree, "reset", "-q", "--hard", begun)
    (tree / "file").write_text("mine\n")
    git(tree, "add", "file")
    git(tree, "commit", "-q", "-m", "mine")
    assert subprocess.run(["git", what, "theirs"], cwd=tree, capture_output=True).returncode == 1
    return what


@pytest.mark.parametrize("what", cases("rebase", long=["bisect"]))
async def test_a_real_operation_half_done_is_waited_for_and_not_touched(
    cockpit: Cockpit, what: str
) -> None:
    agent = cockpit.agent(steps=9, pause=2, step_tokens=100, more=worktree())
    async with cockpit.flying(agent):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.state == "idle")
        assert row.worktree is not None
        tree = Path(row.worktree)
        conflict(tree, what)
        before = git(tree, "status", "--porcelain")
        await cockpit.ask(Handoff(name="api"))
        await cockpit.until(lambda row: row.handoff and what in (row.handoff.detail or ""))
        assert git(tree, "status", "--porcelain") == before
        git(tree, *(("rebase", "--abort") if what == "rebase" else ("bisect", "reset")))
        kept = git(tree, "rev-parse", "HEAD")
        await cockpit.until(lambda row: row.handoffs == 1)
        assert row.job is not None
        # What the old session left outlives its branch.
        name = f"refs/cockpit/keep/api/{row.job[:8]}-1"
        await cockpit.until(lambda _: name in git(cockpit.repository, "for-each-ref"))
        assert git(cockpit.repository, "rev-parse", name) == kept
        git(tree, "switch", "-q", "--detach")
        git(cockpit.repository, "branch", "-D", "agent/api")
        assert git(cockpit.repository, "cat-file", "-t", name) == "commit"


# Publishing

COMMIT = "git commit -q --allow-empty -m x"
GH = """\
#!{python}
import json, os, pathlib, sys
pathlib.Path("{home}", "gh.json").write_text(json.dumps([sys.argv[1:], os.getcwd()]))
print("https://example.com/pull/7")
"""


def far(cockpit: Cockpit) -> Path:
    """A repository to push to."""
    git(cockpit.home, "init", "-q", "--bare", "far.git")
    git(cockpit.repository, "remote", "add", "origin", str(cockpit.home / "far.git"))
    git(cockpit.repository, "push", "-q", "origin", "HEAD:main")
    return cockpit.home / "far.git"


async def test_a_job_that_is_done_is_pushed_and_a_request_opened(cockpit: Cockpit) -> None:
    remote = far(cockpit)
    (cockpit.home / "bin" / "gh").write_text(GH.format(python=sys.executable, home=cockpit.home))
    (cockpit.home / "bin" / "gh").chmod(0o755)
    hook = cockpit.repository / ".git" / "hooks" / "pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    branch = git(cockpit.repository, "symbolic-ref", "--short", "HEAD")
    more = worktree("push_on_success = true", "create_pr = true", f'base = "{branch}"')
    work = "git add . && git commit -q -m 'Count ; #(touch x) --help' --allow-empty"
    run = f'runtime = "command"\ncommand = ["sh", "-c", {json.dumps(work)}]\n'

    async with cockpit.flying(cockpit.agent(more=run + more)):
        await cockpit.start()
        told = await cockpit.event("worktree.published")
        assert "agent/api was pushed to origin" in told.text
        assert "pull request https://example.com/pull/7" in told.text
        row = await cockpit.until(lambda row: "pull/7" in (row.note or ""))
        assert row.worktree is not None
        mine = git(Path(row.worktree), "rev-parse", "HEAD")
        assert git(remote, "rev-parse", "agent/api") == mine
        asked, where = json.loads((cockpit.home / "gh.json").read_text())
        subject = "Count ; #(touch x) --help"
        assert asked == [
            "pr", "create", "--head", "agent/api", "--title", subject,
            "--body", f"- {subject}", "--base", branch,
        ]  # fmt: skip
        assert where == row.worktree
        (made,) = (await cockpit.client.facts("api"))["commits"]
        assert (made["subject"], made["pushed"]) == (subject, True)
        # What is pushed stands against no removal.
        await cockpit.ask(RemoveWorktree(tree="api"))


@pytest.mark.long
@pytest.mark.parametrize("trouble", cases("diverged", "no gh", long=["program", "no remote"]))
async def test_what_is_not_published_is_told_with_the_command(
    cockpit: Cockpit, trouble: str
) -> None:
    if trouble != "no remote":
        remote = far(cockpit)
    if trouble == "diverged":
        git(cockpit.repository, "commit", "-q", "--allow-empty", "-m", "theirs")
        git(cockpit.repository, "push", "-q", "origin", "HEAD:agent/api")
        git(cockpit.repository, "reset", "-q", "--soft", "HEAD~1")
        theirs = git(remote, "rev-parse", "agent/api")
    trap = program(cockpit.home, "trap", f"touch {cockpit.home}/sprung")
    if trouble == "program":
        git(cockpit.repository, "config", "remote.origin.receivepack", trap)
    more = worktree("create_pr = true")
    run = f'runtime = "command"\ncommand = ["sh", "-c", {json.dumps(COMMIT)}]\n'

    async with cockpit.flying(cockpit.agent(more=run + more)):
        row = await cockpit.start()
        told = (await cockpit.event("worktree.not_published")).text
        push = f"To do it manually: git -C {row.worktree} push"
        words = {
            "diverged": ["rejected", f"{push} origin agent/api && cd {row.worktree} && gh pr"],
            "program": ["remote.origin.receivepack", f"{push} origin agent/api && cd"],
            "no remote": ["Remotes: none. To do it manually", f"{push} REMOTE agent/api && cd"],
            "no gh": ["was pushed to origin", "gh is not installed", "gh pr create --head"],
        }[trouble]
        for each in words:
            assert each in told
        assert ".." not in told
        assert ". ." not in told
        assert not (cockpit.home / "sprung").exists()
        if trouble == "diverged":
            assert git(remote, "rev-parse", "agent/api") == theirs


@pytest.mark.parametrize(
    ("work", "why"),
    cases(
        ('rm -rf "$PWD"', "its worktree is missing"), long=[("git checkout -q --detach", "HEAD")]
    ),
)
async def test_work_without_a_worktree_or_a_branch_is_told_with_a_command_that_works(
    cockpit: Cockpit, work: str, why: str
) -> None:
    remote = far(cockpit)
    more = worktree("push_on_success = true")
    run = f'runtime = "command"\ncommand = ["sh", "-c", {json.dumps(f"{COMMIT}; {work}")}]\n'

    async with cockpit.flying(cockpit.agent(more=run + more)):
        row = await cockpit.start()
        told = (await cockpit.event("worktree.not_published")).text
        assert why in told
        if row.worktree is not None and Path(row.worktree).exists():
            assert told.endswith(f"then push the branch: git -C {row.worktree} switch -c BRANCH")
            return
        command = f"git -C {cockpit.repository} push REMOTE agent/api"
        assert told.endswith(f"To push the commits: {command}")
        made = git(cockpit.repository, "rev-parse", "agent/api")
        git(cockpit.repository, *shlex.split(command.replace("REMOTE", "origin"))[3:])
        assert git(remote, "rev-parse", "agent/api") == made


@pytest.mark.parametrize("base", cases("main", long=[""]))
@pytest.mark.parametrize("work", cases("git commit -q --allow-empty -m mine", long=["true"]))
async def test_a_request_proposes_the_commits_of_the_branch_or_nothing(
    cockpit: Cockpit, base: str, work: str
) -> None:
    remote = far(cockpit)
    git(cockpit.repository, "branch", "-M", "main")
    (cockpit.home / "bin" / "gh").write_text(GH.format(python=sys.executable, home=cockpit.home))
    (cockpit.home / "bin" / "gh").chmod(0o755)
    more = worktree("create_pr = true", f'base = "{base}"')
    run = f'runtime = "command"\ncommand = ["sh", "-c", {json.dumps(work)}]\n'

    async with cockpit.flying(cockpit.agent(more=run + more)):
        await cockpit.start()
        asked = cockpit.home / "gh.json"
        if work != "true":
            await cockpit.event("worktree.published")
            words, _ = json.loads(asked.read_text())
            assert words[words.index("--body") + 1] == "- mine"
        else:
            told = (await cockpit.event("worktree.not_published")).text
            assert "agent/api has no commits of its own." in told
            assert "gh pr create" not in told
            assert not asked.exists()
        assert git(remote, "rev-parse", "agent/api")


@pytest.mark.long
async def test_publishing_that_a_crash_cut_off_is_done_by_the_next(cockpit: Cockpit) -> None:
    remote = far(cockpit)
    hold = cockpit.home / "hold"
    hold.touch()
    told = f"touch {cockpit.home}/pushing; test ! -e {hold} || exit 1"
    ssh = f'test "$1" = -G && exit 1; {told}; for last; do :; done; exec sh -c "$last"'
    git(cockpit.home, "config", "--global", "core.sshCommand", program(cockpit.home, "ssh", ssh))
    git(cockpit.repository, "config", "remote.origin.url", f"ssh://far{remote}")
    more = worktree("push_on_success = true")
    run = f'runtime = "command"\ncommand = ["sh", "-c", {json.dumps(COMMIT)}]\n'

    await cockpit.launch(cockpit.agent(more=run + more))
    await cockpit.start()
    while not (cockpit.home / "pushing").exists():
        await asyncio.sleep(0.005)
    cockpit.kill()
    hold.unlink()
    await cockpit.launch()
    if not await cockpit.events("worktree.not_published"):
        await cockpit.event("worktree.published")
        assert git(remote, "rev-parse", "--verify", "agent/api")


# With the commands themselves


def cli(cockpit: Cockpit, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "cockpit", *words],
        cwd=cockpit.repository,
        capture_output=True,
        text=True,
        check=False,
    )


async def test_the_commands_list_refuse_and_remove(cockpit: Cockpit) -> None:
    """The user's own way: three commands against a supervisor that is a process of its own."""

    agent = cockpit.agent(mode="observe", steps=2, more=worktree())
    await cockpit.launch(agent)
    row = await cockpit.start()
    await cockpit.until(done)
    assert row.worktree is not None
    (Path(row.worktree) / "build").write_bytes(os.urandom(4_700_000))
    shown = await asyncio.to_thread(cli, cockpit, "worktrees")
    assert f"{row.worktree}  api (done), agent/api, less than 1 h old" in shown.stdout
    assert re.search(r", size 4\.[78] MB$", shown.stdout, re.MULTILINE)
    told = json.loads((await asyncio.to_thread(cli, cockpit, "worktrees", "--json")).stdout)
    assert [(4_700_000 < one["size"] < 4_850_000, one["size_partial"]) for one in told] == [
        (True, False)
    ]
    (unmeasured,) = await listed(cockpit)
    assert unmeasured.size is None
    (Path(row.worktree) / "build").unlink()
    assert "blocks removal: api is running in the worktree" in shown.stdout
    refused = await asyncio.to_thread(cli, cockpit, "worktrees", "remove", "api")
    assert refused.returncode == 5
    assert "cockpit stop api" in refused.stderr
    await cockpit.ask(Stop(name="api"))
    lock = Path(git(Path(row.worktree), "rev-parse", "--absolute-git-dir")) / "index.lock"
    lock.touch()
    stale = await asyncio.to_thread(cli, cockpit, "worktrees", "remove", "api", "--salvage")
    assert "index.lock" in stale.stderr
    assert lock.exists()
    lock.unlink()
    line = f"cd {row.worktree} && {sys.executable} -m cockpit worktrees remove api; exit"
    inside = await asyncio.create_subprocess_exec(
        "sh", "-c", line, env=dict(os.environ), stderr=asyncio.subprocess.PIPE
    )
    _, told = await inside.communicate()
    assert f"your shell is in the worktree (sh, process {inside.pid})" in told.decode()
    assert "cd elsewhere first." in told.decode()
    assert "End it" not in told.decode()
    (Path(row.worktree) / "late").write_text("late\n")
    place = os.path.relpath(row.worktree, cockpit.repository)
    removed = await asyncio.to_thread(cli, cockpit, "worktrees", "remove", place, "--salvage")
    assert removed.returncode == 0, removed.stderr
    assert git(cockpit.repository, "show", f"{removed.stdout.strip()}:late") == "late"
    assert not Path(row.worktree).exists()
    listed_now = await asyncio.to_thread(cli, cockpit, "worktrees", "--json")
    assert json.loads(listed_now.stdout) == []
    await cockpit.ask(Down(agents=True))


@pytest.mark.long
async def test_a_repository_that_cannot_be_listed_blocks_no_other(cockpit: Cockpit) -> None:
    broken = cockpit.home / "broken"
    broken.mkdir()
    git(broken, "init", "-q")
    (broken / ".git" / "packed-refs").write_text("nonsense\n")

    async with cockpit.flying(cockpit.agent(mode="observe", steps=2, more=worktree())):
        await cockpit.start()
        await cockpit.until(done)
        good, bad = await cockpit.client.worktrees(str(broken))
        assert good.agent == "api"
        assert (bad.directory, bad.made) == (str(broken), False)
        assert "packed-refs" in (bad.unlisted or "")
        asked = RemoveWorktree(tree="nobody", cwd=str(broken))
        assert "packed-refs" in str(await cockpit.refused(asked))
        await cockpit.ask(Stop(name="api"))
        await cockpit.ask(RemoveWorktree(tree="api", cwd=str(broken), salvage=True))
        assert good.directory not in [one.directory for one in await listed(cockpit)]


@pytest.mark.long
async def test_a_setup_that_prints_for_ever_is_ended_and_its_file_bounded(cockpit: Cockpit) -> None:
    setup = program(cockpit.home, "install", "yes 'a line \x1b]0;x\x07 of output'")

    async with cockpit.flying(cockpit.agent(mode="observe", more=worktree(setup=[setup]))):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.needs)
        assert row.needs is not None
        assert "printed more than" in row.needs.detail
        assert "\x1b" not in row.needs.detail
        kept = cockpit.places.logs / "setup" / "api.log"
        assert 100_000 < kept.stat().st_size <= 1_000_000
        assert b"\x1b" not in kept.read_bytes()
        assert kept.stat().st_mode & 0o777 == 0o600


@pytest.mark.long
async def test_another_tool_cannot_reap_the_worktree_of_an_agent(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="observe", steps=2, more=worktree())):
        row = await cockpit.start()
        assert row.worktree is not None
        await cockpit.until(done)
        reaped = subprocess.run(
            ["git", "worktree", "remove", "--force", row.worktree],
            cwd=cockpit.repository,
            capture_output=True,
            check=False,
        )
        assert reaped.returncode != 0
        assert (await cockpit.row()).note is None
        assert Path(row.worktree).is_dir()
