from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cockpit.cli.fast_path import run_fast
from cockpit.cli.usage import SHARED_FROM, _short, usage

RECORDED = Path(__file__).parents[1] / "data" / "transcripts"
TUI = RECORDED / "tui_tasks_compaction.jsonl"
LARGE = RECORDED / "print_large_window_todos.jsonl"


def asked(
    capsys: pytest.CaptureFixture[str], *paths: Path, shared_from: int = SHARED_FROM
) -> tuple[int, list[dict[str, Any]], str]:
    code = usage(paths, True, shared_from=shared_from)
    said = capsys.readouterr()
    return code, json.loads(said.out), said.err


@pytest.mark.parametrize(
    ("tokens", "shown"),
    [
        (999, "999"), (1_000, "1k"), (99_940, "99.9k"), (99_960, "100k"), (999_400, "999k"),
        (999_600, "1.0M"), (1_000_000, "1M"), (999_600_000, "1.0G"), (None, "?"),
    ],
)  # fmt: skip
def test_a_rounded_number_has_the_unit_that_fits(tokens: int | None, shown: str) -> None:
    assert _short(tokens) == shown


def test_the_form_is_the_contracts(capsys: pytest.CaptureFixture[str]) -> None:
    code, (told,), err = asked(capsys, TUI)
    assert (code, err) == (0, "")
    assert told == {
        "transcript": str(TUI),
        "session_id": "34c0bd96-7f62-4afc-9311-5b19ece5e52a",
        "model": "claude-opus-5-5",
        "context": {
            "tokens": 141_008,
            "window": 1_000_000,
            "used": 0.141008,
            "confidence": "derived",
            "source": "transcript",
        },
        "compactions": 1,
        "api_calls": 12,
        "totals": {"input": 96, "cache_creation": 12_000, "cache_read": 830_000, "output": 504},
        "skipped_lines": 0,
        "subagent": False,
        "error": None,
    }


def test_a_subagents_own_transcript_is_marked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    usage = {"input_tokens": 30_000, "output_tokens": 5}
    message = {"id": "m", "model": "claude-opus-5-5", "content": [], "usage": usage}
    reply = {"type": "assistant", "isSidechain": True, "agentId": "a1", "message": message}
    own = tmp_path / "agent-a1.jsonl"
    own.write_text(f"{json.dumps(reply)}\n")
    _, (told,), _ = asked(capsys, own)
    assert told["subagent"] is True
    assert (told["context"]["tokens"], told["api_calls"]) == (30_000, 1)
    assert "subagent" in table(capsys, own)


@pytest.mark.parametrize("kind", ["assistant", "system", "attachment"])
def test_a_transcript_without_a_prompt_is_one_of_its_session(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, kind: str
) -> None:
    usage = {"input_tokens": 20_000, "output_tokens": 5}
    message = {"id": "m", "model": "claude-opus-5-5", "content": [], "usage": usage}
    record = {
        "parentUuid": None,
        "type": kind,
        "subtype": "informational",
        "attachment": {"type": "task_status"},
        "message": message,
        "uuid": "2",
        "sessionId": "s1",
        "cwd": str(tmp_path),
    }
    path = tmp_path / "copy.jsonl"
    lines = ("no JSON", json.dumps({"type": "summary", "leafUuid": "1"}), json.dumps(record))
    path.write_text("".join(f"{line}\n" for line in lines))
    _, (told,), _ = asked(capsys, path)
    assert (told["session_id"], told["error"]) == ("s1", None)


def table(capsys: pytest.CaptureFixture[str], path: Path) -> str:
    usage([path], False)
    return capsys.readouterr().out


