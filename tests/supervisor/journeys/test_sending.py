"""Webhooks, chats and notifications: sent from the outbox to real servers on loopback."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from cockpit.adapters.store.outgoing import OutgoingTable
from cockpit.wire.verbs import Stop

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux

KEY = b"0123456789abcdef01234567"


class Post:
    """One request that came in."""

    def __init__(self, head: bytes, body: bytes) -> None:
        first, *lines = head.decode().split("\r\n")
        self.path = first.split(" ")[1]
        self.headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines)
        }
        self.body = body

    @property
    def told(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found


class Receiver:
    """A server on loopback that answers with the statuses it is given, then with 204."""

    def __init__(self, *statuses: int) -> None:
        self.statuses = list(statuses)
        self.posts: list[Post] = []
        self.port = 0
        self.says: dict[str, object] | None = None
        """What it answers instead of nothing, where the status says that all is well."""

    @asynccontextmanager
    async def open(self, port: int = 0) -> AsyncIterator[Receiver]:
        server = await asyncio.start_server(self._answer, "127.0.0.1", port)
        self.port = server.sockets[0].getsockname()[1]
        async with server:
            yield self
            server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).rstrip()
        post = Post(head, b"")
        post.body = await reader.readexactly(int(post.headers["content-length"]))
        self.posts.append(post)
        status = self.statuses.pop(0) if self.statuses else 200 if self.says else 204
        said = json.dumps(self.says).encode() if self.says and status == 200 else b""
        head = b"HTTP/1.1 %d Told\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
        writer.write(head % (status, len(said)) + said)
        await writer.drain()
        writer.close()

    async def until(self, number: int, within: float = 30.0) -> list[Post]:
        await until(lambda: len(self.posts) >= number, within)
        return self.posts

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"


async def until(true: Callable[[], object], within: float = 30.0) -> None:
    end = time.monotonic() + within
    while not true():
        assert time.monotonic() < end, "it never came"
        await asyncio.sleep(0.03)


def hook(event: str, kind: str, **more: object) -> str:
    lines = [
        f"{key} = {json.dumps(value)}"
        if not isinstance(value, dict)
        else f"{key} = {{ {', '.join(f'{k} = {json.dumps(v)}' for k, v in value.items())} }}"
        for key, value in more.items()
    ]
    return "\n".join([f"[[agents.hooks.{event}]]", f'type = "{kind}"', *lines, ""])


async def test_a_webhook_is_signed_tried_again_and_told(
    cockpit: Cockpit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The founding example, and a receiver that fails at first."""
    monkeypatch.setenv("MONITORING_TOKEN", "t0ken-of-monitoring")
    monkeypatch.setenv("SIGNING", "whsec_" + base64.b64encode(KEY).decode())

    async with Receiver(503).open() as receiver:
        table = hook(
            "on_handoff_complete",
            "webhook",
            name="monitoring",
            url=receiver.url("/hooks-S3CRET-PATH"),
            headers={"Authorization": "Bearer ${MONITORING_TOKEN}"},
            secret="${SIGNING}",
            allow_private=True,
        )
        async with cockpit.flying(cockpit.agent(steps=30, more=table)):
            await cockpit.start()
            first, again = await receiver.until(2)
            delivered = await cockpit.event("hook.delivered")
            row = await cockpit.row()
        assert first.path == "/hooks-S3CRET-PATH"
        assert again.headers["authorization"] == "Bearer t0ken-of-monitoring"
        assert again.told == first.told
        assert again.told["hook_event_name"] == "handoff_complete"
        assert again.told["handoff"]["new_session_id"] == row.session_id
        assert again.headers["webhook-id"] == first.headers["webhook-id"]
        stamp = again.headers["webhook-timestamp"]
        signed = f"{again.headers['webhook-id']}.{stamp}.".encode() + again.body
        digest = base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
        assert again.headers["webhook-signature"] == f"v1,{digest}"
        assert delivered.data["attempts"] == 2
    kept = b"".join(path.read_bytes() for path in cockpit.places.state.glob("cockpit.db*"))
    kept += b"".join(path.read_bytes() for path in cockpit.places.logs.rglob("*.log"))
    assert b"t0ken-of-monitoring" not in kept
    assert b"S3CRET-PATH" not in kept


