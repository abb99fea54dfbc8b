"""All commands of `cockpit`, and what `cockpit` does without a command.

To add a command, write a function in the file of its group and list it in `COMMANDS`.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Sequence
from typing import Any

import click

from cockpit import __version__
from cockpit.cli.adopt import adopt
from cockpit.cli.answer import answer
from cockpit.cli.api import api
from cockpit.cli.approvals import approve, done, refuse, snooze
from cockpit.cli.completion import completion
from cockpit.cli.config_commands import config, init
from cockpit.cli.connect import attach, dial_stdio, send
from cockpit.cli.doctor import doctor
from cockpit.cli.events import events
from cockpit.cli.handoffs import continue_, handoff, undo
from cockpit.cli.help_format import use_help_format
from cockpit.cli.history import history, show
from cockpit.cli.hooks import hooks
from cockpit.cli.hosts_commands import hosts
from cockpit.cli.lifecycle import down, restart, start, stop, up
from cockpit.cli.mcp import mcp
from cockpit.cli.move import move, move_step
from cockpit.cli.offline import demo, facts, keys, redact, usage
from cockpit.cli.options import common_options, describe_options, with_common_options
from cockpit.cli.output import run_guarded
from cockpit.cli.put_away import forget, rename
from cockpit.cli.run import run_file
from cockpit.cli.serve import serve
from cockpit.cli.service import service
from cockpit.cli.setup import setup
from cockpit.cli.status_command import status
from cockpit.cli.wait import wait
from cockpit.cli.worktrees import worktrees
from cockpit.core.errors import BadUsage
from cockpit.core.safetext import quoted

COMMANDS: tuple[click.Command, ...] = (
    demo, init, up, restart, down, start, adopt, stop, forget, rename, attach, send, answer, status,
    wait, run_file, handoff, move, move_step, approve, refuse, snooze, done, undo, continue_,
    history, show, usage, facts, redact, events, worktrees, hosts, doctor, config, hooks, keys,
    completion, dial_stdio, mcp, serve, api, service, setup,
)  # fmt: skip


class Commands(click.Group):
    """Lists commands in the order that a new user needs them, and suggests similar names."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            near = " or ".join(f"cockpit {name}" for name in self._near(args[0]))
            hint = f"Did you mean: {near}?" if near else "List all commands: cockpit --help"
            raise BadUsage(f"Unknown command {quoted(args[0])}", hint=hint)
        return super().resolve_command(ctx, args)

    def _near(self, word: str) -> list[str]:
        """Return up to three commands that start with `word`, else the most similar one, if any."""
        begun = [name for name in self.commands if name.startswith(word.lower())]
        return begun[:3] or difflib.get_close_matches(word.lower(), self.commands, n=1)


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Try it, no account needed:   cockpit demo
In your repository:          cockpit init; cockpit start NAME; cockpit
Check your setup:            cockpit doctor

\b
Exit codes: 0 done, 1 failed, 2 bad usage or bad config, 3 no such agent, session or
document, 4 no supervisor, 5 not possible now (with the reason), 6 a required program is
missing.""",
)
@with_common_options
@click.option("--direct", is_flag=True, help="Run the screen in this terminal instead of in tmux.")
@click.option("--in-home-window", is_flag=True, hidden=True)
@click.version_option(__version__, "-V", "--version", message="cockpit %(version)s")
@click.pass_context
def cockpit(context: click.Context, direct: bool, in_home_window: bool) -> Any:
    """Run many coding agents in one terminal, and hand each job to a new session before the
    context is full.

    Without a command, starts the supervisor if needed, and opens the screen.
    """
    if context.invoked_subcommand is not None:
        return 0
    from cockpit.cli.requests import remote_host

    config = common_options().config
    if host := remote_host():
        from cockpit.cli.screen_modes import show_remote

        return show_remote(host, config)
    if in_home_window:
        from cockpit.cli.screen_modes import show_in_home_window as show
    elif direct:
        from cockpit.cli.screen_modes import show_here as show
    else:
        from cockpit.cli.screen import open_screen as show
    return show(config)


for _command in COMMANDS:
    cockpit.add_command(_command)
describe_options(cockpit)
use_help_format(cockpit)


def run(arguments: Sequence[str]) -> int:
    """Run the given command line; return the exit code."""
    return run_guarded(lambda: _run(list(arguments)))


def _run(arguments: list[str]) -> int:
    try:
        code = cockpit.main(arguments, prog_name="cockpit", standalone_mode=False)
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as error:
        error.show(sys.stderr)
        return error.exit_code
    return code if isinstance(code, int) else 0
