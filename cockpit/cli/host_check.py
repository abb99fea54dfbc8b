"""`cockpit hosts check`: print what each host has and lacks."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cockpit.cli.doctor_finding import Finding
from cockpit.cli.host_checks import HostReport
from cockpit.cli.host_reports import reports
from cockpit.cli.output import json_text
from cockpit.core.safetext import safe_line

if TYPE_CHECKING:
    from cockpit.config.hooks import Host

_MARKS = {"fit": "ok  ", "note": "note", "unfit": "BAD "}


def check_hosts(hosts: Sequence[Host], seconds: float, *, as_json: bool) -> int:
    """Check the hosts at the same time; return 1 if any host has a serious problem, else 0."""
    findings = {
        report.name: report.findings() for report in _shown(hosts, seconds, as_json=as_json)
    }
    if as_json:
        checked = [
            {
                "host": host.name,
                "fit": is_fit(findings[host.name]),
                "findings": [dataclasses.asdict(finding) for finding in findings[host.name]],
            }
            for host in hosts
        ]
        print(json_text(checked))
    return 0 if all(map(is_fit, findings.values())) else 1


def is_fit(findings: Sequence[Finding]) -> bool:
    """Return whether no finding is a serious problem."""
    return all(finding.level != "unfit" for finding in findings)


def finding_lines(finding: Finding) -> list[str]:
    """Format a finding as `cockpit doctor` does."""
    lines = [f"{_MARKS[finding.level]}  {finding.topic:<12} {safe_line(finding.said, 1000)}"]
    if finding.remedy:
        lines.append(f"{'':<19}-> {safe_line(finding.remedy, 8000)}")
    return lines


def _shown(hosts: Sequence[Host], seconds: float, *, as_json: bool) -> Iterator[HostReport]:
    """Check the hosts and yield each host's report; unless `as_json`, print each report first."""
    for number, report in enumerate(reports(hosts, seconds)):
        if not as_json:
            print(f"\n{report.name}:" if number else f"{report.name}:")
            for finding in report.findings():
                print("\n".join(f"  {line}" for line in finding_lines(finding)), flush=True)
        yield report
