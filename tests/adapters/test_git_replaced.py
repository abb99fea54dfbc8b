"""What a repository shows in the place of an object (refs/replace, grafts) deceives nobody."""

from __future__ import annotations

from pathlib import Path

from cockpit.adapters.git.worktrees import Git
from tests.adapters import test_git_salvage
from tests.adapters.test_git_salvage import commit, remove, restored, run

repository, tree = test_git_salvage.repository, test_git_salvage.tree


async def test_a_replaced_file_comes_back_as_it_was(
    repository: Path, tree: Path, own_home: Path
) -> None:
    (tree / "notes").write_text("mine\n")
    kept = run(tree, "hash-object", "-w", "notes")
    other = run(tree, "hash-object", "-w", "--stdin", given="theirs\n")
    run(repository, "replace", kept, other)
    reference = await remove(repository)
    await restored(repository, reference, own_home / "again")
    assert (own_home / "again" / "notes").read_text() == "mine\n"


async def test_facts_are_of_the_commits_that_are_pushed(repository: Path) -> None:
    first = run(repository, "rev-parse", "HEAD")
    (repository / "evil.sh").write_text("evil\n")
    run(repository, "add", ".")
    real = commit(repository, "Add evil")
    run(repository, "checkout", "-q", "--detach", first)
    (repository / "good").write_text("good\n")
    run(repository, "add", ".")
    fake = commit(repository, "Add good")
    run(repository, "checkout", "-q", "-f", real)
    run(repository, "replace", real, fake)
    facts = await Git().facts(repository, since_commit=first)
    assert facts.committed == ("evil.sh",)
    assert [one.subject for one in facts.commits] == ["Add evil"]
    assert facts.status == ()


async def test_history_is_what_the_commits_say(repository: Path) -> None:
    first = run(repository, "rev-parse", "HEAD")
    commit(repository, "two")
    third = commit(repository, "three")
    (repository / ".git" / "info" / "grafts").write_text(f"{third} {first}\n")
    facts = await Git().facts(repository, since_commit=first)
    assert [one.subject for one in facts.commits] == ["three", "two"]
