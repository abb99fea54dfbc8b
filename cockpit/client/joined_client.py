"""A client of several supervisors: the local supervisor, and the supervisor of each other host.

A name contains its host (`host/name`), so a request with a name goes to one supervisor. A request
to all supervisors leaves out those that fail, and raises an error only if all fail. `without` has
the errors of the latest history request; `without_status` has the hosts that did not answer the
latest status request. `JoinedClient` cannot follow events: follow each of its `members` separately.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Container, Mapping, Sequence
from typing import Any, TypeVar

from cockpit.client.client import Client, Supervisor
from cockpit.client.host_client import HostClient
from cockpit.core.errors import BadUsage, CockpitError, NoSupervisor
from cockpit.core.far_names import LOCAL, host_and_name
from cockpit.core.safetext import quoted
from cockpit.wire.course import Course
from cockpit.wire.dialogs import DialogStatus
from cockpit.wire.diff import WorktreeDiff
from cockpit.wire.history import HistoryChain, HistoryPage
from cockpit.wire.status import ElsewhereSession, Status
from cockpit.wire.stream import ScreenShot
from cockpit.wire.verbs import Done, Verb
from cockpit.wire.worktrees import WorktreeStatus

Answer = TypeVar("Answer")


class JoinedClient:
    """A `Client` of all supervisors. Requests without a host go to the local supervisor."""

    def __init__(self, local: Supervisor, remote: Sequence[HostClient]) -> None:
        self._local = local
        self._remote = {other.host: other for other in remote}
        self._without: dict[str, CockpitError] = {}
        self._without_status: dict[str, CockpitError] = {}
        self.duplicates: frozenset[str] = frozenset()
        """Hosts that reach the same supervisor as another host; requests to all hosts skip
        these."""

    @property
    def without(self) -> Mapping[str, CockpitError]:
        """The error of each host whose latest history request failed, by host.

        Requests for the history of one agent do not count.
        """
        members = self.members
        return {host: error for host, error in self._without.items() if host in members}

    @property
    def without_status(self) -> frozenset[str]:
        """The hosts that did not answer the latest request for the status."""
        return frozenset(self._without_status.keys() & self.members.keys())

    @property
    def members(self) -> dict[str, Supervisor]:
        """Every supervisor by host name, the local one first."""
        return {LOCAL: self._local, **self._remote}

    def set_hosts(self, remote: Sequence[HostClient]) -> None:
        """Replace the remote hosts; requests in progress continue with the old hosts."""
        self._remote = {other.host: other for other in remote}

    async def status(self) -> Status:
        """Return this machine's status, followed by the agents of every host that answers.

        `without_status` has the hosts that are missing.
        """
        answers = await self._ask_members(
            lambda _, client: client.status(), failures=self._without_status
        )
        return answers.get(LOCAL, Status()).model_copy(
            update={
                "agents": [agent for answer in answers.values() for agent in answer.agents],
                "held": [held for answer in answers.values() for held in answer.held],
            }
        )

    def screen(self, name: str, history: int = 0) -> AsyncIterator[ScreenShot]:
        return self._client_of(name).screen(name, history)

    async def ask(self, verb: Verb) -> Done:
        """Send a request to the host that the request names, or else to the local supervisor.

        Raises `BadUsage` for an unknown host.
        """
        named = (getattr(verb, field, None) for field in ("name", "tree", "session"))
        return await self._client_of(next(filter(None, named), "")).ask(verb)

    async def document(self, handoff: str) -> str:
        return await self._client_of(handoff).document(handoff)

    async def continuation(self, name: str) -> str:
        return await self._client_of(name).continuation(name)

    async def facts(self, name: str) -> dict[str, Any]:
        return await self._client_of(name).facts(name)

    async def history(
        self, name: str | None = None, search: str | None = None
    ) -> list[HistoryChain]:
        """Return the chains of one agent, or of all agents of all hosts that answer. Other
        machines' chains have a `host`."""
        if name is not None:
            return await self._client_of(name).history(name, search)
        answers = await self._ask_members(
            lambda _, client: client.history(None, search), failures=self._without
        )
        return [chain for chains in answers.values() for chain in chains]

    async def history_page(
        self, limit: int, before: str | None = None, name: str | None = None
    ) -> HistoryPage:
        """Return one page of each host, merged; `next` has the cursor of each host with older
        handoffs.

        A host that does not answer keeps its cursor, so that the next request asks this host for
        the same page. `next` is None if no host is known to have older handoffs; hosts that never
        answered do not count.
        """
        if name is not None:
            return await self._client_of(name).history_page(limit, before, name)
        cursors = dict.fromkeys(self.members) if before is None else _cursors(before)

        def question(host: str, client: Client) -> Awaitable[HistoryPage]:
            return client.history_page(limit, cursors[host])

        answers = await self._ask_members(question, set(cursors), failures=self._without)
        older = {host: page.next for host, page in answers.items() if page.next is not None}
        unanswered = self.members.keys() & cursors.keys() - answers.keys() - self.duplicates
        following = older | {host: cursors[host] for host in unanswered}
        has_older = any(page is not None for page in following.values())
        return HistoryPage(
            chains=[chain for page in answers.values() for chain in page.chains],
            next=json.dumps(following) if has_older else None,
            total=sum(page.total for page in answers.values()),
        )

    async def course(self, name: str) -> Course:
        return await self._client_of(name).course(name)

    async def dialog(self, name: str) -> DialogStatus:
        return await self._client_of(name).dialog(name)

    async def worktrees(
        self, directory: str | None = None, *, sizes: bool = False
    ) -> list[WorktreeStatus]:
        """Return the worktrees of every host that answers; `directory` is a directory of this
        machine."""

        def question(client: Client) -> Awaitable[list[WorktreeStatus]]:
            return client.worktrees(directory if client is self._local else None, sizes=sizes)

        answers = await self._all(question)
        return [tree for trees in answers.values() for tree in trees]

    async def elsewhere(self) -> list[ElsewhereSession] | None:
        """Return the sessions of every host that answers.

        None if `[elsewhere] show` is off on all of these hosts.
        """
        answers = (await self._all(lambda client: client.elsewhere())).values()
        if all(answer is None for answer in answers):
            return None
        return [session for answer in answers for session in answer or ()]

    async def diff(self, name: str, *, of_job: bool = False) -> WorktreeDiff:
        return await self._client_of(name).diff(name, of_job=of_job)

    def _client_of(self, name: str) -> Client:
        # A name that starts with a slash is a path on this machine.
        host = host_and_name(name)[0] or LOCAL
        client = self.members.get(host)
        if client is None:
            known = ", ".join(self.members)
            raise BadUsage(
                f"No host named {quoted(host)} is configured",
                f"Known: {known}.",
                hint="Add the host to cockpit.toml as a [[hosts]] table.",
            )
        return client

    async def _all(self, question: Callable[[Client], Awaitable[Answer]]) -> dict[str, Answer]:
        return await self._ask_members(lambda _, client: question(client))

    async def _ask_members(
        self,
        question: Callable[[str, Client], Awaitable[Answer]],
        hosts: Container[str] | None = None,
        failures: dict[str, CockpitError] | None = None,
    ) -> dict[str, Answer]:
        """Return the results by host; hosts that fail are left out.

        Skips hosts that are known to be unreachable. If no host answers, raises the error of the
        first host asked, usually the local supervisor. Updates `failures` with the errors of the
        hosts, skipped ones included, and removes the errors of hosts that answered.
        """
        failures = {} if failures is None else failures
        wanted = {
            host: client
            for host, client in self.members.items()
            if host not in self.duplicates and (hosts is None or host in hosts)
        }
        silent = {other.host for other in self._remote.values() if other.answers is False}
        members = {host: client for host, client in wanted.items() if host not in silent}
        results = await asyncio.gather(*(_answer(question(*member)) for member in members.items()))
        answers = {
            host: answer
            for host, answer in zip(members, results, strict=True)
            if not isinstance(answer, CockpitError)
        }
        for host in wanted:
            failures.pop(host, None)
        failures |= {host: _not_connected(host) for host in wanted.keys() & silent}
        failures |= {
            host: answer
            for host, answer in zip(members, results, strict=True)
            if isinstance(answer, CockpitError)
        }
        if not answers and results and isinstance(results[0], CockpitError):
            raise results[0]
        return answers


def _cursors(cursor: str) -> dict[str, str | None]:
    """Return the cursor of each host, from the `next` of a merged page; None: the newest page.

    Raises `BadUsage`.
    """
    try:
        cursors = json.loads(cursor)
    except ValueError:
        cursors = None
    if not isinstance(cursors, dict):
        raise BadUsage("Invalid cursor", "", "Start again without `before`.")
    return {str(host): None if page is None else str(page) for host, page in cursors.items()}


def _not_connected(host: str) -> CockpitError:
    return NoSupervisor("not connected", "", f"Check the host: cockpit doctor --host {host}")


async def _answer(answer: Awaitable[Answer]) -> Answer | CockpitError:
    try:
        return await answer
    except CockpitError as error:
        return error
