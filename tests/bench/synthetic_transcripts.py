"""Makes transcripts of any size in the form of Claude Code 2.1.330, with known totals.

The same seed makes the same bytes. Lines have the sizes of real ones: a few hundred bytes of
bookkeeping, about 1 KB a reply, tool results from 200 bytes to 60 KB, 40 KB of request shape.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cockpit.core.session import Usage

SESSION = "5f0c7c1e-5a53-4c5b-9d6a-%012d"
OF_ALL_SIZES = (200, 800, 1_500, 3_000, 6_000, 12_000)
"""Characters of most tool results; every hundredth result has 60 KB."""
SHORT = (20, 100, 200, 400)
"""The same for a transcript of short lines, which has no longer ones."""


@dataclass
class Truth:
    """What a made transcript really says."""

    totals: Usage = field(default_factory=Usage)
    api_calls: int = 0
    last: int = 0
    bytes: int = 0


def write_transcript(
    path: Path, megabytes: float, seed: int, sizes: Sequence[int] = OF_ALL_SIZES
) -> Truth:
    """Write one session of about that size. `sizes`: of the tool results, in characters."""
    random_ = random.Random(seed)
    maker = _Maker(random_, SESSION % seed, sizes)
    truth = Truth()
    with path.open("wb") as file:
        file.write(maker.prompt("Make the tests pass, please."))
        file.write(maker.identity())
        file.write(maker.shape())
        while truth.bytes < megabytes * 1_000_000:
            lines = maker.turn(truth)
            file.write(lines)
            truth.bytes += len(lines)
    return truth


class _Maker:
    def __init__(self, random_: random.Random, session: str, sizes: Sequence[int]) -> None:
        self.random, self.session, self.sizes = random_, session, sizes
        self.words = [
            "".join(
                random_.choices('abcdefghijklmnopqrstuvwxyz_(){}:,\n\t"', k=random_.randint(2, 9))
            )
            for _ in range(2_000)
        ]
        self.context = 20_000
        self.count = 0

    def text(self, size: int) -> str:
        start = self.random.randrange(len(self.words) // 2)
        chunk = " ".join(self.words[start : start + 400])
        return (chunk * (size // max(1, len(chunk)) + 1))[:size]

    def line(self, record: dict[str, object]) -> bytes:
        return json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"

    def chained(self, **more: object) -> dict[str, object]:
        uuid = f"{self.random.getrandbits(128):032x}"
        day, minute, second = 1 + self.count // 2000 % 28, self.count // 60 % 60, self.count % 60
        return {
            "parentUuid": uuid,
            "isSidechain": False,
            **more,
            "uuid": uuid[::-1],
            "timestamp": f"2026-11-{day:02d}T10:{minute:02d}:{second:02d}.000Z",
            "userType": "external",
            "entrypoint": "cli",
            "cwd": "/home/pilot/project",
            "sessionId": self.session,
            "version": "2.1.330",
            "gitBranch": "main",
        }

    def prompt(self, text: str) -> bytes:
        message = {"role": "user", "content": text}
        return self.line(self.chained(type="user", message=message, permissionMode="acceptEdits"))

    def identity(self) -> bytes:
        told = {"type": "model", "identity": {"modelId": "claude-opus-5-5"}}
        return self.line(self.chained(attachment=told, type="attachment"))

    def shape(self) -> bytes:
        shape = {"system": self.text(38_000)}
        return self.line({"type": "api-request-shape", "sessionId": self.session, "shape": shape})

    def turn(self, truth: Truth) -> bytes:
        self.count += 1
        number = f"{self.session[-12:]}{self.count:08d}"
        usage = self.usage(truth)
        size = self.random.choice(self.sizes)
        if self.count % 100 == 0 and self.sizes is not SHORT:
            size = 60_000
        blocks: list[dict[str, object]] = [{"type": "text", "text": self.text(300)}]
        kind = self.random.random()
        if kind < 0.5:
            told: dict[str, object] = {"command": f"pytest -q tests/test_{self.count % 40}.py"}
            blocks.append(self.tool(number, "Bash", told))
        elif kind < 0.6:
            told = {"command": f"git add -A && git commit -m 'Step {self.count}'"}
            blocks.append(self.tool(number, "Bash", told))
        elif kind < 0.95:
            told = {
                "file_path": f"/home/pilot/project/src/part_{self.count % 90}.py",
                "old_string": self.text(400),
                "new_string": self.text(600),
            }
            blocks.append(self.tool(number, "Edit", told))
        rows = [self.reply(number, usage, block) for block in blocks]
        if len(blocks) > 1:
            rows.append(self.result(number, 0.5 <= kind < 0.6, size))
        if self.count % 200 == 0:
            rows.append(self.shape())
        return b"".join(rows)

    def usage(self, truth: Truth) -> dict[str, object]:
        self.context += self.random.randint(200, 3_000)
        if self.context > 900_000:
            self.context = 30_000
        new = self.random.randint(100, 3_000)
        output = self.random.randint(20, 900)
        now = Usage(3, new, self.context - new, output)
        truth.api_calls += 1
        truth.last = now.context
        known = truth.totals
        truth.totals = Usage(
            known.input + now.input,
            known.cache_creation + now.cache_creation,
            known.cache_read + now.cache_read,
            known.output + now.output,
        )
        return {
            "input_tokens": now.input,
            "cache_creation_input_tokens": now.cache_creation,
            "cache_read_input_tokens": now.cache_read,
            "output_tokens": now.output,
            "output_tokens_details": {"thinking_tokens": 0},
            "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
            "service_tier": "standard",
            "cache_creation": {
                "ephemeral_1h_input_tokens": 0,
                "ephemeral_5m_input_tokens": now.cache_creation,
            },
            "inference_geo": "",
            "iterations": [],
            "speed": "standard",
        }

    def tool(self, number: str, name: str, told: dict[str, object]) -> dict[str, object]:
        return {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": told}

    def reply(self, number: str, usage: dict[str, object], block: dict[str, object]) -> bytes:
        message = {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": "claude-opus-5-5",
            "content": [block],
            "stop_reason": "tool_use",
            "stop_sequence": None,
            "usage": usage,
        }
        return self.line(self.chained(message=message, requestId=f"req_{number}", type="assistant"))

    def result(self, number: str, committed: bool, size: int) -> bytes:
        said = f"[main {self.count:07x}] Step {self.count}\n" if committed else ""
        text = said + self.text(size)
        block = {
            "tool_use_id": f"toolu_{number}",
            "type": "tool_result",
            "content": text,
            "is_error": False,
        }
        message = {"role": "user", "content": [block]}
        result = {"stdout": text, "stderr": "", "interrupted": False}
        return self.line(self.chained(type="user", message=message, toolUseResult=result))
