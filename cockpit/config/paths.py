"""The paths of all files and folders of cockpit on this machine.

Reads only the environment. Creates nothing before `Places.make`. Uses the standard library only,
because the fast commands (`status`, attaching) import this module.
"""

from __future__ import annotations

import os
import pwd
import stat
from collections.abc import Mapping
from pathlib import Path

from cockpit.config.kernel import USES_LINUX
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.errors import BadUsage, Failed

SOCKET_PATH_BYTES = 107 if USES_LINUX else 103
"""Maximum bytes of a unix socket's path, without the NUL at its end."""
DEMO_VARIABLE = "COCKPIT_DEMO"
"""The environment variable that marks the programs of a demo."""
KEPT = "kept"
"""Value of `DEMO_VARIABLE` if the demo keeps its folder."""


@dataclass(frozen=True, slots=True)
class Places:
    """The folders of one installation and the files in them; all paths are absolute."""

    config: Path
    """The user's configuration folder, with `cockpit.toml` and `themes/`. Created only when a
    setting, a host or an agent is saved there."""
    state: Path
    """Folder for persistent data: database, documents, spool, logs. Mode 0700."""
    runtime: Path
    """Folder for sockets. Mode 0700."""
    home: Path | None = None
    """The value of `COCKPIT_HOME`, as an absolute path; None if the variable is not set. If set, it
    determines `config`, `state` and `runtime`, and is passed to panes."""
    runtime_from: str = "COCKPIT_HOME"
    """Name of the environment variable that determines the folder of the sockets."""

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Places:
        """Return the paths for these environment variables.

        A relative `COCKPIT_HOME` is relative to the current directory; relative XDG variables are
        ignored, as their specification requires.
        """
        if home_text := environment.get("COCKPIT_HOME"):
            home = Path(os.path.abspath(home_text))  # noqa: PTH100 - resolve() would follow links
            return cls(home, home / "state", home / "run", home)
        user = Path(environment.get("HOME") or pwd.getpwuid(os.getuid()).pw_dir)
        config = _xdg(environment, "XDG_CONFIG_HOME", user / ".config")
        state = _xdg(environment, "XDG_STATE_HOME", user / ".local" / "state")
        sockets = environment.get("XDG_RUNTIME_DIR", "")
        if sockets.startswith("/"):
            return cls(config, state, Path(sockets) / "cockpit", None, "XDG_RUNTIME_DIR")
        longest = "XDG_STATE_HOME" if environment.get("XDG_STATE_HOME") else "HOME"
        return cls(config, state, state / "run", None, longest)

    @property
    def user_file(self) -> Path:
        """The user's own `cockpit.toml`."""
        return self.config / "cockpit.toml"

    @property
    def themes(self) -> Path:
        """The folder of the user's own themes."""
        return self.config / "themes"

    @property
    def database(self) -> Path:
        return self.state / "cockpit.db"

    @property
    def handoffs(self) -> Path:
        """Folder for copies of all documents, in case a worktree is deleted."""
        return self.state / "handoffs"

    @property
    def spool(self) -> Path:
        """Folder for reports from hook scripts to the supervisor."""
        return self.state / "spool"

    @property
    def verdicts(self) -> Path:
        """Folder for hook responses from the supervisor: `verdicts/<agent>/<event>`."""
        return self.state / "verdicts"

    @property
    def sessions(self) -> Path:
        """Folder for files that are passed to a session's CLI at its start."""
        return self.state / "sessions"

    @property
    def prompts(self) -> Path:
        """Folder for first prompts, until the CLI has read them."""
        return self.state / "prompts"

    @property
    def logs(self) -> Path:
        return self.state / "logs"

    @property
    def trusted(self) -> Path:
        """File with the hashes of the project files that the user trusted."""
        return self.state / "trusted.json"

    @property
    def last_rows(self) -> Path:
        """File with the agents' last published rows, shown while the supervisor starts."""
        return self.state / "rows.json"

    @property
    def lease(self) -> Path:
        """The lock file that allows only one supervisor for this state folder."""
        return self.state / "supervisor.lock"

    @property
    def socket(self) -> Path:
        """The supervisor's socket."""
        return self.runtime / "cockpit.sock"

    @property
    def tmux_socket(self) -> Path:
        """The private tmux server's socket."""
        return self.runtime / "tmux.sock"

    @property
    def tmux_config(self) -> Path:
        return self.state / "tmux.conf"

    def check_sockets(self) -> None:
        """Raise `BadUsage` if a socket's path is too long; the error names the variable to
        shorten."""
        longest = max((self.socket, self.tmux_socket), key=lambda path: len(os.fsencode(path)))
        length = len(os.fsencode(longest))
        if length <= SOCKET_PATH_BYTES:
            return
        raise BadUsage(
            f"A socket's path would be {length} bytes long",
            f"{longest} is longer than the {SOCKET_PATH_BYTES} bytes that unix sockets allow.",
            f"Shorten {self.runtime_from}.",
        )

    def check_home(self) -> None:
        """Raise `Failed` if another user owns or can write `COCKPIT_HOME`."""
        if self.home is not None:
            _check_home(self.home)

    def make(self) -> None:
        """Create the state and socket folders with mode 0700. Idempotent.

        Folders that already exist get this mode too. `COCKPIT_HOME` itself is not changed, because
        it may have other uses. Raises `BadUsage` for socket paths that are too long. Raises
        `Failed` for a folder that is a symlink, belongs to another user, or is not a folder, and
        for a `COCKPIT_HOME` that others can write: they could read or change cockpit's files.
        """
        self.check_sockets()
        self.check_home()
        for folder in (
            self.state,
            self.runtime,
            self.handoffs,
            self.spool,
            self.verdicts,
            self.sessions,
            self.logs,
        ):
            _make_private(folder)

    def make_runtime(self) -> None:
        """Create the socket folder again, with mode 0700, after another program removed it.

        Raises `Failed` if the folder cannot be created. Does not create the parent folder: if the
        parent is missing, `COCKPIT_HOME` itself was removed.
        """
        _make_private(self.runtime, parents=False)


