"""Ask several machines at the same time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from queue import SimpleQueue
from threading import Thread
from typing import Generic, TypeVar

Answer = TypeVar("Answer")


class SideBySide(Generic[Answer]):
    """Asks several questions at the same time, each on its own thread.

    The threads are daemons, so that Ctrl-C does not wait for a machine.
    """

    def __init__(self, questions: Sequence[Callable[[], Answer]]) -> None:
        """Ask each question on a new thread."""
        self._answers: SimpleQueue[tuple[int, Answer | Exception]] = SimpleQueue()
        for place, question in enumerate(questions):
            Thread(target=self._ask, args=(place, question), daemon=True).start()

    def _ask(self, place: int, question: Callable[[], Answer]) -> None:
        try:
            self._answers.put((place, question()))
        except Exception as error:  # noqa: BLE001 - `next` raises it again
            self._answers.put((place, error))

    def next(self, seconds: float | None = None) -> tuple[int, Answer]:
        """Return the next answer, with the index of its question.

        Raises `queue.Empty` if none arrives in time, and any error that a question raised.
        """
        place, answer = self._answers.get(timeout=seconds)
        if isinstance(answer, Exception):
            raise answer
        return place, answer
