"""What holds of every message: unknown fields are ignored, absent is null, numbers are finite."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from pydantic import ValidationError

import cockpit.wire
from cockpit.wire.caller import CallerStatus
from cockpit.wire.course import Course, CoursePoint, Stretch
from cockpit.wire.dialogs import ChoiceStatus, DialogStatus
from cockpit.wire.diff import DiffFile, WorktreeDiff
from cockpit.wire.facts import (
    AnswerFacts,
    BackgroundFacts,
    CheckFacts,
    Commit,
    ConstraintFacts,
    FailureFacts,
    LastReply,
    LinkFacts,
    PlanFacts,
    PromptFacts,
    RefusalFacts,
    SessionFacts,
    StandingStatement,
    SubagentFacts,
    SummaryFacts,
    Todo,
    Usage,
    UsageContext,
    UsageTotals,
)
from cockpit.wire.history import (
    HistoryChain,
    HistoryDocument,
    HistoryHandoff,
    HistoryPage,
    HistorySession,
    HistoryStatement,
)
from cockpit.wire.moves import (
    Arrival,
    Arrived,
    CurrentState,
    Description,
    Discarded,
    Inspection,
    Packed,
    Recorded,
    SentParcel,
    SentState,
    Staying,
)
from cockpit.wire.status import (
    AgentStatus,
    BackgroundStatus,
    ContextStatus,
    ElsewhereSession,
    HandoffStatus,
    HeldSetting,
    LastRequest,
    MarksStatus,
    Needs,
    RateLimitStatus,
    State,
    Status,
    SupervisorStatus,
    Wire,
)
from cockpit.wire.stream import (
    AgentChanged,
    AgentForgotten,
    DaySpent,
    Elsewhere,
    ElsewhereCounted,
    Event,
    Happened,
    Resumed,
    ScreenShot,
    Snapshot,
)
from cockpit.wire.verbs import VERBS, Done, InvalidValue, Refusal, Verb
from cockpit.wire.views import Query
from cockpit.wire.worktrees import Obstacle, WorktreeStatus

AT = "2026-11-21T20:15:00Z"
ROW = AgentStatus(
    name="api", runtime="claude", state="working", directory="/w", mode="prompt",
    strategy="handoff", max_handoffs=3, needs=Needs(kind="review", detail="Read it."),
    rate_limits=[RateLimitStatus(name="five_hour", used=0.5)],
    context=ContextStatus(tokens=1, used=0.5, marks=MarksStatus(act=7), trend=[1, 2]),
    handoff=HandoffStatus(id="h", reason="manual", phase="review", since=AT),
    background=[BackgroundStatus(id="b", type="shell")],
    last_request=LastRequest(verb="approve", by="ana@laptop", at=AT, handoff="h"),
)  # fmt: skip
EVENT = Event(id=7, at=AT, kind="agent.started", text="api began", data={"deep": {"er": [1]}})
OTHER = ElsewhereSession(
    session_id="s", runtime="claude", pid=7, directory="/w", context=ContextStatus(tokens=1)
)
STATUS = Status(
    supervisor=SupervisorStatus(pid=1),
    agents=[ROW],
    held=[HeldSetting(file="/f", line=1, key="command", reason="it runs code")],
    elsewhere=[OTHER],
)
STATE = SentState(head="a" * 40, staged="b" * 40, files="c" * 40)
PARCEL = SentParcel(reference="refs/cockpit/moved/api/h", commit="d" * 40, state=STATE)
ARRIVAL = Arrival(name="api", folder="/w/api", parcel=PARCEL)
ANSWERS: tuple[Wire, ...] = (
    Description(
        version="0.1.0", home="/w", inside="sub", branch="agent/api", head="a" * 40,
        roots=["e" * 40], uncommitted=2, ignored=Staying(names=["ignored/"], count=1, size=1000),
        secret=Staying(), unstored=Staying(names=["empty/"], count=1), lfs=1,
    ),
    Inspection(
        version="0.1.0", repository="/w", tips=["a" * 40], folder="/w/api", record=ARRIVAL
    ),
    Packed(parcel=PARCEL, size=1000, sha256="f" * 64),
    Arrived(folder="/w/api", document="/s/h.md"),
    CurrentState(state=STATE),
    Recorded(record=ARRIVAL),
    Discarded(left="/w/api", why="it has changed files"),
    STATUS, ROW, EVENT, Snapshot(status=STATUS), AgentChanged(agent=ROW), Happened(event=EVENT),
    Resumed(status=STATUS, forgotten=["web"], position="1.2"),
    AgentForgotten(name="api"), ScreenShot(lines=["a"], cursor=(1, 2), pane="%1"),
    DialogStatus(identity="d", choices=[ChoiceStatus(label="Yes", text="may")], highlighted=0),
    Course(agent="api", stretches=[Stretch(session="s", number=1, state="live",
                                           points=[CoursePoint(1, 2, at=3.5)])],
           limits=["Cost: unknown"]),
    WorktreeDiff(directory="/w", files=[DiffFile(path="a", added=1)]),
    HistoryPage(chains=[HistoryChain(agent="api", sessions=[
        HistorySession(id="s", documents=[HistoryDocument(id="h")],
                       handoffs=[HistoryHandoff(id="h", own_copy="/c.md")])],
        statements=[HistoryStatement(section="Key Decisions", text="Use SQLite",
                                     since="session 1", last="session 2")])], next="h", total=2),
    WorktreeStatus(directory="/w", repository="/r", made=True, size=4096, size_partial=True,
                   obstacles=[Obstacle(why="It has work", next="Commit it")]),
    OTHER, Elsewhere(sessions=[OTHER]), ElsewhereCounted(count=3),
    DaySpent(spent_today_usd=1.5, budget_today_usd=20.0),
    CallerStatus(kind="agent", name="api", pid=7),
    Done(message="done", name="api"), Refusal(exit_code=5, title="No"),
    Refusal(exit_code=2, title="No", errors=[InvalidValue(pointer="#/name", detail="is missing")]),
    SessionFacts(
        todos=[Todo(content="Count", status="pending")],
        commits=[Commit(hash="c0ffee", subject="Count")],
        subagents=[SubagentFacts(id="s", type="t", status="running", task="Look")],
        background=[BackgroundFacts(id="b", type="shell", status="running")],
        prompts=[PromptFacts(turn=1, text="Count")],
        constraints=[ConstraintFacts(turn=1, text="Never commit.")],
        answers=[AnswerFacts(turn=1, question="Which?", answer="All")],
        refusals=[RefusalFacts(turn=1, call="Bash rm")],
        checks=[CheckFacts(kind="test", command="pytest", exit=0)],
        failures=[FailureFacts(call="Bash a", error="no a")],
        plan=PlanFacts(text="1. Count", approved=True),
        links=[LinkFacts(kind="issue", url="https://x.example/a/b/issues/3")],
        summary=SummaryFacts(turn=1, text="It counts."),
        last_reply=LastReply(text="Done."),
        standing=[StandingStatement(section="Key Decisions", text="Use SQLite",
                                    since="session 1", last="session 2")],
        usage=Usage(
            transcript="/t", context=UsageContext(tokens=7),
            totals=UsageTotals(input=1, cache_creation=2, cache_read=3, output=4),
        ),
    ),
)  # fmt: skip


def subclasses(kind: type[Wire]) -> Iterator[type[Wire]]:
    for one in kind.__subclasses__():
        yield one
        yield from subclasses(one)


def held(value: object) -> Iterator[type[Wire]]:
    """The kinds of all messages in a message."""
    if isinstance(value, Wire):
        yield type(value)
        for field in type(value).model_fields:
            yield from held(getattr(value, field))
    elif isinstance(value, list):
        for one in value:
            yield from held(one)


def with_unknown(value: Any) -> Any:
    """The JSON with another field in every object of it."""
    if isinstance(value, dict):
        return {"newer": {"x": [1]}, **{key: with_unknown(one) for key, one in value.items()}}
    return [with_unknown(one) for one in value] if isinstance(value, list) else value


def test_every_message_has_an_example_here() -> None:
    for module in pkgutil.iter_modules(cockpit.wire.__path__, "cockpit.wire."):
        importlib.import_module(module.name)
    known = {kind for answer in ANSWERS for kind in held(answer)}
    assert {kind for kind in subclasses(Wire) if not issubclass(kind, Verb | Query)} == known
    assert {kind for kind in subclasses(Wire) if issubclass(kind, Verb)} == {Verb, *VERBS}


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: type(answer).__name__)
def test_an_answer_comes_back_as_it_was(answer: Wire) -> None:
    assert type(answer).model_validate_json(answer.model_dump_json()) == answer


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: type(answer).__name__)
def test_fields_of_a_newer_version_are_ignored_at_every_depth(answer: Wire) -> None:
    written = json.loads(answer.model_dump_json())
    newer = with_unknown(written)
    if "data" in written:  # passed on as it is
        newer["data"] = written["data"]
    if isinstance(answer, Happened):
        newer["event"]["data"] = written["event"]["data"]
    assert type(answer).model_validate(newer) == answer


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: type(answer).__name__)
def test_a_message_cannot_be_changed(answer: Wire) -> None:
    name = next(iter(type(answer).model_fields))
    with pytest.raises(ValidationError):
        setattr(answer, name, getattr(answer, name))


def test_absent_is_null_and_never_left_out() -> None:
    written = json.loads(ROW.model_dump_json())
    assert written.keys() == AgentStatus.model_fields.keys()
    assert written["context"].keys() == ContextStatus.model_fields.keys()
    absent = ("job", "pane", "pid", "cost_usd", "session_number", "last_activity_at")
    assert [written[name] for name in absent] == [None] * len(absent)
    context = json.loads(ContextStatus().model_dump_json())
    assert [context[name] for name in ("tokens", "window", "used", "age_seconds")] == [None] * 4


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_number_that_is_none_is_refused(number: str) -> None:
    with pytest.raises(ValidationError):
        ContextStatus.model_validate(json.loads(f'{{"used": {number}}}'))
    assert ContextStatus.model_validate_json('{"used": 1.7}').used == 1.7


@pytest.mark.parametrize("state", [*get_args(State), "paused"])
def test_a_state_is_one_of_those_that_are_documented(state: str) -> None:
    written = json.loads(ROW.model_dump_json()) | {"state": state}
    if state == "paused":
        with pytest.raises(ValidationError, match="state"):
            AgentStatus.model_validate(written)
    else:
        assert AgentStatus.model_validate(written).state == state


def test_another_version_of_the_status_is_refused() -> None:
    assert Status.model_validate({"version": 1}) == Status()
    with pytest.raises(ValidationError, match="version"):
        Status.model_validate({"version": 2})
