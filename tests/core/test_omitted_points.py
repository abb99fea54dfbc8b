"""What a document does not say of the points that the transcript shows."""

from __future__ import annotations

import pytest

from cockpit.core.document import read
from cockpit.core.omitted_points import Point, left_out

DOCUMENT = """# Handoff

## Goal

Never push to main without asking.

## Constraints from the user

- "Do not rename the public functions." (turn 3)

## Key Decisions

The user chose port 8080 for the test server, and the
migrations stay as they are until the review.

## Other

不要修改测试文件。
"""


@pytest.mark.parametrize(
    "text",
    [
        "Do not rename the public functions.",
        "do not rename any PUBLIC functions",
        "port 8080 of the server",
        "the migrations stay as they are",
        "不要修改测试",
        "ok",
        "",
    ],
)
def test_what_is_there_in_the_same_words_is_found(text: str) -> None:
    assert left_out(read(DOCUMENT), [Point("x", text)]) == ()


@pytest.mark.parametrize(
    "text",
    [
        "Never push to main without asking.",
        "Sign every commit with the release key.",
        "Use 9090",
        "the server must restart by itself after the functions are renamed",
        "不要提交代码",
    ],
)
def test_what_is_not_there_or_only_in_the_goal_is_left_out(text: str) -> None:
    point = Point("the order", text)
    assert left_out(read(DOCUMENT), [point]) == (point,)


def test_a_long_point_may_be_spread_over_the_document() -> None:
    words = [f"word{number}" for number in range(30)]
    spread = "## Progress\n\n" + "\n\n".join(words)
    assert left_out(read(spread), [Point("x", " ".join(words))]) == ()
    assert left_out(read(spread), [Point("x", "word1 word9 word20")]) != ()
