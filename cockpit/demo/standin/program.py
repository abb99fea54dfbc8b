"""The stand-in's main program: flags, signals, and installation as `claude`."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from cockpit.demo.standin.behaviour import VERSION, Behaviour, Flags, read_behaviour, read_flags
from cockpit.demo.standin.presence import Presence
from cockpit.demo.standin.record import Record, record_path
from cockpit.demo.standin.screen import Screen
from cockpit.demo.standin.session import Session

BOOT = (
    "import sys; sys.path.insert(0, {root!r}); "
    "from cockpit.demo.standin.program import main; sys.exit(main(sys.argv[1:]))"
)
"""The stand-in's Python code. It sets `sys.path`, because Python starts faster without `site`."""
SCRIPT = """#!/bin/sh
if [ "$*" = --version ]; then echo {version}; exit 0; fi
exec {command} "$@"
"""
EXIT_CODES = {signal.SIGTERM: 143, signal.SIGHUP: 129, signal.SIGINT: 0}
"""The CLI's exit code for each signal."""


class Ended(Exception):
    """A signal asked the process to end."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def install(folder: Path) -> Path:
    """Write an executable `claude` into a folder; return its path.

    The script runs this package with this interpreter, isolated from the current directory. The
    script answers `--version` itself, because cockpit asks for it often.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "claude"
    boot = BOOT.format(root=str(Path(__file__).parents[3]))
    command = shlex.join([sys.executable, "-I", "-S", "-c", boot])
    script = SCRIPT.format(version=shlex.quote(VERSION), command=command)
    path.write_text(script, encoding="utf-8")
    path.chmod(0o755)
    return path


def main(arguments: Sequence[str]) -> int:
    """Run one session; return the exit code."""
    if "--version" in arguments:
        print(VERSION)
        return 0
    flags = read_flags(arguments)
    behaviour = read_behaviour(os.environ, flags)
    if "exit" in behaviour.faults:
        print("The stand-in fails: STANDIN_FAULTS contains exit", file=sys.stderr)
        return 1
    config = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")
    record = make_record(config, flags, behaviour)
    if record.path.exists() != flags.resume:
        taken = "is already in use" if record.path.exists() else "was not found"
        print(f"Error: Session ID {flags.session_id} {taken}.", file=sys.stderr)
        return 1
    if "orphan" in behaviour.faults:
        # Like a child of the CLI, the process inherits the open files, such as the locked lease.
        subprocess.Popen(["sleep", "600"], start_new_session=True, close_fds=False)
    listen_for_signals(behaviour)
    return fly(flags, behaviour, record, config)


def fly(flags: Flags, behaviour: Behaviour, record: Record, config: Path) -> int:
    presence = Presence(config, flags.session_id, absent="absent" in behaviour.faults)
    with Screen() as screen:
        session = Session(flags, behaviour, record, presence, screen)
        try:
            code, reason = session.run(), "prompt_input_exit"
        except Ended as ended:
            code, reason = ended.code, "other"
        session.end(reason)
    return code


def make_record(config: Path, flags: Flags, behaviour: Behaviour) -> Record:
    directory = Path.cwd()
    return Record(
        record_path(config, directory, flags.session_id),
        flags.session_id,
        directory,
        branch(directory),
        flags.model,
        silent="mute" in behaviour.faults,
    )


def branch(directory: Path) -> str:
    """Return the current branch; empty outside a repository."""
    asked = ["git", "-C", str(directory), "branch", "--show-current"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def listen_for_signals(behaviour: Behaviour) -> None:
    """End on the same signals as the CLI; with the fault `deaf`, ignore TERM and HUP."""
    if "deaf" in behaviour.faults:
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        return

    def end(number: int, _: FrameType | None) -> None:
        for other in EXIT_CODES:
            signal.signal(other, signal.SIG_IGN)
        raise Ended(EXIT_CODES[signal.Signals(number)])

    for number in EXIT_CODES:
        signal.signal(number, end)
