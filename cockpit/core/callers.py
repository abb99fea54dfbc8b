"""Callers of the supervisor, and the requests that an agent may make.

Agents run as the supervisor's user, on the same machine. These rules restrict the `cockpit` on an
agent's PATH; they do not stop a malicious process of that user (SECURITY.md).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from enum import StrEnum

from cockpit.core.actors import actor_of
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.errors import NotAllowed

LOOK = "look"
"""The permission to read another agent's data. An agent may always read its own data."""
USER_ONLY = frozenset({"answer"})
"""Verbs that neither an agent nor a hook can use, because only the user may answer a dialog."""
NEVER = USER_ONLY | {
    "load", "down", "adopt", "watch_session", "document_session", "forget", "rename",
    "moved", "resume",
}  # fmt: skip
"""Verbs that no setting can allow an agent to use. These verbs load a configuration, end the
supervisor, act on sessions that the user started, change the user's list of agents, end a move to
another machine, reopen interrupted agents, or are for the user only."""
_ADDRESS = re.compile(r"[0-9A-Fa-f:.]{2,45}(%\w{1,15})?")


class CallerKind(StrEnum):
    USER = "user"
    AGENT = "agent"
    HOOK = "hook"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of one request: the user, an agent, a hook, or an unknown process."""

    kind: CallerKind
    name: str = ""
    """Name of the agent that sent the request, directly or with a hook; empty for the user, and
    if unknown."""
    pid: int = 0
    hook: str = ""
    """Name of the event for which the calling hook runs; empty if the caller is not a hook."""
    terminal: str = ""
    """The user's terminal, such as `pts/3`; empty if there is none."""
    far: str = ""
    """The IP address from which the user is connected by SSH; empty without SSH."""
    screen: bool = False
    """Whether the request comes from cockpit's screen."""
    web: str = ""
    """The IP address of the client, if the request came through `cockpit serve`; else empty."""
    actor: str = ""
    """The user's name from the client, such as `ana@laptop`; empty for the supervisor's own user on
    this machine, and if unknown. Only shown, because the client can send any name."""

    @property
    def description(self) -> str:
        """The caller as a noun phrase, for events and error messages: `agent api`."""
        if self.kind is CallerKind.AGENT:
            return f"agent {self.name}" if self.name else "an agent that is no longer known"
        if self.kind is CallerKind.HOOK:
            return " ".join(filter(None, ("hook", self.hook, self.name and f"of {self.name}")))
        if self.kind is CallerKind.UNKNOWN:
            return "a process that has ended"
        where = " on the screen" if self.screen else f" on {self.terminal}" if self.terminal else ""
        web = f" through cockpit serve from {self.web}" if self.web else ""
        return f"{self.actor or 'you'}{where}" + (f" from {self.far}" if self.far else "") + web

    def event_data(self) -> dict[str, str | int]:
        """Return the caller as data of an event, without `screen` and without empty values."""
        values: dict[str, str | int] = {
            "kind": self.kind.value,
            "name": self.name,
            "pid": self.pid,
            "hook": self.hook,
            "terminal": self.terminal,
            "far": self.far,
            "web": self.web,
            "actor": self.actor,
        }
        return {key: value for key, value in values.items() if value}


def forwarded(caller: Caller, header: str) -> Caller:
    """Return the caller with the client's IP address, from the header that `cockpit serve` adds.

    Unchanged if the caller is not the user, or if the header has no valid address. The address is
    only displayed, because any program of the user can send this header.
    """
    first = header.split(",", 1)[0].strip().removeprefix("for=").strip('"').strip("[]")
    if caller.kind is not CallerKind.USER or not _ADDRESS.fullmatch(first):
        return caller
    return replace(caller, web=first)


def named(caller: Caller, header: str, own: str) -> Caller:
    """Return the caller with the user's name from the client's `From` header.

    Unchanged if the caller is not the user, if the header has no valid name, or if the name is
    `own`, the supervisor's own user. The name is only shown, because any program of the user can
    send this header.
    """
    actor = actor_of(header)
    if caller.kind is not CallerKind.USER or actor in ("", own):
        return caller
    return replace(caller, actor=actor)


def ssh_address(connection: str) -> str:
    """Return the client's IP address from a value of `SSH_CONNECTION`; empty if invalid."""
    first = connection.split(" ", 1)[0]
    return first if _ADDRESS.fullmatch(first) else ""


def refuse_if_ended(caller: Caller, request: str) -> None:
    """Raise `NotAllowed` if the calling process ended before cockpit could identify it.

    An agent's process can connect, end, and leave the open connection to another process.
    """
    if caller.kind is CallerKind.UNKNOWN:
        raise NotAllowed(
            f"Refused: the process that asked to {request} has ended",
            "cockpit cannot tell whether the process was an agent.",
            "Run the command again and wait for its output. A program must send its requests over "
            "a connection that it opened itself.",
        )


def refuse_unless_allowed(
    caller: Caller,
    verb: str,
    target: str | None,
    itself: Collection[str],
    others: Collection[str],
) -> None:
    """Raise `NotAllowed` if the caller may not use the verb.

    `target` is the agent that the verb acts on; None for no agent or an unknown one. `itself` and
    `others` are the verbs that the user's configuration allows the calling agent to use on itself
    and on other agents.
    """
    refuse_if_ended(caller, "read this" if verb == LOOK else f"use {verb}")
    if caller.kind is CallerKind.HOOK and verb in USER_ONLY:
        raise NotAllowed(
            f"Refused: a hook may not {_verb_phrase(verb, 'an agent')}",
            f"This command runs inside {caller.description} (process {caller.pid}).",
            "Answer in a terminal or on the screen. To allow a tool without a dialog, use the "
            "CLI's own permission rules.",
        )
    if caller.kind is not CallerKind.AGENT:
        return
    own = bool(caller.name) and target == caller.name
    allowed = itself if own else others
    if verb not in NEVER and verb in allowed:
        return
    if verb == LOOK and own:
        return
    about = "itself" if own else "another agent" if target else "all agents"
    setting = "itself" if own else "others"
    verbs = ", ".join(f'"{permitted}"' for permitted in (*allowed, verb))
    allow = f"\nThe user can allow it in cockpit.toml: [agents.may] {setting} = [{verbs}]"
    raise NotAllowed(
        f"Refused: this agent may not {_verb_phrase(verb, about)}",
        f"This command runs inside {caller.description} (process {caller.pid}).",
        "Ask the user to do it from their own terminal."
        + (allow if verb not in NEVER and caller.name else ""),
    )


_WHOLE_PHRASES = {
    "start": "start an agent",
    "continue": "start an agent from a handoff document",
    "resume": "reopen interrupted agents",
    "remove_worktree": "remove this worktree",
    "answer": "answer a dialog",
    "moved": "end a move to another machine",
    "forget": "forget an agent",
    "rename": "rename an agent",
    "adopt": "adopt a session",
    "watch_session": "watch a session",
    "document_session": "request a document of a session",
}


def _verb_phrase(verb: str, about: str) -> str:
    if verb in _WHOLE_PHRASES:
        return _WHOLE_PHRASES[verb]
    return {LOOK: "look at", "load": "load a configuration for"}.get(verb, f"use {verb} on") + (
        f" {about}"
    )
