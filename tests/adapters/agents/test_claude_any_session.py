"""Any session gives the same facts and token counts, however its transcript is read."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cockpit.adapters.agents.claude.record import parse
from cockpit.adapters.agents.claude.skim import FactsParser
from cockpit.adapters.agents.claude.totals import TotalsParser
from cockpit.adapters.transcripts.lines import Parse
from cockpit.adapters.transcripts.scan import read_all
from cockpit.core.collect import Collector
from cockpit.core.facts import Facts
from cockpit.core.meter import Meter

COMMANDS = [
    "git commit -m 'Co-Authored-By: Claude Opus 4.6 (1M context)'",
    "pytest -q", "ruff check . && mypy", "cd /w && npm test; echo done", "make build", "ls",
    "git commit -qm 'Add x'", "git reset -q HEAD~1",
    'git commit -m "Say \\"hi\\""', "git commit -m x && make test",
    "gh pr create --fill", "gh pr view 7 && pytest", "sleep 99",
    "git commit -m 'x\n\nCo-Authored-By: Claude Opus 4.6 (1M context) <a@b.c>'",
]  # fmt: skip
OUTPUTS = [
    "", "12 passed in 0.1s", "1 failed, 3 passed", "[main 1234567] Add x\n 1 file changed",
    "1234567 Add x", "All checks passed!", "Task #1 created successfully: Test it",
    "#1 [in_progress] Test it", "No tasks found", "Task not found", 'a"}]},"b', "back\\",
    'User has answered your questions: "Q"="A".', "https://github.com/o/r/pull/7", "é" * 2_100,
    "x" * 17_000 + "\n7 passed",
]  # fmt: skip
TEXTS = ["Done.", "\n\nLater.", " ", "Größer", '"type":', '],"stop_reason":null', "x" * 300]
PRINTED: list[Any] = [
    {"stdout": "", "stderr": "", "interrupted": False},
    {"stdout": "", "stderr": "", "interrupted": False, "isImage": False},
    {"stdout": "", "stderr": "w", "interrupted": True},
    {"stdout": "", "stderr": "", "interrupted": False, "backgroundTaskId": "b1"},
    {"stdout": "", "stderr": "", "interrupted": False, "returnCodeInterpretation": "none"},
    {"gitOperation": {"commit": {"sha": "1"}}, "stdout": "", "stderr": "", "interrupted": False},
    "Error: no",
    None,
]
STARTED = [{"stdout": "", "stderr": "", "interrupted": False, "backgroundTaskId": "b1"}]
WATCHING = [{"taskId": "b1", "timeoutMs": 300_000, "persistent": False}]
ENDED = [{"task": {"task_id": "b1", "status": "completed"}}]
LAUNCHED: list[Any] = [
    {"agentId": "a1", "status": "async_launched", "resolvedModel": "claude-opus-4-6[1m]"},
    {"agentId": "a1", "status": "completed"},
]
GOAL = [{"type": "text", "file": {"filePath": "/w/c.md", "content": "# Goal\n\nShip."}}]
CREATED = ["Task #1 created successfully: Test it", "Task #2 created successfully: Test it"]
LISTED = ["#1 [in_progress] Test it", "No tasks found"]


@dataclass(frozen=True)
class Call:
    """A tool call, and what its result can be."""

    name: str
    input: dict[str, Any]
    outputs: list[str] = field(default_factory=lambda: OUTPUTS)
    details: list[Any] = field(default_factory=lambda: PRINTED[-2:])


CALLS = [
    *[Call("Bash", {"command": command}, details=PRINTED) for command in COMMANDS],
    *[
        Call("Bash", {"command": command, "description": "Run it"}, details=PRINTED)
        for command in COMMANDS
    ],
    Call("Bash", {"command": "make watch", "run_in_background": True}, ["Started"], STARTED),
    Call("Bash", {"command": "tail -f x", "run_in_background": True}, ["Started"], STARTED),
    Call("Edit", {"file_path": "/w/a.py", "old_string": "a", "new_string": '{"type":"b"}'}),
    Call("Edit", {"file_path": "/w/b.py", "old_string": "a", "new_string": "b"}),
    Call("Write", {"file_path": "/w/c.md", "content": "# Goal\n\nShip."}),
    Call("Write", {"file_path": "/h/.claude/plans/p.md", "content": "Plan"}),
    Call("Read", {"file_path": "/w/c.md"}, details=GOAL),
    Call("Read", {"file_path": "/w/a.py"}),
    Call("NotebookEdit", {"notebook_path": "/w/n.ipynb"}),
    Call("TaskCreate", {"subject": "Test it"}, CREATED),
    Call("TaskUpdate", {"taskId": "1", "status": "completed"}, ["Updated", "Task not found"]),
    Call("TaskList", {}, LISTED),
    Call("TaskStop", {"task_id": "b1"}, ["Stopped"]),
    Call("KillShell", {"shell_id": "b1"}, ["Killed"]),
    Call("TaskOutput", {"task_id": "b1"}, details=ENDED),
    Call("TodoWrite", {"todos": [{"content": "x", "status": "pending"}]}),
    Call("Agent", {"description": "Look", "subagent_type": "Explore"}, details=LAUNCHED),
    Call("AskUserQuestion", {"questions": [{"question": "Q"}]}),
    Call("ExitPlanMode", {"plan": "Do it"}),
    Call("Grep", {"pattern": "x"}),
    Call("Monitor", {"command": "tail -f x", "description": "Wait"}, ["Started"], WATCHING),
    Call("Bash", {"command": "./serve & echo $!"}, ["4242"], PRINTED),
    Call("Bash", {"command": "kill 4242"}, [""], PRINTED),
    Call("mcp__forge__create_issue", {"title": "x"}),
]
GROUPS: dict[tuple[str, bool, bool], list[Call]] = {}
for _call in CALLS:
    _command = _call.input.get("command", "")
    _group = _call.name, "run_in_background" in _call.input, "commit" in _command
    GROUPS.setdefault(_group, []).append(_call)
SAID = st.one_of(
    st.sampled_from([{"type": "text", "text": text} for text in TEXTS]),
    st.just({"type": "thinking", "thinking": "Hm", "signature": "s"}),
)
CALLED = st.one_of([st.sampled_from(calls) for calls in GROUPS.values()])
"""Each tool as often as the others, and commands of each group as often as a tool."""
BLOCKS = st.one_of(SAID, CALLED, CALLED)
OTHERS: list[dict[str, Any]] = [
    {"type": "user", "message": {"role": "user", "content": "Never push."}},
    {"type": "user", "message": {"role": "user", "content": "[Request interrupted by user]"}},
    {"type": "system", "subtype": "compact_boundary", "compactMetadata": {"trigger": "auto"}},
    {"type": "progress", "data": {}},
    {"attachment": {"type": "queued_command", "prompt": "Test", "commandMode": "prompt"},
     "type": "attachment"},
]  # fmt: skip
TORN = b'{"parentUuid":"u","isSidechain":false,"message":{"id":"msg'
ONE_BLOCK = {
    "apart": True, "side": False, "counts": [(3, 5)], "same": True, "extra": {}, "between": None,
}  # fmt: skip
REPLIES = st.fixed_dictionaries(
    {
        "blocks": st.lists(BLOCKS, min_size=1, max_size=4),
        "apart": st.booleans(),
        "side": st.sampled_from([False, False, False, True]),
        "counts": st.lists(st.sampled_from([(3, 5), (3, 9), (4, 5)]), min_size=4, max_size=4),
        "same": st.booleans(),
        "extra": st.sampled_from(
            [{}, {}, {"iterations": []}, {"iterations": [{"type": "message", "input_tokens": 2}]}]
        ),
        "between": st.sampled_from([None, None, None, *OTHERS]),
    }
)
RESULTS = st.fixed_dictionaries(
    {
        "which": st.integers(0, 3),
        "output": st.integers(0, 15),
        "details": st.integers(0, 7),
        "failed": st.sampled_from([None, None, False, False, True]),
        "as_list": st.sampled_from([False, False, False, True]),
        "two": st.sampled_from([False, False, False, True]),
        "denied": st.sampled_from([None, None, None, "user-rejected", "interrupted"]),
    }
)
STEPS = st.lists(
    st.one_of(
        st.tuples(CALLED, RESULTS),
        st.tuples(CALLED, RESULTS),
        REPLIES,
        RESULTS,
        st.sampled_from(["torn", "again", *OTHERS]),
    ),
    min_size=1,
    max_size=25,
)


@dataclass
class Written:
    """A transcript as the CLI writes it, with the calls that have no result so far."""

    lines: list[bytes] = field(default_factory=list)
    calls: list[tuple[str, Call]] = field(default_factory=list)
    count: int = 0

    def add(self, record: dict[str, Any], *, side: bool = False) -> None:
        whole = {"parentUuid": "u", "isSidechain": side, **record, "uuid": "v", "cwd": "/w"}
        text = json.dumps(whole, separators=(",", ":"), ensure_ascii=False)
        self.lines.append(text.encode())

    def reply(self, told: dict[str, Any]) -> None:
        self.count += 1
        blocks = [
            self.call(f"toolu_{self.count}_{at}", block) if isinstance(block, Call) else block
            for at, block in enumerate(told["blocks"])
        ]
        parts = [[block] for block in blocks] if told["apart"] else [blocks]
        for part, counts in zip(parts, told["counts"], strict=False):
            new, output = told["counts"][0] if told["same"] else counts
            usage = {
                "input_tokens": new,
                "cache_creation_input_tokens": 10,
                "cache_read_input_tokens": 100 * self.count,
                "output_tokens": output,
                **told["extra"],
            }
            message = {
                "id": f"msg_{self.count}",
                "type": "message",
                "role": "assistant",
                "model": "claude-opus-4-6",
                "content": part,
                "stop_reason": None,
                "stop_sequence": None,
                "usage": usage,
            }
            self.add({"message": message, "type": "assistant"}, side=told["side"])
            if told["between"] is not None:
                self.add(told["between"])

    def call(self, ident: str, call: Call) -> dict[str, Any]:
        self.calls.append((ident, call))
        return {"type": "tool_use", "id": ident, "name": call.name, "input": call.input}

    def result(self, told: dict[str, Any]) -> None:
        if not self.calls:
            return
        ident, call = self.calls.pop(-1 - told["which"] % len(self.calls))
        output = call.outputs[told["output"] % len(call.outputs)]
        content = [self.block(ident, output, told)]
        if told["two"] and self.calls:
            other, second = self.calls.pop()
            content.append(self.block(other, second.outputs[0], {**told, "failed": None}))
        record: dict[str, Any] = {
            "type": "user",
            "message": {"role": "user", "content": content},
        }
        if told["denied"] is not None:
            record["toolDenialKind"] = told["denied"]
        details = call.details[told["details"] % len(call.details)]
        if isinstance(details, dict) and "stdout" in details:
            details = details | {"stdout": output}
        self.add(record | ({} if details is None else {"toolUseResult": details}))

    def block(self, ident: str, output: str, told: dict[str, Any]) -> dict[str, Any]:
        content = [{"type": "text", "text": output}] if told["as_list"] else output
        block = {"tool_use_id": ident, "type": "tool_result", "content": content}
        return block if told["failed"] is None else {**block, "is_error": told["failed"]}


def written(steps: list[Any]) -> bytes:
    session = Written()
    session.add({"type": "user", "message": {"role": "user", "content": "Go"}})
    for step in steps:
        if step == "torn":
            session.lines.append(TORN)
        elif step == "again":
            session.lines.append(session.lines[-1])
        elif isinstance(step, tuple):
            session.reply(ONE_BLOCK | {"blocks": [step[0]]})
            session.result(step[1] | {"which": 0})
        elif "blocks" in step:
            session.reply(step)
        elif "which" in step:
            session.result(step)
        else:
            session.add(step)
    return b"\n".join(session.lines)


def read(path: Path, with_parse: Parse) -> tuple[Facts, tuple[Any, ...]]:
    collector, meter = Collector(), Meter()

    def feed(event: Any) -> None:
        collector.feed(event)
        meter.feed(event)

    read_all(path, with_parse, feed)
    counts = (
        meter.tokens, meter.totals, meter.api_calls, meter.model, meter.compactions, meter.skipped,
        meter.peak, meter.tokens_per_turn,
    )  # fmt: skip
    return collector.facts(), (*counts, meter.tool_calls)


CHECKED = Call("Bash", {"command": "pytest -q"}, details=PRINTED)
PASSED = {
    "which": 0, "output": 1, "details": 0, "failed": False, "as_list": False, "two": False,
    "denied": None,
}  # fmt: skip


@example(steps=[(CHECKED, PASSED), (CHECKED, PASSED | {"output": 2, "denied": "interrupted"})])
@example(steps=[(CHECKED, PASSED), (CHECKED, PASSED | {"output": 2, "details": 3})])
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_the_quick_ways_give_what_a_parse_of_every_line_gives(
    tmp_path: Path, steps: list[Any]
) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(written(steps))
    plain, counts = read(path, parse)
    quick, quick_counts = read(path, FactsParser())
    assert quick == plain
    assert quick_counts == counts
    assert read(path, TotalsParser())[1][:-1] == counts[:-1]


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_spaces_and_the_order_of_keys_change_nothing(tmp_path: Path, steps: list[Any]) -> None:
    lines = [line for line in written(steps).split(b"\n") if line != TORN]
    path = tmp_path / "session.jsonl"
    path.write_text("\n".join(json.dumps(json.loads(line), sort_keys=True) for line in lines))
    assert read(path, FactsParser()) == read(path, parse)
