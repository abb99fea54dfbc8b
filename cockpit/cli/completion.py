"""`cockpit completion`: print the shell script that completes commands and agent names."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from cockpit.cli.fast_path import COMPLETE_VARIABLE
from cockpit.cli.options import with_common_options

SHELLS = ("bash", "zsh", "fish")


@click.command(
    epilog="""\b
Examples:
  cockpit completion bash >> ~/.bashrc
  cockpit completion zsh  >> ~/.zshrc
  cockpit completion fish > ~/.config/fish/completions/cockpit.fish"""
)
@with_common_options
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> int:
    """Print the tab completion script for a shell."""
    kind = get_completion_class(shell)
    assert kind is not None, f"click does not support {shell}"
    print(kind(context.find_root().command, {}, "cockpit", COMPLETE_VARIABLE).source())
    return 0
