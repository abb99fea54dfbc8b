"""The worktrees of agents and repositories, with the obstacles to removing them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from cockpit.supervisor.api.access import Access
from cockpit.supervisor.api.request_content import is_set, query_of
from cockpit.supervisor.sessions.worktree_sizes import WorktreeSizes
from cockpit.supervisor.sessions.worktrees import AgentWorktrees
from cockpit.wire.views import WorktreesQuery
from cockpit.wire.worktrees import WorktreeStatus


class WorktreesView:
    def __init__(
        self, access: Access, worktrees: AgentWorktrees, worktree_sizes: WorktreeSizes
    ) -> None:
        self._access = access
        self._worktrees = worktrees
        self._worktree_sizes = worktree_sizes

    async def __call__(self, request: Request) -> Response:
        only = await self._access.only(request)
        asked = query_of(request, WorktreesQuery)
        trees = await self._worktrees.listing(asked.directory)
        trees = [tree for tree in trees if only in (None, tree.agent)]
        if is_set(asked.sizes):
            # A stream: only a streamed response ends when the client disconnects.
            measured = _listed_trees(self._worktree_sizes.measured(trees))
            return StreamingResponse(measured, media_type="application/json")
        return JSONResponse([tree.model_dump() for tree in trees])


async def _listed_trees(source: AsyncIterator[WorktreeStatus]) -> AsyncIterator[bytes]:
    """Yield the worktrees as a JSON list, one at a time."""
    between = b"["
    async for tree in source:
        yield between + json.dumps(tree.model_dump()).encode()
        between = b","
    yield b"[]" if between == b"[" else b"]"
