"""Files that travel with cockpit without being code: the themes and the example configuration.

A wheel has them inside the package; a checkout has them beside it.
"""

from __future__ import annotations

from pathlib import Path

from cockpit.core.errors import Failed

_PACKAGE = Path(__file__).resolve().parent.parent


def shipped(name: str, package: Path = _PACKAGE) -> Path:
    """Where `themes` or `cockpit.toml.example` is. Raises `Failed` in a broken installation."""
    for place in (package / "_shipped" / name, package.parent / name):
        if place.exists():
            return place
    raise Failed(
        f"{name} is missing from this installation",
        f"It is neither inside nor beside {package}.",
        "Install cockpit again.",
    )


def themes_folder() -> Path:
    """The themes that come with cockpit, one TOML file each."""
    return shipped("themes")


def example_file() -> Path:
    """The example configuration: every setting, with its default."""
    return shipped("cockpit.toml.example")