def test_in_the_order_asked_and_one_bad_file_spoils_no_other(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    missing = tmp_path / "no.jsonl"
    code, told, err = asked(capsys, LARGE, missing, tmp_path, TUI)
    assert code == 1
    assert [one["transcript"] for one in told] == [
        str(LARGE),
        str(missing),
        str(tmp_path),
        str(TUI),
    ]
    assert [one["error"] is None for one in told] == [True, False, False, True]
    assert told[1]["totals"] is None
    assert told[1]["context"]["tokens"] is None
    assert told[0]["context"]["window"] == 1_000_000
    assert "no.jsonl: no such file" in err


def test_an_empty_file_holds_nothing_and_is_no_error(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    code, (told,), _ = asked(capsys, empty)
    assert (code, told["error"], told["model"], told["session_id"]) == (0, None, None, None)
    assert told["context"] == {
        "tokens": None,
        "window": None,
        "used": None,
        "confidence": "unknown",
        "source": None,
    }


def test_a_file_of_something_else_says_so(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    other = tmp_path / "other.txt"
    other.write_bytes(b"hello\nworld\n\0\xff")
    code, (told,), _ = asked(capsys, other)
    assert (code, told["error"]) == (1, "not a transcript: it contains no records")


def test_bad_lines_are_counted(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    lines = TUI.read_bytes().split(b"\n")
    bad.write_bytes(b"\n".join([*lines[:40], b"\0\0", b'{"type":"assi', *lines[40:]])[:-30])
    _, (told,), _ = asked(capsys, bad)
    assert told["skipped_lines"] == 3
    assert told["api_calls"] == 12


def test_shared_out_over_processes_it_is_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    paths = [LARGE, TUI, *sorted(RECORDED.glob("*.jsonl"))] * 3
    assert asked(capsys, *paths, shared_from=0) == asked(capsys, *paths)


def test_for_people(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    strange = tmp_path / "a\x1b[31m\nb.jsonl"
    strange.write_bytes(TUI.read_bytes())
    assert usage([TUI, strange, RECORDED / "print_api_error.jsonl"], False) == 0
    said = capsys.readouterr()
    header, first, second, third = said.out.splitlines()
    assert header.split()[:3] == ["context", "tokens", "model"]
    assert "14%" in first
    assert "141k/1M" in first
    assert "\x1b" not in second
    assert "?/1M" in third
    assert said.err == ""


def test_a_transcript_of_codex_that_lacks_its_first_records(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    records = (RECORDED.parent / "codex" / "compaction.jsonl").read_bytes().splitlines(True)
    path = tmp_path / "cut.jsonl"
    kinds = []
    for first in range(1, 8):
        path.write_bytes(b"".join(records[first:]))
        kinds.append(json.loads(records[first])["type"])
        code, (told,), _ = asked(capsys, path)
        assert (code, told["context"]["tokens"], told["compactions"]) == (0, 61_123, 1), kinds[-1]
    assert len(set(kinds)) > 2


def test_a_transcript_of_codex_whatever_its_name(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "claude.jsonl"
    path.write_bytes((RECORDED.parent / "codex" / "compaction.jsonl").read_bytes())
    code, (told,), err = asked(capsys, path)
    assert (code, err, told["skipped_lines"]) == (0, "", 0)
    assert told["context"] == {
        "tokens": 61_123,
        "window": 95_000,
        "used": 0.6434,
        "confidence": "reported",
        "source": "transcript",
    }
    assert (told["compactions"], told["api_calls"]) == (1, 6)
    assert told["totals"] == {
        "input": 6018, "cache_creation": 0, "cache_read": 259_000, "output": 720,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("recorded", "tokens", "calls"),
    [("opencode/transcript", 32_123, 5), ("copilot/blocked", 34_123, 6)],
)
def test_transcripts_of_other_clis_whatever_their_names(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, recorded: str, tokens: int, calls: int
) -> None:
    path = tmp_path / "claude.jsonl"
    path.write_bytes((RECORDED.parent / f"{recorded}.jsonl").read_bytes())
    code, (told,), err = asked(capsys, path)
    assert (code, err, told["skipped_lines"]) == (0, "", 0)
    assert (told["context"]["tokens"], told["context"]["window"]) == (tokens, 100_000)
    assert told["api_calls"] == calls


def test_a_record_of_the_documented_shape_is_known_by_its_first_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    record = tmp_path / "notes.txt"
    lines = [
        {"record": "cockpit/1", "session": "s1", "model": "m", "window": 50_000},
        {"usage": {"input": 10, "cache_read": 20_000, "cache_write": 90, "output": 7}},
        {"compacted": True},
        {"usage": {"input": 400, "cache_read": 100}},
        {"usage": {"input": "12"}},
        {"usage": {"input": 600}},
    ]
    record.write_text("".join(json.dumps(line) + "\n" for line in lines))
    code, (told,), err = asked(capsys, record)
    assert (code, err) == (0, "")
    assert (told["session_id"], told["model"], told["skipped_lines"]) == ("s1", "m", 1)
    assert told["context"]["tokens"] == 600
    assert (told["context"]["window"], told["context"]["confidence"]) == (50_000, "reported")
    assert (told["compactions"], told["api_calls"]) == (1, 3)
    assert told["totals"] == {
        "input": 1010, "cache_creation": 90, "cache_read": 20_100, "output": 7,
    }  # fmt: skip


def test_the_first_line_of_a_record_can_begin_with_another_key(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The agent in own-runtimes.md begins each line with the time."""
    record = tmp_path / "notes.txt"
    lines = [
        {"at": 1.5, "session": "s1", "directory": "/" + "d" * 500, "record": "cockpit/1"},
        {"at": 2.5, "usage": {"input": 10}, "window": 50_000},
    ]
    record.write_text("".join(json.dumps(line) + "\n" for line in lines))
    code, (told,), err = asked(capsys, record)
    assert (code, err, told["session_id"]) == (0, "", "s1")
    assert (told["context"]["tokens"], told["context"]["window"]) == (10, 50_000)


@pytest.mark.parametrize(
    "text",
    [
        '{"usage": {"input": 5}}\n',
        '{"record": "cockpit/2"}\n{"usage": {"input": 5}}\n',
        '{"record": "other", "usage": {"input": 5}}\n',
        '{"type": "log", "level": "info", "message": "up"}\n{"type": "log"}\n',
        '{"type": "user", "name": "Ada"}\n',
        '{"model": "m", "prompt_tokens": 7}\n[]\n',
        "no json\n",
    ],
)
def test_a_record_that_is_none_says_so(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str
) -> None:
    record = tmp_path / "s1.jsonl"
    record.write_text(text)
    code, (told,), err = asked(capsys, record)
    assert (code, told["context"]["tokens"]) == (1, None)
    assert "not a transcript" in err


@pytest.mark.parametrize(
    "recorded",
    [
        "codex/compaction",
        "copilot/blocked",
        "gemini/compaction_and_resume",
        "opencode/transcript",
        "transcripts/tui_tasks_compaction",
    ],
)
@pytest.mark.parametrize("left_out", [0, 1, 3])
def test_a_transcript_is_recognised_by_any_record_in_any_spelling(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, recorded: str, left_out: int
) -> None:
    source = RECORDED.parent / f"{recorded}.jsonl"
    _, (whole,), _ = asked(capsys, source)
    records = [json.loads(line) for line in source.read_bytes().splitlines()[left_out:]]
    path = tmp_path / "x.log"
    for spelled in (
        [json.dumps(record) for record in records],
        [json.dumps(record, sort_keys=True, separators=(",", ":")) for record in records],
    ):
        path.write_text("\n".join(spelled))
        code, (told,), err = asked(capsys, path)
        assert (code, err, told["skipped_lines"]) == (0, "", whole["skipped_lines"])
        for key in ("model", "api_calls", "compactions", "totals"):
            assert told[key] == whole[key], key
        assert told["context"]["tokens"] == whole["context"]["tokens"]


OLD_CODEX = [
    {"timestamp": "2025-10-01T10:00:00Z", "type": "session_meta", "payload": {"id": "0199"}},
    {
        "timestamp": "2025-10-01T10:00:01Z",
        "type": "event_msg",
        "payload": {"type": "user_message", "message": "Fix the parser", "kind": "plain"},
    },
]
OLD_GEMINI = {
    "sessionId": "11111111-1111-4111-8111-111111111111",
    "projectHash": "ab12",
    "messages": [{"id": "1", "type": "user", "content": "Explain this"}],
}


@pytest.mark.parametrize(
    ("records", "cli"), [(OLD_CODEX, "Codex"), ([OLD_GEMINI], "Gemini")], ids=["codex", "gemini"]
)
def test_a_transcript_of_an_older_cli_is_an_error_and_not_zeros(
    records: list[dict[str, Any]],
    cli: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    path = tmp_path / "x.jsonl"
    for spaces in ((",", ":"), (", ", ": ")):
        path.write_text("".join(json.dumps(one, separators=spaces) + "\n" for one in records))
        assert usage([path], False) == 1
        assert f"a transcript of an older {cli}" in capsys.readouterr().err


def test_a_transcript_without_a_reply_so_far_is_one(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "new.jsonl"
    path.write_text('{"type": "mode", "mode": "normal", "sessionId": "s1"}\n')
    code, (told,), err = asked(capsys, path)
    assert (code, err, told["context"]["tokens"]) == (0, "", None)


SIMPLE = """
import contextlib, io, sys
from cockpit.cli.fast_path import run_fast
with contextlib.redirect_stdout(io.StringIO()) as told:
    assert run_fast(sys.argv[1:]) == 0
assert told.getvalue().strip()
heavy = {"click", "pydantic", "statistics", "cockpit.ports.runtimes", "cockpit.core.cli_events"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
"""


@pytest.mark.parametrize("words", [["usage"], ["usage", "--json"], ["facts"], ["facts", "--json"]])
def test_reading_transcripts_loads_nothing_that_it_does_not_need(words: list[str]) -> None:
    argv = [sys.executable, "-c", SIMPLE, *words, str(TUI)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.stderr == ""


@pytest.mark.parametrize(
    "words",
    [
        ["usage"],
        ["usage", "--help"],
        ["usage", "--json", "--json"],
        ["usage", "--json", "--config", "x.toml", "a.jsonl"],
        ["facts", "--json"],
        ["facts", "a.jsonl", "b.jsonl"],
        ["facts", "a.jsonl", "--document"],
    ],
)
def test_other_forms_are_read_by_the_whole_command_line(words: list[str]) -> None:
    assert run_fast(words) is None


def test_a_session_that_opencode_exported_is_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    tokens = {"input": 3, "output": 120, "reasoning": 0, "cache": {"read": 30_000, "write": 1_000}}
    reply = {
        "id": "m2", "role": "assistant", "providerID": "lab", "modelID": "large", "tokens": tokens,
        "time": {"created": 1_795_826_910_992, "completed": 1_795_826_963_817}, "cost": 0,
    }  # fmt: skip
    export = {
        "info": {"id": "ses_de05ffcccffe8rYE1Q9VvA4Rop", "directory": "/work"},
        "messages": [
            {"info": {"id": "m1", "role": "user"}, "parts": [{"type": "text", "text": "Count."}]},
            {"info": reply, "parts": [{"id": "p", "type": "text", "text": "Done."}]},
            "nonsense",
        ],
    }
    file = tmp_path / "any name"
    text = json.dumps(export, indent=2)
    file.write_text(text)
    code, (told,), _ = asked(capsys, file)
    assert (code, told["error"], told["session_id"]) == (0, None, "ses_de05ffcccffe8rYE1Q9VvA4Rop")
    assert (told["model"], told["context"]["tokens"]) == ("lab/large", 31_123)
    file.write_text(text[:-9])
    code, (told,), _ = asked(capsys, file)
    assert (code, told["error"]) == (1, "the export is not complete json")
