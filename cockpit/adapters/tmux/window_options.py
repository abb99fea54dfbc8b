"""The home window's number, and the options with which windows and terminals are marked."""

from __future__ import annotations

HOME_WINDOW = 0
FAR_OPTION = "@cockpit_far"
"""Option of a window that shows an agent of another machine: the agent's label. The return key
closes the window if no other terminal shows it."""
OVER_SSH_OPTION = "@cockpit_over_ssh"
"""Option of a terminal's session: whether the terminal is connected over SSH, `yes` or `no`. An
earlier version of cockpit does not set it."""
RETURN_OPTION = "@cockpit_return"
"""Option of a terminal's session: if set, the return key ends the session instead of showing the
home window."""
