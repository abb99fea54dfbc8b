"""What git says of real repositories, hostile ones too, and the worktrees made of them."""

from __future__ import annotations

import asyncio
import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cockpit.adapters.git.worktrees import Git
from cockpit.core.errors import BadUsage, Failed, ProgramMissing
from cockpit.core.exclusion import exclusion
from cockpit.ports.worktrees import GitFacts, Worktrees
from tests.manual_clock import ManualClock


def run(directory: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=directory, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def commit(directory: Path, subject: str) -> str:
    run(directory, "commit", "-q", "--allow-empty", "-m", subject)
    return run(directory, "rev-parse", "HEAD")


async def facts(
    directory: Path, since: datetime | None = None, commit: str | None = None
) -> GitFacts:
    git: Worktrees = Git()
    return await git.facts(directory, since=since, since_commit=commit)


async def ensure(repository: Path, directory: Path, branch: str, base: str = "") -> bool:
    made = await Git().ensure(repository, directory, branch, base)
    assert (made.directory, made.branch) == (directory, branch)
    return made.created


@pytest.fixture
def empty(own_home: Path) -> Path:
    repository = own_home / "repository"
    repository.mkdir()
    run(repository, "init", "-q")
    return repository


@pytest.fixture
def repository(empty: Path) -> Path:
    (empty / "file").write_text("one\n")
    run(empty, "add", "file")
    commit(empty, "one")
    return empty


async def test_no_repository_is_no_error(own_home: Path) -> None:
    assert await facts(own_home) == GitFacts()
    assert (await facts(own_home / "gone")).root is None
    (own_home / "file").touch()
    assert (await facts(own_home / "file")).root is None


async def test_before_the_first_commit_there_is_a_branch_and_no_head(empty: Path) -> None:
    (empty / "new").touch()
    seen = await facts(empty, since=datetime(2020, 1, 1, tzinfo=UTC))
    assert (seen.root, seen.branch, seen.head) == (empty, "main", None)
    assert seen.status == ("?? new",)
    assert seen.commits == ()


async def test_a_repository_is_described(repository: Path) -> None:
    first = run(repository, "rev-parse", "HEAD")
    second = commit(repository, "two: #(touch X) \x1b[31mü")
    (repository / "file").write_text("two\n")
    (repository / "deep").mkdir()
    (repository / "deep" / "new ü\n\x1b[2Jname").touch()
    seen = await facts(repository / "deep", commit=first)
    assert (seen.root, seen.branch, seen.head) == (repository, "main", second)
    assert seen.status == (" M file", "?? deep/")
    assert [one.subject for one in seen.commits] == ["two: #(touch X) ü"]
    assert second.startswith(seen.commits[0].hash)
    assert seen.busy is None
    run(repository, "add", "deep")
    assert (await facts(repository)).status == ("A  deep/new ü name", " M file")


async def test_files_that_commits_changed_are_named_without_looking_at_any(
    repository: Path,
) -> None:
    first = run(repository, "rev-parse", "HEAD")
    (repository / "file").write_text("two\n")
    (repository / "deep").mkdir()
    (repository / "deep" / "ü\n\x1b[2Jname").touch()
    run(repository, "add", "-A")
    commit(repository, "two")
    run(repository, "config", "diff.relative", "true")
    run(repository, "config", "filter.trap.clean", f"touch {repository}/SPRUNG; cat")
    run(repository, "config", "diff.external", f"touch {repository}/SPRUNG")
    (repository / ".gitattributes").write_text("* filter=trap diff=trap\n")
    (repository / "deep" / "uncommitted").touch()
    assert (await facts(repository / "deep", commit=first)).committed == ("deep/ü name", "file")
    assert not (repository / "SPRUNG").exists()
    assert (await facts(repository, commit="HEAD")).committed == ()
    assert (await facts(repository)).committed == ()


async def test_the_names_of_changed_files_have_an_end(repository: Path) -> None:
    first = run(repository, "rev-parse", "HEAD")
    for number in range(700):
        (repository / f"{number:03}-{'x' * 120}").touch()
    run(repository, "add", "-A")
    commit(repository, "many")
    named = (await facts(repository, commit=first)).committed
    assert len(named) == 200
    assert all(len(name) == 124 for name in named)


async def test_commits_that_no_remote_branch_has_are_unpushed(
    repository: Path, own_home: Path
) -> None:
    git: Worktrees = Git()
    assert await git.unpushed(repository) is None
    run(own_home, "init", "-q", "--bare", str(own_home / "far.git"))
    run(repository, "remote", "add", "origin", str(own_home / "far.git"))
    run(repository, "push", "-q", "origin", "HEAD:refs/heads/main")
    assert await git.unpushed(repository) == ()
    run(repository, "switch", "-q", "-c", "other")
    of_another_branch = commit(repository, "two")
    run(repository, "switch", "-q", "-")
    of_head = commit(repository, "three")
    found = await git.unpushed(repository)
    assert found is not None
    assert sorted(found) == sorted((of_another_branch, of_head))


async def test_a_detached_head_has_no_branch(repository: Path) -> None:
    run(repository, "checkout", "-q", "--detach")
    seen = await facts(repository)
    assert seen.branch is None
    assert seen.head == run(repository, "rev-parse", "HEAD")


async def test_commits_are_those_since_the_commit_or_else_the_time(repository: Path) -> None:
    first = run(repository, "rev-parse", "HEAD")
    for number in range(25):
        commit(repository, str(number))
    commits = (await facts(repository, commit=first)).commits
    assert [one.subject for one in commits] == [str(number) for number in range(24, 4, -1)]
    hour = datetime.now(UTC) - timedelta(hours=1)
    assert len((await facts(repository, since=hour)).commits) == 20
    assert len((await facts(repository, since=hour, commit="f" * 40)).commits) == 20
    assert (await facts(repository, since=hour + timedelta(hours=2))).commits == ()
    assert (await facts(repository)).commits == ()
    for hostile in ("--output=X", "HEAD", "", "main..HEAD"):
        assert (await facts(repository, commit=hostile)).commits == ()


async def test_a_status_has_an_end(repository: Path) -> None:
    for number in range(250):
        (repository / f"new-{number:03}").touch()
    assert len((await facts(repository)).status) == 200


@pytest.mark.parametrize(
    ("name", "busy"),
    [
        ("rebase-merge/", "rebase"),
        ("rebase-apply/", "rebase"),
        ("MERGE_HEAD", "merge"),
        ("CHERRY_PICK_HEAD", "cherry-pick"),
        ("REVERT_HEAD", "revert"),
        ("BISECT_LOG", "bisect"),
        ("index.lock", "index.lock 3 s old"),
    ],
)
async def test_an_operation_in_progress_is_seen_in_its_own_worktree(
    repository: Path, own_home: Path, name: str, busy: str
) -> None:
    await ensure(repository, own_home / "tree", "agent/api")
    folder = Path(run(own_home / "tree", "rev-parse", "--absolute-git-dir"))
    if name.endswith("/"):
        (folder / name).mkdir()
    else:
        (folder / name).write_text("")
    now = datetime(2026, 1, 1, tzinfo=UTC)
    os.utime(folder / name, (now.timestamp() - 3,) * 2)
    git = Git(clock=ManualClock(now))
    assert (await git.facts(own_home / "tree")).busy == busy
    assert (await git.facts(repository)).busy is None


async def test_looking_runs_nothing_that_the_repository_names(
    repository: Path, own_home: Path
) -> None:
    trap = own_home / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {own_home}/sprung\ncat\n")
    trap.chmod(0o700)
    settings = [
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "core.editor",
        "diff.external",
        "diff.x.textconv",
        "gpg.program",
        "credential.helper",
    ]
    for name in settings:
        run(repository, "config", name, str(trap))
    run(repository, "config", "log.showSignature", "true")
    hooks = own_home / "hooks"
    hooks.mkdir()
    for name in (
        "post-index-change",
        "post-checkout",
        "reference-transaction",
        "fsmonitor-watchman",
    ):
        (hooks / name).write_bytes(trap.read_bytes())
        (hooks / name).chmod(0o700)
    run(repository, "config", "core.hooksPath", str(hooks))
    (repository / ".gitattributes").write_text("* diff=x\n")
    (repository / "file").write_text("changed\n")
    first = run(repository, "rev-list", "--max-parents=0", "HEAD")
    commit(repository, "two")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n -----END PGP SIGNATURE-----"
    unsigned = run(repository, "cat-file", "commit", "HEAD")
    (own_home / "signed").write_text(unsigned.replace("\n\n", f"\n{signature}\n\n", 1) + "\n")
    signed = run(repository, "hash-object", "-t", "commit", "-w", str(own_home / "signed"))
    run(repository, "update-ref", "HEAD", signed)
    (own_home / "sprung").unlink(missing_ok=True)
    before = (repository / ".git" / "index").stat().st_mtime_ns
    seen = await facts(repository, commit=first)
    assert seen.status_known
    assert " M file" in seen.status
    assert [one.subject for one in seen.commits] == ["two"]
    await ensure(repository, own_home / "tree", "agent/api")
    assert not (own_home / "sprung").exists()
    assert (repository / ".git" / "index").stat().st_mtime_ns == before


@pytest.mark.parametrize("setting", ["filter.x.clean", "filter.x.process", "filter.UP.clean"])
async def test_a_status_that_would_run_a_filter_is_unknown(
    repository: Path, own_home: Path, setting: str
) -> None:
    trap = own_home / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {own_home}/sprung\ncat\n")
    trap.chmod(0o700)
    (own_home / "included").write_text("")
    run(repository, "config", "--file", str(own_home / "included"), setting, str(trap))
    run(repository, "config", "include.path", str(own_home / "included"))
    (repository / ".gitattributes").write_text("* filter=x\n")
    (repository / "file").write_text("changed\n")
    seen = await facts(repository)
    assert not seen.status_known
    assert (seen.status, seen.branch) == ((), "main")
    assert not (own_home / "sprung").exists()


async def test_a_directory_that_is_missing_says_why_git_failed(repository: Path) -> None:
    seen = await facts(repository / "removed")
    assert not seen.status_known
    assert seen.problem == f"Cannot run git: {repository / 'removed'}: No such file or directory"
    assert (await facts(repository)).problem == ""


async def test_the_pilots_own_filters_leave_the_status_known(repository: Path) -> None:
    run(repository, "config", "--global", "filter.lfs.clean", "cat")
    assert (await facts(repository)).status_known


async def test_a_surrounding_git_is_not_obeyed(repository: Path, own_home: Path) -> None:
    surrounded = Git({**os.environ, "GIT_DIR": str(own_home), "GIT_INDEX_FILE": "/nowhere"})
    assert (await surrounded.facts(repository)).root == repository


async def test_a_git_that_hangs_is_given_up_with_its_children(own_home: Path) -> None:
    slow = own_home / "git"
    slow.write_text("#!/bin/sh\nsleep 600 & sleep 600\n")
    slow.chmod(0o700)
    git = Git({**os.environ, "PATH": f"{own_home}:{os.environ['PATH']}"})

    with pytest.raises(Failed, match="took longer than"):
        await git.command.run(own_home, "status", deadline=0.2)


async def test_a_git_that_is_missing_is_said(repository: Path) -> None:
    git = Git({"PATH": "/nowhere"}, program="git-of-no-name")
    with pytest.raises(ProgramMissing, match="git is not installed"):
        await git.facts(repository)


async def test_a_worktree_is_made_then_adopted(repository: Path, own_home: Path) -> None:
    tree = own_home / "trees" / "api tree #(touch X);"
    assert await ensure(repository, tree, "agent/api/lin-42") is True
    assert (tree / "file").read_text() == "one\n"
    (tree / "file").write_text("half done\n")
    assert await ensure(repository, tree, "agent/api/lin-42") is False
    assert (tree / "file").read_text() == "half done\n"
    assert await ensure(tree, own_home / "second", "agent/web", "main") is True
    assert (await facts(tree)).branch == "agent/api/lin-42"


async def test_a_branch_that_exists_is_used_and_an_empty_folder_filled(
    repository: Path, own_home: Path
) -> None:
    run(repository, "branch", "agent/api")
    (own_home / "tree").mkdir()
    assert await ensure(repository, own_home / "tree", "agent/api", "no such base") is True


@pytest.mark.parametrize("kind", ["file", "folder", "repository", "link", "inside"])
async def test_a_path_that_holds_something_else_is_refused(
    repository: Path, own_home: Path, kind: str
) -> None:
    tree = own_home / "tree"
    if kind == "file":
        tree.write_text("mine")
    elif kind == "link":
        tree.symlink_to(own_home / "nowhere")
    elif kind == "inside":
        tree = repository / "folder"
        tree.mkdir()
        (tree / "mine").touch()
    else:
        tree.mkdir()
        (tree / "mine").touch()
        if kind == "repository":
            run(tree, "init", "-q", "-b", "agent/api")
    with pytest.raises(Failed, match="already exists"):
        await ensure(repository, tree, "agent/api")


async def test_a_worktree_on_another_branch_is_refused(repository: Path, own_home: Path) -> None:
    await ensure(repository, own_home / "tree", "agent/api")
    with pytest.raises(Failed, match="is on branch agent/api, not on agent/web"):
        await ensure(repository, own_home / "tree", "agent/web")


async def test_a_branch_that_is_elsewhere_is_refused(repository: Path, own_home: Path) -> None:
    with pytest.raises(Failed, match="checked out elsewhere") as caught:
        await ensure(repository, own_home / "tree", "main")
    assert caught.value.detail == str(repository)


@pytest.mark.parametrize(
    "branch", ["", "-f", "a b", "a..b", "a~1", "/a", "a.lock", "a\x1b", "@{-1}"]
)
async def test_a_branch_that_git_would_misread_is_refused(
    repository: Path, own_home: Path, branch: str
) -> None:
    with pytest.raises(BadUsage, match="is not a valid branch name"):
        await ensure(repository, own_home / "tree", branch)


@pytest.mark.parametrize("base", ["nothing", "-f", "--help", "a\nb", "$(touch X)"])
async def test_a_base_that_is_no_commit_is_refused(
    repository: Path, own_home: Path, base: str
) -> None:
    with pytest.raises(Failed, match="There is no commit"):
        await ensure(repository, own_home / "tree", "agent/api", base)
    assert not (own_home / "tree").exists()


async def test_what_has_no_commit_gets_no_worktree(empty: Path, own_home: Path) -> None:
    with pytest.raises(Failed) as caught:
        await ensure(empty, own_home / "tree", "agent/api")
    assert caught.value.detail == "The repository has no commit yet."
    (own_home / "plain").mkdir()
    with pytest.raises(Failed) as caught:
        await ensure(own_home / "plain", own_home / "tree", "agent/api")
    assert caught.value.detail == "This is not a git repository."


async def test_what_is_kept_out_is_kept_out_of_every_worktree_once(
    repository: Path, own_home: Path
) -> None:
    tree = own_home / "tree"
    await ensure(repository, tree, "agent/api")
    (repository / ".git" / "info" / "exclude").write_text("theirs")
    git = Git()
    await asyncio.gather(*(git.keep_out(tree, "/.cockpit/") for _ in range(3)))
    await asyncio.gather(*(git.keep_out(repository, f"/{number}/") for number in range(20)))
    await git.keep_out(own_home, "/elsewhere/")
    lines = (repository / ".git" / "info" / "exclude").read_text().splitlines()
    assert lines[:2] == ["theirs", "/.cockpit/"]
    assert sorted(lines[2:]) == sorted(f"/{number}/" for number in range(20))
    for folder in (tree, repository):
        (folder / ".cockpit").mkdir()
        (folder / ".cockpit" / "handoff.md").touch()
        assert (await facts(folder)).status == ()


async def test_exactly_the_folder_is_kept_out(repository: Path) -> None:
    pattern = exclusion(("docs", "hand offs [*]\\x"))
    await Git().keep_out(repository, pattern)
    for name in ("docs/hand offs [*]\\x", "docs/hand offs z", "docs", "deep/docs/hand offs [*]\\x"):
        (repository / name).mkdir(parents=True, exist_ok=True)
        (repository / name / "new.md").touch()
    ignored = run(repository, "ls-files", "--others", "--ignored", "--exclude-standard", "-z")
    assert ignored == "docs/hand offs [*]\\x/new.md\0"
    assert exclusion((".cockpit", "handoffs")) == "/.cockpit/handoffs/"


@pytest.mark.parametrize("content", [b"theirs", b"theirs\r\n\xff\n", b"", b"/.cockpit/\n\n"])
async def test_an_exclude_file_keeps_mode_and_content(repository: Path, content: bytes) -> None:
    path = repository / ".git" / "info" / "exclude"
    path.write_bytes(content)
    path.chmod(0o664)
    before = path.stat()
    for _ in range(2):
        await Git().keep_out(repository, "/.cockpit/")
        after = path.stat()
        assert path.read_bytes().startswith(content)
        assert path.read_bytes().splitlines().count(b"/.cockpit/") == 1
        assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)
    if b"/.cockpit/" in content:
        assert path.read_bytes() == content
        assert after.st_mtime_ns == before.st_mtime_ns


