"""Build the input with which a runtime starts a session: an order, and the pane's environment."""

from __future__ import annotations

from collections.abc import Mapping

from cockpit.ports.records import SessionRecord
from cockpit.ports.runtimes import Runtime, SessionOrder
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.session_runtime import runtime_of
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.permission_modes import JobModes, mode_in


class SessionOrders:
    """Builds orders from an agent's settings and its session's record. Starts nothing."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies = dependencies

    def runtime_of(self, agent: Agent, session: SessionRecord) -> Runtime:
        """Return the runtime of this session's CLI."""
        return runtime_of(self._dependencies.runtimes, agent, session)

    def of(
        self, agent: Agent, session: SessionRecord, prompt: str | None, *, resume: bool = False
    ) -> SessionOrder:
        """Return the `SessionOrder` with which the runtime starts this session.

        Model, arguments and command of the settings apply only to the configured CLI.
        """
        settings = agent.settings
        runtime = self.runtime_of(agent, session)
        is_usual = runtime.name == settings.runtime
        mode = session.permission_mode or (settings.permission_mode if is_usual else "")
        return SessionOrder(
            agent=agent.name,
            session_id=session.cli_id or session.id,
            run=session.run,
            directory=agent.directory,
            prompt=prompt or None,
            resume=resume,
            model=session.model or (settings.model if is_usual else ""),
            permission_mode=mode_in(
                self._dependencies.runtimes, agent, JobModes.of(session, mode), runtime
            ),
            arguments=settings.arguments if is_usual else (),
            command=settings.command if is_usual else (),
            environment=self.environment(agent),
            documents=agent.directory / settings.handoff.directory,
            offers_tools=settings.mcp,
        )

    def environment(self, agent: Agent) -> dict[str, str]:
        """Return the supervisor's and cockpit's variables and the agent's `env`, for a pane."""
        return self.environment_with(agent.settings.env)

    def environment_with(self, more: Mapping[str, str]) -> dict[str, str]:
        """Return the supervisor's and cockpit's variables and `more`, for a CLI."""
        places = self._dependencies.places
        env = {
            **self._dependencies.environment,
            "COCKPIT_SOCKET": str(places.socket),
            "COCKPIT_STATE": str(places.state),
        }
        env.pop("COCKPIT_HOME", None)
        if places.home is not None:
            env["COCKPIT_HOME"] = str(places.home)
        env |= {"TERM": "tmux-256color", "COLORTERM": "truecolor"}
        return env | dict(more)
