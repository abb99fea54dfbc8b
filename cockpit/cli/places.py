"""The paths of the cockpit that the environment selects."""

from __future__ import annotations

import os

from cockpit.config.paths import Places


def our_places() -> Places:
    """Return the paths of the cockpit that this process's environment selects.

    Raises `BadUsage` if a socket path would be too long, and `Failed` if other users can write to
    cockpit's home.
    """
    places = Places.of(os.environ)
    places.check_sockets()
    places.check_home()
    return places