async def test_an_exclude_file_that_would_hold_us_up_is_refused(repository: Path) -> None:
    path = repository / ".git" / "info" / "exclude"
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(Failed, match="is not a file"):
        await Git().keep_out(repository, "/.cockpit/")


async def test_a_link_is_not_followed_to_be_written(repository: Path, own_home: Path) -> None:
    (own_home / "profile").write_text("precious\n")
    (repository / ".git" / "info" / "exclude").unlink()
    (repository / ".git" / "info" / "exclude").symlink_to(own_home / "profile")
    with pytest.raises(Failed, match="is a link"):
        await Git().keep_out(repository, "/.cockpit/")
    assert (own_home / "profile").read_text() == "precious\n"
    with pytest.raises(BadUsage):
        await Git().keep_out(repository, "one\ntwo")


async def test_only_a_commit_of_the_repository_is_known(repository: Path) -> None:
    head = run(repository, "rev-parse", "HEAD")
    tree = run(repository, "rev-parse", "HEAD^{tree}")
    known = [await Git().known(repository, one) for one in (head, head[:10], tree, "f" * 40)]
    assert known == [True, True, False, False]
    for hostile in ("", "HEAD", "--help", "-e", head.upper() + "\n"):
        assert not await Git().known(repository, hostile)


async def test_a_reference_keeps_a_commit_and_never_moves(repository: Path) -> None:
    git = Git()
    head = run(repository, "rev-parse", "HEAD")
    name = await git.keep(repository, "api..x.lock", "1a2b3c4d-1")
    assert name == "refs/cockpit/keep/api-x-lock/1a2b3c4d-1"
    run(repository, "commit", "-q", "--allow-empty", "-m", "more")
    assert await git.keep(repository, "api..x.lock", "1a2b3c4d-1") == name
    assert run(repository, "rev-parse", name) == head


