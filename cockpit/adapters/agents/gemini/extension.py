"""Link cockpit's extension, which adds hooks to Gemini CLI without changing the user's settings.

Gemini has no hooks for one run. So the user runs `cockpit setup gemini` once, which calls
`gemini extensions link`; Gemini then writes to the user's Gemini folder. The extension is the same
for every agent. In a session that the user started, the extension notes which session the Gemini
process has open, and runs this installation's `cockpit` to offer a waiting handoff document.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from cockpit.adapters.agents.gemini.program import NO_RELAUNCH
from cockpit.adapters.agents.gemini.settings import config_folder, read_object, user_settings
from cockpit.adapters.agents.gemini.trust import VARIABLE
from cockpit.adapters.agents.own_command import own_command
from cockpit.adapters.agents.reported_paths import is_absolute
from cockpit.adapters.agents.reporter import write_whole
from cockpit.adapters.files.foreign_files import read_file, read_text
from cockpit.core.errors import Failed
from cockpit.core.safetext import safe_line
from cockpit.ports.runtimes import Program

NAME = "cockpit"
FILES = ("gemini-extension.json", "hooks/hooks.json", "report.sh")
COMMAND_SECONDS = 60.0
OFFER = "--offer-handoff"
"""The option of `cockpit` that prints the offer of a waiting document."""
OFFER_SCRIPT = "offer.sh"
NOTES = "live"
"""Name of the folder for notes about the user's sessions, in the extension's folder."""
_SOURCE = Path(__file__).parent / "extension"
_NOTE = ".gemini-extension-install.json"
_LARGEST = 100_000


class Linked(StrEnum):
    """The state of cockpit's extension in Gemini."""

    YES = "linked"
    NO = "not linked"
    OLD = "linked, but from another version of cockpit"
    OFF = "linked, but switched off in Gemini"
    HOOKS_OFF = "linked, but all hooks are switched off in Gemini's settings"


def state_of(environment: Mapping[str, str], directory: Path | None = None) -> Linked:
    """Return whether the extension is linked, current, and enabled in `directory`, and whether
    Gemini runs hooks. Never raises.
    """
    folder = config_folder(environment) / "extensions"
    source = read_object(folder / NAME / _NOTE).get("source")
    if not isinstance(source, str):
        return Linked.NO
    if any(_content(Path(source) / name) != _content(_SOURCE / name) for name in FILES):
        return Linked.OLD
    hooks = user_settings(environment).get("hooksConfig")
    if isinstance(hooks, Mapping) and hooks.get("enabled") is False:
        return Linked.HOOKS_OFF
    return Linked.OFF if _is_disabled(folder, directory) else Linked.YES


def notes_folder(environment: Mapping[str, str]) -> Path | None:
    """Return the folder in which the linked extension notes the user's sessions; None if no
    extension is linked."""
    source = read_object(config_folder(environment) / "extensions" / NAME / _NOTE).get("source")
    return Path(source) / NOTES if isinstance(source, str) and is_absolute(source) else None


def link(program: Program, environment: Mapping[str, str], folder: Path) -> None:
    """Write the extension to `folder`, and run `gemini extensions link`. Replaces an older link.

    Raises `Failed` if the files cannot be written, or if a command of Gemini fails.
    """
    try:
        _write_files(folder)
    except OSError as error:
        raise Failed(
            f"Cannot write cockpit's extension to {safe_line(str(folder), 4096)}",
            f"{error.strerror}. The link in Gemini was not changed.",
            "Make the folder writable, or free space on its disk. Then: cockpit setup gemini",
        ) from None
    if state_of(environment) is not Linked.NO:
        unlink(program, environment, folder)
    _run(program, environment, folder, "link", str(folder), "--consent")


def _write_files(folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    for name in FILES:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(target, read_file(_SOURCE / name, _LARGEST), 0o600)
    command = shlex.join(own_command(OFFER))
    write_whole(folder / OFFER_SCRIPT, f"#!/bin/sh\nexec {command} 2>/dev/null\n".encode(), 0o700)


def unlink(program: Program, environment: Mapping[str, str], folder: Path) -> None:
    """Run `gemini extensions uninstall`. The working directory is `folder`, if the folder exists.
    Raises `Failed`."""
    _run(program, environment, folder if folder.is_dir() else Path("/"), "uninstall", NAME)


def remove_files(folder: Path) -> None:
    """Remove the files that `link` wrote to `folder`."""
    shutil.rmtree(folder, ignore_errors=True)


def written_by(environment: Mapping[str, str]) -> list[Path]:
    """Return the files and folders that `gemini extensions link` writes."""
    folder = config_folder(environment)
    return [
        folder / "extensions" / NAME,
        folder / "extensions" / "extension-enablement.json",
        folder / "extension_integrity.json",
        folder / "projects.json",
        # Every command of Gemini CLI writes these two if they do not exist.
        folder / "installation_id",
        folder / "gemini-credentials.json",
    ]


def _run(program: Program, environment: Mapping[str, str], where: Path, *arguments: str) -> None:
    # Without `VARIABLE`, the command would record its working directory as trusted.
    variables = {**environment, **NO_RELAUNCH, VARIABLE: "true"}
    try:
        done = subprocess.run(
            [str(program.path), "extensions", *arguments],
            env=variables,
            cwd=where,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Failed(
            "Gemini did not answer",
            f"Time limit: {COMMAND_SECONDS:.0f} s.",
            hint="Try again; gemini --version shows whether Gemini starts.",
        ) from None
    except OSError as error:
        raise Failed(
            "Cannot start Gemini",
            str(error.strerror),
            hint="To check the installation: cockpit doctor",
        ) from None
    if done.returncode != 0:
        output = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
        raise Failed(
            f"gemini extensions {arguments[0]} failed",
            safe_line(output, 400),
            hint="To see which extensions are linked: gemini extensions list",
        )


def _is_disabled(folder: Path, directory: Path | None) -> bool:
    """Return whether the last rule for the directory disables the extension.

    A rule is a path pattern that ends in `*`. A rule that begins with `!` disables the extension.
    If `directory` is None, every rule applies.
    """
    rules = read_object(folder / "extension-enablement.json").get(NAME)
    overrides = rules.get("overrides") if isinstance(rules, Mapping) else None
    disabled = False
    for rule in overrides if isinstance(overrides, list) else ():
        if isinstance(rule, str):
            base = rule.lstrip("!").rstrip("*").rstrip("/") or "/"
            if directory is None or directory.is_relative_to(base):
                disabled = rule.startswith("!")
    return disabled


def _content(path: Path) -> str | None:
    try:
        return read_text(path, _LARGEST)
    except (OSError, ValueError):  # ValueError: a NUL in the path
        return None
