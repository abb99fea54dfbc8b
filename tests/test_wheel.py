"""What a wheel brings along, installed away from the checkout, with no network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=CHECKOUT, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def cockpit(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of an environment that has the wheel, and our libraries by reference."""
    folder = tmp_path_factory.mktemp("away")
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    site = next((folder / "lib").glob("python*/site-packages"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    # After the wheel's own folder, so that the editable checkout cannot take its place.
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    command = folder / "bin" / "cockpit"
    command.write_text(f"#!{python}\nfrom cockpit.__main__ import main\nmain()\n")
    command.chmod(0o755)
    return command


def said(cockpit: Path, *words: str) -> str:
    return subprocess.run(
        [str(cockpit), *words], capture_output=True, text=True, check=True, cwd=os.environ["HOME"]
    ).stdout


def test_everything_but_the_pictures_travels(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())

    here = {str(p.relative_to(CHECKOUT)) for p in (CHECKOUT / "cockpit").rglob("*") if p.is_file()}
    ours = {name for name in here if "__pycache__" not in name and not name.endswith(".pyc")}
    pictures = {name for name in ours if name.startswith("cockpit/docs/pictures/")}
    assert pictures
    assert ours - names == pictures
    themes = {f"cockpit/_shipped/themes/{p.name}" for p in (CHECKOUT / "themes").glob("*.toml")}
    assert themes <= names
    assert themes
    assert "cockpit/_shipped/cockpit.toml.example" in names
    assert not [name for name in names if name.startswith("tests")]


def test_the_command_runs_away_from_the_checkout(cockpit: Path) -> None:
    where = said(cockpit, "doctor", "--json")

    assert said(cockpit, "--version").startswith("cockpit ")
    assert json.loads(where)["findings"][0]["said"].endswith(f"({cockpit.parent / 'python'})")
    assert "handoff" in said(cockpit, "keys")
    assert json.loads(said(cockpit, "config", "schema"))["type"] == "object"


def test_what_is_shipped_is_found_inside_the_wheel(cockpit: Path) -> None:
    program = (
        "from cockpit.config.shipped import example_file, themes_folder\n"
        "import cockpit\nprint(cockpit.__file__, example_file(), themes_folder(), sep='\\n')"
    )
    done = subprocess.run(
        [str(cockpit.parent / "python"), "-c", program],
        capture_output=True, text=True, check=True, cwd=os.environ["HOME"],
    )  # fmt: skip

    for path in done.stdout.splitlines():
        assert Path(path).is_relative_to(cockpit.parent.parent)
        assert Path(path).exists()
