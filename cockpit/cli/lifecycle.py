"""`cockpit up`, `restart`, `down`, `start` and `stop`: start and end the supervisor and agents."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from cockpit import __version__
from cockpit.cli.agent_names import agent_names
from cockpit.cli.options import common_options, with_common_options
from cockpit.core.errors import BadUsage, NoSuchAgent
from cockpit.core.far_names import ANY, LOCAL
from cockpit.core.plurals import counted
from cockpit.core.safetext import quoted, safe_line


@click.command(
    epilog="""\b
Examples:
  cockpit up                       if a supervisor is running, only load the agents
  cockpit up --config team.toml    load the agents of that file instead
  cockpit up --foreground          for a service manager"""
)
@with_common_options
@click.option("--foreground", is_flag=True, help="Stay in the foreground until stopped.")
@click.option("--again", is_flag=True, hidden=True)
def up(foreground: bool, again: bool) -> int:
    """Start the supervisor.

    The supervisor watches agents and hands off jobs in the background. Loads the agents of this
    repository's cockpit.toml. When the supervisor is ready, prints its process id, except with
    --foreground.
    """
    from cockpit.cli.config_file import configured_summary
    from cockpit.cli.output import say
    from cockpit.cli.requests import remote_host
    from cockpit.cli.supervisor_process import run_supervisor, start_supervisor

    if host := remote_host():
        from cockpit.cli.hosts import exec_remote

        exec_remote(host.command("up", *(["--foreground"] if foreground else [])))
    if foreground:
        return run_supervisor(common_options().config, again=again)
    pid = start_supervisor(common_options().config)
    print(pid, flush=True)
    say(f"Supervisor running (pid {pid}); {configured_summary(common_options().config)}")
    if hint := version_hint():
        say(hint)
    if hint := reopen_hint():
        say(hint)
    return 0


def version_hint() -> str:
    """Return a hint to restart a supervisor of another version.

    Empty if the supervisor has the version of this command, or none is running.
    """
    from cockpit.cli.places import our_places
    from cockpit.cli.supervisor_process import running_supervisor

    reported = running_supervisor(our_places())
    version = reported.get("version") if reported else __version__
    if version == __version__:
        return ""
    other = f"version {safe_line(version, 40)}" if version else "an older version"
    return f"The supervisor is {other}; this command is {__version__}. Restart it: cockpit restart"


def reopen_hint() -> str:
    """Return a hint to reopen agents that a reboot or a tmux exit interrupted; empty if none."""
    from cockpit.cli.places import our_places
    from cockpit.cli.status import rows
    from cockpit.core.safetext import safe_line

    interrupted = [
        row for row in rows(our_places().socket) if (row["needs"] or {}).get("kind") == "resume"
    ]
    if not interrupted:
        return ""
    names = safe_line(", ".join(row["name"] for row in interrupted), 200)
    return (
        f"Interrupted by a reboot or a tmux exit: {names}. To reopen: cockpit start --all --resume"
    )


@click.command(
    epilog="""\b
Examples:
  cockpit restart                      after an upgrade
  cockpit restart --config team.toml   use that file from now on"""
)
@with_common_options
def restart() -> int:
    """Restart the supervisor; agents keep running.

    After an upgrade, replaces the running supervisor with one of the new version. Handoffs in
    progress continue. Starts a supervisor if none is running. Prints the new process id.
    """
    from cockpit.cli.output import say
    from cockpit.cli.requests import remote_host
    from cockpit.cli.supervisor_process import restart_supervisor

    if host := remote_host():
        from cockpit.cli.hosts import exec_remote

        exec_remote(host.command("restart"))
    done = restart_supervisor(common_options().config)
    print(done.after, flush=True)
    if done.before is None:
        say(f"No supervisor was running; started one (pid {done.after})")
        return 0
    was = f" {safe_line(done.version, 40)}" if done.version not in (None, __version__) else ""
    change = f"version{was} -> {__version__}, " if was else ""
    say(f"Restarted the supervisor ({change}pid {done.after}); agents keep running")
    if done.held:
        path = safe_line(str(done.held[0].file), 400)
        say(
            f"{counted(len(done.held), 'setting')} ignored until you trust the file as it is now: "
            f"cockpit config trust {path}"
        )
    return 0


@click.command(
    epilog="""\b
