"""Check this machine: programs, locale, disk space and user.

Read-only. Each check is a function that returns its findings.
"""

from __future__ import annotations

import locale
import os
import platform
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from cockpit.adapters.files.main_checkout import main_checkout
from cockpit.cli.doctor_finding import Finding, fit, from_error, note, unfit
from cockpit.core.errors import CockpitError

OLDEST_PYTHON = (3, 11)
LEAST_BYTES = 200_000_000
"""Minimum free bytes. With less, a worktree or a transcript may not fit on the disk."""


def check_machine(
    environment: Mapping[str, str],
    directory: Path,
    agents: Mapping[str, str] | None = None,
) -> list[Finding]:
    """Run all checks of the machine, in the order in which a user would meet the problems.

    `agents` is the agents' environment; None: the same as `environment`.
    """
    from cockpit.adapters.store.fitness import check_sqlite

    return [
        python(),
        sqlite(check_sqlite),
        tmux(environment),
        git(environment),
        *claude(agents or environment, directory),
        *own_sessions(environment),
        *other_clis(agents or environment),
        *gemini(agents or environment, directory),
        utf8(),
        disk(directory),
        user(),
    ]


def python() -> Finding:
    version = platform.python_version()
    if sys.version_info < OLDEST_PYTHON:
        return unfit("python", f"{version} is too old", "Install Python 3.11 or newer.")
    return fit("python", f"{version} ({sys.executable})")


def sqlite(check: Callable[[], str]) -> Finding:
    """Check that SQLite has full-text search, without which the supervisor does not start."""
    try:
        return fit("sqlite", f"{check()} (with full-text search)")
    except CockpitError as error:
        return from_error("sqlite", error)


def tmux(environment: Mapping[str, str]) -> Finding:
    from cockpit.adapters.tmux.command import check_version

    try:
        return fit("tmux", check_version("tmux", environment))
    except CockpitError as error:
        return from_error("tmux", error)


def git(environment: Mapping[str, str]) -> Finding:
    program = shutil.which("git", path=environment.get("PATH", os.defpath))
    if program is None:
        remedy = "Install git (Debian: apt-get install git; macOS: xcode-select --install)."
        return unfit("git", "Not found on PATH", remedy)
    return fit("git", program)


def claude(environment: Mapping[str, str], directory: Path) -> list[Finding]:
    """Check the Claude CLI, and report the first-run screens that it would show to agents."""
    from cockpit.adapters.agents.claude.program import find_program

    try:
        program = find_program(environment)
    except CockpitError as error:
        return [from_error("claude", error)]
    where = "from claude-agent-sdk; none on PATH" if program.bundled else str(program.path)
    return [
        _version("claude", program.version, where),
        *_first_screens(environment, directory, bundled=program.bundled),
    ]


def _version(name: str, version: str, where: str) -> Finding:
    """Return a finding with a CLI's version; a note if cockpit is only tested with newer versions.

    An older CLI may have other hooks, transcripts and options.
    """
    from cockpit.adapters.agents.tested_versions import TESTED, is_older

    installed = f"{version} ({where})"
    if not is_older(name, version):
        return fit(name, installed)
    text = f"{installed} is older than {TESTED[name]}, with which cockpit is tested"
    return note(name, text, f"Update {name} if its agents show no context or do not hand off.")


def own_sessions(environment: Mapping[str, str]) -> list[Finding]:
    """If Claude Code is on PATH, check the hook that shows pending handoffs in the user's own
    sessions.

    The hook is optional, so a missing hook is not a problem.
    """
    from cockpit.adapters.agents.claude.offer_hook import Setup, settings_file, state_of

    if shutil.which("claude", path=environment.get("PATH")) is None:
        return []
    match state_of(environment):
        case Setup.YES:
            return [fit("claude", "Sessions that you start yourself show pending handoffs")]
        case Setup.NO:
            text = "Sessions that you start yourself do not show pending handoffs"
            return [fit("claude", f"{text} (to show them: cockpit setup claude)")]
        case Setup.OFF:
            remedy = f"Remove disableAllHooks from {settings_file(environment)}"
            return [note("claude", f"The hook for pending handoffs is {Setup.OFF.value}", remedy)]
        case Setup.OLD:
            remedy = "Run: cockpit setup claude"
            return [note("claude", f"The hook for pending handoffs is {Setup.OLD.value}", remedy)]


