"""A site with an error is not built: run by `make docs`, because it needs mkdocs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.packaging import pages, site


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[x](nowhere.md)", "nowhere.md"),
        ("[x](SECURITY.md#nowhere)", "#nowhere"),
        ("![x](cockpit/docs/pictures/nowhere.svg)", "nowhere.svg"),
        ("text\n- an item\n", "<li> on a forge"),
    ],
)
def test_an_error_is_named(
    text: str, error: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "docs"
    pages.write(source)
    with (source / "README.md").open("a") as readme:
        readme.write(f"\n{text}\n")

    assert not site.build(source, tmp_path / "site")
    assert error in capfd.readouterr().err


def test_a_page_outside_the_menu_is_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "docs"
    pages.write(source)
    (source / "extra.md").write_text("# Extra\n")

    assert not site.build(source, tmp_path / "site")
    assert "extra.md" in capfd.readouterr().err
