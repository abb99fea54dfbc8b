"""A fleet in the middle of its work, from memory: for tests and benchmarks of the screens.

Every number is made up, and none of it says that it happened.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from cockpit.core.front_matter import FrontMatter, dump
from cockpit.wire.status import (
    AgentStatus,
    BandName,
    ContextStatus,
    HandoffStatus,
    MarksStatus,
    Needs,
    Status,
    SupervisorStatus,
)
from cockpit.wire.verbs import Done, Plan, Verb
from tests.client.memory import MemoryClient
from tests.tui import scene_sessions as flown
from tests.tui.scene_history import chains

WINDOW = 200_000
MARKS = MarksStatus(notice=100_000, warn=120_000, act=140_000, force=147_000)
COMPACTS_AT = 167_000
PER_TURN = 2_100


def band(tokens: int) -> BandName:
    """Where a reading of the scene stands."""
    found: BandName = "calm"
    for name in ("notice", "warn", "act", "force"):
        if tokens >= (getattr(MARKS, name) or 0):
            found = name
    return found


def climb(tokens: int) -> list[int]:
    """The session so far, as readings that grew to this one."""
    return [tokens * (step + 3) // 10 for step in range(8)]


def context(tokens: int | None, **fields: Any) -> ContextStatus:
    """A reading of the scene; None for one that is not known."""
    if tokens is None:
        return ContextStatus(**fields)
    target = (MARKS.act or 0) if tokens < (MARKS.act or 0) else COMPACTS_AT
    usual = {
        "tokens": tokens,
        "window": WINDOW,
        "used": tokens / WINDOW,
        "band": band(tokens),
        "confidence": "reported",
        "source": "statusline",
        "age_seconds": 1.4,
        "compacts_at": COMPACTS_AT,
        "tokens_per_turn": PER_TURN,
        "turns_left": max(0, (target - tokens) // PER_TURN),
        "marks": MARKS,
        "trend": climb(tokens),
    }
    return ContextStatus.model_validate({**usual, **fields})


def agent(
    name: str, state: str = "working", tokens: int | None = 61_000, **fields: Any
) -> AgentStatus:
    """An agent of the scene."""
    running = state not in {"stopped", "exited"}
    usual = {
        "name": name,
        "runtime": "claude",
        "state": state,
        "directory": "/srv/shop",
        "worktree": f"/srv/shop/.worktrees/{name}" if running else None,
        "branch": f"agent/{name}/shop-{len(name) + 11}",
        "model": "claude-sonnet-4-5",
        "context": context(tokens),
        "mode": "prompt",
        "strategy": "handoff",
        "max_handoffs": 3,
        "session_number": 1 if running else None,
        "pane": f"%{len(name)}" if running else None,
        "pid": 4000 + len(name) if running else None,
        "session_id": "5b0c2a9e-6d3f-4f1a-9b1e-000000000001" if running else None,
    }
    return AgentStatus.model_validate({**usual, **fields})


def fleet() -> list[AgentStatus]:
    """Eight agents, one in each predicament."""
    now = datetime.now(UTC)

    def ago(minutes: float) -> str:
        return (now - timedelta(minutes=minutes)).isoformat(timespec="seconds")

    asked = HandoffStatus(
        id="h-api", reason="threshold", phase="review", since=ago(2), writer="agent",
        document="/srv/shop/.worktrees/api/.cockpit/handoffs/handoff-2026-11-21-201500.md",
    )  # fmt: skip
    writing = HandoffStatus(
        id="h-search", reason="threshold", phase="documenting", since=ago(1),
        detail="The agent writes its document; 140 s are left.",
    )  # fmt: skip
    return [
        agent("checkout", "working", 61_400, chain_cost_usd=0.31, last_activity_at=ago(0.2),
              activity="Bash pytest -q tests/cart"),
        agent("api", "needs_you", 142_300, handoff=asked, session_number=2, chain_cost_usd=1.12,
              job="job-api", session_id="5b0c2a9e-6d3f-4f1a-9b1e-000000000002", cost_usd=0.62,
              needs=Needs(kind="review", since=ago(2),
                          detail="the handoff document waits for your approval"),
              activity="Edit src/auth.py", last_activity_at=ago(2), handoffs=1),
        agent("search", "handing_off", 149_100, handoff=writing, session_number=3, mode="auto",
              chain_cost_usd=2.40, activity="Write handoff-2026-11-21-201712.md",
              last_activity_at=ago(0.5), handoffs=2),
        agent("docs", "working", 127_000, chain_cost_usd=0.44, last_activity_at=ago(0.1),
              context=context(127_000, confidence="assumed"), activity="Read docs/api/index.md"),
        agent("mailer", "needs_you", 38_200, chain_cost_usd=0.08, last_activity_at=ago(6),
              needs=Needs(kind="permission", detail="Bash git push origin agent/mailer",
                          tool="Bash", command="git push origin agent/mailer", since=ago(6)),
              activity="Bash git push"),
        agent("importer", "idle", 104_800, session_number=2, chain_cost_usd=0.97,
              activity="Tests pass: 212 of 212", last_activity_at=ago(14)),
        agent("schema", "starting", None, chain_cost_usd=None, activity="claude starts"),
        agent("cron", "stopped", None, note="configured, not started"),
    ]  # fmt: skip


PANE = [
    "\x1b[1m●\x1b[0m Update(\x1b[36msrc/auth.py\x1b[0m)",
    "  ⎿  Updated \x1b[1msrc/auth.py\x1b[0m with \x1b[32m14 additions\x1b[0m and"
    " \x1b[31m3 removals\x1b[0m",
    "     \x1b[2m41\x1b[0m      def refresh(self, token: Token) -> Token:",
    "     \x1b[2m42\x1b[0m \x1b[48;2;34;58;44m+        if token.expires_in > self.margin:\x1b[0m",
    "     \x1b[2m43\x1b[0m \x1b[48;2;34;58;44m+            return token\x1b[0m",
    "     \x1b[2m44\x1b[0m \x1b[48;2;74;36;40m-        return self._renew(token)\x1b[0m",
    "",
    "\x1b[1m●\x1b[0m Bash(\x1b[36mpytest -q tests/auth\x1b[0m)",
    "  ⎿  \x1b[32m41 passed\x1b[0m in 2.13s",
    "",
    "\x1b[1m●\x1b[0m I have written the handoff document and stop here.",
    "",
    "\x1b[2m────────────────────────────────────────────────────────────────────────\x1b[0m",
    "\x1b[2m>\x1b[0m ",
]

DOCUMENT = (
    dump(
        FrontMatter(
            id="h-api",
            number=2,
            agent="api",
            branch="agent/api/shop-14",
            writer="agent",
            head_commit="9f1c2d3e4b5a69788796a5b4c3d2e1f001122334",
            tokens=142_300,
            window=WINDOW,
            percent=71.2,
            confidence="reported",
            trigger="threshold",
        )
    )
    + """
