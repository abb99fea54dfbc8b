"""`cockpit worktrees`: what worktrees there are, and removing one without losing anything."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import click

from cockpit.cli.agent_names import agent_names
from cockpit.cli.options import everywhere


@click.group(
    invoke_without_command=True,
    epilog="""\b
Examples:
  cockpit worktrees                       whose, how old, how dirty, what stands against removal
  cockpit worktrees --json
  cockpit worktrees remove api            once its job is over; its branch stays
  cockpit worktrees remove api --salvage  although there is work in it, which is kept in git

\b
A worktree is made when an agent with strategy = "git_worktree" is started (or with
`start --worktree`), stays over all handoffs, and is removed by this command only.
Where a removal is refused it says by what, and what to do about each.""",
)
@everywhere
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def worktrees(context: click.Context, as_json: bool) -> int:
    """List the worktrees of your agents, and remove them.

    Of the repositories of all agents, and of the one that you are in.
    """
    if context.invoked_subcommand is not None:
        return 0
    from cockpit.cli.asking import far_host, with_client
    from cockpit.tui.present.worktrees import lines

    here = str(Path.cwd()) if far_host() is None else None
    found = with_client(lambda client: client.worktrees(here))
    if as_json:
        print(json.dumps([tree.model_dump() for tree in found], indent=2, ensure_ascii=False))
        return 0
    now = datetime.now(UTC)
    print("\n".join(line for tree in found for line in lines(tree, now)) or "No worktrees.")
    return 0


@worktrees.command(
    epilog="""\b
Examples:
  cockpit worktrees remove api
  cockpit worktrees remove .worktrees/api --salvage
  cockpit worktrees remove api --salvage --leave-out node_modules

\b
Before anything is removed, a reference refs/cockpit/salvage/AGENT/TIME keeps the commit it is on
and everything uncommitted in it, staged, untracked and ignored files too. To have it back:
  git worktree add PATH BRANCH; git -C PATH restore --source REFERENCE ."""
)
@everywhere
@click.argument("tree", metavar="NAME|PATH", shell_complete=agent_names)
@click.option(
    "--salvage", is_flag=True, help="Also one with work in it: all of that is kept in git first."
)
@click.option("--salvage-only", is_flag=True, help="Keep what is in it, and remove nothing.")
@click.option(
    "--leave-out",
    metavar="NAME",
    multiple=True,
    help="An ignored file or folder that need not be kept, such as node_modules.",
)
def remove(tree: str, salvage: bool, salvage_only: bool, leave_out: tuple[str, ...]) -> int:
    """Remove a worktree that cockpit has made; its branch stays.

    Refused, with each reason and its next step: uncommitted or ignored files, commits that are
    nowhere else, a process or an agent in it, a git operation half done, a lock of somebody
    else, other repositories inside, and worktrees that cockpit has not made.
    """
    from cockpit.cli.asking import ask, far_host, not_a_file_here
    from cockpit.wire.verbs import RemoveWorktree

    if _is_path(tree):
        not_a_file_here(Path(tree), "The worktree")
    named = tree if not _is_path(tree) else str(Path(tree).absolute())
    done = ask(
        RemoveWorktree(
            tree=named,
            cwd=str(Path.cwd()) if far_host() is None else None,
            salvage=salvage,
            salvage_only=salvage_only,
            leave_out=list(leave_out),
            pid=os.getpid() if far_host() is None else None,
        )
    )
    if done.text:
        print(done.text)
    return 0


def _is_path(tree: str) -> bool:
    """`api` is an agent; `./api` and `.worktrees/api` are folders."""
    return os.sep in tree or tree in (".", "..")
