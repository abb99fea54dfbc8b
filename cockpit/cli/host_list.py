"""`cockpit hosts`: print the state of each host, as lines or as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from cockpit.cli.host_checks import NO_SUPERVISOR, HostReport, milliseconds
from cockpit.cli.host_reports import reports
from cockpit.cli.output import json_text
from cockpit.cli.places import our_places
from cockpit.client.raw_request import fetch
from cockpit.core.errors import CockpitError
from cockpit.core.far_names import LOCAL
from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line
from cockpit.core.timestamps import moment

if TYPE_CHECKING:
    from cockpit.config.hooks import Host

WORDS = {
    "up": "up",
    "no_supervisor": "no supervisor",
    "no_cockpit": "no cockpit",
    "failing": "failing",
    "unreachable": "unreachable",
}


def print_hosts(hosts: Sequence[Host], seconds: float, *, as_json: bool) -> None:
    """Ask all hosts for their state. Print one or more lines per host, or one JSON list."""
    names = _this_supervisor() if hosts else {}
    if as_json:
        order = {host.name: place for place, host in enumerate(hosts)}
        sorted_reports = sorted(reports(hosts, seconds), key=lambda report: order[report.name])
        objects = [host_object(report, _same_as(report, names)) for report in sorted_reports]
        print(json_text(objects))
        return
    width = max((len(host.name) for host in hosts), default=0)
    for report in reports(hosts, seconds):
        for line in host_lines(report, width, datetime.now(UTC), _same_as(report, names)):
            print(line, flush=True)


def _this_supervisor() -> dict[str, str]:
    """Return a map from the id of this machine's supervisor to `local`; empty if unknown."""
    try:
        status = json.loads(fetch(our_places().socket, "/v1/status"))
    except CockpitError:
        return {}
    instance = status["supervisor"].get("instance")
    return {instance: LOCAL} if instance else {}


def _same_as(report: HostReport, names: dict[str, str]) -> str | None:
    """Return the host that reported the same supervisor earlier; None if there is none.

    `names` maps the id of each supervisor to the first host with that supervisor. If the report's
    supervisor is not in `names`, adds it.
    """
    supervisor = report.facts.supervisor
    if supervisor is None or not supervisor.instance:
        return None
    first = names.setdefault(supervisor.instance, report.name)
    return None if first == report.name else first


def state(report: HostReport) -> str:
    """Return the state of a host, a key of `WORDS`."""
    facts = report.facts
    if not report.reachable:
        return "unreachable"
    if facts.supervisor is not None:
        return "up"
    if facts.program("cockpit") is None and report.answer.complete:
        return "no_cockpit"
    return "no_supervisor" if facts.status_code == NO_SUPERVISOR else "failing"


def host_object(report: HostReport, same_as: str | None = None) -> dict[str, Any]:
    """Return a host as JSON; an unknown value is null.

    `same_as` is the name of another host with the same supervisor; None if there is none.
    """
    facts, host_state = report.facts, state(report)
    cockpit, supervisor = facts.program("cockpit"), facts.supervisor
    problem = _problem(report)
    return {
        "name": report.name,
        "state": host_state,
        "reason": problem[0] if problem else None,
        "next_step": problem[1] if problem else None,
        "version": (cockpit.version or None) if cockpit else None,
        "supervisor": None
        if supervisor is None
        else {
            "version": supervisor.version or None,
            "started_at": supervisor.started_at or None,
        },
        "round_trip_seconds": _rounded(report.answer.round_trip),
        "agents": None
        if supervisor is None
        else {
            "total": supervisor.total,
            "running": supervisor.running,
            "by_state": dict(supervisor.agents),
        },
        "same_as": same_as,
        "load": facts.load,
        "cores": facts.cores,
    }


def host_lines(
    report: HostReport, width: int, now: datetime, same_as: str | None = None
) -> list[str]:
    """Format a host in one line; a problem adds lines with the reason and the next step.

    `same_as` is the name of another host with the same supervisor; None if there is none.
    """
    facts, host_state = report.facts, state(report)
    head = f"{report.name:<{width}}  {WORDS[host_state]:<13}"
    if not report.reachable:
        reason, step = _problem(report) or ("", "")
        return [f"{head}  {safe_line(reason, 300)}", f"{'':<{width}}  -> {step}"]
    cockpit = facts.program("cockpit")
    trip = report.answer.round_trip
    cells = [
        (cockpit.version if cockpit else "") or "-",
        "-" if trip is None else milliseconds(trip),
    ]
    text = f"{head}  {cells[0]:<8} {cells[1]:>7}  {'  '.join(_rest(report, now))}".rstrip()
    problem = _problem(report)
    if same_as is not None and problem is None:
        same = (
            "this machine's supervisor" if same_as == LOCAL else f"the same supervisor as {same_as}"
        )
        problem = (
            same,
            f"{report.name} is {same}. To remove {report.name}: cockpit hosts remove {report.name}",
        )
    if problem is None:
        return [text]
    # For every other state, the word for the state is reason enough.
    why = [f"{'':<{width}}  {safe_line(problem[0], 300)}"] if host_state == "failing" else []
    return [text, *why, f"{'':<{width}}  -> {problem[1]}"]


def _rest(report: HostReport, now: datetime) -> list[str]:
    facts = report.facts
    notes = []
    if facts.supervisor is not None:
        agents = facts.supervisor.agents
        waiting = agents.get("needs_you", 0)
        total = facts.supervisor.total
        counts = f"{facts.supervisor.running} of {counted(total, 'agent')} running"
        text = counts if total else "no agents"
        notes.append(text + (f", {waiting} waiting for you" if waiting else ""))
    if facts.load is not None:
        cores = f" on {counted(facts.cores, 'core')}" if facts.cores else ""
        notes.append(f"load {facts.load:.1f}{cores}")
    if facts.supervisor is not None and (since := _duration(facts.supervisor.started_at, now)):
        notes.append(f"for {since}")
    return notes


def _problem(report: HostReport) -> tuple[str, str] | None:
    """Return why a host is not up and the next step; None if it is up."""
    if state(report) == "up":
        return None
    topics = ("reachable", "key", "checks", "cockpit", "path", "supervisor")
    findings = [finding for finding in report.findings() if finding.topic in topics]
    problems = [finding for finding in findings if finding.level != "fit"]
    serious = [finding for finding in problems if finding.level == "unfit"]
    if problems:
        finding = serious[0] if serious else problems[-1]
        return finding.said, finding.remedy
    return "The host's state is unknown", f"To see why: cockpit hosts check {report.name}"


def _duration(started_at: str, now: datetime) -> str:
    """Return the time since `started_at`, such as `3h`.

    Empty if the start is unknown, or in the future because the clocks differ.
    """
    at = moment(started_at)
    seconds = -1 if at is None else int((now - at).total_seconds())
    if seconds < 0:
        return ""
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 4)
