"""Compare what permission modes allow without asking, and choose the mode of a successor.

Without asking, a successor's mode allows nothing that the predecessor's mode did not allow.
Exception: a mode of another CLI may allow `Right.LOOK`. The same name means different things in
different CLIs, so the rights of the modes are compared, not their names. Reading files is not
compared, because each CLI has its own rules for reading.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, StrEnum

from cockpit.core.deferred_dataclass import dataclass

DEFAULT = "default"
"""The mode for a job whose mode is unknown, in every CLI that has a mode of this name."""


class Right(StrEnum):
    """A kind of action that an agent may do without asking."""

    LOOK = "run commands in a sandbox in which they can only read"
    EDIT = "edit files in its directory"
    CONFINED = "run commands in a sandbox that they cannot leave"
    JUDGED = "run commands that a classifier finds harmless"
    FETCH = "fetch web pages"
    COMMAND = "run any command"


class Asks(IntEnum):
    """The actions for which the CLI asks the user if the mode does not allow them.

    The members are in ascending order. The CLI refuses all other actions that the mode does not
    allow.
    """

    NOTHING = 0
    ALL_BUT_EDITS = 1
    EVERYTHING = 2


@dataclass(frozen=True, slots=True)
class Rights:
    """The actions that a permission mode of one CLI allows. Partially ordered by `within`."""

    unasked: frozenset[Right] = frozenset()
    asks: Asks = Asks.EVERYTHING

    def within(self, other: Rights) -> bool:
        """Return whether this mode permits nothing that `other` does not permit."""
        return self.unasked <= other.unasked and self.asks <= other.asks


Modes = Mapping[str, Rights]
"""The permission modes of one CLI, by their names in cockpit's configuration."""
ASKS_FIRST = Rights()
"""The rights of a mode that asks before every action. Assumed for an unknown mode when the job
moves to another CLI."""
EVERYTHING = Rights(frozenset(Right))


def nearest(modes: Modes, name: str, rights: Rights) -> str:
    """Return the mode for a job that had the mode `name` with these rights in another CLI.

    Without asking, the returned mode allows nothing that was not allowed before, except `LOOK`,
    which changes nothing. At least one of `modes` must allow no more than `LOOK`. Prefers a mode
    with the same rights; then the same name, if its rights are within `rights`; then the widest
    mode within `rights`.
    """

    def preference(mode: str) -> tuple[bool, bool, bool, int, int]:
        offered = modes[mode]
        within = offered.within(rights)
        same_name = mode == name
        shared = len(offered.unasked & rights.unasked)
        difference = abs(offered.asks - rights.asks)
        return offered == rights, within and same_name, within, shared, -difference

    allowed = [mode for mode in modes if modes[mode].unasked - {Right.LOOK} <= rights.unasked]
    return max(allowed, key=preference)


def successors_mode(configured: str, observed: str | None, modes: Modes) -> str:
    """Return the mode for a successor in the same CLI.

    The observed mode can only narrow the configured mode, because the observed mode comes from a
    transcript that the agent can write. An unknown mode is treated as the widest. An empty
    `configured` means the CLI's default, whose rights are unknown. The default is kept, unless the
    observed mode asks about or refuses every action.
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
