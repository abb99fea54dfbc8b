"""Tab completion of agent names."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from cockpit.cli.options import options_of
from cockpit.core.errors import CockpitError


def agent_names(
    context: click.Context, _parameter: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Complete the names of agents; none if no supervisor is reachable."""
    from cockpit.cli.requests import completion_address
    from cockpit.cli.status import rows

    try:
        return [
            CompletionItem(row["name"], help=str(row.get("state", "")))
            for row in rows(completion_address(options_of(context)), patience=1.0)
            if str(row["name"]).startswith(typed)
        ]
    except CockpitError:
        return []
