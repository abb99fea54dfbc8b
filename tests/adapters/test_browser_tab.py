"""A tab's process: packets on one side, a terminal with a program on the other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from cockpit.adapters.browser.tab import LONGEST, READY, Packets, packet

PROGRAM = """
import os, sys
from cockpit.adapters.browser.tab import run
sys.exit(run(sys.argv[1:], {**os.environ, "TERM": "xterm"}, (91, 17)))
"""


def message(**said: object) -> bytes:
    return packet(b"M", json.dumps(said).encode())


class Tab:
    """The server's side of one."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.packets = Packets()
        self.text = b""
        self.messages: list[object] = []
        assert process.stdout
        assert process.stdout.readline() == READY

    def say(self, data: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def until(self, words: bytes) -> None:
        while words not in self.text:
            assert self._read(), (words, self.text)

    def rest(self) -> None:
        while self._read():
            pass

    def _read(self) -> bool:
        assert self.process.stdout
        data = os.read(self.process.stdout.fileno(), 65_536)
        for kind, payload in self.packets.feed(data):
            if kind == b"D":
                self.text += payload
            else:
                self.messages.append(json.loads(payload))
        return bool(data)


@contextmanager
def tab(*argv: str) -> Iterator[Tab]:
    command = [sys.executable, "-c", PROGRAM, *argv]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield Tab(process)
        finally:
            process.kill()


def test_what_is_typed_arrives_and_what_is_written_comes_back() -> None:
    with tab("cat") as one:
        one.say(packet(b"D", "grüß dich\n".encode()))
        one.until("grüß dich\r\ngrüß dich\r\n".encode())


def test_the_size_is_the_tabs_and_follows_it() -> None:
    script = "stty size; while read line; do stty size; done"
    with tab("sh", "-c", script) as one:
        one.until(b"17 91\r\n")
        one.say(message(type="resize", width=120, height=40))
        one.say(packet(b"D", b"\n"))
        one.until(b"40 120\r\n")
        one.say(message(type="resize", width="wide", height=None))
        one.say(message(type="resize", width=10**9, height=-1))
        one.say(packet(b"D", b"\n"))
        one.until(b"1 1000\r\n")


def test_a_program_that_ends_says_so_and_gives_its_code() -> None:
    with tab("sh", "-c", "echo farewell; exit 7") as one:
        one.rest()
        assert b"farewell" in one.text
        assert one.messages == [{"type": "exit"}]
        assert one.process.wait(60) == 7


@pytest.mark.parametrize("how", ["quit", "gone"])
def test_a_tab_that_is_closed_hangs_up(how: str) -> None:
    with tab("sh", "-c", "echo $$; exec cat") as one:
        one.until(b"\r\n")
        pid = int(one.text)
        if how == "quit":
            one.say(message(type="quit"))
        else:
            assert one.process.stdin
            one.process.stdin.close()
        one.process.wait(60)
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_packets_are_whole_however_they_come() -> None:
    stream = packet(b"D", b"one") + packet(b"M", b"{}") + packet(b"D", b"")
    packets = Packets()
    found = [one for byte in stream for one in packets.feed(bytes([byte]))]
    assert found == [(b"D", b"one"), (b"M", b"{}"), (b"D", b"")]
    assert list(Packets().feed(stream)) == found


def test_a_packet_without_end_is_refused() -> None:
    with pytest.raises(ValueError, match="packet"):
        list(Packets().feed(b"D" + (LONGEST + 1).to_bytes(4, "big")))
