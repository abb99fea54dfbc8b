"""A diff as lines: told apart by git's own counts, and harmless whatever files hold."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from cockpit.tui.present.diff import diff_lines
from cockpit.tui.present.diff_list import ListedFile, file_spans, listed
from cockpit.tui.present.span import Span, plain
from cockpit.wire.diff import DiffFile, WorktreeDiff
from tests.tui.scene_sessions import DIFF


def roles(lines: list[list[Span]], text: str) -> set[str]:
    return {span.role for line in lines for span in line if text in span.text}


def test_the_summary_stands_before_the_text() -> None:
    lines = [plain(line).strip() for line in diff_lines(DIFF, 100)]
    assert lines[0] == "3 files changed, 1 new file  +8 -2  uncommitted, since 9f1c2d3e"
    assert "── src/auth.py ──" in "\n".join(lines)
    assert not any(line.startswith(("index ", "--- a/", "+++ b/")) for line in lines)


def test_the_list_has_every_file_with_its_counts() -> None:
    lines = [plain(file_spans(file, 30)) for file in listed(DIFF)]
    assert [line.split() for line in lines] == [
        ["src/auth.py", "+5", "-2"],
        ["…sts/auth/test_margin.py", "+3", "-0"],
        ["docs/flow.png", "binary"],
        ["notes/", "new"],
    ]
    assert {cell_len(line) for line in lines} == {30}


@pytest.mark.parametrize("width", [4, 9, 14, 40])
def test_a_line_of_the_list_fits_whatever_a_file_is_called(width: int) -> None:
    name = "漢" * 90 + "\x1b[31m\u202e[red]x[/]\n"
    line = plain(file_spans(ListedFile(name, 1, 2, False), width))
    assert cell_len(line) <= max(width, len(" +1 -2"))
    assert line.isprintable()


def test_each_line_is_what_its_part_says_it_is() -> None:
    text = (
        "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n"
        "@@ -1,3 +1,3 @@ here\n--- gone, a rule\n+++ come\n same\n-@@ -1 +1 @@\n"
        "+diff --git a/y b/y\n"
        "\\ No newline at end of file\n"
    )
    lines = diff_lines(
        WorktreeDiff(directory="/w", files=[DiffFile(path="x", added=2, removed=2)], text=text), 80
    )
    assert roles(lines, "--- gone, a rule") == {"removed"}
    assert roles(lines, "+++ come") == {"added"}
    assert roles(lines, "-@@ -1 +1 @@") == {"removed"}
    assert roles(lines, "+diff --git a/y b/y") == {"added"}
    assert roles(lines, "No newline") == {"muted"}
    assert roles(lines, "@@ here") == {"hunk"}


def test_all_of_a_long_line_can_be_seen_and_nothing_of_it_acts() -> None:
    long = "漢" * 200 + "\x1b]52;c;eA==\x07 \u202eevil [red]x[/] \t|"
    text = f"diff --git a/x b/x\n@@ -0,0 +1 @@\n+{long}\n"
    files = [DiffFile(path="x", added=1, removed=0)]
    lines = diff_lines(WorktreeDiff(directory="/w", files=files, text=text), 60)
    said = "".join(span.text for line in lines for span in line)
    assert said.count("漢") == 200
    assert "[red]x[/]" in said
    assert not {"\x1b", "\x07", "\u202e", "\t"} & set(said)
    assert max(cell_len(plain(line)) for line in lines) <= 60


def test_what_is_cut_unknown_or_the_same_is_said() -> None:
    assert "No uncommitted changes" in plain(diff_lines(WorktreeDiff(directory="/w"), 80)[0])
    cut = diff_lines(DIFF.model_copy(update={"cut": True}), 80)
    assert "Cut off here" in plain(cut[-1])
    why = WorktreeDiff(directory="/w", unknown="The directory is not in a git worktree.")
    assert "not in a git worktree" in plain(diff_lines(why, 80)[0])
    job = DIFF.model_copy(update={"of_job": True})
    assert "since the job began at 9f1c2d3e" in plain(diff_lines(job, 80)[0])


def test_renamed_and_oddly_named_files_are_named_in_full() -> None:
    text = "diff --git a/old name b/new\nsimilarity index 90%\nrename from old name\n"
    text += 'diff --git "a/\\303\\274" "b/\\303\\274"\n'
    files = [DiffFile(path="old name → new", added=0, removed=0)]
    lines = [
        plain(line) for line in diff_lines(WorktreeDiff(directory="/w", files=files, text=text), 80)
    ]
    assert any("── a/old name b/new ──" in line for line in lines)
    assert any("rename from old name" in line for line in lines)


def test_new_files_alone_have_no_counts_of_lines() -> None:
    new = WorktreeDiff(directory="/w", since="9f1c2d3e4a", untracked=["notes.md"])
    assert plain(diff_lines(new, 80)[0]).strip() == "1 new file  uncommitted, since 9f1c2d3e"


def test_binary_files_alone_have_no_counts_of_lines() -> None:
    changed = WorktreeDiff(directory="/w", since="9f1c2d3e4a", files=[DiffFile(path="a.png")])
    first = plain(diff_lines(changed, 80)[0]).strip()
    assert first == "1 file changed  uncommitted, since 9f1c2d3e"
