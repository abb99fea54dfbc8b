"""The editor opens at the line, where it is known how it is told; a command of none is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from cockpit.cli.editor import at_line, edit
from cockpit.core.errors import ProgramMissing


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


@pytest.mark.parametrize("variable", ["VISUAL", "EDITOR"])
@pytest.mark.parametrize("value", ["vi '", " ", "''"])
async def test_a_variable_without_a_command_is_named(
    variable: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv(variable, value)
    with pytest.raises(ProgramMissing, match=f"{variable} is not a command") as caught:
        await edit(tmp_path / "d.md")
    assert "Set VISUAL or EDITOR" in caught.value.hint


async def test_an_editor_that_is_not_installed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", "/no/such-editor -x")
    with pytest.raises(ProgramMissing, match="Cannot start the editor /no/such-editor"):
        await edit(tmp_path / "d.md")
