"""Having something done while the screen goes on."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, cast

from textual.dom import DOMNode
from textual.worker import Worker


def in_background(
    node: DOMNode,
    task: Callable[[], Coroutine[Any, Any, None]],
    *,
    group: str = "default",
    alone: bool = False,
) -> None:
    """Run a task for as long as `node` lives; `alone` ends the one of that group before it.

    The function goes in, not its coroutine: one that is replaced before it began would otherwise
    be reported as never awaited. A bug in a task ends the application, loudly. A task may be
    cancelled, so it must await nothing of Textual's: the cancellation would reach its widgets.
    """
    _worker: Worker[None] = node.run_worker(
        cast("Callable[[], Coroutine[None, None, None]]", task), group=group, exclusive=alone
    )
