"""Send the messages of hooks and notifications; keep each message until it is sent or given up.

Messages are stored in the database, so that none is lost during a restart or hours without network.
Messages to one URL are sent in order; at most `AT_ONCE` URLs are served at the same time. A URL may
contain a secret, so the database has only the URL's hash. Sending never delays an agent or a
handoff.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import logging
import random
from collections.abc import Callable, Coroutine, Sequence
from typing import Any
from uuid import uuid4

from cockpit.adapters.outgoing import webhooks
from cockpit.adapters.store.outgoing import OutgoingTable
from cockpit.adapters.store.threads import ThreadTable
from cockpit.config.hooks import Hook
from cockpit.core.deliveries import Again, Answer, Delivered, GivenUp, after
from cockpit.core.errors import OsProblem
from cockpit.core.events import HookSent
from cockpit.core.hook_events import Happening, setting_of
from cockpit.core.ids import AgentName
from cockpit.core.notices import digest
from cockpit.core.plurals import counted
from cockpit.ports.records import OutgoingRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.outbound.sender import Sender

AT_ONCE = 4
LONGEST_WAIT = 60.0
"""Maximum seconds between two checks for due messages, because a timeout of the event loop does not
count the time while the machine is suspended."""
ERROR_WAIT = 20.0
"""Seconds until the next attempt after a local error, such as a full disk."""

NOT_CONFIGURED = Answer(problem="the agent or the address was removed", permanent=True)

_log = logging.getLogger(__name__)


class Outbox:
    """Stores and sends the messages of hooks and notifications."""

    def __init__(
        self,
        dependencies: Dependencies,
        find: Callable[[str], Agent | None],
        notice_urls: Callable[[], Sequence[str]],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
        resolver: webhooks.Resolve = webhooks.resolve,
    ) -> None:
        self._dependencies = dependencies
        self._find = find
        self._notice_urls = notice_urls
        self._spawn = spawn
        self._table = OutgoingTable(dependencies.store)
        self._threads = ThreadTable(dependencies.store)
        self._sender = Sender(
            dependencies.environment, dependencies.processes, dependencies.places.state, resolver
        )
        self._wake = asyncio.Event()
        self._busy: set[str] = set()
        self._slots = asyncio.Semaphore(AT_ONCE)

    # Adding

    def post(self, agent: Agent, hook: Hook, happening: Happening) -> None:
        """Add a hook's message in the open transaction, once for each of the hook's URLs."""
        for address in addresses(hook):
            self._add(agent, hook.type, reference(address), dict(happening.payload), 0.0)

    def add_notice(self, agent: Agent | None, url: str, text: str, wait: float) -> None:
        """Add a message for the user.

        After `wait` seconds, all waiting messages for this URL are sent as one.
        """
        self._add(agent, "notice", reference(notice_address(url)), {"text": text}, wait)

    def _add(
        self,
        agent: Agent | None,
        kind: str,
        hook: dict[str, Any],
        payload: dict[str, Any],
        wait: float,
    ) -> None:
        now, name = self._now(), agent.name if agent is not None else AgentName("")
        message = OutgoingRecord(str(uuid4()), now, name, kind, hook, payload, now + wait)
        if dropped := self._table.add(message):
            _log.warning("the outbox is full; dropped %d old messages", dropped)
        self._wake.set()

    # Sending

    async def run(self) -> None:
        """Send messages when they are due, until cancelled."""
        while True:
            self._wake.clear()
            try:
                wait = self._begin_due()
            except OsProblem:
                wait = ERROR_WAIT
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._wake.wait()

    def _begin_due(self) -> float:
        """Begin to send due messages, one task per URL. Return the seconds until the next check."""
        now = self._now()
        for target, messages in _by_target(self._table.due(now)).items():
            if target not in self._busy:
                self._busy.add(target)
                self._spawn(self._deliver_all(target, messages))
        later = self._table.next_after(now)
        return LONGEST_WAIT if later is None else min(max(later - now, 0.01), LONGEST_WAIT)

    async def _deliver_all(self, target: str, messages: list[OutgoingRecord]) -> None:
        try:
            async with self._slots:
                if messages[0].kind == "notice":
                    await self._deliver_notices(messages[0])
                else:
                    for message in messages:
                        self._handle_answer([message], await self._deliver(message))
        except Exception:  # noqa: BLE001 - must not affect other URLs
            _log.exception("sending failed")
            await asyncio.sleep(ERROR_WAIT)
        finally:
            self._busy.discard(target)
            self._wake.set()

    async def _deliver(self, message: OutgoingRecord) -> Answer:
        hook = self._address(message)
        if hook is None:
            return NOT_CONFIGURED
        job = message.payload["session"]["job_id"]
        if hook.get("threads") and job:
            return await self._deliver_in_thread(message, hook, job)
        return await self._send(message, hook)

    async def _deliver_in_thread(
        self, message: OutgoingRecord, hook: dict[str, Any], job: str
    ) -> Answer:
        """Send a message into the job's chat thread.

        Opens a thread if there is none. If the thread was deleted, the next attempt opens one.
        """
        place = reference(hook)["place"]
        thread = self._threads.of(place, job)
        answer = await self._send(message, hook, thread)
        if answer.thread_gone:
            self._threads.forget(place, job)
            return Answer(problem="the chat thread was deleted")
        if thread is None and answer.thread is not None:
            self._threads.remember(place, job, answer.thread)
        return answer

    async def _send(
        self, message: OutgoingRecord, hook: dict[str, Any], thread: str | None = None
    ) -> Answer:
        dated = self._dependencies.clock.now().timestamp()
        return await self._sender.send(
            message.kind, hook, message.payload, message.id, dated, thread
        )

    async def _deliver_notices(self, first: OutgoingRecord) -> None:
        """Send all messages to the user that wait for this URL, as one message."""
        notices = self._table.all_of("notice")
        waiting = [notice for notice in notices if notice.hook == first.hook]
        title, body = digest([notice.payload["text"] for notice in waiting])
        hook = self._address(first)
        sent = await self._sender.notify(hook["url"], title, body) if hook else NOT_CONFIGURED
        self._handle_answer(waiting, sent)

    def _address(self, message: OutgoingRecord) -> dict[str, Any] | None:
        """Return a message's address in the configuration; None if the address was removed."""
        if message.kind == "notice":
            known = [notice_address(url) for url in self._notice_urls()]
        else:
            agent = self._find(message.agent)
            hooks = agent.settings.hooks.written() if agent is not None else ()
            known = [address for _, hook in hooks for address in addresses(hook)]
        wanted = message.hook["key"]
        return next((address for address in known if reference(address)["key"] == wanted), None)

    def _handle_answer(self, messages: Sequence[OutgoingRecord], answer: Answer) -> None:
        """Remove messages that were sent together; after a temporary error, schedule a new
        attempt."""
        if not messages:
            return
        first, now = messages[0], self._now()
        attempts = first.attempts + 1
        result = after(answer, attempts, max(0.0, now - first.created), random.random())
        for message in messages:
            if isinstance(result, Again):
                self._table.put_off(message, attempts, now + result.seconds)
            else:
                self._table.remove(message)
        if isinstance(result, Again):
            _log.info("%s is retried in %.0f s: %s", _name(first), result.seconds, answer)
        else:
            self._record(first, len(messages), attempts, result)

    def _record(
        self, message: OutgoingRecord, many: int, attempts: int, result: Delivered | GivenUp
    ) -> None:
        why = result.why if isinstance(result, GivenUp) else ""
        name, agent = _name(message), self._find(message.agent)
        text = f"{name} was not delivered: {why}" if why else f"{name} was delivered"
        event = message.payload.get("hook_event_name")
        if agent is not None and why:
            agent.troubles.fail_hook(f"{event} {name}", text)
        elif agent is not None:
            agent.troubles.succeed_hook(f"{event} {name}")
        where = f" ({setting_of(event)})" if event else f" ({counted(many, 'message')})"
        sent = HookSent(
            "hook.undelivered" if why else "hook.delivered",
            hook=name,
            type=message.kind,
            event=event,
            success=not why,
            attempts=attempts,
            error=why or None,
            message=message.id,
        )
        self._dependencies.event_log.record(sent, text + where, message.agent or None)

    async def close(self) -> None:
        """End processes that are sending. The messages are sent again later."""
        await self._sender.close()

    def _now(self) -> float:
        return self._dependencies.clock.steady()


