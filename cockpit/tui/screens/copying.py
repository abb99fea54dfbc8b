"""Copy an agent's path, branch or session id to the terminal's clipboard (OSC 52).

Text is copied only when the user runs one of these actions. Text with control or invisible
characters is never copied, because it could run when it is pasted into a shell.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from textual.screen import Screen

from cockpit.core.errors import CockpitError
from cockpit.core.safetext import safe_line
from cockpit.tui.keys.action import Handlers
from cockpit.tui.screens.requests import show_error, show_message, show_reason
from cockpit.tui.state.background import in_background
from cockpit.tui.state.context import UIContext
from cockpit.wire.status import AgentStatus

MOST = 4096
"""Maximum characters to copy; longer text is not copied."""


class Copying:
    """The actions that copy one agent's path, branch or session id."""

    def __init__(
        self,
        screen: Screen[Any],
        ui: UIContext,
        agent: Callable[[], AgentStatus | None],
        file: Callable[[], str | None] = lambda: None,
    ) -> None:
        """`file` returns the path to copy. If it returns None, the path of the agent's worktree or
        directory is copied."""
        self._screen = screen
        self._ui = ui
        self._agent = agent
        self._file = file

    def handlers(self, before: str = "") -> Handlers:
        """Return the function of each action, by id; `before` is the prefix of the ids."""
        return {
            f"{before}copy-path": self._path,
            f"{before}copy-branch": self._branch,
            f"{before}copy-id": self._id,
        }

    def _path(self) -> None:
        agent = self._agent()
        folder = (agent.worktree or agent.directory) if agent else None
        self._copy(self._file() or folder, "path")

    def _branch(self) -> None:
        agent = self._agent()
        self._copy(agent.branch if agent else None, "branch")

    def _id(self) -> None:
        agent = self._agent()
        self._copy(agent.session_id if agent else None, "session id")

    def _copy(self, text: str | None, what: str) -> None:
        if not text:
            show_reason(self._screen, f"There is no {what} to copy.")
        elif len(text) > MOST:
            show_reason(self._screen, f"The {what} is too long to copy ({len(text):,} characters).")
        elif text != safe_line(text, MOST):
            reason = f"The {what} has control or invisible characters, so it was not copied."
            show_reason(self._screen, reason)
        else:
            in_background(self._screen, partial(self._send, text, what))

    async def _send(self, text: str, what: str) -> None:
        try:
            if self._ui.copy is not None:
                await self._ui.copy(text)
            else:
                self._screen.app.copy_to_clipboard(text)
        except CockpitError as error:
            show_error(self._screen, error)
            return
        show_message(self._screen, f"Sent the {what} to the terminal's clipboard: {text}")