async def test_chats_get_messages_of_their_own(cockpit: Cockpit) -> None:
    async with Receiver().open() as receiver:
        tables = "".join(
            hook("on_handoff_start", kind, url=receiver.url(f"/{kind}"), allow_private=True)
            for kind in ("slack", "discord")
        )
        async with cockpit.flying(cockpit.agent(steps=30, more=tables)):
            await cockpit.start()
            posts = {post.path: post for post in await receiver.until(2)}
        assert "A handoff of api" in posts["/slack"].told["text"]
        assert posts["/discord"].told["allowed_mentions"] == {"parse": []}


@pytest.mark.long
async def test_a_forum_has_one_thread_for_each_job(cockpit: Cockpit) -> None:
    """As Discord answers where it was asked to wait: with the channel that is the thread."""

    receiver = Receiver()
    receiver.says = {"id": "1", "channel_id": "4711"}
    async with receiver.open():
        tables = "".join(
            hook(event, "discord", url=receiver.url("/forum"), allow_private=True, threads=True)
            for event in ("on_handoff_start", "on_handoff_document", "on_handoff_complete")
        )
        async with cockpit.flying(cockpit.agent(steps=30, more=tables)):
            await cockpit.start()
            first, *others = await receiver.until(3)
    assert first.path == "/forum?wait=true"
    assert first.told["thread_name"].startswith("api: Count the steps")
    assert {post.path for post in others} == {"/forum?wait=true&thread_id=4711"}
    assert not any("thread_name" in post.told for post in others)


@pytest.mark.long
async def test_a_thread_that_was_deleted_is_opened_anew(cockpit: Cockpit) -> None:
    receiver = Receiver(200, 404)
    receiver.says = {"channel_id": "4711"}
    async with receiver.open():
        tables = "".join(
            hook(event, "discord", url=receiver.url("/forum"), allow_private=True, threads=True)
            for event in ("on_handoff_start", "on_handoff_document")
        )
        async with cockpit.flying(cockpit.agent(steps=30, more=tables)):
            await cockpit.start()
            posts = await receiver.until(3)
    assert [post.path for post in posts[:3]] == [
        "/forum?wait=true",
        "/forum?wait=true&thread_id=4711",
        "/forum?wait=true",
    ]
    assert posts[2].told["embeds"] == posts[1].told["embeds"]


@pytest.mark.long
async def test_what_is_refused_is_told_on_the_row_and_not_tried_again(cockpit: Cockpit) -> None:
    async with Receiver(410).open() as receiver:
        tables = hook("on_handoff_start", "webhook", url=receiver.url("/private")) + hook(
            "on_handoff_start", "webhook", url=receiver.url("/gone"), allow_private=True
        )
        async with cockpit.flying(cockpit.agent(steps=30, more=tables)) as supervisor:
            await cockpit.start()
            await cockpit.event("hook.undelivered", number=2)
            told = {each.data["error"] for each in await cockpit.events("hook.undelivered")}
            row = await cockpit.until(lambda row: row.handoffs == 1 and row.note)
            assert OutgoingTable(supervisor.dependencies.store).due(time.time() + 1e6) == []
        assert [post.path for post in receiver.posts] == ["/gone"]
        assert told == {
            "the address is loopback or private (allow_private is not set)",
            "refused with HTTP status 410",
        }
        assert row.note is not None
        assert "was not delivered" in row.note


