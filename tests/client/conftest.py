"""The contract of clients is held by a real supervisor too, in a cockpit of the test's own."""

from __future__ import annotations

from tests.supervisor.conftest import cockpit

__all__ = ["cockpit"]
