"""Tab completion of the names of hosts, and the configuration of the running command."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from cockpit.cli.options import common_options, options_of
from cockpit.cli.places import our_places
from cockpit.core.errors import CockpitError

if TYPE_CHECKING:
    from cockpit.config.loaded import Loaded


def loaded_configuration() -> Loaded:
    """Return the configuration of the running command. Raises `BadConfig`."""
    from cockpit.config.read import load

    return load(our_places(), common_options().config, Path.cwd(), os.environ)


def host_names(
    context: click.Context, _parameter: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Complete the names of configured hosts; none if the configuration is invalid."""
    from cockpit.config.read import load

    try:
        loaded = load(our_places(), options_of(context).config, Path.cwd(), os.environ)
    except CockpitError:
        return []
    return [
        CompletionItem(host.name, help=" ".join(host.connect))
        for host in loaded.settings.hosts
        if host.name.startswith(typed)
    ]
