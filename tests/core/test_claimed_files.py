"""Files that a document claims, and the marks beside them."""

from __future__ import annotations

import pytest

from cockpit.core.claimed_files import MOST_FILES, Trace, claimed_files, mark_files


@pytest.mark.parametrize(
    ("line", "files"),
    [
        ("src/nonexist.py was edited", ["src/nonexist.py"]),
        ("- `src/a.py:12-14` and ./b/c.toml, (d/e.ts)", ["src/a.py", "./b/c.toml", "d/e.ts"]),
        ("/w/src/a.py.", ["/w/src/a.py"]),
        ("https://example.com/a/b.html and ~/x/y.md", []),
        ("and/or, origin/main, os.path, 1/2", []),
        ("../out/of/here.py", []),
    ],
)
def test_what_reads_like_a_file(line: str, files: list[str]) -> None:
    assert claimed_files([("Current State", line)]) == files


def test_only_parts_that_tell_of_what_is_make_claims() -> None:
    progress = "### Completed\n\na/b.py\n\n### Pending\n\nc/d.py\n\n```\ne/f.py\n```"
    plan, notes = "1. make g/h.py", "x/y.py\n\n### Files Touched\n\ni/j.py"
    sections = [("Progress", progress), ("Next Steps", plan), ("Other Notes", notes)]
    assert claimed_files(sections) == ["a/b.py", "i/j.py"]
    many = "\n".join(f"a/{number}.py" for number in range(300))
    assert len(claimed_files([("Files", many)])) == MOST_FILES


def test_what_was_looked_for_is_marked_and_nothing_else() -> None:
    changed, unchanged, missing = (trace.value for trace in Trace)
    body = f"`a/b.py` {missing}, c/d.py:3, g/h.py and e/f.py {changed}.\n\n### Pending\n\na/b.py"
    seen = {"a/b.py": Trace.CHANGED, "c/d.py": Trace.MISSING, "g/h.py": Trace.UNCHANGED}
    marked = mark_files("Completed", f"{body} {unchanged}", seen)
    assert marked == (
        f"`a/b.py` {changed}, c/d.py:3 {missing}, g/h.py {unchanged} and e/f.py."
        "\n\n### Pending\n\na/b.py"
    )
    assert mark_files("Completed", marked, seen) == marked
