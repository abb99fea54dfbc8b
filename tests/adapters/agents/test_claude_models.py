from __future__ import annotations

import pytest

from cockpit.adapters.agents.claude.models import compacts_at, window
from cockpit.core.reading import Confidence, Window

NO_1M = {"CLAUDE_CODE_DISABLE_1M_CONTEXT": "1"}
MAX = {"CLAUDE_CODE_MAX_CONTEXT_TOKENS": "123000"}


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("claude-opus-5-5", 1_000_000),
        ("claude-opus-4-7", 1_000_000),
        ("claude-haiku-5-5", 1_000_000),
        ("claude-sonnet-5", 1_000_000),
        ("claude-sonnet-5-5-20260901", 1_000_000),
        ("us.anthropic.claude-sonnet-5-5-v1:0", 1_000_000),
        ("claude-sonnet-4-6[1m]", 1_000_000),
        ("claude-sonnet-4-5[1M]-20250929", 1_000_000),
        ("claude-opus-4-20250514", 200_000),
        ("claude-opus-4-1", 200_000),
        ("claude-haiku-4-5", 200_000),
        ("claude-3-5-sonnet-20241022", 200_000),
        ("foo[1m]", 1_000_000),
    ],
)
def test_a_known_name_has_a_derived_window(model: str, tokens: int) -> None:
    assert window(model, {}) == Window(tokens, Confidence.DERIVED)


@pytest.mark.parametrize(
    "model", ["claude-sonnet-4-20250514", "claude-sonnet-4-5-20250929", "claude-opus-4-6"]
)
def test_a_name_that_stands_for_both_windows_is_assumed_small(model: str) -> None:
    assert window(model, {}) == Window(200_000, Confidence.ASSUMED)
    assert window(model, NO_1M) == Window(200_000, Confidence.DERIVED)
    assert window(f"{model}[1m]", {}) == Window(1_000_000, Confidence.DERIVED)


@pytest.mark.parametrize("model", ["foo-bar", "claude-opus-9-9", "", None, "opus"])
def test_an_unknown_name_is_assumed_small(model: str | None) -> None:
    assert window(model, {}) == Window(200_000, Confidence.ASSUMED)


def test_the_large_window_can_be_switched_off() -> None:
    assert window("claude-opus-5-5", NO_1M).tokens == 200_000
    assert window("claude-sonnet-4-5[1m]", NO_1M).tokens == 200_000
    off = {"CLAUDE_CODE_DISABLE_1M_CONTEXT": "0"}
    assert window("claude-opus-5-5", off).tokens == 1_000_000


def test_the_largest_context_is_obeyed_where_the_cli_obeys_it() -> None:
    """As tried on 2.1.330: for unknown models, and wherever compaction is off."""
    assert window("foo-bar", MAX) == Window(123_000, Confidence.DERIVED)
    assert window("claude-opus-4-7", MAX).tokens == 1_000_000
    assert window("claude-opus-4-7", {**MAX, "DISABLE_COMPACT": "1"}).tokens == 123_000


@pytest.mark.parametrize("nonsense", ["", "abc", "-5", "0", "1e9"])
def test_nonsense_in_the_environment_is_ignored(nonsense: str) -> None:
    environment = {
        "CLAUDE_CODE_MAX_CONTEXT_TOKENS": nonsense,
        "CLAUDE_CODE_AUTO_COMPACT_WINDOW": nonsense,
        "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": nonsense,
    }
    assert window("foo", environment).confidence is Confidence.ASSUMED
    assert compacts_at(200_000, environment) == 167_000


@pytest.mark.parametrize(
    ("tokens", "environment", "expected"),
    [
        (200_000, {}, 167_000),
        (1_000_000, {}, 967_000),
        (1_000_000, {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "200000"}, 167_000),
        (200_000, {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "900000"}, 167_000),
        (200_000, {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "50"}, 90_000),
        (200_000, {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "99"}, 167_000),
        (200_000, {"CLAUDE_CODE_MAX_OUTPUT_TOKENS": "8000"}, 179_000),
        (200_000, {"CLAUDE_CODE_MAX_OUTPUT_TOKENS": "64000"}, 167_000),
        (200_000, {"DISABLE_AUTO_COMPACT": "1"}, None),
        (200_000, {"DISABLE_COMPACT": "true"}, None),
        (200_000, {"DISABLE_COMPACT": "0"}, 167_000),
        (10_000, {}, 0),
    ],
)
def test_where_the_cli_compacts(
    tokens: int, environment: dict[str, str], expected: int | None
) -> None:
    assert compacts_at(tokens, environment) == expected
