"""Run one step of `cockpit move` or `cockpit start --host any`, on this machine or on a host.

A command keeps one connection to a host for all steps and requests.

A step is `cockpit move-step`. It reads a request as one line of JSON on stdin, perhaps with the
bytes of a git bundle after it, and answers in the same form on stdout. Text that a login shell
prints before the answer is skipped. The size of an answer is limited, because another machine is
not trusted.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, TypeVar

from cockpit.adapters.kept_host import KeptHost
from cockpit.adapters.remote_host import RemoteHost
from cockpit.cli.places import our_places
from cockpit.client.http import HttpClient
from cockpit.core.errors import CockpitError, Failed, NoSupervisor
from cockpit.core.far_names import LOCAL
from cockpit.core.safetext import safe_line, safe_text
from cockpit.wire.status import Wire

MARK = b"cockpit-move 1 "
LARGEST_ANSWER = 4_000_000
"""Maximum bytes of the line of JSON with a step's answer."""
LARGEST_NOISE = 256_000
"""Maximum bytes of other text before a step's answer, such as the message of a login shell."""
LARGEST_FILE = 2_000_000_000
"""Maximum bytes of the git bundle that a step sends or receives."""
BLOCK = 1 << 20
SECONDS = 1800.0
"""Time limit of one step, in seconds. A step that holds a lock may continue after it has
answered."""


Answer = TypeVar("Answer", bound=Wire)


@dataclass(frozen=True, slots=True)
class _Step:
    """A running step: its input and output, and the functions that end it."""

    input: IO[bytes]
    output: IO[bytes]
    end: Callable[[], None]
    end_of_input: Callable[[], None]
    reason: Callable[[], str]
    """Returns why the step did not answer."""
    stop_timer: Callable[[], None] = lambda: None


