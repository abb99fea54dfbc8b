"""A long prompt is looked through for secrets on a thread: meanwhile everybody else is served."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from cockpit.core.redaction import Finding, Redacted, Redactor
from cockpit.wire.verbs import Continue

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux

LONG = "Count to ten. " * 2_000
DOCUMENT = """## Goal

{long}

## Current Task

Count.

## Progress

### Completed

- one

### In Progress

- two

### Pending

- three

## Current State

Two of ten were said aloud, in order and without a pause between them; nobody interrupted. The
counting goes on in the same voice and at the same pace, because whoever listens writes each
number down by hand, and a change of pace would cost a number.

## Next Steps

1. Say three.

## Key Decisions

- Count upwards.

## What Did Not Work

- Nothing.

## Open Issues

- None.
"""


async def test_long_texts_are_looked_through_beside_the_loop(
    cockpit: Cockpit, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_loop: list[int] = []
    loop_thread = threading.get_ident()
    redact, findings = Redactor.redact, Redactor.findings

    def noted(self: Redactor, text: str) -> Redacted:
        if threading.get_ident() == loop_thread and len(text) > 10_000:
            on_loop.append(len(text))
        return redact(self, text)

    def looked(self: Redactor, text: str) -> list[Finding]:
        if threading.get_ident() == loop_thread and len(text) > 10_000:
            on_loop.append(len(text))
        return findings(self, text)

    async with cockpit.flying(cockpit.agent()):
        monkeypatch.setattr(Redactor, "redact", noted)
        monkeypatch.setattr(Redactor, "findings", looked)
        await cockpit.start(prompt=LONG)
        document = cockpit.home / "left.md"
        document.write_text(DOCUMENT.format(long=LONG))
        elsewhere = cockpit.home / "elsewhere"
        elsewhere.mkdir()
        await cockpit.ask(Continue(document=str(document), name="next", directory=str(elsewhere)))
    assert on_loop == []
