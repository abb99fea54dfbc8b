"""Find the commits of a session, from the session's transcript and from git.

git decides which commits exist. The transcript only shows which commits belong to the session: by
hash, or by subject if the commit was rebased, cherry-picked, amended, or made without printing its
hash.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from cockpit.core.facts import CommitMade

UNPUSHED_READ = 200
"""Maximum unpushed commits that are read from git."""


def session_commits(
    recorded: Sequence[CommitMade],
    quiet: Collection[str],
    in_git: Sequence[CommitMade],
    lost: Collection[str],
) -> tuple[CommitMade, ...]:
    """Return the session's commits, oldest first; recorded commits that `in_git` lacks come first.

    `quiet` are the subjects in `Facts.quiet_commits`. `in_git` are the commits on the branch since
    the session began, oldest first. `lost` are recorded hashes that no branch has now.
    """
    subjects = {made.subject for made in recorded} | set(quiet)
    own = [
        made
        for made in in_git
        if made.subject in subjects
        or any(same_commit(made.hash, commit.hash) for commit in recorded)
    ]
    own_subjects = {made.subject for made in own}
    others = [
        made
        for made in recorded
        if made.hash not in lost
        and made.subject not in own_subjects
        and not any(same_commit(made.hash, commit.hash) for commit in own)
    ]
    return (*others, *own)


def with_pushed(
    commits: Sequence[CommitMade], unpushed: Sequence[str] | None
) -> tuple[CommitMade, ...]:
    """Return the commits with `pushed` set: whether a remote branch has the commit.

    `unpushed` are the commits of local branches that no remote branch has; None leaves `pushed`
    unchanged. With `UNPUSHED_READ` entries, `unpushed` may be incomplete: then `pushed` is None for
    the commits that are not in `unpushed`.
    """
    if unpushed is None:
        return tuple(commits)
    others = True if len(unpushed) < UNPUSHED_READ else None
    return tuple(
        replace(
            made,
            pushed=False if any(same_commit(made.hash, commit) for commit in unpushed) else others,
        )
        for made in commits
    )


def same_commit(one: str, other: str) -> bool:
    """Return whether two hashes, full or shortened, can belong to the same commit."""
    return bool(one and other) and (one.startswith(other) or other.startswith(one))
