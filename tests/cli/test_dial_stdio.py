"""`cockpit dial-stdio`: bytes in, bytes out, and both ends."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from typing import Any

from cockpit.cli.dial_stdio import copy_both_ways

DIAL = [sys.executable, "-m", "cockpit", "dial-stdio"]


def test_an_answer_comes_back_through_the_pipe(answering: Any) -> None:
    answering.say("GET /v1/status", b"x" * 300_000)
    request = b"GET /v1/status HTTP/1.0\r\nHost: cockpit\r\n\r\n"

    done = subprocess.run(DIAL, input=request, capture_output=True, check=True)

    head, _, body = done.stdout.partition(b"\r\n\r\n")
    assert b"200 OK" in head
    assert body == b"x" * 300_000


def test_nobody_there_is_exit_4() -> None:
    done = subprocess.run(DIAL, input=b"", capture_output=True, check=False)

    assert done.returncode == 4
    assert done.stdout == b""
    assert b"cockpit up" in done.stderr


def test_the_end_of_the_input_is_passed_on_and_the_answer_still_read() -> None:
    ours, theirs = socket.socketpair()
    source, feed = os.pipe()
    result, sink = os.pipe()
    with ours, theirs:
        thread = threading.Thread(target=copy_both_ways, args=(ours, source, sink))
        thread.start()
        os.write(feed, b"question")
        os.close(feed)
        asked = b""
        while block := theirs.recv(100):
            asked += block
        theirs.sendall(b"answer")
        theirs.shutdown(socket.SHUT_WR)
        thread.join()
    os.close(sink)
    with os.fdopen(result, "rb") as answer:
        assert (asked, answer.read()) == (b"question", b"answer")
    os.close(source)
