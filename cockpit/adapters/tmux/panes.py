"""Implement `ports.panes.Panes` with the private tmux server.

A pane is identified by its id; its label is an option of the pane. Text for a process is passed
through a file or a buffer, never as an argument. libtmux opens, reopens, renames and closes panes
(`lifecycle.py`). Frequent queries, and changes that must be one step, use `TmuxCommand`.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from cockpit.adapters.process import process_table
from cockpit.adapters.process.launch_order import LaunchOrders
from cockpit.adapters.process.processes import LocalProcesses
from cockpit.adapters.tmux.command import NoSession, ServerGone, TmuxCommand
from cockpit.adapters.tmux.config import SESSION, terminal_name
from cockpit.adapters.tmux.server import HOME_OPTION, TmuxServer
from cockpit.core import sgr
from cockpit.core.errors import BadUsage, CockpitError
from cockpit.core.ids import NAME_PATTERN, PaneId
from cockpit.core.pane_keys import is_key
from cockpit.core.safetext import typeable
from cockpit.ports.panes import Launch, Pane, PaneGone, PaneOccupied, PanesSilent, Screen

if TYPE_CHECKING:
    from cockpit.adapters.tmux.lifecycle import Lifecycle

T = TypeVar("T")

LABEL = "@cockpit_label"
LABEL_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@/+-]{0,99}")
PANE_PATTERN = re.compile(r"%[0-9]{1,9}")
LOOK = (
    "#{pane_id} #{pane_pid} #{pane_dead} s#{pane_dead_status} g#{pane_dead_signal}"
    f" #{{pane_width}} #{{pane_height}} #{{{LABEL}}} #{{pane_title}}"
)
SETTLE = 2.0
"""Seconds within which tmux must notice that a process has ended."""
POKES = 3
"""Number of times that the server is asked to reap an ended child before the child's exit status is
reported as unknown."""


class Tmux:
    """Manages the panes of one private server. Safe to use from many tasks at once."""

    def __init__(
        self,
        socket: Path,
        config: Path,
        environment: Mapping[str, str],
        *,
        orders: Path | None = None,
        program: str = "tmux",
        processes: LocalProcesses | None = None,
        deadline: float = 5.0,
    ) -> None:
        """`environment` contains the server's variables; `orders` is a private folder for launch
        files. `config` is written at each start of the server.
        """
        self.command = TmuxCommand(socket, config, environment, program, deadline)
        self.processes = processes or LocalProcesses()
        self.server = TmuxServer(self.command, self.processes)
        self.orders = LaunchOrders(orders or config.parent / "orders")
        self._server: int | None = None

    async def start_server(self) -> int:
        pid, fresh = await self.server.start()
        if fresh:
            # A newer launch file may be about to be used.
            self.orders.sweep(older_than=60.0)
        self._server = pid
        return pid

    async def bind_return_keys(self, keys: Sequence[str]) -> None:
        await self.server.bind_return_keys(keys)

    async def prepare(self) -> None:
        await self.server.lifecycle()

    async def server_pid(self) -> int | None:
        self._server = await self.server.pid()
        return self._server

    async def home_pid(self) -> int | None:
        """Return the pid of the home window's process; None if there is none.

        None, too, if several panes are marked as the home window's.
        """
        try:
            lines = await self.server.ask(
                ["list-panes", "-a", "-f", f"#{{{HOME_OPTION}}}", "-F", "#{pane_pid}"]
            )
        except (ServerGone, NoSession):
            return None
        # tmux lists a window once per session that shows it.
        pids = {line for line in lines if line.isdecimal()}
        return int(pids.pop()) if len(pids) == 1 else None

    async def look(self) -> dict[PaneId, Pane]:
        """Return all panes with a label. A pane whose process has ended has an exit status or
        signal, unless tmux has lost both."""
        panes = await self._list()
        for _ in range(POKES):
            if not any(self._status_is_lost(pane) for pane in panes.values()):
                break
            await self.server.collect()
            await asyncio.sleep(0.02)
            panes = await self._list()
        return panes

    async def open(self, label: str, launch: Launch) -> Pane:
        """Start a process in a new window. Raises `BadUsage` for a label that does not match
        `LABEL_PATTERN`."""
        _check_label(label)
        # On a thread: writes files, and searches a prompt of any size for secrets.
        argv = await asyncio.to_thread(self.orders.command, prepared(launch))
        name = label if NAME_PATTERN.fullmatch(label) else "agent"
        last = f"={SESSION}:{{end}}"

        def open_window(lifecycle: Lifecycle) -> list[str]:
            # In one step, because a window without a label would not belong to an agent.
            return lifecycle.new_window(
                name,
                argv,
                ["set-option", "-p", "-t", last, LABEL, label],
                ["list-panes", "-t", last, "-F", LOOK],
            )

        try:
            lines = await self.server.act(open_window)
        except (NoSession, ServerGone, PaneGone):
            await self.start_server()
            lines = await self.server.act(open_window)
        return parsed(lines[-1])

    async def reopen(self, pane: PaneId, launch: Launch) -> Pane:
        """Start a process in a pane whose process has ended; see `Panes.reopen`. The pane keeps its
        id, window and history, and gets the launch's directory."""
        check_pane(pane)
        await self._wait_until_free(pane)
        # On a thread: writes files, and searches a prompt of any size for secrets.
        argv = await asyncio.to_thread(self.orders.command, prepared(launch))
        look = ["list-panes", "-t", pane, "-f", f"#{{==:#{{pane_id}},{pane}}}", "-F", LOOK]
        lines = await self._act(lambda lifecycle: lifecycle.respawn(pane, argv, look))
        return parsed(lines[-1])

    async def capture(self, pane: PaneId, *, history: int = 0) -> Screen:
        check_pane(pane)
        start = ["-S", str(-history)] if history > 0 else []
        lines = await self._ask(
            ["display-message", "-p", "-t", pane, "#{cursor_x} #{cursor_y} #{cursor_flag}"],
            ["capture-pane", "-e", "-p", "-t", pane, *start],
        )
        column, row, visible = lines[0].split(" ")
        return Screen(
            sgr.screen(lines[1:]),
            cursor_column=int(column),
            cursor_row=int(row),
            cursor_visible=visible == "1",
        )

    async def paste(self, pane: PaneId, text: str) -> None:
        """Leave copy mode, then paste the text. Raises `PaneGone` for a dead pane, because pasting
        into it crashes tmux <= 3.4 and ends every agent."""
        check_pane(pane)
        buffer = f"cockpit-{secrets.token_hex(8)}"
        paste = f"paste-buffer -p -r -d -b {buffer} -t {pane}"
        try:
            output = await self._ask(
                ["copy-mode", "-q", "-t", pane],
                ["load-buffer", "-b", buffer, "-"],
                ["if-shell", "-F", "-t", pane, "#{pane_dead}", "display-message -p dead", paste],
                stdin=typeable(text).encode("utf-8", "replace"),
            )
            if any(output):
                raise PaneGone("The pane's process has ended")
        except CockpitError:
            with suppress(CockpitError):
                await self.command.run(["delete-buffer", "-b", buffer])
            raise

    async def press(self, pane: PaneId, key: str) -> None:
        """Press a key. Raises `BadUsage` for a word that is not a key name, because tmux would type
        the word."""
        check_pane(pane)
        if not is_key(key):
            raise BadUsage(
                f"{key!a} is not a key name", hint="Use a tmux key name, such as Enter or C-c."
            )
        await self._ask(["copy-mode", "-q", "-t", pane], ["send-keys", "-t", pane, key])

    async def hold_keys(self, pane: PaneId, seconds: float) -> None:
        """Make tmux ignore the user's keys in a pane for this number of seconds.

        tmux accepts keys again even if the supervisor has ended. cockpit's own keys, such as `F12`,
        keep working.
        """
        check_pane(pane)
        again = ["run-shell", "-b", "-d", f"{seconds:g}", "-C", f"select-pane -e -t {pane}"]
        await self._ask(["select-pane", "-d", "-t", pane], again)

    async def relabel(self, pane: PaneId, label: str) -> None:
        """Change the label of a pane, and the name of its window. Raises `BadUsage` as `open`
        does."""
        check_pane(pane)
        _check_label(label)
        name = label if NAME_PATTERN.fullmatch(label) else "agent"
        option = ["set-option", "-p", "-t", pane, LABEL, label]
        await self._act(lambda lifecycle: lifecycle.rename_window(pane, name, option))

    async def close(self, pane: PaneId) -> None:
        """Close a pane, if it exists. Raises `PaneOccupied` while the pane's process is running,
        because tmux would only send SIGHUP to the process."""
        check_pane(pane)
        try:
            await self._wait_until_free(pane)
            await self._act(lambda lifecycle: lifecycle.kill_pane(pane))
        except (PaneGone, ServerGone, NoSession):
            return

    async def stop_server(self) -> None:
        await self.server.stop()
        self.orders.sweep()
        self._server = None

    async def _ask(self, *commands: list[str], stdin: bytes = b"") -> list[str]:
        """Run commands about one pane. Raises `PaneGone` if there is no server or session."""
        with _about_a_pane():
            return await self.server.ask(*commands, stdin=stdin)

    async def _act(self, step: Callable[[Lifecycle], T]) -> T:
        """Run a `Lifecycle` operation on one pane. Raises as `_ask` does."""
        with _about_a_pane():
            return await self.server.act(step)

    async def _list(self) -> dict[PaneId, Pane]:
        try:
            lines = await self.server.ask(
                ["list-panes", "-a", "-f", f"#{{{LABEL}}}", "-F", LOOK],
            )
        except (ServerGone, NoSession):
            return {}
        # tmux lists a window once per session that shows it.
        return {pane.id: pane for pane in map(parsed, filter(None, lines))}

    def _status_is_lost(self, pane: Pane) -> bool:
        if pane.exit_status is not None or pane.exit_signal is not None:
            return False
        entry = process_table.entry(pane.pid)
        # A pane whose terminal is closed while its process runs has no status yet.
        return entry is None or entry.ended

    async def _wait_until_free(self, pane: PaneId) -> None:
        """Wait until tmux has noticed that the pane's process has ended.

        Raises `PaneOccupied` if the process is running, `PaneGone`, and `PanesSilent` after
        `SETTLE`.
        """
        end = time.monotonic() + SETTLE
        while True:
            lines = await self._ask(
                ["list-panes", "-t", pane, "-F", f"{LOOK} #{{pid}}"],
            )
            line = next((line for line in lines if line.startswith(f"{pane} ")), None)
            if line is None:
                raise PaneGone("The pane no longer exists", f"No pane {pane}.")
            body, _, server = line.rpartition(" ")
            current = parsed(body)
            if self._holds(current.pid, int(server)):
                raise PaneOccupied(
                    f"The pane {pane} is still in use",
                    f"Process {current.pid} is running in the pane.",
                    "End the process first.",
                )
            if current.dead:
                return
            if time.monotonic() > end:
                raise PanesSilent(f"tmux has not released the pane {pane}")
            await self.server.collect(int(server))
            await asyncio.sleep(0.02)

    def _holds(self, pid: int, server: int) -> bool:
        """Return whether the pane's process is running. A later process with the same pid is not
        the pane's."""
        entry = process_table.entry(pid)
        return entry is not None and not entry.ended and entry.parent == server


