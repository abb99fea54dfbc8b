"""What every test stands on: a home of its own, nothing ambient, and nobody left behind."""

from __future__ import annotations

import gc
import json
import os
import shlex
import shutil
import signal
import socketserver
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from cockpit.config.kernel import PORTABLE_VARIABLE, USES_LINUX
from cockpit.demo.repository import make_repository
from tests.schedule import slow_first
from tests.without_linux import take_away

# A busy machine is no fault of the code under test: no example is timed.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

_FOREIGN = (
    *("TMUX", "COCKPIT_", "GIT_", "NO_COLOR", "FORCE_COLOR", "XDG_"),
    *("CLAUDE", "ANTHROPIC", "CODEX", "OPENAI", "GEMINI", "COPILOT", "OPENCODE"),
    # With CI=true, Gemini acts as if it had no terminal: it asks nothing and ends.
    *("CI", "GITHUB_"),
)
_KEPT = {PORTABLE_VARIABLE}
_GRACE_SECONDS = 60.0
_FOLDERS = {
    "HOME": "home",
    "XDG_CONFIG_HOME": "config",
    "XDG_STATE_HOME": "state",
    "XDG_RUNTIME_DIR": "run",
    "XDG_DATA_HOME": "data",
    "XDG_CACHE_HOME": "cache",
    "COCKPIT_HOME": "ck",
}
_FOLDER_MODE = stat.S_IFDIR | 0o700
_GITCONFIG = "[user]\n\tname = User\n\temail = user@example.com\n[init]\n\tdefaultBranch = main\n"


def pytest_configure() -> None:
    """Signals end the programs that tests start, also if the tests themselves were started by
    `nohup`, or in the background of a script: then SIGHUP or SIGINT are ignored, and inherited so.
    """
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if sys.platform == "linux" and not USES_LINUX:
        take_away()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """What collection makes is needed to the end, so it is never searched for garbage.

    Every worker collects all tests: 9 seconds of processor time each, 5 so. Afterwards garbage is
    searched for less often: the usual search was a fifth of what the tests of the screen computed.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(100_000, 20, 20)
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests that start real programs are the slow ones: one worker more than there are cores
    begins with some of them, because they wait more than they compute.
    """
    if worker := getattr(config, "workerinput", None):
        workers = worker["workercount"]
        items[:] = slow_first(
            items,
            workers,
            min(workers, (os.cpu_count() or 1) + 1),
            lambda test: any(map(test.get_closest_marker, ("tmux", "claude"))),
        )


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Tests that are coroutines run on asyncio, as cockpit does."""
    return "asyncio"


@pytest.fixture(scope="session")
def untouched_homes() -> Iterator[list[Path]]:
    """Homes that are as they were made. Most tests need none: the next test can have theirs.

    To make and remove one takes 10 ms, more than most tests.
    """
    homes: list[Path] = []
    yield homes
    for home in homes:
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def project() -> Iterator[Path]:
    """The repository of the demo's agents, to be copied: git makes it with six processes."""
    with tempfile.TemporaryDirectory(prefix="project-") as folder:
        made = Path(folder, "repository")
        made.mkdir()
        make_repository(made, {"PATH": os.environ["PATH"], "HOME": folder})
        yield made


@pytest.fixture(autouse=True)
def own_home(monkeypatch: pytest.MonkeyPatch, untouched_homes: list[Path]) -> Iterator[Path]:
    """A folder with a short path (sockets!) that holds HOME, XDG and `COCKPIT_HOME`.

    When the test is over, a process that still carries it in its environment is ended, and
    the test fails by its name.
    """
    home = untouched_homes.pop() if untouched_homes else _make_home()
    for name in [name for name in os.environ if name.startswith(_FOREIGN) and name not in _KEPT]:
        monkeypatch.delenv(name)
    for name, folder in _FOLDERS.items():
        monkeypatch.setenv(name, str(home / folder))
    # Whatever lies in the folder for temporary files is no repository of a test's.
    shared = Path(tempfile.gettempdir())
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", f"{shared}:{shared.resolve()}")
    before = _processes()
    yield home
    left = _still_running(home, before)
    if not left and _is_untouched(home):
        untouched_homes.append(home)
    else:
        shutil.rmtree(home, ignore_errors=True)
    assert not left, f"the test left running: {left}"


def _make_home() -> Path:
    home = Path(tempfile.mkdtemp(prefix="ck"))
    for folder in _FOLDERS.values():
        (home / folder).mkdir(mode=0o700)
    (home / "home" / ".gitconfig").write_text(_GITCONFIG)
    return home


