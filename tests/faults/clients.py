"""Two clients that ask for everything at once, in an order that a seed decides.

What each verb answers is its own business, and so is a refusal. What must hold is that none fails
inside the supervisor, and that afterwards the agent is what the last verb made of it.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from pathlib import Path

from cockpit.client.http import HttpClient
from cockpit.core.errors import CockpitError
from cockpit.wire.verbs import (
    Approve,
    Continue,
    Handoff,
    Load,
    Refuse,
    RemoveWorktree,
    Send,
    Snooze,
    Start,
    Stop,
    Undo,
    Verb,
)

SECONDS = 4.0
"""How long the clients ask."""
BETWEEN = (0.0, 0.4)
"""Seconds that a client waits before its next verb: often for less than a verb takes."""
UNSAVED = "could not save"
INSIDE = "failed inside the supervisor"
NAME, OTHER = "api", "other"


class Clients:
    """Both of them, on one socket."""

    def __init__(
        self, socket: Path, config: Path, seed: int, document: Callable[[], str | None]
    ) -> None:
        self._socket, self._config, self._seed = socket, config, seed
        self._document = document
        """The document of a handoff that is done, once there is one."""
        self.wrong: list[str] = []
        self.asked = 0
        self.refusal = ""
        """The last one, in words; empty after a verb that was done."""
        self.is_unsaved = False
        """Whether the last answer said that what was done could not save yet."""

    async def ask(self) -> None:
        """Ask for as long as they do."""
        async with asyncio.TaskGroup() as group:
            for number in range(2):
                group.create_task(self._ask(random.Random(self._seed * 2 + number)))

    async def _ask(self, chance: random.Random) -> None:
        client, until = HttpClient(self._socket), asyncio.get_running_loop().time() + SECONDS
        while asyncio.get_running_loop().time() < until:
            await asyncio.sleep(chance.uniform(*BETWEEN))
            await self.one(client, self._drawn(chance))

    async def one(self, client: HttpClient, verb: Verb) -> bool:
        """Ask once; whether it was done."""
        self.asked += 1
        try:
            async with asyncio.timeout(120):
                done = await client.ask(verb)
        except TimeoutError:
            self.wrong.append(f"{verb.verb} was not answered within a minute")
        except CockpitError as refused:
            self.refusal = f"{refused.title}: {refused.detail}"
            if INSIDE in refused.title:
                self.wrong.append(f"{refused.title}: {refused.detail}")
        except OSError as lost:
            self.refusal = f"no answer: {lost}"  # the supervisor was killed
        else:
            self.refusal = ""
            self.is_unsaved = UNSAVED in done.message
            return True
        return False

    def _drawn(self, chance: random.Random) -> Verb:
        document = self._document()
        verbs: list[Verb] = [
            Start(name=NAME),
            Start(name=NAME),
            Stop(name=NAME),
            Send(name=NAME, text="Go on."),
            Handoff(name=NAME),
            Handoff(name=NAME, now=True),
            Approve(name=NAME),
            Approve(name=NAME, straight=True),
            Refuse(name=NAME),
            Snooze(name=NAME, seconds=0.1),
            Undo(name=NAME),
            Start(name=NAME, resume="last"),
            RemoveWorktree(tree=NAME),
            Stop(name=OTHER),
            Load(config=str(self._config), named=True),
        ]
        if document is not None:
            verbs.append(Continue(document=document, name=OTHER))
        return chance.choice(verbs)
