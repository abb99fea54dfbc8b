"""Whatever agents call themselves, do, print or write: no control byte of theirs is drawn, no
markup of theirs is parsed, and nothing falls over."""

from __future__ import annotations

import re
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

import pytest
from rich.console import Console

from cockpit.core.errors import NotNow
from cockpit.wire.status import HandoffStatus, Needs, Status
from cockpit.wire.verbs import Approve
from tests.client.memory import MemoryClient
from tests.tui.scene import agent

SETS_THE_CLIPBOARD = "\x1b]52;c;cHduZWQ=\x07"
QUITS = "[@click=app.quit]go[/]"
HOSTILE = [
    SETS_THE_CLIPBOARD,
    "\x1b[2J\x1b[H\x1b[31mred",
    "\x1bP$q q\x1b\\",
    "\x9b31mC1\x9d0;title\x9c",
    "\x00\x07\x08\x0b\x0c\r\x0e\x7f",
    "[/b] [b [TODO] plan",
    QUITS,
    "[link=file:///etc/passwd]x[/link]",
    "\u202etxt.exe\u2066\u2069\u200f",
    "a\u200bb\u200dc\ufeffd\U000e0041",
    "漢字カナ👩‍👩‍👧‍👦🇩🇪é" * 20,
    "a" * 5_000,
    "line\nline\u2028line\x85line",
    "\ud800\udfff lone",
    "%s {x} #{q} #(touch x) $(x) `x`",
]
CONTROL = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]"
)


class Fly(Protocol):
    def __call__(self, client: MemoryClient, **how: Any) -> AbstractAsyncContextManager[Any]: ...


def world(text: str) -> MemoryClient:
    """Everything that an agent can put words into, saying this."""
    handoff = HandoffStatus(
        id="h", reason="threshold", phase="review", since=text, detail=text, document=text
    )
    one = agent("api", "needs_you", needs=Needs(kind="review", detail=text), handoff=handoff)
    said = {
        "name": text, "branch": text, "activity": text, "model": text, "worktree": text,
        "directory": text, "note": text, "transcript": text, "last_activity_at": text,
    }  # fmt: skip
    client = MemoryClient(
        Status(host=text, agents=[one.model_copy(update=said), agent("plain", activity=text)])
    )
    client.show(text, [text, f"\x1b[32m{text}\x1b[0m", *text.split("\n")])
    client.lay(
        "h", f"# {text}\n\n{text}\n\n- {text}\n\n```{text}\n{text}\n```\n\n| {text} |\n|-|\n"
    )
    client.happen(text, text, text, at=text)
    client.refuse(Approve, NotNow(text, text, text))
    return client


def drawn(app: Any) -> str:
    """What would be written to the terminal, our own sequences taken out."""
    console = Console(force_terminal=True, color_system="truecolor", width=200)
    strips = app.screen._compositor.render_strips()
    written = "\n".join(strip.render(console) for strip in strips)
    return re.sub(r"\x1b\[[0-9;]*m", "", written)


async def draws_nothing_hostile(
    flight: Any, sizes: list[tuple[int, int]], keys: tuple[str, ...]
) -> None:
    """At the size that it has, the first of `sizes`, and at the others; it keeps the last one."""
    await flight.pilot.pause(0.02)
    assert not CONTROL.search(drawn(flight.app)), keys
    for size in sizes[1:]:
        await flight.pilot.resize_terminal(*size)
        await flight.pilot.pause(0.02)
        shown = drawn(flight.app).split("\n")
        assert len(shown) == size[1], (keys, size)
        assert not CONTROL.search("\n".join(shown)), (keys, size)
    sizes.reverse()


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
async def test_no_screen_draws_what_it_must_not(fly: Fly, text: str) -> None:
    sizes = [(100, 30), (40, 10)]
    async with fly(world(text), size=sizes[0]) as flight:
        for keys in (
            ("e",),
            ("e", "a"),
            ("x",),
            ("n", "s"),
            ("ctrl+g",),
            ("d",),
            ("q", "question_mark"),
        ):
            await flight.press(*keys)
            await draws_nothing_hostile(flight, sizes, keys)
        assert flight.app._exit is False
