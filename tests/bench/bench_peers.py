"""What a view of the same agents costs: ours, the CLI's own (`claude agents`), and ccmanager.

Real sessions of the bundled CLI on a simulated model. Of each view: bytes to the terminal,
processor and memory of the view's own processes, its first frame. ccmanager comes from the npm
registry into a folder that goes again, and shows its list without sessions: its sessions live
inside it, where they would be counted too. A peer that cannot be had is skipped, with the reason.
"""

from __future__ import annotations

import fcntl
import os
import platform
import pty
import pwd
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from cockpit.core.errors import CockpitError
from cockpit.demo.conversation import Reply, Request, TokenCount, ToolCall
from cockpit.demo.jobs import jobs_for
from cockpit.demo.model import ModelServer
from cockpit.demo.scratch import Scratch, make_scratch
from tests.bench.rows import row

AGENTS = 2
SIZE = (50, 160)
TICKS = os.sysconf("SC_CLK_TCK")
WARM_SECONDS = 8.0
WATCHED_SECONDS = 10.0
STEPS = 100_000
"""A job that does not end while it is looked at."""
COCKPIT = [sys.executable, "-P", "-m", "cockpit"]
FLAGS = ("--permission-mode", "acceptEdits", "--allowedTools=Bash")


class View:
    """A program on a pseudo-terminal, and what it costs."""

    def __init__(self, argv: Sequence[str], environment: dict[str, str], at: Path) -> None:
        self.begun = time.monotonic()
        self.pid, self.terminal = pty.fork()
        if not self.pid:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", *SIZE, 0, 0))
            os.chdir(at)
            os.execvpe(argv[0], list(argv), environment)
        self.seen = b""

    def read(self, patience: float) -> int:
        if not select.select([self.terminal], [], [], patience)[0]:
            return 0
        try:
            data = os.read(self.terminal, 1 << 20)
        except OSError:
            return 0
        self.seen += data
        return len(data)

    def until(self, words: Sequence[bytes], within: float = 60.0) -> float:
        """Seconds from the start until one of the words was seen; raises `TimeoutError`."""
        while not any(word in self.seen for word in words):
            if time.monotonic() > self.begun + within:
                raise TimeoutError(f"never showed {words}: {self.seen[-300:]!r}")
            self.read(0.05)
        return time.monotonic() - self.begun

    def drain(self, seconds: float) -> int:
        """Bytes written in so many seconds."""
        total, end = 0, time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            total += self.read(left)
        return total

    def processor(self) -> float:
        """Seconds of processor so far."""
        return sum(map(spent, family(self.pid)))

    def memory(self) -> float:
        """Resident megabytes."""
        pages = (Path(f"/proc/{pid}/statm").read_text().split()[1] for pid in family(self.pid))
        return sum(map(int, pages)) * os.sysconf("SC_PAGESIZE") / 1e6

    def close(self) -> None:
        for pid in family(self.pid):
            kill(pid)
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


