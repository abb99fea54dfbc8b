"""Files installed with cockpit that are not code: themes and the example configuration.

In a wheel these files are inside the package; in a checkout, next to it.
"""

from __future__ import annotations

from pathlib import Path

from cockpit.core.errors import Failed

_PACKAGE = Path(__file__).resolve().parent.parent


def shipped(name: str, package: Path = _PACKAGE) -> Path:
    """Return the path of `themes` or `cockpit.toml.example`. Raises `Failed` if it is missing."""
    for place in (package / "_shipped" / name, package.parent / name):
        if place.exists():
            return place
    raise Failed(
        f"{name} is missing from this installation",
        f"{name} is neither in {package} nor next to it.",
        "Reinstall cockpit.",
    )


def themes_folder() -> Path:
    """Return the folder of the themes that come with cockpit, one TOML file each."""
    return shipped("themes")


def example_file() -> Path:
    """Return the path of the example configuration: every setting with its default."""
    return shipped("cockpit.toml.example")
