"""Reading a transcript for facts gives what a plain reading of every line gives."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from cockpit.adapters.agents.claude.record import parse
from cockpit.adapters.agents.claude.skim import FactsParser
from cockpit.adapters.transcripts.scan import read_all
from cockpit.core.collect import Collector
from cockpit.core.meter import Meter

COMMANDS = [
    "pytest -q",
    "pytest -q tests/a.py; echo done",
    "ruff check . && mypy",
    "make test",
    "git commit -qm 'Add x'",
    'git add -A && git commit -m "Say \\"hi\\""',
    "ls -la",
    "cat a.txt",
    "gh pr create --fill",
    "cd /w && npm test",
    "python - <<'E'\nprint(1)\nE",
    "git commit && make test",
    "cargo build",
    "git log --oneline",
    "sleep 1000",
]
TEXTS = [
    "Done.",
    "\n\nLater.",
    " ",
    "Überall\u2028größer",
    'He said "type": and stopped',
    "\ud83d\ude00 ok",
    "- a\n- b",
    '{"type":"text","text":"x"}',
    '],"stop_reason":null',
]
OUTPUTS = [
    "12 passed in 0.1s",
    "1 failed, 3 passed",
    "",
    "[main 1234567] Add x\n 1 file changed",
    'a"},{"b',
    'end"}]},',
    "back\\",
    '","is_error":false}]},"',
    "\ud800 half",
    "é" * 3000,
    "x" * 5000 + "\n7 passed in 2s",
    "y" * 20_000,
    "z\n" * 1999 + "ok",
    "1234567 Add x",
    "All checks passed!",
    'User has answered your questions: "Q"="A".',
    "https://github.com/o/r/pull/7",
    "Task #3 created",
    "\x1b[31mred\x1b[0m\t1 error",
    '"stderr":""',
    '","stderr":"","interrupted":false}',
]
PATHS = [
    "/w/a.py",
    "/w/\u00fc.py",
    "/w/b\\c.py",
    "/w/notes.md",
    "/home/u/.claude/plans/p.md",
    '/w/a"b.py',
    "",
]
SIDE = {"agentId": "a1"}


class Session:
    """Writes random records as the CLI does, some of them of an unusual form."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0
        self.open: list[tuple[str, str]] = []
        self.lines: list[bytes] = []

    def pick(self, *of: Any) -> Any:
        return self.random.choice(of)

    def write(self, record: dict[str, Any]) -> None:
        escaped = self.random.random() < 0.3
        separators = (",", ":") if self.random.random() < 0.95 else (", ", ": ")
        text = json.dumps(record, separators=separators, ensure_ascii=escaped)
        line = text.encode(errors="surrogatepass")
        if self.random.random() < 0.01:
            line = line[: self.random.randrange(len(line))].rstrip(b"}")
        self.lines.append(line)

    def chained(self, **more: Any) -> dict[str, Any]:
        side = self.random.random() < 0.1
        extra = {
            **(SIDE if side else {}),
            **({"promptId": "p"} if self.random.random() < 0.5 else {}),
        }
        at = f"2026-11-01T10:{self.count // 60 % 60:02d}:{self.count % 60:02d}.000Z"
        return {
            "parentUuid": "u",
            "isSidechain": side,
            **extra,
            **more,
            "uuid": "v",
            "timestamp": at,
            "cwd": "/w",
        }

    def call(self) -> dict[str, Any]:
        self.count += 1
        ident = f"toolu_{self.count}"
        name = self.pick(
            "Bash",
            "Bash",
            "Bash",
            "Edit",
            "Write",
            "Read",
            "MultiEdit",
            "TaskCreate",
            "Agent",
            "ExitPlanMode",
        )
        if name == "Bash":
            arguments: dict[str, Any] = {"command": self.pick(*COMMANDS)}
            arguments |= self.pick(
                {}, {"description": self.pick("Run it", 'The "one"', 7)}, {"timeout": 5}
            )
        elif name in ("Edit", "Write", "Read", "MultiEdit"):
            arguments = {"file_path": self.pick(*PATHS)}
            arguments |= self.pick(
                {},
                {"content": "# Goal\n\nx"},
                {"old_string": "a", "new_string": '{"type":"b"}'},
                {"type": "x"},
                {"command": "ls"},
                {"edits": [{"old_string": "file_path"}]},
            )
            if self.random.random() < 0.1:
                arguments = {"content": "y", **arguments}
        else:
            arguments = {"subject": "s", "description": "d", "plan": "p"}
        self.open.append((ident, name))
        block = {"type": "tool_use", "id": ident, "name": name, "input": arguments}
        block |= self.pick({}, {"caller": {"type": "direct"}})
        return block

    def reply(self) -> None:
        blocks: list[dict[str, Any]] = []
        for _ in range(self.pick(1, 1, 1, 2)):
            kind = self.random.random()
            if kind < 0.3:
                blocks.append({"type": "text", "text": self.pick(*TEXTS)})
            elif kind < 0.4:
                blocks.append({"type": "thinking", "thinking": self.pick(*TEXTS), "signature": "s"})
            else:
                blocks.append(self.call())
        usage = {
            "input_tokens": self.random.randint(0, 9),
            "cache_creation_input_tokens": 5,
            "cache_read_input_tokens": self.random.randint(0, 99_000),
            "output_tokens": self.random.randint(1, 500),
            "iterations": self.pick([], [], [{"type": "message", "input_tokens": 3}]),
        }
        self.count += 1
        for content in self.pick([blocks], [[block] for block in blocks]):
            message = {
                "id": f"msg_{self.count}",
                "type": "message",
                "role": "assistant",
                "model": "claude-opus-5",
                "content": content,
                "stop_reason": None,
                "stop_sequence": None,
                "usage": usage,
            }
            self.write(self.chained(message=message, requestId="r", type="assistant"))

    def result(self) -> None:
        if not self.open:
            return
        ident, name = self.open.pop(self.random.randrange(len(self.open)))
        output = self.pick(*OUTPUTS)
        block: dict[str, Any] = {"tool_use_id": ident, "type": "tool_result", "content": output}
        block |= self.pick(
            {}, {"is_error": False}, {"is_error": False}, {"is_error": self.pick(True, False)}
        )
        if self.random.random() < 0.1:
            block["content"] = [{"type": "text", "text": output}]
        if self.random.random() < 0.1:
            block = {
                "type": "tool_result",
                "content": output,
                "is_error": True,
                "tool_use_id": ident,
            }
        details: Any = {
            "stdout": output,
            "stderr": self.pick("", "w"),
            "interrupted": self.pick(False, False, True),
        }
        details |= self.pick(
            {},
            {},
            {"isImage": False, "noOutputExpected": False},
            {"backgroundTaskId": "b1"},
            {"returnCodeInterpretation": "no match"},
            {"gitOperation": {"commit": {"sha": "1"}}},
        )
        if name == "Read":
            details = {
                "type": "text",
                "file": {"filePath": "/w/notes.md", "content": "# Goal\n\nShip."},
            }
        content = [block]
        if self.open and self.random.random() < 0.2:
            other, _ = self.open.pop()
            content.append(
                {
                    "tool_use_id": other,
                    "type": "tool_result",
                    "content": "3 passed",
                    "is_error": False,
                }
            )
        more = self.pick(
            {}, {}, {}, {"toolDenialKind": "user-rejected"}, {"permissionDecision": "allow"}
        )
        message = {"role": "user", "content": content}
        record = self.chained(type="user", message=message)
        self.write(
            {**record, "toolUseResult": self.pick(details, details, details, "Error: no")} | more
        )

    def other(self) -> None:
        kind = self.random.random()
        if kind < 0.4:
            text = self.pick(
                "Never push.",
                "Go on",
                "<system-reminder>x</system-reminder>",
                "[Request interrupted by user]",
            )
            self.write(self.chained(type="user", message={"role": "user", "content": text}))
        elif kind < 0.5:
            self.write(
                self.chained(
                    type="system", subtype="compact_boundary", compactMetadata={"trigger": "auto"}
                )
            )
        elif kind < 0.7:
            self.write({"type": "ai-title", "aiTitle": "A title"})
        else:
            attachment = {"type": "queued_command", "prompt": "Also test", "commandMode": "prompt"}
            self.write(self.chained(attachment=attachment, type="attachment"))

    def whole(self, length: int) -> bytes:
        for _ in range(length):
            step = self.random.random()
            if step < 0.5:
                self.reply()
            elif step < 0.95:
                self.result()
            else:
                self.other()
        return b"\n".join(self.lines)


