"""Install or upgrade cockpit on another machine, after asking."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from cockpit import __version__
from cockpit.cli.host_checks import HostReport, numbers
from cockpit.core.errors import Failed, NotNow, ProgramMissing
from cockpit.core.host_facts import HostFacts, new_enough_python

if TYPE_CHECKING:
    from cockpit.adapters.host_setup.installation import Installer


def install_there(report: HostReport, *, yes: bool) -> None:
    """Install this version of cockpit on a host, after showing the commands and asking.

    Raises `NotNow` if the user does not agree, `Failed` if the installation fails, and the errors
    of `installer_for`.
    """
    from cockpit.adapters.host_setup.installation import install_wheel
    from cockpit.adapters.host_setup.wheel import own_wheel
    from cockpit.cli.output import say

    installer = installer_for(report)
    wheel = own_wheel()
    size = len(wheel.data) / 1e6
    say(f"This sends {wheel.name} ({size:.1f} MB) to {report.name}, and runs there:")
    for command in installer.shown_commands(wheel.name):
        say(f"  {command}")
    say(f"{report.name} downloads the libraries that cockpit needs. Nothing runs as root.")
    _ask(f"Install cockpit {__version__} on {report.name}?", yes=yes)

    def step(command: str) -> None:
        say(f"{report.name}: {command[:200]}")

    install_wheel(report.name, report.connect, installer, wheel, step)
    say(f"Installed cockpit {__version__} on {report.name}")


def installer_for(report: HostReport) -> Installer:
    """Return an installer that uses uv, else a Python that can create environments.

    Raises `NotNow` if commands on the host run as root or an unknown user, and `ProgramMissing` if
    the host has neither uv nor such a Python.
    """
    from cockpit.adapters.host_setup.installation import Installer
    from cockpit.cli.host_checks import install_command

    facts = report.facts
    if facts.uid is None or facts.uid == 0:
        user = "root" if facts.uid == 0 else "an unknown user"
        raise NotNow(
            f"Cannot install cockpit as {user} on {report.name}",
            f"Commands on the host run as {facts.user or 'an unknown user'}."
            " This command only installs into the home folder of an ordinary user.",
            "Connect as an ordinary user, or install cockpit on the host yourself.",
        )
    if uv := facts.program("uv"):
        return Installer("uv", uv.path)
    python = facts.program("python")
    if python is None or not new_enough_python(python.version):
        raise ProgramMissing(
            f"{report.name} has neither uv nor Python 3.11 or later",
            "cockpit is installed with uv, or with Python's pip.",
            install_command(report, "python3", "python3-venv")
            if facts.package_manager == "apt-get"
            else "Install uv, or Python 3.11 or later, on the host.",
        )
    if not facts.python_venv:
        raise ProgramMissing(
            f"{python.path} on {report.name} cannot create an environment",
            "The Python module venv or ensurepip is missing on the host.",
            install_command(report, "python3-venv"),
        )
    return Installer("venv", python.path)


def check_version(report: HostReport) -> None:
    """Raise `Failed` if the host's cockpit is missing, or is not the version just installed."""
    program = report.facts.program("cockpit")
    if program is None:
        raise Failed(
            f"cockpit was installed on {report.name}, but was not found there afterwards",
            f"Looked on PATH and in ~/.local/bin: {report.facts.path[:300]}",
            "If uv on the host installs into another folder, add that folder to the host's "
            "`connect`: see cockpit/docs/remote.md.",
        )
    if program.version != __version__:
        raise Failed(
            f"{program.path} on {report.name} is still version {program.version or 'unknown'}",
            "This old version comes before the new one in the PATH of a non-login shell.",
            "Remove the old version, or upgrade it the way it was installed.",
        )


def is_needed(facts: HostFacts) -> bool:
    """Return whether the host's cockpit is missing, or older than this version."""
    program = facts.program("cockpit")
    return program is None or numbers(program.version) < numbers(__version__)


def refuse_downgrade(report: HostReport) -> None:
    """Raise `NotNow` if the host has a newer cockpit than this machine."""
    program = report.facts.program("cockpit")
    if program is not None and numbers(program.version) > numbers(__version__):
        raise NotNow(
            f"{report.name} has the newer version {program.version}",
            f"This machine has {__version__}, which cannot read the newer version's database.",
            "Upgrade cockpit on this machine.",
        )


def _ask(question: str, *, yes: bool) -> None:
    """Raise `NotNow` unless the user agrees, on the terminal or with `--yes`."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise NotNow("Cannot ask without a terminal", "Nothing was installed.", "Add --yes.")
    if not click.confirm(question, default=False, err=True):
        raise NotNow("Cancelled", "Nothing was installed.", hint="To skip the question: --yes")
