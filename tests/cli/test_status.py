"""`cockpit status`: the table, the JSON, and what `--watch` speaks."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from cockpit.cli.commands import run
from cockpit.cli.context_bar import bar, format_figures
from cockpit.cli.fast_path import run_fast
from cockpit.cli.status import table_lines
from cockpit.wire.status import AgentStatus, ContextStatus, Needs, Status, SupervisorStatus

FULL = ContextStatus(
    tokens=142_000, window=200_000, used=0.71, band="act", confidence="reported", turns_left=6
)


def row(name: str, **more: Any) -> AgentStatus:
    plain = {"runtime": "claude", "directory": "/w", "mode": "prompt", "strategy": "handoff",
             "max_handoffs": 3, "state": "working"}  # fmt: skip
    return AgentStatus.model_validate({"name": name, **plain, **more})


def said(*agents: AgentStatus) -> dict[str, Any]:
    return Status(agents=list(agents)).model_dump()


def test_the_table_has_a_line_for_each_agent(
    answering: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    asking = Needs(kind="review", detail="Read the document")
    answering.say(
        "GET /v1/status",
        said(
            row("api", context=FULL, activity="Edit src/auth.py"),
            row("web", state="needs_you", needs=asking),
        ),
    )

    assert run_fast(["status"]) == 0

    head, api, web = capsys.readouterr().out.splitlines()
    assert head.split() == ["NAME", "STATE", "CONTEXT", "BAND", "TURNS", "DOING"]
    assert head.index("STATE") == api.index("working")
    assert head.index("BAND") == api.index("act")
    assert head.index("DOING") == api.index("Edit")
    for words in ("api", "working", "███████░░░  71%  142k/200k", "act", "~6 left", "auth.py"):
        assert words in api
    for words in ("web", "needs you", "?", "review: Read the document"):
        assert words in web
    assert "0%" not in web


def test_a_hook_that_failed_is_said_whatever_the_agent_does(
    answering: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    failed = "hook save (on_needs_you) failed: ended with 1"
    working = row("api", activity="Edit src/auth.py", note=f"so; {failed}", warning=failed)
    idle = row("web", note=f"so; {failed}", warning=failed)
    answering.say("GET /v1/status", said(working, idle))

    assert run_fast(["status"]) == 0
    _head, api, web = capsys.readouterr().out.splitlines()
    assert api.endswith(f"{failed}; Edit src/auth.py")
    assert web.endswith(f"so; {failed}")
    assert run(["status", "--plain"]) == 0
    assert f"{failed}; Edit" in capsys.readouterr().out

    lines = [{"type": "agent", "agent": each.model_dump()} for each in (row("api"), working)]
    answering.say("GET /v1/watch?day=1", *[json.dumps(line).encode() + b"\n" for line in lines])
    assert run(["status", "--watch", "--plain"]) == 4
    assert len(capsys.readouterr().out.splitlines()) == 2


@pytest.mark.parametrize(
    ("spent", "budget", "line"),
    [
        (4.1, 20.0, "$4.10 of $20.00 today"),
        (20.0, 20.0, "$20.00 of $20.00 today; over the day's budget"),
        (4.1, None, None),
        (None, 20.0, None),
    ],
)
def test_the_day_is_said_below_the_table_where_a_budget_is_set(
    answering: Any,
    capsys: pytest.CaptureFixture[str],
    spent: float | None,
    budget: float | None,
    line: str | None,
) -> None:
    own = SupervisorStatus(spent_today_usd=spent, budget_today_usd=budget)
    answering.say("GET /v1/status", Status(supervisor=own, agents=[row("api")]).model_dump())
    assert run_fast(["status"]) == 0
    assert capsys.readouterr().out.splitlines()[2:] == ([line] if line else [])
    assert run_fast(["status", "api"]) == 0
    assert "today" not in capsys.readouterr().out


def test_both_ways_print_the_same_json(answering: Any, capsys: pytest.CaptureFixture[str]) -> None:
    answering.say("GET /v1/status", said(row("api", context=FULL), row("web")))

    assert run_fast(["status", "--json"]) == 0
    quick = capsys.readouterr().out
    assert run(["status", "--json"]) == 0

    assert capsys.readouterr().out == quick
    assert json.loads(quick) == said(row("api", context=FULL), row("web"))


def test_one_agent(answering: Any, capsys: pytest.CaptureFixture[str]) -> None:
    answering.say("GET /v1/status", said(row("api"), row("web")))

    assert run_fast(["status", "web", "--json"]) == 0
    assert [one["name"] for one in json.loads(capsys.readouterr().out)["agents"]] == ["web"]
    assert run_fast(["status", "db"]) == 3
    assert "api, web" in capsys.readouterr().err


def test_nothing_foreign_controls_the_terminal(
    answering: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = "\x1b]0;owned\x07\x9b31m\r\nsecond\u202eline"
    answering.say("GET /v1/status", said(row("api", activity=hostile, note=hostile)))

    run_fast(["status"])

    text = capsys.readouterr().out
    assert len(text.splitlines()) == 2
    assert not set(text) & set("\x1b\x07\x9b\r\u202e")


def test_watch_speaks_only_what_changed(answering: Any, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        {"type": "snapshot", "status": said(row("api"), row("web"))},
        {"type": "agent", "agent": row("web").model_dump()},
        {"type": "event", "event": {}},
        {"type": "agent", "agent": row("api", state="idle").model_dump()},
    ]
    answering.say("GET /v1/watch?day=1", *[json.dumps(line).encode() + b"\n" for line in lines])

    assert run(["status", "--watch"]) == 4

    spoken = [line.split()[:2] for line in capsys.readouterr().out.splitlines()]
    assert spoken == [["api", "working"], ["web", "working"], ["api", "idle"]]


@pytest.mark.parametrize(
    ("options", "spoken"),
    [
        ([], ["$1.00 of $20.00 today", "$2.00 of $20.00 today",
              "$20.00 of $20.00 today; over the day's budget"]),
        (["--plain"], ["$1.00 of $20.00 today", "$20.00 of $20.00 today; over the day's budget"]),
        (["--json"], []),
        (["api"], []),
    ],
)  # fmt: skip
def test_watch_speaks_the_days_cost_when_its_share_of_the_budget_changes(
    answering: Any, capsys: pytest.CaptureFixture[str], options: list[str], spoken: list[str]
) -> None:
    days = [
        {"type": "day", "spent_today_usd": spent, "budget_today_usd": 20.0}
        for spent in (1.0, 1.01, 2.0, 20.0)
    ]
    lines = [{"type": "snapshot", "status": said(row("api"))}, *days]
    for target in ("GET /v1/watch", "GET /v1/watch?day=1"):
        answering.say(target, *[json.dumps(line).encode() + b"\n" for line in lines])

    assert run(["status", "--watch", *options]) == 4

    assert [line for line in capsys.readouterr().out.splitlines() if "today" in line] == spoken


def test_in_plain_words_there_is_a_sentence_for_each_agent(
    answering: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    asking = Needs(kind="usage_limit", detail="resets at 14:00")
    answering.say(
        "GET /v1/status",
        said(
            row("api", context=FULL, activity="Edit src/auth.py\x1b[2J"),
            row("web", state="needs_you", needs=asking, activity="Bash"),
        ),
    )

    assert run(["status", "--plain"]) == 0

    assert capsys.readouterr().out.splitlines() == [
        "api is working. 71 percent used, 142 thousand of 200 thousand tokens, act, 6 turns left. "
        "Edit src/auth.py.",
        "web needs you, usage limit: resets at 14:00. Context unknown.",
    ]


@pytest.mark.parametrize("state", ["stopped", "exited", "done"])
def test_an_agent_that_has_ended_has_no_turns_left_and_does_nothing(
    state: str, answering: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = row("api", state=state, context=FULL, activity="Bash make", note="stopped by you")
    answering.say("GET /v1/status", said(ended))

    assert run_fast(["status"]) == 0
    line = capsys.readouterr().out.splitlines()[1]
    assert run(["status", "--plain"]) == 0
    sentence = capsys.readouterr().out

    for shown in (line, sentence):
        assert "left" not in shown
        assert "Bash" not in shown
        assert "stopped by you" in shown


def test_a_question_ends_with_one_sign(answering: Any, capsys: pytest.CaptureFixture[str]) -> None:
    asking = Needs(kind="question", detail="Which colour?")
    answering.say("GET /v1/status", said(row("api", state="needs_you", needs=asking)))

    assert run(["status", "--plain"]) == 0

    assert capsys.readouterr().out.startswith("api needs you, question: Which colour? Context")


def test_in_plain_words_only_what_matters_is_said_again(
    answering: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    calm = FULL.model_copy(update={"band": "calm", "tokens": 20_000, "used": 0.1})
    more = calm.model_copy(update={"tokens": 30_000, "used": 0.15})
    agents = [
        row("api", context=calm),
        row("api", context=more, activity="Bash"),
        row("api", context=FULL),
        row("api", context=FULL, state="idle"),
    ]
    lines = [{"type": "agent", "agent": agent.model_dump()} for agent in agents]
    answering.say("GET /v1/watch?day=1", *[json.dumps(line).encode() + b"\n" for line in lines])

    assert run(["status", "--watch", "--plain"]) == 4

    spoken = capsys.readouterr().out
    assert spoken.splitlines() == [
        "api is working. 10 percent used, 20 thousand of 200 thousand tokens, 6 turns left.",
        "api is working. 71 percent used, 142 thousand of 200 thousand tokens, act, 6 turns left.",
        "api is idle. 71 percent used, 142 thousand of 200 thousand tokens, act.",
    ]
    assert spoken.isascii()


@pytest.mark.parametrize(
    ("used", "cells"),
    [(0.0, 0), (0.05, 0), (0.1, 1), (0.71, 7), (0.999, 9), (1.0, 10), (1.4, 10)],
)
def test_the_bar_is_full_only_when_the_window_is(used: float, cells: int) -> None:
    assert bar(used) == "█" * cells + "░" * (10 - cells)


def test_what_is_not_known_is_not_drawn_as_zero() -> None:
    words = format_figures(ContextStatus(window=200_000).model_dump())

    assert "?/200k" in words
    assert not set(words.replace("200k", "")) & set("█░0")


def test_an_assumed_window_is_marked() -> None:
    assumed = FULL.model_copy(update={"confidence": "assumed"})

    assert "71%? 142k/200k" in format_figures(assumed.model_dump())


ASKED = "permission: Bash pytest tests/reports/test_totals.py"


def test_80_columns_show_what_agents_need_instead_of_empty_columns() -> None:
    asking = Needs(kind="permission", detail=ASKED.partition(": ")[2])
    agents = [row("api"), row("web", state="needs_you", needs=asking)]

    head, api, web = table_lines([each.model_dump() for each in agents], 80)

    assert head.split() == ["NAME", "STATE", "BAND", "DOING"]
    assert api.split() == ["api", "working", "unknown"]
    assert web.endswith(ASKED)


def test_80_columns_have_the_percentage_without_the_bar_if_the_text_needs_the_room() -> None:
    asking = Needs(kind="permission", detail=ASKED.partition(": ")[2])
    busy = row("api", context=FULL, activity="Edit")
    agents = [each.model_dump() for each in (busy, row("web", state="needs_you", needs=asking))]

    lines = table_lines(agents, 80)
    assert lines[1].split() == ["api", "working", "71%", "act", "~6", "left", "Edit"]
    assert lines[2].endswith("  permission: Bash pytest tests/repor…")
    assert max(map(len, lines)) == 80
    assert "working     71%  142k/200k  act" in table_lines(agents, 106)[1]
    assert "█" in table_lines(agents[:1], 80)[1]
    assert "█" in table_lines(agents, None)[1]


def test_status_loads_nothing_heavy(answering: Any) -> None:
    answering.say("GET /v1/status", said(row("api", context=FULL)))
    program = (
        "import sys\nfrom cockpit.cli.fast_path import run_fast\nassert run_fast(['status']) == 0\n"
        "print(sorted({m.split('.')[0] for m in sys.modules} & {'click', 'pydantic', 'asyncio',"
        " 'textual', 'rich', 'libtmux', 'starlette', 'claude_agent_sdk', 'jinja2', 'tomlkit'}))"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout.splitlines()[-1] == "[]"


def test_a_long_name_moves_no_column(answering: Any, capsys: pytest.CaptureFixture[str]) -> None:
    long = row("gpu1/" + "n" * 32, context=FULL)
    answering.say("GET /v1/status", said(row("api", context=FULL), long))
    assert run_fast(["status"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert {line.index("working") for line in lines} == {head.index("STATE")}


def test_one_turn_is_no_plural(answering: Any, capsys: pytest.CaptureFixture[str]) -> None:
    one = FULL.model_copy(update={"turns_left": 1})
    answering.say("GET /v1/status", said(row("api", context=one)))
    assert run(["status", "--plain"]) == 0
    assert "1 turn left" in capsys.readouterr().out
