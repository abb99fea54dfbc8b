"""The diff file by file, the editor on one, and the clipboard on the user's own key."""

from __future__ import annotations

from pathlib import Path
from threading import get_ident
from typing import Any

import pytest

from cockpit.tui.present.diff import diff_lines
from cockpit.tui.screens.agent.diff_files import AT_ONCE
from cockpit.wire.diff import DiffFile, WorktreeDiff
from tests.long_cases import cases
from tests.tui.conftest import Fly
from tests.tui.scene import scene
from tests.tui.scene_sessions import DIFF


def part(path: str, lines: int) -> str:
    body = "".join(f"+line {number} of {path}\n" for number in range(lines))
    return (
        f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -0,0 +1,{lines} @@\n{body}"
    )


def changed(folder: Path, names: tuple[str, ...] = ("a.py", "b.py", "c.py")) -> WorktreeDiff:
    return WorktreeDiff(
        directory=str(folder),
        since="9f1c2d3e",
        files=[DiffFile(path=name, added=40, removed=0) for name in names],
        text="".join(part(name, 40) for name in names),
    )


def top(flight: Any) -> str:
    """The first line of the diff that is seen."""
    screen = flight.app.screen
    return "".join(span.text for span in screen.diff._lines[screen.diff.scroll_offset.y])


async def test_keys_go_from_file_to_file_and_back(fly: Fly, tmp_path: Path) -> None:
    client = scene()
    client.differ("api", changed(tmp_path))
    async with fly(client, selected="api") as flight:
        await flight.press("o", "4")
        await flight.reads("3 files changed", "n next file", "e edit")
        for key, name in (
            ("n", "b.py"),
            ("n", "c.py"),
            ("p", "b.py"),
            ("p", "a.py"),
        ):
            await flight.press(key)
            await flight.until(lambda name=name: flight.app.screen.files.current.endswith(name))  # type: ignore[misc]
            assert name in top(flight) or name in ("a.py", "c.py")
            assert flight.app.screen.files.list.selected == str("abc".index(name[0]))
        await flight.press("p", "n", "n", "n", "n")
        await flight.until(lambda: flight.app.screen.files.current.endswith("c.py"))


@pytest.mark.parametrize(("size", "beside"), cases(((80, 24), False), long=[((120, 35), True)]))
async def test_the_list_is_beside_the_text_or_above_it(
    fly: Fly, tmp_path: Path, size: tuple[int, int], beside: bool
) -> None:
    client = scene()
    client.differ("api", changed(tmp_path))
    async with fly(client, selected="api", size=size) as flight:
        await flight.press("o", "4")
        await flight.reads("3 files changed", "+40 -0")
        files = flight.app.screen.files
        await flight.until(lambda: (files.list.region.right <= files.text.region.x) is beside)
        assert (files.list.region.bottom <= files.text.region.y) is not beside


async def test_a_click_on_a_file_shows_it_and_scrolling_selects_it(
    fly: Fly, tmp_path: Path
) -> None:
    client = scene()
    client.differ("api", changed(tmp_path))
    async with fly(client, selected="api", size=(120, 35)) as flight:
        await flight.press("o", "4")
        await flight.reads("3 files changed")
        files = flight.app.screen.files
        files.list.select("1")
        await flight.until(lambda: "b.py" in top(flight), "the text of b.py")
        await flight.press("g")
        await flight.until(lambda: files.list.selected == "0", "a.py is selected again")


async def test_new_files_are_in_the_list_and_can_be_edited(
    fly: Fly, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "new.md").write_text("x")
    client = scene()
    client.differ("api", changed(tmp_path, ("a.py",)).model_copy(update={"untracked": ["new.md"]}))
    async with fly(client, selected="api") as flight:
        await flight.press("o", "4")
        await flight.reads("1 file changed, 1 new file", "new.md")
        await flight.press("n")
        await flight.until(lambda: flight.app.screen.files.current.endswith("new.md"))
        lends = property(lambda _: True)
        monkeypatch.setattr(type(flight.app._driver), "can_suspend", lends)
        await flight.press("e")
        await flight.until(lambda: flight.edited == [(tmp_path / "new.md", 1)])


async def test_code_gets_its_colours_after_the_text(fly: Fly, tmp_path: Path) -> None:
    client = scene()
    client.differ("api", DIFF)
    async with fly(client, selected="api") as flight:
        await flight.press("o", "4")
        await flight.reads("return self._renew")
        lines = flight.app.screen.diff

        def seen() -> set[str]:
            return {span.role for line in lines._lines for span in line}

        await flight.until(lambda: {"syntax-keyword", "syntax-comment"} <= seen())


