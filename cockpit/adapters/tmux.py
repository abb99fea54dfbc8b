"""Panes on a private tmux server: `ports.panes.Panes` over real tmux.

Everything goes by pane id; what a pane was opened as stands in an option of the pane. Text for a
process goes through a file or a buffer, never through an argument. Who ends processes and what a
pilot's terminal shows is decided elsewhere (`processes`, `tmux_views`).
"""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from cockpit.adapters import process_table
from cockpit.adapters.launch_order import LaunchOrders
from cockpit.adapters.processes import LocalProcesses
from cockpit.adapters.tmux_command import NoSession, ServerGone, TmuxCommand
from cockpit.adapters.tmux_config import SESSION, terminal_name
from cockpit.adapters.tmux_server import TmuxServer
from cockpit.core import sgr
from cockpit.core.errors import BadUsage, CockpitError
from cockpit.core.ids import NAME_PATTERN, PaneId
from cockpit.core.safetext import typeable
from cockpit.ports.panes import Launch, Pane, PaneGone, PaneOccupied, PanesSilent, Screen

LABEL = "@cockpit_label"
LABEL_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@/+-]{0,99}")
PANE_PATTERN = re.compile(r"%[0-9]{1,9}")
KEY_PATTERN = re.compile(
    r"Enter|Escape|Tab|BTab|Space|BSpace|Up|Down|Left|Right|Home|End|PPage|NPage|DC|IC"
    r"|F[1-9]|F1[0-2]|[CM]-[a-z]"
)
LOOK = (
    "#{pane_id} #{pane_pid} #{pane_dead} s#{pane_dead_status} g#{pane_dead_signal}"
    f" #{{pane_width}} #{{pane_height}} #{{{LABEL}}}"
)
SETTLE = 2.0
"""Seconds that tmux gets to notice the end of a process that is known to be gone."""
POKES = 3
"""How often the server is reminded of an ended child before its status counts as unknown."""


