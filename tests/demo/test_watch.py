"""The headless watch: answers handoffs, tells events, and gives a reason when it cannot go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cockpit.client.http import HttpClient
from cockpit.core.errors import Failed
from cockpit.demo.jobs import jobs_for
from cockpit.demo.summary import check, summary
from cockpit.demo.watch import Watch
from cockpit.wire.dialogs import ChoiceStatus, DialogStatus
from cockpit.wire.status import AgentStatus, Needs, Status

Row = dict[str, Any]
ROUNDING: Row = {"name": "rounding", "mode": "auto", "handoffs": 1, "session_number": 2}
WEEKS: Row = {"name": "weeks", "mode": "observe", "compactions": 1, "session_number": 1}


def agent(**fields: Any) -> AgentStatus:
    fixed: Row = {
        "runtime": "claude",
        "directory": "/w",
        "strategy": "handoff",
        "max_handoffs": 3,
        "session_id": "s",
        "mode": "prompt",
        "state": "done",
    }
    return AgentStatus(**{**fixed, **fields})


async def flown(answering: Any, *rows: AgentStatus, cap: float = 0.0) -> list[str]:
    told: list[str] = []
    answering.say("GET /v1/status", Status(agents=list(rows)).model_dump())
    answering.say("GET /v1/events?after=0&limit=200")
    answering.say("POST /v1/approve", {"message": "approved"})
    await Watch(HttpClient(answering.path), told.append, cap).until_reached()
    return told


async def test_ends_when_every_job_is_done(answering: Any) -> None:
    event = b'{"id": 7, "at": "x", "agent": "api", "kind": "agent.done", "text": "all done"}\n'
    told: list[str] = []
    answering.say("GET /v1/status", Status(agents=[agent(name="api")]).model_dump())
    answering.say("GET /v1/events?after=0&limit=200", event)
    answering.say("GET /v1/events?after=7&limit=200")
    await Watch(HttpClient(answering.path), told.append, 5).until_reached()
    assert [line.split("s  ", 1)[1] for line in told] == ["api: all done"]


async def test_answers_a_question_once_and_says_so(answering: Any) -> None:
    row = agent(
        name="api",
        state="needs_you",
        needs=Needs(kind="review", detail="the document waits"),
        handoff={"id": "h1", "reason": "threshold", "phase": "review", "since": "x"},
    )
    with pytest.raises(Failed, match="Time limit reached before every agent was done"):
        await flown(answering, row, cap=1.2)
    answers = [body for request, body in answering.asked if request == "POST /v1/approve"]
    assert answers == [{"name": "api", "straight": False, "handoff": "h1", "by": ""}]


async def test_gives_the_reason_when_an_answer_is_needed(answering: Any) -> None:
    row = agent(name="api", state="needs_you", needs=Needs(kind="permission", detail="rm -rf"))
    with pytest.raises(Failed) as refused:
        await flown(answering, row)
    assert (refused.value.title, refused.value.detail) == (
        "api is waiting for an answer: permission",
        "rm -rf",
    )


async def test_a_failure_ends_the_demo_only_if_it_lasts(answering: Any) -> None:
    """A busy machine answers late, and cockpit retries."""
    failed = Needs(kind="failed", detail="the transcript does not answer")
    row = agent(name="api", state="needs_you", needs=failed)
    with pytest.raises(Failed, match="Time limit reached"):
        await flown(answering, row)
    watch = Watch(HttpClient(answering.path), lambda _: None, 60.0, lasting=0.1)
    with pytest.raises(Failed, match="api cannot continue") as raised:
        await watch.until_reached()
    assert raised.value.detail == "the transcript does not answer"


async def test_takes_the_first_choice_of_a_dialog_that_a_job_asks_for(answering: Any) -> None:
    asks = agent(
        name="weeks", state="needs_you",
        needs=Needs(kind="permission", detail="Bash", command="python3 -c 1"),
    )  # fmt: skip
    shown = DialogStatus(identity="d1", choices=[ChoiceStatus(label="Yes")])
    answering.say("GET /v1/status", Status(agents=[asks]).model_dump())
    answering.say("GET /v1/dialog/weeks", shown.model_dump())
    answering.say("POST /v1/answer", {"message": "answered"})
    answering.say("GET /v1/events?after=0&limit=200")
    watch = Watch(HttpClient(answering.path), lambda _: None, 0.0, expected={"python3 -c 1"})
    with pytest.raises(Failed, match="Time limit reached"):
        await watch.until_reached()
    (answer,) = [body for request, body in answering.asked if request == "POST /v1/answer"]
    assert (answer["name"], answer["dialog"], answer["choices"]) == ("weeks", "d1", [1])


async def test_leaves_alone_who_is_where_it_should_be(answering: Any) -> None:
    asks = agent(name="api", state="needs_you", needs=Needs(kind="permission", detail="rm -rf"))
    works = agent(name="web", state="working")
    answering.say("GET /v1/status", Status(agents=[asks, works]).model_dump())
    answering.say("GET /v1/events?after=0&limit=200")
    watch = Watch(HttpClient(answering.path), lambda _: None, 0.0, lambda row: bool(row.needs))
    with pytest.raises(Failed, match="Time limit reached before every agent had reached its state"):
        await watch.until_reached()


async def test_gives_the_reason_when_an_agent_has_ended(answering: Any) -> None:
    with pytest.raises(Failed, match="ended before its job was done"):
        await flown(answering, agent(name="api", state="exited", note="exit code 1"))


def test_a_flight_that_shows_everything_passes() -> None:
    durations = {**ROUNDING, "name": "durations", "mode": "prompt"}
    status = Status(agents=[agent(**ROUNDING), agent(**durations), agent(**WEEKS)])
    check(status, [Path("/f/a.md"), Path("/f/b.md")], jobs_for(3))
    text = summary(status, [Path("/f/a.md"), Path("/f/b.md")], Path("/f"), 87.4, kept=True)
    assert text.splitlines()[0] == "3 agents, 5 sessions, 2 handoffs, 2 documents, 1.5 min"
    assert text.splitlines()[-1] == "  document  b.md"


def test_one_of_each_is_told_as_one() -> None:
    one = summary(Status(agents=[agent(**ROUNDING)]), [Path("/f/a.md")], Path("/f"), 1.0, kept=True)
    assert one.splitlines()[0] == "1 agent, 2 sessions, 1 handoff, 1 document, 1 s"
    none = summary(Status(agents=[agent(**WEEKS)]), [], Path("/f"), 1.0, kept=True)
    assert none.splitlines()[0] == "1 agent, 1 session, 0 handoffs, 0 documents, 1 s"


def test_an_undone_handoff_and_a_document_of_a_removed_worktree_are_counted() -> None:
    undone = agent(**{**ROUNDING, "session_number": 1, "state": "needs_you"})
    status = Status(agents=[undone, agent(**WEEKS)])
    text = summary(status, [Path("/f/a.md")], Path("/f"), 1.0, kept=False, saved=2)
    total, rounding, weeks = text.splitlines()
    assert total == "2 agents, 3 sessions, 1 handoff, 2 documents, 1 s"
    assert rounding.endswith("needs you    2 sessions  1 handoff  1 undone")
    assert weeks.index("1 session") == rounding.index("2 sessions")


def test_a_flight_without_its_handoff_fails() -> None:
    status = Status(agents=[agent(**{**ROUNDING, "handoffs": 0})])
    with pytest.raises(Failed, match="without a handoff"):
        check(status, [Path("/f/a.md")], jobs_for(1))


def test_a_flight_without_its_document_fails() -> None:
    with pytest.raises(Failed, match="no document"):
        check(Status(agents=[agent(**ROUNDING)]), [], jobs_for(1))
