"""The documents that are compared: each hands over a session of the corpus in its own way."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cockpit.cli.facts_document import document_of
from tests.worth.session import Session

LAST_MESSAGES = 20
MESSAGE_CHARACTERS = 2_000
TOOL_SECONDS = 120

Writer = Callable[[Session], str]


def facts(session: Session) -> str:
    """cockpit's document without a model: what `cockpit facts --document` prints."""
    return document_of(session.transcript)


def summary(session: Session) -> str:
    """A compaction summary and nothing else."""
    return session.summary


def last_messages(session: Session) -> str:
    """The last messages of the transcript as they were: prompts, replies, calls and results."""
    records = [json.loads(line) for line in session.transcript.read_text().splitlines()]
    messages = [text for record in records if (text := _message(record))]
    return "\n\n".join(messages[-LAST_MESSAGES:])


def tool(command: str) -> Writer:
    """Return a writer that runs another tool, with `{transcript}` and `{repository}` filled in.

    Runs it in the session's repository without a shell; its standard output is the document.
    """

    def write(session: Session) -> str:
        places = {"transcript": str(session.transcript), "repository": str(session.repository)}
        words = [_filled(word, places) for word in shlex.split(command)]
        done = subprocess.run(
            words,
            cwd=session.repository,
            capture_output=True,
            text=True,
            check=False,
            timeout=TOOL_SECONDS,
        )
        if done.returncode != 0:
            raise SystemExit(f"{words[0]} failed on session {session.number}: {done.stderr[-500:]}")
        return done.stdout

    return write


def of_file(path: Path) -> Writer:
    """Return a writer that gives the text of a file for any session."""
    return lambda session: path.read_text()


def _filled(word: str, places: dict[str, str]) -> str:
    for name, value in places.items():
        word = word.replace(f"{{{name}}}", value)
    return word


def _message(record: dict[str, Any]) -> str:
    if record.get("type") not in ("user", "assistant"):
        return ""
    content = record["message"]["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return f"{record['type']}: " + "\n".join(map(_block, blocks))


def _block(block: dict[str, Any]) -> str:
    if block["type"] == "tool_use":
        arguments = json.dumps(block["input"], ensure_ascii=False)
        return f"{block['name']} {arguments}"[:MESSAGE_CHARACTERS]
    text = block["text"] if block["type"] == "text" else block["content"]
    return str(text)[:MESSAGE_CHARACTERS]
