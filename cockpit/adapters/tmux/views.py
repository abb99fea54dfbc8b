"""Show the private tmux server's windows in the user's terminals.

Each attached terminal has its own session in the main session's group, with the same windows but
its own current window. The first window, the home window, has cockpit's screen; a key such as `F12`
shows it again. Works without a supervisor, and opens no agent's pane.

A session without a terminal is removed at the next attach. tmux's `destroy-unattached` is not used,
because with it a detach usually crashes tmux 3.3a and ends every agent. For the same reason, a
terminal is detached by ending its session.

This module calls tmux through `TmuxCommand` only: the user waits for these calls, and loading
libtmux would take longer than any of them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress

from cockpit.adapters.tmux.command import NoSession, ServerGone
from cockpit.adapters.tmux.config import (
    ASIDE,
    KEY_OPTION,
    LEAVES,
    NOTIFY_SCREEN,
    SESSION,
)
from cockpit.adapters.tmux.outer_terminal import is_kept
from cockpit.adapters.tmux.panes import LABEL_PATTERN, SETTLE, Tmux, check_pane, prepared
from cockpit.adapters.tmux.return_keys import KEYS_OPTION, key_label
from cockpit.adapters.tmux.server import HOME_OPTION, OPEN
from cockpit.adapters.tmux.window_options import (
    FAR_OPTION,
    HOME_WINDOW,
    OVER_SSH_OPTION,
    RETURN_OPTION,
)
from cockpit.core.charset import MOST, shows, shows_less, speaks_unicode
from cockpit.core.errors import BadUsage, Failed, NotNow
from cockpit.core.ids import PaneId
from cockpit.core.screen_overrides import asks_for_another, wishes
from cockpit.ports.panes import Launch, PaneGone, PaneOccupied, PanesSilent

HOME_ORDER = "home"
HOME = f"#{{pane_id}} #{{pane_dead}} #{{{HOME_OPTION}}}"
SHOWN_OPTION = "@cockpit_shown"
"""Option of the home window's pane: the capabilities of the terminal for which the screen was
opened."""
WISHES_OPTION = "@cockpit_wishes"
"""Option of the home window's pane: cockpit's display settings in the environment of the terminal
for which the screen was opened."""
COPIED = "cockpit-copied"
"""Name of the tmux buffer for text on its way to a clipboard."""
FAR = "#{window_id} #{pane_dead}"
TRUE_COLOR = ("truecolor", "24bit")


class TmuxViews:
    """Controls the home window and the attached terminals."""

    def __init__(self, tmux: Tmux) -> None:
        self.tmux = tmux

    async def home(self) -> tuple[PaneId, bool]:
        """Return the home window's pane, and whether its screen is running. Raises `PaneGone`
        without a home window."""
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
        """Start the screen in the home window, unless it is already running.

        Keeps the launch file, so that the key that leaves a pane (`pane.back`) can restart a screen
        that has ended.
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
                # tmux has not noticed the end of the previous process, or another client was first.
                if time.monotonic() > end:
                    raise
                await asyncio.sleep(0.01)
                pane, runs = await self.home()
        return pane

    async def needs_own_screen(self, environment: Mapping[str, str]) -> bool:
        """Return whether a terminal with this environment needs its own screen.

        True if the terminal cannot display the shared screen, or if `environment` has display
        settings that differ from those of the shared screen. Does not call tmux for a terminal with
        all capabilities and without such settings.
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
        """End the server if its only pane is the home window's. Idempotent."""
        single_pane = "#{&&:#{==:#{session_windows},1},#{==:#{window_panes},1}}"
        only_home = f"#{{&&:{single_pane},#{{{HOME_OPTION}}}}}"
        # A server that is exiting answers nothing.
        with suppress(ServerGone, NoSession, PanesSilent):
            await self.tmux.server.ask(
                ["if-shell", "-F", "-t", f"={SESSION}:", only_home, "kill-server"]
            )

    async def allow_passthrough(self) -> None:
        """Let the home window's screen send escape sequences through tmux to the terminals.

        tmux still drops such sequences from agents' panes. Raises `PaneGone`.
        """
        home, _ = await self.home()
        option = ["set-option", "-p", "-t", home, "allow-passthrough"]
        try:
            await self.tmux.server.ask([*option, "all"])
        except Failed:
            # tmux 3.3 has no `all`: only a window that a terminal shows may send sequences.
            await self.tmux.server.ask([*option, "on"])

    async def attach_command(
        self,
        pane: PaneId | None = None,
        environment: Mapping[str, str] | None = None,
        *,
        aside: bool = False,
    ) -> list[str]:
        """Return the argument vector that shows the home window, or a pane, in the caller's
        terminal.

        Removes sessions without a terminal first. Run the vector with this terminal as stdin and
        stdout, and without `TMUX` in the environment. `environment` is the terminal's environment,
        which determines true colour (COLORTERM), characters beyond ASCII (the language), and
        whether the user's own tmux uses the return key (`TMUX`). With `aside`, the return key ends
        the client, because one of cockpit's screens waits for the terminal. The return key also
        ends the client if no screen was ever opened in the home window. Raises `PaneGone`.
        """
        first, *others = await self._sweep() or ["F12"]
        window = f":{HOME_WINDOW}" if pane is None else f":{await self._window(pane)}"
        colors = (environment or {}).get("COLORTERM", "") in TRUE_COLOR
        around = environment or {}
        kept = bool(others) and await asyncio.to_thread(is_kept, first, around)
        usable: str = others[0] if kept else first
        back = ASIDE if aside else "" if pane is None or await self._has_screen() else LEAVES
        return self.tmux.command.argv(
            ["new-session", "-t", SESSION],
            *([["set-option", "status", "on"]] if pane is not None else []),
            *([["set-option", RETURN_OPTION, back]] if back else []),
            *([["set-option", KEY_OPTION, key_label(usable)]] if usable != first else []),
            ["select-window", "-t", window],
            ["set-option", OVER_SSH_OPTION, "yes" if "SSH_CONNECTION" in around else "no"],
            [*NOTIFY_SCREEN],
            flags=[
                *(["-u"] if speaks_unicode(environment or {}) else []),
                *(["-T", "RGB"] if colors else []),
            ],
        )

    async def show(self, pane: PaneId) -> None:
        """Show a pane in the terminal that shows the home window. If several terminals show the
        home window, use the most recently active one.

        Other terminals are not changed. Raises `PaneGone`, and `NotNow` if no terminal shows the
        home window.
        """
        window = await self._window(pane)
        session, client = await self._terminal_at_home()
        await self._select_window(client, session, window)

    async def _select_window(self, client: str, session: str, window: str) -> None:
        target = f"{session}:{window}"
        await self.tmux.server.ask(
            # Before the pane is shown, or it would be resized twice.
            ["set-option", "-t", session, "status", "on"],
            # Makes the window the terminal's current window.
            ["switch-client", "-c", client, "-t", target],
            # Makes tmux compute sizes again, so that the window gets the terminal's size.
            ["select-window", "-t", target],
        )

    async def show_remote(self, label: str, launch: Launch) -> None:
        """Show a window with the program of `launch`, which displays another machine's pane.

        The window appears in the terminal that `show` would use.

        There is one window per label. The return key closes the window if no other terminal shows
        it; the program then gets SIGHUP. The window is closed too when its program exits with 0.
        Raises as `show` does, and `BadUsage` for an invalid label.
        """
        session, client = await self._terminal_at_home()
        if not LABEL_PATTERN.fullmatch(label):
            raise BadUsage(
                f"{label!a} is not a valid window label", hint="Use letters, digits, - and _."
            )
        window = await self._remote_window(label) or await self._new_remote_window(label, launch)
        await self._select_window(client, session, window)

    async def detach(self, line: str = "") -> None:
        """Detach the terminal that `show` would use; with `line`, the terminal then shows this
        text.

        Raises `NotNow` if no terminal shows the home window. The client is replaced with a
        shell command: otherwise, tmux would print `[exited]` below the user's prompt.
        """
        import shlex

        session, client = await self._terminal_at_home()
        after = f"printf '%s\\n' {shlex.quote(line)}" if line else "exit 0"
        await self.tmux.server.ask(
            ["detach-client", "-t", client, "-E", after], ["kill-session", "-t", session]
        )

    async def copy(self, text: str) -> None:
        """Copy text to the clipboard of the terminal that `show` would use; tmux keeps no copy.

        Does not use the screen's own OSC 52, because tmux ignores OSC 52 from programs in panes.
        Raises `NotNow` if no terminal shows the home window.
        """
        _, client = await self._terminal_at_home()
        await self.tmux.server.ask(
            ["load-buffer", "-w", "-b", COPIED, "-t", client, "-"],
            ["delete-buffer", "-b", COPIED],
            stdin=text.encode(),
        )

    async def attached(self) -> int:
        """Return the number of attached terminals."""
        try:
            return len(await self.tmux.server.ask(["list-clients", "-F", "#{client_pid}"]))
        except (ServerGone, NoSession):
            return 0

    async def over_ssh(self) -> bool | None:
        """Return whether an attached terminal is connected over SSH; None if none is attached, or
        if an earlier version of cockpit attached all of them."""
        try:
            values = await self.tmux.server.ask(["list-clients", "-F", f"#{{{OVER_SSH_OPTION}}}"])
        except (ServerGone, NoSession):
            return None
        return "yes" in values if {"yes", "no"} & set(values) else None

    async def _has_screen(self) -> bool:
        """Return whether a screen was ever opened in the home window, even if it has ended."""
        lines = await self.tmux.server.ask(
            ["list-panes", "-a", "-f", f"#{{==:#{{{HOME_OPTION}}},{OPEN}}}", "-F", "#{pane_id}"]
        )
        return any(lines)

    async def _sweep(self) -> list[str]:
        """End sessions without a terminal; return tmux's names of the keys that go back."""
        lost = (
            f"#{{&&:#{{==:#{{session_group}},{SESSION}}},"
            f"#{{&&:#{{==:#{{session_attached}},0}},#{{!=:#{{session_name}},{SESSION}}}}}}}"
        )
        try:
            lines = await self.tmux.server.ask(
                ["show-options", "-gqv", KEYS_OPTION],
                ["list-sessions", "-f", lost, "-F", "#{session_id}"],
            )
        except (ServerGone, NoSession):
            return []
        # A session's id begins with $. A server of an earlier version has no `KEYS_OPTION`.
        for session in (line for line in lines if line.startswith("$")):
            with suppress(Failed):
                await self.tmux.server.ask(["kill-session", "-t", session])
        return [name for line in lines if not line.startswith("$") for name in line.split()]

    async def _terminal_at_home(self) -> tuple[str, str]:
        """Return session and name of the most recently active terminal that shows the home window.

        Raises `PaneGone`, and `NotNow` if no terminal shows the home window.
        """
        fields = "#{client_activity} #{window_index} #{session_id} #{client_name}"
        home, _ = await self.home()
        latest, *lines = await self.tmux.server.ask(
            ["display-message", "-p", "-t", home, "#{session_id}"],
            ["list-clients", "-F", fields],
        )
        clients = [line.split(" ", 3) for line in lines if line]
        at_home = [fields for fields in clients if fields[1] == str(HOME_WINDOW)]
        if not at_home:
            raise NotNow("No terminal shows cockpit's screen", hint="To open the screen: cockpit")
        # Activity is in whole seconds. For a pane that all sessions have, tmux reports the most
        # recently active session, which it knows to the microsecond.
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
        """Return the window with this label; None if there is none.

        Closes windows with this label whose program has ended.
        """
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
    """Return the commands that store, on the pane of a new screen, the capabilities and display
    settings of the terminal for which the screen is opened."""
    environment = launch.environment
    options = {SHOWN_OPTION: shows(environment), WISHES_OPTION: wishes(environment)}
    return [["set-option", "-p", "-t", home, name, value] for name, value in options.items()]
