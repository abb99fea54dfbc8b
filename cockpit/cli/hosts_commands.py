"""`cockpit hosts`: list, check, add, install and remove other machines."""

from __future__ import annotations

from collections.abc import Callable

import click

from cockpit.cli.host_names import host_names
from cockpit.cli.options import AnyCommand, common_options, with_common_options

LIST_TIMEOUT, CHECK_TIMEOUT = "10s", "30s"


def _seconds(_context: click.Context, _parameter: click.Parameter, value: str) -> float:
    from cockpit.config.quantities import duration
    from cockpit.core.errors import BadUsage

    try:
        seconds = duration(value)
    except ValueError as error:
        raise BadUsage(f"--timeout: {error}", hint="Try: --timeout 30s") from None
    if not 0 < seconds <= 600:
        raise BadUsage("--timeout must be more than 0 and at most 10m", hint="Try: --timeout 30s")
    return seconds


def _timeout(default: str) -> Callable[[AnyCommand], AnyCommand]:
    return click.option(
        "--timeout",
        metavar="TIME",
        default=default,
        show_default=True,
        callback=_seconds,
        help="Maximum time to wait for a host.",
    )


@click.group(
    invoke_without_command=True,
    epilog="""\b
Examples:
  cockpit hosts                       state, version, round trip, agents and load of each
  cockpit hosts --json
  cockpit hosts add gpu1 ssh gpu1     check a machine, and write it into your cockpit.toml
  cockpit hosts check                 what is missing on each host, and the next step
  cockpit hosts remove gpu1           the host's agents keep running

\b
A host is another machine that runs its own cockpit. Your screen shows the host's agents, and
most commands take --host NAME. Hosts are in [[hosts]] of ~/.config/cockpit/cockpit.toml.""",
)
@with_common_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@_timeout(LIST_TIMEOUT)
@click.pass_context
def hosts(context: click.Context, as_json: bool, timeout: float) -> int:
    """List other machines; add, check or remove one.

    Asks all hosts at the same time. For each host that is up, prints the version of cockpit, the
    round trip of the connection, the agents, the load, and how long the supervisor has been
    running.
    """
    if context.invoked_subcommand is not None:
        return 0
    from cockpit.cli.agent_guard import refuse_inside_agent
    from cockpit.cli.host_list import print_hosts
    from cockpit.cli.host_names import loaded_configuration
    from cockpit.cli.output import say

    refuse_inside_agent("send requests to another machine")
    configured = loaded_configuration().settings.hosts
    _say_ignored()
    if not configured and not as_json:
        say("No hosts are configured. Add one: cockpit hosts add NAME ssh TARGET")
    print_hosts(configured, timeout, as_json=as_json)
    return 0


@hosts.command(
    epilog="""\b
Examples:
  cockpit hosts check              all hosts; exit 1 if something serious is wrong
  cockpit hosts check gpu1
  cockpit hosts check --json

For a machine that is not configured, `cockpit hosts add` shows the same checks, except the
supervisor, and writes nothing if something is missing. To check the CLIs of a host's agents:

\b
  cockpit doctor --host gpu1"""
)
@with_common_options
@click.argument("names", metavar="[NAME...]", nargs=-1, shell_complete=host_names)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@_timeout(CHECK_TIMEOUT)
def check(names: tuple[str, ...], as_json: bool, timeout: float) -> int:
    """Check that hosts have what cockpit needs.

    Checks the connection, the SSH key, Python, tmux, git, cockpit and its version, the PATH of a
    non-login shell, the length of socket paths, whether processes survive a logout (lingering), and
    the supervisor, in one call per host. Prints the fix below each problem. Changes nothing.
    """
    from cockpit.cli.agent_guard import refuse_inside_agent
    from cockpit.cli.host_check import check_hosts
    from cockpit.cli.host_names import loaded_configuration
    from cockpit.cli.hosts import host_named
    from cockpit.cli.output import say

    refuse_inside_agent("send requests to another machine")
    for name in names:
        host_named(name, common_options().config)
    configured = loaded_configuration().settings.hosts
    _say_ignored()
    chosen = [host for host in configured if not names or host.name in names]
    if not chosen:
        say("No hosts are configured. Add one: cockpit hosts add NAME ssh TARGET")
    return check_hosts(chosen, timeout, as_json=as_json)


