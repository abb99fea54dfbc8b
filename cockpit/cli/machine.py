"""Is this machine fit: its programs, its locale, its disk, and who we are on it.

Only looks. Each question is a function that answers with a `Finding`.
"""

from __future__ import annotations

import locale
import os
import platform
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from cockpit.cli.finding import Finding, fit, from_error, note, unfit
from cockpit.core.errors import CockpitError

OLDEST_PYTHON = (3, 11)
LEAST_BYTES = 200_000_000
"""Less free space than this and a worktree or a transcript may not fit any more."""


def examine_machine(environment: Mapping[str, str], directory: Path) -> list[Finding]:
    """Everything about the machine, in the order in which a fault would be met."""
    from cockpit.adapters.store.fitness import check_sqlite

    return [
        python(),
        sqlite(check_sqlite),
        tmux(environment),
        git(environment),
        *claude(environment, directory),
        utf8(),
        disk(directory),
        whoami(),
    ]


def python() -> Finding:
    version = platform.python_version()
    if sys.version_info < OLDEST_PYTHON:
        return unfit("python", f"{version} is too old", "Install Python 3.11 or later.")
    return fit("python", f"{version} ({sys.executable})")


def sqlite(check: Callable[[], str]) -> Finding:
    """Whether documents can be searched; without that no supervisor starts."""
    try:
        return fit("sqlite", f"{check()} (with full-text search)")
    except CockpitError as error:
        return from_error("sqlite", error)


def tmux(environment: Mapping[str, str]) -> Finding:
    from cockpit.adapters.tmux_command import check_version

    try:
        return fit("tmux", check_version("tmux", environment))
    except CockpitError as error:
        return from_error("tmux", error)


def git(environment: Mapping[str, str]) -> Finding:
    found = shutil.which("git", path=environment.get("PATH", os.defpath))
    if found is None:
        remedy = "Install it (Debian: apt-get install git; macOS: xcode-select --install)."
        return unfit("git", "It is not on PATH", remedy)
    return fit("git", found)


def claude(environment: Mapping[str, str], directory: Path) -> list[Finding]:
    """The CLI that an agent would run, and what it would ask on its first screen."""
    from cockpit.adapters.agents.claude_program import find_program

    try:
        program = find_program(environment)
    except CockpitError as error:
        return [from_error("claude", error)]
    where = "inside claude-agent-sdk; none is on PATH" if program.bundled else str(program.path)
    return [fit("claude", f"{program.version} ({where})"), *_first_screens(environment, directory)]


def _first_screens(environment: Mapping[str, str], directory: Path) -> list[Finding]:
    from cockpit.adapters.agents.claude_first_run import open_questions

    repository = _main_checkout(directory)
    questions = open_questions(environment, repository)
    found = []
    if "onboarding" in questions:
        found.append(
            note("claude", "It was never started here: its welcome screens come first",
                 "Run `claude` once, or answer them in the agent's pane.")
        )  # fmt: skip
    if "trust" in questions:
        found.append(
            note("claude", f"It does not trust {repository} yet, and will ask in the pane",
                 "Run `claude` there once and accept; until then no hook of cockpit's runs.")
        )  # fmt: skip
    return found


def _main_checkout(directory: Path) -> Path | None:
    """The root that Claude Code keys trust by; None outside a repository."""
    for folder in (directory, *directory.parents):
        mark = folder / ".git"
        if mark.is_dir():
            return folder
        if mark.is_file():
            return _of_worktree(mark) or folder
    return None


def _of_worktree(mark: Path) -> Path | None:
    """`gitdir: MAIN/.git/worktrees/NAME` names the main checkout."""
    pointed = mark.read_text(errors="replace").removeprefix("gitdir:").strip()
    for parent in Path(pointed).parents:
        if parent.name == ".git":
            return parent.parent
    return None


def utf8() -> Finding:
    encoding = locale.getencoding()
    if encoding.lower().replace("-", "") != "utf8":
        remedy = "Set LANG to a UTF-8 locale, such as C.UTF-8."
        return unfit("locale", f"The terminal's encoding is {encoding}, not UTF-8", remedy)
    return fit("locale", encoding)


def disk(directory: Path) -> Finding:
    free = shutil.disk_usage(directory).free
    if free < LEAST_BYTES:
        return unfit("disk", f"{free / 1e6:.0f} MB are left", "Make room; documents must be saved.")
    return fit("disk", f"{free / 1e9:.1f} GB free")


def whoami() -> Finding:
    if os.geteuid() == 0:
        remedy = "Prefer an ordinary user: agents run commands with the rights that you have."
        return note("user", "Running as root", remedy)
    return fit("user", f"uid {os.geteuid()}")