@contextmanager
def _about_a_pane() -> Iterator[None]:
    try:
        yield
    except (ServerGone, NoSession) as error:
        raise PaneGone("The pane no longer exists", error.detail) from error


def prepared(launch: Launch) -> Launch:
    """Return the launch with a pane's `TERM` and `COLORTERM`, without the caller's `TMUX`."""
    inside = {"TERM": terminal_name(), "COLORTERM": "truecolor"}
    kept = {n: v for n, v in launch.environment.items() if n not in ("TMUX", "TMUX_PANE")}
    return replace(launch, environment={**kept, **inside})


def parsed(line: str) -> Pane:
    """Parse one line of tmux's output in the format `LOOK`. Raises `PanesSilent` for any other
    line."""
    try:
        identity, pid, dead, status, number, width, height, label, title = line.split(" ", 8)
        return Pane(
            PaneId(identity),
            label,
            int(pid or 0),
            dead == "1",
            exit_status=int(status[1:]) if status[1:] else None,
            exit_signal=int(number[1:]) if number[1:] else None,
            width=int(width),
            height=int(height),
            title=title,
        )
    except ValueError:
        raise PanesSilent("Unexpected answer from tmux", f"{line!a:.200}") from None


def _check_label(label: str) -> None:
    if not LABEL_PATTERN.fullmatch(label):
        raise BadUsage(f"{label!a} is not a valid pane label", hint="Use letters, digits, - and _.")


def check_pane(pane: PaneId) -> None:
    """Raise `PaneGone` for a text that is not a pane id, because tmux would read it as a target."""
    if not PANE_PATTERN.fullmatch(pane):
        raise PaneGone("Not a pane id", f"{pane!a:.200}")