@hosts.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="""\b
Examples:
  cockpit hosts add gpu1 ssh gpu1
  cockpit hosts add gpu1 ssh -p 2222 me@gpu1.example.com
  cockpit hosts add --install gpu1 ssh gpu1      install cockpit there first, after asking
  cockpit hosts add --install --service --yes gpu1 ssh gpu1
  cockpit hosts add box docker exec -i box
  cockpit hosts add pod kubectl exec -i pod -c main --

\b
CONNECT is any command that runs another command on the machine, with stdin and stdout;
default: `ssh NAME`. Options go before NAME; --install, --service and --yes can also be last.

\b
Exit codes: 2 invalid or existing name, 4 not reachable, or added but its supervisor did not start,
6 a requirement is missing; others: cockpit --help""",
)
@with_common_options
@click.option(
    "--install", is_flag=True, help="Install or upgrade cockpit on the host, after asking."
)
@click.option(
    "--service", is_flag=True, help="Start the supervisor on the host at login, as a service."
)
@click.option("--yes", is_flag=True, help="Do not ask before installing.")
@_timeout(CHECK_TIMEOUT)
@click.argument("name")
@click.argument("connect", nargs=-1, type=click.UNPROCESSED)
def add(
    name: str,
    connect: tuple[str, ...],
    install: bool,
    service: bool,
    yes: bool,
    timeout: float,
) -> int:
    """Check another machine, and add it to your hosts.

    Shows each check, and the next step for each missing requirement. If nothing is missing, adds
    the host to ~/.config/cockpit/cockpit.toml (or the file of --config; comments stay), and starts
    the supervisor there. If a non-login shell on the host does not find cockpit, tmux or git,
    appends `env PATH=…` with their folders to CONNECT.
    """
    from cockpit.cli.agent_guard import refuse_inside_agent
    from cockpit.cli.host_add import HostOptions, add_checked
    from cockpit.core.errors import BadUsage

    refuse_inside_agent("add a host")
    flags = ("--install", "--service", "--yes")
    own = list(connect)
    asked = set()
    while own and own[-1] in flags:
        asked.add(own.pop())
    if own and own[0].startswith("-"):
        raise BadUsage(
            f"{own[0]} comes after NAME, where CONNECT begins",
            "CONNECT is a command, such as ssh; other options come before NAME.",
            f"Try: cockpit hosts add {own[0]} … {name} ssh {name}",
        )
    wishes = HostOptions(
        install=install or "--install" in asked,
        service=service or "--service" in asked,
        yes=yes or "--yes" in asked,
        seconds=timeout,
    )
    return add_checked(name, own or ["ssh", name], wishes, common_options().config)


@hosts.command(
    epilog="""\b
Examples:
  cockpit hosts install gpu1
  cockpit hosts install gpu1 --yes      do not ask; for scripts"""
)
@with_common_options
@click.argument("name", shell_complete=host_names)
@click.option("--yes", is_flag=True, help="Do not ask.")
@_timeout(CHECK_TIMEOUT)
def install(name: str, yes: bool, timeout: float) -> int:
    """Install or upgrade cockpit on a host; agents keep running.

    Shows the commands and asks. Then copies this machine's cockpit to the host, and runs the
    commands there: `uv tool install` if the host has uv, otherwise `pip install` in a virtual
    environment, ~/.local/share/cockpit/venv. The host needs network access, because it downloads
    libraries from the package index. Never installs as root. Finally restarts the host's
    supervisor, if one is running.
    """
    from cockpit.cli.agent_guard import refuse_inside_agent
    from cockpit.cli.host_add import HostOptions, install_on
    from cockpit.cli.hosts import host_named

    refuse_inside_agent("install cockpit on a host")
    host = host_named(name, common_options().config)
    return install_on(host.name, host.connect, HostOptions(yes=yes, install=True, seconds=timeout))


@hosts.command(
    epilog="""\b
Example:
  cockpit hosts remove gpu1      the host's agents keep running

\b
To end the host's agents and supervisor first:
  cockpit down --agents --host gpu1"""
)
@with_common_options
@click.argument("name", shell_complete=host_names)
def remove(name: str) -> int:
    """Remove a host from your configuration.

    The host's supervisor and agents keep running. Comments in the file stay.
    """
    from cockpit.cli.agent_guard import refuse_inside_agent
    from cockpit.cli.host_names import loaded_configuration
    from cockpit.cli.hosts import host_named
    from cockpit.cli.output import say
    from cockpit.cli.places import our_places
    from cockpit.config.host_entries import remove_host
    from cockpit.core.safetext import safe_line

    refuse_inside_agent("remove a host")
    host = host_named(name, common_options().config)
    for path in loaded_configuration().files:
        if remove_host(our_places(), path, name):
            say(f"Removed {name} from {safe_line(str(path), 400)}")
    say(f"The supervisor and agents on {name} keep running. To end them:")
    say(f"  {host.by_hand('down', '--agents')}")
    return 0


def _say_ignored() -> None:
    """Print on stderr that hosts in a file are ignored until the user trusts the file."""
    from cockpit.cli.host_names import loaded_configuration
    from cockpit.cli.output import say
    from cockpit.core.safetext import safe_line

    held = [item for item in loaded_configuration().held if item.key.startswith("hosts[")]
    if held:
        path = safe_line(str(held[0].file), 400)
        say(f"Hosts in a file are ignored until you trust the file: cockpit config trust {path}")
