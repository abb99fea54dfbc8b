"""Some sessions of the corpus, and the scorer itself. `make worth` scores all sessions."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from cockpit.adapters.agents.claude.record import parse
from cockpit.adapters.agents.claude.skim import FactsParser
from cockpit.adapters.transcripts.lines import Parse
from cockpit.adapters.transcripts.scan import read_all
from cockpit.core.collect import Collector
from cockpit.core.facts import Facts
from cockpit.core.meter import Meter
from cockpit.core.session import SessionEvent, Skipped, Usage
from tests.worth.__main__ import main
from tests.worth.documents import facts, last_messages, tool
from tests.worth.items import REACH, Outdated, Planted, score
from tests.worth.session import LEAST_CALLS, Session, write_session
from tests.worth.stage import SESSIONS

SLICE = (1, 14, 30)
"""One session in each language, of different projects."""
FLOOR = {
    1: 90, 2: 80, 3: 100, 4: 100, 5: 80, 6: 75, 7: 95, 8: 95, 9: 75, 10: 95, 11: 100, 12: 100,
    13: 95, 14: 100, 15: 100,
}  # fmt: skip
"""The least percentage of the items of a kind that cockpit's document holds in the slice."""
POINTS = 80
"""The least points of cockpit's document in each session of the slice."""


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> list[Session]:
    folder = tmp_path_factory.mktemp("worth")
    return [write_session(folder / str(number), number) for number in SLICE]


def test_cockpits_document_holds_what_it_held(sessions: list[Session]) -> None:
    """Raise the floor when the document holds more; a collector that breaks falls below it."""
    scores = [score(facts(one), one.planted, one.outdated) for one in sessions]
    shares = {}
    for kind in FLOOR:
        found = sum(item.kind == kind for one in scores for item in one.found)
        missing = sum(item.kind == kind for one in scores for item in one.missing)
        shares[kind] = 100 * found // (found + missing)

    assert {kind: share for kind, share in shares.items() if share < FLOOR[kind]} == {}
    assert min(one.points for one in scores) >= POINTS


def read(session: Session, with_parse: Parse) -> tuple[Facts, int | None, Usage, str | None, int]:
    collector, meter = Collector(), Meter()

    def feed(event: SessionEvent | Skipped) -> None:
        collector.feed(event)
        meter.feed(event)

    read_all(session.transcript, with_parse, feed)
    return collector.facts(), meter.tokens, meter.totals, meter.model, meter.tool_calls


def test_the_quick_reading_gives_what_a_parse_of_every_line_gives(sessions: list[Session]) -> None:
    for session in sessions:
        assert read(session, FactsParser()) == read(session, parse)


def test_a_session_is_as_described(sessions: list[Session]) -> None:
    assert [one.language for one in sessions] == ["english", "german", "spanish"]
    for session in sessions:
        records = [json.loads(line) for line in session.transcript.read_text().splitlines()]
        calls = [
            block
            for record in records
            if record["type"] == "assistant"
            for block in record["message"]["content"]
            if block["type"] == "tool_use"
        ]
        assert len(calls) == session.calls >= LEAST_CALLS
        assert {item.kind for item in session.planted} >= set(range(1, 16)) - {3, 4}
        assert len(session.outdated) >= 7


def test_the_same_session_again(sessions: list[Session], tmp_path: Path) -> None:
    again = write_session(tmp_path / "again", SLICE[0])
    before = sessions[0]

    assert (again.planted, again.outdated) == (before.planted, before.outdated)
    one, other = (
        session.transcript.read_text().replace(str(session.repository), "")
        for session in (before, again)
    )
    assert one == other


def test_whoever_says_everything_gets_every_point(sessions: list[Session]) -> None:
    for session in sessions:
        lines = [" ".join(term.split("|")[0] for term in item.terms) for item in session.planted]
        told = score(("\n" + "." * REACH).join(lines), session.planted, session.outdated)
        assert (told.missing, told.recall) == ((), 100)
        assert told.stated == ()


def test_whoever_says_nothing_gets_none(sessions: list[Session]) -> None:
    told = score("", sessions[0].planted, sessions[0].outdated)
    assert (told.points, told.found, told.stated, told.tokens) == (0, (), (), 0)


LIMIT = Planted(5, "limit", ("timeout", "84"))
OLD_LIMIT = Outdated(5, "limit before", ("timeout", "47"), instead="84")


@pytest.mark.parametrize(
    ("text", "recall", "points"),
    [
        ("`timeout` is\n**84**", 100, 100),
        ("84 s is the new TIMEOUT.", 100, 100),
        ("The timeout was 47 and is 84.", 100, 100),
        ("Set timeout to 47. " + "x " * REACH + "timeout = 84", 100, 0),
        ("The user revoked a timeout of 47.", 0, 0),
        ("timeout 47", 0, 0),
        ("timeout_ms 84", 0, 0),
        ("timeout 840", 0, 0),
        ("timeout" + " x" * REACH + " 84", 0, 0),
    ],
)
def test_terms_have_to_stand_together(text: str, recall: int, points: int) -> None:
    told = score(text, [LIMIT], [OLD_LIMIT])
    assert (told.recall, told.points) == (recall, points)


def test_an_outdated_statement_costs_what_its_kind_is_worth() -> None:
    planted = [LIMIT, Planted(15, "file", ("a.md",))]
    told = score("a.md, timeout 84. " + "x " * REACH + "timeout 47", planted, [OLD_LIMIT])
    assert (told.recall, told.points) == (100, 25)
    (old,) = told.stated
    assert old == OLD_LIMIT


def test_only_the_begin_of_an_endless_document_is_read() -> None:
    assert score("x " * 20_000 + "timeout 84", [LIMIT], []).recall == 0


def test_the_last_messages_are_those_of_the_transcript(sessions: list[Session]) -> None:
    text = last_messages(sessions[0])
    assert text.count("assistant: ") + text.count("user: ") == 20
    assert text.endswith("user: 3")


def test_another_tool_is_scored_by_what_it_prints(sessions: list[Session]) -> None:
    code = "import os, sys; print(os.getcwd(), sys.argv[1])"
    session = sessions[0]
    told = tool(f"{sys.executable} -c '{code}' {{transcript}}")(session)
    assert told.split() == [str(session.repository), str(session.transcript)]
    with pytest.raises(SystemExit, match="failed on session 1"):
        tool(f"{sys.executable} -c 'raise SystemExit(3)'")(session)


def test_the_command_scores_one_document(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = tmp_path / "mine.md"
    document.write_text("nothing of worth")

    assert main(["--session", "2", "--document", str(document), "--missing"]) == 0

    told = capsys.readouterr().out
    assert "| mine.md | 0 | 0 | 0 | 0 % | 0 | 4 |" in told
    assert "missing    1  goal" in told


def test_there_are_thirty_sessions() -> None:
    assert SESSIONS == 30
