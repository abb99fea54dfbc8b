"""The page about the API has every address and every kind of problem."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from cockpit.core.problems import KINDS
from cockpit.wire.openapi import document

PAGE = Path(__file__).parent.parent.parent / "cockpit" / "docs" / "api.md"
MARKS = re.compile(r"(<!-- begin (\w+) -->\n).*?(<!-- end \2 -->)", re.DOTALL)


HEADS = {
    "views": "`GET` | answer",
    "verbs": "`POST` | does",
    "problems": "`type` ends with | means",
}


def rows(part: str) -> Iterator[str]:
    yield f"| {HEADS[part]} |"
    yield "| --- | --- |"
    if part == "problems":
        yield from (f"| `{kind}` | {text} |" for kind, text in KINDS.items())
        return
    method = {"views": "get", "verbs": "post"}[part]
    for path, methods in document()["paths"].items():
        if method in methods:
            shown = re.sub(r"{(\w+)}", lambda found: found[1].upper(), path)
            shown = shown.replace("IDENT", "ID")
            yield f"| `{shown}` | {methods[method]['summary']} |"


def written(page: str) -> str:
    """The page with its generated parts as they have to be."""
    return MARKS.sub(lambda mark: "\n".join([mark[1], *rows(mark[2]), "", mark[3]]), page)


def test_the_page_has_everything_that_there_is() -> None:
    """After a change: `python -m tests.wire.test_api_page` writes the tables."""
    assert PAGE.read_text() == written(PAGE.read_text())


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text()))
