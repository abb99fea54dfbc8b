"""`cockpit serve`: the screen in a browser, and the supervisor's API for scripts.

Each browser tab is another client of the private tmux server. All tabs show the same screen, and
can attach to an agent's pane like any terminal. Each tab has a small process, which ends with the
tab. While the screen does not change, no data is sent.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from cockpit.cli.options import common_options, with_common_options
from cockpit.core.errors import BadUsage, ProgramMissing

SMALLEST = 20, 5


@click.command(
    epilog="""\b
Examples:
  cockpit serve                                    open the URL that it prints
  cockpit serve --port 0                           use any free port
  ssh -L 8000:localhost:8000 HOST cockpit serve    the screen of a remote machine
  cockpit serve --write                            scripts can also make changes

The URL contains a token, new at each start. Anyone who has the URL can do everything that you
can, such as type into your agents. A second token is only for the API, which is under /v1/ on the
same port. Ctrl-C stops only the server; agents, supervisor
and screen keep running."""
)
@with_common_options
@click.option(
    "--port",
    metavar="PORT",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="Port to listen on; 0: any free port.",
)
@click.option(
    "--bind",
    metavar="ADDRESS",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on; a non-local address needs --let-others-in.",
)
@click.option(
    "--let-others-in",
    is_flag=True,
    help="Allow other machines to connect, unencrypted. Better: ssh -L.",
)
@click.option(
    "--write", is_flag=True, help="Let the API make changes. Without it, the API is read-only."
)
@click.option("--tab", is_flag=True, hidden=True)
def serve(port: int, bind: str, let_others_in: bool, write: bool, tab: bool) -> int:
    """Serve the screen to a browser, and the API to scripts."""
    if tab:
        return _show_in_tab(common_options().config)
    return _serve(port, bind, common_options().config, let_others_in=let_others_in, write=write)


def _serve(port: int, bind: str, config: Path | None, *, let_others_in: bool, write: bool) -> int:
    import asyncio
    import json

    from cockpit.adapters.browser.access import AccessCheck, is_loopback
    from cockpit.cli.output import say
    from cockpit.cli.places import our_places
    from cockpit.cli.screen import ensure_screen
    from cockpit.client.relay import Relay
    from cockpit.wire.openapi import document

    if not is_loopback(bind):
        _check_public_address(bind, port, let_others_in=let_others_in)
    try:
        from cockpit.adapters.browser.gateway import Gateway
        from cockpit.adapters.browser.server import Browser
    except ModuleNotFoundError as error:
        raise ProgramMissing(
            f"The Python module {error.name} is missing",
            "cockpit serve needs textual-serve.",
            "Install cockpit again: pip install .",
        ) from error
    ensure_screen(config)
    # -P: never import modules from the current folder.
    argv = [sys.executable, "-P", "-m", "cockpit", "serve", "--tab"]
    if config is not None:
        argv += ["--config", str(config)]

    def api(access: AccessCheck) -> Gateway:
        description = json.dumps(document(served=True)).encode()
        return Gateway(access, Relay(our_places().socket), description, write=write)

    browser = Browser(argv, "cockpit", bind, port, api)

    def print_address(address: str) -> None:
        print(address, flush=True)
        say("Open this URL in a browser. Ctrl-C stops only this server.")
        base = address.partition("?")[0]
        say(f"Scripts: curl -H 'Authorization: Bearer {browser.access.api_token}' {base}v1/status")
        if not write:
            say("The API is read-only; with --write, scripts can also make changes.")

    asyncio.run(browser.run(print_address))
    return 0


def _check_public_address(bind: str, port: int, *, let_others_in: bool) -> None:
    from cockpit.cli.output import say

    if not let_others_in:
        raise BadUsage(
            f"{bind} is reachable from other machines",
            "Anyone who connects can type into your agents, and traffic is not encrypted.",
            f"Safer: ssh -L {port}:localhost:{port} HOST cockpit serve --port {port}\n"
            "To let other machines connect: --let-others-in",
        )
    say(
        f"Warning: {bind} is reachable from other machines. Traffic is not encrypted, and "
        "anyone who sees the URL below can type into your agents."
    )


def _show_in_tab(config: Path | None) -> int:
    """Run the process of one browser tab.

    textual-serve reads and writes the standard streams of this process.
    """
    import asyncio

    from cockpit.adapters.browser.tab import run
    from cockpit.cli.attach import views_of
    from cockpit.cli.places import our_places
    from cockpit.cli.screen import ensure_screen, is_running

    places = our_places()
    if not is_running(places):
        places = ensure_screen(config)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TMUX")}
    environment = {**kept, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    columns, rows = (environment.pop(name, "") for name in ("COLUMNS", "LINES"))
    argv = asyncio.run(views_of(places).attach_command(None, environment))
    return run(argv, environment, (_at_least(columns, 0), _at_least(rows, 1)))


def _at_least(text: str, side: int) -> int:
    return max(int(text), SMALLEST[side]) if text.isdecimal() else (80, 24)[side]
