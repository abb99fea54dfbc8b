"""The end of a process is noticed without an event loop, and a child is left to its parent."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

from cockpit.adapters.process.exits import poll_for_exit, wait_for_exit

Wait = Callable[[int, float], bool]
BOTH = pytest.mark.parametrize("wait", [wait_for_exit, poll_for_exit])


@BOTH
def test_it_waits_for_the_end_of_a_child_and_does_not_reap_it(wait: Wait) -> None:
    child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    assert child.stdin is not None
    assert not wait(child.pid, 0.05)
    child.stdin.close()
    assert wait(child.pid, 10)
    assert child.wait() == 0


@BOTH
def test_a_process_that_does_not_exist_has_ended(wait: Wait) -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    assert wait(child.pid, 10)
