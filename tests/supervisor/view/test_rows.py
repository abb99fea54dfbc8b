"""An agent as a row: which state wins, what the user has to do, and what counts as done."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import pytest

from cockpit.adapters.agents import runtime
from cockpit.adapters.clock import SystemClock
from cockpit.adapters.store.store import Store
from cockpit.config.schema import AgentSettings
from cockpit.core.cli_events import DialogOpened, PromptTaken, SessionBegan, TurnBroken, TurnOver
from cockpit.core.handoff.events import Turn
from cockpit.core.handoff.states import (
    Asked,
    Confirming,
    Document,
    Ended,
    Handoff,
    Outcome,
    Plan,
    Reviewing,
    State,
    Stopping,
    Waiting,
)
from cockpit.core.ids import AgentName, JobId, PaneId, SessionId
from cockpit.core.rate_limits import RateLimit
from cockpit.core.session import (
    ApiFailed,
    AssistantReplied,
    LimitsReported,
    ToolUse,
    TurnFailed,
    Usage,
)
from cockpit.ports.processes import ProcessId
from cockpit.ports.records import AgentRecord, JobRecord
from cockpit.ports.runtimes import Report
from cockpit.supervisor.agents.agent import Agent, Exit
from cockpit.supervisor.agents.needs import need
from cockpit.supervisor.agents.predicates import chain_cost, has_marker
from cockpit.supervisor.agents.shown_state import state
from cockpit.supervisor.api.verbs.handoff import interruption_clause
from cockpit.supervisor.events import EventLog
from cockpit.supervisor.view.notes import note
from cockpit.supervisor.view.publisher import KEPT_REMOVALS, RowPublisher
from cockpit.supervisor.view.rows import exit_code, row

SEALED = Document("/w/handoff.md", "ab" * 32, "agent")
PLAN = Plan("threshold", ask=True, review=True, successors=())


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    """Somebody who works in a pane, with a prompt that was taken and answered."""
    name = AgentName("api")
    settings = AgentSettings.model_validate({"name": "api", "directory": str(tmp_path)})
    record = AgentRecord(
        name, {}, None, True, str(tmp_path), session=SessionId("s"), pane=PaneId("%1")
    )
    one = Agent(record, settings, runtime("claude", tmp_path))
    one.process = ProcessId(os.getpid(), 1, "boot")
    one.job = JobRecord(JobId("j"), name, "Count.", 0.0)
    one.session_state.replied = True
    one.session_state.activity.apply(SessionBegan("s", "startup"), 1.0)
    one.session_state.activity.apply(PromptTaken("Count."), 2.0)
    return one


def told(agent: Agent, now: float = 100.0) -> tuple[str, str | None]:
    """The state of the row, and the kind of its need."""
    wanted = need(agent, now)
    return state(agent, wanted), wanted.kind if wanted else None


def standing(agent: Agent, at: State) -> None:
    agent.progress.handoff = Handoff(PLAN, at)


def test_what_the_agent_does_is_its_state(agent: Agent) -> None:
    activity = agent.session_state.activity
    assert told(agent) == ("working", None)
    activity.apply(TurnOver("What next?"), 3.0)
    assert told(agent) == ("idle", None)
    activity.apply(TurnOver("All in.\n\nHANDOFF: COMPLETE"), 4.0)
    assert told(agent) == ("done", None)
    activity.apply(PromptTaken("more"), 5.0)
    assert told(agent) == ("working", None)
    activity.turn = Turn.UNKNOWN
    assert told(agent) == ("unknown", None)


def test_it_is_starting_until_the_first_prompt_is_accepted(agent: Agent) -> None:
    agent.begin_session(None)
    agent.session_state.began_at = 1.0
    assert told(agent) == ("starting", None)
    agent.session_state.activity.apply(SessionBegan("s", "startup"), 1.0)
    assert told(agent) == ("starting", None)
    agent.session_state.activity.apply(PromptTaken("Count."), 2.0)
    assert told(agent) == ("working", None)
    agent.begin_session(None)
    agent.job = None
    agent.session_state.activity.apply(SessionBegan("s", "startup"), 1.0)
    assert told(agent) == ("idle", None)


def test_who_was_found_without_a_record_is_not_said_to_be_starting(agent: Agent) -> None:
    agent.begin_session(None)
    assert told(agent) == ("unknown", None)
    assert note(agent) == (
        "the process was found running without a transcript: the earlier work is unknown"
    )
    agent.session_state.activity.apply_status_file(Turn.IDLE, None, 20.0)
    assert told(agent) == ("idle", None)
    agent.session_state.activity.apply(PromptTaken("more"), 21.0)
    assert (told(agent), note(agent)) == (("working", None), None)


def test_who_was_started_without_a_prompt_has_no_record_yet(agent: Agent) -> None:
    assert agent.job is not None
    agent.job = replace(agent.job, prompt="")
    agent.begin_session(None)
    assert note(agent) == "no transcript yet; this agent was started without a prompt"
    agent.session_state.activity.apply(PromptTaken("more"), 21.0)
    assert note(agent) is None


@pytest.mark.parametrize(
    ("ended", "code"),
    [(Exit(1.0, 0), 0), (Exit(1.0, 3), 3), (Exit(1.0, signal=9), -9), (Exit(1.0), None)],
)
def test_the_exit_code_is_that_of_the_ended_process(
    agent: Agent, ended: Exit, code: int | None
) -> None:
    assert exit_code(agent) is None
    agent.exit = ended
    assert exit_code(agent) == code


def test_nobody_there_is_exited_or_stopped_as_the_pilot_wanted_it(agent: Agent) -> None:
    agent.exit = Exit(1.0, 0)
    assert told(agent) == ("exited", None)
    agent.change(wanted=False)
    assert told(agent) == ("stopped", None)


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        (Asked(), ("needs_you", "handoff")),
        (Asked(snoozed_until=99.0), ("needs_you", "handoff")),
        (Asked(snoozed_until=101.0), ("working", None)),
        (Waiting(since=0.0), ("handing_off", None)),
        (Reviewing(SEALED), ("needs_you", "review")),
        (Reviewing(SEALED, snoozed_until=101.0), ("working", None)),
        (Stopping(SEALED), ("handing_off", None)),
        (Confirming(SEALED, 1, 200.0), ("handing_off", None)),
        (Ended(Outcome.DONE), ("working", None)),
    ],
)
def test_a_handoff_goes_before_what_the_agent_does(
    agent: Agent, at: State, expected: tuple[str, str | None]
) -> None:
    standing(agent, at)
    assert told(agent) == expected


def test_needing_the_pilot_goes_before_everything(agent: Agent) -> None:
    standing(agent, Waiting(since=0.0))
    agent.session_state.activity.apply(DialogOpened("permission", "Bash rm\x1b[2J"), 3.0)
    assert told(agent) == ("needs_you", "permission")
    wanted = need(agent, 100.0)
    assert wanted is not None
    assert wanted.detail.isprintable()


def test_a_permission_says_which_tool_wants_to_do_what_and_since_when(agent: Agent) -> None:
    asked = DialogOpened("permission", "Bash make \\", "Bash\x1b[2J", "make \\\n  all\x1b[31m\x07")
    agent.session_state.activity.apply(asked, 3.0)
    wanted = need(agent, 100.0)
    assert wanted is not None
    assert (wanted.tool, wanted.command) == ("Bash", "make \\\n  all")
    assert wanted.answerable is True
    agent.runtime = runtime("codex", agent.directory)
    assert (needed := need(agent, 100.0)) is not None
    assert needed.answerable is False
    assert wanted.since == "1970-01-01T00:00:03Z"


def test_a_usage_limit_says_when_it_begins_anew(agent: Agent) -> None:
    agent.session_state.activity.apply(TurnBroken("rate_limit", "Limit reached", 3600.0), 3.0)
    wanted = need(agent, 100.0)
    assert wanted is not None
    assert (wanted.kind, wanted.resets_at) == ("usage_limit", "1970-01-01T01:00:00Z")


def test_what_only_the_user_can_mend(agent: Agent) -> None:
    agent.troubles.dialog = "it asks for trust"
    assert told(agent) == ("needs_you", "trust")
    agent.progress.set_failed("no process started")
    assert told(agent) == ("needs_you", "failed")


def test_an_agent_that_nobody_starts_again_needs_the_pilot(agent: Agent) -> None:
    agent.change(gave_up="it will not start")
    assert told(agent) == ("needs_you", "failed")


def test_what_an_earlier_supervisor_wrote_of_an_end_is_one_sentence(agent: Agent) -> None:
    agent.exit = Exit(5.0, recorded="ended with 1.")
    agent.session_state.replied = False
    assert note(agent) == "ended with 1."


def test_the_accounts_limit_needs_the_pilot_until_the_next_prompt(agent: Agent) -> None:
    agent.session_state.activity.apply(TurnBroken("rate_limit", "resets at 5"), 3.0)
    assert told(agent)[1] == "usage_limit"
    agent.session_state.activity.apply(PromptTaken("again"), 4.0)
    assert told(agent) == ("working", None)


@pytest.mark.parametrize("error", ["overloaded", "server_error", "unknown"])
def test_a_turn_that_the_api_broke_off_needs_the_pilot_until_the_next_prompt(
    agent: Agent, error: str
) -> None:
    agent.session_state.activity.apply(TurnBroken(error, "Overloaded\x1b[2J."), 3.0)
    assert told(agent) == ("needs_you", "failed")
    wanted = need(agent, 100.0)
    assert wanted is not None
    assert wanted.detail.startswith("the API failed: Overloaded")
    assert wanted.detail.endswith("send a prompt to continue")
    assert wanted.detail.isprintable()
    agent.session_state.activity.apply(PromptTaken("again"), 4.0)
    assert told(agent) == ("working", None)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("HANDOFF: COMPLETE", True),
        ("All in.\n\n**HANDOFF: COMPLETE**\n", True),
        ("Everything is in. HANDOFF: COMPLETE", True),
        ("I say `HANDOFF: COMPLETE` when I am done, not before.", False),
        ("", False),
    ],
)
def test_the_marker_counts_at_the_edge_of_a_line(words: str, said: bool) -> None:
    assert has_marker(words, "HANDOFF: COMPLETE") is said
    assert not has_marker(words, "")


def test_what_a_copy_of_the_session_cost_counts_once(agent: Agent) -> None:
    agent.session_state.cost_usd = 0.5
    agent.add_copy_cost(str(agent.record.session), 1.25)
    assert agent.own_cost_usd == 0.5
    assert agent.cost_usd == 1.75
    assert chain_cost(agent) == 1.75


def test_a_budget_is_crossed_by_what_is_known_of_the_cost_only(agent: Agent) -> None:
    limits = agent.settings.limits.model_copy(update={"cost": 2.0})
    assert row(agent, 0.0, 0.0).budget_usd is None
    agent.session_state.cost_usd = 1.99
    assert not row(agent, 0.0, 0.0).over_budget
    agent.settings = agent.settings.model_copy(update={"limits": limits})
    under = row(agent, 0.0, 0.0)
    assert (under.budget_usd, under.over_budget) == (2.0, False)
    agent.session_state.cost_usd = 2.0
    over = row(agent, 0.0, 0.0)
    assert over.over_budget
    assert over.needs is None, "it waits for nothing"
    agent.session_state.cost_usd = None
    assert not row(agent, 0.0, 0.0).over_budget


def test_a_usage_limit_is_shown_until_it_is_reset(agent: Agent) -> None:
    assert row(agent, 0.0, 0.0).rate_limits == []
    limits = (RateLimit("five_hour", 0.62, 2_000.0), RateLimit("seven_day", 0.31, None))
    agent.session_state.report(Report(rate_limits=limits), 1.0)
    agent.session_state.report(Report(), 2.0)
    five, seven = row(agent, 1_999.0, 0.0).rate_limits
    assert (five.name, five.used, five.resets_at) == ("five_hour", 0.62, "1970-01-01T00:33:20Z")
    assert (seven.name, seven.used, seven.resets_at) == ("seven_day", 0.31, None)
    assert [one.name for one in row(agent, 2_000.0, 0.0).rate_limits] == ["seven_day"]
    agent.clock_offset = 600.0
    assert len(row(agent, 2_599.0, 0.0).rate_limits) == 2, "the wall clock was set back"


def test_a_usage_limit_of_the_transcript_says_when_it_resets(agent: Agent) -> None:
    used_up = LimitsReported((RateLimit("five_hour", 1.0, 2_000.0),))
    failed = TurnFailed(ApiFailed("Used up", 429))
    agent.session_state.read([used_up, failed], 1.0)
    shown = row(agent, 1_000.0, 0.0)
    assert shown.needs is not None
    assert (shown.needs.kind, shown.needs.resets_at) == ("usage_limit", "1970-01-01T00:33:20Z")
    agent.session_state.read([LimitsReported((RateLimit("five_hour", 0.0, 9_000.0),))], 2.0)
    assert agent.session_state.limit_resets is None


def test_what_a_handoff_that_does_not_wait_breaks_off_is_named(agent: Agent) -> None:
    call = ToolUse("t1", "Bash", {"command": "make"})
    agent.session_state.reading.running.feed(
        AssistantReplied("m", "model", Usage(), Usage(), tools=(call,))
    )
    agent.session_state.activity.subagents["a"] = "Explore"
    words = interruption_clause(agent, at_once=True)
    assert words == "; this interrupts the running tool Bash make, the subagent Explore"
    assert interruption_clause(agent, at_once=False) == ""


def test_a_usage_limit_with_an_absurd_reset_has_a_row(agent: Agent) -> None:
    for resets in (2.0**53, 1e300, float("inf"), float("nan"), -1.0):
        agent.session_state.activity.apply(TurnBroken("rate_limit", "limit", resets), 3.0)
        assert row(agent, 5.0, 100.0).needs


class Rows:
    """Rows of two agents, of which one cannot be built while `broken`."""

    def __init__(self, agent: Agent, tmp_path: Path) -> None:
        sound = AgentRecord(AgentName("web"), {}, None, False, str(tmp_path))
        settings = AgentSettings.model_validate({"name": "web", "directory": str(tmp_path)})
        self.agent = agent
        agents = [agent, Agent(sound, settings, runtime("claude", tmp_path))]
        log = EventLog(Store(tmp_path / "cockpit.db"), SystemClock())
        self.publisher = RowPublisher(SystemClock(), log, lambda: agents)

    def broken(self, value: float) -> None:
        self.agent.session_state.cost_usd = value  # a row refuses what is not JSON


def test_an_agent_whose_row_cannot_be_built_does_not_hide_the_others(
    agent: Agent, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = Rows(agent, tmp_path)
    rows.broken(float("nan"))
    for _ in range(3):
        api, web = rows.publisher.rows()
        assert (api.name, api.state, api.directory) == ("api", "unknown", str(tmp_path))
        assert api.note
        assert "cannot show this agent (ValidationError: " in api.note
        assert (web.name, web.state, web.note) == ("web", "stopped", None)
    assert [one.getMessage() for one in caplog.records] == ["cannot build the row of api"]
    rows.broken(1.5)
    assert rows.publisher.row(agent).cost_usd == 1.5
    rows.broken(float("nan"))
    rows.publisher.rows()
    assert len(caplog.records) == 2


def test_a_listener_gets_the_rows_of_the_others_too(agent: Agent, tmp_path: Path) -> None:
    rows = Rows(agent, tmp_path)
    rows.broken(float("inf"))
    rows.publisher.listen()


async def test_the_first_listener_ends_the_wait_for_it(agent: Agent, tmp_path: Path) -> None:
    publisher = Rows(agent, tmp_path).publisher
    waiting = asyncio.create_task(publisher.followed(within=600.0))
    await asyncio.sleep(0)
    assert not waiting.done()

    publisher.leave(publisher.listen())
    await waiting

    await publisher.followed(within=600.0)


async def test_the_wait_for_a_listener_ends_without_one(agent: Agent, tmp_path: Path) -> None:
    await Rows(agent, tmp_path).publisher.followed(within=0.0)


def test_a_listener_that_comes_back_gets_what_changed_since(agent: Agent, tmp_path: Path) -> None:
    rows = Rows(agent, tmp_path)
    publisher = rows.publisher
    publisher.listen()
    before = publisher.position
    assert publisher.changes_since(before) == ([], [])

    rows.broken(2.5)
    publisher.changed(agent)
    publisher.listen()  # finds what is pending
    publisher.forgotten("old")
    changed, removed = publisher.changes_since(before) or ([], [])
    assert [(row.name, row.cost_usd) for row in changed] == [("api", 2.5)]
    assert removed == ["old"]
    assert publisher.changes_since(publisher.position) == ([], [])


def test_a_listener_that_was_away_too_long_gets_everything(agent: Agent, tmp_path: Path) -> None:
    publisher = Rows(agent, tmp_path).publisher
    publisher.listen()
    long_ago = publisher.position
    publisher.forgotten("first")
    later = publisher.position
    for number in range(KEPT_REMOVALS):
        publisher.forgotten(f"old{number}")

    assert publisher.changes_since(long_ago) is None
    _, removed = publisher.changes_since(later) or ([], [])
    assert len(removed) == KEPT_REMOVALS


@pytest.mark.parametrize("position", ["", ".", "1", "{run}.", "{run}.-1", "{run}.99", "other.0"])
def test_a_position_of_another_supervisor_or_of_the_future_is_unknown(
    agent: Agent, tmp_path: Path, position: str
) -> None:
    publisher = Rows(agent, tmp_path).publisher
    publisher.listen()
    run = publisher.position.partition(".")[0]
    assert publisher.changes_since(position.format(run=run)) is None


@pytest.mark.parametrize(
    ("runtime_name", "asked", "reviewed"),
    [("", "hand off? ", "approval"), ("codex", "hand off to codex? ", "continues in codex")],
)
def test_a_handoff_to_another_cli_names_it_before_you_agree(
    agent: Agent, runtime_name: str, asked: str, reviewed: str
) -> None:
    plan = replace(PLAN, runtime=runtime_name)
    for at, words in ((Asked(), asked), (Reviewing(SEALED), reviewed)):
        standing(agent, at)
        assert agent.handoff is not None
        agent.progress.handoff = replace(agent.handoff, plan=plan)
        wanted = need(agent, 100.0)
        assert wanted is not None
        assert words in wanted.detail
        assert ("codex" in wanted.detail) is (runtime_name == "codex")


@pytest.mark.parametrize(
    ("order", "successor"),
    [([], None), (["claude"], None), (["codex"], "codex"), (["claude", "gemini"], "gemini")],
)
def test_the_row_names_the_cli_of_the_next_session_if_it_is_another_one(
    agent: Agent, order: list[str], successor: str | None
) -> None:
    changed = {"name": "api", "handoff": {"successor": order}}
    agent.settings = AgentSettings.model_validate(changed)

    assert row(agent, 100.0, 100.0).configured_successor == successor