class Machine:
    """This machine, or a configured host. The caller closes it."""

    def __init__(self, name: str, host: RemoteHost | None) -> None:
        self.name = name
        self.host = host
        self.kept = None if host is None else KeptHost(host)
        self.client = HttpClient(self.kept or our_places().socket, name)

    def close(self) -> None:
        """Close the connection to the host. Idempotent; the next step opens it again."""
        if self.kept is not None:
            self.kept.close()

    @property
    def shown(self) -> str:
        return "this machine" if self.host is None else self.name

    def by_hand(self, *words: str) -> str:
        """Return the cockpit command for the user to run: `words`, with `--host` if this is a
        host."""
        return " ".join(("cockpit", *words, *(() if self.host is None else ("--host", self.name))))

    def step(
        self,
        request: dict[str, Any],
        *,
        send: Path | None = None,
        receive: Path | None = None,
        seconds: float = SECONDS,
    ) -> dict[str, Any]:
        """Run a step; return its answer.

        Raises `CockpitError`, also if the machine refuses the step.

        `send`: a file that follows the request. `receive`: the path for the file that follows the
        answer. The answer contains this file's size and SHA-256.
        """
        with self._step(seconds) as step:
            feeder = threading.Thread(target=_feed, args=(step, request, send))
            feeder.start()
            try:
                answer = self._answer(step)
                if receive is not None:
                    self._received(step.output, answer, receive)
            finally:
                step.end()
                feeder.join()
        return answer

    def ask(
        self,
        request: dict[str, Any],
        answer: type[Answer],
        *,
        send: Path | None = None,
        receive: Path | None = None,
    ) -> Answer:
        """Run a step like `step`; return its answer as a model. Raises `CockpitError`."""
        response = self.step(request, send=send, receive=receive)
        try:
            return answer.model_validate(response)
        except ValueError as error:
            raise Failed(
                f"{self.shown} sent an answer that cannot be read",
                safe_line(str(error), 300),
                "Use the same version of cockpit on both machines.",
            ) from error

    @contextlib.contextmanager
    def held(self, request: dict[str, Any]) -> Iterator[None]:
        """Run a step that holds a lock on the machine until the block ends.

        Raises `CockpitError`, also if the machine refuses the step.
        """
        with self._step(SECONDS) as step:
            with contextlib.suppress(OSError):
                step.input.write(json.dumps(request).encode() + b"\n")
                step.input.flush()
            self._answer(step)
            step.stop_timer()
            yield

    @contextlib.contextmanager
    def _step(self, seconds: float) -> Iterator[_Step]:
        with self._local_step() if self.kept is None else self._remote_step(self.kept) as step:
            timer = threading.Timer(seconds, step.end)
            timer.start()
            try:
                yield replace(step, stop_timer=timer.cancel)
            finally:
                timer.cancel()
                step.end()

    @contextlib.contextmanager
    def _local_step(self) -> Iterator[_Step]:
        try:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "cockpit", "move-step"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            raise Failed(
                "Cannot run a command on this machine",
                str(error),
                "Check this machine: cockpit doctor",
            ) from error
        with process:
            assert process.stdin is not None
            assert process.stdout is not None

            def end() -> None:
                _kill(process)

            def reason() -> str:
                return "The process of the move step has ended."

            yield _Step(process.stdin, process.stdout, end, process.stdin.close, reason)

    @contextlib.contextmanager
    def _remote_step(self, kept: KeptHost) -> Iterator[_Step]:
        connection = kept.step()
        channel = connection.channel
        source, output = channel.makefile("wb"), channel.makefile("rb")

        def end() -> None:
            with contextlib.suppress(OSError):
                channel.shutdown(socket.SHUT_RDWR)

        def end_of_input() -> None:
            source.flush()
            channel.shutdown(socket.SHUT_WR)

        def reason() -> str:
            error = connection.broken()
            return f"{error.title}. {error.detail}".strip()

        try:
            yield _Step(source, output, end, end_of_input, reason)
        finally:
            for file in (source, output):
                with contextlib.suppress(OSError):  # unsent data is lost
                    file.close()
            connection.end()

    def _answer(self, step: _Step) -> dict[str, Any]:
        noise = 0
        with contextlib.suppress(OSError):
            while noise < LARGEST_NOISE:
                line = step.output.readline(LARGEST_ANSWER)
                if not line:
                    break
                if line.startswith(MARK) and line.endswith(b"\n"):
                    return self._parsed(line)
                noise += len(line)
        raise NoSupervisor(
            f"{self.shown} did not respond during the move",
            step.reason(),
            f"Check the machine: {self.by_hand('doctor')}",
        )

    def _parsed(self, line: bytes) -> dict[str, Any]:
        try:
            answer = json.loads(line.removeprefix(MARK))
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise Failed(
                f"{self.shown} sent an answer that cannot be read",
                hint="Use the same version of cockpit on both machines.",
            )
        if isinstance(error := answer.get("error"), dict):
            texts = [safe_text(str(error.get(key, "")))[:2000] for key in ("title", "detail")]
            raise Failed(
                f"{self.shown}: {texts[0]}", texts[1], safe_text(str(error.get("hint", "")))[:2000]
            )
        return answer

    def _received(self, output: IO[bytes], answer: dict[str, Any], file: Path) -> None:
        size = answer.get("size")
        size = size if isinstance(size, int) else 0
        if size > LARGEST_FILE:
            raise Failed(
                f"The work on {self.shown} is too large to move",
                f"{size // 1_000_000} MB; the limit is {LARGEST_FILE // 1_000_000} MB.",
                "Push the branch, and fetch it on the other machine. Then try again: cockpit sends "
                "only the rest.",
            )
        if problem := written(output, file, size, str(answer.get("sha256"))):
            raise Failed(
                f"The transfer from {self.shown} failed",
                problem,
                "Try again.",
            )


def machine(name: str | None, config: Path | None) -> Machine:
    """Return this machine for None and `local`, else the configured host with that name.

    Raises `BadUsage` for an unknown host, and `BadConfig`.
    """
    if name in (None, LOCAL):
        return Machine(LOCAL, None)
    from cockpit.cli.hosts import host_named

    return Machine(str(name), host_named(str(name), config))


def written(source: IO[bytes], file: Path, size: int, sha256: str) -> str:
    """Write the next `size` bytes to a new file, and compare them with `sha256`.

    Returns the problem as a sentence; empty if there is none.
    """
    left, digest = size, hashlib.sha256()
    with file.open("xb") as held:
        while left > 0 and (block := source.read(min(BLOCK, left))):
            held.write(block)
            digest.update(block)
            left -= len(block)
    if left:
        return f"The connection ended; {left} bytes are missing."
    return (
        ""
        if digest.hexdigest() == sha256
        else "Checksum mismatch: the data changed during the transfer."
    )


def _feed(step: _Step, request: dict[str, Any], send: Path | None) -> None:
    with contextlib.suppress(OSError, ValueError):
        step.input.write(json.dumps(request).encode() + b"\n")
        if send is not None:
            with send.open("rb") as file:
                while block := file.read(BLOCK):
                    step.input.write(block)
        step.end_of_input()


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def error_answer(error: CockpitError) -> dict[str, Any]:
    return {"error": {"title": error.title, "detail": error.detail, "hint": error.hint}}


def shown_list(names: Any, most: int = 20) -> list[str]:
    """Return at most `most` names from another machine, safe to print; empty if not a list."""
    return [safe_line(str(name), 120) for name in names[:most]] if isinstance(names, list) else []
