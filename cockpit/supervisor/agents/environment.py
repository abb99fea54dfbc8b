"""The environment of agents: the supervisor's, without misleading variables.

If the supervisor was started inside an agent's session or inside tmux, it inherits variables that
would mislead an agent about where the agent runs. A variable with a terminal size would override
the size of the pane.
"""

from __future__ import annotations

from collections.abc import Mapping

LEAKS = frozenset(
    {
        "CLAUDECODE",
        "COLUMNS",
        "LINES",
        "CLAUDE_CODE_CHILD_SESSION",
        "CLAUDE_CODE_SESSION_ID",
        "CLAUDE_CODE_ENTRYPOINT",
        "COCKPIT_AGENT",
        "COCKPIT_RUN",
        "COCKPIT_SOCKET",
        "COCKPIT_STATE",
    }
)


def agent_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without variables of an agent session, tmux or the terminal size."""
    return {
        name: value
        for name, value in environment.items()
        if name not in LEAKS and not name.startswith("TMUX")
    }