async def test_before_the_first_commit_there_is_nothing_to_keep(own_home: Path) -> None:
    run(own_home, "init", "-q", "empty")
    assert await Git().keep(own_home / "empty", "api", "1") is None


async def test_an_amended_commit_is_known_but_on_no_branch(repository: Path) -> None:
    git = Git()
    first = run(repository, "rev-parse", "HEAD")
    amended = commit(repository, "again")
    run(repository, "commit", "-q", "--amend", "--allow-empty", "-m", "better")
    kept = run(repository, "rev-parse", "HEAD")
    run(repository, "branch", "other", amended)
    asked = (first, amended, kept, kept[:10], "f" * 40, "--all")
    reachable = [await git.reachable(repository, one) for one in asked]
    assert reachable == [True, True, True, True, False, False]
    run(repository, "branch", "-D", "other")
    assert await git.known(repository, amended)
    assert not await git.reachable(repository, amended)


async def test_what_is_pushed_is_as_of_the_last_fetch(repository: Path, tmp_path: Path) -> None:
    git = Git()
    assert await git.look.unpushed(repository) is None
    seen = await facts(repository)
    assert (seen.upstream, seen.ahead, seen.behind) == (None, None, None)
    remote, branch = tmp_path / "remote.git", run(repository, "symbolic-ref", "--short", "HEAD")
    run(tmp_path, "init", "-q", "--bare", str(remote))
    run(repository, "remote", "add", "origin", str(remote))
    run(repository, "push", "-q", "-u", "origin", branch)
    new = commit(repository, "not pushed")
    assert await git.look.unpushed(repository) == (new,)
    seen = await facts(repository)
    assert (seen.upstream, seen.ahead, seen.behind) == (f"origin/{branch}", 1, 0)
    run(repository, "update-ref", "-d", f"refs/remotes/origin/{branch}")
    seen = await facts(repository)
    assert (seen.upstream, seen.ahead, seen.behind) == (f"origin/{branch}", None, None)
