"""Every relative link and anchor in the Markdown files of the repository leads somewhere."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

CHECKOUT = Path(__file__).parent.parent
RECORDED = "tests/releases/"
"""Documents that earlier versions left behind; nobody maintains their links."""
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
HTML_LINKS = re.compile(r"""(?:href|src)\s*=\s*["']([^"']+)""")
HTML_ANCHORS = re.compile(r"""\b(?:id|name)\s*=\s*["']([^"']+)""")
MARKDOWN = MarkdownIt("gfm-like", {"linkify": False})


def documents() -> list[Path]:
    """Return the Markdown files that git tracks, or would."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "*.md"],
        cwd=CHECKOUT, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    names = [name for name in listed.split("\0") if name and not name.startswith(RECORDED)]
    return [path for name in sorted(names) if (path := CHECKOUT / name).exists()]


def broken(document: Path, top: Path) -> list[str]:
    """Return the links of a document that lead nowhere, or out of the folder `top`."""
    return [link for link in links(document) if not leads_somewhere(document, link, top)]


def links(document: Path) -> Iterator[str]:
    """Yield the targets of links and pictures, without those in code and on other sites."""
    for token in tokens(document):
        named = [str(token.attrs[name]) for name in ("href", "src") if name in token.attrs]
        if token.type in ("html_inline", "html_block"):
            named += HTML_LINKS.findall(token.content)
        yield from (link for link in named if not ELSEWHERE.match(link))


def leads_somewhere(document: Path, link: str, top: Path) -> bool:
    """Return whether the file exists in `top`, and has the anchor if one is named."""
    place, _, anchor = link.partition("#")
    target = (document.parent / place).resolve() if place else document.resolve()
    if not target.is_relative_to(top.resolve()) or not target.exists():
        return False
    return not anchor or (target.suffix == ".md" and anchor in anchors(target))


@cache
def anchors(document: Path) -> frozenset[str]:
    """Return what a forge calls the headings of a page, and the anchors written as HTML."""
    found: set[str] = set()
    seen: Counter[str] = Counter()
    before = None
    for token in tokens(document):
        if before is not None and before.type == "heading_open" and token.type == "inline":
            name = slug(title(token))
            found.add(f"{name}-{seen[name]}" if seen[name] else name)
            seen[name] += 1
        if token.type in ("html_inline", "html_block"):
            found.update(HTML_ANCHORS.findall(token.content))
        before = token
    return frozenset(found)


def title(heading: Token) -> str:
    """Return the text of a heading, without marks of emphasis, code and links."""
    shown = ("text", "code_inline")
    return "".join(token.content for token in heading.children or () if token.type in shown)


def slug(text: str) -> str:
    return re.sub(r"[^\w\- ]", "", text).strip().lower().replace(" ", "-")


def tokens(document: Path) -> Iterator[Token]:
    """Yield blocks, and after each its parts."""
    for block in MARKDOWN.parse(document.read_text()):
        yield block
        yield from block.children or ()


@pytest.mark.parametrize(
    "document", documents(), ids=lambda path: path.relative_to(CHECKOUT).as_posix()
)
def test_every_link_leads_somewhere(document: Path) -> None:
    assert broken(document, CHECKOUT) == []


def test_links_are_looked_at() -> None:
    found = [link for document in documents() for link in links(document)]

    assert "cockpit/docs/pictures/fleet.svg" in found
    assert [link for link in found if "#" in link]


PAGE = """\
# Two words, `code` and *more*!

## Twice

## Twice

<a id="by-hand"></a>

```
# No heading
[no link](nowhere.md)
```
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[x](page.md)", []),
        ("[x](page.md#two-words-code-and-more)", []),
        ("[x](page.md#twice-1)", []),
        ("[x](page.md#by-hand)", []),
        ("[x](folder)", []),
        ("[x](https://example.com/nowhere.md)", []),
        ("[x](mailto:me@example.com)", []),
        ("`[x](nowhere.md)`", []),
        ("# Here\n\n[x](#here)", []),
        ("[x](nowhere.md)", ["nowhere.md"]),
        ("![x](nowhere.svg)", ["nowhere.svg"]),
        ('<img src="nowhere.svg">', ["nowhere.svg"]),
        ("[x][y]\n\n[y]: nowhere.md", ["nowhere.md"]),
        ("[x](page.md#twice-2)", ["page.md#twice-2"]),
        ("[x](page.md#no-heading)", ["page.md#no-heading"]),
        ("[x](#here)", ["#here"]),
        ("[x](folder#twice)", ["folder#twice"]),
        ("[x](../outside.md)", ["../outside.md"]),
        ("[x](/page.md)", ["/page.md"]),
    ],
)
def test_broken_links_are_found(text: str, expected: list[str], tmp_path: Path) -> None:
    top = tmp_path / "top"
    (top / "folder").mkdir(parents=True)
    (top / "page.md").write_text(PAGE)
    (tmp_path / "outside.md").write_text("")
    (top / "links.md").write_text(text + "\n")

    assert broken(top / "links.md", top) == expected
