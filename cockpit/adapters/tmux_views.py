"""What a pilot's terminal shows of the private tmux server.

Each attach is a session of its own beside the main one: it has the same windows and its own choice
among them. The first window holds the cockpit's own screen; `F12` goes back to it. Needs no
supervisor; opens no agent's pane.

A session that lost its terminal is removed at the next attach, not by tmux's `destroy-unattached`:
together with a detach that option kills the server of tmux 3.3a, and every agent with it, more
often than not. For the same reason a terminal is let go by ending its session.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress

from cockpit.adapters.around import is_kept
from cockpit.adapters.tmux import LABEL_PATTERN, SETTLE, Tmux, check_pane, prepared
from cockpit.adapters.tmux_command import NoSession, ServerGone
from cockpit.adapters.tmux_config import (
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
from cockpit.adapters.tmux_server import HOME_OPTION, OPEN
from cockpit.core.charset import MOST, shows, shows_less, speaks_unicode
from cockpit.core.errors import BadUsage, Failed, NotNow
from cockpit.core.ids import PaneId
from cockpit.core.own_wishes import asks_for_another, wishes
from cockpit.ports.panes import Launch, PaneGone, PaneOccupied

HOME_ORDER = "home"
HOME = f"#{{pane_id}} #{{pane_dead}} #{{{HOME_OPTION}}}"
SHOWN_OPTION = "@cockpit_shown"
"""On the home window's pane: what the terminal can show that its screen was opened for."""
WISHES_OPTION = "@cockpit_wishes"
"""The same of what that terminal asked for."""
FAR = "#{window_id} #{pane_dead}"
TRUE_COLOR = ("truecolor", "24bit")


