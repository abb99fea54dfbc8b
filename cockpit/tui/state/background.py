"""Run tasks in the background."""

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
    exclusive: bool = False,
) -> None:
    """Run a task while `node` exists; `exclusive` cancels the group's earlier task.

    Takes a function, not a coroutine: a coroutine cancelled before its start would be reported as
    never awaited. An unhandled error ends the application. A task may be cancelled, so it must not
    await a task of Textual: that task would be cancelled too.
    """
    _worker: Worker[None] = node.run_worker(
        cast("Callable[[], Coroutine[None, None, None]]", task), group=group, exclusive=exclusive
    )