@pytest.mark.long
async def test_a_message_outlives_the_supervisor_and_a_receiver_that_was_away(
    cockpit: Cockpit,
) -> None:
    async with Receiver().open() as receiver:
        port = receiver.port
    table = hook("on_handoff_start", "webhook", url=f"http://127.0.0.1:{port}/", allow_private=True)
    async with cockpit.flying(cockpit.agent(steps=30, more=table)) as supervisor:
        await cockpit.start()
        await cockpit.until(lambda row: row.handoffs == 1)
        store = OutgoingTable(supervisor.dependencies.store)
        await until(lambda: any(one.attempts for one in store.due(time.time() + 1e6)))
        assert (await cockpit.ask(Stop(name="api"))).message == "Stopped api"
    async with receiver.open(port):
        async with cockpit.flying():
            (post,) = await receiver.until(1)
            await cockpit.event("hook.delivered")
        assert post.told["hook_event_name"] == "handoff_start"


@pytest.mark.long
async def test_a_storm_is_one_notification(cockpit: Cockpit) -> None:
    """Two agents that ask at once, and a receiver in the manner of ntfy."""

    async with Receiver().open() as receiver:
        notify = f'[notifications]\nurls = ["json://127.0.0.1:{receiver.port}/n"]\n'
        agents = [cockpit.agent(name, mode="prompt", steps=30, pause=3) for name in ("api", "web")]
        async with cockpit.flying(notify, *agents):
            for number, name in enumerate(("api", "web"), 1):
                await cockpit.start(name)
                await cockpit.event("agent.needs_you", number=number)
            (post,) = await receiver.until(1)
            await cockpit.event("hook.delivered")
        assert len(receiver.posts) == 1
        assert post.told["title"] == "cockpit: 2 events"
        assert "- api needs you (handoff)" in post.told["message"]
        assert "- web needs you (handoff)" in post.told["message"]


@pytest.mark.long
async def test_in_quiet_hours_it_waits_for_their_end(cockpit: Cockpit) -> None:
    now = datetime.now().astimezone()
    span = [(now + timedelta(hours=hours)).strftime("%H:%M") for hours in (-1, 2)]

    notify = f'[notifications]\nurls = ["json://127.0.0.1:1/n"]\nquiet = "{span[0]}-{span[1]}"\n'
    agent = cockpit.agent(mode="prompt", steps=30, pause=3)
    async with cockpit.flying(notify, agent) as supervisor:
        await cockpit.start()
        await cockpit.event("agent.needs_you")
        (waiting,) = OutgoingTable(supervisor.dependencies.store).all_of("notice")
        assert 6900 <= waiting.next_at - waiting.created <= 7260


class MailSink:
    """A server that takes every mail and keeps it."""

    def __init__(self) -> None:
        self.mails: list[str] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        def say(line: str) -> None:
            writer.write(f"{line}\r\n".encode())

        say("220 sink")
        while line := (await reader.readline()).decode().strip():
            match line.split(" ")[0].upper():
                case "DATA":
                    say("354 go on")
                    mail = await reader.readuntil(b"\r\n.\r\n")
                    self.mails.append(mail.decode())
                    say("250 taken")
                case "QUIT":
                    say("221 bye")
                    break
                case _:
                    say("250 yes")
            await writer.drain()
        writer.close()


@pytest.mark.long
async def test_a_notify_hook_sends_a_mail(cockpit: Cockpit) -> None:
    sink = MailSink()
    server = await asyncio.start_server(sink, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    url = f"mailto://127.0.0.1:{port}?from=cockpit@example.com&to=pilot@example.com"
    async with server:
        table = hook("on_handoff_complete", "notify", name="mail", urls=[url])
        async with cockpit.flying(cockpit.agent(steps=30, more=table)):
            await cockpit.start()
            delivered = await cockpit.event("hook.delivered")
        server.close()
    assert delivered.data["hook"] == "mail"
    (mail,) = sink.mails
    assert "To: pilot@example.com" in mail
    assert "continues in session 2" in mail or "continues in session 2" in _decoded(mail)


def _decoded(mail: str) -> str:
    import email

    parts = [part for part in email.message_from_string(mail).walk() if not part.is_multipart()]
    return "\n".join(
        bytes(part.get_payload(decode=True) or b"").decode("utf-8", "replace") for part in parts
    )
