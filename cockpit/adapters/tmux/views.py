"""Show the private tmux server's windows in the user's terminals.

Each attached terminal has its own session in the main session's group: the same windows, its own
current window. The first window has the cockpit's screen; `F12` goes back to it. Works without a
supervisor, and opens no agent's pane.

A session without a terminal is removed at the next attach, not by tmux's `destroy-unattached`: with
that option a detach usually crashes tmux 3.3a, and ends every agent. For the same reason a terminal
is detached by ending its session.

Every call is a chain of `TmuxCommand`: these run in processes that the user waits for, and loading
libtmux takes longer than any of them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress

from cockpit.adapters.tmux.command import NoSession, ServerGone
from cockpit.adapters.tmux.config import (
    ASIDE,
    FAR_OPTION,
    HOME_WINDOW,
    KEY_OPTION,
    LEAVES,
    OTHER_SPOKEN,
    RETURN_KEY,
    RETURN_OPTION,
    SESSION,
)
from cockpit.adapters.tmux.outer_terminal import is_kept
from cockpit.adapters.tmux.panes import LABEL_PATTERN, SETTLE, Tmux, check_pane, prepared
from cockpit.adapters.tmux.server import HOME_OPTION, OPEN
from cockpit.core.charset import MOST, shows, shows_less, speaks_unicode
from cockpit.core.errors import BadUsage, Failed, NotNow
from cockpit.core.ids import PaneId
from cockpit.core.own_wishes import asks_for_another, wishes
from cockpit.ports.panes import Launch, PaneGone, PaneOccupied

HOME_ORDER = "home"
HOME = f"#{{pane_id}} #{{pane_dead}} #{{{HOME_OPTION}}}"
SHOWN_OPTION = "@cockpit_shown"
"""Option of the home window's pane: what the terminal can show that the screen was opened for."""
WISHES_OPTION = "@cockpit_wishes"
"""Option of the home window's pane: what that terminal asked for."""
FAR = "#{window_id} #{pane_dead}"
TRUE_COLOR = ("truecolor", "24bit")


