"""The real Claude Code as a successor that repeats a finished step and breaks a standing order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cockpit.demo.conversation import Reply, Request
from tests.journeys.real_agent import DOCUMENT, NO_CLI, call, real_agent, say, write_document

pytestmark = [
    pytest.mark.long,
    pytest.mark.claude,
    pytest.mark.tmux,
    pytest.mark.skipif(NO_CLI, reason="the SDK of this platform brings no CLI"),
]
COMMIT = "git commit --allow-empty -m 'Watch the server'"
CHECK = "echo no server answers; exit 3"
ORDERS = "\n## Constraints from the user\n\n- Never commit\n- Never push\n"


def answer(request: Request) -> Reply:
    """Commit, run a check that fails, end the turn; the successor does the same once more."""
    if not request.has_tools:
        return say("ok")
    successor = bool(request.documents_named)
    tokens = 20_000 if successor else 150_000
    if (document := write_document(request, tokens)) is not None:
        (written,) = document.tool_calls
        if written.name == "Read":
            return document
        content = {**written.input, "content": DOCUMENT + ORDERS}
        return replace(document, tool_calls=(replace(written, input=content),))
    steps = [
        call("Bash", command=COMMIT, description="Commit"),
        call("Bash", command=CHECK, description="Check"),
    ]
    made = request.steps_made - (1 if successor else 0)
    return steps[made] if made < len(steps) else say("Done.", tokens)


async def test_what_the_real_cli_repeats_and_breaks_is_told_on_its_row() -> None:
    with real_agent(answer, mode='"auto"') as agent:
        await agent.start()
        row = await agent.until(lambda row: row.note and "and 2 more" in row.note)
        assert row.note is not None
        assert row.note.startswith("this session broke a standing order: Never commit")
        (chain,) = await agent.flown.client.history(agent.name)
        (handoff,) = chain.sessions[0].handoffs
        assert handoff.broken_orders == ["Never commit"]
        assert handoff.repeats == [
            "committed again: Watch the server",
            f"failed again in the same way: `{CHECK}`",
        ]
        assert handoff.document_read is True
        assert handoff.tokens_before is not None
        assert handoff.first_change_seconds is not None