def _xdg(environment: Mapping[str, str], variable: str, otherwise: Path) -> Path:
    value = environment.get(variable, "")
    return (Path(value) if value.startswith("/") else otherwise) / "cockpit"


def _check_home(home: Path) -> None:
    """Raise `Failed` if another user owns or can write this folder: that user could add a
    configuration."""
    try:
        entry = home.stat()
    except OSError:
        # A missing folder is created with 0700, or the check of the folder below reports the error.
        return
    if entry.st_uid != os.geteuid():
        raise Failed(
            f"COCKPIT_HOME belongs to another user: {home}",
            f"The folder's owner is user {entry.st_uid}; cockpit runs as user {os.geteuid()}.",
            "Set COCKPIT_HOME to a folder of your own.",
        )
    if entry.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        from shlex import quote  # imports `re`, which `status` does not need

        raise Failed(
            f"Other users can write to COCKPIT_HOME: {home}",
            f"The folder's mode is {stat.S_IMODE(entry.st_mode):04o}; other users could change "
            "what cockpit runs.",
            f"chmod go-w {quote(str(home))}",
        )


def _make_private(folder: Path, *, parents: bool = True) -> None:
    try:
        if parents:
            folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        # Opened without following links, so that the checked folder is the one changed.
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise _refusal(folder, error) from None
    try:
        entry = os.fstat(handle)
        if entry.st_uid != os.geteuid():
            raise Failed(
                f"{folder} belongs to another user",
                f"The folder's owner is user {entry.st_uid}; cockpit runs as user {os.geteuid()}.",
                "Remove the folder, or set COCKPIT_HOME to another folder.",
            )
        if stat.S_IMODE(entry.st_mode) != 0o700:
            os.fchmod(handle, 0o700)
    finally:
        os.close(handle)


def _refusal(folder: Path, error: OSError) -> Failed:
    if folder.is_symlink():
        return Failed(
            f"{folder} is a symbolic link",
            "cockpit does not keep its state in a folder that a link could redirect.",
            "Remove the link, or set COCKPIT_HOME to the real folder.",
        )
    return Failed(
        f"Cannot use {folder} as a folder",
        error.strerror or str(error),
        "Check the path and its permissions, or set COCKPIT_HOME to another folder.",
    )