async def test_a_long_diff_is_made_off_the_loop_and_shown_whole(fly: Fly, tmp_path: Path) -> None:
    long = part("a.py", 2000) + part("b.py", 30)
    assert len(long) > AT_ONCE
    diff = changed(tmp_path, ("a.py", "b.py")).model_copy(update={"text": long})
    client = scene()
    client.differ("api", diff)
    threads: set[int] = set()
    async with fly(client, selected="api") as flight:
        with pytest.MonkeyPatch.context() as patch:

            def watched(*given: Any) -> Any:
                threads.add(get_ident())
                return diff_lines(*given)

            patch.setattr("cockpit.tui.screens.agent.diff_files.diff_lines", watched)
            await flight.press("o", "4")
            await flight.reads("2 files changed")
            await flight.press("n")
            await flight.until(lambda: "+line 3 of b.py" in flight.text())
    assert threads
    assert get_ident() not in threads


async def test_without_changes_no_key_for_files_is_offered(fly: Fly, tmp_path: Path) -> None:
    client = scene()
    client.differ("api", WorktreeDiff(directory=str(tmp_path), since="9f1c2d3e"))
    async with fly(client, selected="api") as flight:
        await flight.press("o", "4")
        await flight.reads("No uncommitted changes", "b since")
        assert "next file" not in flight.text()
        await flight.press("n")
        await flight.until(lambda: "the diff is empty" in str(flight.toasts()))


async def test_the_editor_opens_the_file_that_is_looked_at(
    fly: Fly, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "b.py").write_text("x")
    client = scene()
    client.differ("api", changed(tmp_path))
    async with fly(client, selected="api") as flight:
        await flight.press("o", "4")
        await flight.reads("3 files changed")
        await flight.press("n")
        await flight.until(lambda: flight.app.screen.files.current.endswith("b.py"))
        # Textual's driver for tests has no terminal to lend.
        lends = property(lambda _: True)
        monkeypatch.setattr(type(flight.app._driver), "can_suspend", lends)
        await flight.press("e")
        await flight.until(lambda: flight.edited, "the editor")
        assert flight.edited == [(tmp_path / "b.py", 1)]


async def test_a_file_outside_the_worktree_is_never_opened(fly: Fly, tmp_path: Path) -> None:
    """A diff is untrusted: a link or a name with dots could lead anywhere."""
    inside = tmp_path / "tree"
    inside.mkdir()
    (tmp_path / "secret").write_text("x")
    (inside / "link").symlink_to(tmp_path / "secret")
    client = scene()
    client.differ("api", changed(inside, ("link", "../secret", "gone")))
    async with fly(client, selected="api") as flight:
        await flight.press("o", "4")
        await flight.reads("3 files changed")
        for keys in ("e", "ne", "ne"):
            flight.app.clear_notifications()
            await flight.press(*keys)
            await flight.until(lambda: "cannot be edited" in str(flight.toasts()))
        assert flight.edited == []


async def test_path_branch_and_id_are_copied_on_their_keys_only(fly: Fly, tmp_path: Path) -> None:
    client = scene()
    client.differ("api", changed(tmp_path))
    async with fly(client, selected="api") as flight:
        api = flight.app.model.agents["api"]
        assert flight.app.clipboard == ""
        for key, text in (("P", api.worktree), ("B", api.branch), ("I", api.session_id)):
            await flight.press(key)
            await flight.until(lambda text=text: flight.app.clipboard == text, text)  # type: ignore[misc]
        await flight.press("o", "4")
        await flight.reads("3 files changed")
        await flight.press("P")
        await flight.until(lambda: flight.app.clipboard == f"{tmp_path}/a.py")


async def test_what_could_run_in_a_shell_is_not_copied(fly: Fly) -> None:
    client = scene()
    async with fly(client, selected="api") as flight:
        api = flight.app.model.agents["api"]
        flight.app.model.agents["api"] = api.model_copy(update={"branch": "x\nrm -rf ~\n"})
        await flight.press("B")
        await flight.until(lambda: "control or invisible characters" in str(flight.toasts()))
        flight.app.model.agents["api"] = api.model_copy(update={"branch": None})
        await flight.press("B")
        await flight.until(lambda: "no branch to copy" in str(flight.toasts()))
        assert flight.app.clipboard == ""
