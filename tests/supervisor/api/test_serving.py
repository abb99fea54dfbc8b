"""Each verb of the API has a handler, and each handler a verb."""

from __future__ import annotations

import os

from cockpit.adapters.clock import SystemClock
from cockpit.adapters.hooks.spool import Spool
from cockpit.config.paths import Places
from cockpit.supervisor.main import assembled
from cockpit.supervisor.serving import performers
from cockpit.supervisor.supervisor import Supervisor
from cockpit.wire.verbs import VERBS


def test_each_verb_has_a_handler_and_each_handler_a_verb() -> None:
    """Building the supervisor reads and writes no files."""
    places = Places.of(os.environ)
    supervisor = Supervisor(assembled(places, SystemClock()), Spool(places.spool))

    assert performers(supervisor).keys() == set(VERBS)