class TmuxViews:
    """The home window, and the terminals that are attached."""

    def __init__(self, tmux: Tmux) -> None:
        self.tmux = tmux

    async def home(self) -> tuple[PaneId, bool]:
        """The home window's pane, and whether its screen runs. Raises `PaneGone` if it is lost."""
        try:
            lines = await self.tmux.server.ask(
                ["list-panes", "-a", "-f", f"#{{{HOME_OPTION}}}", "-F", HOME]
            )
        except (ServerGone, NoSession):
            lines = []
        if not lines:
            raise PaneGone("The home window is gone")
        identity, dead, state = lines[0].split(" ")
        return PaneId(identity), dead == "0" and state == OPEN

    async def open_home(self, launch: Launch) -> PaneId:
        """Make sure that the screen runs in the home window. One that runs is left alone.

        The launch is kept: the return key starts it again when it has died.
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
                    *_drawn_for(pane, launch),
                )
                break
            except PaneOccupied:
                # Its last process has only just ended, or another terminal was quicker.
                if time.monotonic() > end:
                    raise
                await asyncio.sleep(0.01)
                pane, runs = await self.home()
        return pane

    async def is_not_for(self, environment: Mapping[str, str]) -> bool:
        """Whether a terminal with this environment needs a screen of its own.

        It cannot show what the one there draws, or must not, or asks for another look. One that can
        show everything and asks for nothing is answered without asking tmux.
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

    async def forsake(self) -> None:
        """End the server if it holds the home window and nothing else. Twice is as once."""
        alone = "#{==:#{session_windows},1}"
        with suppress(ServerGone, NoSession):
            await self.tmux.server.ask(
                ["if-shell", "-F", "-t", f"={SESSION}:", alone, "kill-server"]
            )

    async def let_home_through(self) -> None:
        """Let the screen in the home window say things to the terminals that tmux has no word for.

        Nobody else's pane may: what an agent's program writes stays in its pane. Raises `PaneGone`.
        """
        home, _ = await self.home()
        option = ["set-option", "-p", "-t", home, "allow-passthrough"]
        try:
            await self.tmux.server.ask([*option, "all"])
        except Failed:
            # Before tmux 3.4 only a window that somebody looks at can be let through.
            await self.tmux.server.ask([*option, "on"])

    async def attach_command(
        self,
        pane: PaneId | None = None,
        environment: Mapping[str, str] | None = None,
        *,
        aside: bool = False,
    ) -> list[str]:
        """The argument vector that shows the home window, or a pane, in the caller's terminal.

        Sessions that have lost their terminal are removed first. The vector is to be executed with
        that terminal as standard input and output and without `TMUX` in the environment.
        `environment` is the terminal's own: its COLORTERM says whether it has true colour, its
        language whether tmux has to put something in the place of what is not ASCII, and its
        `TMUX` whether a tmux of the pilot's keeps the return key. With `aside` a screen of ours
        waits for that terminal, and the return key gives it back; so it does where no screen was
        ever opened in the home window. Raises `PaneGone`.
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
        """Turn the terminal that was last typed in, of those at the home window, to a pane.

        Nobody else's terminal moves. Raises `PaneGone`, and `NotNow` when no terminal is there.
        """
        window = await self._window(pane)
        session, client = await self._pilot()
        await self._turn(client, f"{session}:{window}")

    async def _turn(self, client: str, target: str) -> None:
        await self.tmux.server.ask(
            # This makes the window the terminal's own, and the size of it counts there at once...
            ["switch-client", "-c", client, "-t", target],
            # ...that is, as soon as something has sizes worked out again.
            ["select-window", "-t", target],
        )

    async def show_far(self, label: str, launch: Launch) -> None:
        """Turn that terminal to a window in which this runs: a pane on another machine.

        One window a label, which the return key closes behind the last who looks at it; the
        program is hung up by that. One that ends well closes its window itself. Raises as `show`
        does, and `BadUsage` for a label that is none.
        """
        session, client = await self._pilot()
        if not LABEL_PATTERN.fullmatch(label):
            raise BadUsage(f"{label!a} cannot be the label of a window")
        window = await self._far_window(label) or await self._new_far_window(label, launch)
        await self._turn(client, f"{session}:{window}")

    async def detach(self) -> None:
        """Let go of the terminal that `show` would turn. Raises `NotNow` when there is none."""
        session, _ = await self._pilot()
        await self.tmux.server.ask(["kill-session", "-t", session])

    async def attached(self) -> int:
        """How many terminals are attached."""
        try:
            return len(await self.tmux.server.ask(["list-clients", "-F", "#{client_pid}"]))
        except (ServerGone, NoSession):
            return 0

    async def _has_screen(self) -> bool:
        """Whether a screen was opened in the home window; a dead one is begun again by the key."""
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

    async def _pilot(self) -> tuple[str, str]:
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
        # Activity is told by the second. Asked for a pane that all have, tmux itself names the
        # session that was typed in last, and knows that to the microsecond.
        _, _, session, client = max(
            at_home, key=lambda fields: (fields[2] == latest, int(fields[0]))
        )
        return session, client

    async def _window(self, pane: PaneId) -> str:
        check_pane(pane)
        try:
            lines = await self.tmux.server.ask(["list-panes", "-t", pane, "-F", "#{window_id}"])
        except (ServerGone, NoSession) as error:
            raise PaneGone("The pane is gone", error.detail) from error
        return lines[0]

    async def _far_window(self, label: str) -> str | None:
        """The window of that label whose program runs; one in which it has ended is closed."""
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

    async def _new_far_window(self, label: str, launch: Launch) -> str:
        argv = self.tmux.orders.command(prepared(launch))
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
            *_drawn_for(home, launch),
            ["display-message", "-p", "-t", home, "#{pane_id}"],
        )
        return PaneId(lines[0])


def _drawn_for(home: str, launch: Launch) -> list[list[str]]:
    """Have it kept what kind of terminal a screen was opened for."""
    asked = launch.environment
    kept = {SHOWN_OPTION: shows(asked), WISHES_OPTION: wishes(asked)}
    return [["set-option", "-p", "-t", home, name, value] for name, value in kept.items()]
