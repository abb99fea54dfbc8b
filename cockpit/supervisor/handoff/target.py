"""Choose the CLI and the permission mode of a handoff's new session.

Checks that the CLI can start.
"""

from __future__ import annotations

from dataclasses import replace

from cockpit.adapters.agents import RUNTIMES
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.errors import BadUsage, CockpitError
from cockpit.core.events import Plain
from cockpit.core.permission import DEFAULT
from cockpit.ports.records import SessionRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.predicates import configured_successor
from cockpit.supervisor.agents.session_runtime import runtime_of
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.lifecycle import Sessions
from cockpit.supervisor.sessions.permission_modes import JobModes, is_same, mode_in, narrowed


@dataclass(frozen=True, slots=True)
class Target:
    """The CLI and the model of a handoff's new session."""

    runtime: str = ""
    """Name of the runtime; empty for the CLI of the old session."""
    model: str = ""
    """Name of the model. If empty: the old session's model if the CLI stays the same, else the
    model that is configured for the new CLI."""


SAME = Target()


class Targets:
    """Chooses and checks the CLIs of new sessions."""

    def __init__(self, dependencies: Dependencies, sessions: Sessions) -> None:
        self._dependencies = dependencies
        self._sessions = sessions

    async def configured(self, agent: Agent) -> Target:
        """Return the target of the setting `successor`.

        If that CLI cannot start, returns the current CLI, and records an event with the reason.
        """
        runtime = configured_successor(agent)
        if runtime is None:
            return SAME
        try:
            return await self.checked(agent, runtime, "")
        except CockpitError as refused:
            self._dependencies.event_log.record(
                Plain("handoff.held_back"),
                f"{agent.name} stays in {agent.runtime.tools.cli}: {refused}",
                agent.name,
            )
            return SAME

    async def checked(self, agent: Agent, runtime: str, model: str) -> Target:
        """Check that the CLI's program exists and can start; return the target.

        Raises `BadUsage` if the CLI cannot take over a job, `ProgramMissing` if it is not
        installed, and `NotNow` if it would not work in the agent's directory.
        """
        if runtime in ("", agent.runtime.name):
            return Target("", model)
        try:
            adapter = self._dependencies.runtimes(runtime)
        except BadUsage as unknown:
            raise BadUsage(unknown.title, unknown.detail, self._choice()) from None
        if not adapter.capabilities.readings:
            raise BadUsage(
                f"cockpit cannot hand off a job to the runtime {runtime!a}",
                "cockpit does not read its transcripts, so it cannot check that a new session "
                "reads the document.",
                self._choice(),
            )
        if agent.session is not None:
            # Check with a prompt: a CLI may reject prompts in a directory that it does not trust.
            session = replace(agent.session, runtime=runtime, model=model, cli_id=None)
            await self._sessions.prepare(
                agent, self._sessions.orders.of(agent, session, "x"), adapter
            )
        return Target(runtime, model)

    def _choice(self) -> str:
        """Return a sentence with the CLIs that can take over a job."""
        runtimes = self._dependencies.runtimes
        return (
            f"Choose one of: {', '.join(n for n in RUNTIMES if runtimes(n).capabilities.readings)}."
        )

    def elsewhere(self, agent: Agent, runtime: str) -> Target:
        """Return the target of a job that continues on another machine.

        The other machine checks the CLI, and chooses the permission mode. On this machine, the
        target only determines for which CLI the document is written. If this machine does not know
        `runtime`, the document is written for the current CLI.
        """
        try:
            self._dependencies.runtimes(runtime or agent.runtime.name)
        except BadUsage:
            return SAME
        return SAME if runtime in ("", agent.runtime.name) else Target(runtime)

    def mode_question(self, agent: Agent, target: Target) -> str | None:
        """Return the question to the user about the new session's permission mode, or None."""
        if target.runtime in ("", agent.runtime.name) or agent.session is None:
            return None
        adapter = self._dependencies.runtimes(target.runtime)
        runtimes = self._dependencies.runtimes
        modes = self.modes(agent, agent.session, agent.session_state.permission_mode)
        if is_same(runtimes, agent, modes, adapter):
            return None
        mode = mode_in(runtimes, agent, modes, adapter) or DEFAULT
        return (
            f"{adapter.tools.cli} has no permission mode like {modes.newest or DEFAULT!a}; "
            f"the new session would start in {mode!a}"
        )

    def modes(self, agent: Agent, old: SessionRecord, observed: str | None) -> JobModes:
        """Return the permission modes for the session that follows `old`.

        They allow no more than `observed`, the mode that the user last chose in the old session.
        """
        runtimes = self._dependencies.runtimes
        is_usual = runtime_of(runtimes, agent, old).name == agent.settings.runtime
        intended = old.permission_mode or (agent.settings.permission_mode if is_usual else "")
        return narrowed(runtimes, agent, JobModes.of(old, intended), old, observed)
