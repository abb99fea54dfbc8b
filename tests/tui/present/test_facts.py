"""The facts of a session as lines: nothing foreign acts, and what there is none of is left out."""

from __future__ import annotations

from cockpit.tui.present.facts import fact_lines
from cockpit.tui.present.fold import folded, worded
from cockpit.tui.present.span import plain
from cockpit.tui.present.trend import trend
from tests.tui.scene_sessions import FACTS

HOSTILE = "[b]x[/] \x1b[2J\u202e漢字 \x07"


def test_groups_stand_under_their_names() -> None:
    text = "\n".join(plain(line) for line in fact_lines(FACTS, 70))
    for words in ("goal", "● Use Auth.refresh", "✓ TokenMargin", "9f1c2d3 Add TokenMargin", "??"):
        assert words in text
    assert "subagents" not in text


def test_what_holds_from_earlier_sessions_is_listed_with_since_when() -> None:
    told = {"text": f"Never push {HOSTILE}", "since": "session 2", "section": "x", "last": "y"}
    text = "\n".join(plain(line) for line in fact_lines({"standing": [told]}, 70))
    assert "in force" in text
    assert "Never push" in text
    assert "(since session 2)" in text
    assert not {"\x1b", "\u202e", "\x07"} & set(text)


def test_paths_are_relative_to_the_worktree_and_keep_the_files_name() -> None:
    folder = "/tmp/demo/home/tally/.worktrees/rounding"
    deep = f"{folder}/{'a-long-folder/' * 6}report.py"
    facts = {
        "files_modified": [f"{folder}/tally/report.py", deep, "/etc/hosts"],
        "recent_activity": [f"Edit {folder}/tally/report.py"],
    }
    lines = [plain(line).strip() for line in fact_lines(facts, 70, folder)]
    assert lines[0].endswith("Edit tally/report.py")
    assert lines[0].split()[1:] == ["Edit", "tally/report.py"]
    assert lines[2].split() == ["files", "tally/report.py"]
    assert lines[3].startswith("…")
    assert lines[3].endswith("/a-long-folder/report.py")
    assert lines[4] == "/etc/hosts"


def test_nothing_known_is_said() -> None:
    assert "Nothing known" in plain(fact_lines({}, 70)[0])


def test_foreign_words_are_only_words() -> None:
    facts = {
        "goal": HOSTILE, "todos": [{"content": HOSTILE, "status": HOSTILE}, {}],
        "files_modified": [HOSTILE], "commits": [{"hash": HOSTILE, "subject": HOSTILE}],
        "git_status": HOSTILE, "recent_activity": [HOSTILE],
        "subagents": [{"type": HOSTILE, "status": HOSTILE, "task": HOSTILE}],
    }  # fmt: skip
    text = "".join(plain(line) for line in fact_lines(facts, 40))
    assert "[b]x[/]" in text
    assert not {"\x1b", "\u202e", "\x07"} & set(text)


def test_prose_is_broken_between_words_and_code_at_the_edge() -> None:
    assert worded("one two three", 8) == ["one two", "three"]
    assert worded("abcdefghij k", 4) == ["abcd", "efgh", "ij k"]
    assert worded("", 4) == [""]
    assert folded("abcdefgh", 4, indent=1) == ["abcd", " efg", " h"]
    assert folded("漢字漢字", 5) == ["漢字", "漢字"]


def test_a_trend_is_as_high_as_the_window_is_full() -> None:
    assert trend([0, 100, 200, 300], 200) == "▁▅██"
    assert trend([100], 200) == ""
    assert trend([100, 200], None) == ""
