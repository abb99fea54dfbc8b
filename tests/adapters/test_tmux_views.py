"""What users see: their own choice of window, the way back, and a screen that survives them."""

from __future__ import annotations

import asyncio
import base64
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import libtmux
import pytest

from cockpit.adapters.tmux.panes import Tmux
from cockpit.adapters.tmux.views import TmuxViews
from cockpit.core.errors import BadUsage, NotNow
from cockpit.core.ids import PaneId
from cockpit.ports.panes import Launch, Pane, PaneGone

if TYPE_CHECKING:
    from tests.adapters.conftest import Terminal, Waiting

pytestmark = pytest.mark.tmux

F12 = b"\x1b[24~"
SCREEN = 'stty -echo; echo "the screen of $$"; exec cat'

OpenTerminal = Callable[..., "Terminal"]
Clients = Callable[[], dict[str, dict[str, Any]]]


def launch(directory: Path, code: str = SCREEN) -> Launch:
    home = os.environ["HOME"]
    environment = {"PATH": os.environ["PATH"], "HOME": home, "COCKPIT_RUN": home}
    return Launch(("/bin/sh", "-c", code), directory, environment)


@pytest.fixture
def views(tmux: Tmux) -> TmuxViews:
    return TmuxViews(tmux)


@pytest.fixture
def clients(tmux: Tmux) -> Clients:
    """Attached terminals by their tty, as another library sees them."""
    server = libtmux.Server(socket_path=str(tmux.command.socket))

    def look() -> dict[str, dict[str, Any]]:
        fields = "#{client_tty} #{session_name} #{window_index} #{client_width}x#{client_height}"
        lines = server.cmd("list-clients", "-F", fields).stdout
        rows = [line.split(" ") for line in lines]
        return {
            tty: {"session": name, "window": int(index), "size": size}
            for tty, name, index, size in rows
        }

    return look


def tty_of(terminal: Terminal) -> str:
    return str(Path(f"/proc/{terminal.process.pid}/fd/0").readlink())


async def opened(tmux: Tmux, directory: Path) -> list[Pane]:
    return [
        await tmux.open(name, launch(directory, f"echo I am {name}; exec cat")) for name in "ab"
    ]


async def test_the_screen_opens_once_in_the_first_window(
    views: TmuxViews, own_home: Path, waiting: Waiting
) -> None:
    with pytest.raises(PaneGone):
        await views.home()
    first, *rest = await asyncio.gather(*(views.open_home(launch(own_home)) for _ in range(4)))
    assert set(rest) == {first}
    assert await views.home() == (first, True)
    await waiting.shows(views.tmux, first, "the screen of")
    assert await views.tmux.look() == {}, "it is no agent"


async def test_a_screen_that_died_is_opened_again(
    views: TmuxViews, own_home: Path, waiting: Waiting
) -> None:
    pane = await views.open_home(launch(own_home, "exit 3"))
    async with asyncio.timeout(120):
        while (await views.home())[1]:
            await asyncio.sleep(0.01)
    assert await views.open_home(launch(own_home)) == pane
    await waiting.shows(views.tmux, pane, "the screen of")


async def test_a_home_window_that_was_closed_by_hand_comes_back(
    views: TmuxViews, own_home: Path, waiting: Waiting
) -> None:
    await opened(views.tmux, own_home)
    lost = await views.open_home(launch(own_home))
    await views.tmux.command.run(["kill-pane", "-t", lost])
    found = await views.open_home(launch(own_home))
    assert found != lost
    await waiting.shows(views.tmux, found, "the screen of")


async def test_a_server_is_ended_only_without_agents(views: TmuxViews, own_home: Path) -> None:
    await views.end_if_unused()  # there is none yet
    home = await views.open_home(launch(own_home))
    agents = await opened(views.tmux, own_home)
    await views.end_if_unused()
    # An agent's window can be the only one, if the home window was closed.
    for pane in (home, agents[0].id):
        await views.tmux.command.run(["kill-pane", "-t", pane])
        await views.end_if_unused()
    assert set(await views.tmux.look()) == {agents[1].id}
    await views.open_home(launch(own_home))
    await views.tmux.command.run(["kill-pane", "-t", agents[1].id])
    server = await views.tmux.server_pid()
    await views.end_if_unused()
    await views.end_if_unused()
    async with asyncio.timeout(120):
        while Path(f"/proc/{server}").exists():
            await asyncio.sleep(0.01)


