"""`/cockpit:handoff`, typed into the real CLI: it begins a handoff, and the job goes on."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from cockpit.adapters.agents.claude.program import bundled_path
from cockpit.demo.conversation import Reply, Request, TokenCount, ToolCall
from cockpit.demo.model import ModelServer
from tests.journeys.short_session import SHORT_SESSION

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

BUNDLED = bundled_path()
pytestmark = [
    pytest.mark.long,
    pytest.mark.claude,
    pytest.mark.tmux,
    pytest.mark.skipif(BUNDLED is None, reason="the SDK of this platform brings no CLI"),
]
KEY = "made-up-key-for-a-simulated-model"


def answer(request: Request) -> Reply:
    """Does what is asked of it, and reads the document as a successor."""
    if not request.has_tools:
        return Reply("ok")
    path = request.document_asked
    if path is not None:
        return Reply(tool_calls=(ToolCall("Write", {"file_path": path, "content": DOCUMENT}),))
    if request.documents_named and not request.replies_made:
        read = ToolCall("Read", {"file_path": request.documents_named[-1]})
        return Reply(tool_calls=(read,))
    return Reply("Done so far.", tokens=TokenCount(cache_read=20_000))


SAID = "As it was before, and as `git status` and `git log` tell it."
PROGRESS = f"### Completed\n\n{SAID}\n\n### In Progress\n\nNone.\n\n### Pending\n\nNone."
SECTIONS = {
    "Current Task": SAID,
    "Progress": PROGRESS,
    "Current State": SAID,
    "Next Steps": "1. `git status`: look at what is there.",
    "Key Decisions": SAID,
    "What Did Not Work": SAID,
    "Open Issues": "None.",
    "Background Work": "None.",
}
DOCUMENT = "# Handoff\n\n" + "\n\n".join(
    f"## {title}\n\n{body}" for title, body in SECTIONS.items()
)


def real_agent(cockpit: Cockpit, url: str) -> str:
    """The table of an agent that is the CLI of the SDK, against the simulated model."""
    assert BUNDLED is not None
    claude = cockpit.home / "bin" / "claude"
    claude.unlink()
    claude.symlink_to(BUNDLED)
    folder = cockpit.home / "claude"
    folder.mkdir()
    known = {str(cockpit.repository): {"hasTrustDialogAccepted": True}}
    approved = {"approved": [KEY[-20:]], "rejected": []}
    said = {"hasCompletedOnboarding": True, "customApiKeyResponses": approved, "projects": known}
    (folder / ".claude.json").write_text(json.dumps(said))
    env = {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": KEY,
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_TMPDIR": str(cockpit.home),
        **SHORT_SESSION,
    }
    table = ", ".join(f"{key} = {json.dumps(value)}" for key, value in env.items())
    return (
        f'[[agents]]\nname = "api"\nmode = "auto"\nprompt = "begin"\nmodel = "claude-haiku-4-5"\n'
        f"directory = {json.dumps(str(cockpit.repository))}\nenv = {{ {table} }}\n"
    )


async def test_the_skill_begins_a_handoff_that_is_the_agents_own(cockpit: Cockpit) -> None:
    model = ModelServer(answer)
    model.start()
    try:
        async with cockpit.flying(real_agent(cockpit, model.url)):
            first = await cockpit.start()
            await cockpit.until(lambda row: row.state == "idle")
            assert first.pane is not None
            cockpit.tmux("send-keys", "-t", first.pane, "-l", "/cockpit:handoff the tests are slow")
            await in_the_box(cockpit, first.pane)
            cockpit.tmux("send-keys", "-t", first.pane, "Enter")
            begun = await cockpit.event("handoff.begun")
            assert begun.data["reason"] == "agent"
            second = await cockpit.until(
                lambda row: row.handoffs == 1 and row.handoff is None, within=300
            )
            assert second.session_id != first.session_id
            assert (await cockpit.event("handoff.document")).data["writer"] == "agent"
    finally:
        model.stop()
    told = json.dumps([request.messages for request in model.requests])
    assert "Handing off api" in told
    assert "the tests are slow" in told


async def in_the_box(cockpit: Cockpit, pane: str) -> None:
    """Until the prompt box shows what was typed."""
    for _ in range(500):
        if "tests are slow" in cockpit.tmux("capture-pane", "-p", "-t", pane):
            return
        await asyncio.sleep(0.05)
    raise AssertionError(cockpit.tmux("capture-pane", "-p", "-t", pane))
