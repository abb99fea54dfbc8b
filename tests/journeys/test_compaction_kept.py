"""The real Claude Code waits with its compaction until facts of the session are on the disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from cockpit.core import front_matter
from cockpit.demo.conversation import ApiError, Reply, Request, TokenCount
from tests.journeys.real_agent import NO_CLI, call, real_agent, say

pytestmark = [
    pytest.mark.claude,
    pytest.mark.tmux,
    pytest.mark.skipif(NO_CLI, reason="the SDK of this platform brings no CLI"),
]


TOO_LONG = ApiError(
    400, "invalid_request_error", "prompt is too long: 205000 tokens > 200000 maximum"
)


def filled(request: Request, tokens: int) -> Reply:
    """Two steps, the second with a full context; a summary where one is wanted."""
    if request.asks_for_summary:
        return Reply("<summary>all of it</summary>", tokens=TokenCount(cache_read=tokens))
    if request.is_compacted or not request.has_tools:
        return say("Done.")
    if request.replies_made < 2:
        return call("Bash", (30_000, tokens)[request.replies_made], command="seq 1 200")
    return Reply(error=TOO_LONG)


@pytest.mark.long
@pytest.mark.parametrize("tokens", [180_000, 100_000], ids=["by itself", "refused by the API"])
async def test_facts_are_on_the_disk_before_it_compacts(tokens: int) -> None:
    with real_agent(lambda request: filled(request, tokens), mode='"prompt"') as agent:
        await agent.start()
        row = await agent.until(lambda row: row.compactions == 1 and row.state != "working")
        (kept,) = await agent.events("compaction.kept")
        (compacted,) = await agent.events("agent.compacted")
        assert kept.id < compacted.id
        front, body = front_matter.load(Path(kept.data["document"]).read_text())
        assert front is not None
        assert (front.old_session_id, front.tokens) == (row.session_id, tokens + 1_003)
        assert "seq 1 200" in body
        assert row.needs is None or row.needs.kind != "failed"
