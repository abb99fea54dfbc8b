from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cockpit.adapters.process.launch_order import LaunchOrders
from cockpit.cli.facts import facts, read_facts
from cockpit.cli.facts_document import document_of, print_document
from cockpit.core.document import validate
from cockpit.core.errors import Failed
from cockpit.ports.panes import Launch
from tests.worth.records import Records

RECORDED = Path(__file__).parents[1] / "data" / "transcripts"
PRINTED = RECORDED / "print_hooks_commit_subagent.jsonl"


def moved(tmp_path: Path, directory: Path) -> Path:
    """The recorded transcript, as if it had run in another directory."""
    path = tmp_path / "moved.jsonl"
    path.write_bytes(PRINTED.read_bytes().replace(b"/home/pilot/project", str(directory).encode()))
    return path


def test_the_form_is_the_contracts(capsys: pytest.CaptureFixture[str]) -> None:
    assert facts(PRINTED, True) == 0
    told = json.loads(capsys.readouterr().out)
    usage = told.pop("usage")
    assert usage["context"]["tokens"] == 131_008
    assert told == {
        "goal": "MAIN please do the thing",
        "todos": [{"content": "write tests", "status": "pending"}],
        "files_modified": ["/home/pilot/project/a.py"],
        "commits": [{"hash": "d0da3da", "subject": "Add a", "pushed": None}],
        "git_status": None,
        "branch": None,
        "head": None,
        "subagents": [
            {
                "id": "a1db92850d86b78e5",
                "type": "general-purpose",
                "status": "completed",
                "task": "look around",
                "result": "sub result text",
            }
        ],
        "background": [],
        "recent_activity": [
            "commit: git add -A && git commit -m 'Add a'",
            "Edit a.py",
            "fails: false",
            "Agent look around",
            "TaskCreate write tests",
        ],
        "earlier_prompts": [],
        "prompts": [{"turn": 1, "text": "MAIN please do the thing", "queued": False}],
        "constraints": [],
        "answers": [],
        "refusals": [],
        "checks": [],
        "failures": [],
        "plan": None,
        "links": [],
        "summary": None,
        "last_reply": {"text": "All done. HANDOFF: COMPLETE", "away_summary": None, "longer": None},
    }


