"""`cockpit attach` and `send`: open an agent's pane, or send it a prompt."""

from __future__ import annotations

import sys
from typing import NoReturn

import click

from cockpit.cli.agent_names import agent_names
from cockpit.cli.options import everywhere


@click.command(
    epilog="""\b
Example:
  cockpit attach api               press F12 to go back to cockpit
  cockpit attach api --host gpu1   an agent on another machine; F12 detaches"""
)
@everywhere
@click.argument("name", shell_complete=agent_names)
@click.option("--aside", is_flag=True, hidden=True)
def attach(name: str, aside: bool) -> NoReturn:
    """Open an agent's pane.

    The pane runs the agent's real CLI. Press F12 to go back.
    """
    from cockpit.cli.asking import far_host
    from cockpit.cli.attach import attach as go
    from cockpit.cli.attach import attach_there

    host = far_host()
    if host is not None:
        attach_there(host, name)
    go(name, aside=aside)


@click.command(
    epilog="""\b
Examples:
  cockpit send api 'Please run the tests again'
  cockpit send api -- --verbose is the flag I meant
  git diff | cockpit send api -"""
)
@everywhere
@click.argument("name", shell_complete=agent_names)
@click.argument("text", nargs=-1, required=True)
def send(name: str, text: tuple[str, ...]) -> int:
    """Send a prompt to an agent.

    cockpit types TEXT into the agent's composer and submits it. If TEXT is -, reads stdin.
    """
    from cockpit.cli.asking import ask
    from cockpit.core.ids import agent_name
    from cockpit.wire.verbs import Send

    ask(Send(name=agent_name(name), text=spoken(" ".join(text))))
    return 0


def spoken(text: str) -> str:
    """Return the text from the command line, or all of stdin for a dash.

    Bytes that are not UTF-8 become replacement characters.
    """
    if text == "-":
        return sys.stdin.buffer.read().decode("utf-8", errors="replace")
    return text.encode("utf-8", errors="surrogateescape").decode("utf-8", errors="replace")