class TmuxViews:
    """The home window, and the terminals that are attached."""

    def __init__(self, tmux: Tmux) -> None:
        self.tmux = tmux

    async def home(self) -> tuple[PaneId, bool]:
        """The home window's pane, and whether its screen runs. Raises `PaneGone` without one."""
        try:
            lines = await self.tmux.server.ask(
                ["list-panes", "-a", "-f", f"#{{{HOME_OPTION}}}", "-F", HOME]
            )
        except (ServerGone, NoSession):
            lines = []
        if not lines:
            raise PaneGone("The home window no longer exists")
        identity, dead, state = lines[0].split(" ")
        return PaneId(identity), dead == "0" and state == OPEN

    async def open_home(self, launch: Launch) -> PaneId:
        """Start the screen in the home window, unless it runs.

        The launch is kept: the return key starts a screen again that has ended.
        """
        await self.tmux.start_server()
        argv = self.tmux.orders.command(prepared(launch), kept_as=HOME_ORDER)
        try:
            pane, runs = await self.home()
        except PaneGone:
            return await self._new_home(argv, launch)
        end = time.monotonic() + SETTLE
        while not runs:
            try:
                await self.tmux.server.ask(
                    ["respawn-pane", "-t", pane, "--", *argv],
                    ["set-option", "-p", "-t", pane, HOME_OPTION, OPEN],
                    *_screen_options(pane, launch),
                )
                break
            except PaneOccupied:
                # tmux has not noticed the end of the last process, or another terminal was first.
                if time.monotonic() > end:
                    raise
                await asyncio.sleep(0.01)
                pane, runs = await self.home()
        return pane

    async def needs_own_screen(self, environment: Mapping[str, str]) -> bool:
        """Whether a terminal with this environment needs its own screen.

        That is so where it cannot show what the screen draws, or asks for another look. tmux is not
        asked for a terminal that can show everything and asks for nothing.
        """
        if not (shows_less(environment, MOST) or asks_for_another(environment, "")):
            return False
        kept = f"#{{{SHOWN_OPTION}}} #{{{WISHES_OPTION}}}"
        lines = await self.tmux.server.ask(
            ["list-panes", "-a", "-f", f"#{{{HOME_OPTION}}}", "-F", kept]
        )
        homes = [line.partition(" ") for line in lines]
        return any(
            shows_less(environment, shown) or asks_for_another(environment, wanted)
            for shown, _, wanted in homes
        )

    async def end_if_unused(self) -> None:
        """End the server if it has only the home window. Idempotent."""
        alone = "#{==:#{session_windows},1}"
        with suppress(ServerGone, NoSession):
            await self.tmux.server.ask(
                ["if-shell", "-F", "-t", f"={SESSION}:", alone, "kill-server"]
            )

    async def allow_passthrough(self) -> None:
        """Let the screen in the home window send the terminals sequences that tmux does not know.

        No agent's pane may do that. Raises `PaneGone`.
        """
        home, _ = await self.home()
        option = ["set-option", "-p", "-t", home, "allow-passthrough"]
        try:
            await self.tmux.server.ask([*option, "all"])
        except Failed:
            # tmux 3.3 has no `all`: only a window that a terminal shows may send.
            await self.tmux.server.ask([*option, "on"])

    async def attach_command(
        self,
        pane: PaneId | None = None,
        environment: Mapping[str, str] | None = None,
        *,
        aside: bool = False,
    ) -> list[str]:
        """The argument vector that shows the home window, or a pane, in the caller's terminal.

        Removes sessions without a terminal first. Run the vector with that terminal as standard
        input and output, and without `TMUX` in the environment. `environment` is the terminal's
        own: COLORTERM says whether it has true colour, the language whether it shows more than
        ASCII, and `TMUX` whether a tmux of the user's takes the return key. With `aside` the return
        key ends the client, because a screen of ours waits for the terminal; it also does where no
        screen was ever opened in the home window. Raises `PaneGone`.
        """
        await self._sweep()
        window = f":{HOME_WINDOW}" if pane is None else f":{await self._window(pane)}"
        colors = (environment or {}).get("COLORTERM", "") in TRUE_COLOR
        kept_from_us = await asyncio.to_thread(is_kept, RETURN_KEY, environment or {})
        back = ASIDE if aside else "" if pane is None or await self._has_screen() else LEAVES
        return self.tmux.command.argv(
            ["new-session", "-t", SESSION],
            *([["set-option", RETURN_OPTION, back]] if back else []),
            *([["set-option", KEY_OPTION, OTHER_SPOKEN]] if kept_from_us else []),
            ["select-window", "-t", window],
            flags=[
                *(["-u"] if speaks_unicode(environment or {}) else []),
                *(["-T", "RGB"] if colors else []),
            ],
        )

    async def show(self, pane: PaneId) -> None:
        """Show a pane in the terminal at the home window that was typed in last.

        Other terminals stay as they are. Raises `PaneGone`, and `NotNow` without such a terminal.
        """
        window = await self._window(pane)
        session, client = await self._terminal_at_home()
        await self._select_window(client, f"{session}:{window}")

    async def _select_window(self, client: str, target: str) -> None:
        await self.tmux.server.ask(
            # This makes it the terminal's current window, whose size it takes...
            ["switch-client", "-c", client, "-t", target],
            # ...once tmux works sizes out again, which this makes it do.
            ["select-window", "-t", target],
        )

    async def show_remote(self, label: str, launch: Launch) -> None:
        """Show a window in that terminal in which this runs: a pane on another machine.

        There is one window for each label. The return key closes it when no other terminal shows
        it, which hangs up the program; a program that ends with status 0 closes it too. Raises as
        `show` does, and `BadUsage` for an invalid label.
        """
        session, client = await self._terminal_at_home()
        if not LABEL_PATTERN.fullmatch(label):
            raise BadUsage(f"{label!a} is not a valid label of a window")
        window = await self._remote_window(label) or await self._new_remote_window(label, launch)
        await self._select_window(client, f"{session}:{window}")

    async def detach(self) -> None:
        """Detach the terminal that `show` would use. Raises `NotNow` without one."""
        session, _ = await self._terminal_at_home()
        await self.tmux.server.ask(["kill-session", "-t", session])

    async def attached(self) -> int:
        """The number of attached terminals."""
        try:
            return len(await self.tmux.server.ask(["list-clients", "-F", "#{client_pid}"]))
        except (ServerGone, NoSession):
            return 0

    async def _has_screen(self) -> bool:
        """Whether a screen was ever opened in the home window, even if it has ended."""
        lines = await self.tmux.server.ask(
            ["list-panes", "-a", "-f", f"#{{==:#{{{HOME_OPTION}}},{OPEN}}}", "-F", "#{pane_id}"]
        )
        return any(lines)

    async def _sweep(self) -> None:
        lost = (
            f"#{{&&:#{{==:#{{session_group}},{SESSION}}},"
            f"#{{&&:#{{==:#{{session_attached}},0}},#{{!=:#{{session_name}},{SESSION}}}}}}}"
        )
        try:
            lines = await self.tmux.server.ask(["list-sessions", "-f", lost, "-F", "#{session_id}"])
        except (ServerGone, NoSession):
            return
        for session in filter(None, lines):
            with suppress(Failed):
                await self.tmux.server.ask(["kill-session", "-t", session])

    async def _terminal_at_home(self) -> tuple[str, str]:
        """Session and name of the terminal at the home window that was active last."""
        fields = "#{client_activity} #{window_index} #{session_id} #{client_name}"
        home, _ = await self.home()
        latest, *lines = await self.tmux.server.ask(
            ["display-message", "-p", "-t", home, "#{session_id}"],
            ["list-clients", "-F", fields],
        )
        here = [line.split(" ", 3) for line in lines if line]
        at_home = [fields for fields in here if fields[1] == str(HOME_WINDOW)]
        if not at_home:
            raise NotNow("No terminal shows the cockpit", hint="Attach one: cockpit")
        # Activity is given in whole seconds. For a pane that all sessions have, tmux names the
        # session that was typed in last, which it knows to the microsecond.
        _, _, session, client = max(
            at_home, key=lambda fields: (fields[2] == latest, int(fields[0]))
        )
        return session, client

    async def _window(self, pane: PaneId) -> str:
        check_pane(pane)
        try:
            lines = await self.tmux.server.ask(["list-panes", "-t", pane, "-F", "#{window_id}"])
        except (ServerGone, NoSession) as error:
            raise PaneGone("The pane no longer exists", error.detail) from error
        return lines[0]

    async def _remote_window(self, label: str) -> str | None:
        """The window of that label. Closes one whose program has ended."""
        lines = await self.tmux.server.ask(
            ["list-panes", "-a", "-f", f"#{{==:#{{{FAR_OPTION}}},{label}}}", "-F", FAR]
        )
        # A window is listed once for each session that shows it.
        for line in set(filter(None, lines)):
            window, dead = line.split(" ")
            if dead == "0":
                return window
            await self.tmux.server.ask(["kill-window", "-t", window])
        return None

    async def _new_remote_window(self, label: str, launch: Launch) -> str:
        argv = await asyncio.to_thread(self.tmux.orders.command, prepared(launch))
        last = f"={SESSION}:{{end}}"
        lines = await self.tmux.server.ask(
            ["new-window", "-d", "-a", "-t", last, "-n", label, "--", *argv],
            ["set-option", "-w", "-t", last, FAR_OPTION, label],
            ["set-option", "-w", "-t", last, "remain-on-exit", "failed"],
            ["display-message", "-p", "-t", last, "#{window_id}"],
        )
        return lines[-1]

    async def _new_home(self, argv: list[str], launch: Launch) -> PaneId:
        home = f"={SESSION}:{HOME_WINDOW}"
        lines = await self.tmux.server.ask(
            ["new-window", "-d", "-k", "-t", home, "-n", SESSION, "--", *argv],
            ["set-option", "-p", "-t", home, HOME_OPTION, OPEN],
            *_screen_options(home, launch),
            ["display-message", "-p", "-t", home, "#{pane_id}"],
        )
        return PaneId(lines[0])


def _screen_options(home: str, launch: Launch) -> list[list[str]]:
    """Commands that keep what the terminal can show that a screen is opened for."""
    asked = launch.environment
    kept = {SHOWN_OPTION: shows(asked), WISHES_OPTION: wishes(asked)}
    return [["set-option", "-p", "-t", home, name, value] for name, value in kept.items()]
