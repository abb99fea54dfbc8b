"""`cockpit serve`: the same screen in a browser.

Each tab is one more terminal at the private tmux server, so it shows the one screen there is, and
goes into an agent's pane and back like every terminal. A tab has a small process of its own, which
ends with it; the screen itself stays where it is, and an idle one sends nothing.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from cockpit.cli.options import asked, everywhere
from cockpit.core.errors import BadUsage, ProgramMissing

NARROWEST = 20, 5


@click.command(
    epilog="""\b
Examples:
  cockpit serve                                open the address that it prints
  cockpit serve --port 0                       any port that is free
  ssh -L 8000:localhost:8000 HOST cockpit serve       a far machine's screen, here

The address has a token in it, new at each start. Whoever opens it can do what you can: type into
your agents. Ctrl-C ends it; agents, supervisor and screen go on."""
)
@everywhere
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="Where to listen; 0 takes any that is free.",
)
@click.option(
    "--bind",
    metavar="ADDRESS",
    default="127.0.0.1",
    show_default=True,
    help="Of this machine; one that others can reach needs --let-others-in.",
)
@click.option(
    "--let-others-in",
    is_flag=True,
    help="Listen where other machines can reach it, unencrypted. Better: ssh -L.",
)
@click.option("--tab", is_flag=True, hidden=True)
def serve(port: int, bind: str, let_others_in: bool, tab: bool) -> int:
    """The screen in a browser, on this machine only."""
    if tab:
        return _show_in_tab(asked().config)
    return _serve(port, bind, asked().config, let_others_in=let_others_in)


def _serve(port: int, bind: str, config: Path | None, *, let_others_in: bool) -> int:
    import asyncio

    from cockpit.adapters.browser_door import is_loopback
    from cockpit.cli.screen import make_screen
    from cockpit.cli.speech import say

    if not is_loopback(bind):
        _warn_of_others(bind, port, let_others_in=let_others_in)
    try:
        from cockpit.adapters.browser import Browser
    except ModuleNotFoundError as error:
        raise ProgramMissing(
            f"The Python module {error.name} is missing",
            "A browser is served by textual-serve.",
            "Install cockpit again: pip install .",
        ) from error
    make_screen(config)
    # -P: no folder of the project may pass for one of our modules.
    argv = [sys.executable, "-P", "-m", "cockpit", "serve", "--tab"]
    if config is not None:
        argv += ["--config", str(config)]

    def told(address: str) -> None:
        print(address, flush=True)
        say("Open that address in a browser; Ctrl-C ends this, and nothing else.")

    asyncio.run(Browser(argv, "cockpit", bind, port).run(told))
    return 0


def _warn_of_others(bind: str, port: int, *, let_others_in: bool) -> None:
    from cockpit.cli.speech import say

    if not let_others_in:
        raise BadUsage(
            f"{bind} can be reached from other machines",
            "Whoever gets in can type into your agents, and nothing on the way is encrypted.",
            f"Safer: ssh -L {port}:localhost:{port} HOST cockpit serve --port {port}\n"
            "If that is what you want: --let-others-in",
        )
    say(
        f"Warning: {bind} can be reached from other machines. Nothing on the way is encrypted, and "
        "whoever has read the address below can type into your agents."
    )


def _show_in_tab(config: Path | None) -> int:
    """Be the process of one tab; textual-serve is on the other side of our standard streams."""
    import asyncio

    from cockpit.adapters.browser_tab import run
    from cockpit.cli.attach import views_of
    from cockpit.cli.places import our_places
    from cockpit.cli.screen import flies, make_screen

    places = our_places()
    if not flies(places):
        places = make_screen(config)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TMUX")}
    environment = {**kept, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    columns, rows = (environment.pop(name, "") for name in ("COLUMNS", "LINES"))
    argv = asyncio.run(views_of(places).attach_command(None, environment))
    return run(argv, environment, (_at_least(columns, 0), _at_least(rows, 1)))


def _at_least(said: str, side: int) -> int:
    return max(int(said), NARROWEST[side]) if said.isdigit() else (80, 24)[side]
