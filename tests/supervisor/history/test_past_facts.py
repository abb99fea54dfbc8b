"""The facts of a session of the job that is over, from whatever is left of it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cockpit.core.errors import Failed, NoSuchAgent
from cockpit.supervisor.history import session_facts
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Handoff

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux
ASKED = {"subagent_type": "Explore", "description": "Look around", "prompt": "Find it."}


def end_in_the_middle(record: Path) -> None:
    """Let the session have started a subagent that never answered."""
    lines = record.read_text().splitlines()
    last: dict[str, Any] = next(
        line for line in map(json.loads, reversed(lines)) if line["type"] == "assistant"
    )
    call = {"type": "tool_use", "id": "toolu_1", "name": "Agent", "input": ASKED}
    message = {**last["message"], "id": "msg_last", "content": [call]}
    added = {**last, "uuid": "0", "message": message}
    record.write_text("\n".join([*lines, json.dumps(added)]) + "\n")


def idle_again(row: AgentStatus) -> bool:
    return row.session_number == 2 and row.handoff is None and row.state in ("idle", "done")


@pytest.mark.long
async def test_they_are_read_from_what_is_left_of_its_transcript(
    cockpit: Cockpit, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with cockpit.flying(cockpit.agent(steps=4, pause=2, step_tokens=100)):
        first = await cockpit.start()
        await cockpit.until(lambda row: row.state in ("idle", "done"))
        await cockpit.ask(Handoff(name="api"))
        second = await cockpit.until(idle_again)
        assert second.previous_session_id == first.session_id
        record = Path(first.transcript or "")
        end_in_the_middle(record)
        session = str(first.session_id)

        found = await cockpit.client.facts("api", session)
        (subagent,) = found["subagents"]
        assert (subagent["task"], subagent["status"]) == ("Look around", "unknown")
        assert found["usage"]["session_id"] == session
        assert found["usage"]["context"]["window"] == 200_000
        assert found["git_status"] is None
        now = await cockpit.client.facts("api", second.session_id)
        assert now == await cockpit.client.facts("api")
        assert now["subagents"] == []

        with monkeypatch.context() as patched:
            patched.setattr(session_facts, "LARGEST", record.stat().st_size - 1)
            with pytest.raises(Failed, match="too large"):
                await cockpit.client.facts("api", session)

        kept = cockpit.places.state / "records" / f"{session}.jsonl.gz"
        kept.parent.mkdir(exist_ok=True)
        kept.write_bytes(gzip.compress(record.read_bytes()))
        record.unlink()
        assert (await cockpit.client.facts("api", session))["subagents"] == [subagent]
        whole = kept.read_bytes()
        for damaged in (whole[:-20], b"no gzip", whole[:-8] + bytes(8)):
            kept.write_bytes(damaged)
            with pytest.raises(Failed, match="Cannot read") as caught:
                await cockpit.client.facts("api", session)
            assert caught.value.detail.startswith("the file is damaged: ")
            assert caught.value.hint == "To list the session's handoff documents: cockpit history"
        kept.unlink()

        large = kept.with_name(f"{session}.facts.json")
        large.write_text(json.dumps({"subagents": [subagent]}))
        assert await cockpit.client.facts("api", session) == {"subagents": [subagent]}
        large.write_text("{")
        with pytest.raises(Failed, match="Cannot read") as caught:
            await cockpit.client.facts("api", session)
        assert "permissions" not in caught.value.hint
        large.unlink()
        with pytest.raises(NoSuchAgent, match="has no transcript"):
            await cockpit.client.facts("api", session)
        with pytest.raises(NoSuchAgent, match="has no session"):
            await cockpit.client.facts("api", "8003c7bf-4f5c-64f9-8003-c7bf4f5c64f9")
