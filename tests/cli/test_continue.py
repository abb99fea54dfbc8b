"""`cockpit continue`: which file is meant, by its path or by the id of its handoff."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cockpit.cli.commands import run
from cockpit.cli.transcript_handoff import document_from
from cockpit.core import document

DATA = Path(__file__).parents[1] / "data"
DONE = {"ok": True, "message": "goes on", "name": "api-2"}


def handoff(ident: str, document: Path | None, copy: Path | None) -> dict[str, Any]:
    places = (None if each is None else str(each) for each in (document, copy))
    return dict(zip(("id", "document", "copy"), (ident, *places), strict=True))


def meant(answering: Any) -> str:
    """The document that the supervisor was asked to go on from."""
    return str(answering.asked[-1][1]["document"])


@pytest.fixture
def papers(answering: Any, tmp_path: Path) -> Path:
    """Two handoffs: of one the document is there, of the other only our copy."""
    for name in ("there.md", "copy.md"):
        (tmp_path / name).write_text("# Handoff\n")
    handoffs = [
        handoff("5f0c0f0e-1", tmp_path / "there.md", tmp_path / "copy.md"),
        handoff("5f99-2", tmp_path / "gone.md", tmp_path / "copy.md"),
        handoff("7a-3", None, None),
    ]
    answering.say(
        "GET /v1/history?limit=100",
        [{"agent": "api", "sessions": [{"id": "s", "handoffs": handoffs}]}],
    )
    answering.say("POST /v1/continue", DONE)
    return tmp_path


@pytest.mark.parametrize(
    ("named", "found"), [("5f0c", "there.md"), ("5f99", "copy.md")], ids=["there", "gone"]
)
def test_the_id_of_a_handoff_will_do(answering: Any, papers: Path, named: str, found: str) -> None:
    assert run(["continue", named]) == 0
    assert meant(answering) == str(papers / found)


@pytest.mark.parametrize("named", ["5f", "7a", "abc", "nope.md", "./no"])
def test_what_names_no_document_is_said_with_where_to_look(
    answering: Any, papers: Path, named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["continue", named]) == 3
    assert "cockpit history" in capsys.readouterr().err
    assert [path for path, _ in answering.asked if "continue" in path] == []


@pytest.mark.parametrize(
    ("recorded", "cli"),
    [
        ("codex/patch_and_command", "codex"),
        ("copilot/subagent", "copilot"),
        ("gemini/write_and_command", "gemini"),
        ("opencode/transcript", "opencode"),
        ("transcripts/tui_tasks_compaction", "claude"),
    ],
)
def test_of_a_transcript_the_document_of_its_facts_is_meant(
    tmp_path: Path, recorded: str, cli: str
) -> None:
    transcript = tmp_path / "notes.md"  # recognised by its content
    transcript.write_bytes((DATA / f"{recorded}.jsonl").read_bytes())
    with document_from(transcript, here=True) as source:
        path = source.document
        text = path.read_text()
        assert path.stat().st_mode & 0o077 == 0 or path.parent.stat().st_mode & 0o077 == 0
    assert source.cli == cli
    assert not path.exists()
    assert [one.text for one in document.validate(text) if not one.mends] == []
    assert str(transcript) in text


def test_a_document_is_meant_itself(papers: Path) -> None:
    for name in ("there.md", "none.md"):
        with document_from(papers / name, here=True) as source:
            assert (source.document, source.cli) == (papers / name, None)


def test_a_job_continues_in_the_cli_of_its_transcript_unless_another_is_named(
    answering: Any, papers: Path
) -> None:
    codex = str(DATA / "codex" / "patch_and_command.jsonl")
    document = str(papers / "there.md")
    for words, cli in (
        ([codex], "codex"),
        ([codex, "--runtime", "gemini"], "gemini"),
        ([document], None),
        ([document, "--runtime", "gemini"], "gemini"),
    ):
        assert run(["continue", *words]) == 0
        assert answering.asked[-1][1].get("runtime") == cli


def test_a_file_of_that_name_comes_first(
    answering: Any, papers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(papers)
    (papers / "5f0c").write_text("# Handoff\n")
    assert run(["continue", "5f0c"]) == 0
    assert meant(answering) == str(papers / "5f0c")
