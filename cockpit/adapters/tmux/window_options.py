"""The home window's number, and the options with which windows and terminals are marked."""

from __future__ import annotations

HOME_WINDOW = 0
FAR_OPTION = "@cockpit_far"
"""Option of a window that shows an agent of another machine: the agent's label. The window is
closed when the last terminal stops showing it."""
RETURN_OPTION = "@cockpit_return"
"""Option of a terminal's session: the return key ends the session instead of showing the home
window."""
