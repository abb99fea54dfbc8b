"""Permission modes of a job whose sessions run in several CLIs.

A session's record stores the job's mode by its name in the configured CLI. For each narrower mode
that the user chose in another CLI, the record also stores the mode's name in that CLI. So each
choice is translated at most once, for the CLI of the next session. If the next session runs in the
CLI in which the user chose the mode, exactly that mode is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.permission import ASKS_FIRST, DEFAULT, Rights, successors_mode
from cockpit.ports.records import SessionRecord
from cockpit.ports.runtimes import Runtime
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.session_runtime import runtime_of
from cockpit.supervisor.dependencies import Runtimes


@dataclass(frozen=True, slots=True)
class JobModes:
    """The modes that limit a job's next session: the session may do only what all modes allow."""

    usual: str
    """The job's mode, by its name in the configured CLI; empty for the CLI's default."""
    chosen: Mapping[str, str] = field(default_factory=dict)
    """The narrower modes that the user chose in other CLIs, by the CLI's name, newest last."""

    @classmethod
    def of(cls, session: SessionRecord, usual: str | None = None) -> JobModes:
        """Return the modes in a session's record; `usual`, unless None, replaces the usual mode."""
        return cls(session.permission_mode if usual is None else usual, session.chosen_modes)

    def save_in(self, session: SessionRecord) -> SessionRecord:
        """Return the session's record with these modes."""
        return replace(session, permission_mode=self.usual, chosen_modes=dict(self.chosen))

    @property
    def newest(self) -> str:
        """The mode that the user chose last, else the usual mode."""
        return [self.usual, *self.chosen.values()][-1]


def mode_in(runtimes: Runtimes, agent: Agent, modes: JobModes, runtime: Runtime) -> str:
    """Return the mode in which the CLI `runtime` runs the job's next session.

    Empty for the CLI's default: if the job has no mode and the CLI is the configured one, or if a
    custom runtime has no mode of the same name. Never empty for other CLIs, because their default
    could allow more.
    """
    mode = modes.usual
    if runtime.name != agent.settings.runtime:
        rights = runtimes(agent.settings.runtime).modes.get(mode, ASKS_FIRST)
        mode = runtime.nearest_mode(mode or DEFAULT, rights)
    if modes.chosen and not runtime.modes:  # the CLI's rights are unknown
        return runtime.nearest_mode(modes.newest, ASKS_FIRST) or mode
    for cli, chosen in modes.chosen.items():
        limit = runtime.nearest_mode(chosen, runtimes(cli).modes.get(chosen, ASKS_FIRST))
        mode = successors_mode(mode, limit, runtime.modes)
    return mode


def is_same(runtimes: Runtimes, agent: Agent, modes: JobModes, runtime: Runtime) -> bool:
    """Return whether the next session's mode in the CLI `runtime` needs no question to the user.

    No question is needed if the user chose the mode for this CLI, or if the mode allows exactly
    what `modes` together allow.
    """
    is_usual = runtime.name == agent.settings.runtime
    mode = mode_in(runtimes, agent, modes, runtime)
    if mode == (modes.usual if is_usual else modes.chosen.get(runtime.name)):
        return True
    usual = runtimes(agent.settings.runtime).modes
    limits = [usual.get(modes.usual) if modes.usual else ASKS_FIRST]
    limits += [runtimes(cli).modes.get(chosen) for cli, chosen in modes.chosen.items()]
    known = [rights for rights in limits if rights is not None]
    if len(known) < len(limits):
        return False
    unasked = frozenset.intersection(*(rights.unasked for rights in known))
    both = Rights(unasked, min(rights.asks for rights in known))
    return runtime.modes.get(mode) == both


def narrowed(
    runtimes: Runtimes, agent: Agent, modes: JobModes, old: SessionRecord, observed: str | None
) -> JobModes:
    """Return the modes, narrowed if `observed`, the last mode of the session `old`, is narrower."""
    runtime = runtime_of(runtimes, agent, old)
    started = mode_in(runtimes, agent, modes, runtime)
    chosen = successors_mode(started, observed, runtime.modes)
    if chosen == started:
        return modes
    if runtime.name == agent.settings.runtime:
        return replace(modes, usual=chosen)
    others = {cli: mode for cli, mode in modes.chosen.items() if cli != runtime.name}
    return replace(modes, chosen={**others, runtime.name: chosen})


def merged(runtimes: Runtimes, modes: JobModes, chosen: Mapping[str, str]) -> JobModes:
    """Return the modes, also limited by the user's choices in another session of the job."""
    both = dict(modes.chosen)
    for cli, mode in chosen.items():
        limited = successors_mode(both.pop(cli, mode), mode, runtimes(cli).modes)
        both[cli] = limited
    return replace(modes, chosen=both)
