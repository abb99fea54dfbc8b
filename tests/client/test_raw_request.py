"""The raw request of the fast path, against the same supervisor as the full client."""

from __future__ import annotations

import json
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

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
