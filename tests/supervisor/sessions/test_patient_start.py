"""A start waits for a busy machine: it is refused only after seconds, not with the first pause."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import pytest

from cockpit.adapters.process.bounded_calls import BoundedCalls
from cockpit.config.paths import Places
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.main import dependencies
from cockpit.wire.verbs import Plan

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux
T = TypeVar("T")


class Busy(BoundedCalls):
    """A machine on which each call takes longer than the time limit of those in the background."""

    def __init__(self) -> None:
        super().__init__(patience=0.1)

    async def ask(self, key: Hashable, call: Callable[[], T], patience: float | None = None) -> T:
        def late() -> T:
            time.sleep(0.3)
            return call()

        return await super().ask(key, late, patience)


def busy(places: Places) -> Dependencies:
    return replace(dependencies(places), slow=Busy())


async def test_what_a_user_waits_for_is_not_refused_after_a_moment(cockpit: Cockpit) -> None:
    cockpit.world = busy
    async with cockpit.flying(cockpit.agent("api")):
        planned = await cockpit.ask(Plan(name="api", config=str(cockpit.config), named=True))
        assert "api" in planned.message
        row = await cockpit.start()
        assert row.pid is not None
