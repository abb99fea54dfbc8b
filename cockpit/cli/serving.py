"""`cockpit serve`: the same screen in a browser."""

from __future__ import annotations

import click

from cockpit.cli.options import everywhere
from cockpit.core.errors import NotNow


@click.command(
    epilog="""\b
Example:
  cockpit serve --port 8000"""
)
@everywhere
@click.option("--port", type=click.IntRange(1, 65535), default=8000, show_default=True)
def serve(port: int) -> int:
    """The screen in a browser, on this machine only. Not yet in this version."""
    raise NotNow(
        "The screen cannot be shown in a browser yet",
        f"Nothing was started on port {port}.",
        "From another machine: ssh -t HOST cockpit",
    )