def _is_untouched(home: Path) -> bool:
    """Whether a home is as it was made, file for file."""
    config = home / "home" / ".gitconfig"
    try:
        return (
            home.lstat().st_mode == _FOLDER_MODE
            and _modes(home) == dict.fromkeys(_FOLDERS.values(), _FOLDER_MODE)
            and not any(_modes(home / name) for name in _FOLDERS.values() if name != "home")
            and list(_modes(config.parent)) == [config.name]
            and config.read_text() == _GITCONFIG
        )
    except OSError:
        return False


def _modes(folder: Path) -> dict[str, int]:
    with os.scandir(folder) as entries:
        return {entry.name: entry.stat(follow_symlinks=False).st_mode for entry in entries}


def _still_running(home: Path, before: set[str]) -> list[str]:
    """Command lines of the processes that outlived the test; they are ended."""
    deadline = time.monotonic() + _GRACE_SECONDS
    while (carriers := _carriers(home, before)) and time.monotonic() < deadline:
        time.sleep(0.05)
    for pid in carriers:
        _end(pid)
    return list(carriers.values())


def _processes() -> set[str]:
    """The pids that are in use; none where there is no /proc."""
    try:
        with os.scandir("/proc") as entries:
            return {entry.name for entry in entries if entry.name.isdigit()}
    except OSError:
        return set()


def _carriers(home: Path, before: set[str]) -> dict[int, str]:
    """Command lines by pid of those that carry the home and did not run before the test."""
    mark = os.fsencode(home)
    found = {}
    for pid in _processes() - before:
        entry = Path("/proc", pid)
        try:
            if mark in (entry / "environ").read_bytes():
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
                found[int(pid)] = command.decode(errors="replace").strip()
        except OSError:
            continue  # it ended while we looked, or it is not ours to read
    return found


def _end(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


class AnsweringSupervisor(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """A supervisor that answers from a table, with real HTTP on a real socket.

    `answers` maps `METHOD /target` to an HTTP status and the pieces of the body, each sent
    by itself; `asked` is what came, in order.
    """

    daemon_threads = True

    def __init__(self, path: Path) -> None:
        self.path = path
        self.answers: dict[str, tuple[int, list[bytes]]] = {}
        self.asked: list[tuple[str, Any]] = []
        self.breaks_off = False
        """Close in the middle of the answer."""
        super().__init__(str(path), _AnswersFromTable)

    def say(self, request: str, *pieces: Any, status: int = 200) -> None:
        """Put an answer into the table; what is not bytes is sent as JSON."""
        body = [p if isinstance(p, bytes) else json.dumps(p).encode() for p in pieces]
        self.answers[request] = (status, body)


class _AnswersFromTable(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: AnsweringSupervisor

    def do_GET(self) -> None:
        request = f"{self.command} {self.path}"
        length = int(self.headers.get("Content-Length") or 0)
        self.server.asked.append((request, json.loads(self.rfile.read(length) or b"null")))
        status, pieces = self.server.answers.get(request, (404, [b""]))
        self.send_response(status)
        chunked = self.request_version == "HTTP/1.1"
        self.send_header(*(("Transfer-Encoding", "chunked") if chunked else ("X-Ends", "close")))
        self.end_headers()
        for piece in filter(None, pieces):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
            self.wfile.flush()
        if chunked and not self.server.breaks_off:
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = True

    do_POST = do_GET

    def log_message(self, *_said: Any) -> None:
        """Say nothing: a test that fails shows `asked`."""


@pytest.fixture
def connect(own_home: Path) -> Callable[[Path], list[str]]:
    """Makes a host of a folder: what runs a command as another machine would, with no network.

    It has a `cockpit` on its PATH, and that folder as its `COCKPIT_HOME`.
    """
    programs = own_home / "host-bin"
    programs.mkdir()
    script = programs / "cockpit"
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -P -m cockpit "$@"\n')
    script.chmod(0o755)
    path = f"{programs}:{os.environ['PATH']}"
    return lambda home: ["env", f"COCKPIT_HOME={home}", f"PATH={path}"]


@pytest.fixture
def answering(own_home: Path) -> Iterator[AnsweringSupervisor]:
    """An `AnsweringSupervisor` on the socket that commands of this test would ask."""
    folder = own_home / "ck" / "run"
    folder.mkdir(mode=0o700)
    with AnsweringSupervisor(folder / "cockpit.sock") as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()
