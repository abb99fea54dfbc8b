"""A slow and lossy line between two programs, without the rights that netem needs.

    slow_line.py [conditions] exec PROGRAM …    between this process's standard files and a program
    slow_line.py [conditions] tcp PORT          a listener in front of a port of 127.0.0.1
    slow_line.py [conditions] udp PORT          the same for datagrams

A listener prints its port; the file of `--count` has the bytes that have come from there. On a
stream, a lost segment arrives late by a retransmission, and so does everything after it; a lost
datagram does not arrive. While the file of `--cut` exists, connections end without a word, and new
ones fail.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

SEGMENT = 1400
LEAST_RETRANSMISSION = 0.2
INSTANT = 1e-6
"""Seconds between two arrivals: asyncio calls what is due at the same time in any order."""
POLL_SECONDS = 0.02
UNREACHABLE = 255
"""The exit code of ssh for a host that it cannot reach."""


class Direction:
    """Delays data in one direction."""

    def __init__(self, given: argparse.Namespace, write: Callable[[bytes], object]) -> None:
        self._write = write
        self._delay: float = given.round_trip / 2000
        self._loss = given.loss / 100
        self._seconds_a_byte: float = 8 / (given.kilobits * 1000) if given.kilobits else 0.0
        self._retransmission = max(LEAST_RETRANSMISSION, 1.5 * given.round_trip / 1000)
        self._chance = random.Random(given.seed)
        self._free_at = 0.0
        self._arrives = 0.0
        self._count: int | None = None
        self._counted = 0

    def counted_in(self, file: Path | None) -> Direction:
        """Keep the number of bytes in this file, if any."""
        if file is not None:
            self._count = os.open(file, os.O_WRONLY | os.O_CREAT, 0o600)
            self._add(0)
        return self

    def stream(self, data: bytes) -> None:
        self._add(len(data))
        for start in range(0, len(data), SEGMENT):
            segment = data[start : start + SEGMENT]
            due = self._due(len(segment))
            if self._chance.random() < self._loss:
                due += self._retransmission
            self._arrives = max(self._arrives + INSTANT, due)
            asyncio.get_running_loop().call_at(self._arrives, self._write, segment)

    def datagram(self, data: bytes) -> None:
        self._add(len(data))
        due = self._due(len(data))
        if self._chance.random() >= self._loss:
            asyncio.get_running_loop().call_at(due, self._write, data)

    def end(self, call: Callable[[], object]) -> None:
        """Call this after everything has arrived."""
        loop = asyncio.get_running_loop()
        loop.call_at(max(self._arrives + INSTANT, loop.time()), call)

    def _add(self, size: int) -> None:
        self._counted += size
        if self._count is not None:
            os.pwrite(self._count, b"%12d" % self._counted, 0)  # at once: somebody reads it

    def _due(self, size: int) -> float:
        self._free_at = max(self._free_at, asyncio.get_running_loop().time())
        self._free_at += size * self._seconds_a_byte
        return self._free_at + self._delay


async def run_program(given: argparse.Namespace) -> int:
    """Run the program with delayed standard files; return its exit code."""
    if _is_cut(given):
        return _unreachable()
    loop = asyncio.get_running_loop()
    process = await asyncio.create_subprocess_exec(
        *given.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin
    assert process.stdout
    source = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(source), sys.stdin)
    to_program = Direction(given, process.stdin.write)
    # Blocking: what is read here is never more than the reader takes.
    from_program = Direction(given, _write_all)
    pumps = [
        asyncio.create_task(_pump(source, to_program, process.stdin.close)),
        asyncio.create_task(_pump(process.stdout, from_program, lambda: None)),
    ]
    ended = asyncio.create_task(process.wait())
    while not ended.done() and not _is_cut(given):
        await asyncio.wait({ended}, timeout=POLL_SECONDS)
    if not ended.done():
        process.kill()
        return _unreachable()
    await pumps[1]
    arrived = asyncio.Event()
    from_program.end(arrived.set)
    await arrived.wait()
    return process.returncode or 0


async def listen_tcp(given: argparse.Namespace) -> int:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if _is_cut(given):
                return
            far_reader, far = await asyncio.open_connection("127.0.0.1", int(given.words[0]))
            there = Direction(given, far.write)
            back = Direction(given, writer.write).counted_in(given.count)
            tasks = [
                asyncio.create_task(_pump(reader, there, far.close)),
                asyncio.create_task(_pump(far_reader, back, writer.close)),
            ]
            while not all(task.done() for task in tasks):
                await asyncio.wait(tasks, timeout=POLL_SECONDS)
                if _is_cut(given):
                    far.transport.abort()
                    break
        except ConnectionError:
            return
        finally:
            if _is_cut(given):
                writer.transport.abort()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
    return 0


async def listen_udp(given: argparse.Namespace) -> int:
    """Pass datagrams on, for one client at a time."""
    loop = asyncio.get_running_loop()
    clients: list[tuple[str, int]] = []

    class Side(asyncio.DatagramProtocol):
        def __init__(self, take: Callable[[bytes, tuple[str, int]], None]) -> None:
            self._take = take

        def datagram_received(self, data: bytes, address: tuple[str, int]) -> None:
            if not _is_cut(given):
                self._take(data, address)

    def from_client(data: bytes, address: tuple[str, int]) -> None:
        clients[:] = [address]
        there.datagram(data)

    def to_client(data: bytes) -> None:
        if clients:
            near.sendto(data, clients[0])

    far, _ = await loop.create_datagram_endpoint(
        lambda: Side(lambda data, _: back.datagram(data)),
        remote_addr=("127.0.0.1", int(given.words[0])),
    )
    near, _ = await loop.create_datagram_endpoint(
        lambda: Side(from_client), local_addr=("127.0.0.1", 0)
    )
    there = Direction(given, far.sendto)
    back = Direction(given, to_client).counted_in(given.count)
    print(near.get_extra_info("sockname")[1], flush=True)
    await asyncio.Event().wait()
    return 0


async def _pump(source: asyncio.StreamReader, way: Direction, end: Callable[[], object]) -> None:
    with suppress(ConnectionError):
        while data := await source.read(65536):
            way.stream(data)
    way.end(end)


def _is_cut(given: argparse.Namespace) -> bool:
    return given.cut is not None and given.cut.exists()


def _unreachable() -> int:
    print("slow_line: the line is cut", file=sys.stderr)
    return UNREACHABLE


def _write_all(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--round-trip", type=float, default=0, help="milliseconds")
    parser.add_argument("--loss", type=float, default=0, help="per cent")
    parser.add_argument("--kilobits", type=float, default=0, help="per second; 0: no limit")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cut", type=Path)
    parser.add_argument("--count", type=Path, help="of the last connection")
    parser.add_argument("kind", choices=("exec", "tcp", "udp"))
    parser.add_argument("words", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    run = {"exec": run_program, "tcp": listen_tcp, "udp": listen_udp}[given.kind]
    with suppress(KeyboardInterrupt):
        return asyncio.run(run(given))
    return 0


if __name__ == "__main__":
    sys.exit(main())
