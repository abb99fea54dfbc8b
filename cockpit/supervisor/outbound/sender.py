"""Send one message once: to a webhook, to a chat, or through Apprise.

A secret is written as `${NAME}` in a hook, and inserted only here, so that it is never stored. The
outbox decides when to send, and how to react to the response.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from cockpit.adapters.outgoing import notify, webhooks
from cockpit.adapters.process.hook_shell import ShellHooks
from cockpit.core import slack_bot
from cockpit.core.deliveries import Answer
from cockpit.core.errors import Failed
from cockpit.core.outgoing import body_for, expanded, signature, thread_address, thread_of
from cockpit.ports.processes import Processes

NOTIFY_SECONDS = 30.0
MOST_READ = 65_536
"""Maximum bytes read of a response, to find the thread of a message."""

GONE_STATUS = 404

_HEADERS = {"Content-Type": "application/json", "User-Agent": "cockpit"}
_SLACK_HEADERS = {**_HEADERS, "Content-Type": "application/json; charset=utf-8"}


class Sender:
    """Sends messages; inserts secrets from the environment."""

    def __init__(
        self,
        environment: Mapping[str, str],
        processes: Processes,
        directory: Path,
        resolver: webhooks.Resolve = webhooks.resolve,
    ) -> None:
        self._environment = environment
        self._apprise = ShellHooks(processes, environment)
        self._directory = directory
        self._resolver = resolver

    async def send(
        self,
        kind: str,
        hook: Mapping[str, Any],
        payload: Mapping[str, Any],
        ident: str,
        now: float,
        thread: str | None = None,
    ) -> Answer:
        """Send an event to the hook's `url`. Errors are returned, not raised.

        If the hook uses threads, the message is sent into `thread`, or opens a thread.
        """
        try:
            if kind == "notify":
                title = f"cockpit: {payload['session']['agent_name']}"
                return await self.notify(hook["url"], title, payload["text"])
            if kind == "discord" and hook.get("threads"):
                return await self._post_in_thread(hook, payload, thread)
            if kind == "slack" and hook.get("token"):
                return await self._post_as_bot(hook, payload, thread)
            return await self._post(kind, hook, payload, ident, now)
        except Failed as wrong:
            return Answer(problem=wrong.title, permanent=True)

    async def _post(
        self, kind: str, hook: Mapping[str, Any], payload: Mapping[str, Any], ident: str, now: float
    ) -> Answer:
        body = body_for(kind, payload)
        headers = dict(_HEADERS)
        if kind == "webhook":
            given = hook.get("headers", {})
            headers |= {name: self._expanded(value) for name, value in given.items()}
            headers["webhook-id"] = ident
            if secret := self._expanded(hook.get("secret", "")):
                headers |= signature(secret, ident, int(now), body)
        return await webhooks.post(
            self._expanded(hook["url"]),
            body,
            headers,
            allow_private=bool(hook.get("allow_private")),
            resolver=self._resolver,
        )

    async def _post_in_thread(
        self, hook: Mapping[str, Any], payload: Mapping[str, Any], thread: str | None
    ) -> Answer:
        answer = await webhooks.post(
            thread_address(self._expanded(hook["url"]), thread),
            body_for("discord", payload, opens_thread=thread is None),
            _HEADERS,
            allow_private=bool(hook.get("allow_private")),
            resolver=self._resolver,
            heard=MOST_READ,
        )
        deleted = thread is not None and answer.status == GONE_STATUS
        return replace(answer, thread=thread_of(answer.body), thread_gone=deleted)

    async def _post_as_bot(
        self, hook: Mapping[str, Any], payload: Mapping[str, Any], thread: str | None
    ) -> Answer:
        answer = await webhooks.post(
            self._expanded(hook["url"]) or slack_bot.ADDRESS,
            slack_bot.body(
                payload,
                self._expanded(hook["channel_id"]),
                thread=thread,
                opens_thread=bool(hook.get("threads")),
            ),
            {**_SLACK_HEADERS, "Authorization": slack_bot.bearer(self._expanded(hook["token"]))},
            allow_private=bool(hook.get("allow_private")),
            resolver=self._resolver,
            heard=MOST_READ,
        )
        return slack_bot.judged(answer, thread)

    async def notify(self, url: str, title: str, body: str) -> Answer:
        """Send a message to an Apprise URL. Errors are returned, not raised."""
        try:
            address = self._expanded(url)
        except Failed as wrong:
            return Answer(problem=wrong.title, permanent=True)
        run = await self._apprise.run(
            notify.COMMAND,
            notify.order(address, title, body),
            directory=self._directory,
            more={},
            timeout=NOTIFY_SECONDS,
        )
        if not run.problem:
            return Answer(status=200)
        permanent = run.exit_code == notify.NO_ADDRESS
        problem = (
            "Apprise does not support this URL"
            if permanent
            else "the service did not accept the message"
        )
        return Answer(problem=problem, permanent=permanent)

    def _expanded(self, text: str) -> str:
        return expanded(text, self._environment)

    async def close(self) -> None:
        """End processes that are sending."""
        await self._apprise.close()
