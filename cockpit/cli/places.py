"""Which cockpit this command speaks of: the one that the environment names."""

from __future__ import annotations

import os

from cockpit.config.paths import Places


def our_places() -> Places:
    """The places of this environment. Raises `BadUsage` when their sockets could never exist."""
    places = Places.of(os.environ)
    places.check_sockets()
    return places