async def test_a_user_goes_to_an_agent_and_comes_back(
    views: TmuxViews,
    own_home: Path,
    waiting: Waiting,
    terminal: OpenTerminal,
    clients: Clients,
) -> None:
    panes = await opened(views.tmux, own_home)
    await views.open_home(launch(own_home))
    with pytest.raises(NotNow):
        await views.show(panes[0].id)
    user = terminal(await views.attach_command())
    await waiting.until(lambda: b"the screen of" in user.seen)
    await views.show(panes[1].id)
    await waiting.until(lambda: b"I am b" in user.seen)
    await waiting.until(lambda: b"F12 back to the cockpit" in user.seen)
    user.type(b"typed by hand\r")
    await waiting.shows(views.tmux, panes[1].id, "typed by hand\ntyped by hand")
    assert [one["window"] for one in clients().values()] == [2]
    user.type(F12)
    await waiting.until(lambda: [one["window"] for one in clients().values()] == [0])
    await views.detach("2 agents' screen; $HOME")
    assert user.process.wait(60) == 0, user.seen[-300:]
    assert await views.attached() == 0
    user.read_rest()
    assert user.seen.endswith(b"2 agents' screen; $HOME\r\n"), user.seen[-300:]
    assert b"[exited]" not in user.seen, user.seen[-300:]


async def test_the_return_key_opens_a_screen_that_died(
    views: TmuxViews, own_home: Path, waiting: Waiting, terminal: OpenTerminal
) -> None:
    frail = f"[ -e {own_home}/again ] || {{ echo frail; read line; exit 1; }}; {SCREEN}"
    pane = await views.open_home(launch(own_home, frail))
    user = terminal(await views.attach_command())
    await waiting.until(lambda: b"frail" in user.seen)
    user.type(b"\r")

    async def says_why() -> bool:
        # Up to tmux 3.5 the server may have missed the end, and is reminded of it.
        await views.tmux.server.collect()
        return b"This process has ended with status 1. F12 goes back." in user.seen

    await waiting.until(says_why)
    (own_home / "again").touch()
    user.type(F12)
    await waiting.shows(views.tmux, pane, "the screen of")


async def test_an_own_key_goes_back_and_is_named_below_the_pane(
    views: TmuxViews,
    own_home: Path,
    waiting: Waiting,
    terminal: OpenTerminal,
    clients: Clients,
) -> None:
    await views.tmux.bind_return_keys(("f9", "ctrl+f9"))
    await views.open_home(launch(own_home))
    pane, _ = await opened(views.tmux, own_home)
    user = terminal(await views.attach_command(pane.id))
    await waiting.until(lambda: b"F9 back to the cockpit" in user.seen)
    assert b"F12" not in user.seen
    user.type(b"\x1b[20~")
    await waiting.until(lambda: [one["window"] for one in clients().values()] == [0])


async def test_what_is_copied_reaches_the_terminal_and_stays_nowhere(
    views: TmuxViews, own_home: Path, waiting: Waiting, terminal: OpenTerminal
) -> None:
    with pytest.raises(PaneGone):
        await views.copy("nobody is there")
    await views.open_home(launch(own_home))
    user = terminal(await views.attach_command())
    await waiting.until(lambda: b"the screen of" in user.seen)
    await views.copy("agent/api; #(date)")
    await waiting.until(lambda: base64.b64encode(b"agent/api; #(date)") in user.seen)
    server = libtmux.Server(socket_path=str(views.tmux.command.socket))
    assert server.cmd("list-buffers").stdout == []


async def test_a_pane_of_another_machine_goes_with_the_last_who_looks_at_it(
    views: TmuxViews,
    own_home: Path,
    waiting: Waiting,
    terminal: OpenTerminal,
    clients: Clients,
) -> None:
    far = launch(own_home, 'echo "far away"; trap "touch $HOME/hung-up" HUP; read line; exit')

    def windows() -> list[int]:
        return sorted(one["window"] for one in clients().values())

    await views.open_home(launch(own_home))
    first, second = [terminal(await views.attach_command()) for _ in range(2)]
    await waiting.until(lambda: windows() == [0, 0])
    with pytest.raises(BadUsage):
        await views.show_remote("#(date)", far)
    await views.show_remote("gpu1/api", far)
    await waiting.until(lambda: windows() == [0, 1])
    await views.show_remote("gpu1/api", far)
    await waiting.until(lambda: windows() == [1, 1])
    await waiting.until(lambda: b"far away" in first.seen and b"far away" in second.seen)
    assert await views.tmux.look() == {}, "it is no agent of ours"
    first.type(F12)
    await waiting.until(lambda: windows() == [0, 1])
    assert not Path(os.environ["HOME"], "hung-up").exists(), "somebody looks at it still"
    second.type(F12)
    await waiting.until(lambda: windows() == [0, 0])
    await waiting.until(Path(os.environ["HOME"], "hung-up").exists)
    await views.show_remote("gpu1/api", far)
    await waiting.until(lambda: windows() == [0, 1])


