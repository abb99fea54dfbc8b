"""Detect from a transcript's records which CLI wrote it, and choose the functions that read it.

File names are not used, because a transcript can be copied anywhere. A copy can lack the first
records. A program that rewrote the transcript can have changed spaces and the order of keys.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from cockpit.adapters.files.foreign_files import read_file
from cockpit.adapters.transcripts.lines import Parse
from cockpit.core.foreign_json import loads
from cockpit.core.own_record import MARK, is_own_record
from cockpit.core.reading import Window, resolve_window
from cockpit.core.session import Identified

_CODEX_KINDS = (
    "session_meta", "response_item", "event_msg", "turn_context", "token_usage_record",
    "compacted", "world_state",
)  # fmt: skip
_CODEX = re.compile(
    rb'\s*\{"timestamp":"[^"]{1,40}",(?:"ordinal":\d+,)?"type":"(?:%s)"'
    % "|".join(_CODEX_KINDS).encode()
)
"""Matches any record of Codex, because a copied transcript can lack the first records."""
_GEMINI = re.compile(rb'\s*\{"sessionId":"[^"]{1,64}","projectHash":"')
_GEMINI_KINDS = frozenset({"user", "gemini", "info", "error", "warning"})
_NEW_CODEX = re.compile(rb'"ordinal": ?\d|"item_completed"|"token_usage_record"')
_OLD_CODEX = re.compile(
    rb'"type": ?"(?:token_count|user_message|agent_message)"|"role": ?"(?:user|assistant)"'
)
_OLD_GEMINI = re.compile(rb'"messages": ?\[\{')
_OPENCODE = re.compile(rb'\s*\{"record":"cockpit/opencode"')
_OPENCODE_EXPORT = re.compile(rb'\s*\{\s*"info":\s*\{\s*"id":\s*"ses_')
_OPENCODE_KINDS = frozenset(
    {
        "compacted", "cost", "failed", "injected", "interrupted", "prompt", "reply", "said",
        "tool", "turn", "window",
    }
)  # fmt: skip
_LEAST_MILLISECONDS = 10**11
_COPILOT = re.compile(rb'\s*\{"type":"session\.start","data":\{"sessionId"')
_CLAUDE = re.compile(rb'\s*\{"parentUuid":')
_CLAUDE_IDS = ("sessionId", "uuid", "leafUuid", "messageId")
"""Names of fields; each record of Claude Code has at least one of these fields."""
_LOOK_BYTES = 400
_MOST_BYTES = 1024 * 1024
_MOST_LINES = 100
"""Maximum lines that are searched for a record, within the first `_MOST_BYTES` of the file."""


@dataclass(frozen=True, slots=True)
class TranscriptFormat:
    """The functions that read the transcripts of one CLI."""

    totals: Parse
    """Parses the lines of one transcript into the events that are needed to count tokens."""
    facts: Callable[[], Parse]
    """Returns a parser that converts the lines into the events that are needed to collect facts. A
    function, because the parser's modules are slow to load."""
    window: Callable[[str | None, Mapping[str, str]], Window]
    recognised: bool = True
    """Whether the transcript's format was recognised; also True for an empty file."""
    cli: str | None = None
    """Name of the runtime whose CLI wrote the file; `claude` for an empty file, None for a file of
    a user's own program and for a file that was not recognised."""
    lines: Callable[[Path], Iterable[bytes]] | None = None
    """Splits a file that is one JSON object into records, one per line. None for a format that has
    one record per line already."""
    session_of: Callable[[bytes], Identified | None] | None = None
    """Returns the session's id, directory and similar data from a line. None for a format whose
    `totals` and `facts` never omit this data."""


def session_named_in(path: Path, form: TranscriptFormat) -> Identified | None:
    """Return the session's id and similar data from the first lines of a transcript.

    A line that also contains the directory is preferred. None if no line has a session id, if the
    file was not recognised, or if the format has no `session_of`. Raises `OSError`.
    """
    if form.session_of is None or not form.recognised:
        return None
    first: Identified | None = None
    beginning = read_file(path, _MOST_BYTES, cut=True, any_owner=True)
    for line in beginning.split(b"\n")[:_MOST_LINES]:
        named = form.session_of(line)
        if named is not None and named.cwd:
            return named
        first = first or named
    return first


def older_form(path: Path) -> str | None:
    """Return the name of the older CLI that wrote a transcript, and the oldest supported version.

    None if no older CLI wrote it. Call this only if no event was read. Raises `OSError`.
    """
    beginning = read_file(path, _MOST_BYTES, cut=True, any_owner=True)
    cli = _by_first_bytes(beginning[:_LOOK_BYTES]) or _by_records(beginning)
    if cli is _Cli.CODEX and not _NEW_CODEX.search(beginning) and _OLD_CODEX.search(beginning):
        return "an older Codex; cockpit reads transcripts of 0.169 and later"
    first = beginning.split(b"\n", 1)[0]
    if cli is _Cli.GEMINI and b'"projectHash"' in first and _OLD_GEMINI.search(first):
        return "an older Gemini CLI; cockpit reads transcripts of 0.61 and later"
    return None


