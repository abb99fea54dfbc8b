"""The environment that the supervisor keeps for its agents: its own at `up`, without what leaks.

Variables of a surrounding agent session or tmux would make an agent believe that it is a child of
them; a terminal's size of that moment would be taken for the pane's for ever.
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


def supervisors_own(environment: Mapping[str, str]) -> dict[str, str]:
    """Everything but what leaks from an agent or a tmux that `up` was called in."""
    return {
        name: value
        for name, value in environment.items()
        if name not in LEAKS and not name.startswith("TMUX")
    }