# Handoff

## Goal

> Renew access tokens before they expire, and keep clients of version 1 working.

## Current Task

`src/auth.py` renews early now. Left: the session middleware still renews on failure.

## Progress

### Completed

- `TokenMargin` with tests, commit `9f1c2d3`
- `Auth.refresh` renews only inside the margin

### Pending

1. Use `Auth.refresh` in `src/session.py`
2. Say so in the changelog

## Next Steps

1. `pytest -q tests/session` shows two failures; they are the next thing to mend

## What Did Not Work

Renewing in a background thread: the client library is not safe for threads.

## Verified Facts

- branch `agent/api/shop-14` at `9f1c2d3e`, worktree clean
- commits of this session: 2
- files modified: `src/auth.py`, `tests/auth/test_margin.py`
"""
)


TOLD = (
    "You go on with a job that an earlier session of yours began; its context was full.\n\n"
    "Read this document first: "
    "/srv/shop/.worktrees/api/.cockpit/handoffs/handoff-2026-11-21-201500.md\n\n"
    "Then go on with its first step: `pytest -q tests/session` shows two failures.\n\n"
    "Stay on the branch agent/api/shop-14, and do nothing twice that is finished."
)


def _before() -> str:
    """The document that the session before the last one left."""
    earlier = DOCUMENT.replace("renews early now. Left:", "has no margin yet. Left:")
    return earlier.replace("- `Auth.refresh` renews only inside the margin\n", "")


def _planned(asked: Verb) -> Done:
    """What a start would do, as a supervisor words it."""
    assert isinstance(asked, Plan)
    directory = asked.directory or "/srv/shop"
    if not asked.worktree:
        where = f"in {directory} on branch main"
    else:
        folder = f"{directory.rstrip('/')}/.worktrees/{asked.name}"
        where = f"in a new worktree {folder} on branch agent/{asked.name}/<job>"
    return Done(message=f"{asked.name} starts {where}.", name=asked.name)


def scene() -> MemoryClient:
    """The fleet, with panes, a document and a few things that happened."""
    status = Status(
        supervisor=SupervisorStatus(pid=71, started_at="2026-11-21T20:15:00Z"), agents=fleet()
    )
    client = MemoryClient(status)
    client.show("api", PANE, cursor=(2, 13))
    client.lay("h-api", DOCUMENT)
    client.when(Plan, _planned)
    client.lay("h-api-1", _before())
    client.continue_with("api", TOLD)
    client.remember(chains())
    client.chart(flown.course())
    client.differ("api", flown.DIFF)
    client.know("api", flown.FACTS)
    client.happen("agent.started", "checkout was started", "checkout", at="2026-11-21T20:09:00Z")
    client.happen(
        "band.crossed", "api crossed its act point at 142k", "api", at="2026-11-21T20:12:00Z"
    )
    client.happen(
        "handoff.asked",
        "search is asked to write its document",
        "search",
        at="2026-11-21T20:17:00Z",
    )
    return client