Examples:
  cockpit down            agents keep running; `cockpit up` reattaches to them
  cockpit down --agents   also end the agents and the tmux server (worktrees stay)"""
)
@with_common_options
@click.option("--agents", is_flag=True, help="Also end the agents and their tmux server.")
def down(agents: bool) -> int:
    """Stop the supervisor; agents keep running.

    Returns when the supervisor has exited; with --agents, when the agents and the tmux server have
    exited too.
    """
    from cockpit.cli.requests import remote_host
    from cockpit.cli.supervisor_process import stop_supervisor

    if host := remote_host():
        from cockpit.cli.hosts import exec_remote

        exec_remote(host.command("down", *(["--agents"] if agents else [])))
    return stop_supervisor(agents=agents)


class _StartCommand(click.Command):
    """Refuses `start -- PROGRAM`; click would drop `--`, and PROGRAM would be the agent's name."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        at = args.index("--") if "--" in args else len(args)
        if args[at + 1 :] and not self._is_named(ctx, args[:at]):
            program = safe_line(shlex.join(args[at + 1 :]), 200)
            raise BadUsage(
                "The agent's name is missing before --",
                hint=f"For example: cockpit start NAME -- {program}",
            )
        return super().parse_args(ctx, args)

    def _is_named(self, ctx: click.Context, args: list[str]) -> bool:
        given, _, _ = self.make_parser(ctx).parse_args(args.copy())
        return isinstance(given.get("name"), str)


@click.command(
    cls=_StartCommand,
    epilog="""\b
Examples:
  cockpit start api                an agent from cockpit.toml
  cockpit start fix-login --prompt 'Fix the login test' --worktree
  cockpit start big --prompt - < task.md
  cockpit start logs -- tail -f app.log     any program, without context data
  cockpit start api --resume       reopen the agent's last session
  cockpit start api --resume 0b6e6c1e-6a3c-4a6e-9a51-2f4b1d0f6c11
  cockpit start --all --resume     every agent that was running before a reboot
  cockpit start --all --resume --dry-run
  cockpit start fix-login --host any --worktree      on the least busy machine
  cockpit start fix-login --host any --dry-run       only show which machine, and why""",
)
@with_common_options
@click.argument("name", shell_complete=agent_names, required=False)
@click.argument("command", metavar="[-- COMMAND...]", nargs=-1)
@click.option("--prompt", metavar="TEXT", help="The prompt; - reads the prompt from stdin.")
@click.option(
    "--directory",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Working directory of the agent; default for a new agent: the current directory. "
    "Required for a new agent with --host NAME.",
)
@click.option(
    "--runtime",
    metavar="NAME",
    help="The CLI to run: claude, codex, gemini, opencode, copilot, command (any program), or one "
    "of your own runtimes.",
)
@click.option("--worktree", is_flag=True, help="Create a git worktree and branch for the agent.")
@click.option(
    "--resume",
    metavar="[SESSION]",
    is_flag=False,
    flag_value="last",
    help="Reopen this session instead of starting a new one; default: the agent's last session.",
)
@click.option(
    "--force",
    is_flag=True,
    help="With --resume: reopen the session even if its job was moved to another machine.",
)
@click.option(
    "--all",
    "all_agents",
    is_flag=True,
    help="With --resume: reopen all agents that a reboot or a tmux exit interrupted.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="With --all: only list the agents to reopen, and those that cannot be reopened. With "
    "--host any: only show which machine cockpit would choose.",
)
@click.option(
    "--mode",
    type=click.Choice(["observe", "prompt", "auto"]),
    help="When the context fills up: observe (only show it), prompt (ask you) or auto (hand off).",
)
def start(
    name: str | None,
    command: tuple[str, ...],
    prompt: str | None,
    directory: Path | None,
    all_agents: bool,
    dry_run: bool,
    **more: str | bool | None,
) -> int:
    """Start a configured agent, or a new one.

    A new agent works in the current directory, unless you pass --directory, --worktree or --host
    NAME. Starts this machine's supervisor if needed. Everything after -- is a program and its
    arguments, run as a plain command; --prompt becomes its last argument.

    --host any chooses a machine that has the repository and the CLI: the machine with the fewest
    running agents per core, then the least load per core, then the most free memory.
    """
    anywhere = common_options().host == ANY and not all_agents
    if all_agents or (dry_run and not anywhere):
        others = [value for option, value in more.items() if option != "resume"]
        given = any([name, directory, *command, *others])
        if not all_agents or more["resume"] != "last" or given:
            raise BadUsage(
                "--all needs --resume, and --dry-run needs --all or --host any",
                "With --all, every agent is reopened in its own directory, with its own settings, "
                "so --all takes no name or settings.",
                "Usage: cockpit start --all --resume [--prompt TEXT] [--dry-run]",
            )
        return reopen_all(prompt, dry_run=dry_run)
    if name is None:
        raise BadUsage(
            "Missing argument NAME", "", "Usage: cockpit start NAME. More: cockpit start --help"
        )
    from cockpit.cli.connect import prompt_text
    from cockpit.cli.requests import ask, remote_host
    from cockpit.cli.supervisor_process import ensure_supervisor
    from cockpit.core.ids import agent_name
    from cockpit.wire.verbs import Start

    if anywhere:
        directory = _choose_machine(name, directory, command, more, dry_run=dry_run)
        if dry_run:
            return 0
    host = remote_host()
    wanted = {
        "name": agent_name(name),
        "prompt": None if prompt is None else prompt_text(prompt),
        **(local_context(directory) if host is None else remote_context(directory)),
        "command": list(command) or None,
        **more,
    }
    verb = Start.model_validate(wanted)
    if host is None:
        ensure_supervisor(common_options().config)
    try:
        ask(verb)
    except NoSuchAgent as error:
        if host is None or directory is not None:
            raise
        raise NoSuchAgent(
            error.title,
            error.detail
            or f"A new agent on {host.name} needs the path of a directory on that machine.",
            error.hint
            or f"Pass the path: cockpit start {name} --host {host.name} "
            f"--directory /path/on/{host.name}",
        ) from error
    return 0


