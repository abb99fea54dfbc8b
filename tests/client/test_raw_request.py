"""The raw request of the fast path, against the same supervisor as the full client."""

from __future__ import annotations

import json
import socket
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from cockpit.adapters.remote_host import RemoteHost
from cockpit.client.raw_request import fetch, lines
from cockpit.core.errors import BadUsage, NoSupervisor


def test_the_body_of_an_answer(answering: Any) -> None:
    answering.say("GET /v1/status", b'{"vers', b'ion": 1}')

    assert json.loads(fetch(answering.path, "/v1/status")) == {"version": 1}


def test_a_body_is_posted(answering: Any) -> None:
    answering.say("POST /v1/attach", {"message": "é"})

    assert fetch(answering.path, "/v1/attach", body={"name": "api"})
    assert answering.asked == [("POST /v1/attach", {"name": "api"})]


def test_a_refusal_is_the_error_that_it_was(answering: Any) -> None:
    answering.say("GET /v1/status", {"exit_code": 2, "title": "no", "hint": "try"}, status=400)

    with pytest.raises(BadUsage, match="no\ntry"):
        fetch(answering.path, "/v1/status")


def test_lines_come_one_by_one(answering: Any) -> None:
    answering.say("GET /v1/watch", b"on", b"e\n\ntw", b"o\nto", b"rn")

    found: list[bytes] = []
    with pytest.raises(NoSupervisor, match="Lost connection"):
        found.extend(lines(answering.path, "/v1/watch"))

    assert found == [b"one", b"two"]


def test_a_stream_can_be_refused(answering: Any) -> None:
    answering.say("GET /v1/watch", {"exit_code": 2, "title": "no"}, status=400)

    with pytest.raises(BadUsage):
        list(lines(answering.path, "/v1/watch"))


def test_nobody_there(own_home: Path) -> None:
    with pytest.raises(NoSupervisor, match="cockpit up"):
        fetch(own_home / "none", "/v1/status")


def test_one_who_listens_and_says_nothing(own_home: Path) -> None:
    with socket.socket(socket.AF_UNIX) as mute:
        mute.bind(str(own_home / "mute"))
        mute.listen()
        with pytest.raises(NoSupervisor, match="does not answer"):
            fetch(own_home / "mute", "/v1/status", patience=0.05)


@pytest.mark.parametrize(
    "said", [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n12"]
)
def test_one_who_hangs_up_in_the_middle(own_home: Path, said: bytes) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(own_home / "s"))
        listening.listen()

        def answer() -> None:
            channel, _ = listening.accept()
            with channel:
                channel.recv(65536)
                channel.sendall(said)

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(NoSupervisor, match="Lost connection"):
            fetch(own_home / "s", "/v1/status")
        thread.join()


def dripping(own_home: Path, first: bytes) -> RemoteHost:
    """A host that sends this, then a byte from time to time, for ever."""
    program = own_home / "drip.py"
    program.write_text(
        f"import sys, time\nsys.stdout.buffer.write({first!r})\n"
        "while True:\n sys.stdout.write('x'); sys.stdout.flush(); time.sleep(0.05)\n"
    )
    return RemoteHost("gpu1", [sys.executable, "-IS", str(program)])


@pytest.mark.parametrize(
    ("first", "told"),
    [
        (b"", "did not answer like a supervisor"),
        (b"HTTP/1.1 200 OK\r\nX: ", "does not answer"),
        (b"HTTP/1.1 200 OK\r\n\r\n", "does not answer"),
    ],
)
def test_a_host_that_sends_a_byte_from_time_to_time_is_given_up(
    own_home: Path, first: bytes, told: str
) -> None:
    with pytest.raises(NoSupervisor, match=told):
        fetch(dripping(own_home, first), "/v1/status", patience=0.2)


def test_a_line_that_never_ends_is_given_up(own_home: Path) -> None:
    host = dripping(own_home, b"HTTP/1.1 200 OK\r\n\r\n{}\n")
    told = lines(host, "/v1/watch", patience=5, silence=0.2)
    assert next(told) == b"{}"
    with pytest.raises(NoSupervisor, match="does not answer"):
        next(told)


def test_a_refusal_that_never_ends_is_given_up(own_home: Path) -> None:
    host = dripping(own_home, b"HTTP/1.1 409 Conflict\r\n\r\n")
    with pytest.raises(NoSupervisor, match="does not answer"):
        next(lines(host, "/v1/watch", patience=0.2))


def test_a_host_that_sends_control_characters_only(own_home: Path) -> None:
    host = RemoteHost("gpu1", ["sh", "-c", "exec cat /dev/zero"])
    with pytest.raises(NoSupervisor) as caught:
        fetch(host, "/v1/status")
    assert caught.value.detail == "The host sent control characters."
