"""What a view of the same agents costs: ours, the CLI's own (`claude agents`), and ccmanager.

Real sessions of the bundled CLI on a simulated model, in the same folder for all three, in turn.
Each has a home, a configuration and a made-up key of its own, and nothing of the user's. A view is
what draws on the terminal; what works behind it (our supervisor and tmux, the CLI's daemon and its
hosts) is told as well, and sessions are in neither. ccmanager's view holds its sessions' terminals
itself, so with it both are one. A peer that cannot be had is left out, with the reason.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from cockpit.core.errors import CockpitError
from cockpit.demo.conversation import Reply, Request, TokenCount, ToolCall
from cockpit.demo.jobs import jobs_for
from cockpit.demo.model import ModelServer
from cockpit.demo.scratch import Scratch, make_scratch
from tests.bench.npm import CCMANAGER, NotHere, native_binary
from tests.bench.processes import (
    command_line,
    end_marked,
    family,
    marked,
    proportional,
    resident,
    spent,
)
from tests.bench.rows import note, row
from tests.bench.terminal import LOOKS, Terminal

AGENTS = 2
BEGIN_SECONDS = 4.0
"""For sessions to come up, before a view is opened."""
WARM_SECONDS = 4.0
LISTED = 5
KEYS = 12
STEPS = 100_000
"""A job that does not end while it is looked at."""
COCKPIT = [sys.executable, "-P", "-m", "cockpit"]
FLAGS = ("--permission-mode", "acceptEdits", "--allowedTools=Bash")
PROMPT = "count please"
DOWN, UP = b"\x1b[B", b"\x1b[A"
BEHIND = (b" daemon run ", b"bg-pty-host")
"""Words of the processes with which the CLI keeps background sessions."""


@dataclass
class Cost:
    """What one of them cost, by the name of the figure."""

    figures: dict[str, float] = field(default_factory=dict)

    def watch(
        self,
        view: Terminal,
        of_view: Callable[[], Sequence[int]],
        behind: Callable[[], Sequence[int]],
    ) -> None:
        """Bytes, processor and memory, once it has settled."""
        view.drained(WARM_SECONDS)
        others = [pid for pid in behind() if pid not in of_view()]
        began, clock = spent(others), time.monotonic()
        self.figures["bytes to the terminal"], self.figures["processor of the view"] = view.watched(
            of_view
        )
        share = 100 * (spent(others) - began) / (time.monotonic() - clock)
        self.figures["processor with its back end"] = self.figures["processor of the view"] + share
        self.figures["memory of the view"] = resident(of_view())
        self.figures["memory with its back end"] = proportional({*of_view(), *others})

    def lists(self, argv: Sequence[str], environment: dict[str, str]) -> None:
        """The same list as a script reads it."""
        times = []
        for _ in range(LISTED):
            began = time.monotonic()
            subprocess.run(argv, env=environment, check=True, stdout=subprocess.DEVNULL)
            times.append(1000 * (time.monotonic() - began))
        self.figures["the list as JSON"] = statistics.median(times)

    def answers(self, view: Terminal) -> None:
        """How soon the list shows a key; only while nothing else is drawn."""
        times = [view.answer(DOWN if number % 2 == 0 else UP) for number in range(KEYS)]
        self.figures["key to the first change"] = statistics.median(times)

    def round_trips(self, view: Terminal, into: bytes, back: bytes) -> None:
        """Into a session's own terminal and back to the list, each to the first change."""
        there, home = [], []
        for _ in range(KEYS // 2):
            there.append(view.answer(into))
            home.append(view.answer(back))
        self.figures["into a session"] = statistics.median(there)
        self.figures["and back"] = statistics.median(home)


UNITS = {
    "first frame": "ms",
    "the whole screen": "ms",
    "coming back to it": "ms",
    "the list as JSON": "ms",
    "bytes to the terminal": "B/s",
    "processor of the view": "%",
    "processor with its back end": "%",
    "memory of the view": "MB",
    "memory with its back end": "MB",
    "key to the first change": "ms",
    "into a session": "ms",
    "and back": "ms",
}


def main() -> None:
    for state, answer in (("busy", counting), ("idle", resting)):
        with ModelServer(answer) as model:
            compare(model.url, state)


def compare(model_url: str, state: str) -> None:
    costs: dict[str, Cost] = {}
    for name, fly in FLOWN.items():
        try:
            with scratch_for(model_url) as scratch:
                costs[name] = fly(scratch, environment_of(scratch), state)
        except (CockpitError, NotHere, OSError, subprocess.SubprocessError) as error:
            note(f"{name}, {AGENTS} {state} sessions: not measured. {error}")
    mine = costs.pop("cockpit", Cost()).figures
    for what, value in mine.items():
        beside = {name: each.figures[what] for name, each in costs.items() if what in each.figures}
        row(f"{AGENTS} {state} sessions: {what}", value, UNITS[what], beside=beside)


@contextmanager
def scratch_for(model_url: str) -> Iterator[Scratch]:
    """A repository and a home for one of them; whatever it began is ended afterwards."""
    scratch = make_scratch(jobs_for(AGENTS), model_url)
    try:
        if not scratch.real:
            raise NotHere(f"there is no real CLI here: {scratch.cli}")
        yield scratch
    finally:
        end_marked(str(scratch.folder))
        scratch.remove()


# The three of them


def ours(scratch: Scratch, environment: dict[str, str], state: str) -> Cost:
    config = ["--config", str(scratch.config)]
    cost = Cost()
    order(environment, *config, "up")
    try:
        for name in names(scratch):
            order(environment, *config, "start", name)
        until_read(environment)
        time.sleep(BEGIN_SECONDS)
        with Terminal([*COCKPIT, *config], environment, scratch.repository) as view:
            cost.figures["first frame"] = view.until([names(scratch)[0].encode()])
            cost.figures["the whole screen"] = view.until([b"help"])
            screen = found(scratch, b"--in-home-window")
            servers = [*found(scratch, b"up --foreground"), *found(scratch, b"start-server")]
            cost.watch(view, lambda: [view.pid, *screen], lambda: servers)
            if state == "idle":
                cost.answers(view)
                cost.round_trips(view, b"\r", b"\x1b[24~")
                cost.lists([*COCKPIT, "status", "--json"], environment)
        with Terminal([*COCKPIT, *config], environment, scratch.repository) as view:
            cost.figures["coming back to it"] = view.until([names(scratch)[0].encode()])
    finally:
        order(environment, "down", "--agents")
    return cost


def claude_agents(scratch: Scratch, environment: dict[str, str], state: str) -> Cost:
    claude = str(scratch.folder / "bin" / "claude")
    for _ in range(AGENTS):
        subprocess.run(
            [claude, "--bg", *FLAGS, PROMPT],
            env=environment, cwd=scratch.repository, check=True, capture_output=True, timeout=60,
        )  # fmt: skip
    time.sleep(BEGIN_SECONDS)
    cost = Cost()
    with Terminal([claude, "agents"], environment, scratch.repository) as view:
        cost.figures["first frame"] = view.until([PROMPT.encode(), b"Working", b"working"])

        def behind() -> list[int]:
            return [pid for word in BEHIND for pid in found(scratch, word)]

        cost.watch(view, lambda: family(view.pid), behind)
        if state == "idle":
            cost.answers(view)
            cost.lists([claude, "agents", "--json"], environment)
    # It keeps no screen for whoever comes back: it begins anew.
    with Terminal([claude, "agents"], environment, scratch.repository) as view:
        cost.figures["coming back to it"] = view.until([PROMPT.encode(), b"Working", b"working"])
    return cost


def ccmanager(scratch: Scratch, environment: dict[str, str], state: str) -> Cost:
    """With its sessions begun by its own keys: a number opens one, Ctrl-E goes back to the list."""
    program = native_binary("ccmanager", CCMANAGER)
    make_worktrees(scratch, environment)
    write_settings(scratch)
    cost = Cost()
    with Terminal([str(program)], environment, scratch.repository) as view:
        cost.figures["first frame"] = view.until([b"CCManager"])
        view.until([b"Quit"])
        view.quiet()
        for number in range(1, AGENTS + 1):
            open_session(view, b"%d" % number)
            view.press(b"\x05")
            view.quiet()

        def of_view() -> list[int]:
            sessions = {pid for one in found(scratch, PROMPT.encode()) for pid in family(one)}
            return [pid for pid in family(view.pid) if pid not in sessions]

        if len(found(scratch, PROMPT.encode())) < AGENTS:
            raise TimeoutError("its sessions did not begin")
        cost.watch(view, of_view, of_view)
        if state == "idle":
            cost.answers(view)
            cost.round_trips(view, b"1", b"\x05")
    return cost


def open_session(view: Terminal, key: bytes) -> None:
    """Until the session shows its prompt; a key that came before the list was there is lost."""
    view.seen = b""
    for _ in range(5):
        view.press(key)
        view.drained(4)
        if b"please" in view.seen:
            return
    raise TimeoutError(f"the session of key {key!r} never came: {view.seen[-300:]!r}")


def make_worktrees(scratch: Scratch, environment: dict[str, str]) -> None:
    """A trusted worktree for each session: ccmanager opens one a worktree."""
    answers = scratch.folder / "claude" / ".claude.json"
    told = json.loads(answers.read_text())
    for number in range(AGENTS):
        tree = str(scratch.folder / f"tree-{number}")
        git = ["git", "worktree", "add", "-q", "--detach", tree]
        subprocess.run(git, cwd=scratch.repository, env=environment, check=True)
        told["projects"][tree] = {"hasTrustDialogAccepted": True}
    answers.write_text(json.dumps(told))


def write_settings(scratch: Scratch) -> None:
    preset = {
        "id": "1", "name": "Main", "command": "claude", "args": [*FLAGS, PROMPT],
        "detectionStrategy": "claude",
    }  # fmt: skip
    folder = scratch.folder / "home" / ".config" / "ccmanager"
    folder.mkdir(parents=True, exist_ok=True)
    presets = {"commandPresets": {"presets": [preset], "defaultPresetId": "1"}}
    (folder / "config.json").write_text(json.dumps(presets))


FLOWN = {"cockpit": ours, "claude agents": claude_agents, "ccmanager": ccmanager}


# What they stand on


def counting(request: Request) -> Reply:
    """Half a second of thought, then one more command, for as long as anybody asks."""
    if not request.has_tools or request.replies_made >= STEPS:
        return Reply("ok")
    call = ToolCall("Bash", {"command": f"echo {request.replies_made}", "description": "count"})
    return Reply(tool_calls=(call,), tokens=TokenCount(cache_read=20_000), delay=0.5)


def resting(_request: Request) -> Reply:
    """A turn that is over at once."""
    return Reply("Done.", tokens=TokenCount(cache_read=20_000))


def order(environment: dict[str, str], *words: str) -> None:
    subprocess.run([*COCKPIT, *words], env=environment, check=True, capture_output=True)


def until_read(environment: dict[str, str]) -> None:
    """Wait until every agent has a reading: then its session has come up. 60 s at most."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        argv = [*COCKPIT, "status", "--json"]
        told = subprocess.run(argv, env=environment, check=True, capture_output=True).stdout
        if all(one["context"]["tokens"] for one in json.loads(told)["agents"]):
            return
        time.sleep(0.2)
    raise TimeoutError("not every agent had a reading")


def names(scratch: Scratch) -> list[str]:
    lines = scratch.config.read_text().splitlines()
    return [line.split('"')[1] for line in lines if line.startswith("name = ")]


def found(scratch: Scratch, word: bytes) -> list[int]:
    """The processes of this flight that have these words in their command line."""
    return [pid for pid in marked(str(scratch.folder)) if word in command_line(pid)]


def environment_of(scratch: Scratch) -> dict[str, str]:
    """The flight's, with what leads the CLI to the simulated model wherever it is started."""
    configured = tomllib.loads(scratch.config.read_text())["defaults"]["env"]
    home = scratch.folder / "home"
    places = {"CONFIG": ".config", "STATE": ".local/state", "DATA": ".local/share"}
    xdg = {f"XDG_{name}_HOME": str(home / place) for name, place in places.items()}
    return {**scratch.environment(), **configured, **xdg, **LOOKS}


if __name__ == "__main__":
    main()
