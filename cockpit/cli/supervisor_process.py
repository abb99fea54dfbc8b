"""Start, restart and end the supervisor, which is a separate process.

The process is detached: it has its own session, no controlling terminal, and no pipe to this
command. Until the process opens its log, its output goes to `logs/up.log`. The error of a failed
start is read from that file.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cockpit.cli.agent_guard import refuse_inside_agent
from cockpit.cli.fast_path import resume_gc
from cockpit.cli.output import say
from cockpit.cli.places import our_places
from cockpit.cli.startup_output import StartupOutput
from cockpit.client.raw_request import connect, fetch
from cockpit.client.refusals import not_running, unreachable
from cockpit.client.supervisor_lock import lock_holder, process_exists
from cockpit.config.paths import Places
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.errors import BY_EXIT_CODE, Failed, NoSupervisor, NotNow, Unreachable

if TYPE_CHECKING:
    from cockpit.config.held import Held

STATUS_SECONDS = 10.0
START_SECONDS = 30.0
END_SECONDS = 60.0
LOAD_SECONDS = 90.0
_POLL_SECONDS = 0.02


def run_supervisor(config: Path | None, *, again: bool = False) -> int:
    """Run the supervisor in this process until it is asked to end; return its exit code.

    `again`: the user passed the file to an earlier supervisor, so later changes in the file are not
    trusted.
    """
    from cockpit.cli.config_file import file_to_read
    from cockpit.supervisor.main import run

    refuse_inside_agent("start the supervisor")
    resume_gc()
    file, named = file_to_read(config)
    return run(our_places(), file, named=named, again=again)


def start_supervisor(config: Path | None, meanwhile: Callable[[], None] = lambda: None) -> int:
    """Start the supervisor if none is running; return the supervisor's process id.

    If a supervisor is running, it loads the agents of `config`, or of the project's file. Calls
    `meanwhile` while a new supervisor starts, or after a running one has loaded the agents. Raises
    the error of the new process, or of `meanwhile`.
    """
    refuse_inside_agent("open the screen or start the supervisor")
    places = our_places()
    running = _answering_pid(places)
    if running is not None:
        _load_project_file(places, config)
        meanwhile()
        return running
    with _spawn(places, config) as starting:
        try:
            meanwhile()
        finally:
            pid = _await_answer(places, starting)
    return pid


def ensure_supervisor(config: Path | None) -> None:
    """Start a supervisor and print a message, unless one is running."""
    places = our_places()
    try:
        connect(places.socket).close()
    except NoSupervisor as error:
        if error.title != not_running(places.socket).title and not isinstance(error, Unreachable):
            raise
        refuse_inside_agent("start the supervisor")
        with _spawn(places, config) as starting:
            pid = _await_answer(places, starting)
        say(f"Started the supervisor (pid {pid}); stop it with: cockpit down")


@dataclass(frozen=True, slots=True)
class Restarted:
    """The result of a restart: the old and the new supervisor."""

    before: int | None
    """Process id of the old supervisor; None if none was running."""
    version: str | None
    """Version of the old supervisor, if known."""
    after: int
    held: tuple[Held, ...] = ()
    """Settings that are ignored until the user trusts the configuration file as it is now."""


def restart_supervisor(config: Path | None) -> Restarted:
    """Replace the running supervisor with one of this version; agents keep running.

    The new supervisor reads `config`, or else the file that the old supervisor read last. That file
    is only trusted if it is unchanged since then. Starts a supervisor if none is running. Raises
    `BadConfig` for an invalid file, before the old supervisor is ended. The old supervisor may be
    of any older version.
    """
    refuse_inside_agent("restart the supervisor")
    from cockpit.cli.config_file import file_to_read
    from cockpit.config.read import load

    places = our_places()
    with _naming_the_process(places, ", then: cockpit up"):
        reported = running_supervisor(places)
    if reported is None:
        return Restarted(None, None, start_supervisor(config))
    file, named = file_to_read(config)
    again = config is None
    if again and reported.get("config"):
        file, named = Path(reported["config"]), bool(reported.get("config_named"))
    file = file if file is not None and file.exists() else None
    held = load(places, file, Path.cwd(), os.environ, named=named, again=again).held
    _end(places, reported["pid"], agents=False)
    with _spawn(places, file if named else None, again=again) as starting:
        pid = _await_answer(places, starting)
    if file is not None and not named:
        _load_file(places, file, named=False)
    return Restarted(reported["pid"], reported.get("version"), pid, held)


def stop_supervisor(*, agents: bool) -> int:
    """End the supervisor and wait for its process to exit. Succeeds if none is running.

    With `agents`, also ends the agents and the tmux server. Raises `NotNow` if the supervisor is
    running but cannot be reached or does not answer.
    """
    refuse_inside_agent("end the supervisor")
    places = our_places()
    with _naming_the_process(places, ", then: cockpit down --agents" if agents else ""):
        pid = supervisor_pid(places)
        if pid is None:
            _refuse_unreachable(places)
            return _nothing_to_stop(places, agents=agents)
        message = _end(places, pid, agents=agents)
    say(message)
    return 0


@contextmanager
def _naming_the_process(places: Places, then: str) -> Iterator[None]:
    """Turn `NoSupervisor` into `NotNow`, with the supervisor's pid, if a supervisor is running.

    The hint is to kill the process with SIGKILL, because a supervisor that does not answer may not
    handle SIGTERM. `then` is the end of the hint: what to do after the kill. The exit code must not
    be that of `NoSupervisor`, because a script may treat this code of `cockpit down` as success.
    """
    try:
        yield
    except Unreachable as error:
        raise NotNow(error.title, error.detail, error.hint) from None
    except NoSupervisor as error:
        if (holder := lock_holder(places.lease)) is None:
            raise
        step = f"Try again in a moment. If that fails: kill -9 {holder} (agents keep running){then}"
        raise NotNow(error.title, error.detail, step) from None


def _end(places: Places, pid: int, *, agents: bool) -> str:
    """Ask the supervisor to end and wait for its process to exit; return the last message.

    Raises `Failed` if the process has not exited after `END_SECONDS`.
    """
    from cockpit.adapters.process.exits import wait_for_exit

    answer = fetch(places.socket, "/v1/down", body={"agents": agents}, patience=END_SECONDS)
    if not wait_for_exit(pid, END_SECONDS):
        raise Failed(
            "The supervisor is still running",
            f"Process {pid} has not exited within {END_SECONDS:g} s.",
            f"Logs: {places.logs}. If the process is stuck: kill {pid}",
        )
    return str(json.loads(answer)["message"])


def supervisor_pid(places: Places) -> int | None:
    """Return the pid of the supervisor; None if none is running.

    Raises `NoSupervisor`, such as `Unreachable`, if a running supervisor does not answer.
    """
    reported = running_supervisor(places)
    pid = reported.get("pid") if reported else None
    return pid if isinstance(pid, int) else None


def running_supervisor(places: Places) -> dict[str, Any] | None:
    """Return the supervisor's own status; None if none is running.

    Raises `NoSupervisor`, such as `Unreachable`, if a running supervisor does not answer.
    """
    try:
        status = json.loads(fetch(places.socket, "/v1/status", patience=STATUS_SECONDS))
    except NoSupervisor as error:
        if error.title == not_running(places.socket).title:
            return None
        raise
    reported = status.get("supervisor")
    return reported if isinstance(reported, dict) else {}


def _answering_pid(places: Places) -> int | None:
    """Return the pid of the supervisor that answers; None if none is running or reachable."""
    try:
        return supervisor_pid(places)
    except Unreachable:
        return None


def _refuse_unreachable(places: Places) -> None:
    """Raise `Unreachable` if the supervisor's lock is held.

    Tries to take the lock, because not every system lists the holders of locks.
    """
    from cockpit.supervisor.main import take_lock

    if not places.lease.exists():
        return
    try:
        take_lock(places.lease).close()
    except NotNow:
        pid = places.lease.read_text().strip()
        raise unreachable(places.socket, int(pid) if pid.isdecimal() else 0) from None


def _nothing_to_stop(places: Places, *, agents: bool) -> int:
    if agents and places.tmux_socket.exists():
        from cockpit.supervisor.main import end_agents

        say(end_agents(places))
        return 0
    say("No supervisor was running.")
    return 0


def _load_project_file(places: Places, config: Path | None) -> None:
    """Ask the running supervisor to load `config`, else the project's file, if there is one."""
    from cockpit.cli.config_file import file_to_read

    file, named = file_to_read(config)
    if file is not None:
        _load_file(places, file, named=named)


