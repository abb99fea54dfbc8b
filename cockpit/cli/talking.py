"""`cockpit attach` and `send`: an agent's real pane, and a prompt into its composer."""

from __future__ import annotations

import sys
from typing import NoReturn

import click

from cockpit.cli.agent_names import agent_names
from cockpit.cli.options import everywhere


@click.command(
    epilog="""\b
Example:
  cockpit attach api               F12 leads back to the cockpit
  cockpit attach api --host gpu1   an agent of another machine; F12 leaves"""
)
@everywhere
@click.argument("name", shell_complete=agent_names)
@click.option("--aside", is_flag=True, hidden=True)
def attach(name: str, aside: bool) -> NoReturn:
    """Go into an agent's pane.

    It is the real CLI, to type and read as ever; F12 leads back.
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
    """Put a prompt into an agent's composer and submit it.

    TEXT as - reads the prompt from stdin.
    """
    from cockpit.cli.asking import ask
    from cockpit.core.ids import agent_name
    from cockpit.wire.verbs import Send

    ask(Send(name=agent_name(name), text=spoken(" ".join(text))))
    return 0


def spoken(text: str) -> str:
    """A text from the command line, or all of stdin when it is a dash.

    Bytes that are no UTF-8 arrive as replacement characters: nothing downstream can take them.
    """
    if text == "-":
        return sys.stdin.buffer.read().decode("utf-8", errors="replace")
    return text.encode("utf-8", errors="surrogateescape").decode("utf-8", errors="replace")
