"""Which kinds of agents there are."""

from __future__ import annotations

from pathlib import Path

import pytest

from cockpit.adapters.agents import RUNTIMES, runtime
from cockpit.core.errors import BadUsage
from cockpit.core.ids import AgentName
from cockpit.core.moments import SessionBegan
from cockpit.ports.runtimes import Signal

IDENT = "39a57f58-31ec-487f-a96f-1d42382d2ffb"
TRANSCRIPTS = {
    "claude": "/home/.claude/projects/-w/{}.jsonl",
    "codex": "/home/.codex/sessions/2026/11/23/rollout-2026-11-23T13-47-00-{}.jsonl",
    "gemini": "/home/.gemini/tmp/w/chats/session-2026-11-23T13-47-39a57f58.jsonl",
    "copilot": "/home/.copilot/session-state/{}/events.jsonl",
    "opencode": "{state}/opencode/{}.jsonl",
}
"""Where each CLI keeps its transcripts."""


@pytest.mark.parametrize("name", RUNTIMES)
def test_a_runtime_is_made_by_its_name(name: str, tmp_path: Path) -> None:
    assert runtime(name, tmp_path).name == name


def test_an_unknown_one_is_bad_usage(tmp_path: Path) -> None:
    with pytest.raises(BadUsage) as refused:
        runtime("emacs", tmp_path)
    for name in RUNTIMES:
        assert name in refused.value.hint


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_a_forged_report_names_no_other_file_as_the_transcript(name: str, tmp_path: Path) -> None:
    made = runtime(name, tmp_path)
    ident = "ses_0123456789abcdef" if name == "opencode" else IDENT

    def begins(path: str, session: str = ident) -> bool:
        payload = {"session_id": session, "transcript_path": path, "source": "clear"}
        found = made.moments(Signal(AgentName("api"), "SessionStart", payload, 0.0))
        return any(isinstance(moment, SessionBegan) for moment in found)

    own = TRANSCRIPTS[name].format(ident, state=tmp_path)
    assert begins(own)
    other = ident.replace("0", "9").replace("39a", "49a")
    for forged in (
        "/etc/passwd",
        own.replace(ident, other).replace("39a", "49a"),
        own.rpartition("/")[0] + "/../" + own.rpartition("/")[2],
        own[1:],
    ):
        assert not begins(forged), forged
    assert not begins(own, "../" + ident)