def family(pid: int) -> list[int]:
    """A process and everything that descends from it."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(one for child in children for one in family(int(child)))]


def spent(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def measure(name: str, view: View, words: Sequence[bytes], what: str) -> None:
    try:
        first = view.until(words)
        view.drain(WARM_SECONDS)
        before = view.processor()
        total = view.drain(WATCHED_SECONDS)
        used = view.processor() - before
        row(f"{name}: first frame, {what}", 1e3 * first, "ms")
        row(f"{name}: bytes to the terminal, {what}", total / WATCHED_SECONDS, "B/s")
        row(f"{name}: processor of the view, {what}", 100 * used / WATCHED_SECONDS, "%")
        row(f"{name}: memory of the view, {what}", view.memory(), "MB")
    except (TimeoutError, OSError) as error:
        skip(name, str(error))
    finally:
        view.close()


def skip(name: str, why: str) -> None:
    print(f"  {name}: skipped, {why}", flush=True)


def counting(request: Request) -> Reply:
    """Half a second of thought, then one more command, for as long as anybody asks."""
    if not request.has_tools or request.replies_made >= STEPS:
        return Reply("ok")
    call = ToolCall("Bash", {"command": f"echo {request.replies_made}", "description": "count"})
    return Reply(tool_calls=(call,), tokens=TokenCount(cache_read=20_000), delay=0.5)


def resting(_request: Request) -> Reply:
    """A turn that is over at once."""
    return Reply("Done.", tokens=TokenCount(cache_read=20_000))


def ours(scratch: Scratch, environment: dict[str, str], what: str) -> None:
    config = ["--config", str(scratch.config)]
    order(environment, *config, "up")
    try:
        for name in names(scratch):
            order(environment, *config, "start", name)
        view = View([*COCKPIT, *config, "--direct"], environment, scratch.repository)
        measure("cockpit", view, [names(scratch)[0].encode()], what)
    finally:
        order(environment, "down", "--agents")


def order(environment: dict[str, str], *words: str) -> None:
    subprocess.run([*COCKPIT, *words], env=environment, check=True, capture_output=True)


def names(scratch: Scratch) -> list[str]:
    lines = scratch.config.read_text().splitlines()
    return [line.split('"')[1] for line in lines if line.startswith("name = ")]


def claude_agents(scratch: Scratch, environment: dict[str, str], what: str) -> None:
    claude = str(scratch.folder / "bin" / "claude")
    before = processes()
    try:
        for _ in range(AGENTS):
            subprocess.run(
                [claude, "--bg", *FLAGS, "count please"],
                env=environment, cwd=scratch.repository, check=True, capture_output=True,
                timeout=60,
            )  # fmt: skip
        view = View([claude, "agents"], environment, scratch.repository)
        measure("claude agents", view, [b"count please", b"Working", b"working"], what)
    except (subprocess.SubprocessError, OSError) as error:
        skip("claude agents", str(error))
    finally:
        end_what_belongs_to(scratch.folder, before)


def ccmanager(scratch: Scratch, environment: dict[str, str]) -> None:
    npm = shutil.which("npm")
    if npm is None:
        skip("ccmanager", "there is no npm")
        return
    prefix = scratch.folder / "npm"
    # Its program is a package of its own, of another version than the one that asks for it.
    cpu = "arm64" if platform.machine() in ("aarch64", "arm64") else "x64"
    binary = f"@kodaikabasawa/ccmanager-{sys.platform}-{cpu}"
    done = subprocess.run(
        [npm, "install", "--no-audit", "--no-fund", "--prefix", str(prefix), "ccmanager", binary],
        env={
            **os.environ,
            # Where npm is told of its registry; what it writes goes to the folder.
            "HOME": pwd.getpwuid(os.getuid()).pw_dir,
            "npm_config_cache": str(scratch.folder / "npm-cache"),
        },
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    program = prefix / "node_modules" / ".bin" / "ccmanager"
    if done.returncode or not program.exists():
        skip("ccmanager", f"npm did not bring it: {done.stderr.strip()[-200:]}")
        return
    view = View([str(program)], environment, scratch.repository)
    measure("ccmanager", view, [b"CCManager"], "no sessions")


def processes() -> set[int]:
    return {int(entry.name) for entry in Path("/proc").glob("[0-9]*")}


def end_what_belongs_to(folder: Path, before: set[int]) -> None:
    """End the processes that came since and carry the folder in their environment."""
    mark = os.fsencode(folder)
    for pid in processes() - before - {os.getpid()}:
        with suppress(OSError):
            if mark in Path(f"/proc/{pid}/environ").read_bytes():
                kill(pid)


def main() -> None:
    for what, answer in (("busy", counting), ("idle", resting)):
        with ModelServer(answer) as model:
            try:
                scratch = make_scratch(jobs_for(AGENTS), model.url)
            except CockpitError as error:
                skip("all of it", str(error))
                return
            try:
                compare(scratch, f"{AGENTS} real sessions, {what}")
                if what == "idle":
                    ccmanager(scratch, environment_of(scratch))
            finally:
                scratch.remove()


def compare(scratch: Scratch, what: str) -> None:
    if not scratch.real:
        skip("the real CLI", scratch.cli)
        return
    ours(scratch, environment_of(scratch), what)
    claude_agents(scratch, environment_of(scratch), what)


def environment_of(scratch: Scratch) -> dict[str, str]:
    """The flight's, with what leads the CLI to the simulated model wherever it is started."""
    configured = tomllib.loads(scratch.config.read_text())["defaults"]["env"]
    terminal = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
    return {**scratch.environment(), **configured, **terminal}


if __name__ == "__main__":
    main()
