"""`cockpit up`, `down`, `start` and `stop`: what runs and what does not."""

from __future__ import annotations

from pathlib import Path

import click

from cockpit.cli.agent_names import agent_names
from cockpit.cli.options import asked, everywhere
from cockpit.core.errors import BadUsage
from cockpit.core.safetext import quoted


@click.command(
    epilog="""\b
Examples:
  cockpit up                       twice is the same as once
  cockpit up --config team.toml    take up the agents of that file too
  cockpit up --foreground          for a service manager; logs on stderr"""
)
@everywhere
@click.option("--foreground", is_flag=True, help="Stay in this terminal until told to end.")
def up(foreground: bool) -> int:
    """Start the supervisor. It watches and hands off with nobody looking.

    It takes up the agents of this repository's cockpit.toml. Returns when it answers, and prints
    its process id.
    """
    from cockpit.cli.asking import far_host
    from cockpit.cli.launching import run_supervisor, start_supervisor
    from cockpit.cli.project import configured_words
    from cockpit.cli.speech import say

    if host := far_host():
        from cockpit.cli.hosts import become_there

        become_there(host.command("up", *(["--foreground"] if foreground else [])))
    if foreground:
        return run_supervisor(asked().config)
    pid = start_supervisor(asked().config)
    print(pid, flush=True)
    say(f"The supervisor runs (pid {pid}); {configured_words(asked().config)}")
    return 0


@click.command(
    epilog="""\b
Examples:
  cockpit down            agents go on in their panes; `cockpit up` finds them again
  cockpit down --agents   end the agents and the tmux server too (worktrees stay)"""
)
@everywhere
@click.option("--agents", is_flag=True, help="End the agents and their tmux server too.")
def down(agents: bool) -> int:
    """End the supervisor; the agents go on.

    Returns when it is gone; with --agents, when they and the tmux server are gone too.
    """
    from cockpit.cli.asking import far_host
    from cockpit.cli.launching import stop_supervisor

    if host := far_host():
        from cockpit.cli.hosts import become_there

        become_there(host.command("down", *(["--agents"] if agents else [])))
    return stop_supervisor(agents=agents)


@click.command(
    epilog="""\b
Examples:
  cockpit start api                an agent of cockpit.toml
  cockpit start fix-login --prompt 'Fix the login test' --worktree
  cockpit start big --prompt - < task.md
  cockpit start api --resume 0b6e6c1e-6a3c-4a6e-9a51-2f4b1d0f6c11"""
)
@everywhere
@click.argument("name", shell_complete=agent_names)
@click.option("--prompt", metavar="TEXT", help="What it should do; - reads it from stdin.")
@click.option(
    "--directory",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Where it works; the current directory for a new agent.",
)
@click.option("--runtime", metavar="NAME", help="Which CLI: claude, command, …")
@click.option("--worktree", is_flag=True, help="Give it a git worktree and branch of its own.")
@click.option("--resume", metavar="SESSION", help="Open this session instead of a new one.")
@click.option(
    "--mode",
    type=click.Choice(["observe", "prompt", "auto"]),
    help="When its context fills: only show, ask you, or hand off by itself.",
)
def start(name: str, prompt: str | None, directory: Path | None, **more: str | bool | None) -> int:
    """Start a configured agent, or a new one.

    A new one works in the current directory unless another is named. Where no supervisor runs,
    it is started first.
    """
    from cockpit.cli.asking import ask, far_host
    from cockpit.cli.launching import make_sure_of_supervisor
    from cockpit.cli.talking import spoken
    from cockpit.core.ids import agent_name
    from cockpit.wire.verbs import Start

    host = far_host()
    wanted = {
        "name": agent_name(name),
        "prompt": None if prompt is None else spoken(prompt),
        **(place_here(directory) if host is None else place_there(directory)),
        **more,
    }
    verb = Start.model_validate(wanted)
    if host is None:
        make_sure_of_supervisor(asked().config)
    ask(verb)
    return 0


def place_here(directory: Path | None) -> dict[str, str | bool | None]:
    """Where it would work, and which file may configure it. Raises `BadUsage`."""
    from cockpit.cli.project import file_to_read

    if directory is not None and not directory.is_dir():
        raise BadUsage(f"--directory: there is no folder {quoted(str(directory))}")
    config, named = file_to_read(asked().config)
    return {
        "directory": None if directory is None else str(directory.absolute()),
        "cwd": str(Path.cwd()),
        "config": None if config is None else str(config),
        "named": named,
    }


def place_there(directory: Path | None) -> dict[str, str | bool | None]:
    """The same of another machine, whose supervisor knows its own files."""
    from cockpit.cli.asking import not_a_file_here

    if directory is not None:
        not_a_file_here(directory, "--directory")
    return {"directory": None if directory is None else str(directory)}


@click.command(
    epilog="""\b
Example:
  cockpit stop api"""
)
@everywhere
@click.argument("name", shell_complete=agent_names)
def stop(name: str) -> int:
    """End an agent. Its worktree, branch and documents stay."""
    from cockpit.cli.asking import ask
    from cockpit.core.ids import agent_name
    from cockpit.wire.verbs import Stop

    ask(Stop(name=agent_name(name)))
    return 0
