"""Look up a Claude model's context window, and the token count at which the CLI compacts.

The values are those of CLI 2.1.330, by model name and environment. The windows are used only if
neither the status line nor the transcript reports one, because accounts can have other windows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from cockpit.core.reading import DEFAULT_WINDOW, LARGE_WINDOW, Confidence, Window

_LARGE = frozenset(
    {
        ("haiku", "5-5"),
        ("sonnet", "5"),
        ("sonnet", "5-5"),
        ("opus", "4-7"),
        ("opus", "4-8"),
        ("opus", "5"),
        ("opus", "5-5"),
        ("fable", "5"),
        ("fable", "5-1"),
        ("fable", "5-2"),
        ("mythos", "5"),
        ("mythos", "5-1"),
        ("mythos", "5-2"),
    }
)
_SMALL = frozenset(
    {
        ("haiku", "4-5"),
        ("opus", "4"),
        ("opus", "4-0"),
        ("opus", "4-1"),
        ("opus", "4-5"),
    }
)
_BOTH = frozenset(
    {("sonnet", "4"), ("sonnet", "4-0"), ("sonnet", "4-5"), ("sonnet", "4-6"), ("opus", "4-6")}
)
"""Models that exist with the small and with the large window. Some CLI versions and accounts use
the large window without `[1m]` in the name of the model that the transcript records."""
_NAME = re.compile(r"(haiku|sonnet|opus|fable|mythos)-([0-9](?:-[0-9]{1,2})?)(?![0-9])")
_CLAUDE_3 = re.compile(r"claude-3(?![0-9])")
_FALSE = frozenset({"", "0", "false", "no", "off"})

_ON_COMPACTION = (
    "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE",
    "CLAUDE_CODE_AUTO_COMPACT_WINDOW",
    "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
    "DISABLE_AUTO_COMPACT",
    "DISABLE_COMPACT",
)

OUTPUT_RESERVE = 20_000
"""Tokens that the CLI reserves for the summary that a compaction writes; fewer if
`CLAUDE_CODE_MAX_OUTPUT_TOKENS` is smaller."""
COMPACTION_MARGIN = 13_000


def window(model: str | None, environment: Mapping[str, str]) -> Window:
    """Return a model's window from its name and the CLI's environment.

    `[1m]` anywhere in the name selects the large window. For a model that exists with both windows,
    and for an unknown model, returns the small window as `ASSUMED`. Variables in the environment
    can set another window, or exclude the large one. cockpit starts no automatic handoff with an
    assumed window.
    """
    name = (model or "").lower()
    configured = _positive(environment.get("CLAUDE_CODE_MAX_CONTEXT_TOKENS"))
    known = _known(name)
    no_large = _is_set(environment, "CLAUDE_CODE_DISABLE_1M_CONTEXT")
    if known is None and no_large and _family(name) in _BOTH:
        known = DEFAULT_WINDOW
    if configured is not None and (known is None or _is_set(environment, "DISABLE_COMPACT")):
        # The CLI uses this variable only for an unknown window, or if compaction is off.
        return Window(configured, Confidence.DERIVED)
    if known is None:
        return Window(DEFAULT_WINDOW, Confidence.ASSUMED)
    if no_large:
        known = min(known, DEFAULT_WINDOW)
    return Window(known, Confidence.DERIVED)


def compacts_at(window_tokens: int, environment: Mapping[str, str]) -> int | None:
    """Return the token count at which the CLI compacts automatically; None if it never compacts.

    The CLI's own settings files, which can disable compaction too, are not read.
    """
    if _is_set(environment, "DISABLE_COMPACT") or _is_set(environment, "DISABLE_AUTO_COMPACT"):
        return None
    configured = _positive(environment.get("CLAUDE_CODE_AUTO_COMPACT_WINDOW"))
    basis = min(window_tokens, configured) if configured is not None else window_tokens
    longest = _positive(environment.get("CLAUDE_CODE_MAX_OUTPUT_TOKENS"))
    effective = basis - min(longest or OUTPUT_RESERVE, OUTPUT_RESERVE)
    point = effective - COMPACTION_MARGIN
    percent = _percent(environment.get("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"))
    if percent is not None:
        point = min(int(effective * percent / 100), point)
    return max(0, point)


def compaction_settings(environment: Mapping[str, str]) -> str:
    """Return the compaction settings in the environment as one line.

    While this line stays the same, `compacts_at` returns the same token count for a window.
    """
    settings = (f"{name}={value}" for name in _ON_COMPACTION if (value := environment.get(name)))
    return " ".join(settings)[:500]


def _known(name: str) -> int | None:
    if "[1m]" in name:
        return LARGE_WINDOW
    if _CLAUDE_3.search(name):
        return DEFAULT_WINDOW
    family = _family(name)
    if family in _LARGE:
        return LARGE_WINDOW
    return DEFAULT_WINDOW if family in _SMALL else None


def _family(name: str) -> tuple[str, str] | None:
    match = _NAME.search(name)
    return None if match is None else (match[1], match[2])


def _is_set(environment: Mapping[str, str], name: str) -> bool:
    return environment.get(name, "").strip().lower() not in _FALSE


def _positive(text: str | None) -> int | None:
    try:
        value = int(text or "")
    except ValueError:
        return None
    return value if value > 0 else None


def _percent(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 < value <= 100 else None
