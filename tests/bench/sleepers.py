"""Who writes for agents that only sleep: their transcripts, and the CLI's notes of processes."""

from __future__ import annotations

import json
import random
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.bench.flights import HOME, status, until

EACH_PER_SECOND = 2.0
FIRST, FULL = 20_000, 150_000
"""The tokens in an agent's context at first and after a compaction, and before one."""
LEAST_STEP, LONGEST_STEP = 1_000, 5_000
"""What a turn adds to the context, in tokens."""


@dataclass
class Sleepers:
    """So many agents, each with a transcript of its own."""

    names: list[str]
    transcripts: list[Path]
    pids: list[int]
    sessions: list[str]
    tokens: dict[int, int] = field(default_factory=dict)
    """The tokens in the context of each agent, by its place."""
    lines: int = 0
    written: int = 0
    at: dict[tuple[str, int], float] = field(default_factory=dict)
    late: list[float] = field(default_factory=list)
    chance: random.Random = field(default_factory=lambda: random.Random(2))

    @classmethod
    def of(cls, number: int) -> Sleepers:
        rows = status()["agents"]
        assert len(rows) == number
        return cls(
            [each["name"] for each in rows],
            [Path(each["transcript"]) for each in rows],
            [each["pid"] for each in rows],
            [each["session_id"] for each in rows],
        )

    def rest(self) -> None:
        """Everybody has answered once, and waits."""
        for place in range(len(self.names)):
            self.transcripts[place].parent.mkdir(parents=True, exist_ok=True)
            self.reply(place)
        self.note("idle")
        until(lambda: all(each["state"] == "idle" for each in status()["agents"]))

    def work(self) -> None:
        self.note("busy")
        until(lambda: all(each["state"] == "working" for each in status()["agents"]))

    def note(self, activity: str) -> None:
        """What the CLI notes of its process."""
        folder = HOME / "cli" / "sessions"
        folder.mkdir(parents=True, exist_ok=True)
        for pid, session in zip(self.pids, self.sessions, strict=True):
            started = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
            told = {
                "pid": pid,
                "procStart": started,
                "sessionId": session,
                "status": activity,
                "updatedAt": time.time() * 1000,
            }
            (folder / f"{pid}.json").write_text(json.dumps(told))

    def reply(self, place: int, tokens: int | None = None) -> None:
        """One more message in a transcript: its request has so many tokens, or a turn more."""
        self.lines += 1
        if tokens is None:
            tokens = self.tokens.get(place, FULL) + self.chance.randrange(LEAST_STEP, LONGEST_STEP)
            tokens = tokens if tokens < FULL else FIRST + tokens % LEAST_STEP
        self.tokens[place] = tokens
        usage = {"input_tokens": tokens, "output_tokens": 5}
        message = {
            "id": f"msg_{self.lines}",
            "role": "assistant",
            "model": "claude-haiku-4-5",
            "content": [{"type": "text", "text": "words " * 60}],
            "usage": usage,
        }
        line = {"type": "assistant", "isSidechain": False, "message": message}
        line |= {"sessionId": self.sessions[place], "uuid": f"{self.lines:032x}"}
        data = json.dumps(line).encode() + b"\n"
        self.at[self.names[place], tokens] = time.monotonic()
        with self.transcripts[place].open("ab", buffering=0) as file:
            file.write(data)

    def write_for(self, seconds: float) -> list[float]:
        """Write evenly over all of them; how late each row came that was told, in milliseconds.

        Two lines within one telling are one row; the first of them is not counted.
        """
        pause = 1 / (EACH_PER_SECOND * len(self.names))
        end, due = time.monotonic() + seconds, time.monotonic()
        chance = random.Random(1)
        while time.monotonic() < end:
            self.reply(chance.randrange(len(self.names)))
            self.written += 1
            due += pause
            time.sleep(max(0.0, due - time.monotonic()))
        time.sleep(0.3)
        return self.late

    def seen(self, line: dict[str, Any], at: float) -> None:
        if line.get("type") != "agent":
            return
        told = line["agent"]
        written = self.at.pop((told["name"], told["context"]["tokens"]), None)
        if written is not None:
            self.late.append(1000 * (at - written))
