"""A Slack bot: one thread for each job, against a server on loopback that answers as Slack does."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from cockpit.wire.verbs import Stop
from tests.supervisor.journeys.test_sending import Post, Receiver, hook

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux

TOKEN = "xoxb-" + "1234567890-" * 2 + "a1B2c3D4" * 3
CHANNEL = "C0123456789"


class SlackServer(Receiver):
    """`chat.postMessage` for one token and one channel."""

    def __init__(self, *first: tuple[int, dict[str, object]]) -> None:
        super().__init__()
        self.first = list(first)
        """Statuses and bodies that it answers before it looks at a request."""
        self.threads: set[str] = set()
        self.retry_after = 0

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        post = Post((await reader.readuntil(b"\r\n\r\n")).rstrip(), b"")
        post.body = await reader.readexactly(int(post.headers["content-length"]))
        self.posts.append(post)
        status, said = self.first.pop(0) if self.first else (200, self._judge(post))
        lines = [f"HTTP/1.1 {status} Told", "Connection: close"]
        if status == 429:
            lines.append(f"Retry-After: {self.retry_after}")
        content = json.dumps(said).encode()
        lines.append(f"Content-Length: {len(content)}")
        writer.write("\r\n".join([*lines, "", ""]).encode() + content)
        await writer.drain()
        writer.close()

    def _judge(self, post: Post) -> dict[str, object]:
        if post.headers.get("authorization") != f"Bearer {TOKEN}":
            return {"ok": False, "error": "invalid_auth"}
        if post.told["channel"] != CHANNEL:
            return {"ok": False, "error": "channel_not_found"}
        if post.told.get("thread_ts", "") not in {"", *self.threads}:
            return {"ok": False, "error": "thread_not_found"}
        stamp = f"1503435956.{len(self.posts):06}"
        self.threads.add(stamp)
        return {"ok": True, "channel": CHANNEL, "ts": stamp, "message": {"text": "…"}}

    def hooks(self, *events: str, channel: str = CHANNEL) -> str:
        return "".join(
            hook(
                event,
                "slack",
                url=self.url("/api/chat.postMessage"),
                token="${CHAT}",
                channel_id=channel,
                threads=True,
                allow_private=True,
            )
            for event in events
        )


HANDOFF = ("on_handoff_start", "on_handoff_document", "on_handoff_complete")


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAT", TOKEN)


def threads(posts: list[Post]) -> list[str | None]:
    return [post.told.get("thread_ts") for post in posts]


def kept(cockpit: Cockpit) -> bytes:
    """Everything in the state folder."""
    return b"".join(path.read_bytes() for path in cockpit.places.state.rglob("*") if path.is_file())


@pytest.mark.long
async def test_a_job_has_one_thread_also_after_a_restart(cockpit: Cockpit) -> None:
    slack = SlackServer()
    async with slack.open():
        tables = slack.hooks(*HANDOFF, "after_run")
        async with cockpit.flying(cockpit.agent(steps=30, more=tables)):
            await cockpit.start()
            await slack.until(3)
            await cockpit.event("hook.delivered", number=3)
        async with cockpit.flying():
            await cockpit.ask(Stop(name="api"))
            first, *others = await slack.until(4)
    opened = "1503435956.000001"
    assert first.path == "/api/chat.postMessage"
    assert first.told["blocks"][0]["text"]["text"].startswith("api: Count the steps")
    assert threads([first, *others]) == [None, *[opened] * len(others)]
    assert TOKEN.encode() not in kept(cockpit)


@pytest.mark.long
async def test_a_thread_that_was_deleted_is_opened_anew(cockpit: Cockpit) -> None:
    slack = SlackServer()
    async with slack.open():
        tables = slack.hooks("on_handoff_start", "on_handoff_document")
        slack.first = [(200, {"ok": True, "ts": "1.1"})]
        async with cockpit.flying(cockpit.agent(steps=30, more=tables)):
            await cockpit.start()
            posts = await slack.until(3)
    assert threads(posts[:3]) == [None, "1.1", None]
    assert posts[2].told["text"] == posts[1].told["text"]


@pytest.mark.long
async def test_a_rate_limit_and_slacks_own_errors_are_waited_for(cockpit: Cockpit) -> None:
    first: tuple[tuple[int, dict[str, object]], ...] = (
        (429, {"ok": False, "error": "ratelimited"}),
        (200, {"ok": False, "error": "internal_error"}),
        (503, {}),
    )
    slack = SlackServer(*first)
    async with slack.open():
        tables = slack.hooks("on_handoff_start")
        async with cockpit.flying(cockpit.agent(steps=30, more=tables)):
            await cockpit.start()
            posts = await slack.until(4, 90)
            delivered = await cockpit.event("hook.delivered", within=300)
    assert {post.told["text"] for post in posts} == {posts[0].told["text"]}
    assert delivered.data["attempts"] == 4


@pytest.mark.long
async def test_a_refusal_is_told_with_a_next_step_and_not_tried_again(cockpit: Cockpit) -> None:
    slack = SlackServer()
    async with slack.open():
        tables = slack.hooks("on_handoff_start", channel="C0000000000")
        async with cockpit.flying(cockpit.agent(steps=30, more=tables)):
            await cockpit.start()
            told = await cockpit.event("hook.undelivered")
            row = await cockpit.until(lambda row: row.handoffs == 1 and row.note)
    assert told.data["error"].startswith("Slack returned channel_not_found; copy the channel's")
    assert row.note is not None
    assert "channel_not_found" in row.note
    assert len(slack.posts) == 1
