"""`cockpit doctor`: check the machine and the cockpit installation."""

from __future__ import annotations

import dataclasses
import os
import shutil
import sys
import textwrap
from pathlib import Path

import click

from cockpit.cli.doctor_finding import Finding
from cockpit.cli.options import common_options, with_common_options
from cockpit.cli.output import json_text

_MARKS = {"fit": "ok  ", "note": "note", "unfit": "BAD "}
_INDENT = 19
"""Column at which a finding's text begins."""


@click.command(
    epilog="""\b
Examples:
  cockpit doctor           print every check; exit 1 if a problem is serious
  cockpit doctor --json"""
)
@with_common_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def doctor(as_json: bool) -> int:
    """Check that required tools are installed.

    Also checks disk space, folders, configuration, supervisor and tmux server. Prints the fix below
    each problem.
    """
    from cockpit.cli.doctor_machine import check_machine
    from cockpit.cli.doctor_setup import agents_environment, check_setup
    from cockpit.cli.requests import remote_host

    if host := remote_host():
        from cockpit.cli.hosts import exec_remote

        exec_remote(host.command("doctor", *(["--json"] if as_json else [])))
    findings = [
        *check_machine(
            os.environ, Path.cwd(), agents_environment(os.environ, common_options().config)
        ),
        *check_setup(os.environ, common_options().config),
    ]
    is_fit = all(finding.level != "unfit" for finding in findings)
    if as_json:
        report = {"fit": is_fit, "findings": [dataclasses.asdict(finding) for finding in findings]}
        print(json_text(report))
    else:
        for finding in findings:
            _print(finding)
    return 0 if is_fit else 1


def _print(finding: Finding) -> None:
    print(_wrapped(f"{_MARKS[finding.level]}  {finding.topic:<{_INDENT - 7}} ", finding.said))
    if finding.remedy:
        print(_wrapped(f"{'':<{_INDENT}}-> ", finding.remedy))


def _wrapped(start: str, text: str) -> str:
    """Return `start` and the text; on a terminal, wrapped between words to its width."""
    if not sys.stdout.isatty():
        return start + text
    width = max(2 * len(start), shutil.get_terminal_size().columns)
    lines = [
        line
        for part in text.splitlines()
        for line in textwrap.wrap(
            part, width - len(start), break_long_words=False, break_on_hyphens=False
        )
    ]
    return start + f"\n{'':<{len(start)}}".join(lines)