def read(path: Path, with_parse: Any) -> tuple[Any, ...]:
    collector, meter = Collector(), Meter()

    def feed(event: Any) -> None:
        collector.feed(event)
        meter.feed(event)

    read_all(path, with_parse, feed)
    counts = (
        meter.tokens,
        meter.totals,
        meter.api_calls,
        meter.tool_calls,
        meter.model,
        meter.compactions,
    )
    return collector.facts(), counts, meter.skipped


@pytest.mark.parametrize("seed", range(150))
def test_facts_of_any_session_are_those_of_a_plain_reading(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(Session(seed).whole(20 + seed * 5))
    quick, plain = read(path, FactsParser()), read(path, parse)
    assert quick == plain


def test_a_line_with_two_results_is_read_though_a_later_check_follows(tmp_path: Path) -> None:
    """The first result alone would be a check that the next one replaces."""
    usage = {
        "input_tokens": 1,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 1,
    }
    calls = [
        ("t1", "Bash", {"command": "pytest -q"}),
        ("t2", "Agent", {"description": "Look"}),
        ("t3", "Bash", {"command": "pytest -q"}),
    ]
    lines: list[dict[str, Any]] = []
    for ident, name, arguments in calls:
        block = {"type": "tool_use", "id": ident, "name": name, "input": arguments}
        message = {
            "id": f"m{ident}",
            "type": "message",
            "role": "assistant",
            "model": "claude-opus-5",
            "content": [block],
            "stop_reason": None,
            "usage": usage,
        }
        lines.append({"parentUuid": None, "isSidechain": False, "message": message})
    for idents in (("t1", "t2"), ("t3",)):
        content = [
            {"tool_use_id": one, "type": "tool_result", "content": "1 passed", "is_error": False}
            for one in idents
        ]
        record: dict[str, Any] = {"parentUuid": "u", "isSidechain": False, "type": "user"}
        details = {"stdout": "1 passed", "stderr": "", "interrupted": False}
        said = {"role": "user", "content": content}
        lines.append({**record, "message": said, "uuid": "v", "toolUseResult": details})
    lines = [line if "type" in line else {**line, "type": "assistant"} for line in lines]
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"\n".join(json.dumps(one, separators=(",", ":")).encode() for one in lines))
    facts = read(path, FactsParser())[0]
    assert facts.subagents[0].status == "completed"
    assert facts == read(path, parse)[0]
