"""How inbox, history, what is read of it and a queue of reviews look.

See `test_pictures.py` for which sizes, and why. Inbox and history have every size: the one shows
what is asked below or beside the list, the other drops columns.
"""

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
from tests.long_cases import named_cases
from tests.tui.scene import agent, scene
from tests.tui.scene_history import chain, chains, handoff, session
from tests.tui.test_pictures import (
    LARGE,
    SMALL,
    USUAL,
    Compare,
    app,
    at_rest,
    one_time_zone,
    settled,
)

__all__ = ["one_time_zone"]

NOW = datetime(2026, 11, 21, 21, 0, tzinfo=UTC)
EVERY_SIZE = {"60x15": SMALL, "100x30": USUAL, "200x60": LARGE}
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
    return InboxScreen(model, client, ui, lambda _name: None, **how)  # type: ignore[arg-type]


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


def asking_and_held() -> MemoryClient:
    client = asking()
    client.hold(HELD)
    return client


@pytest.mark.parametrize(
    "size", named_cases({name: (size,) for name, size in EVERY_SIZE.items()}, "100x30")
)
def test_inbox(snap_compare: Compare, size: tuple[int, int]) -> None:
    """One of each kind of question; what it says is below the list, or beside it."""
    shown = app(asking_and_held())
    assert snap_compare(shown, terminal_size=size, run_before=opening(inbox))


def calm() -> MemoryClient:
    return MemoryClient(Status(agents=[agent("calm")]))


@pytest.mark.long
def test_inbox_with_nothing(snap_compare: Compare) -> None:
    """The words in place of a list."""
    assert snap_compare(app(calm()), terminal_size=USUAL, run_before=opening(inbox))


def crowded_inbox() -> MemoryClient:
    """A hundred questions, and settings that are held."""
    needs = Needs(kind="permission", detail="ls", tool="Bash", command="ls", since=ago(3))
    crowd = [agent(f"agent-{number}", "needs_you", needs=needs) for number in range(100)]
    client = MemoryClient(Status(agents=crowd))
    client.hold(HELD)
    return client


@pytest.mark.long
def test_inbox_of_a_hundred(snap_compare: Compare) -> None:
    """A list that has scrolled to its end, where the held settings are."""
    shown = app(crowded_inbox())
    assert snap_compare(shown, terminal_size=USUAL, run_before=opening(inbox, "G"))


def hostile_inbox() -> MemoryClient:
    """A question of hostile words."""
    needs = Needs(kind="permission", detail=HOSTILE, tool=HOSTILE, command=f"{HOSTILE}\n" * 9)
    hostile = agent("api", "needs_you", needs=needs, branch=HOSTILE)
    return MemoryClient(Status(host=HOSTILE, agents=[hostile]))


@pytest.mark.long
def test_inbox_without_a_supervisor(snap_compare: Compare) -> None:
    """Questions of before, greyed: none can be answered."""
    client = asking()
    run = opening(inbox, lose=client)
    assert snap_compare(app(client), terminal_size=USUAL, run_before=run)


HISTORY = {
    "history": (),
    "searched": ("slash", *"no margin", "down"),
    "marked": ("j", "space", "j", "j", "space"),
    "compared": ("j", "space", "j", "j", "c"),
    "read": ("j", "enter"),
    "continued": ("j", "n"),
    "help": ("question_mark",),
}


PICTURED = {
    **{f"{name}-100x30": (keys, USUAL) for name, keys in HISTORY.items()},
    **{f"{name}-60x15": (HISTORY[name], SMALL) for name in ("history", "compared", "read")},
    **{f"{name}-200x60": (HISTORY[name], LARGE) for name in ("history", "compared")},
}


@pytest.mark.parametrize(("keys", "size"), named_cases(PICTURED, "history-100x30"))
def test_history(snap_compare: Compare, keys: tuple[str, ...], size: tuple[int, int]) -> None:
    """The list, and what is opened from it; documents stand beside each other at 200x60."""
    run = opening(HistoryScreen, *keys)
    assert snap_compare(app(past()), terminal_size=size, run_before=run)


@pytest.mark.long
def test_history_of_a_hundred(snap_compare: Compare) -> None:
    """A list that has scrolled by a page."""
    run = opening(HistoryScreen, "pagedown", "j")
    assert snap_compare(app(past(100)), terminal_size=USUAL, run_before=run)


def test_history_of_nothing(snap_compare: Compare) -> None:
    """The words in place of a list."""
    run = opening(HistoryScreen)
    assert snap_compare(app(MemoryClient()), terminal_size=USUAL, run_before=run)


def hostile_past() -> MemoryClient:
    """A handoff of hostile words."""
    client = scene()
    bad = handoff("h-x", ago(5), "failed", why=HOSTILE, document=HOSTILE, writer=HOSTILE)
    client.remember([chain(HOSTILE, session(1, bad), goal=HOSTILE)])
    return client


def two_reviews() -> MemoryClient:
    """Two documents that wait for the user."""
    client = scene()
    waits = HandoffStatus(id="h-web", reason="manual", phase="review", since="", document="/x.md")
    needs = Needs(kind="review", detail="waits")
    client.put(agent("web", "needs_you", handoff=waits, needs=needs))
    return client


def test_a_queue_of_reviews(snap_compare: Compare) -> None:
    """The place in the queue, above the document."""

    async def run(pilot: Pilot[None]) -> None:
        await settled(pilot)
        await pilot.press("d")
        await at_rest(pilot)

    assert snap_compare(app(two_reviews()), terminal_size=USUAL, run_before=run)