async def test_two_users_do_not_drag_each_other(
    views: TmuxViews,
    own_home: Path,
    waiting: Waiting,
    terminal: OpenTerminal,
    clients: Clients,
) -> None:
    panes = await opened(views.tmux, own_home)
    await views.open_home(launch(own_home))
    wide = terminal(await views.attach_command(), (300, 100))
    small = terminal(await views.attach_command(panes[0].id), (40, 10))
    await waiting.until(lambda: len(clients()) == 2)
    await waiting.until(lambda: b"I am a" in small.seen)

    def windows() -> tuple[int, int]:
        seen = clients()
        return seen[tty_of(wide)]["window"], seen[tty_of(small)]["window"]

    assert windows() == (0, 1)
    await views.show(panes[1].id)
    assert windows() == (2, 1), "only the one at the screen was turned"
    small.type(F12)
    await waiting.until(lambda: windows() == (2, 0))

    async def fits_the_wide_one() -> bool:
        pane = (await views.tmux.look())[panes[1].id]
        return (pane.width, pane.height) == (300, 99)

    # The small terminal, active last, does not shrink what the wide one looks at.
    await waiting.until(fits_the_wide_one)
    small.hang_up()
    await waiting.until(lambda: list(clients()) == [tty_of(wide)])


async def test_a_hang_up_ends_only_the_users_own_session(
    views: TmuxViews,
    own_home: Path,
    waiting: Waiting,
    terminal: OpenTerminal,
) -> None:
    async def nobody_attached() -> bool:
        return await views.attached() == 0

    pane = await views.open_home(launch(own_home))
    user = terminal(await views.attach_command())
    await waiting.until(lambda: b"the screen of" in user.seen)
    before = (await views.tmux.capture(pane)).lines[0]
    user.hang_up()
    await waiting.until(nobody_attached)
    again = terminal(await views.attach_command())
    await waiting.until(lambda: before.encode() in again.seen)
    # One session of all, one of each user.
    sessions = await views.tmux.command.run(["list-sessions", "-F", "#{session_name}"])
    assert len(sessions) == 2, "nothing is left of the first attach"


async def test_a_killed_program_does_not_end_the_server(
    views: TmuxViews, terminal: OpenTerminal, own_home: Path, waiting: Waiting
) -> None:
    """One that asked to be told of the focus, as agents' CLIs do: up to 3.4 tmux tells the dead."""
    asking = launch(own_home, 'printf "\\033[?1004h"; echo ready; exec sleep 600')
    tmux = views.tmux

    async def agent_ended() -> bool:
        return (await tmux.look())[agent.id].dead

    await views.open_home(launch(own_home))
    agent = await tmux.open("a", asking)
    await waiting.shows(tmux, agent.id, "ready")
    user = terminal(await views.attach_command(agent.id))
    await waiting.until(lambda: b"ready" in user.seen)
    os.kill(agent.pid, signal.SIGKILL)
    await waiting.until(agent_ended)
    user.type(F12)
    await waiting.until(lambda: b"the screen of" in user.seen)
    assert await tmux.server_pid() is not None


async def test_letting_go_of_terminals_never_costs_the_server(
    views: TmuxViews, own_home: Path, waiting: Waiting, terminal: OpenTerminal
) -> None:
    """Found by trying: a detach from a session with `destroy-unattached` kills tmux 3.3a."""
    server = await views.tmux.start_server()
    for turn in range(12):
        await views.open_home(launch(own_home))
        user = terminal(await views.attach_command())
        await waiting.until(lambda user=user: b"the screen of" in user.seen)  # type: ignore[misc]
        if turn % 3 == 0:
            user.hang_up()
        elif turn % 3 == 1:
            await views.detach()
        else:
            await views.tmux.command.run(["detach-client", "-a"], ["detach-client"])
        user.process.wait(60)
        assert await views.tmux.server_pid() == server


@pytest.mark.parametrize("size", [(40, 10), (300, 100)])
async def test_a_terminal_of_any_size_will_do(
    views: TmuxViews,
    own_home: Path,
    waiting: Waiting,
    terminal: OpenTerminal,
    size: tuple[int, int],
) -> None:
    pane, other = await opened(views.tmux, own_home)
    terminal(await views.attach_command(pane.id), size)
    columns, rows = size

    async def has_the_size() -> bool:
        panes = await views.tmux.look()
        looked_at, unseen = panes[pane.id], panes[other.id]
        # Only what is looked at takes the terminal's size; the others are not disturbed by it.
        assert (unseen.width, unseen.height) == (other.width, other.height)
        return (looked_at.width, looked_at.height) == (columns, rows - 1)

    await waiting.until(has_the_size)


