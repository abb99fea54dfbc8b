"""`cockpit hosts add` and `install`: check a machine, set it up, and configure it."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from cockpit.cli.host_check import finding_lines
from cockpit.cli.host_checks import HostReport
from cockpit.cli.host_reports import report_on
from cockpit.cli.output import say
from cockpit.cli.places import our_places
from cockpit.core.errors import BadConfig, BadUsage, Failed, NoSupervisor, ProgramMissing
from cockpit.core.host_connect import attach_vector, is_ssh, with_path
from cockpit.core.plurals import counted
from cockpit.core.safetext import quoted, safe_line

if TYPE_CHECKING:
    from cockpit.config.hooks import Host

NO_SUPERVISOR = 4


@dataclass(frozen=True, slots=True)
class HostOptions:
    """The options of `cockpit hosts add` or `cockpit hosts install`."""

    install: bool = False
    service: bool = False
    yes: bool = False
    seconds: float = 10.0
    """Maximum seconds to wait for the host's answer."""


def add_checked(name: str, connect: Sequence[str], wishes: HostOptions, config: Path | None) -> int:
    """Check a machine, write it into the configuration and start its supervisor.

    The configuration is not written before all checks pass. Raises `BadUsage` for an invalid name
    or command, `BadConfig` for a name that is taken, `NoSupervisor` if the machine is not
    reachable, `ProgramMissing` if another check fails, and the errors of `install_there`. After the
    configuration is written, raises `NoSupervisor` if the supervisor does not start, and `Failed`
    if its service cannot be installed.
    """
    from cockpit.config.host_entries import add_host, host_name
    from cockpit.config.write import check_writable

    places, path = our_places(), config or our_places().user_file
    _check_free(host_name(name), config)
    check_writable(path)
    report = _first_look(name, _local_vector(name, connect), wishes)
    report = _with_cockpit(report, wishes)
    _check_complete(report)
    host = _host(name, report.connect)
    add_host(places, path, host)
    say(f"Added {name} to {safe_line(str(path), 400)}: connect = {shlex.join(host.connect)}")
    _start(report, wishes)
    print(_final_line(name, host, wishes.seconds), flush=True)
    say(f"Start an agent on {name}: cockpit start NAME --host {name} --directory /path/on/{name}")
    return 0


def install_on(name: str, connect: Sequence[str], wishes: HostOptions) -> int:
    """Install this version on a configured host, and restart its supervisor if one is running.

    Raises `NoSupervisor` if the host is not reachable, `NotNow` if the host has a newer version,
    `Failed` if the restart fails or it is unknown whether a supervisor runs, and the errors of
    `install_there` and `check_version`.
    """
    from cockpit.adapters.host_setup.installation import run_command
    from cockpit.cli.host_install import (
        check_version,
        install_there,
        is_needed,
        refuse_downgrade,
    )

    report = report_on(name, connect, wishes.seconds)
    if not report.reachable:
        raise _unreachable(report, f"Cannot install cockpit on {name}")
    refuse_downgrade(report)
    if not is_needed(report.facts):
        say(f"Reinstalling cockpit: {name} already has this version")
    install_there(report, yes=wishes.yes)
    report = report_on(name, connect, wishes.seconds)
    check_version(report)
    _say_findings(report, ("cockpit", "path"))
    cockpit = report.facts.program("cockpit")
    assert cockpit is not None  # else `check_version` has raised
    if report.facts.status_code == NO_SUPERVISOR:
        say(f"No supervisor is running on {name}. Start one: cockpit up --host {name}")
        return 0
    if report.facts.supervisor is None:
        raise Failed(
            f"cockpit was installed on {name}, but its supervisor was not restarted",
            f"{_status_problem(report)}, so the supervisor's state is unknown.",
            f"Restart the supervisor; agents keep running: cockpit restart --host {name}",
        )
    code, lines = run_command(name, connect, cockpit.path, "restart")
    if code:
        raise Failed(
            f"cockpit was installed on {name}, but its supervisor did not restart",
            "\n".join(line[:300] for line in lines[-4:]),
            f"Restart the supervisor; agents keep running: cockpit restart --host {name}",
        )
    say(f"Restarted the supervisor on {name}; agents keep running")
    return 0


def _status_problem(report: HostReport) -> str:
    code = report.facts.status_code
    if code is None:
        return f"`cockpit status` on {report.name} did not answer"
    if code:
        return f"`cockpit status` on {report.name} exited with code {code}"
    return f"The output of `cockpit status` on {report.name} cannot be read"


def _check_free(name: str, config: Path | None) -> None:
    from cockpit.config.read import load

    settings = load(our_places(), config, Path.cwd(), os.environ).settings
    if any(host.name == name for host in settings.hosts):
        raise BadConfig(
            f"A host named {name} is already configured",
            hint=f"Choose another name, or remove {name} first: cockpit hosts remove {name}",
        )


