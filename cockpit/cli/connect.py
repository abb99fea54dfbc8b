"""`cockpit attach`, `send` and `dial-stdio`: connect to an agent or to the supervisor."""

from __future__ import annotations

import sys
from typing import NoReturn

import click

from cockpit.cli.agent_names import agent_names
from cockpit.cli.options import with_common_options


@click.command(
    epilog="""\b
Examples:
  cockpit attach api               F12 leaves the pane
  cockpit attach api --host gpu1   an agent on another machine; F12 detaches"""
)
@with_common_options
@click.argument("name", shell_complete=agent_names)
@click.option("--aside", is_flag=True, hidden=True)
def attach(name: str, aside: bool) -> NoReturn:
    """Open an agent's pane.

    The pane runs the agent's real CLI. To leave the pane, press F12, or your own key (pane.back in
    [keys]): the key shows cockpit's screen, or detaches if no screen was opened.
    """
    from cockpit.cli.attach import attach as go
    from cockpit.cli.attach import attach_remote
    from cockpit.cli.requests import remote_host

    host = remote_host()
    if host is not None:
        attach_remote(host, name)
    go(name, aside=aside)


@click.command(
    epilog="""\b
Examples:
  cockpit send api 'Please run the tests again'
  cockpit send api -- --verbose is the flag I meant
  git diff | cockpit send api -"""
)
@with_common_options
@click.argument("name", shell_complete=agent_names)
@click.argument("text", nargs=-1, required=True)
def send(name: str, text: tuple[str, ...]) -> int:
    """Send a prompt to an agent.

    Types TEXT into the agent's prompt box and presses Enter. If TEXT is -, reads the prompt from
    stdin.
    """
    from cockpit.cli.requests import ask
    from cockpit.core.ids import agent_name
    from cockpit.wire.verbs import Send

    ask(Send(name=agent_name(name), text=prompt_text(" ".join(text))))
    return 0


@click.command(
    "dial-stdio",
    epilog="""\b
Example:
  ssh gpu1 cockpit dial-stdio""",
)
@with_common_options
@click.option("--multiplex", is_flag=True, help="Carry several connections, compressed.")
def dial_stdio(multiplex: bool) -> int:
    """Connect stdin and stdout to the supervisor's socket.

    `cockpit --host NAME` and the screen run this command on the host, over the
    host's connection.
    """
    from cockpit.cli.dial_stdio import dial, dial_multiplexed

    return dial_multiplexed() if multiplex else dial()


def prompt_text(text: str) -> str:
    """Return the text from the command line; for a dash, return all of stdin.

    Bytes that are not UTF-8 become replacement characters.
    """
    if text == "-":
        return sys.stdin.buffer.read().decode("utf-8", errors="replace")
    return text.encode("utf-8", errors="surrogateescape").decode("utf-8", errors="replace")
