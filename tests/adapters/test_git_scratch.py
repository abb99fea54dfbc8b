"""Folders for the time of a call of git, and what a killed one leaves."""

from __future__ import annotations

from pathlib import Path

from cockpit.adapters.git.scratch import make_scratch, prune_scratch, scratch


async def test_a_folder_is_private_and_deleted_afterwards(own_home: Path) -> None:
    private = own_home / "run" / "git"
    async with scratch(private) as folder:
        assert folder.parent == private
        assert folder.stat().st_mode & 0o777 == 0o700
        assert private.stat().st_mode & 0o777 == 0o700
        (folder / "index").write_text("x")
    assert not folder.exists()


def test_what_was_left_is_deleted_and_its_links_are_not_followed(own_home: Path) -> None:
    private, objects = own_home / "git", own_home / "objects"
    objects.mkdir()
    (objects / "kept").write_text("x")
    assert prune_scratch(private) == 0
    (make_scratch(private) / "objects").symlink_to(objects)
    make_scratch(private)
    (private / "other").write_text("not ours")
    assert prune_scratch(private) == 2
    assert [path.name for path in private.iterdir()] == ["other"]
    assert (objects / "kept").exists()
