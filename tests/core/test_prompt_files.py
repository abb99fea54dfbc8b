from __future__ import annotations

import pytest

from cockpit.core.prompt_files import is_prompt_file, is_slash_command


@pytest.mark.parametrize("prompt", ["/review", "/review src", " /cockpit:handoff\nnow", "/a-b\n"])
def test_a_slash_command_is_known_by_its_beginning(prompt: str) -> None:
    assert is_slash_command(prompt)


@pytest.mark.parametrize("prompt", ["", "Review /src", "/src/a.py is broken", "/", "!ls", "# note"])
def test_other_prompts_are_no_commands(prompt: str) -> None:
    assert not is_slash_command(prompt)


def test_only_files_of_that_form_hold_prompts() -> None:
    assert is_prompt_file("/my state/prompts/api-1/prompt-0123456789abcdef.md")
    assert not is_prompt_file("/src/prompt-template.md")
    assert not is_prompt_file("prompt-0123456789abcdef.md")
