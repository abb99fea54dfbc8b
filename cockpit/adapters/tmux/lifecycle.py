"""Create, restart and remove sessions, windows and panes on the private server, with libtmux.

libtmux's objects call tmux through one method, `Server.cmd`. libtmux's own version has no time
limit, finds tmux on the PATH of this process, gives it this process's environment, ends a command
at a word that ends in `;`, and returns an empty answer for most errors. `PrivateServer.cmd` runs
the same commands through `TmuxCommand`, which has none of these faults and raises our errors.

Two kinds of libtmux's methods are not used here:

- Those that list or refresh: `sessions`, `windows`, `panes`, `from_pane_id`, `refresh`, and
  `new_window`, `rename_window` and `resize`, which end with a listing. They do not go through
  `cmd`, and they separate a pane's fields with a character that a program can put into its title.
- Those that take a program as one string: `new_session`, `new_window`, `respawn`. tmux gives such
  a string to a shell.

Loading libtmux takes longer than any step here, so this module is imported late
(`TmuxServer.lifecycle`). Everything in it blocks and belongs on a thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import libtmux
from libtmux.common import tmux_cmd

from cockpit.adapters.tmux.command import NoSession, TmuxCommand
from cockpit.adapters.tmux.config import SESSION
from cockpit.core.ids import PaneId

Command = Sequence[str]

IN_OUR_GROUP = f"#{{==:#{{session_group}},{SESSION}}}"


class Lifecycle:
    """Operations on one private server's sessions, windows and panes.

    The commands `then` run in the same step of the server, so nobody sees the state between. All
    methods raise as `TmuxCommand.call` does.
    """

    def __init__(self, command: TmuxCommand) -> None:
        self.server = PrivateServer(command)
        self._session = libtmux.Session(server=self.server, session_name=SESSION)

    def new_window(self, name: str, argv: Command, *then: Command) -> list[str]:
        """Run a program in a new window at the end; what `then` printed.

        tmux expands `name` as a format: give only a name that was checked for that.
        """
        return self._session.cmd(
            "new-window", "-d", "-a", "-n", name, "--", *argv, *_chained(then),
            target=f"={SESSION}:{{end}}",
        ).stdout  # fmt: skip

    def respawn(self, pane: PaneId, argv: Command, *then: Command) -> list[str]:
        """Run a program in a pane whose last program has ended; what `then` printed."""
        return self._pane(pane).cmd("respawn-pane", "--", *argv, *_chained(then)).stdout

    def kill_pane(self, pane: PaneId) -> None:
        self._pane(pane).kill()

    def restore_session(self, *new: Command) -> None:
        """Create the session again on a server that has lost it.

        It shares the windows of the terminals' own sessions where there are any. Where there are
        none, the commands `new` create it.
        """
        try:
            beside = self.server.cmd("list-sessions", "-f", IN_OUR_GROUP, "-F", "#{session_id}")
            shared = any(beside.stdout)
        except NoSession:
            shared = False
        first, *then = [("new-session", "-d", "-s", SESSION, "-t", SESSION)] if shared else new
        self.server.cmd(*first, *_chained(then))

    def _pane(self, pane: PaneId) -> libtmux.Pane:
        return libtmux.Pane(server=self.server, pane_id=pane)


class PrivateServer(libtmux.Server):
    """A libtmux server whose objects reach tmux through `TmuxCommand`."""

    def __init__(self, command: TmuxCommand) -> None:
        super().__init__(socket_path=command.socket, config_file=str(command.config))
        self._command = command

    def cmd(self, cmd: str, *args: Any, target: str | int | None = None) -> tmux_cmd:
        """Run a command, and after each `THEN` among the arguments another one.

        Raises as `TmuxCommand.call` does, so an answer that comes back is never an error.
        """
        chain = [[cmd, *(["-t", str(target)] if target is not None else [])]]
        for word in args:
            if word is THEN:
                chain.append([])
            else:
                chain[-1].append(str(word))
        return _Answer(self._command.argv(*chain), self._command.call(*chain))


class _Answer(tmux_cmd):
    """An answer in the form that libtmux's objects expect. libtmux's own constructor runs tmux."""

    def __init__(self, argv: list[str], lines: list[str]) -> None:
        self.cmd = argv
        self.stdout = lines
        self.stderr: list[str] = []
        self.returncode = 0


class _Then:
    def __repr__(self) -> str:
        return "THEN"


THEN: Final = _Then()
"""Between two commands of a chain. An object, because the word `;` may be an argument."""


def _chained(commands: Sequence[Command]) -> list[object]:
    """The commands as further arguments of the one before them."""
    return [word for command in commands for word in (THEN, *command)]