class Tmux:
    """The panes of one private server. Safe to use from many tasks at once."""

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
        """`environment` is where the server's few variables come from; `orders` a private folder.

        `config` is written by us at each start of the server.
        """
        self.command = TmuxCommand(socket, config, environment, program, deadline)
        self.processes = processes or LocalProcesses()
        self.server = TmuxServer(self.command, self.processes)
        self.orders = LaunchOrders(orders or config.parent / "orders")
        self._server: int | None = None

    async def start_server(self) -> int:
        pid, fresh = await self.server.start()
        if fresh:
            # What is younger may be about to start in this very server.
            self.orders.sweep(older_than=60.0)
        self._server = pid
        return pid

    async def server_pid(self) -> int | None:
        self._server = await self.server.pid()
        return self._server

    async def look(self) -> dict[PaneId, Pane]:
        """Panes whose process has ended carry its status, unless tmux has lost it for good."""
        panes = await self._list()
        for _ in range(POKES):
            if not any(self._status_is_lost(pane) for pane in panes.values()):
                break
            await self.server.collect()
            await asyncio.sleep(0.02)
            panes = await self._list()
        return panes

    async def open(self, label: str, launch: Launch) -> Pane:
        """Raises `BadUsage` for a label that is not letters, digits and `._:@/+-`."""
        if not LABEL_PATTERN.fullmatch(label):
            raise BadUsage(f"{label!a} cannot be the label of a pane")
        argv = self.orders.command(prepared(launch))
        name = label if NAME_PATTERN.fullmatch(label) else "agent"
        last = f"={SESSION}:{{end}}"
        # One chain is one step of the server: no window of ours is ever seen without its label.
        chain = [
            ["new-window", "-d", "-a", "-t", last, "-n", name, "--", *argv],
            ["set-option", "-p", "-t", last, LABEL, label],
            ["list-panes", "-t", last, "-F", LOOK],
        ]
        try:
            lines = await self.server.ask(*chain)
        except (NoSession, ServerGone, PaneGone):
            await self.start_server()
            lines = await self.server.ask(*chain)
        return parsed(lines[-1])

    async def reopen(self, pane: PaneId, launch: Launch) -> Pane:
        """The pane keeps its id, window and history. The start directory is the launch's own."""
        check_pane(pane)
        await self._wait_until_free(pane)
        argv = self.orders.command(prepared(launch))
        lines = await self._ask(
            ["respawn-pane", "-t", pane, "--", *argv],
            ["list-panes", "-t", pane, "-f", f"#{{==:#{{pane_id}},{pane}}}", "-F", LOOK],
        )
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
        """A pane that is scrolled back is brought to its end first. Raises `PaneGone` for a dead
        one: tmux <= 3.4 crashes where it pastes into one, and takes every agent along.
        """
        check_pane(pane)
        buffer = f"cockpit-{secrets.token_hex(8)}"
        paste = f"paste-buffer -p -r -d -b {buffer} -t {pane}"
        try:
            said = await self._ask(
                ["copy-mode", "-q", "-t", pane],
                ["load-buffer", "-b", buffer, "-"],
                ["if-shell", "-F", "-t", pane, "#{pane_dead}", "display-message -p dead", paste],
                stdin=typeable(text).encode("utf-8", "replace"),
            )
            if any(said):
                raise PaneGone("Nothing runs in the pane any more", "Its process has ended.")
        except CockpitError:
            with suppress(CockpitError):
                await self.command.run(["delete-buffer", "-b", buffer])
            raise

    async def press(self, pane: PaneId, key: str) -> None:
        """Raises `BadUsage` for what is no key's name: tmux would type it out."""
        check_pane(pane)
        if not KEY_PATTERN.fullmatch(key):
            raise BadUsage(f"{key!a} is not the name of a key")
        await self._ask(["copy-mode", "-q", "-t", pane], ["send-keys", "-t", pane, key])

    async def hold_keys(self, pane: PaneId, seconds: float) -> None:
        """Keys of ours (`F12`) act all the same. The server itself lets the others in again."""
        check_pane(pane)
        again = ["run-shell", "-b", "-d", f"{seconds:g}", "-C", f"select-pane -e -t {pane}"]
        await self._ask(["select-pane", "-d", "-t", pane], again)

    async def resize(self, pane: PaneId, columns: int, rows: int) -> None:
        """A pilot who looks at the window later gives it their own size again."""
        check_pane(pane)
        size = ["-x", str(min(max(columns, 2), 1000)), "-y", str(min(max(rows, 2), 1000))]
        await self._ask(
            ["resize-window", "-t", pane, *size],
            # Resizing makes the size fixed for ever; this lets it go again.
            ["set-option", "-w", "-u", "-t", pane, "window-size"],
        )

    async def close(self, pane: PaneId) -> None:
        """Raises `PaneOccupied` while its process lives: closing would only hang it up."""
        check_pane(pane)
        try:
            await self._wait_until_free(pane)
            await self._ask(["kill-pane", "-t", pane])
        except (PaneGone, ServerGone, NoSession):
            return

    async def stop_server(self) -> None:
        await self.server.stop()
        self.orders.sweep()
        self._server = None

    async def _ask(self, *commands: list[str], stdin: bytes = b"") -> list[str]:
        """About one pane: where there is no server or session, there is no pane either."""
        try:
            return await self.server.ask(*commands, stdin=stdin)
        except (ServerGone, NoSession) as error:
            raise PaneGone("The pane is gone", error.detail) from error

    async def _list(self) -> dict[PaneId, Pane]:
        try:
            lines = await self.server.ask(
                ["list-panes", "-a", "-f", f"#{{{LABEL}}}", "-F", LOOK],
            )
        except (ServerGone, NoSession):
            return {}
        # A window is listed once for each session that shows it.
        return {pane.id: pane for pane in map(parsed, filter(None, lines))}

    def _status_is_lost(self, pane: Pane) -> bool:
        if pane.exit_status is not None or pane.exit_signal is not None:
            return False
        entry = process_table.entry(pane.pid)
        # A pane whose terminal is closed while the process goes on has no status to lose.
        return entry is None or entry.ended

    async def _wait_until_free(self, pane: PaneId) -> None:
        """Until tmux says that the pane is dead and its process is. Raises as `reopen` does."""
        end = time.monotonic() + SETTLE
        while True:
            lines = await self._ask(
                ["list-panes", "-t", pane, "-F", f"{LOOK} #{{pid}}"],
            )
            line = next((line for line in lines if line.startswith(f"{pane} ")), None)
            if line is None:
                raise PaneGone("The pane is gone", f"There is no pane {pane}.")
            body, _, server = line.rpartition(" ")
            current = parsed(body)
            if self._holds(current.pid, int(server)):
                raise PaneOccupied(
                    f"The pane {pane} is still in use",
                    f"Process {current.pid} lives in it.",
                    "End it first.",
                )
            if current.dead:
                return
            if time.monotonic() > end:
                raise PanesSilent(f"tmux does not let go of the pane {pane}")
            await self.server.collect(int(server))
            await asyncio.sleep(0.02)

    def _holds(self, pid: int, server: int) -> bool:
        """Whether the pane's process lives; a pid that somebody else has by now does not count."""
        entry = process_table.entry(pid)
        return entry is not None and not entry.ended and entry.parent == server


def prepared(launch: Launch) -> Launch:
    """The launch with what only the pane knows: which terminal it is."""
    inside = {"TERM": terminal_name(), "COLORTERM": "truecolor"}
    kept = {n: v for n, v in launch.environment.items() if n not in ("TMUX", "TMUX_PANE")}
    return replace(launch, environment={**kept, **inside})


def parsed(line: str) -> Pane:
    """One line of `LOOK`. Raises `PanesSilent` for anything else."""
    try:
        identity, pid, dead, status, number, width, height, label = line.split(" ", 7)
        return Pane(
            PaneId(identity),
            label,
            int(pid or 0),
            dead == "1",
            exit_status=int(status[1:]) if status[1:] else None,
            exit_signal=int(number[1:]) if number[1:] else None,
            width=int(width),
            height=int(height),
        )
    except ValueError:
        raise PanesSilent("tmux answered something else than panes", f"{line!a:.200}") from None


def check_pane(pane: PaneId) -> None:
    """Refuse what is no pane id before tmux reads it as a target. Raises `PaneGone`."""
    if not PANE_PATTERN.fullmatch(pane):
        raise PaneGone("That is no pane", f"{pane!a:.200}")
