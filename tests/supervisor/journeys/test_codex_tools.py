"""cockpit's tools in the real Codex: offered for one run, called without a question, and ended."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from cockpit.adapters.agents.own_command import SERVER
from cockpit.core.prompt_files import prompt_files_in
from cockpit.demo.conversation import DOCUMENT_PATH, Reply, Request, TokenCount, ToolCall
from cockpit.wire.verbs import Stop
from tests.journeys.real_agent import DOCUMENT
from tests.supervisor.journeys.codex_pilot import CODEX, CodexPilot
from tests.supervisor.journeys.tool_calls import servers

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = [
    pytest.mark.long,
    pytest.mark.tmux,
    pytest.mark.skipif(CODEX is None, reason="codex is not installed: make clis"),
]
SPACE = f"mcp__{SERVER}"
"""How Codex calls the server's group of tools."""
FIRST = ("context_status", "handoff_request")
SECOND = ("read_handoff",)


def answer(request: Request) -> Reply:
    """Opens its prompt, calls each tool once, and does what it is asked for in between."""
    if not request.has_tools:
        return Reply("A title")
    tokens = TokenCount(cache_read=20_000)
    done = request.calls_made
    called = [call.name for call in done]
    if not done:
        call = ToolCall("Bash", {"command": f"cat {prompt_files_in(request.everything)[0]}"})
        return Reply(tool_calls=(call,), tokens=tokens)
    if request.document_asked is not None:
        call = ToolCall("Write", {"file_path": request.document_asked, "content": DOCUMENT})
        return Reply(tool_calls=(call,), tokens=tokens)
    is_second = "handoff_request" not in str(called) and DOCUMENT_PATH.search(request.everything)
    wanted = [f"{SPACE}.{name}" for name in (SECOND if is_second else FIRST)]
    missing = [name for name in wanted if name not in called]
    if not missing or len(called) > 60:
        return Reply("Done so far.", tokens=tokens)
    call = ToolCall(missing[0], {})
    if SPACE not in request.tools:  # its server is still starting
        call = ToolCall("Bash", {"command": "sleep 0.3"})
    return Reply(tool_calls=(call,), tokens=tokens)


async def test_codex_offers_the_tools_and_the_job_goes_on(cockpit: Cockpit) -> None:
    pilot = CodexPilot(cockpit, answer)
    try:
        table = pilot.table("auto", permission="acceptEdits").replace("mcp = false", "mcp = true")
        async with cockpit.flying(table):
            await cockpit.start()
            second = await cockpit.until(
                lambda row: row.handoffs == 1 and row.handoff is None, within=300
            )
            begun = await cockpit.event("handoff.begun")
            assert begun.data["reason"] == "agent"
            await cockpit.until(lambda _: "read_handoff" in results(pilot))
            found = results(pilot)
            assert _value(found["context_status"])["window"] == second.context.window
            assert _value(found["handoff_request"])["handoff"]["reason"] == "agent"
            (chain,) = await cockpit.client.history("api")
            assert str(chain.sessions[0].handoff) in found["read_handoff"]
            told = [event.text for event in await cockpit.events()]
            assert not any("permission" in text for text in told), told
            assert len(servers(cockpit)) == 1
            await cockpit.ask(Stop(name="api"))
            assert servers(cockpit) == []
    finally:
        pilot.model.stop()
    assert "mcp" not in (pilot.folder / "config.toml").read_text()


def results(pilot: CodexPilot) -> dict[str, str]:
    """The last result of each tool, as the model got it: each follows its call."""
    found: dict[str, str] = {}
    for request in pilot.model.requests:
        names: list[str] = []
        for message in request.messages:
            for part in message["content"]:
                if part["type"] == "tool_use":
                    names.append(part["name"])
                elif part["type"] == "tool_result" and names:
                    name = names.pop(0)
                    if name.startswith(f"{SPACE}."):
                        found[name.removeprefix(f"{SPACE}.")] = part["content"][0]["text"]
    return found


def _value(text: str) -> Any:
    """The JSON in a result, to which Codex adds how long it took."""
    return json.JSONDecoder().raw_decode(text[text.index("{") :])[0]
