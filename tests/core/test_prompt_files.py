from __future__ import annotations

import pytest

from cockpit.core.prompt_files import (
    IN_A_FILE,
    IN_A_FILE_FOR_CAT,
    is_prompt_file,
    is_slash_command,
    mentioned_files,
    prompt_files,
)


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


@pytest.mark.parametrize(
    "form", [IN_A_FILE, IN_A_FILE_FOR_CAT, "Read the file {} with cat and do what it says."]
)
def test_a_sentence_of_this_and_of_an_earlier_version_names_its_file(form: str) -> None:
    path = "/my state/prompts/api-1/prompt-0123456789abcdef.md"
    assert prompt_files(form.format(path)) == [path]
    assert mentioned_files(form.format(path)) == []
