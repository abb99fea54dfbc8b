"""Who asked the supervisor for something, and what an agent may ask for.

Same user, same machine: this closes the ordinary door, the `cockpit` on an agent's PATH. It is no
wall against a process that runs as the user and means harm; see SECURITY.md.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from cockpit.core.errors import NotAllowed

LOOK = "look"
"""Reading what belongs to another agent; of itself an agent may read everything."""
NEVER = frozenset({"load", "down"})
"""What no setting lets an agent do: read another configuration, end the supervisor."""
_ADDRESS = re.compile(r"[0-9A-Fa-f:.]{2,45}(%\w{1,15})?")


class CallerKind(StrEnum):
    USER = "user"
    AGENT = "agent"
    HOOK = "hook"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever is behind one request."""

    kind: CallerKind
    name: str = ""
    """The agent, or the agent of the hook; empty where it is not known."""
    pid: int = 0
    hook: str = ""
    """The event that the hook runs for."""
    terminal: str = ""
    """The terminal that a user types in, such as `pts/3`."""
    far: str = ""
    """The address that a user comes from, by ssh."""
    screen: bool = False
    """The request comes from cockpit's screen."""

    @property
    def words(self) -> str:
        """As a journal names it."""
        if self.kind is CallerKind.AGENT:
            return f"agent {self.name}" if self.name else "an agent that is not known any more"
        if self.kind is CallerKind.HOOK:
            return " ".join(filter(None, ("hook", self.hook, self.name and f"of {self.name}")))
        if self.kind is CallerKind.UNKNOWN:
            return "a process that had already ended"
        where = " on the screen" if self.screen else f" on {self.terminal}" if self.terminal else ""
        return f"you{where}" + (f" from {self.far}" if self.far else "")

    def told(self) -> dict[str, str | int]:
        """As data of an event; what is not known is left out."""
        held: dict[str, str | int] = {
            "kind": self.kind.value,
            "name": self.name,
            "pid": self.pid,
            "hook": self.hook,
            "terminal": self.terminal,
            "far": self.far,
        }
        return {key: value for key, value in held.items() if value}


def ssh_address(connection: str) -> str:
    """The client's address of an `SSH_CONNECTION`; empty where it is no address."""
    first = connection.split(" ", 1)[0]
    return first if _ADDRESS.fullmatch(first) else ""


def refuse_unless_allowed(
    caller: Caller,
    verb: str,
    target: str | None,
    itself: Collection[str],
    others: Collection[str],
) -> None:
    """Raise `NotAllowed` for what is the user's.

    `target` is the agent that the verb is about; None for another one or none. `itself` and
    `others` are the verbs that the user's configuration allows the asking agent.
    """
    if caller.kind is CallerKind.UNKNOWN:
        raise NotAllowed(
            f"Refused: {verb} was asked for by a process that has ended",
            "So nobody can tell whether an agent asked.",
            "Ask again, and wait for the answer.",
        )
    if caller.kind is not CallerKind.AGENT:
        return
    own = bool(caller.name) and target == caller.name
    if verb not in NEVER and verb in (itself if own else others):
        return
    if verb == LOOK and own:
        return
    about = "itself" if own else "another agent" if target else "the fleet"
    setting = "itself" if own else "others"
    allow = f'\nOr the user allows it in cockpit.toml: [agents.may] {setting} = ["{verb}"]'
    raise NotAllowed(
        f"Refused: {verb} is for the user, and an agent asked",
        f"This command runs inside {caller.words} (process {caller.pid}), "
        f"which may not {_spoken(verb)} {about}.",
        "Ask the user to do it from their own terminal."
        + (allow if verb not in NEVER and caller.name else ""),
    )


def _spoken(verb: str) -> str:
    return {LOOK: "look at", "load": "load a configuration for"}.get(verb, f"use {verb} on")
