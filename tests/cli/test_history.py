"""`cockpit history` in words: what a user reads of a chain."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from cockpit.cli.commands import run
from cockpit.cli.history import format_chain
from cockpit.tui.present.words import stamp
from cockpit.wire.history import HistoryChain

NOW = datetime(2026, 11, 21, 21, 0, tzinfo=UTC)
FIRST = {
    "id": "a",
    "number": 1,
    "state": "handed_off",
    "document": "/w/.cockpit/handoffs/handoff-2026-11-21-201500.md",
    "handoff": "5f0c0f0e-6b1b-4a57-9f43-1d1f1f7f8a10",
    "writer": "agent",
    "outcome": "done",
    "cost_usd": 0.4,
    "tokens": 162_400,
    "tokens_at_start": None,
    "started_at": "2026-11-21T19:34:00Z",
    "ended_at": "2026-11-21T20:15:00Z",
}
SECOND = {
    "id": "b",
    "number": 2,
    "state": "live",
    "cost_usd": 0.13,
    "tokens": 51_000,
    "tokens_at_start": 45_200,
    "started_at": "2026-11-21T20:15:00Z",
    "ended_at": None,
}


def chain(**changed: Any) -> dict[str, Any]:
    return {
        "agent": "api",
        "job": "j",
        "goal": "Build the login\nand test it.",
        "started_at": "2026-11-21T19:34:00Z",
        "handoffs": 1,
        "sessions": [FIRST, SECOND],
        **changed,
    }


def shown(chain: dict[str, Any], now: datetime) -> list[str]:
    return format_chain(HistoryChain.model_validate(chain), now)


def test_a_chain_is_told_in_a_line_a_session() -> None:
    head, first, left, second = shown(chain(), NOW)

    assert head == "api  Build the login and test it.  (1 handoff, $0.53, 1 h 26 min)"
    words = " ".join(first.split())
    assert words == f"1. handed off 162k -> 45k $0.40 41 min {stamp('2026-11-21T19:34:00Z')}"
    assert left.strip().startswith("5f0c0f0e  /w/")
    assert left.endswith("handoff-2026-11-21-201500.md (agent)")
    assert " ".join(second.split()) == f"2. live 51k $0.13 45 min {stamp('2026-11-21T20:15:00Z')}"


def test_the_clis_are_named_where_a_job_had_more_than_one() -> None:
    _, first, _, second = shown(
        chain(sessions=[{**FIRST, "runtime": "claude"}, {**SECOND, "runtime": "codex"}]), NOW
    )
    assert first.split()[:3] == ["1.", "claude", "handed"]
    assert second.split()[:3] == ["2.", "codex", "live"]
    assert first.index("handed off") == second.index("live")
    same = [{**each, "runtime": "claude"} for each in (FIRST, SECOND)]
    assert not any("claude" in line for line in shown(chain(sessions=same), NOW))


@pytest.mark.parametrize(("handoffs", "told"), [(3, False), (4, True), (5, True)])
def test_a_job_that_was_handed_off_too_often_is_told_so(handoffs: int, told: bool) -> None:
    last = shown(chain(handoffs=handoffs), NOW)[-1]

    words = f"handed off {handoffs} times; next time, use smaller jobs"
    assert (last.strip() == words) is told


def test_a_document_that_led_to_nothing_says_how_it_ended() -> None:
    refused = {**FIRST, "outcome": "refused"}

    assert shown(chain(sessions=[refused]), NOW)[2].endswith("(agent, refused)")


@pytest.mark.parametrize(
    ("outcome", "why", "told"),
    [
        ("cancelled", "the agent worked\n", ["5f0c0f0e  cancelled: the agent worked"]),
        ("failed", "the job was not moved", ["5f0c0f0e  failed: the job was not moved"]),
        ("refused", "refused by you", []),
        ("moved", "went to gpu1", []),
        ("done", "", []),
        (None, None, []),
    ],
)
def test_why_a_handoff_came_to_nothing_is_told(
    outcome: str | None, why: str | None, told: list[str]
) -> None:
    handoff = {"id": FIRST["handoff"], "outcome": outcome, "why": why}
    session = {"id": "a", "number": 1, "state": "live", "handoffs": [handoff]}

    assert [line.strip() for line in shown(chain(sessions=[session]), NOW)[2:]] == told


def test_what_a_job_went_on_from_is_told() -> None:
    begun = {**SECOND, "number": 1, "began_with": "/w/notes.md"}

    assert shown(chain(sessions=[begun]), NOW)[1] == "  started from /w/notes.md"


def test_a_chain_that_was_read_back_is_told_to_be() -> None:
    last = shown(chain(rebuilt=True), NOW)[-1]

    assert "rebuilt from the job's documents" in last
    assert "read back" not in "".join(shown(chain(rebuilt=False), NOW))


def test_what_is_not_known_is_left_out() -> None:
    bare = {"id": "a", "number": 1, "state": "ended", "tokens": None, "cost_usd": None}

    lines = shown(chain(sessions=[bare], goal=None, handoffs=0, started_at=None), NOW)

    assert lines == ["api  no prompt  (0 handoffs)", "   1. ended      -"]


def test_a_session_without_an_end_is_not_measured_until_now() -> None:
    unknown = {**FIRST, "ended_at": None}

    head, first, *_ = shown(chain(sessions=[unknown]), NOW)

    assert head.endswith("(1 handoff, $0.40)")
    began = stamp("2026-11-21T19:34:00Z")
    assert " ".join(first.split()) == f"1. handed off 162k $0.40 {began}"


def test_a_document_of_another_host_has_the_id_for_show() -> None:
    ident = f"gpu1/{FIRST['handoff']}"
    document = {"id": ident, "path": "/w/a.md", "outcome": "refused", "writer": "agent"}
    far = {**FIRST, "handoff": ident, "documents": [document, document]}

    told = [line.strip() for line in shown(chain(sessions=[far]), NOW)]

    assert told[2].startswith("earlier: 5f0c0f0e  /w/a.md")
    assert told[3].startswith("5f0c0f0e  /w/")


def test_a_handoff_that_was_refused_shows_no_successors_context() -> None:
    refused = {**FIRST, "outcome": "refused"}

    assert "->" not in shown(chain(sessions=[refused, SECOND]), NOW)[1]


def test_a_session_gone_back_to_shows_what_it_holds_now() -> None:
    back = {**FIRST, "state": "live", "ended_at": None}

    assert "->" not in shown(chain(sessions=[back, SECOND]), NOW)[1]


def test_a_goal_cannot_write_to_the_terminal() -> None:
    head, *_ = shown(chain(goal="\x1b]0;owned\x07\x1b[2Jx\n\n## y"), NOW)

    assert "\x1b" not in head
    assert "\n" not in head


def test_history_prints_chains_and_says_when_there_are_none(answering: Any, capsys: Any) -> None:
    answering.say("GET /v1/history?limit=100", [chain(), chain(agent="ui")])
    answering.say("GET /v1/history?name=api&limit=100", [])

    assert run(["history"]) == 0
    said = capsys.readouterr().out
    assert [line.split()[0] for line in said.split("\n") if line[:1].isalpha()] == ["api", "ui"]
    assert run(["history", "api"]) == 0
    assert capsys.readouterr().out == "No history yet.\n"
    assert run(["history", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[1]["agent"] == "ui"


def test_how_well_each_handoff_went_is_a_table(answering: Any, capsys: Any) -> None:
    known = {
        "id": "h2",
        "outcome": "done",
        "tokens_before": 150_000,
        "tokens_after": 30_000,
        "document_bytes": 10_240,
        "document_read": False,
        "first_change_seconds": 300.0,
        "repeats": ["x", "y"],
        "broken_orders": [],
        "asked_again": ["z"],
        "undone": True,
    }
    older = {"id": FIRST["handoff"], "outcome": "done", "tokens_after": 45_200}
    refused = {"id": "h3", "outcome": "refused"}
    sessions = [{**FIRST, "handoffs": [older]}, {**SECOND, "handoffs": [known, refused]}]
    hostile = chain(agent="a\x1b[2Jb", sessions=sessions)
    answering.say("GET /v1/history?limit=100", [hostile])

    assert run(["history", "--quality"]) == 0
    head, old, new, empty, median = capsys.readouterr().out.splitlines()
    assert head.split("  ")[0] == "AGENT"
    assert old.split() == [
        "ab", "1", "->", "2", "162k", "45k", "-", "-", "-", "-", "-", "-", "no",
    ]  # fmt: skip
    assert new.split() == [
        "ab", "2", "->", "3", "150k", "30k", "10.0", "KiB", "no", "5", "min", "2", "0", "1", "yes",
    ]  # fmt: skip
    assert empty == ""
    assert median == (
        "Median of 2 handoffs: 156k -> 37k tokens, document 10.0 KiB, first change after 5 min"
    )
    assert run(["history", "--quality", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    assert told["sessions"][1]["handoffs"][0]["repeats"] == ["x", "y"]


def test_no_handoff_has_no_table(answering: Any, capsys: Any) -> None:
    answering.say("GET /v1/history?limit=100", [chain()])
    assert run(["history", "--quality"]) == 0
    assert capsys.readouterr().out == "No handoff has been completed yet.\n"


def test_a_search_says_whether_a_decision_still_holds(answering: Any, capsys: Any) -> None:
    place = {"section": "Key Decisions", "since": "session 1", "last": "session 2"}
    statements = [
        {**place, "text": "Push \x1b[2Jtags"},
        {**place, "text": "Never push", "revoked_in": "session 3"},
    ]
    answering.say("GET /v1/history?search=push", [chain(sessions=[], statements=statements)])
    assert run(["history", "--search", "push"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "api  holds since session 1: Push tags",
        "api  held since session 1, revoked in session 3: Never push",
    ]


def test_a_path_is_shown_by_its_absolute_name(
    answering: Any, own_home: Any, capsys: Any, monkeypatch: Any
) -> None:
    monkeypatch.chdir(own_home)
    answering.say(f"GET /v1/document/{str(own_home / 'a' / 'b.md').replace('/', '%2F')}", b"# x\n")
    answering.say("GET /v1/document/5f0c", b"# y\n")

    assert run(["show", "a/b.md"]) == 0
    assert run(["show", "5f0c"]) == 0

    assert capsys.readouterr().out == "# x\n# y\n"


def test_every_document_of_a_session_is_printed() -> None:
    refused = {
        "id": "0a1b2c3d-0000-4000-8000-000000000001",
        "path": "/w/.cockpit/handoffs/handoff-2026-11-21-194000.md",
        "outcome": "refused",
        "writer": "facts",
    }
    newest = {
        "id": FIRST["handoff"],
        "path": FIRST["document"],
        "outcome": "done",
        "writer": "agent",
    }
    documented = {**FIRST, "documents": [refused, newest]}

    lines = shown(chain(sessions=[documented, SECOND]), NOW)

    assert len(lines) == 5
    assert lines[3].count("handoff-2026-11-21-201500.md (agent)") == 1
    assert lines[2].split() == ["earlier:", "0a1b2c3d", refused["path"], "(facts,", "refused)"]


def test_what_is_searched_for_is_printed_newest_first_with_its_line(
    answering: Any, capsys: Any
) -> None:
    found = [
        {
            "id": f"{number}a1b2c3d-0000",
            "created": f"2026-11-2{number}T20:00:00Z",
            "document": f"/w/{number}.md",
            "writer": "agent",
            "found": "the \x1b[31mtoken of auth",
        }
        for number in (1, 2)
    ]
    answering.say(
        "GET /v1/history?name=api&search=auth+%22",
        [chain(sessions=[{**FIRST, "handoffs": found[:1]}, {**SECOND, "handoffs": found[1:]}])],
    )
    answering.say("GET /v1/history?search=nowhere", [])

    assert run(["history", "api", "--search", 'auth "']) == 0
    assert capsys.readouterr().out.splitlines() == [
        "2a1b2c3d  api  2026-11-22T20:00:00Z  /w/2.md (agent)",
        "    the token of auth",
        "1a1b2c3d  api  2026-11-21T20:00:00Z  /w/1.md (agent)",
        "    the token of auth",
    ]
    assert run(["history", "--search", "nowhere"]) == 0
    assert capsys.readouterr().out == "No document contains all of these words.\n"


def test_a_job_of_which_no_session_was_started_is_told_too() -> None:
    """A start that was refused leaves its job."""
    head, word = shown(chain(handoffs=0, sessions=[]), NOW)

    assert head.startswith("api  Build the login and test it.  (0 handoffs")
    assert word == "  never started"


def test_what_holds_no_word_is_no_search(
    answering: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    answering.say("GET /v1/history?search=%01", [chain()])

    assert run(["history", "--search", "\x01"]) == 0

    assert "Build the login and test it." in capsys.readouterr().out


def test_what_is_no_text_is_found_nowhere(
    answering: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    answering.say("GET /v1/history?search=a%3F", [])

    assert run(["history", "--search", "a\udcff"]) == 0
    assert run(["show", "a\udcff"]) != 0

    assert "No document contains all of these words." in capsys.readouterr().out
