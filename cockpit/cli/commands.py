"""Every command, gathered under `cockpit`; and what `cockpit` does when none is named.

A command is a function in the file of its group; adding one is writing it there and naming it
in `COMMANDS`.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Sequence
from typing import Any

import click

from cockpit import __version__
from cockpit.cli.answers import approve, refuse, snooze
from cockpit.cli.completion import completion
from cockpit.cli.doctor import doctor
from cockpit.cli.events import events
from cockpit.cli.handoffs import continue_, handoff, undo
from cockpit.cli.history import history, show
from cockpit.cli.hooks import hooks
from cockpit.cli.lifecycle import down, start, stop, up
from cockpit.cli.looking import dial_stdio, status
from cockpit.cli.offline import demo, facts, keys, usage
from cockpit.cli.options import asked, everywhere
from cockpit.cli.serving import serve
from cockpit.cli.settings import config, init
from cockpit.cli.speech import guarded
from cockpit.cli.talking import attach, send
from cockpit.cli.worktrees import worktrees
from cockpit.core.errors import BadUsage
from cockpit.core.safetext import quoted

COMMANDS: tuple[click.Command, ...] = (
    demo, init, up, down, start, stop, attach, send, status, handoff, approve, refuse, snooze,
    undo, continue_, history, show, usage, facts, events, worktrees, doctor, config, hooks, keys,
    completion, dial_stdio, serve,
)  # fmt: skip


class Commands(click.Group):
    """The group keeps the order in which a newcomer meets the commands, and knows near misses."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            near = " or ".join(f"cockpit {name}" for name in self._near(args[0]))
            hint = f"Did you mean: {near}" if near else "All of them: cockpit --help"
            raise BadUsage(f"There is no command {quoted(args[0])}", hint=hint)
        return super().resolve_command(ctx, args)

    def _near(self, word: str) -> list[str]:
        """The commands that a word is the beginning of, else the one that looks most like it."""
        begun = [name for name in self.commands if name.startswith(word.lower())]
        return begun[:3] or difflib.get_close_matches(word.lower(), self.commands, n=1)


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
First flight, no account needed:   cockpit demo
In your repository:                cockpit init; cockpit start NAME; cockpit
Is this machine fit:               cockpit doctor

\b
Exit codes: 0 done, 1 failed, 2 bad usage or bad config, 3 no such agent, 4 no supervisor,
5 not now (with the reason), 6 a needed program is missing.""",
)
@everywhere
@click.option("--direct", is_flag=True, help="Run the screen in this terminal, not under tmux.")
@click.option("--in-home-window", is_flag=True, hidden=True)
@click.version_option(__version__, "-V", "--version", message="cockpit %(version)s")
@click.pass_context
def cockpit(context: click.Context, direct: bool, in_home_window: bool) -> Any:
    """Fly many coding agents in one terminal, and hand each on before its context fills.

    Without a command: the screen. It starts what does not run yet, then attaches.
    """
    if context.invoked_subcommand is not None:
        return 0
    from cockpit.cli.asking import far_host

    config = asked().config
    if host := far_host():
        from cockpit.cli.showing import show_far

        return show_far(host, config)
    if in_home_window:
        from cockpit.cli.showing import show_in_home_window as show
    elif direct:
        from cockpit.cli.showing import show_here as show
    else:
        from cockpit.cli.screen import open_screen as show
    return show(config)


for _command in COMMANDS:
    cockpit.add_command(_command)


def run(arguments: Sequence[str]) -> int:
    """Run what was typed; answers the exit code."""
    return guarded(lambda: _run(list(arguments)))


def _run(arguments: list[str]) -> int:
    try:
        code = cockpit.main(arguments, prog_name="cockpit", standalone_mode=False)
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as error:
        error.show(sys.stderr)
        return error.exit_code
    return code if isinstance(code, int) else 0