def _local_vector(name: str, connect: Sequence[str]) -> tuple[str, ...]:
    """Return the command to connect; a relative path of its program becomes absolute.

    Raises `BadUsage` for an argument with control characters or more than 4096 characters, and
    `ProgramMissing` if this machine does not have the program.
    """
    for word in connect:
        if not word.isprintable() or len(word) > 4096:
            raise BadUsage(
                f"{quoted(word, 60)} cannot be part of the command to connect",
                hint="Each word must be one line of at most 4096 characters, and without control "
                "characters.",
            )
    program = connect[0]
    if shutil.which(program) is None:
        raise ProgramMissing(
            f"Cannot run {quoted(program)} on this machine",
            "The words after the host's name must be a command that connects to the host.",
            f"If {quoted(program)} is the name of a machine: "
            f"cockpit hosts add {name} ssh {shlex.quote(program)}",
        )
    return (os.path.abspath(program) if "/" in program else program, *connect[1:])  # noqa: PTH100


def _first_look(name: str, connect: tuple[str, ...], wishes: HostOptions) -> HostReport:
    say(f"Connecting to {name}: {shlex.join(connect)}")
    report = report_on(name, connect, wishes.seconds, configured=False)
    if not report.reachable:
        raise _unreachable(report, f"{name} was not added: it is not reachable")
    report = _found_outside_of_path(report, wishes.seconds)
    _say_findings(report)
    return report


def _found_outside_of_path(report: HostReport, seconds: float) -> HostReport:
    """If the host's non-login shell does not find all programs, extend its `PATH` and check again.

    The `PATH` is set in the report's `connect` command. Returns the report of the second check, or
    `report` if `connect` needs no change or cannot be changed.
    """
    changed = with_path(report.connect, report.facts)
    if changed is None:
        return report
    say(
        "Some programs are not on the PATH of the host's non-login shell; adding their folders to "
        "`connect`."
    )
    return report_on(report.name, changed, seconds, configured=report.configured)


def _with_cockpit(report: HostReport, wishes: HostOptions) -> HostReport:
    """Install cockpit if the user asked for it, and the host has none or an older version.

    Returns a new report after an installation, else the given report.
    """
    from cockpit.cli.host_install import check_version, install_there, is_needed

    if not wishes.install or not is_needed(report.facts):
        return report
    install_there(report, yes=wishes.yes)
    again = report_on(report.name, report.connect, wishes.seconds, configured=False)
    again = _found_outside_of_path(again, wishes.seconds)
    check_version(again)
    _say_findings(again, ("cockpit", "path"))
    return again


def _check_complete(report: HostReport) -> None:
    missing = [finding for finding in report.findings() if finding.level == "unfit"]
    if not missing:
        return
    hint = "Do the steps above, then run the command again."
    if [finding.topic for finding in missing] == ["cockpit"]:
        hint = missing[0].remedy
    topics = ", ".join(finding.topic for finding in missing)
    raise ProgramMissing(
        f"{report.name} was not added: {counted(len(missing), 'check')} failed ({topics})",
        "\n".join(f"{finding.topic}: {finding.said}" for finding in missing),
        hint,
    )


def _host(name: str, connect: Sequence[str]) -> Host:
    from cockpit.config.hooks import Host

    attach = attach_vector(connect)
    if not attach:
        return Host(name=name, connect=tuple(connect))
    return Host(name=name, connect=tuple(connect), attach=attach)


def _start(report: HostReport, wishes: HostOptions) -> None:
    """Install the service on the host if the user asked for it, and make sure a supervisor runs.

    Raises `NoSupervisor` if the supervisor does not start, else `Failed` if the service was not
    installed.
    """
    name = report.name
    refused: list[str] = []
    if wishes.service:
        code, lines = _run_there(report, "service", "install")
        for line in lines if not code else ():
            say(f"{name}: {line[:300]}")
        refused = [line[:300] for line in lines[-4:]] if code else []
    code, lines = _run_there(report, "up")
    if code:
        raise NoSupervisor(
            f"{name} was added, but its supervisor did not start",
            "\n".join(line[:300] for line in lines[-4:]),
            f"Start the supervisor: cockpit up --host {name}",
        )
    say(f"The supervisor is running on {name}")
    if refused:
        raise Failed(
            f"{name} was added, but its service was not installed",
            "\n".join(refused),
            f"To try again: cockpit service install --host {name}",
        )


def _run_there(report: HostReport, *words: str) -> tuple[int, list[str]]:
    """Run a command of cockpit on the host; return its exit code and output lines.

    If the connection is lost meanwhile, returns `NO_SUPERVISOR` and the error.
    """
    from cockpit.adapters.host_setup.installation import run_command

    try:
        return run_command(report.name, report.connect, "cockpit", *words)
    except NoSupervisor as error:
        return NO_SUPERVISOR, [error.title, error.detail]


def _final_line(name: str, host: Host, seconds: float) -> str:
    from cockpit.cli.host_list import host_lines

    lines = host_lines(report_on(name, host.connect, seconds), len(name), datetime.now(UTC))
    return "\n".join(lines)


def _say_findings(report: HostReport, topics: Sequence[str] = ()) -> None:
    for finding in report.findings():
        if not topics or finding.topic in topics:
            say("\n".join(f"  {line}" for line in finding_lines(finding)))


def _unreachable(report: HostReport, title: str) -> NoSupervisor:
    (problem,) = report.findings()
    detail = problem.said
    if is_ssh(report.connect) and report.answer.noise:
        detail += f"\nThe connection also printed {quoted(report.answer.noise)}."
    return NoSupervisor(title, detail, problem.remedy)
