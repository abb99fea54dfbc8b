"""Report what another machine has and lacks, with the next step for each problem.

Reads the answer of `host_setup/probe.sh`; sends no requests. The findings are in the order in
which a user would meet the problems.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cockpit import __version__
from cockpit.adapters.tmux.command import NEWER_SOURCES, new_enough
from cockpit.cli.doctor_finding import Finding, fit, note, unfit
from cockpit.config.paths import Places
from cockpit.core.host_connect import (
    forwards_input,
    is_container,
    is_ssh,
    typed,
    with_path,
)
from cockpit.core.host_facts import HostFacts, Program, host_facts, new_enough_python
from cockpit.core.safetext import quoted, safe_line

if TYPE_CHECKING:
    from cockpit.adapters.host_setup.remote_script import ScriptAnswer

NO_SUPERVISOR = 4
LINUX_SOCKET_BYTES, OTHER_SOCKET_BYTES = 107, 103
_SUBCOMMANDS = {"pacman": ("-S",), "apk": ("add",)}
_PYTHON = {"apt-get": ("python3", "python3-venv"), "brew": ("python",), "pacman": ("python",)}


@dataclass(frozen=True, slots=True)
class HostReport:
    """The result of one check of a host."""

    name: str
    connect: tuple[str, ...]
    answer: ScriptAnswer
    seconds: float
    """The time limit of the check, in seconds."""
    configured: bool = True
    """Whether the host is in the configuration, so that `--host` accepts its name."""

    @property
    def facts(self) -> HostFacts:
        return host_facts(self.answer.lines)

    @property
    def reachable(self) -> bool:
        return self.answer.started

    def findings(self) -> list[Finding]:
        """Return the findings in the order in which a user would meet the problems.

        If the host is unreachable, returns only the finding about the connection.
        """
        if not self.answer.started:
            return [connection_problem(self)]
        return [*_connected(self), *_tools(self), *_cockpit(self), *_session(self)]


def connection_problem(report: HostReport) -> Finding:
    """Return a finding with the reason why the host is unreachable, and the next step."""
    connect, answer = report.connect, report.answer
    errors = " ".join(answer.errors)
    by_hand = typed(connect, "true")
    if answer.timed_out:
        text = f"No answer within {report.seconds:g} s"
        return unfit("reachable", f"{text}. {errors}".rstrip(". "), f"Try to connect: {by_hand}")
    if answer.cut_off:
        text = "The host sent more than 2 MB before an answer; cockpit closed the connection"
        return unfit("reachable", text, f"See the output: {by_hand}")
    if is_ssh(connect) and (problem := _ssh_problem(connect, errors)):
        return problem
    if answer.code == 0 and is_container(connect) and not forwards_input(connect):
        text = f"{quoted(connect[0])} does not pass on standard input without -i"
        at = connect.index("exec") + 1 if "exec" in connect else 1
        command = shlex.join([*connect[:at], "-i", *connect[at:]])
        return unfit("reachable", text, f"Add -i: {command}")
    text = errors or (
        f"The host printed {quoted(answer.noise)}, but no answer" if answer.noise else ""
    )
    ended = "was ended" if answer.code is None else f"exited with code {answer.code}"
    return unfit(
        "reachable",
        text or f"{safe_line(connect[0])} {ended} without an answer",
        f"Try to connect: {by_hand}",
    )


def _ssh_problem(connect: Sequence[str], errors: str) -> Finding | None:
    once = typed(connect, "true")
    if "has changed" in errors and "host key" in errors.lower():
        remedy = (
            "If the machine was reinstalled, remove its old key (ssh-keygen -R HOST), then "
            f"compare and accept the new key: {once}"
        )
        return unfit("key", f"The host's key has changed. {errors}", remedy)
    if "Host key verification failed" in errors or "host key is known" in errors:
        text = "This machine does not know the host's key yet"
        return unfit("key", text, f"Compare the key's fingerprint, and accept the key once: {once}")
    if "Permission denied" in errors or "Too many authentication failures" in errors:
        copy = f"ssh-copy-id {shlex.quote(connect[1])}" if len(connect) == 2 else "ssh-copy-id"
        remedy = (
            f"Copy your key to the host: {copy}. If the key has a passphrase, load the key first: "
            "ssh-add"
        )
        return unfit("key", f"The host refused to log in without a password. {errors}", remedy)
    return None


def _connected(report: HostReport) -> Iterator[Finding]:
    trip = report.answer.round_trip
    yield fit("reachable", "connected" if trip is None else f"round trip {milliseconds(trip)}")
    if is_ssh(report.connect):
        yield fit("key", "accepted without a prompt")
    if not report.answer.complete:
        by_hand = typed(report.connect, "cockpit", "doctor")
        if report.answer.timed_out:
            text = f"Not all checks ended within {report.seconds:g} s"
        else:
            text = "The connection closed before all checks had ended"
        yield unfit("checks", text, f"Check the host: {by_hand}")


def _tools(report: HostReport) -> Iterator[Finding]:
    facts = report.facts
    yield from _python(report, facts)
    tmux, git = facts.program("tmux"), facts.program("git")
    if tmux is None:
        yield unfit("tmux", "Not found", install_command(report, "tmux"))
    elif not new_enough(tmux.version):
        text = f"{tmux.version or 'Unknown version'}; cockpit needs 3.3a or later"
        remedy = f"Install a newer tmux on the host: {NEWER_SOURCES}"
        if facts.package_manager == "brew":  # others have only the distribution's version
            upgrade = typed(report.connect, "brew", "upgrade", "tmux", terminal=True)
            remedy = f"Upgrade tmux: {upgrade}"
        yield unfit("tmux", text, remedy)
    else:
        yield fit("tmux", _where(tmux))
    if git is None:
        yield unfit("git", "Not found", install_command(report, "git"))
    else:
        yield fit("git", _where(git))


def _python(report: HostReport, facts: HostFacts) -> Iterator[Finding]:
    python, cockpit = facts.program("python"), facts.program("cockpit")
    if python is not None and new_enough_python(python.version):
        yield fit("python", _where(python))
    elif cockpit is not None and cockpit.version:
        yield fit("python", "cockpit uses its own Python on the host")
    elif facts.program("uv") is not None:
        yield fit("python", "uv can install Python")
    else:
        text = "Not found" if python is None else f"{python.version}; cockpit needs 3.11 or later"
        packages = _PYTHON.get(facts.package_manager, ("python3",))
        yield unfit("python", text, install_command(report, *packages))


def _cockpit(report: HostReport) -> Iterator[Finding]:
    facts = report.facts
    program = facts.program("cockpit")
    if program is None:
        remedy = f"Install cockpit on the host: {_install(report)}"
        if facts.uid == 0:
            remedy = (
                "Connect as an ordinary user, or install cockpit on the host yourself, with uv or "
                "pip."
            )
        yield unfit("cockpit", "Not found", remedy)
        return
    if not program.version:
        by_hand = typed(report.connect, program.path, "--version")
        yield unfit("cockpit", f"{program.path} prints no version", f"See the output: {by_hand}")
    elif program.version == __version__:
        yield fit("cockpit", _where(program))
    elif numbers(program.version) > numbers(__version__):
        text = f"The host has {program.version}; this machine has {__version__}"
        yield note("cockpit", text, "Upgrade cockpit on this machine.")
    else:
        text = f"The host has {program.version}; this machine has {__version__}"
        yield note(
            "cockpit", text, f"Upgrade the host's cockpit; agents keep running: {_install(report)}"
        )
    yield _path(report, facts)


def _path(report: HostReport, facts: HostFacts) -> Finding:
    """Check that a non-login shell finds all programs."""
    hidden = [
        program for name in ("cockpit", "tmux", "git")
        if (program := facts.program(name)) and not program.on_path
    ]  # fmt: skip
    if not hidden:
        return fit("path", "a non-login shell finds every program")
    places = ", ".join(program.path for program in hidden)
    text = f"Not in the PATH of a non-login shell: {places}"
    changed = with_path(report.connect, facts)
    if changed is None:
        return unfit(
            "path",
            text,
            "Set PATH in a file that every shell on the host reads, or link the programs into "
            "a folder of that PATH.",
        )
    folders = ", ".join(f'"{safe_line(word, 4096)}"' for word in changed)
    return unfit("path", text, f"In cockpit.toml, set: connect = [{folders}]")


def _session(report: HostReport) -> Iterator[Finding]:
    facts = report.facts
    yield from _sockets(facts)
    if facts.linger is False:
        command = typed(report.connect, "loginctl", "enable-linger")
        text = "Processes may end, and sockets may be removed, when you log out of the host"
        yield note("linger", text, f"Keep processes running after a logout: {command}")
    elif facts.linger:
        yield fit("linger", "processes keep running after a logout")
    if facts.uid == 0:
        remedy = "Connect as an ordinary user if you can: agents run with that user's permissions."
        yield note("user", "Commands on the host run as root", remedy)
    yield from _supervisor(report, facts)


def _sockets(facts: HostFacts) -> Iterator[Finding]:
    if "HOME" not in facts.folders:
        return
    places = Places.of(facts.folders)
    longest = max((places.socket, places.tmux_socket), key=lambda path: len(os.fsencode(path)))
    length = len(os.fsencode(longest))
    most = LINUX_SOCKET_BYTES if facts.system == "Linux" else OTHER_SOCKET_BYTES
    if length > most:
        text = f"Socket paths are {length} bytes long; the limit is {most}: {longest}"
        yield unfit("sockets", text, f"Shorten {places.runtime_from} on the host.")
    else:
        yield fit("sockets", f"{longest.parent} ({length} of {most} bytes)")


def _supervisor(report: HostReport, facts: HostFacts) -> Iterator[Finding]:
    name, cockpit = report.name, facts.program("cockpit")
    if cockpit is None or facts.status_code is None or not report.configured:
        return
    if facts.status_code == NO_SUPERVISOR:
        yield note("supervisor", "Not running", f"Start the supervisor: cockpit up --host {name}")
    elif facts.supervisor is None:
        text = f"`cockpit status` on the host exited with code {facts.status_code}"
        yield unfit(
            "supervisor", text, f"To check the host: {typed(report.connect, 'cockpit', 'doctor')}"
        )
    elif facts.supervisor.version not in ("", cockpit.version):
        text = f"Runs version {facts.supervisor.version}; installed is {cockpit.version}"
        remedy = f"Restart the supervisor; agents keep running: cockpit restart --host {name}"
        yield note("supervisor", text, remedy)
    else:
        yield fit("supervisor", f"running, {facts.supervisor.running} of "
                  f"{facts.supervisor.total} agents")  # fmt: skip


def install_command(report: HostReport, *packages: str) -> str:
    """Return the command that installs packages on the host.

    If the host's package manager is unknown, returns a sentence that names the packages.
    """
    facts = report.facts
    if not facts.package_manager:
        return f"Install {' and '.join(packages)} on the host."
    verb = _SUBCOMMANDS.get(facts.package_manager, ("install",))
    command = [facts.package_manager, *verb, *packages]
    if facts.uid != 0 and facts.package_manager != "brew":
        command = ["sudo", *command]
    return typed(report.connect, *command, terminal=True)


def _install(report: HostReport) -> str:
    if report.configured:
        return f"cockpit hosts install {report.name}"
    return f"cockpit hosts add --install {report.name} {shlex.join(report.connect)}"


def _where(program: Program) -> str:
    return f"{program.version or 'version unknown'} ({program.path})"


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds >= 0.001 else "<1 ms"


def numbers(version: str) -> tuple[int, ...]:
    """Return the first three numbers of a version, for comparison."""
    parts = version.split("+")[0].split(".")
    return tuple(int(part) for part in parts[:3] if part.isdecimal())
