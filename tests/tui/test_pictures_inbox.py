"""How inbox, history, what is read of it and a queue of reviews look, at the sizes people have."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest
from textual.pilot import Pilot
from textual.screen import Screen

from cockpit.tui.screens.history.screen import HistoryScreen
from cockpit.tui.screens.inbox.screen import InboxScreen
from cockpit.wire.status import HandoffStatus, HeldSetting, Needs, Status
from tests.client.memory import MemoryClient
from tests.tui.scene import agent, scene
from tests.tui.scene_history import chain, chains, handoff, session
from tests.tui.test_pictures import Compare, app, at_rest, one_time_zone, settled

__all__ = ["one_time_zone"]

NOW = datetime(2026, 11, 21, 21, 0, tzinfo=UTC)
SIZES = {"60x15": (60, 15), "100x30": (100, 30), "200x60": (200, 60)}
HOSTILE = "[/b] \x1b]52;c;eA==\x07漢字 \u202eevil\u2069 [@click=app.quit]x[/] 👩‍👩‍👧"
SQL = (
    "set -e\nfor f in $(git ls-files '*.sql'); do\n"
    '  psql -f "$f" "$DATABASE_URL" --single-transaction --variable=ON_ERROR_STOP=1 --echo-all\n'
    "done\ngit push origin agent/mailer"
)
DIALOG = [
    "● I will run the migrations now.",
    "",
    "╭──────────────────────────────────────╮",
    "│ Bash command                         │",
    "│   set -e                             │",
    "│ Do you want to proceed?              │",
    "│ ❯ 1. Yes                             │",
    "│   2. No, and tell Claude what to do  │",
    "╰──────────────────────────────────────╯",
]

sizes = pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)


def ago(minutes: float) -> str:
    return (NOW - timedelta(minutes=minutes)).isoformat()


def asking() -> MemoryClient:
    """One of each that can wait."""
    client = scene()
    limit = "Usage limit reached; it resets at 21 Nov 22:00 UTC"
    ended = "it ended with 1. No such model. Try again: cockpit start checkout"
    needs = {
        "mailer": Needs(kind="permission", detail="Bash set -e", tool="Bash", command=SQL,
                        since=ago(6)),
        "checkout": Needs(kind="failed", detail=ended, since=ago(12)),
        "importer": Needs(kind="trust", detail="Claude Code asks for trust", since=ago(70)),
        "docs": Needs(kind="usage_limit", detail=limit, since=ago(30),
                      resets_at=ago(-60)),
        "api": Needs(kind="review", detail="the handoff document waits for your approval",
                     since=ago(2)),
    }  # fmt: skip
    for name, needed in needs.items():
        client.change(name, state="needs_you", needs=needed)
    client.show("mailer", DIALOG)
    return client


HELD = [
    HeldSetting(file="/srv/shop/cockpit.toml", line=12, key="agents[0].env",
                reason="it decides what runs", agent="api"),
    HeldSetting(file="/srv/shop/cockpit.toml", line=20, key="notifications.urls",
                reason="it decides what is sent, and where"),
]  # fmt: skip


def opening(
    make: Callable[..., Screen[None]], *keys: str, lose: MemoryClient | None = None
) -> Callable[[Pilot[None]], Awaitable[None]]:
    """Show a screen of these at `NOW`, and press the keys."""

    async def run(pilot: Pilot[None]) -> None:
        await settled(pilot)
        home = pilot.app.screen_stack[0]
        given = (home.model, home.client, home.ui)  # type: ignore[attr-defined]
        await pilot.app.push_screen(make(*given, now=lambda: NOW))
        await at_rest(pilot)
        if keys:
            await pilot.press(*keys)
        if lose is not None:
            lose.disconnect()
        await at_rest(pilot)

    return run


def inbox(model: object, client: object, ui: object, **how: object) -> InboxScreen:
    return InboxScreen(model, client, ui, lambda: None, **how)  # type: ignore[arg-type]


def past(many: int = 0) -> MemoryClient:
    client = scene()
    client.remember(chains(NOW))
    if many:
        sessions = [
            session(number, handoff(f"h-{number}", ago(37 * (many - number))))
            for number in range(1, many + 1)
        ]
        client.remember([chain("importer", *sessions)])
    return client


@sizes
def test_inbox(snap_compare: Compare, size: tuple[int, int]) -> None:
    client = asking()
    client.hold(HELD)
    assert snap_compare(app(client), terminal_size=size, run_before=opening(inbox))


@sizes
def test_inbox_with_nothing(snap_compare: Compare, size: tuple[int, int]) -> None:
    client = MemoryClient(Status(agents=[agent("calm")]))
    assert snap_compare(app(client), terminal_size=size, run_before=opening(inbox))


@pytest.mark.parametrize("keys", [(), ("G",)], ids=["first", "held"])
def test_inbox_of_a_hundred(snap_compare: Compare, keys: tuple[str, ...]) -> None:
    needs = Needs(kind="permission", detail="ls", tool="Bash", command="ls", since=ago(3))
    crowd = [agent(f"agent-{number}", "needs_you", needs=needs) for number in range(100)]
    client = MemoryClient(Status(agents=crowd))
    client.hold(HELD)
    assert snap_compare(app(client), terminal_size=(100, 30), run_before=opening(inbox, *keys))


@sizes
def test_inbox_of_hostile_words(snap_compare: Compare, size: tuple[int, int]) -> None:
    needs = Needs(kind="permission", detail=HOSTILE, tool=HOSTILE, command=f"{HOSTILE}\n" * 9)
    hostile = agent("api", "needs_you", needs=needs, branch=HOSTILE)
    client = MemoryClient(Status(host=HOSTILE, agents=[hostile]))
    assert snap_compare(app(client), terminal_size=size, run_before=opening(inbox))


@sizes
def test_inbox_without_a_supervisor(snap_compare: Compare, size: tuple[int, int]) -> None:
    client = asking()
    run = opening(inbox, lose=client)
    assert snap_compare(app(client), terminal_size=size, run_before=run)


HISTORY = {
    "history": (),
    "searched": ("slash", *"no margin", "enter"),
    "marked": ("j", "space", "j", "j", "space"),
    "compared": ("j", "space", "j", "j", "c"),
    "read": ("j", "enter"),
    "continued": ("j", "n"),
    "help": ("question_mark",),
}


@sizes
@pytest.mark.parametrize("keys", HISTORY.values(), ids=HISTORY)
def test_history(snap_compare: Compare, keys: tuple[str, ...], size: tuple[int, int]) -> None:
    run = opening(HistoryScreen, *keys)
    assert snap_compare(app(past()), terminal_size=size, run_before=run)


@sizes
def test_history_of_a_hundred(snap_compare: Compare, size: tuple[int, int]) -> None:
    run = opening(HistoryScreen, "pagedown", "j")
    assert snap_compare(app(past(100)), terminal_size=size, run_before=run)


@sizes
def test_history_of_nothing(snap_compare: Compare, size: tuple[int, int]) -> None:
    run = opening(HistoryScreen)
    assert snap_compare(app(MemoryClient()), terminal_size=size, run_before=run)


@sizes
def test_history_of_hostile_words(snap_compare: Compare, size: tuple[int, int]) -> None:
    client = scene()
    bad = handoff("h-x", ago(5), "failed", why=HOSTILE, document=HOSTILE, writer=HOSTILE)
    client.remember([chain(HOSTILE, session(1, bad), goal=HOSTILE)])
    run = opening(HistoryScreen)
    assert snap_compare(app(client), terminal_size=size, run_before=run)


@sizes
def test_history_without_a_supervisor(snap_compare: Compare, size: tuple[int, int]) -> None:
    client = past()
    run = opening(HistoryScreen, lose=client)
    assert snap_compare(app(client), terminal_size=size, run_before=run)


@sizes
def test_a_queue_of_reviews(snap_compare: Compare, size: tuple[int, int]) -> None:
    client = scene()
    waits = HandoffStatus(id="h-web", reason="manual", phase="review", since="", document="/x.md")
    needs = Needs(kind="review", detail="waits")
    client.put(agent("web", "needs_you", handoff=waits, needs=needs))

    async def run(pilot: Pilot[None]) -> None:
        await settled(pilot)
        await pilot.press("d")
        await at_rest(pilot)

    assert snap_compare(app(client), terminal_size=size, run_before=run)
