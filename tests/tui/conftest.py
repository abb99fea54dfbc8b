"""Flying the application without a terminal, over a supervisor in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.pilot import Pilot

from cockpit.client.joined_client import JoinedClient
from cockpit.config.files import Files
from cockpit.tui.app import CockpitApp
from cockpit.tui.screens.fleet.screen import FleetScreen
from cockpit.tui.state import arming
from cockpit.tui.state.context import UIContext
from cockpit.tui.state.messages import UNTIL_A_KEY
from cockpit.tui.state.pace import Pace
from cockpit.tui.state.settings_reload import ReloadDependencies
from cockpit.tui.terminal.capabilities import filters
from cockpit.wire.verbs import Plan, Verb
from tests.client.memory import MemoryClient

THEMES = Path(__file__).parents[2] / "themes"


@pytest.fixture(autouse=True, scope="session")
def parsed_once() -> Iterator[None]:
    """Each text of styles is parsed once for the values of its variables, not in every application.

    Parsing was a quarter of the start of an application, and Textual never changes what is parsed.
    """
    parse, parsed = Stylesheet._parse_rules, dict[object, list[RuleSet]]()
    values: tuple[dict[str, str], frozenset[Any]] = {}, frozenset()

    def parse_once(sheet: Stylesheet, *text: Any, **more: Any) -> list[RuleSet]:
        nonlocal values
        if values[0] is not sheet._variables:
            values = sheet._variables, frozenset(sheet._variables.items())
        key = (text, *more.items(), values[1])
        if key not in parsed:
            parsed[key] = parse(sheet, *text, **more)
        return parsed[key]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Stylesheet, "_parse_rules", parse_once)
        yield


@pytest.fixture(autouse=True)
def messages_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a message would be gone before a test looks for it."""
    notify = CockpitApp.notify

    def stay(self: CockpitApp, message: str, **more: Any) -> None:
        notify(self, message, **{**more, "timeout": UNTIL_A_KEY})

    monkeypatch.setattr(CockpitApp, "notify", stay)


@dataclass
class Flight:
    """A running application, and what it did outside."""

    client: MemoryClient
    attached: list[str] = field(default_factory=list)
    edited: list[tuple[Path, int]] = field(default_factory=list)
    """Each file that was opened in the editor, and its line."""
    app: Any = None
    pilot: Pilot[None] | None = None

    async def attach(self, name: str) -> None:
        self.attached.append(name)

    async def edit(self, file: Path, line: int = 1) -> None:
        self.edited.append((file, line))

    @property
    def fleet(self) -> FleetScreen:
        screen = self.app.screen_stack[0]
        assert isinstance(screen, FleetScreen)
        return screen

    @property
    def asked(self) -> list[Verb]:
        """What was asked of the supervisor, but for what would only be."""
        return [verb for verb in self.client.asked if not isinstance(verb, Plan)]

    async def press(self, *keys: str) -> None:
        assert self.pilot
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def until(self, true: Callable[[], object], what: str = "") -> None:
        """Wait for a condition, a minute at most."""
        assert self.pilot
        deadline = monotonic() + 60
        while not true():
            assert monotonic() < deadline, f"never came: {what}\n{self.text()}"
            await self.pilot.pause(0.02)

    async def reads(self, *texts: str) -> None:
        """Wait until all of these stood on the screen, also if a line was broken within them.

        To draw it is the dear part of a look.
        """
        left = list(texts)

        def seen() -> bool:
            shown = self.text()
            unbroken = " ".join(shown.replace("│", " ").split())
            left[:] = [text for text in left if text not in shown and text not in unbroken]
            return not left

        await self.until(seen, " ".join(texts))

    def text(self) -> str:
        """What stands on the screen, as text."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join("".join(part.text for part in strip) for strip in strips)

    def toasts(self) -> list[str]:
        return [f"{one.title}\n{one.message}" for one in self.app._notifications]


Fly = Callable[..., AbstractAsyncContextManager[Flight]]


@pytest.fixture
def fly() -> Fly:
    """`async with fly(client, size=(100, 30)) as flight:`"""

    @asynccontextmanager
    async def flown(
        client: MemoryClient,
        *,
        size: tuple[int, int] = (100, 30),
        theme: str = "night",
        remember_in: Path | None = None,
        direct: bool = False,
        selected: str | None = None,
        directory: Path = Path("/"),
        files: Callable[[], Files] | None = None,
        toasts: bool = False,
        reload: ReloadDependencies | None = None,
        ends_on_leaving: str = "",
        tour: bool = False,
        join: Callable[[MemoryClient], JoinedClient] | None = None,
        keys: dict[str, str] | None = None,
        attached: Callable[[], Awaitable[int]] | None = None,
        low: bool = False,
    ) -> AsyncIterator[Flight]:
        flight = Flight(client)
        ui = UIContext(
            attach=flight.attach,
            edit=flight.edit,
            direct=direct,
            pace=Pace(rows=0.0, pane=0.0, is_low=low),
            directory=directory,
            files=files,
            reload=reload,
            ends_on_leaving=ends_on_leaving,
            keys=dict(keys or {}),
            has_tour=tour,
            attached=attached,
        )
        flight.app = CockpitApp(
            join(client) if join else client,
            ui,
            theme=theme,
            theme_folders=[THEMES],
            remember_in=remember_in,
            filters=filters("unicode", "all", {}, is_low=low) if low else (),
            settings=files().loaded.settings if files and reload else None,
        )
        if selected:
            flight.app.model.select(selected)
        async with flight.app.run_test(size=size, notifications=toasts) as pilot:
            flight.pilot = pilot
            await flight.until(lambda: flight.app.model.connection.live, "a supervisor")
            await pilot.pause()
            yield flight

    return flown


@pytest.fixture
def reading_takes(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Set for how many seconds a question must have been shown before a key answers it.

    On a busy machine more than the usual ones lie between two keys of a test.
    """
    return lambda seconds: monkeypatch.setattr(arming, "READ", seconds)
