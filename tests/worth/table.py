"""The tables of scores, for the terminal and for the page of the docs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import mean, median

from tests.worth.items import KINDS, Score

PAGE = Path(__file__).parents[2] / "cockpit" / "docs" / "worth.md"
_TABLE = re.compile(r"(<!-- (\w+): make worth -->\n).*?(<!-- end -->)", re.DOTALL)

Scores = Mapping[str, Sequence[Score]]


def points_table(scores: Scores) -> str:
    """Return one row per document: points, recall, outdated statements and size."""
    rows = [("document", "points", "lowest", "highest", "recall", "outdated", "tokens")]
    for name, found in scores.items():
        points = [score.points for score in found]
        rows.append(
            (
                name,
                f"{mean(points):.0f}",
                f"{min(points):.0f}",
                f"{max(points):.0f}",
                f"{mean(score.recall for score in found):.0f} %",
                str(sum(len(score.stated) for score in found)),
                f"{median(score.tokens for score in found):,.0f}",
            )
        )
    return _markdown(rows)


def kinds_table(scores: Scores) -> str:
    """Return one row per kind of item: the share that each document holds."""
    rows = [("", "kind", "items", *scores)]
    for kind, title in KINDS.items():
        held = [_held(kind, found) for found in scores.values()]
        rows.append((str(kind), title, str(held[0][1]), *(_percent(*one) for one in held)))
    return _markdown(rows)


def write_page(scores: Scores, calls: int) -> None:
    """Put both tables between their marks in the page."""
    sessions = len(next(iter(scores.values())))
    count = f"{sessions} sessions with {calls:,} tool calls.\n\n"
    tables = {"points": count + points_table(scores), "kinds": kinds_table(scores)}
    text = PAGE.read_text()
    PAGE.write_text(_TABLE.sub(lambda mark: f"{mark[1]}\n{tables[mark[2]]}\n\n{mark[3]}", text))


def _held(kind: int, scores: Iterable[Score]) -> tuple[int, int]:
    found = planted = 0
    for score in scores:
        found += sum(item.kind == kind for item in score.found)
        planted += sum(item.kind == kind for item in (*score.found, *score.missing))
    return found, planted


def _percent(found: int, planted: int) -> str:
    return f"{100 * found / planted:.0f} %" if planted else "-"


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    head, *rest = rows
    rule = ["---" for _ in head]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, rule, *rest))
