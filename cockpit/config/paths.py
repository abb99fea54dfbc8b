"""Where everything of cockpit's is on this machine.

Reads the environment and nothing else: no folder is looked at before `Places.make`. Standard
library only, because the quick commands (`status`, attaching) come through here.
"""

from __future__ import annotations

import os
import pwd
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cockpit.core.errors import BadUsage, Failed

SOCKET_PATH_BYTES = 107
"""The longest path a unix socket can have; the kernel's 108 include a closing NUL."""


@dataclass(frozen=True, slots=True)
class Places:
    """The folders of one cockpit, and what lies where in them; all paths are absolute."""

    config: Path
    """The pilot's own folder: `cockpit.toml`, `themes/`. Never made, only read."""
    state: Path
    """What must survive: database, documents, spool, logs. 0700."""
    runtime: Path
    """Sockets. 0700."""
    home: Path | None = None
    """`COCKPIT_HOME`, when it decided the three above; panes are told of it only then."""
    runtime_from: str = "COCKPIT_HOME"
    """The variable that decides how long a socket's path is."""

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Places:
        """The places that these variables name.

        A relative `COCKPIT_HOME` starts at the current directory; relative XDG variables are
        ignored, as their specification asks.
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
        """The pilot's own `cockpit.toml`."""
        return self.config / "cockpit.toml"

    @property
    def themes(self) -> Path:
        """The pilot's own themes."""
        return self.config / "themes"

    @property
    def database(self) -> Path:
        return self.state / "cockpit.db"

    @property
    def handoffs(self) -> Path:
        """A copy of every document, for when its worktree is gone."""
        return self.state / "handoffs"

    @property
    def spool(self) -> Path:
        """What the reporter leaves for the supervisor."""
        return self.state / "spool"

    @property
    def verdicts(self) -> Path:
        """What the supervisor leaves for the reporter: `verdicts/<agent>/<event>`."""
        return self.state / "verdicts"

    @property
    def sessions(self) -> Path:
        """Files that one session of a CLI is started with."""
        return self.state / "sessions"

    @property
    def logs(self) -> Path:
        return self.state / "logs"

    @property
    def trusted(self) -> Path:
        """The files of projects that the pilot trusted, by hash."""
        return self.state / "trusted.json"

    @property
    def lease(self) -> Path:
        """Locked by the one supervisor of this state folder."""
        return self.state / "supervisor.lock"

    @property
    def socket(self) -> Path:
        """Where the supervisor answers."""
        return self.runtime / "cockpit.sock"

    @property
    def tmux_socket(self) -> Path:
        """Of the private tmux server."""
        return self.runtime / "tmux.sock"

    @property
    def tmux_config(self) -> Path:
        return self.state / "tmux.conf"

    def check_sockets(self) -> None:
        """Refuse places whose sockets cannot be bound, before anything is made.

        Raises `BadUsage`, naming the variable to shorten.
        """
        longest = max((self.socket, self.tmux_socket), key=lambda path: len(os.fsencode(path)))
        length = len(os.fsencode(longest))
        if length <= SOCKET_PATH_BYTES:
            return
        raise BadUsage(
            f"The path of a socket would be {length} bytes long",
            f"{longest} is longer than the {SOCKET_PATH_BYTES} bytes a unix socket can have.",
            f"Shorten {self.runtime_from}.",
        )

    def make(self) -> None:
        """Make the folders of state and sockets, 0700; twice is the same as once.

        A folder of ours that is there already is closed to others; `COCKPIT_HOME` itself is not
        touched, because it may be a folder with a life of its own. Raises `BadUsage` for paths
        too long for a socket, and `Failed` for a folder that is a link, somebody else's, or no
        folder: whoever prepared it could read or change what we keep there.
        """
        self.check_sockets()
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


def _xdg(environment: Mapping[str, str], variable: str, otherwise: Path) -> Path:
    value = environment.get(variable, "")
    return (Path(value) if value.startswith("/") else otherwise) / "cockpit"


def _make_private(folder: Path) -> None:
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        # Opened without following links, so that what is checked is what is changed.
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise _refusal(folder, error) from None
    try:
        found = os.fstat(handle)
        if found.st_uid != os.geteuid():
            raise Failed(
                f"{folder} belongs to somebody else",
                f"Its owner is user {found.st_uid}; cockpit runs as user {os.geteuid()}.",
                "Remove it, or choose another place with COCKPIT_HOME.",
            )
        if stat.S_IMODE(found.st_mode) != 0o700:
            os.fchmod(handle, 0o700)
    finally:
        os.close(handle)


def _refusal(folder: Path, error: OSError) -> Failed:
    if folder.is_symlink():
        return Failed(
            f"{folder} is a symbolic link",
            "cockpit keeps its state only in folders that nothing can redirect.",
            "Remove the link, or name the real folder in COCKPIT_HOME.",
        )
    return Failed(
        f"{folder} cannot be used as a folder",
        error.strerror or str(error),
        "Make room for it, or choose another place with COCKPIT_HOME.",
    )
