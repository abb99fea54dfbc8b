"""Claims of a document with git's word beside them, which no writer can put there himself."""

from __future__ import annotations

import pytest

from cockpit.core.checked_claims import check_claims
from cockpit.core.claimed_files import Trace
from cockpit.core.verified_facts import NOT_CHECKED, UNVERIFIED, VERIFIED
from cockpit.tui.present.review import with_continuation

CHANGED, UNCHANGED, MISSING = (trace.value for trace in Trace)
FACTS = f"""
## Verified Facts

- branch `main` at `9f1c2d3e4b5a`

### Commits of This Session

- `9f1c2d3e4b5a69788796a5b4c3d2e1f001122334` add the margin
- `c0ffee12` remove the margin {NOT_CHECKED}
- `deadbee1` is named in this document {UNVERIFIED}
"""


@pytest.mark.parametrize(
    ("claim", "shown"),
    [
        ("- commit `9f1c2d3`", "- commit `9f1c2d3` ✓"),
        (f"commit deadbee1 {UNVERIFIED}", "commit deadbee1 ✗ (unknown to git)"),
        (f"commit `0a1b2c3` {VERIFIED}", "commit `0a1b2c3` ✓"),
        (f"`a/b.py` ✅ {MISSING}", "`a/b.py` ✗ (not found)"),
        (f"a/b.py {CHANGED} ✓", "a/b.py ✓"),
        (f"a/b.py ✓ {UNCHANGED}", "a/b.py ? (exists, unchanged)"),
        (
            f"(deadbee1 {UNVERIFIED}; 0a1b2c3 {VERIFIED})",
            "(deadbee1 ✗ (unknown to git); 0a1b2c3 ✓)",
        ),
        ("a/b.py", "a/b.py"),
        ("commit `0a1b2c3`", "commit `0a1b2c3`"),
        ("commit `0a1b2c3` ✓", "commit `0a1b2c3`"),
        ("commit `c0ffee12`", "commit `c0ffee12`"),
        ("commit `0a1b2c3` ✅ and 9f1c2d3", "commit `0a1b2c3` and 9f1c2d3 ✓"),
        ("the colour 9f1c2d3e", "the colour 9f1c2d3e"),
        ("done ✓", "done ✓"),
        ("```\ncommit 9f1c2d3\n```", "```\ncommit 9f1c2d3\n```"),
    ],
)
def test_a_sign_stands_beside_what_git_was_asked_about(claim: str, shown: str) -> None:
    found = check_claims(f"# Handoff\n\n{claim}\n{FACTS}")
    assert found.body == f"# Handoff\n\n{shown}\n{FACTS}"


def test_what_it_came_to_is_counted_once_a_commit() -> None:
    text = f"commit 9f1c2d3, commit 9f1c2d3, commit deadbee1 {UNVERIFIED}"
    assert str(check_claims(f"{text}\n{FACTS}")) == "✗ 1 commit unknown to git, ✓ 1 commit"
    assert str(check_claims("commit 9f1c2d3")) == ""
    files = f"a/b.py {CHANGED}, c/d.py {CHANGED}, e/f.py {MISSING}, g/h.py {UNCHANGED}"
    told = "✗ 1 file not found: e/f.py, ? 1 file unchanged, ✓ 2 files changed"
    assert str(check_claims(f"{files}\n{FACTS}")) == told
    both = check_claims(f"{text}, {files}\n{FACTS}")
    assert both.not_found == "1 commit unknown to git, 1 file not found: e/f.py"
    assert check_claims(f"a/b.py {CHANGED}\n{FACTS}").not_found == ""


def test_a_file_that_is_not_found_is_named() -> None:
    both = check_claims(f"- `a b.py` {MISSING}\n- c/d.py {MISSING}\n{FACTS}")
    assert both.problems == "✗ 2 files not found: a b.py, …"
    hostile = check_claims(f"- `x\x1b[2J\u202e{'y' * 200}` {MISSING}\n{FACTS}")
    assert hostile.problems == f"✗ 1 file not found: x{'y' * 58}…"


def test_a_mark_in_an_edited_line_is_not_shown_as_checked() -> None:
    before = f"# Done\n\n- a/b.py {MISSING}\n- c/d.py {MISSING}\n{FACTS}"
    edited = before.replace("a/b.py", "a/c.py")
    shown = check_claims(edited, before)
    assert "- a/c.py ? (not checked since your edit)\n- c/d.py ✗ (not found)" in shown.body
    assert str(shown) == "✗ 1 file not found: c/d.py, ? 1 claim not checked since your edit"
    assert check_claims(before, before) == check_claims(before)


def test_what_the_document_dropped_is_counted_and_marked() -> None:
    body = (
        "## Constraints from the user\n\n"
        "- Never push (dropped since session 1; added by cockpit)\n\n"
        "## Key Decisions\n\n- Use uv\n"
        "- Use SQLite (dropped since session 2; added by cockpit)\n"
        "- Tabs (dropped since session 2; added by cockpit)\n"
        "```\n- code (dropped since session 3; added by cockpit)\n```\n"
        "\n## Verified Facts\n\nNone.\n"
    )
    checked = check_claims(body)
    assert checked.problems == (
        "✗ added back: 1 constraint dropped since session 1, 2 decisions dropped since session 2"
    )
    assert "- Use SQLite ✗ dropped since session 2, added back\n" in checked.body
    assert "- code (dropped since session 3; added by cockpit)" in checked.body


def test_what_the_successor_is_told_stands_under_it_as_a_quotation() -> None:
    told = "Go on.\n\n## Not a heading of ours\n<b>"
    shown = with_continuation("## Goal\n\nx\n\n", told)
    assert shown.endswith("of the New Session\n\n> Go on.\n>\n> ## Not a heading of ours\n> <b>\n")
    assert with_continuation("x", "") == "x"
