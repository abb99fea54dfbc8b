"""Settings that become others while the screen runs: what counts at once, and what stays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from cockpit.client.client import Supervisor
from cockpit.client.host_client import HostClient
from cockpit.client.joined_client import JoinedClient
from cockpit.config.files import Files
from cockpit.config.paths import Places
from cockpit.config.schema import Settings
from cockpit.tui.state.pace import PACES
from cockpit.tui.state.settings_reload import ReloadDependencies, drawn_as
from cockpit.wire.status import Status
from tests.client.memory import MemoryClient
from tests.tui.conftest import Flight, Fly
from tests.tui.scene import agent

HOST = '[[hosts]]\nname = "{}"\nconnect = ["{}"]\n'


class World:
    """A file of the user's, and machines by the way that leads to them."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "cockpit.toml"
        self.machines: dict[str, MemoryClient] = {}
        self.client: JoinedClient | None = None
        self.changed: Callable[[], None] = lambda: None
        self.let_through = 0
        self.terminals: Callable[[bool], None] = lambda over_ssh: None
        self._known: dict[tuple[str, str], HostClient] = {}
        self.write("")

    def write(self, text: str) -> None:
        self.file.write_text(text)
        self.file.chmod(0o600)
        self.changed()

    def files(self) -> Files:
        places = Places.of({"COCKPIT_HOME": str(self.file.parent)})
        return Files.read(places, None, self.file.parent, {})

    def join(self, here: MemoryClient) -> JoinedClient:
        self.client = JoinedClient(here, [])
        self.hosts(self.files().loaded.settings)
        return self.client

    def hosts(self, said: Settings) -> Mapping[str, Supervisor]:
        assert self.client
        found = []
        for host in said.hosts:
            way = (host.name, host.connect[0])
            if way not in self._known:
                self._known[way] = HostClient(host.name, self.machines[way[1]])
            found.append(self._known[way])
        self.client.set_hosts(found)
        return self.client.members

    def watch(self, call: Callable[[], None]) -> Callable[[], None]:
        self.changed = call
        return partial(setattr, self, "changed", lambda: None)

    def _let(self) -> None:
        self.let_through += 1

    def reload(self) -> ReloadDependencies:
        drawn = drawn_as({"LANG": "C.UTF-8", "TERM": "xterm-256color"})
        return ReloadDependencies(drawn, self.hosts, self.watch, self._let, self._watch_terminals)

    def _watch_terminals(self, call: Callable[[bool], None]) -> Callable[[], None]:
        self.terminals = call
        return lambda: None


def machine(*names: str) -> MemoryClient:
    return MemoryClient(Status(agents=[agent(name) for name in names]))


async def test_hosts_come_and_go_with_their_agents(fly: Fly, tmp_path: Path) -> None:
    world = World(tmp_path)
    world.machines = {"one": machine("far"), "two": machine("other"), "no": machine()}
    world.machines["no"].disconnect()

    flown = fly(
        machine("api"), size=(140, 30), files=world.files,
        reload=world.reload(), join=world.join,
    )  # fmt: skip
    async with flown as flight:
        assert not flight.app.model.is_joined
        world.write(HOST.format("gpu1", "one") + HOST.format("gpu2", "no"))
        await flight.reads("gpu1/far", "gpu1 ●", "gpu2 ○ lost")
        await flight.press("i")
        await flight.reads("○ lost", "gpu2", "Retrying automatically")
        await flight.press("q", "G")
        await flight.until(lambda: flight.app.model.selected == "gpu1/far", "the far one")

        world.write(HOST.format("gpu1", "two"))
        await flight.reads("gpu1/other")
        told = str(flight.toasts())
        assert "gpu1 was changed in your config; connecting again." in told
        assert "gpu2 was removed from your config" in told
        assert "gpu2" not in flight.text()
        assert set(flight.app.model.agents) == {"api", "gpu1/other"}
        world.write("")
        await flight.until(lambda: set(flight.app.model.agents) == {"api"}, "alone again")
        assert not flight.app.model.is_joined
        await flight.until(lambda: flight.app.model.selected == "api", "one that is there")