def test_git_is_asked_where_the_session_ran(tmp_path: Path) -> None:
    repository = tmp_path / "project"
    repository.mkdir()
    for words in (["init", "-q", "-b", "work"], ["commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run(["git", *words], cwd=repository, check=True)
    (repository / "new.py").touch()
    told = read_facts(moved(tmp_path, repository))
    assert (told["branch"], told["git_status"]) == ("work", "?? new.py")
    assert len(told["head"]) == 40


def test_a_directory_without_git_is_not_known(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    told = read_facts(moved(tmp_path, plain))
    assert (told["branch"], told["git_status"], told["head"]) == (None, None, None)


def test_what_cannot_be_read_is_a_failure_with_a_reason(tmp_path: Path) -> None:
    with pytest.raises(Failed) as failed:
        read_facts(tmp_path / "no.jsonl")
    assert failed.value.detail == "no such file or directory"


def test_for_people(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    strange = tmp_path / "strange.jsonl"
    strange.write_bytes(
        PRINTED.read_bytes()
        .replace(b"MAIN please", b"MAIN \\u001b[31m\\nplease\\ud800")
        .replace(b"] Add a", b"] Add \\u001b[31ma")
    )
    assert facts(strange, False) == 0
    said = capsys.readouterr().out
    assert "Commits   d0da3da Add a" in said
    assert "\x1b" not in said


def test_people_see_what_was_said_and_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    records = Records(random.Random(1), tmp_path, "main")
    records.prompt("Never push\x1b[31m to main.")
    records.refused("Bash", {"command": "git push"}, "I said no")
    records.call("Bash", {"command": "pytest -q"}, "9 passed in 1s")
    records.call("Edit", {"file_path": str(tmp_path / "a.py")}, "done")
    records.failed("Bash", {"command": "npm run x"}, "Exit code 1\nnpm ERR! Missing script")
    records.call("Bash", {"command": "gh issue close 7"}, "")
    records.write(tmp_path / "s.jsonl")
    assert facts(tmp_path / "s.jsonl", False) == 0
    shown = capsys.readouterr().out
    assert "Orders    1: Never push to main.\n" in shown
    assert "Refused   1: Bash git push: I said no\n" in shown
    assert "Checks    1: test pytest -q: passed, 9 passed in 1s, before the last edit\n" in shown
    assert "Failed    1: Bash npm run x: npm ERR! Missing script\n" in shown
    assert "Links     #7 closed\n" in shown
    assert "\x1b" not in shown


def test_a_prompt_that_went_into_a_file_is_said_to_be_there(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    prompt = "long\n" * 40_000
    launch = Launch(["claude"], tmp_path, {}, prompt=prompt)
    LaunchOrders(tmp_path / "orders").command(launch, kept_as="order")
    (file,) = (tmp_path / "orders").glob("prompt-*.md")
    goal = f"Read the file {file} and do what it says."
    assert goal.encode() in (tmp_path / "orders" / "order.order").read_bytes()
    record = tmp_path / "session.jsonl"
    record.write_bytes(PRINTED.read_bytes().replace(b"MAIN please do the thing", goal.encode()))

    facts(record, False)
    there = capsys.readouterr().out
    file.unlink()
    facts(record, False)
    gone = capsys.readouterr().out
    facts(PRINTED, False)

    assert there.splitlines()[1] == "          The full prompt is in that file."
    assert (
        gone.splitlines()[1] == "          The full prompt is in that file, which no longer exists."
    )
    assert "The full prompt" not in capsys.readouterr().out


def test_facts_of_a_transcript_of_codex(capsys: pytest.CaptureFixture[str]) -> None:
    assert facts(RECORDED.parent / "codex" / "patch_and_command.jsonl", True) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["goal"] == "Do the work."
    assert told["files_modified"] == ["/home/pilot/work/notes.md"]
    assert told["recent_activity"] == ["Edit notes.md", "Bash cat notes.md; false"]


def test_facts_of_a_transcript_of_opencode(capsys: pytest.CaptureFixture[str]) -> None:
    assert facts(RECORDED.parent / "opencode" / "transcript.jsonl", True) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["goal"] == "Do the work."
    assert told["files_modified"] == ["/home/pilot/work/a.md", "/home/pilot/out.md"]


def test_facts_of_a_transcript_of_copilot(capsys: pytest.CaptureFixture[str]) -> None:
    assert facts(RECORDED.parent / "copilot" / "answers.jsonl", True) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["goal"] == "Do the work."
    assert told["files_modified"] == ["/home/pilot/work/a.md"]


def test_the_facts_of_a_record_of_the_documented_shape(tmp_path: Path) -> None:
    record = tmp_path / "session.log"
    lines = [
        {"record": "cockpit/1", "session": "s1", "directory": "/nowhere"},
        {"turn": "begin", "prompt": "Count them."},
        {"tool": {"id": "t", "name": "Write", "input": {"file_path": "/nowhere/a"}}},
        {"result": {"id": "t"}, "usage": {"input": 40}},
        {"said": "Done.", "turn": "end"},
    ]
    record.write_text("".join(json.dumps(line) + "\n" for line in lines))
    told = read_facts(record)
    assert (told["goal"], told["files_modified"]) == ("Count them.", ["/nowhere/a"])
    assert told["usage"]["context"]["tokens"] == 40
    assert told["recent_activity"] == ["Write a"]


def test_the_document_that_hands_over_a_session(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    repository = tmp_path / "project"
    repository.mkdir()
    for words in (["init", "-q", "-b", "work"], ["commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run(["git", *words], cwd=repository, check=True)

    assert print_document(moved(tmp_path, repository)) == 0

    text = capsys.readouterr().out
    assert validate(text, complete=True) == []
    assert "MAIN please do the thing" in text
    assert 'branch: "work"' in text
    assert "d0da3da" in text


def test_the_document_is_no_larger_than_one_of_the_supervisor(tmp_path: Path) -> None:
    records = Records(random.Random(1), tmp_path, "main")
    records.prompt("Go on. " * 200)
    records.compacted("Then the parser was changed. " * 3_000)
    records.prompt("And now the next one.")
    records.write(tmp_path / "s.jsonl")
    text = document_of(tmp_path / "s.jsonl")
    assert validate(text, complete=True) == []
    assert len(text) < 6_000 * 5
    assert "(handoff.max_tokens): the end of the summary" in text


def test_the_document_has_the_configured_size(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = Records(random.Random(1), tmp_path, "main")
    records.prompt("Go on.")
    records.compacted("Then the parser was changed. " * 3_000)
    records.prompt("And now the next one.")
    records.write(tmp_path / "s.jsonl")
    config = tmp_path / "cockpit.toml"

    def size(text: str, named: Path | None) -> int:
        config.write_text(text)
        assert print_document(tmp_path / "s.jsonl", named) == 0
        document = capsys.readouterr().out
        assert validate(document, complete=True) == []
        return len(document)

    monkeypatch.chdir(tmp_path)
    small, large = (
        "[defaults.handoff]\nmax_tokens = 1500\n",
        "[defaults.handoff]\nmax_tokens = 9000\n",
    )
    default = size("", None)
    assert size(small, config) < default / 2 < default < size(large, config)
    assert size(small, None) == default  # nobody has trusted the file


def test_an_invalid_configuration_does_not_prevent_the_document(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    config = tmp_path / "cockpit.toml"
    config.write_text("[defaults.handoff]\nmax_tokens = 1\n")
    assert print_document(PRINTED, config) == 0
    printed = capsys.readouterr()
    assert validate(printed.out, complete=True) == []
    assert printed.err.startswith(f"cockpit: {config}:2: ")
    assert printed.err.endswith("; using the default document size (6,000 tokens)\n")


def test_the_document_of_a_directory_that_no_longer_exists(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert print_document(moved(tmp_path, tmp_path / "removed")) == 0
    printed = capsys.readouterr().out
    assert validate(printed, complete=True) == []
    gone = f"The state of git is unknown: {tmp_path / 'removed'} is not a directory on this machine"
    assert printed.count(gone) == 3
    assert "not a git repository" not in printed
    with pytest.raises(Failed, match="Cannot read"):
        print_document(tmp_path / "no.jsonl")


def test_the_document_has_no_secret(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXAMPLE_API_KEY", "correct-horse-battery")
    told = PRINTED.read_bytes().replace(b"MAIN please", b"Use correct-horse-battery and please")
    (tmp_path / "session.jsonl").write_bytes(told)

    assert print_document(tmp_path / "session.jsonl") == 0

    text = capsys.readouterr().out
    assert "correct-horse-battery" not in text
    assert "[REDACTED:" in text


def test_commits_are_those_that_git_has_of_this_session(tmp_path: Path) -> None:
    repository = tmp_path / "project"
    repository.mkdir()

    def git(*words: str) -> str:
        ran = subprocess.run(["git", *words], cwd=repository, check=True, capture_output=True)
        return ran.stdout.decode().strip()

    def made(subject: str) -> str:
        git("commit", "-q", "--allow-empty", "-m", subject)
        return git("rev-parse", "--short", "HEAD")

    git("init", "-q", "-b", "work")
    git("config", "user.email", "a@b.example")
    git("config", "user.name", "a")
    made("by somebody else")
    kept, reset = made("Add a"), made("Take b away")
    git("reset", "-q", "--hard", "HEAD~1")
    quiet = made("Add c")
    lines = [
        {"type": "user", "cwd": str(repository), "timestamp": "2020-01-01T00:00:00Z",
         "message": {"role": "user", "content": "go"}},
        *_committed("1", "git commit -m 'Add a'", f"[work {kept}] Add a"),
        *_committed("2", "git commit -m 'Take b away'", f"[work {reset}] Take b away"),
        *_committed("3", "git commit -q -m 'Add c'", ""),
    ]  # fmt: skip
    record = tmp_path / "s.jsonl"
    record.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert read_facts(record)["commits"] == [
        {"hash": kept, "subject": "Add a", "pushed": None},
        {"hash": quiet, "subject": "Add c", "pushed": None},
    ]
    listed = f"### Commits of This Session\n\n- `{kept}` Add a\n- `{quiet}` Add c\n\n"
    assert listed in document_of(record)
    git("update-ref", "refs/remotes/origin/work", kept)
    assert [one["pushed"] for one in read_facts(record)["commits"]] == [True, False]


def _committed(ident: str, command: str, output: str) -> list[dict[str, Any]]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    call = {"type": "tool_use", "id": ident, "name": "Bash", "input": {"command": command}}
    result = {"type": "tool_result", "tool_use_id": ident, "content": output}
    message = {"id": f"m{ident}", "model": "x", "content": [call], "usage": usage}
    return [
        {"type": "assistant", "message": message},
        {"type": "user", "message": {"role": "user", "content": [result]}},
    ]
