"""`cockpit worktrees`: list worktrees, and remove one without losing work."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from cockpit.cli.agent_names import agent_names
from cockpit.cli.options import with_common_options
from cockpit.cli.output import json_text


@click.group(
    invoke_without_command=True,
    epilog="""\b
Examples:
  cockpit worktrees                       agent, age, changes, size, and what blocks removal
  cockpit worktrees --json
  cockpit worktrees remove api            when the job of api is over; the branch stays
  cockpit worktrees remove api --salvage  even with unsaved work, which is saved in git

\b
cockpit creates a worktree when it starts an agent with worktree.strategy =
"git_worktree" (or with `start --worktree`). The worktree stays across handoffs, until you remove
it. If a removal is refused, the message lists each reason and what to do about it.""",
)
@with_common_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def worktrees(context: click.Context, as_json: bool) -> int:
    """List and remove the worktrees of your agents.

    Covers the repositories of all agents, and the repository that you are in.
    """
    if context.invoked_subcommand is not None:
        return 0
    from cockpit.cli.requests import remote_host, with_client
    from cockpit.tui.present.worktrees import Sizes, lines

    here = str(Path.cwd()) if remote_host() is None else None
    if not as_json and sys.stdout.isatty():
        _print_at_once(here)
        return 0
    trees = with_client(lambda client: client.worktrees(here, sizes=True))
    if as_json:
        print(json_text([tree.model_dump() for tree in trees]))
        return 0
    now = datetime.now(UTC)
    print(
        "\n".join(line for tree in trees for line in lines(tree, now, Sizes.MEASURED))
        or "No worktrees."
    )
    return 0


def _print_at_once(here: str | None) -> None:
    """Print the worktrees at once, and their sizes later: measuring takes up to half a minute."""
    from cockpit.cli.requests import with_client
    from cockpit.tui.present.worktrees import lines, size_lines

    trees = with_client(lambda client: client.worktrees(here))
    now = datetime.now(UTC)
    print("\n".join(line for tree in trees for line in lines(tree, now)) or "No worktrees.")
    if not trees:
        return
    print("\nMeasuring sizes…", end="", flush=True)
    try:
        measured = with_client(lambda client: client.worktrees(here, sizes=True))
    finally:
        print("\r\x1b[K", end="", flush=True)
    print("\n".join(size_lines(measured)))


@worktrees.command(
    epilog="""\b
Examples:
  cockpit worktrees remove api
  cockpit worktrees remove .worktrees/api --salvage
  cockpit worktrees remove api --salvage --leave-out node_modules

Every removal first saves the worktree under refs/cockpit/salvage/AGENT/TIME: its commit and all
uncommitted files, including staged, untracked and ignored ones, except those of --leave-out. To
restore the files:

\b
  cockpit worktrees restore REFERENCE NEW-FOLDER"""
)
@with_common_options
@click.argument("tree", metavar="NAME|PATH", shell_complete=agent_names)
@click.option(
    "--salvage",
    is_flag=True,
    help="Remove the worktree even if it has unsaved work, which is then saved in git.",
)
@click.option("--salvage-only", is_flag=True, help="Save the work in git; remove nothing.")
@click.option(
    "--leave-out",
    metavar="NAME",
    multiple=True,
    help="Do not save this ignored file or folder, such as node_modules. Repeatable.",
)
def remove(tree: str, salvage: bool, salvage_only: bool, leave_out: tuple[str, ...]) -> int:
    """Remove a worktree that cockpit created; its branch stays.

    Refuses, and prints each reason with the next step, if the worktree has:

    \b
      - uncommitted or ignored files
      - commits that are not pushed or merged
      - a running process or agent
      - an agent whose job is not over
      - an unfinished git operation
      - a lock that is not cockpit's
      - other repositories inside

    Also refuses a worktree that cockpit did not create.
    """
    from cockpit.cli.requests import ask, remote_host, require_absolute_path
    from cockpit.wire.verbs import RemoveWorktree

    if _is_path(tree):
        require_absolute_path(Path(tree), "The worktree")
    named = tree if not _is_path(tree) else str(Path(tree).absolute())
    done = ask(
        RemoveWorktree(
            tree=named,
            cwd=str(Path.cwd()) if remote_host() is None else None,
            salvage=salvage,
            salvage_only=salvage_only,
            leave_out=list(leave_out),
            pid=os.getpid() if remote_host() is None else None,
        )
    )
    if done.text:
        print(done.text)
    return 0


@worktrees.command(
    short_help="Restore the files of a removed worktree into FOLDER.",
    epilog="""\b
Examples:
  cockpit worktrees restore refs/cockpit/salvage/api/20261122T020000Z ../api-files
  git for-each-ref refs/cockpit/salvage      list all references

\b
To recreate the worktree on its branch:
  git worktree add --no-checkout ../again agent/api
  cockpit worktrees restore refs/cockpit/salvage/api/20261122T020000Z ../again
  git -C ../again reset -q

\b
Use this command, not git restore, git checkout or git archive: the git commands may change
bytes if attributes convert line endings or encodings. The parents of commit REFERENCE hold the
staged files, and the commits that were only in the worktree's reflog.
To list the parents: git log --graph REFERENCE""",
)
@with_common_options
@click.argument("reference")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--repository",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Repository of REFERENCE; default: FOLDER if it is a worktree, else the current "
    "directory.",
)
def restore(reference: str, folder: Path, repository: Path | None) -> int:
    """Restore the files of a removed worktree into FOLDER, byte for byte.

    FOLDER must be new, empty, or a worktree without files (git worktree add --no-checkout).
    """
    import asyncio

    from cockpit.adapters.git.worktrees import Git
    from cockpit.cli.requests import remote_host
    from cockpit.core.errors import BadUsage
    from cockpit.core.plurals import counted

    if (host := remote_host()) is not None:
        raise BadUsage(
            "--host does not work here: run the command on the machine that has the repository",
            "",
            f"Run the command on {host.name}, without --host.",
        )
    target = folder.absolute()
    source = repository or (target if (target / ".git").exists() else Path.cwd())
    count = asyncio.run(Git().restore(source.absolute(), reference, target))
    print(f"Restored {counted(count, 'file')} into {target}")
    return 0


def _is_path(tree: str) -> bool:
    """Return whether the argument is a path: `./api` is a path, `api` is an agent."""
    return os.sep in tree or tree in (".", "..")
