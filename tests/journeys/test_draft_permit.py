"""The real Claude Code writes the document it was asked for in every permission mode."""

from __future__ import annotations

import pytest

from cockpit.demo.conversation import Reply, Request
from tests.journeys.real_agent import NO_CLI, call, real_agent, say, write_document

pytestmark = [
    pytest.mark.claude,
    pytest.mark.tmux,
    pytest.mark.skipif(NO_CLI, reason="the SDK of this platform brings no CLI"),
]


def answer(request: Request) -> Reply:
    """Fill the context, write the document, mend it once; as a successor, only read."""
    if not request.has_tools:
        return say("ok")
    if request.documents_named:
        return write_document(request) or say("Done.")
    if (document := write_document(request, 150_000)) is not None:
        return document
    if request.documents_written and "`git status`" not in edits(request):
        (path,) = request.documents_written
        more = {"old_string": "Run `git status`", "new_string": "Run `git status` first"}
        return call("Edit", 150_000, file_path=path, **more)
    return say("Done.", 150_000)


def edits(request: Request) -> str:
    return "".join(str(made.input) for made in request.calls_made if made.name == "Edit")


@pytest.mark.long
@pytest.mark.parametrize(
    "mode",
    ["default", "plan", "dontAsk", "auto", "acceptEdits"],
)
async def test_no_dialog_stands_in_the_way_of_the_document(mode: str) -> None:
    with real_agent(answer, permission_mode=f'"{mode}"', mode='"auto"') as agent:
        await agent.start()
        await agent.until(lambda row: row.handoffs == 1)
        told = [event.text for event in await agent.events()]
        # In plan mode the dialog opens, and is answered by the hook at once.
        assert mode == "plan" or not any("permission" in text for text in told), told
        (document,) = agent.flown.scratch.documents()
        assert '\nwriter: "agent"\n' in document.read_text()
