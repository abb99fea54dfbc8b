"""Regenerate the generated files: `python -m tests.config.renew`."""

from __future__ import annotations

from pathlib import Path

import cockpit
from tests.config.capabilities_table import capabilities_table
from tests.config.generated_example import example
from tests.config.generated_parts import with_generated_parts

PACKAGE = Path(cockpit.__file__).parent
PAGES = (
    PACKAGE / "docs" / "configuration.md",
    PACKAGE / "docs" / "migrating.md",
    PACKAGE / "docs" / "runtimes.md",
)


def renewed(page: str) -> str:
    """The page with its generated parts as the code says now."""
    return with_generated_parts(page, {"capabilities": capabilities_table()})


def renew() -> None:
    """Write the example and the generated parts of the guide into the checkout."""
    (PACKAGE.parent / "cockpit.toml.example").write_text(example())
    for page in PAGES:
        page.write_text(renewed(page.read_text()))


if __name__ == "__main__":
    renew()
