"""How long the quick commands take, program start included."""

from __future__ import annotations

import json
import os
import socketserver
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

from tests.bench.rows import percentile, row

AGENTS = 50
RUNS = 20

AGENT = {
    "name": "agent", "runtime": "claude", "state": "working", "directory": "/w", "needs": None,
    "mode": "prompt", "strategy": "handoff", "max_handoffs": 3, "handoff": None,
    "activity": "Edit src/auth.py", "note": None,
    "context": {"tokens": 142_000, "window": 200_000, "used": 0.71, "band": "act",
                "confidence": "reported", "source": "statusline", "turns_left": 6},
}  # fmt: skip
STATUS = json.dumps({"version": 1, "supervisor": {"pid": 1}, "agents": [AGENT] * AGENTS}).encode()


class Answer(socketserver.BaseRequestHandler):
    """A fixed status, whatever is asked: the supervisor's own time is measured elsewhere."""

    def handle(self) -> None:
        self.request.recv(65536)
        head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(STATUS)
        self.request.sendall(head + STATUS)


def main() -> None:
    folder = Path(os.environ["COCKPIT_HOME"]) / "run"
    folder.mkdir(parents=True)
    with socketserver.UnixStreamServer(str(folder / "cockpit.sock"), Answer) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            for words in (["status", "--json"], ["status"]):
                times = [_milliseconds(words) for _ in range(RUNS)]
                what = f"cockpit {' '.join(words)}, {AGENTS} agents"
                row(f"{what}: median", statistics.median(times), "ms", at_most=200)
                row(f"{what}: p95", percentile(times, 0.95), "ms")
        finally:
            server.shutdown()
            thread.join()


def _milliseconds(words: list[str]) -> float:
    began = time.perf_counter()
    command = [sys.executable, "-m", "cockpit", *words]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - began) * 1000


if __name__ == "__main__":
    main()