def other_clis(environment: Mapping[str, str]) -> list[Finding]:
    """Check the other CLIs that are installed. A missing CLI is not a problem."""
    from cockpit.adapters.agents.codex.program import find_program as find_codex
    from cockpit.adapters.agents.copilot.program import find_program as find_copilot
    from cockpit.adapters.agents.opencode.program import find_program as find_opencode

    finders = {"codex": find_codex, "opencode": find_opencode, "copilot": find_copilot}
    findings = []
    for name, find in finders.items():
        if shutil.which(name, path=environment.get("PATH")) is None:
            continue
        try:
            program = find(environment)
        except CockpitError as error:
            findings.append(from_error(name, error))
        else:
            findings.append(_version(name, program.version, str(program.path)))
    return findings


def gemini(environment: Mapping[str, str], directory: Path) -> list[Finding]:
    """If Gemini CLI is installed, check its version, cockpit's extension, and trust in the
    directory."""
    from cockpit.adapters.agents.gemini.extension import Linked, state_of
    from cockpit.adapters.agents.gemini.program import find_program
    from cockpit.adapters.agents.gemini.settings import settings_file
    from cockpit.adapters.agents.gemini.trust import is_trusted, is_worktree_of_trusted

    if shutil.which("gemini", path=environment.get("PATH")) is None:
        return []
    try:
        program = find_program(environment)
    except CockpitError as error:
        return [from_error("gemini", error)]
    findings = [_version("gemini", program.version, str(program.path))]
    linked = state_of(environment, directory)
    if linked is not Linked.YES:
        match linked:
            case Linked.OFF:
                remedy = "Enable the extension in this directory: gemini extensions enable cockpit"
            case Linked.HOOKS_OFF:
                remedy = f"Set hooksConfig.enabled to true in {settings_file(environment)}"
            case Linked.NO | Linked.OLD:
                remedy = "Run: cockpit setup gemini"
        findings.append(
            note("gemini", f"cockpit's extension is {linked.value}: handoff requests wait for "
                 "the end of a turn, and cockpit notices dialogs some seconds later", remedy)
        )  # fmt: skip
    if not (is_trusted(directory, environment) or is_worktree_of_trusted(directory, environment)):
        findings.append(
            note("gemini", f"Does not trust {directory}: agents with a prompt cannot start here",
                 "Run `gemini` once in the directory, and choose to trust the folder.")
        )  # fmt: skip
    return findings


def _first_screens(
    environment: Mapping[str, str], directory: Path, *, bundled: bool
) -> list[Finding]:
    """Return notes about open questions of the first run.

    A `bundled` program is not on PATH, so the user can only answer in the agent's pane.
    """
    from cockpit.adapters.agents.claude.first_run import open_questions

    repository = main_checkout(directory)
    questions = open_questions(environment, repository)
    findings = []
    if "onboarding" in questions:
        findings.append(
            note("claude", "Not set up yet: an agent will first show the welcome screens",
                 "Answer the screens in the agent's pane."
                 if bundled else "Run `claude` once, or answer the screens in the agent's pane.")
        )  # fmt: skip
    if "trust" in questions:
        accept = "Accept in the pane" if bundled else "Run `claude` in the folder, and accept"
        findings.append(
            note("claude", f"Does not trust {repository} yet, and will ask in the pane",
                 f"{accept}. Until then cockpit's hooks do not run.")
        )  # fmt: skip
    return findings


def utf8() -> Finding:
    encoding = locale.getencoding()
    if encoding.lower().replace("-", "") != "utf8":
        remedy = "Set LANG to a UTF-8 locale, such as C.UTF-8."
        return unfit("locale", f"The locale's encoding is {encoding}, not UTF-8", remedy)
    return fit("locale", encoding)


def disk(directory: Path) -> Finding:
    free = shutil.disk_usage(directory).free
    if free < LEAST_BYTES:
        return unfit(
            "disk",
            f"{free / 1e6:.0f} MB free",
            "Free some space: cockpit cannot hand off if it cannot save documents.",
        )
    return fit("disk", f"{free / 1e9:.1f} GB free")


def user() -> Finding:
    if os.geteuid() == 0:
        remedy = "Use an ordinary user if you can: agents run commands with your permissions."
        return note("user", "Running as root", remedy)
    return fit("user", f"uid {os.geteuid()}")
