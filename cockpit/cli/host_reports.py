"""Ask all hosts side by side. A host that does not answer costs the others nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING

from cockpit.cli.host_checks import HostReport
from cockpit.core.errors import CockpitError

if TYPE_CHECKING:
    from cockpit.config.hooks import Host

FIRST_SECONDS = 2.0
"""How long the first batch of answers is collected, to be shown in the order of the file."""


def report_on(
    name: str, connect: Sequence[str], seconds: float, *, configured: bool = True
) -> HostReport:
    """Ask one host. A `connect` that cannot be run here is an answer too."""
    from cockpit.adapters.host_setup.probe import probe
    from cockpit.adapters.host_setup.remote_script import ScriptAnswer

    try:
        answer = probe(connect, seconds)
    except CockpitError as error:
        answer = ScriptAnswer(errors=(error.title,))
    return HostReport(name, tuple(connect), answer, seconds, configured)


def reports(hosts: Sequence[Host], seconds: float) -> Iterator[HostReport]:
    """Ask all hosts at the same time, and yield a report for each.

    The answers that arrive within the first seconds come in the order of the file, each later one
    when it arrives. The threads are daemons, so that Ctrl-C waits for no host.
    """
    answers: SimpleQueue[tuple[int, HostReport | Exception]] = SimpleQueue()

    def ask(place: int, host: Host) -> None:
        try:
            answers.put((place, report_on(host.name, host.connect, seconds)))
        except Exception as error:  # noqa: BLE001 - raised again where the answer is awaited
            answers.put((place, error))

    for place, host in enumerate(hosts):
        Thread(target=ask, args=(place, host), daemon=True).start()
    end = time.monotonic() + FIRST_SECONDS
    early: dict[int, HostReport] = {}
    with suppress(Empty):
        while len(early) < len(hosts):
            place, answer = answers.get(timeout=max(0.0, end - time.monotonic()))
            early[place] = _report(answer)
    yield from (early[place] for place in sorted(early))
    for _ in range(len(hosts) - len(early)):
        yield _report(answers.get()[1])


def _report(answer: HostReport | Exception) -> HostReport:
    if isinstance(answer, Exception):
        raise answer
    return answer
