"""Compare what permission modes allow without asking, and choose the mode of a successor.

The mode of a successor is never wider than its predecessor's, also in another CLI. The same name
means different things in different CLIs, so what the modes allow is compared, not their names.
Reading is not compared: each CLI reads files without asking, by rules of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum

DEFAULT = "default"
"""In every CLI that has it, the mode for a job whose mode is not known."""


class Right(StrEnum):
    """A kind of action that an agent does without asking."""

    LOOK = "run commands in a sandbox in which they can only read"
    EDIT = "edit files in its directory"
    CONFINED = "run commands in a sandbox that they cannot leave"
    JUDGED = "run commands that a classifier finds harmless"
    FETCH = "fetch web pages"
    COMMAND = "run any command"


class Asks(IntEnum):
    """The handling of all other actions; with a larger value the user can approve more."""

    NOTHING = 0
    """It is refused."""
    ALL_BUT_EDITS = 1
    """Edits are refused as long as the mode lasts."""
    EVERYTHING = 2


@dataclass(frozen=True, slots=True)
class Rights:
    """The actions that a permission mode of one CLI allows. Partially ordered by `within`."""

    unasked: frozenset[Right] = frozenset()
    asks: Asks = Asks.EVERYTHING

    def within(self, other: Rights) -> bool:
        """Whether nothing can happen in this mode that cannot happen in the other one."""
        return self.unasked <= other.unasked and self.asks <= other.asks


Modes = Mapping[str, Rights]
"""The permission modes of one CLI, by their names in cockpit's configuration."""
ASKS_FIRST = Rights()
"""Also assumed of a mode that is not known, when the job moves to another CLI."""
EVERYTHING = Rights(frozenset(Right))


def nearest(modes: Modes, name: str, given: Rights) -> str:
    """Return the mode for a job that had the mode `name` with these rights in another CLI.

    Nothing happens in it without asking that did not happen before; only `LOOK`, which changes
    nothing, may be added. So one of `modes` must allow no more than `LOOK`. A mode that allows the
    same is preferred, then the one of the same name, then the widest.
    """

    def preference(mode: str) -> tuple[bool, bool, bool, int, int]:
        rights = modes[mode]
        within = rights.within(given)
        same_name = mode == name
        shared = len(rights.unasked & given.unasked)
        return rights == given, within and same_name, within, shared, -abs(rights.asks - given.asks)

    allowed = [mode for mode in modes if modes[mode].unasked - {Right.LOOK} <= given.unasked]
    return max(allowed, key=preference)


def successors_mode(configured: str, observed: str | None, modes: Modes) -> str:
    """Return the mode to start a successor in the same CLI with.

    The observed mode comes from a transcript that the agent can write, so it can only narrow. An
    unknown mode counts as the widest. An empty `configured` means the CLI's own default, which is
    not known: it is kept, unless a mode was observed in which everything is asked about or refused.
    """
    if not observed:
        return configured
    was, seen = modes.get(configured), modes.get(observed)
    if not configured:
        return observed if seen is not None and seen.within(ASKS_FIRST) else configured
    if seen is None or (was is not None and was.within(seen)):
        return configured
    if was is None or seen.within(was):
        return observed
    both = Rights(was.unasked & seen.unasked, min(was.asks, seen.asks))
    return nearest(modes, configured, both)
