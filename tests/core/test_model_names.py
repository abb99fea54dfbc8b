"""Names of models: an argument of a CLI that must never be read as an option."""

from __future__ import annotations

import pytest

from cockpit.core.errors import BadUsage
from cockpit.core.ids import model_name


@pytest.mark.parametrize(
    "name",
    [
        "", "opus", "claude-sonnet-4-6", "claude-opus-4-1[1m]", "gpt-5.2-codex", "o4-mini@high",
        "anthropic/claude-sonnet-5", "meta-llama/llama-3.1-70b-instruct:free", "qwen3~q4",
        "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-1-v1:0",
    ],
)  # fmt: skip
def test_names_of_models_and_gateways_are_taken(name: str) -> None:
    assert model_name(name) == name


@pytest.mark.parametrize(
    "name",
    ["--auto", "-m", "--model=x", "a b", "a\n--auto", " opus", "a'b", "$(id)", "é", "x" * 201],
)
def test_what_could_be_an_option_or_more_than_a_word_is_refused(name: str) -> None:
    with pytest.raises(BadUsage, match="is not a valid model name"):
        model_name(name)
