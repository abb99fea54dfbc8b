"""Starting the supervisor as a process of its own, and waiting for it to be there or gone.

It is detached: a session of its own, no terminal, no pipe of ours. What it says before it can
write its log goes to `logs/up.log`, from where a failed start is told to the pilot.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from cockpit.cli.fast import collect_from_here
from cockpit.cli.places import our_places
from cockpit.cli.speech import say
from cockpit.client.quick import connect, fetch
from cockpit.client.refusals import nobody
from cockpit.config.paths import Places
from cockpit.core.errors import BY_EXIT_CODE, Failed, NoSupervisor, NotNow

START_SECONDS = 30.0
END_SECONDS = 60.0
LOAD_SECONDS = 90.0
_LOOK_SECONDS = 0.02


def run_supervisor(config: Path | None) -> int:
    """Be the supervisor, in this process, until told to end; answers its exit code."""
    from cockpit.cli.project import file_to_read
    from cockpit.supervisor.main import run

    collect_from_here()
    file, named = file_to_read(config)
    return run(our_places(), file, named=named)


def start_supervisor(config: Path | None, meanwhile: Callable[[], None] = lambda: None) -> int:
    """Make sure that a supervisor answers; its process id. Twice is the same as once.

    One that runs already takes up the agents of the named file, or of the project's. `meanwhile`
    is done while a new one starts. Raises what the new process, or `meanwhile`, failed with.
    """
    places = our_places()
    running = supervisor_pid(places)
    if running is not None:
        _load(places, config)
        meanwhile()
        return running
    child = _spawn(places, config)
    try:
        meanwhile()
    finally:
        pid = _await_answer(places, child)
    return pid


def make_sure_of_supervisor(config: Path | None) -> None:
    """Start one where none runs, and say so; one that runs is left alone."""
    places = our_places()
    try:
        connect(places.socket).close()
    except NoSupervisor as error:
        if error.title != nobody(places.socket).title:
            raise
        pid = _await_answer(places, _spawn(places, config))
        say(f"The supervisor runs now (pid {pid}); end it with: cockpit down")


def stop_supervisor(*, agents: bool) -> int:
    """End the supervisor and wait until its process is gone. None running is no failure."""
    places = our_places()
    pid = supervisor_pid(places)
    if pid is None:
        return _nothing_to_stop(places, agents=agents)
    said = fetch(places.socket, "/v1/down", body={"agents": agents}, patience=END_SECONDS)
    if not _gone(pid, END_SECONDS):
        raise Failed(
            "The supervisor is still there",
            f"Process {pid} was asked to end {END_SECONDS:g} s ago.",
            f"See {places.logs}; if nothing moves any more: kill {pid}",
        )
    say(str(json.loads(said)["message"]))
    return 0


def supervisor_pid(places: Places) -> int | None:
    """The process that answers on the socket, or None when none does."""
    try:
        status = json.loads(fetch(places.socket, "/v1/status"))
    except NoSupervisor as error:
        if error.title == nobody(places.socket).title:
            return None
        raise
    pid = status["supervisor"]["pid"]
    return pid if isinstance(pid, int) else None


def _nothing_to_stop(places: Places, *, agents: bool) -> int:
    if agents and places.tmux_socket.exists():
        raise NoSupervisor(
            "No supervisor is running to end the agents",
            f"Their tmux server may still be there: {places.tmux_socket}.",
            "Run `cockpit up`, then `cockpit down --agents`.",
        )
    say("No supervisor was running.")
    return 0


def _load(places: Places, config: Path | None) -> None:
    """Have the running supervisor read a file, if there is one to read."""
    from cockpit.cli.project import file_to_read

    file, named = file_to_read(config)
    if file is not None:
        # The verb `Load`, said without its model: whoever comes back to a screen waits for this.
        body = {"config": str(file), "named": named}
        fetch(places.socket, "/v1/load", body=body, patience=LOAD_SECONDS)


def _spawn(places: Places, config: Path | None) -> subprocess.Popen[bytes]:
    places.make()
    # -P: a folder of the project that is called like one of our modules must not be imported.
    command = [sys.executable, "-P", "-m", "cockpit", "up", "--foreground"]
    if config is not None:
        command += ["--config", str(config)]
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    log = os.open(_first_words(places), flags, 0o600)
    try:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    finally:
        os.close(log)


def _first_words(places: Places) -> Path:
    return places.logs / "up.log"


def _await_answer(places: Places, child: subprocess.Popen[bytes]) -> int:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        with suppress(subprocess.TimeoutExpired):
            code = child.wait(_LOOK_SECONDS)
            if code != NotNow.exit_code or not _another_begins(places, child.pid):
                return _ended_early(places, code)
            time.sleep(_LOOK_SECONDS)
        if (pid := supervisor_pid(places)) is not None:
            return pid
    child.terminate()
    child.wait()
    raise Failed(
        "The supervisor did not come up",
        f"It did not answer within {START_SECONDS:g} s, and was ended.",
        f"Its own words: {_first_words(places)}",
    )


def _another_begins(places: Places, ours: int) -> bool:
    """Whether another `up` was first: its supervisor lives and answers in a moment."""
    with suppress(OSError, ValueError):
        holder = int(places.lease.read_text())
        return holder != ours and Path(f"/proc/{holder}").exists()
    return False


def _ended_early(places: Places, code: int) -> int:
    """Another `up` may have been first: then all is well. Otherwise raise the child's reason."""
    if (pid := supervisor_pid(places)) is not None:
        return pid
    words = _first_words(places).read_text(errors="replace").strip().removeprefix("cockpit: ")
    title, _, rest = words.partition("\n")
    if title.startswith("Traceback"):
        title = f"The supervisor ended at once: {words.rpartition(chr(10))[2]}"
    kind = BY_EXIT_CODE.get(code, Failed)
    raise kind(
        title or "The supervisor ended at once",
        "\n".join(line.strip() for line in rest.splitlines()[-8:]),
        "" if kind is not Failed else f"All of it: {_first_words(places)}",
    )


def _gone(pid: int, seconds: float) -> bool:
    """Wait until a process has ended."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], seconds)[0])
    finally:
        os.close(handle)
