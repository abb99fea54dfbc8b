"""Correct the recorded commits of a session with git, and mark the pushed ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from cockpit.core.facts import CommitMade, Facts
from cockpit.core.session_commits import session_commits, with_pushed
from cockpit.ports.worktrees import GitFacts, Worktrees


async def with_commits(git: Worktrees, directory: Path, state: GitFacts, facts: Facts) -> Facts:
    """Return the facts with the session's commits corrected from git's history.

    Unchanged if commits are recorded and git has none of them. `state` must have the commits since
    the session began.
    """
    recorded = facts.commits
    if not any([await git.known(directory, made.hash) for made in recorded]) and recorded:
        return facts  # another clone, or another repository
    lost = [made.hash for made in recorded if not await git.reachable(directory, made.hash)]
    in_git = [CommitMade(commit.hash, commit.subject) for commit in reversed(state.commits)]
    own = session_commits(recorded, facts.quiet_commits, in_git, lost)
    own = with_pushed(own, await git.unpushed(directory))
    return replace(facts, commits=own)