async def test_true_colour_is_promised_where_the_terminal_has_it(
    views: TmuxViews, own_home: Path
) -> None:
    await views.open_home(launch(own_home))
    assert "RGB" in await views.attach_command(environment={"COLORTERM": "truecolor"})
    assert "RGB" not in await views.attach_command(environment={})
    with pytest.raises(PaneGone):
        await views.attach_command(PaneId("%99"))
    with pytest.raises(PaneGone):
        await views.show(PaneId("%99"))


async def test_the_status_line_names_an_agents_window_and_not_the_screens_own(
    tmux: Tmux, views: TmuxViews, own_home: Path
) -> None:
    home = await views.open_home(launch(own_home))
    pane = await tmux.open("api", launch(own_home))
    shown = [
        await tmux.server.ask(
            ["display-message", "-p", "-t", one, "[#{E:window-status-current-format}]"]
        )
        for one in (home, pane.id)
    ]
    assert shown == [["[]"], ["[ api ]"]]


SIZES = """
import os, signal, sys
def told(*_): open(sys.argv[1], "a").write(f"{os.get_terminal_size(0).lines} ")
signal.signal(signal.SIGWINCH, told)
print("ready", flush=True)
while True: signal.pause()
"""
"""A program that writes the rows of its pane to a file after each resize."""


async def test_the_screen_has_all_rows_and_a_pane_is_resized_once_for_its_status_line(
    views: TmuxViews,
    own_home: Path,
    waiting: Waiting,
    terminal: OpenTerminal,
    clients: Clients,
) -> None:
    def sized(name: str) -> Launch:
        file = own_home / name
        file.touch()
        return replace(launch(own_home), argv=(sys.executable, "-c", SIZES, str(file)))

    def resized(name: str) -> list[str]:
        return (own_home / name).read_text().split()

    async def status() -> str:
        (line,) = await views.tmux.server.ask(["list-clients", "-F", "#{window_index} #{status}"])
        return line

    async def at_home() -> bool:
        return await status() == "0 off"

    async def anywhere() -> bool:
        return await status() in {"0 off", "1 on"}

    api, web = [await views.tmux.open(name, sized(name)) for name in ("api", "web")]
    home = await views.open_home(sized("screen"))
    for pane in (api.id, web.id, home):
        await waiting.shows(views.tmux, pane, "ready")
    user = terminal(await views.attach_command())
    await waiting.until(lambda: resized("screen")[-1:] == ["30"])
    before = len(resized("screen"))
    await views.show(api.id)
    await waiting.until(lambda: resized("api") != [])
    assert await status() == "1 on"
    user.type(F12)
    await waiting.until(at_home)
    await views.show(web.id)
    await waiting.until(lambda: resized("web") != [])
    # tmux selects the next window by itself.
    await views.tmux.command.run(["kill-pane", "-t", web.id])
    await waiting.until(anywhere)
    assert resized("api") == ["29"]
    assert resized("web") == ["29"]
    assert resized("screen")[before:] == []
    user.hang_up()


TELLS = 'trap "echo told" URG; echo ready; while :; do sleep 0.05; done'


async def test_the_screen_is_told_of_each_terminal_and_knows_which_come_over_ssh(
    views: TmuxViews, own_home: Path, waiting: Waiting, terminal: OpenTerminal
) -> None:
    async def told(times: int) -> None:
        await waiting.shows(views.tmux, home, "\n".join(["told"] * times))

    home = await views.open_home(launch(own_home, TELLS))
    assert await views.over_ssh() is None
    await waiting.shows(views.tmux, home, "ready")
    terminal(await views.attach_command(environment={}))
    await told(1)
    assert await views.over_ssh() is False
    far = terminal(await views.attach_command(environment={"SSH_CONNECTION": "a 1 b 22"}))
    await told(2)
    assert await views.over_ssh() is True
    far.hang_up()
    await told(3)
    assert await views.over_ssh() is False


async def test_a_screen_that_has_ended_is_told_nothing(
    views: TmuxViews, own_home: Path, waiting: Waiting, terminal: OpenTerminal
) -> None:
    await views.open_home(launch(own_home, "echo ended"))
    async with asyncio.timeout(120):
        while (await views.home())[1]:
            # Up to tmux 3.5 the server may have missed the end, and is reminded of it.
            await views.tmux.server.collect()
    user = terminal(await views.attach_command(environment={}))
    await waiting.until(lambda: b"This process has ended" in user.seen)
    lines = await views.tmux.command.run(["list-panes", "-a", "-F", "#{pane_in_mode}"])
    assert set(lines) == {"0"}, "no output of the command is shown"
