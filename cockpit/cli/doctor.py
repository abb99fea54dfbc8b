"""`cockpit doctor`: check this machine and this cockpit installation."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path

import click

from cockpit.cli.finding import Finding
from cockpit.cli.options import asked, everywhere

_MARKS = {"fit": "ok  ", "note": "note", "unfit": "BAD "}


@click.command(
    epilog="""\b
Examples:
  cockpit doctor           print each problem with its fix; exit 1 if one is serious
  cockpit doctor --json"""
)
@everywhere
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def doctor(as_json: bool) -> int:
    """Check that required tools are installed.

    Also checks folders, configuration, supervisor and tmux server. Prints each problem on a line,
    with its fix below.
    """
    from cockpit.cli.asking import far_host
    from cockpit.cli.machine import examine_machine
    from cockpit.cli.premises import agents_environment, examine_premises

    if host := far_host():
        from cockpit.cli.hosts import become_there

        become_there(host.command("doctor", *(["--json"] if as_json else [])))
    findings = [
        *examine_machine(os.environ, Path.cwd(), agents_environment(os.environ, asked().config)),
        *examine_premises(os.environ, asked().config),
    ]
    is_fit = all(finding.level != "unfit" for finding in findings)
    if as_json:
        report = {"fit": is_fit, "findings": [dataclasses.asdict(one) for one in findings]}
        print(json.dumps(report, indent=2, ensure_ascii=False))
    else:
        for finding in findings:
            _print(finding)
    return 0 if is_fit else 1


def _print(finding: Finding) -> None:
    print(f"{_MARKS[finding.level]}  {finding.topic:<12} {finding.said}")
    if finding.remedy:
        print(f"{'':<19}-> {finding.remedy}")
