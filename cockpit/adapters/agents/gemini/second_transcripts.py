"""Remove the second, empty transcript that Gemini begins for a session that it resumes.

To resume a session, Gemini 0.61 begins a second transcript, then loads the session and continues
the first transcript. A transcript's name contains the minute of its start. If the minutes differ,
the second transcript is a separate file with nothing but Gemini's own context. At the next start in
the directory, Gemini removes transcripts without a prompt, and every other transcript with the same
session id: the whole session would be lost.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from cockpit.adapters.agents.gemini.settings import config_folder
from cockpit.adapters.files.foreign_files import opened, read_file, stamp
from cockpit.core.foreign_json import loads

LARGEST = 1_048_576
"""Maximum bytes of a transcript without a prompt: Gemini's context lists at most 200 files."""
QUIET_SECONDS = 5.0
"""Seconds without a write to the second transcript, after which Gemini writes only to the first."""
CONTEXT = "<session_context>"
NAMES = "tmp/*/chats/session-*.jsonl"
_FIRST_LINE = 65_536


def remove_second_transcripts(environment: Mapping[str, str]) -> None:
    """Remove the second transcripts in all projects of the user's Gemini folder. Never raises."""
    by_id: defaultdict[tuple[Path, str], list[Path]] = defaultdict(list)
    with suppress(OSError):
        for path in config_folder(environment).glob(NAMES):
            by_id[path.parent, path.stem.rpartition("-")[2]].append(path)
    for paths in by_id.values():
        _remove_empty(paths)


def remove_second_transcript(record: Path) -> None:
    """Remove the second transcript of a session; `record` is the path of either transcript. Never
    raises."""
    ident = record.stem.rpartition("-")[2]
    with suppress(OSError):
        _remove_empty(list(record.parent.glob(f"session-*-{ident}.jsonl")))


def remove_later(record: Path) -> None:
    """Start a timer that removes the second transcript of a session that Gemini is resuming.

    The timer runs for one second more than `QUIET_SECONDS`.
    """
    timer = threading.Timer(QUIET_SECONDS + 1, remove_second_transcript, (record,))
    timer.daemon = True
    timer.start()


def first_transcript(paths: Iterable[Path]) -> Path | None:
    """Return, of a session's transcripts, the one that Gemini continues: the largest, because the
    others contain only Gemini's own context. None without a readable file."""
    sized: list[tuple[int, Path]] = []
    for path in paths:
        with suppress(OSError):
            sized.append((stamp(path)[0], path))
    return max(sized)[1] if sized else None


def _remove_empty(paths: Sequence[Path]) -> None:
    if len(paths) < 2 or (first := first_transcript(paths)) is None:
        return
    with suppress(OSError, ValueError, LookupError, TypeError, RecursionError):
        ident = _session(first)
        if _is_empty(first):
            return
        for path in paths:
            quiet = time.time() - stamp(path)[1] / 1e9 >= QUIET_SECONDS
            if path != first and quiet and _session(path) == ident and _is_empty(path):
                path.unlink()


def _session(path: Path) -> str:
    """Return the session's id in a transcript's first line."""
    with opened(path) as file:
        named = loads(file.readline(_FIRST_LINE))["sessionId"]
    if not isinstance(named, str):
        raise ValueError("no session id")
    return named


def _is_empty(path: Path) -> bool:
    """Return whether a transcript has nothing but Gemini's own context."""
    if stamp(path)[0] > LARGEST:
        return False
    lines = read_file(path, LARGEST).splitlines()[1:]
    return all(_is_context(loads(line)) for line in lines)


def _is_context(record: Any) -> bool:
    change = record["$set"] if isinstance(record, dict) and "$set" in record else None
    return isinstance(change, dict) and all(
        message["type"] == "user" and message["content"][0]["text"].startswith(CONTEXT)
        for message in change.get("messages", ())
    )
