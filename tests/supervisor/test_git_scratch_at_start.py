"""What a killed supervisor left of its calls of git is deleted by the next one."""

from __future__ import annotations

import os
from pathlib import Path

from cockpit.adapters.git.scratch import make_scratch
from cockpit.config.paths import Places
from cockpit.supervisor.main import dependencies


def test_folders_of_killed_calls_are_deleted_at_the_start(own_home: Path) -> None:
    places = Places.of(os.environ)
    places.make()
    left = make_scratch(places.runtime / "git")
    dependencies(places).store.close()
    assert not left.exists()
