"""The editor opens at the line, where it is known how it is told."""

from __future__ import annotations

import pytest

from cockpit.cli.editor import at_line


@pytest.mark.parametrize(
    ("editor", "argv"),
    [
        (["vi"], ["vi", "+28", "d.md"]),
        (["/usr/bin/nvim", "-u", "NONE"], ["/usr/bin/nvim", "-u", "NONE", "+28", "d.md"]),
        (["nano"], ["nano", "+28", "d.md"]),
        (["emacs", "-nw"], ["emacs", "-nw", "+28", "d.md"]),
        (["micro"], ["micro", "+28", "d.md"]),
        (["hx"], ["hx", "d.md:28"]),
        (["code", "--wait"], ["code", "--wait", "-g", "d.md:28"]),
        (["my-editor", "--slow"], ["my-editor", "--slow", "d.md"]),
    ],
)
def test_an_editor_that_is_known_gets_the_line(editor: list[str], argv: list[str]) -> None:
    assert at_line(editor, "d.md", 28) == argv
    assert at_line(editor, "d.md", 1) == [*editor, "d.md"]
