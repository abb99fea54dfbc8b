"""The Markdown that handoff documents need: fences, headings, and quoting of untrusted text.

Untrusted text (a prompt, an agent's text, a file name) must not open a section of a document, close
a fence, hide the text after it, or bring control bytes into the document.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cockpit.core.deferred_pattern import deferred_pattern
from cockpit.core.safetext import cut_at_word

_ESCAPES = deferred_pattern(
    # A string sequence never spans another control byte, so each byte is read only once.
    r"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x00-\x1f\x7f-\x9f]*(?:\x07|\x1b\\|\x9c)"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|\x1b[ -/]*[0-~]"
)
_LINE_ENDS = deferred_pattern("\r\n?|[\u2028\u2029]")
_CONTROLS = deferred_pattern(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_SURROGATES = deferred_pattern("[\ud800-\udfff]")
_FENCE = deferred_pattern(r" {0,3}(`{3,}|~{3,})")
_HEADING = deferred_pattern(r" {0,3}(#{1,6})(?=[ \t]|$)")
_UNDERLINE = deferred_pattern(r" {0,3}(=+|-+)[ \t]*")
_HTML_BLOCK = deferred_pattern(r" {0,3}<(?:[!?]|/?(?:script|pre|style|textarea)\b)", re.IGNORECASE)
_RUNS = deferred_pattern("`+")


def plain(text: str) -> str:
    """Return the text without control bytes, except newline and tab. Idempotent.

    Removes whole escape sequences (7-bit and 8-bit), bidi controls, zero-width spaces and tag
    characters. CR, CRLF, U+2028 and U+2029 become a newline; a lone surrogate becomes U+FFFD. Keeps
    joiners and variation selectors, which some scripts need, and the text after an unfinished
    escape sequence; `safe_text` in `core.safetext` removes all three.
    """
    text = _LINE_ENDS.sub("\n", text)
    text = _CONTROLS.sub("", _ESCAPES.sub("", text))
    return _SURROGATES.sub("�", text)


def has_controls(text: str) -> bool:
    """Return whether `plain` would change the text."""
    return plain(text) != text


def one_line(text: str, limit: int = 200) -> str:
    """Return the text on one line of at most `limit` characters, cut at a word with an ellipsis."""
    line = " ".join(plain(cut_at_word(text, limit * 8)).split())
    if len(line) <= limit and (line or len(text) <= limit * 8):
        return line
    return cut_at_word(line, limit - 1) + "…"


def code(text: str, limit: int = 200) -> str:
    """Return a code span with the text on one line; the text may contain backticks."""
    line = one_line(text, limit)
    longest = max((len(run) for run in _RUNS.findall(line)), default=0)
    ticks = "`" * (longest + 1)
    space = " " if line.startswith("`") or line.endswith("`") or not line else ""
    return f"{ticks}{space}{line}{space}{ticks}"


def fenced(text: str, info: str = "text") -> str:
    """Return the text in a fenced block that no line of the text can close."""
    longest = max((len(run) for run in _RUNS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{info}\n{text}\n{fence}"


def unfenced(block: str) -> str | None:
    """Return the text of a fenced block; None if `block` is not one."""
    lines = block.strip("\n").split("\n")
    opening = _FENCE.match(lines[0])
    if opening is None or len(lines) < 2 or lines[-1] != opening[1]:
        return None
    return "\n".join(lines[1:-1])


def marked_lines(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each line, and whether it belongs to a fenced block or is one of its fences."""
    fence = ""
    for line in text.split("\n"):
        if fence:
            yield line, True
            if _closes(line, fence):
                fence = ""
        else:
            fence = _opened(line)
            yield line, bool(fence)


def open_fence(text: str) -> str | None:
    """Return the fence that the text opens and does not close; None if there is none."""
    fence = ""
    for line in text.split("\n"):
        if not fence:
            fence = _opened(line)
        elif _closes(line, fence):
            fence = ""
    return fence or None


def heading(line: str) -> tuple[int, str] | None:
    """Return level and title of a `#` heading; None for any other line."""
    match = _HEADING.match(line)
    if match is None:
        return None
    title = line[match.end() :].strip(" \t")
    bare = title.rstrip("#")
    if bare != title and (not bare or bare[-1] in " \t"):
        title = bare.rstrip(" \t")
    return len(match[1]), title


def contained(body: str) -> str:
    """Make untrusted text safe inside one `##` section. Idempotent.

    `#` and `##` headings become `###`; an underlined heading becomes a paragraph. An open fence is
    closed. The start of raw HTML, which could hide the rest of the document, is escaped.
    """
    lines: list[str] = []
    for line, is_code in marked_lines(plain(body).strip("\n")):
        if is_code:
            lines.append(line)
        else:
            lines.extend(_contained_line(line, lines[-1] if lines else ""))
    text = "\n".join(lines)
    fence = open_fence(text)
    return f"{text}\n{fence}" if fence else text


def shortened(text: str, limit: int) -> str:
    """Return the text with at most `limit` characters, cut at a line or word with an ellipsis."""
    if len(text) <= limit:
        return text
    kept = text[: max(limit - 2, 0)]
    for mark in ("\n", " "):
        end = kept.rfind(mark)
        if end > limit * 3 // 4:
            kept = kept[:end]
            break
    else:
        kept = cut_at_word(text, max(limit - 2, 0))
    return kept.rstrip() + " …"


def _contained_line(line: str, previous: str) -> list[str]:
    level_and_title = heading(line)
    if level_and_title is not None and level_and_title[0] < 3:
        return [f"### {level_and_title[1]}".rstrip()]
    underline = _UNDERLINE.fullmatch(line)
    if underline is not None and previous.strip():
        return ["\\" + line.lstrip(" ")] if underline[1][0] == "=" else ["", line]
    if _HTML_BLOCK.match(line):
        return [line.replace("<", "&lt;", 1)]
    return [line]


def _opened(line: str) -> str:
    match = _FENCE.match(line)
    if match is None or (match[1][0] == "`" and "`" in line[match.end() :]):
        return ""
    return match[1]


def _closes(line: str, fence: str) -> bool:
    bare = line.strip(" \t")
    indent = len(line) - len(line.lstrip(" "))
    return indent < 4 and len(bare) >= len(fence) and not bare.strip(fence[0]) and bool(bare)
