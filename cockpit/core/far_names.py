"""Names of agents and handoffs on other hosts: `host/name`. A plain name cannot contain a `/`."""

from __future__ import annotations

import re

LOCAL = "local"
"""The name of this machine."""
ANY = "any"
"""The value of `--host` that lets `cockpit start` choose the machine."""
RESERVED = {
    LOCAL: "it is the name of this machine",
    ANY: "it lets `cockpit start` choose the machine",
}
"""Names that no host can have, with the reason."""
LONGEST_NAME = 32 + 1 + 32
"""Maximum characters of a name with its host."""
HOST_COMMANDS = (
    "adopt", "answer", "approve", "attach", "continue", "doctor", "done", "down", "events",
    "forget", "handoff", "history", "refuse", "rename", "restart", "send", "service", "setup",
    "show", "snooze", "start", "status", "stop", "undo", "up", "wait", "worktrees",
)  # fmt: skip
"""Commands for which `--host` names the machine of the agent, worktree or supervisor.

`move` is left out: the name after `--to` in a host's message is from that host's configuration, and
may be unknown on this machine.
"""
_BETWEEN = "/"
_COMMAND = (
    # `worktrees restore` only works on the machine of the repository.
    r"(?<![\w./-])cockpit (?!worktrees restore\b)"
    rf"(?:{'|'.join(HOST_COMMANDS)})(?![\w-])(?! --host\b)"
)
"""An expression for a command to which `commands_on` adds `--host`, without the arguments."""


def far_name(host: str, name: str) -> str:
    """Return the full name of an agent, handoff or worktree on another host."""
    return f"{host}{_BETWEEN}{name}"


def host_and_name(full_name: str) -> tuple[str | None, str]:
    """Split `host/name`; the host is None for a name on this machine."""
    host, between, name = full_name.partition(_BETWEEN)
    return (host, name) if between else (None, full_name)


def command_name(full_name: str, main: str = LOCAL) -> str:
    """Return an agent's name as commands take it: `name`, or `name --host host`.

    `main` is the host of the agent if `full_name` does not name a host.
    """
    named, name = host_and_name(full_name)
    host = named or main
    return name if host == LOCAL else f"{name} --host {host}"


def commands_on(host: str, text: str) -> str:
    """Return the text of a host's supervisor with `--host` in each command that accepts it.

    The option follows the command's name, because the text does not show where a command ends.
    Idempotent.
    """
    return re.sub(_COMMAND, lambda command: f"{command[0]} --host {host}", text)
