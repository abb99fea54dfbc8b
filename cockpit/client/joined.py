"""Several supervisors as one client: this machine's, and one for each other host.

A name says whose it is (`host/name`), so every question has one that it goes to. Where all are
asked, what one of them cannot say is left out: its failure is its own. Following is not done
here: each of `members` is followed by itself, and can be lost by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, TypeVar

from cockpit.client.client import Client, Supervisor
from cockpit.client.named import NamedClient
from cockpit.core.errors import BadUsage, CockpitError
from cockpit.core.far_names import LOCAL, host_and_name
from cockpit.core.safetext import quoted
from cockpit.wire.course import Course
from cockpit.wire.diff import WorktreeDiff
from cockpit.wire.status import Status
from cockpit.wire.stream import ScreenShot
from cockpit.wire.verbs import Done, Verb
from cockpit.wire.worktrees import WorktreeStatus

Answer = TypeVar("Answer")


class JoinedClient:
    """A `Client` of them all. What names nobody is this machine's."""

    def __init__(self, here: Supervisor, others: Sequence[NamedClient]) -> None:
        self._here = here
        self._others = {other.host: other for other in others}

    @property
    def members(self) -> dict[str, Supervisor]:
        """Each supervisor by the name of its host, this machine's first."""
        return {LOCAL: self._here, **self._others}

    def have(self, others: Sequence[NamedClient]) -> None:
        """Be these and this machine's from now on; what is under way goes on with whom it asked."""
        self._others = {other.host: other for other in others}

    async def status(self) -> Status:
        """This machine's, with the agents of every host that answers after its own."""
        answers = await self._all(lambda client: client.status())
        return answers.get(LOCAL, Status()).model_copy(
            update={
                "agents": [agent for each in answers.values() for agent in each.agents],
                "held": [one for each in answers.values() for one in each.held],
            }
        )

    def screen(self, name: str, history: int = 0) -> AsyncIterator[ScreenShot]:
        return self._whose(name).screen(name, history)

    async def ask(self, verb: Verb) -> Done:
        """Raises `BadUsage` for a host that there is not."""
        told = getattr(verb, "name", None) or getattr(verb, "tree", None) or ""
        return await self._whose(told).ask(verb)

    async def document(self, handoff: str) -> str:
        return await self._whose(handoff).document(handoff)

    async def continuation(self, name: str) -> str:
        return await self._whose(name).continuation(name)

    async def facts(self, name: str) -> dict[str, Any]:
        return await self._whose(name).facts(name)

    async def history(
        self, name: str | None = None, search: str | None = None
    ) -> list[dict[str, Any]]:
        """Every chain; that of another machine says which, as `host`."""
        if name is not None:
            return await self._whose(name).history(name, search)
        found = await self._all(lambda client: client.history(None, search))
        return [chain for each in found.values() for chain in each]

    async def course(self, name: str) -> Course:
        return await self._whose(name).course(name)

    async def worktrees(self, directory: str | None = None) -> list[WorktreeStatus]:
        """Those of every host; the directory is this machine's."""

        def question(client: Client) -> Awaitable[list[WorktreeStatus]]:
            return client.worktrees(directory if client is self._here else None)

        return [tree for each in (await self._all(question)).values() for tree in each]

    async def diff(self, name: str, *, of_job: bool = False) -> WorktreeDiff:
        return await self._whose(name).diff(name, of_job=of_job)

    def _whose(self, told: str) -> Client:
        # What begins with a slash is a path, and a path is this machine's.
        host = host_and_name(told)[0] or LOCAL
        client = self.members.get(host)
        if client is None:
            known = ", ".join(self.members)
            raise BadUsage(f"No host named {quoted(host)} is configured", f"Known: {known}.")
        return client

    async def _all(self, question: Callable[[Client], Awaitable[Answer]]) -> dict[str, Answer]:
        """What each answers, by its host; those that do not are left out.

        One that is known not to answer is not waited for. Where nobody answers, it raises what
        this machine refused with.
        """
        silent = {other.host for other in self._others.values() if other.answers is False}
        asked = {host: one for host, one in self.members.items() if host not in silent}
        said = await asyncio.gather(*(_answer(question(one)) for one in asked.values()))
        answers = {
            host: answer
            for host, answer in zip(asked, said, strict=True)
            if not isinstance(answer, CockpitError)
        }
        if not answers and isinstance(said[0], CockpitError):
            raise said[0]
        return answers


async def _answer(answer: Awaitable[Answer]) -> Answer | CockpitError:
    try:
        return await answer
    except CockpitError as error:
        return error
