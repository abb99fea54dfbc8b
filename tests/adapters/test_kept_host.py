"""One process for all requests to a host: what it carries, how it ends, and a host that cheats."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cockpit.adapters.kept_host import KeptHost
from cockpit.adapters.remote_host import RemoteHost
from cockpit.client.raw_request import fetch
from cockpit.core.errors import CockpitError, NoSupervisor
from cockpit.core.multiplex import MOST_RESET, MOST_STREAMS

PATIENCE = 120.0
COUNTED = """echo $$ >> "$0"; exec "$@" """
"""A host that notes each process that connects."""
TOO_OLD = """echo $$ >> "$0"; case "$*" in
*--multiplex*) echo "Error: No such option '--multiplex'." >&2; exit 2;;
*) exec "$@";;
esac"""
REQUEST = b"GET /v1/status HTTP/1.0\r\n\r\n"


class Host:
    """A host whose connections are counted."""

    def __init__(self, note: Path, connect: list[str], script: str = COUNTED) -> None:
        self._note = note
        self.kept = KeptHost(RemoteHost("gpu1", ["sh", "-c", script, str(note), *connect]))

    @property
    def processes(self) -> list[int]:
        return [int(pid) for pid in self._note.read_text().split()] if self._note.exists() else []


@pytest.fixture
def host(connect: Any, own_home: Path) -> Iterator[Host]:
    made = Host(own_home / "connected", connect(own_home / "ck"))
    yield made
    made.kept.close()


@pytest.fixture
def old(connect: Any, own_home: Path) -> Iterator[Host]:
    made = Host(own_home / "connected", connect(own_home / "ck"), TOO_OLD)
    yield made
    made.kept.close()


def by_shell(script: str, **seconds: float) -> KeptHost:
    return KeptHost(RemoteHost("gpu1", ["sh", "-c", script, "gpu1"]), **seconds)


def refused(kept: KeptHost) -> CockpitError:
    try:
        with pytest.raises(CockpitError) as caught:
            fetch(kept, "/v1/status", patience=PATIENCE)
        return caught.value
    finally:
        kept.close()


def wait_until(true: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_many_requests_are_one_process_also_at_once(host: Host, answering: Any) -> None:
    answering.say("GET /v1/status", b"{}")
    found: list[bytes] = []

    def ask() -> None:
        found.extend(fetch(host.kept, "/v1/status", patience=PATIENCE) for _ in range(5))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == [b"{}"] * 20
    assert len(host.processes) == 1


def test_an_answer_that_nobody_reads_delays_no_other(host: Host, answering: Any) -> None:
    large = os.urandom(1_000_000) * 8
    answering.say("GET /v1/status", large)
    answering.say("GET /v1/facts/api", b"{}")
    slow = host.kept.dial()
    try:
        slow.channel.sendall(REQUEST)
        first = slow.channel.recv(1)

        assert fetch(host.kept, "/v1/facts/api", patience=PATIENCE) == b"{}"

        slow.channel.settimeout(PATIENCE)
        rest = [first]
        while block := slow.channel.recv(65_536):
            rest.append(block)
        assert b"".join(rest).endswith(large)
    finally:
        slow.end()


def test_a_request_that_is_left_is_left_on_the_host_too(host: Host, answering: Any) -> None:
    answering.say("GET /v1/facts/api", b"{}")
    answering.say("GET /v1/status", *[b"x" * 500_000] * 40)
    assert fetch(host.kept, "/v1/facts/api", patience=PATIENCE) == b"{}"
    for _ in range(2 * MOST_STREAMS):
        line = host.kept.dial()
        line.channel.sendall(REQUEST)
        assert line.channel.recv(1)
        line.end()
        line.end()

    assert fetch(host.kept, "/v1/facts/api", patience=PATIENCE) == b"{}"
    assert len(host.processes) == 1


def test_a_host_without_a_supervisor_keeps_its_connection_until_there_is_one(
    host: Host, request: pytest.FixtureRequest
) -> None:
    for _ in range(3):
        with pytest.raises(NoSupervisor, match="No supervisor is running on gpu1"):
            fetch(host.kept, "/v1/status", patience=PATIENCE)

    request.getfixturevalue("answering").say("GET /v1/status", b"{}")

    assert fetch(host.kept, "/v1/status", patience=PATIENCE) == b"{}"
    assert len(host.processes) == 1


def test_a_process_that_is_killed_has_a_reason_and_is_replaced(host: Host, answering: Any) -> None:
    answering.say("GET /v1/status", b"{}")
    waiting = host.kept.dial()
    assert fetch(host.kept, "/v1/status", patience=PATIENCE) == b"{}"

    os.kill(host.processes[0], signal.SIGKILL)
    waiting.channel.settimeout(PATIENCE)
    assert waiting.channel.recv(1) == b""
    error = waiting.broken()
    waiting.end()

    assert (error.title, error.detail) == (
        "Cannot reach host gpu1",
        "sh was killed by signal 9.",
    )
    wait_until(lambda: fetch(host.kept, "/v1/status", patience=PATIENCE) == b"{}")
    assert len(host.processes) == 2


def test_a_host_that_is_too_old_gets_a_process_for_each_request(old: Host, answering: Any) -> None:
    answering.say("GET /v1/status", b"{}")
    assert not old.kept.is_old
    assert not old.kept.remark

    for _ in range(3):
        assert fetch(old.kept, "/v1/status", patience=PATIENCE) == b"{}"

    assert old.kept.is_old
    assert old.kept.remark.endswith("cockpit hosts install gpu1")
    assert len(old.processes) == 4


def test_a_silent_connection_is_lost_with_all_its_requests() -> None:
    kept = by_shell("printf 'cockpit-multiplex 1\\n'; exec sleep 61", ping=0.1, dead=0.3)

    error = refused(kept)

    assert error.title == "Host gpu1 does not answer"
    assert error.detail == "No data in 0.3 s."


def test_a_connection_that_is_never_made_ends_with_the_last_that_waits_for_it(
    own_home: Path,
) -> None:
    note = own_home / "pid"
    kept = by_shell(f"echo $$ > {note}.new; mv {note}.new {note}; exec sleep 61")
    line = kept.dial()
    wait_until(note.exists)

    line.end()

    wait_until(lambda: not Path(f"/proc/{note.read_text().strip()}").exists())
    kept.close()


@pytest.mark.parametrize(
    ("sent", "detail"),
    [
        (r"Welcome \033[31mto gpu1\n", "The host sent 'Welcome to gpu1"),
        (r"cockpit-multiplex 1\nWelcome to gpu1\n", "The compressed data is damaged."),
    ],
)
def test_a_host_that_breaks_the_protocol_is_cut_off(sent: str, detail: str) -> None:
    error = refused(by_shell(f"printf '{sent}'; exec sleep 61"))

    assert error.title == "Host gpu1 did not answer like a supervisor"
    assert error.detail.startswith(detail)
    assert "\x1b" not in str(error)
    assert error.hint


def test_a_reason_of_the_host_is_printable(own_home: Path) -> None:
    program = own_home / "host.py"
    program.write_text(
        "import sys, zlib, struct\n"
        "out = sys.stdout.buffer\n"
        "out.write(b'cockpit-multiplex 1\\n'); out.flush()\n"
        "text = b'\\x01\\x1b]0;title\\x07forged\\n' + b'y' * 5000\n"
        "deflate = zlib.compressobj()\n"
        "sys.stdin.buffer.raw.read(20)\n"
        "inflate, asked = zlib.decompressobj(), b''\n"
        "while len(asked) < 7: asked += inflate.decompress(sys.stdin.buffer.raw.read(65536))\n"
        "frame = struct.pack('!BIH', 4, 1, len(text)) + text\n"
        "out.write(deflate.compress(frame) + deflate.flush(zlib.Z_SYNC_FLUSH)); out.flush()\n"
        "sys.stdin.buffer.read()\n"
    )

    error = refused(by_shell(f"exec python3 {program}"))

    assert isinstance(error, NoSupervisor)
    assert "forged" in error.detail
    assert "\x1b" not in str(error)
    assert len(error.detail) < 500


GREEDY = """
import struct, sys, zlib
out, source = sys.stdout.buffer, sys.stdin.buffer.raw
out.write(b"cockpit-multiplex 1\\n"); out.flush()
source.read(20)
inflate, deflate, held = zlib.decompressobj(), zlib.compressobj(), b""
while block := source.read(65536):
    held += inflate.decompress(block)
    while len(held) >= 7:
        kind, stream, length = struct.unpack_from("!BIH", held)
        if len(held) < 7 + length:
            break
        held = held[7 + length :]
        if kind == 1:
            frame = struct.pack("!BIH", 2, stream, 1) + b"x"
            out.write(deflate.compress(frame) + deflate.flush(zlib.Z_SYNC_FLUSH)); out.flush()