async def test_a_file_with_an_error_changes_nothing_and_is_told(fly: Fly, tmp_path: Path) -> None:
    world = World(tmp_path)
    world.machines = {"one": machine("far")}
    world.write(HOST.format("gpu1", "one"))

    flown = fly(
        machine("api"), size=(140, 30), files=world.files,
        reload=world.reload(), join=world.join,
    )  # fmt: skip
    async with flown as flight:
        await flight.reads("gpu1/far")
        world.write(HOST.format("local", "one"))
        await flight.until(lambda: "cockpit.toml:2: hosts[1].name" in str(flight.toasts()))
        assert "eep" in str(flight.toasts())
        assert "gpu1/far" in flight.text()


async def test_glyphs_pace_calls_keys_and_theme_count_at_once(fly: Fly, tmp_path: Path) -> None:
    world = World(tmp_path)

    flown = fly(machine("api"), files=world.files, reload=world.reload(), join=world.join)
    async with flown as flight:
        await flight.reads("▌ 1 ● api")
        world.write(
            '[cockpit]\nglyphs = "ascii"\nrefresh = "low"\ntheme = "day"\n'
            '[notifications]\nterminal = "osc9"\n[keys]\nhandoff = "X"\n'
        )
        await flight.reads("> 1 * api", "X hand off")
        assert flight.fleet.ui.pace.rows == PACES["low"].rows
        assert flight.app.theme == "day"
        world.write("")
        await flight.reads("▌ 1 ● api", "f hand off")
        assert flight.fleet.ui.pace.rows < 1.0


async def test_a_host_that_is_changed_while_the_screen_ends_holds_nothing_up(
    fly: Fly, tmp_path: Path
) -> None:
    world = World(tmp_path)
    world.machines = {"one": machine("far")}

    flown = fly(machine("api"), files=world.files, reload=world.reload(), join=world.join)
    async with flown:
        world.write(HOST.format("gpu1", "one"))
    world.write("")


async def test_low_has_no_frames_and_no_background_and_full_has_them_again(
    fly: Fly, tmp_path: Path
) -> None:
    world = World(tmp_path)

    def ground(flight: Flight, text: str) -> object:
        strips = flight.app.screen._compositor.render_strips()
        style = next(part.style for strip in strips for part in strip if text in part.text)
        return style.color if style.reverse else style.bgcolor

    flown = fly(machine("api", "web"), files=world.files, reload=world.reload(), join=world.join)
    async with flown as flight:
        await flight.reads("▌ 1 ● api", "╭─ working 2")
        assert ground(flight, "▌") != ground(flight, "working")
        world.write('[cockpit]\nrefresh = "low"\n')
        await flight.reads("─ working 2 ──  ")
        await flight.until(lambda: not {"╭", "│", "╰"} & set(flight.text()), "no frame")
        assert ground(flight, "▌") == ground(flight, "working") != ground(flight, "api")
        world.write("")
        await flight.reads("╭─ working 2")
        assert ground(flight, "▌") == ground(flight, "api") != ground(flight, "working")


async def test_a_terminal_over_ssh_makes_it_low_while_it_is_attached(
    fly: Fly, tmp_path: Path
) -> None:
    world = World(tmp_path)

    flown = fly(machine("api"), files=world.files, reload=world.reload(), join=world.join)
    async with flown as flight:
        await flight.reads("╭─ working 1")
        world.terminals(True)
        await flight.reads("─ working 1 ──  ")
        await flight.until(lambda: "╭" not in flight.text(), "no frame")
        world.terminals(False)
        await flight.reads("╭─ working 1")
        world.write('[cockpit]\nrefresh = "full"\ntheme = "day"\n')
        await flight.until(lambda: flight.app.theme == "day")
        world.terminals(True)
        assert not flight.fleet.ui.pace.is_low
        world.write("")
        await flight.until(lambda: "╭" not in flight.text(), "low again")
