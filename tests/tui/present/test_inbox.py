"""What waits for the user, in which order, and in words that are safe to show."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from rich.cells import cell_len

from cockpit.tui.present.inbox import detail, fits_line, heading, items, line
from cockpit.tui.present.span import plain
from cockpit.wire.status import AgentStatus, HeldSetting, NeedKind, Needs
from tests.tui.scene import agent, fleet
from tests.tui.test_pictures import one_time_zone

__all__ = ["one_time_zone"]

NOW = datetime(2026, 11, 21, 21, 0, tzinfo=UTC)
HELD = [
    HeldSetting(file="/w/cockpit.toml", line=12, key="agents[0].env", reason="it decides"),
    HeldSetting(file="/w/cockpit.toml", line=20, key="notifications.urls", reason="it sends"),
]


def needing(name: str, kind: NeedKind, since: str | None = None, **fields: Any) -> AgentStatus:
    needs = Needs(kind=kind, detail=f"{name} waits", since=since, **fields)
    return agent(name, "needs_you", needs=needs)


def test_who_needs_nothing_is_not_there() -> None:
    assert [item.agent for item in items(fleet())] == ["mailer", "api"]
    assert items([agent("calm")]) == []


def test_what_holds_an_agent_up_comes_first_and_of_that_the_newest() -> None:
    found = items(
        [
            needing("limited", "usage_limit", "2026-11-21T20:59:00Z"),
            needing("old", "permission", "2026-11-21T20:00:00Z"),
            needing("review", "review", "2026-11-21T20:58:00Z"),
            needing("new", "trust", "2026-11-21T20:30:00Z"),
            needing("broken", "failed", "2026-11-21T20:10:00Z"),
        ],
        HELD,
    )
    assert [item.who for item in found] == [
        "new", "broken", "old", "review", "limited", "cockpit.toml",
    ]  # fmt: skip


def test_a_permission_shows_the_tool_and_all_lines_of_what_it_does() -> None:
    asked = needing("api", "permission", tool="Bash", command="make \\\n\n   all\x1b[2J")
    (item,) = items([asked])
    assert item.what == "Bash: make \\ all"
    assert item.says == ("Bash needs permission for:", "  make \\", "  ", "     all")
    assert "answer in the agent's pane" in item.step


def test_held_settings_are_one_item_a_file_with_what_leads_on() -> None:
    (item,) = items([], HELD)
    assert (item.kind, item.agent) == ("held", None)
    assert item.what == "2 settings ignored until you trust this file"
    assert "line 12: agents[0].env" in item.says[1]
    assert item.step.endswith("cockpit config trust /w/cockpit.toml")


def test_a_limit_says_when_it_begins_anew() -> None:
    (item,) = items([needing("api", "usage_limit", resets_at="2026-11-21T22:00:00+00:00")])
    assert item.step.startswith("The limit resets at 22:00;")
    later = Needs(
        kind="usage_limit", detail="-", since="2026-11-21T20:00:00+00:00",
        resets_at="2026-11-24T08:00:00+00:00",
    )  # fmt: skip
    (item,) = items([agent("api", "needs_you", needs=later)])
    assert item.step.startswith("The limit resets at 11-24 08:00;")


@pytest.mark.parametrize("width", [20, 40, 58, 98, 198])
def test_a_line_has_exactly_the_width(width: int) -> None:
    hostile = "漢字\x1b]0;x\x07\u202e 👩‍👩‍👧 " * 20
    since = "2026-11-21T20:00:00Z"
    asked = needing("api", "permission", since, tool=hostile, command=hostile)
    (item,) = items([asked])
    spans = line(item, width, NOW, 8)
    assert "\x1b" not in plain(spans)
    if width >= 40:
        assert cell_len(plain(spans)) == width
        assert plain(spans).endswith("1h")
    assert cell_len(plain(heading([item], hostile, width))) <= max(width, 36)


@pytest.mark.parametrize(("width", "most"), [(20, 5), (60, 6), (100, 10)])
def test_what_has_no_room_is_counted(width: int, most: int) -> None:
    command = "\n".join(f"step {number} " + "x" * 70 for number in range(30))
    (item,) = items([needing("api", "permission", tool="Bash", command=command)])
    lines = [plain(spans) for spans in detail(item, width, most)]
    assert any("more lines" in each for each in lines)
    assert all(cell_len(each) <= width for each in lines)
    assert len(lines) <= most + 2
    assert detail(None, width, most) == []


def test_what_a_line_says_whole_is_not_said_again_below_it() -> None:
    (item,) = items([needing("api", "permission", tool="Bash", command="make all")])
    assert fits_line(item, 80, 8)
    below = detail(item, 80, 10, is_shown=True)
    assert [plain(spans) for spans in below] == [
        " Press a to answer here, or Enter to answer in the agent's pane."
    ]
    assert not fits_line(item, 44, 8)
    for command in ("make\nall", "make  all", "x" * 400):
        (item,) = items([needing("api", "permission", tool="Bash", command=command)])
        assert not fits_line(item, 900, 8)


def test_the_word_of_a_need_is_not_said_twice() -> None:
    asked = needing("api", "handoff")
    needs = Needs(kind="handoff", detail="hand off? 76% of the context is used")
    (item,) = items([asked.model_copy(update={"needs": needs})])
    assert (item.word, item.what) == ("hand off?", "76% of the context is used")


def test_counts_at_the_top_are_left_out_whole() -> None:
    kinds: list[NeedKind] = ["permission", "failed", "trust", "review", "usage_limit"]
    found = items([needing(kind, kind) for kind in kinds])
    for width in range(30, 100):
        said = plain(heading(found, "local", width)).removeprefix(" Inbox ").strip()
        counts = said.removesuffix("local").strip().removesuffix("…").strip(" ·").split(" · ")
        assert set(counts) <= {"1 permission", "1 failed", "1 trust?", "1 review", "1 usage limit"}


def test_the_next_step_names_the_users_own_keys() -> None:
    """A key that was mapped away is never named; without one, the palette is."""
    own = {
        "inbox.answer": "Alt-X", "inbox.open": "", "resume": "F9", "start": "v", "stop": "y",
    }  # fmt: skip

    def step(kind: NeedKind) -> str:
        return items([needing("api", kind)], key_of=lambda action: own[action])[0].step

    assert step("permission") == (
        "Press Alt-X to answer here, or choose \u201cOpen\u201d with Ctrl-P to answer in the "
        "agent's pane."
    )
    assert step("resume").startswith("Press F9 in the list of agents")
    assert step("review").startswith("Choose \u201cOpen\u201d with Ctrl-P to read the document")
    pane_only = needing("api", "question", answerable=False)
    (item,) = items([pane_only], key_of={**own, "inbox.open": "Enter"}.__getitem__)
    assert item.step == "Press Enter to answer in the agent's pane."
    gone = needing("api", "failed").model_copy(update={"pane": None, "pid": None})
    assert items([gone], key_of=lambda action: own[action])[0].step.startswith(
        "Press v in the list"
    )
    runs = gone.model_copy(update={"pid": 7})
    assert items([runs], key_of=lambda action: own[action])[0].step == (
        "Press y in the list of agents to stop the agent's process, then start the agent again."
    )


def test_the_command_that_stops_an_agent_of_another_host_names_the_host() -> None:
    (item,) = items([agent("gpu1/api", over_budget=True)])
    assert item.step.endswith(": cockpit stop api --host gpu1")