"""
"""A host that answers the opening of each stream with a byte, and never closes a stream."""


@pytest.fixture
def greedy(own_home: Path) -> Iterator[KeptHost]:
    (own_home / "host.py").write_text(GREEDY)
    kept = by_shell(f"exec python3 {own_home / 'host.py'}")
    yield kept
    kept.close()


def opened(kept: KeptHost) -> Any:
    line = kept.dial()
    line.channel.settimeout(PATIENCE)
    assert line.channel.recv(1) == b"x"
    return line


def test_more_requests_than_the_maximum_are_refused(greedy: KeptHost) -> None:
    lines = [opened(greedy) for _ in range(MOST_STREAMS)]

    error = refused(greedy)

    assert error.title == "Too many requests to host gpu1 at once"
    assert error.detail == "The maximum is 128."
    for line in lines:
        line.end()


def test_cancelled_requests_that_the_host_does_not_close_are_the_reason_of_a_refusal(
    greedy: KeptHost,
) -> None:
    for _ in range(MOST_RESET):
        opened(greedy).end()

    error = refused(greedy)

    assert error.detail == "The host has not closed 1,024 cancelled requests yet."
    assert "to open a new connection" in error.hint


def test_nothing_is_left_of_a_connection(host: Host, answering: Any) -> None:
    answering.say("GET /v1/status", b"{}")
    before = sorted(Path("/proc/self/fd").iterdir()), threading.active_count()

    fetch(host.kept, "/v1/status", patience=PATIENCE)
    host.kept.close()
    host.kept.close()

    wait_until(lambda: not Path(f"/proc/{host.processes[0]}").exists())
    wait_until(lambda: sorted(Path("/proc/self/fd").iterdir()) == before[0])
    wait_until(lambda: threading.active_count() <= before[1])
