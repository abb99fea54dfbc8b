"""Ask all hosts at the same time. A host that does not answer does not delay the others."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from queue import Empty
from typing import TYPE_CHECKING

from cockpit.cli.host_checks import HostReport
from cockpit.cli.side_by_side import SideBySide
from cockpit.core.errors import CockpitError

if TYPE_CHECKING:
    from cockpit.config.hooks import Host

FIRST_SECONDS = 2.0
"""Answers within this many seconds are shown in the order of the configuration."""


def report_on(
    name: str, connect: Sequence[str], seconds: float, *, configured: bool = True
) -> HostReport:
    """Ask one host, and return its report.

    If this machine cannot run `connect`, the report has the error; nothing is raised.
    """
    from cockpit.adapters.host_setup.probe import probe
    from cockpit.adapters.host_setup.remote_script import ScriptAnswer

    try:
        answer = probe(connect, seconds)
    except CockpitError as error:
        answer = ScriptAnswer(errors=(error.title,))
    return HostReport(name, tuple(connect), answer, seconds, configured)


def reports(hosts: Sequence[Host], seconds: float) -> Iterator[HostReport]:
    """Ask all hosts at the same time, and yield a report for each.

    Yields the answers of the first `FIRST_SECONDS` in the order of `hosts`, and later answers as
    they arrive.
    """
    answers = SideBySide([partial(report_on, host.name, host.connect, seconds) for host in hosts])
    end = time.monotonic() + FIRST_SECONDS
    early: dict[int, HostReport] = {}
    with suppress(Empty):
        while len(early) < len(hosts):
            place, report = answers.next(max(0.0, end - time.monotonic()))
            early[place] = report
    yield from (early[place] for place in sorted(early))
    for _ in range(len(hosts) - len(early)):
        yield answers.next()[1]