def _load_file(places: Places, file: Path, *, named: bool) -> None:
    # The verb `Load` without its model: importing models would delay the screen.
    body = {"config": str(file), "named": named}
    fetch(places.socket, "/v1/load", body=body, patience=LOAD_SECONDS)


@dataclass(frozen=True, slots=True)
class _Starting:
    """The process of a supervisor that is starting, and its output."""

    child: subprocess.Popen[bytes]
    output: StartupOutput


@contextmanager
def _spawn(places: Places, config: Path | None, *, again: bool = False) -> Iterator[_Starting]:
    places.make()
    # -P: never import modules from the current folder. It may be a repository with a folder of the
    # same name.
    command = [sys.executable, "-P", "-m", "cockpit", "up", "--foreground"]
    if config is not None:
        command += ["--config", str(config)]
        command += ["--again"] if again else []
    output = StartupOutput(places.logs / "up.log")
    log = output.descriptor
    try:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
        yield _Starting(child, output)
    finally:
        output.close()


def _await_answer(places: Places, starting: _Starting) -> int:
    child = starting.child
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        with suppress(subprocess.TimeoutExpired):
            code = child.wait(_POLL_SECONDS)
            if code != NotNow.exit_code or not _another_is_starting(places, child.pid):
                return _ended_early(places, starting.output, code)
            time.sleep(_POLL_SECONDS)
        if (pid := _answering_pid(places)) is not None:
            return pid
    if child.poll() is not None:
        supervisor_pid(places)  # raises the reason: another supervisor runs but is unreachable
    child.terminate()
    child.wait()
    raise Failed(
        "The supervisor did not start",
        "\n".join(
            [
                f"No answer within {START_SECONDS:g} s; cockpit ended the process.",
                *_last_lines(starting.output.read()),
            ]
        ),
        f"{starting.output.where()}, {places.logs / 'supervisor.log'}",
    )


def _another_is_starting(places: Places, ours: int) -> bool:
    """Return whether another process, probably of another `up`, has its pid in the lock file.

    `ours` is the pid of the process that this command started.
    """
    with suppress(OSError, ValueError):
        holder = int(places.lease.read_text())
        return holder != ours and process_exists(holder)
    return False


def _last_lines(output: str) -> list[str]:
    return [line.strip() for line in output.splitlines()[-8:]]


def _ended_early(places: Places, output: StartupOutput, code: int) -> int:
    """Handle the early exit of the supervisor that this command started; `code` is the exit code.

    Returns the pid of a supervisor that another `up` has started meanwhile. If no supervisor
    answers, raises the error that the exited process printed.
    """
    if (pid := _answering_pid(places)) is not None:
        return pid
    text = output.read().removeprefix("cockpit: ")
    title, _, rest = text.partition("\n")
    if title.startswith("Traceback"):
        title = f"The supervisor exited during start-up: {text.rpartition(chr(10))[2]}"
    kind = BY_EXIT_CODE.get(code, Failed)
    raise kind(
        title or "The supervisor exited during start-up",
        "\n".join(_last_lines(rest)),
        "" if kind is not Failed else output.where(),
    )