class _Cli(Enum):
    CLAUDE = "claude"
    CODEX = "codex"
    GEMINI = "gemini"
    OPENCODE = "opencode"
    OPENCODE_EXPORT = "opencode export"
    COPILOT = "copilot"
    OWN = "own"


def format_of(path: Path) -> TranscriptFormat:
    """Return the format of a transcript; Claude Code's if none is recognised. Raises `OSError`."""
    beginning = read_file(path, _LOOK_BYTES, cut=True, any_owner=True)
    cli = _by_first_bytes(beginning) or _by_records(beginning)
    if cli is None and beginning.strip():
        cli = _by_records(read_file(path, _MOST_BYTES, cut=True, any_owner=True))
    return _format(cli, recognised=cli is not None or not beginning.strip())


def _by_first_bytes(beginning: bytes) -> _Cli | None:
    """Return the CLI that wrote a transcript, from the exact spacing and order of keys at the
    transcript's beginning; None if no CLI matches."""
    for cli, form in (
        (_Cli.CLAUDE, _CLAUDE),
        (_Cli.GEMINI, _GEMINI),
        (_Cli.OPENCODE, _OPENCODE),
        (_Cli.OPENCODE_EXPORT, _OPENCODE_EXPORT),
        (_Cli.COPILOT, _COPILOT),
        (_Cli.CODEX, _CODEX),
    ):
        if form.match(beginning):
            return cli
    return _Cli.OWN if is_own_record(beginning) else None


def _by_records(beginning: bytes) -> _Cli | None:
    """Return the CLI of the first record in a known form; None if there is none."""
    for line in beginning.split(b"\n")[:_MOST_LINES]:
        if not line.lstrip().startswith(b"{"):
            continue
        try:
            record = loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict) and (cli := _cli_of(record)) is not None:
            return cli
    return None


def _cli_of(record: Mapping[str, Any]) -> _Cli | None:
    kind = record.get("type")
    kind = kind if isinstance(kind, str) else ""
    if record.get("record") == "cockpit/opencode":
        return _Cli.OPENCODE
    if record.get("record") == MARK:
        return _Cli.OWN
    at = record.get("at")
    if kind in _OPENCODE_KINDS and isinstance(at, int) and at > _LEAST_MILLISECONDS:
        return _Cli.OPENCODE
    if kind in _CODEX_KINDS and isinstance(record.get("payload"), dict):
        return _Cli.CODEX
    if "." in kind and isinstance(record.get("data"), dict) and "timestamp" in record:
        return _Cli.COPILOT
    if "projectHash" in record or isinstance(record.get("$set"), dict) or "$rewindTo" in record:
        return _Cli.GEMINI
    if kind in _GEMINI_KINDS and "content" in record and isinstance(record.get("id"), str):
        return _Cli.GEMINI
    if kind and any(isinstance(record.get(key), str) for key in _CLAUDE_IDS):
        return _Cli.CLAUDE
    return None


def _format(cli: _Cli | None, *, recognised: bool) -> TranscriptFormat:
    """Return the functions that read a CLI's transcripts. Imports the CLI's modules."""
    if cli is _Cli.GEMINI:
        from cockpit.adapters.agents.gemini import models as gemini
        from cockpit.adapters.agents.gemini.record import parse as parse_gemini

        return TranscriptFormat(
            parse_gemini,
            lambda: parse_gemini,
            lambda model, _: gemini.window(model),
            cli="gemini",
        )
    if cli in (_Cli.OPENCODE, _Cli.OPENCODE_EXPORT):
        from cockpit.adapters.agents.opencode import models as opencode
        from cockpit.adapters.agents.opencode.messages import exported_lines
        from cockpit.adapters.agents.opencode.record import parse as parse_opencode

        return TranscriptFormat(
            parse_opencode,
            lambda: parse_opencode,
            lambda model, _: opencode.window(model),
            cli="opencode",
            lines=exported_lines if cli is _Cli.OPENCODE_EXPORT else None,
        )
    if cli is _Cli.COPILOT:
        from cockpit.adapters.agents.copilot import models as copilot
        from cockpit.adapters.agents.copilot.record import parse as parse_copilot

        return TranscriptFormat(
            parse_copilot,
            lambda: parse_copilot,
            lambda model, _: copilot.window(model),
            cli="copilot",
        )
    if cli is _Cli.OWN:
        from cockpit.adapters.agents.own.record import parse as parse_own

        return TranscriptFormat(parse_own, lambda: parse_own, lambda model, _: resolve_window())
    if cli is _Cli.CODEX:
        from cockpit.adapters.agents.codex import models as codex
        from cockpit.adapters.agents.codex.record import parse

        return TranscriptFormat(
            parse, lambda: parse, lambda model, _: codex.window(model), cli="codex"
        )
    from cockpit.adapters.agents.claude.models import window
    from cockpit.adapters.agents.claude.record import session_of
    from cockpit.adapters.agents.claude.totals import TotalsParser

    return TranscriptFormat(
        TotalsParser(),
        _claude_facts,
        window,
        recognised,
        cli="claude" if recognised else None,
        session_of=session_of,
    )


def _claude_facts() -> Parse:
    from cockpit.adapters.agents.claude.skim import FactsParser

    return FactsParser()
