"""`cockpit api`: describe the supervisor's API, for the user's own programs."""

from __future__ import annotations

import click

from cockpit.cli.options import with_common_options


@click.group(
    epilog="""\b
Examples:
  cockpit api schema > cockpit-api.json     to generate a client
  curl --unix-socket "$(cockpit api socket)" http://cockpit/v1/status"""
)
@with_common_options
def api() -> None:
    """Describe the supervisor's API, for your own programs."""


@api.command(
    epilog="""\b
Examples:
  cockpit api schema > cockpit-api.json
  cockpit api schema --served      the API of cockpit serve"""
)
@with_common_options
@click.option(
    "--served",
    is_flag=True,
    help="Describe the API of `cockpit serve` instead, which requires a token.",
)
def schema(served: bool) -> int:
    """Print the OpenAPI 3.1 description of the supervisor's API.

    A running supervisor returns the same description at /openapi.json.
    """
    import json

    from cockpit.wire.openapi import document

    print(json.dumps(document(served=served), indent=2))
    return 0


@api.command(
    epilog="""\b
Example:
  curl --unix-socket "$(cockpit api socket)" http://cockpit/v1/status"""
)
@with_common_options
def socket() -> int:
    """Print the path of the supervisor's socket."""
    from cockpit.cli.places import our_places

    print(our_places().socket)
    return 0