def _name(message: OutgoingRecord) -> str:
    return str(message.hook["name"])


def _by_target(messages: Sequence[OutgoingRecord]) -> dict[str, list[OutgoingRecord]]:
    """Group messages by kind and address; each group keeps the order."""
    by_target: dict[str, list[OutgoingRecord]] = {}
    for message in messages:
        place = message.hook.get("place", message.hook["key"])
        by_target.setdefault(f"{message.kind} {place}", []).append(message)
    return by_target


def addresses(hook: Hook) -> list[dict[str, Any]]:
    """Return the addresses of a hook: one for each URL, with the hook's other values."""
    written = hook.model_dump(mode="json", exclude_defaults=True)
    urls = hook.urls if hook.type == "notify" else (hook.url,)
    return [{**written, "url": url} for url in urls]


def notice_address(url: str) -> dict[str, Any]:
    """Return the address for a URL under `[notifications]`."""
    return {"type": "notify", "name": "notifications", "url": url}


def reference(address: dict[str, Any]) -> dict[str, str]:
    """Return the name of an address, and hashes that identify the address but reveal no secrets."""
    text = json.dumps(address, sort_keys=True).encode()
    name = str(address.get("name") or address["type"])
    # Without the token, so that a job keeps its thread when the token changes.
    where = "\n".join(str(address[key]) for key in ("url", "channel_id") if key in address)
    place = hashlib.sha256(where.encode()).hexdigest()
    return {"name": name, "key": hashlib.sha256(text).hexdigest(), "place": place}
