"""Analyse the `connect` command of a host, and add a PATH to the command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from cockpit.core.host_facts import HostFacts

CONTAINER_PROGRAMS = frozenset({"docker", "podman", "nerdctl", "kubectl", "oc"})
"""Programs whose `exec` forwards standard input only with `-i`."""
_SAFE_PATH = re.compile(r"/[A-Za-z0-9/._+@%-]*")
"""Matches a path that needs no quotes in any shell."""


def is_ssh(connect: Sequence[str]) -> bool:
    return _program(connect) == "ssh"


def is_container(connect: Sequence[str]) -> bool:
    return _program(connect) in CONTAINER_PROGRAMS


def forwards_input(connect: Sequence[str]) -> bool:
    """Return whether a container's `exec` has the option to forward standard input."""
    return any(
        word in ("--interactive", "--stdin") or re.fullmatch(r"-[a-z]*i[a-z]*", word)
        for word in connect[1:]
    )


def attach_vector(connect: Sequence[str]) -> tuple[str, ...]:
    """Return the host's `attach` command if `connect` enters a container, else an empty tuple.

    Attaching needs a terminal, so `-it` replaces the first `-i`, `--interactive` or `--stdin` of
    `connect`. Without one of these options, returns `connect` unchanged.
    """
    if not is_container(connect):
        return ()
    own = list(connect)
    at = next((at for at, word in enumerate(own) if word in ("-i", "--interactive", "--stdin")), 0)
    if at:
        own[at] = "-it"
    return tuple(own)


def typed(connect: Sequence[str], *words: str, terminal: bool = False) -> str:
    """Return the command line that runs a program on the host, for the user to type.

    With `terminal`, ssh opens a terminal on the host, so that sudo can ask for a password.
    """
    own = [connect[0], "-t", *connect[1:]] if terminal and is_ssh(connect) else list(connect)
    return shlex.join([*own, *words])


def with_path(connect: Sequence[str], facts: HostFacts) -> tuple[str, ...] | None:
    """Return `connect` with a PATH that has the folders of cockpit, tmux and git on the host.

    The result ends in `env PATH=…`; an earlier `env PATH=…` at the end is replaced. None if each of
    these programs is on the host's PATH or was not found, or if a folder to add needs quotes in a
    shell.
    """
    more = [
        program.path.rpartition("/")[0] or "/"
        for name, program in facts.programs.items()
        if not program.on_path and name in ("cockpit", "tmux", "git")
    ]
    if not more or not all(_SAFE_PATH.fullmatch(folder) for folder in more):
        return None
    there = [folder for folder in facts.path.split(":") if _SAFE_PATH.fullmatch(folder)]
    path = ":".join(dict.fromkeys([*more, *there]))
    own = list(connect)
    if len(own) > 2 and own[-2] == "env" and own[-1].startswith("PATH="):
        own = own[:-2]
    return (*own, "env", f"PATH={path}")


def _program(connect: Sequence[str]) -> str:
    return connect[0].rpartition("/")[2]
