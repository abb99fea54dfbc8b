"""What to do about a supervisor that does not answer depends on where it runs."""

from __future__ import annotations

from cockpit.core.far_names import LOCAL
from cockpit.tui.keys.reasons import needs_any_supervisor, needs_supervisor
from cockpit.tui.present.hosts import lost_step
from cockpit.tui.state.model import Connection, Model


def test_the_local_supervisor_is_started_or_exchanged() -> None:
    model = Model(None, LOCAL, [])
    model.main.connection = Connection(lost_at=1.0)
    start = "The supervisor is not responding. Run: cockpit up"
    assert needs_supervisor(model) == needs_any_supervisor(model) == start
    assert lost_step(model.main) == "Start the supervisor: cockpit up"
    model.main.connection = Connection(incompatible=True)
    assert (needs_supervisor(model) or "").endswith("Run: cockpit restart")
    assert lost_step(model.main) == "Restart the supervisor: cockpit restart"


def test_a_supervisor_elsewhere_is_not_started_here() -> None:
    model = Model(None, "gpu1", [])
    connecting = "cockpit is still connecting to the supervisor on gpu1. Try again in a moment."
    assert needs_supervisor(model) == needs_any_supervisor(model) == connecting
    model.main.connection = Connection(lost_at=1.0)
    check = "gpu1 does not answer. To check: cockpit doctor --host gpu1"
    assert needs_supervisor(model) == needs_any_supervisor(model) == check
