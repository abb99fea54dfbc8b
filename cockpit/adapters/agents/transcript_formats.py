"""Detect which CLI wrote a transcript, by its first line, and how to read it.

File names are not used, because a transcript can be copied anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from cockpit.adapters.files.foreign_files import read_file
from cockpit.adapters.transcripts.lines import Parse
from cockpit.core.own_record import is_own_record
from cockpit.core.reading import Window, resolve_window

_CODEX = re.compile(
    rb'\s*\{"timestamp":"[^"]{1,40}",(?:"ordinal":\d+,)?'
    rb'"type":"(?:session_meta|response_item|event_msg|turn_context|token_usage_record|compacted)"'
)
"""Any record of the format can be the first line, because a copy can begin later."""
_GEMINI = re.compile(rb'\s*\{"sessionId":"[^"]{1,64}","projectHash":"')
_OPENCODE = re.compile(rb'\s*\{"record":"cockpit/opencode"')
_COPILOT = re.compile(rb'\s*\{"type":"session\.start","data":\{"sessionId"')
_LOOK_BYTES = 400


@dataclass(frozen=True, slots=True)
class TranscriptFormat:
    """The functions that read the transcripts of one CLI."""

    totals: Parse
    """Parses a line into the events that are needed to count tokens."""
    facts: Parse
    """Parses a line into the events that are needed to collect facts."""
    window: Callable[[str | None, Mapping[str, str]], Window]


def format_of(path: Path) -> TranscriptFormat:
    """Return the format of a transcript; Claude Code's for a file without a known first line.

    In a file of an unknown format, Claude Code's parser finds no records. Raises `OSError`.
    """
    beginning = read_file(path, _LOOK_BYTES, cut=True, any_owner=True)
    if _GEMINI.match(beginning):
        from cockpit.adapters.agents.gemini import models as gemini
        from cockpit.adapters.agents.gemini.record import parse as parse_gemini

        return TranscriptFormat(parse_gemini, parse_gemini, lambda model, _: gemini.window(model))
    if _OPENCODE.match(beginning):
        from cockpit.adapters.agents.opencode import models as opencode
        from cockpit.adapters.agents.opencode.record import parse as parse_opencode

        return TranscriptFormat(
            parse_opencode, parse_opencode, lambda model, _: opencode.window(model)
        )
    if _COPILOT.match(beginning):
        from cockpit.adapters.agents.copilot import models as copilot
        from cockpit.adapters.agents.copilot.record import parse as parse_copilot

        return TranscriptFormat(
            parse_copilot, parse_copilot, lambda model, _: copilot.window(model)
        )
    if is_own_record(beginning):
        from cockpit.adapters.agents.own.record import parse as parse_own

        return TranscriptFormat(parse_own, parse_own, lambda model, _: resolve_window())
    if _CODEX.match(beginning):
        from cockpit.adapters.agents.codex import models as codex
        from cockpit.adapters.agents.codex.record import parse

        return TranscriptFormat(parse, parse, lambda model, _: codex.window(model))
    from cockpit.adapters.agents.claude.models import window
    from cockpit.adapters.agents.claude.skim import FactsParser, parse_totals

    return TranscriptFormat(parse_totals, FactsParser(), window)
