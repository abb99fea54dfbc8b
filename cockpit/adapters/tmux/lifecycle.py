"""Create, restart and remove sessions, windows and panes on the private server, with libtmux.

libtmux's objects call tmux through one method, `Server.cmd`. In libtmux, this method has no time
limit, finds tmux on the PATH of this process, passes this process's environment to tmux, ends a
command at a word that ends in `;`, and returns an empty answer for most errors. `PrivateServer.cmd`
runs the same commands through `TmuxCommand`, which has none of these problems and raises cockpit's
errors.

Two kinds of libtmux's methods are not used:

- Methods that list or refresh: `sessions`, `windows`, `panes`, `from_pane_id`, `refresh`, and
  `new_window`, `rename_window` and `resize`, which end with a listing. They do not go through
  `cmd`, and they separate a pane's fields with a character that can be in the pane's title.
- Methods that pass a program as one string: `new_session`, `new_window`, `respawn`. tmux gives such
  a string to a shell.

Loading libtmux takes longer than any of these operations, so this module is imported at its first
use (`TmuxServer.lifecycle`). All its functions block, so call them on a thread.
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

    The server runs the commands `then` in the same step as the operation, so no other client sees
    the state in between. All methods raise as `TmuxCommand.call` does.
    """

    def __init__(self, command: TmuxCommand) -> None:
        self.server = PrivateServer(command)
        self._session = libtmux.Session(server=self.server, session_name=SESSION)

    def new_window(self, name: str, argv: Command, *then: Command) -> list[str]:
        """Run a program in a new window after the last one; return the output of `then`.

        tmux expands `name` as a format, so the name must be checked before.
        """
        return self._session.cmd(
            "new-window", "-d", "-a", "-n", name, "--", *argv, *_chained(then),
            target=f"={SESSION}:{{end}}",
        ).stdout  # fmt: skip

    def respawn(self, pane: PaneId, argv: Command, *then: Command) -> list[str]:
        """Run a program in a pane whose previous program has ended; return the output of `then`."""
        return self._pane(pane).cmd("respawn-pane", "--", *argv, *_chained(then)).stdout

    def rename_window(self, pane: PaneId, name: str, *then: Command) -> None:
        """Rename a pane's window. tmux expands `name` as a format, so the name must be checked
        before."""
        self._pane(pane).cmd("rename-window", name, *_chained(then))

    def kill_pane(self, pane: PaneId) -> None:
        self._pane(pane).kill()

    def restore_session(self, *new: Command) -> None:
        """Create the main session again, if the server has lost it.

        If terminals have their own sessions, the new session shares the windows of these sessions.
        Otherwise, the commands `new` create the session.
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
    """A libtmux server whose objects call tmux through `TmuxCommand`."""

    def __init__(self, command: TmuxCommand) -> None:
        super().__init__(socket_path=command.socket, config_file=str(command.config))
        self._command = command

    def cmd(self, cmd: str, *args: Any, target: str | int | None = None) -> tmux_cmd:
        """Run a command; `THEN` among the arguments separates further commands.

        Raises as `TmuxCommand.call` does, so a returned answer is never an error.
        """
        chain = [[cmd, *(["-t", str(target)] if target is not None else [])]]
        for word in args:
            if word is THEN:
                chain.append([])
            else:
                chain[-1].append(str(word))
        return _Answer(self._command.argv(*chain), self._command.call(*chain))


class _Answer(tmux_cmd):
    """An answer in the form that libtmux's objects expect, without libtmux's constructor, which
    runs tmux."""

    def __init__(self, argv: list[str], lines: list[str]) -> None:
        self.cmd = argv
        self.stdout = lines
        self.stderr: list[str] = []
        self.returncode = 0


class _Then:
    def __repr__(self) -> str:
        return "THEN"


THEN: Final = _Then()
"""Separates two commands. An object, because the word `;` may be an argument."""


def _chained(commands: Sequence[Command]) -> list[object]:
    """Return the arguments that append these commands to another tmux command."""
    return [word for command in commands for word in (THEN, *command)]
