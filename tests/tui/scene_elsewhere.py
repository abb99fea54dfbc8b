"""Sessions that cockpit did not start, made up for tests of the screens."""

from __future__ import annotations

from datetime import UTC, datetime

from cockpit.wire.status import ElsewhereSession
from tests.tui.scene import context

NOW = datetime(2026, 11, 21, 20, 15, tzinfo=UTC)
BUSY = ElsewhereSession(
    session_id="0b6e6c1e-6a3c-4a6e-9a51-2f4b1d0f6c11", runtime="claude", pid=812,
    directory="/srv/shop", kind="interactive", status="busy", version="2.1.330",
    started_at="2026-11-21T18:15:00Z", model="claude-sonnet-4-6",
    goal="Fix the login test that fails on Mondays, and say why it does.",
    terminal="pts/3", pane="%4", tmux_socket="/tmp/tmux-1000/default",
    context=context(142_000, confidence="derived", source="transcript",
                    compacts_at_source="formula", age_seconds=None),
)  # fmt: skip
IDLE = ElsewhereSession(
    session_id="7d01c2b4-90aa-4c60-8f3e-5a1be0c4d922", runtime="claude", pid=4107,
    directory="/home/me/notes", kind="interactive", status="idle", version="2.1.330",
    model="claude-sonnet-4-6", goal="Sort the notes of this week.", terminal="pts/7",
    context=context(38_000, confidence="derived", source="transcript", age_seconds=None),
)  # fmt: skip
REFUSED = ElsewhereSession(
    session_id="c3a4f0de-1111-4a6e-9a51-2f4b1d0f6c33", runtime="claude", pid=5200,
    directory="/srv/shop", kind="interactive", status="waiting", waiting_for="permission prompt",
    goal="Deploy.", terminal="pts/9", context=context(104_000, age_seconds=None),
    refusal="The session belongs to api. Session 2 of api's job was opened outside cockpit. "
            "End the session's process, then: cockpit start api --resume "
            "c3a4f0de-1111-4a6e-9a51-2f4b1d0f6c33",
)  # fmt: skip
HOSTILE = ElsewhereSession(
    session_id="ffff", runtime="claude", pid=813, directory="/srv/\x1b[31m\u202eevil",
    goal="\x1b[2J\u202e漢字", status="idle",
)  # fmt: skip
SESSIONS = [BUSY, IDLE, REFUSED]
