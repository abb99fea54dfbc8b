"""Create the readers of live sessions, by runtime name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cockpit.ports.live_sessions import LiveSessions


def live_readers(environment: Mapping[str, str], state: Path) -> Mapping[str, LiveSessions]:
    """Return a reader for each CLI, by runtime name. A reader may store files below `state`.

    The imports are local, so that the supervisor can answer requests before it loads these modules.
    """
    from cockpit.adapters.agents.claude.other_sessions import ClaudeSessions
    from cockpit.adapters.agents.codex.other_sessions import CodexSessions
    from cockpit.adapters.agents.copilot.other_sessions import CopilotSessions
    from cockpit.adapters.agents.gemini.other_sessions import GeminiSessions
    from cockpit.adapters.agents.opencode.other_sessions import COPIES, OpencodeSessions

    return {
        "claude": ClaudeSessions(environment),
        "codex": CodexSessions(environment),
        "copilot": CopilotSessions(environment),
        "gemini": GeminiSessions(environment),
        "opencode": OpencodeSessions(environment, state / COPIES),
    }