def _choose_machine(
    name: str,
    directory: Path | None,
    command: tuple[str, ...],
    more: dict[str, str | bool | None],
    *,
    dry_run: bool,
) -> Path | None:
    """Replace `--host any` with the chosen machine; return the agent's directory there.

    Returns `directory`, which may be None, if this machine is chosen.
    """
    from cockpit.cli.placement import choose_machine, refuse_resume, start_directory
    from cockpit.cli.supervisor_process import ensure_supervisor
    from cockpit.core.ids import agent_name

    if more["resume"] is not None:
        raise refuse_resume()
    if not dry_run:
        ensure_supervisor(common_options().config)
    valid = agent_name(name)
    there = start_directory(valid, directory)
    fields = {"name": valid, "command": list(command) or None, **more}
    here = {**fields, **local_context(None)}
    if directory is not None:
        here["directory"] = str(there)
    host = choose_machine(valid, here, {**fields, "directory": str(there)}, there)
    common_options().host = host
    return directory if host == LOCAL else there


def reopen_all(prompt: str | None, *, dry_run: bool) -> int:
    """Reopen every agent that a reboot or a tmux exit interrupted; print each result."""
    from cockpit.cli.connect import prompt_text
    from cockpit.cli.requests import ask, remote_host
    from cockpit.cli.supervisor_process import ensure_supervisor
    from cockpit.wire.verbs import Resume

    if remote_host() is None:
        ensure_supervisor(common_options().config)
    text = None if prompt is None else prompt_text(prompt)
    done = ask(Resume(prompt=text, dry_run=dry_run))
    if done.text:
        print(done.text, flush=True)
    return 0


def local_context(directory: Path | None) -> dict[str, str | bool | None]:
    """Return the fields of a request that name this machine's directories and configuration file.

    Raises `BadUsage` if `directory` does not exist.
    """
    from cockpit.cli.config_file import file_to_read

    if directory is not None and not directory.is_dir():
        raise BadUsage(
            f"--directory: no such folder: {quoted(str(directory))}",
            hint="Create the folder, or pass another one.",
        )
    config, named = file_to_read(common_options().config)
    return {
        "directory": None if directory is None else str(directory.absolute()),
        "cwd": str(Path.cwd()),
        "config": None if config is None else str(config),
        "named": named,
    }


def remote_context(directory: Path | None) -> dict[str, str | bool | None]:
    """Return the field of a request that names a directory on another machine.

    That machine's supervisor checks whether the directory exists. Raises `BadUsage` for a relative
    path.
    """
    from cockpit.cli.requests import require_absolute_path

    if directory is not None:
        require_absolute_path(directory, "--directory")
    return {"directory": None if directory is None else str(directory)}


@click.command(
    epilog="""\b
Example:
  cockpit stop api"""
)
@with_common_options
@click.argument("name", shell_complete=agent_names)
def stop(name: str) -> int:
    """End an agent. Its worktree, branch and documents stay."""
    from cockpit.cli.requests import ask
    from cockpit.core.ids import agent_name
    from cockpit.wire.verbs import Stop

    ask(Stop(name=agent_name(name)))
    return 0
