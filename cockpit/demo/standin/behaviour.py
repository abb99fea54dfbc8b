"""The stand-in's behaviour, read once from its flags and its environment.

`STANDIN_FAULTS` lists faults, separated by commas. With the prefix `first:` a fault applies only to
the first session of a job, with `successor:` only to the following ones.

| fault | the stand-in |
| --- | --- |
| `exit` | ends at once with code 1 |
| `mute` | keeps no transcript |
| `hookless` | calls neither hooks nor status line |
| `lineless` | has hooks and no status line |
| `absent` | writes no status file in `sessions/` |
| `deaf` | ignores TERM and HUP |
| `orphan` | leaves a child process in a session of its own |
| `nodocument` | never writes the requested document |
| `baddocument` | writes a document without sections |
| `unread` | does not read the document from which it starts |
| `permission` | asks for permission before its second tool, and waits for Enter or Esc |
| `trust` | asks for trust at the start, and waits for Enter or Esc |
| `limited` | reaches the account's usage limit at its third reply |
| `overloaded` | gets an API error instead of its third reply |
| `dropped` | ignores the output of its `SessionStart` hooks |
| `restless` | continues when it is asked to end its turn |
| `stuck` | with its third reply, starts a command that takes ten minutes |
"""

from __future__ import annotations

import argparse
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import field

from cockpit.core.deferred_dataclass import dataclass
from cockpit.demo.conversation import DOCUMENT_PATH
from cockpit.demo.standin.mentions import mentioned

VERSION = "2.1.330 (stand-in)"
FAULTS = frozenset(
    {
        "exit",
        "mute",
        "hookless",
        "lineless",
        "absent",
        "deaf",
        "orphan",
        "nodocument",
        "baddocument",
        "unread",
        "permission",
        "trust",
        "overloaded",
        "dropped",
        "limited",
        "restless",
        "stuck",
    }
)


@dataclass(frozen=True, slots=True)
class Flags:
    """The CLI's flags that cockpit uses; other known flags are ignored."""

    session_id: str
    resume: bool
    settings: str | None
    model: str
    permission_mode: str
    prompt: str | None


@dataclass(frozen=True, slots=True)
class Behaviour:
    """The stand-in's behaviour, from the environment."""

    pace: float = 0.1
    """Seconds that each reply takes (`STANDIN_PACE`)."""
    steps: int = 9
    """Number of replies of a job from outside the demo (`STANDIN_STEPS`)."""
    step_tokens: int = 24_000
    """Tokens per reply, in jobs that define no growth (`STANDIN_STEP_TOKENS`)."""
    opening_tokens: int = 24_000
    """Tokens at the first reply, in jobs that define no growth (`STANDIN_OPENING_TOKENS`)."""
    pause: int | None = None
    """The step at which a job from outside the demo ends its turn with a question
    (`STANDIN_PAUSE`); None for no such step."""
    run: str = ""
    """A shell command that each step of a job from outside the demo runs (`STANDIN_RUN`); empty for
    `echo`."""
    settles: bool = True
    """Whether the context of a job from outside the demo grows slowly from 140,000 tokens on. If
    not, the CLI compacts (`STANDIN_SETTLES=0`)."""
    window: int = 200_000
    """Size of the context window in tokens, for the status line's report and for compactions
    (`STANDIN_WINDOW`)."""
    draft: str = ""
    """A shell command that writes the document at `$DRAFT`; empty to let the model write it
    (`STANDIN_DRAFT`)."""
    faults: frozenset[str] = field(default_factory=frozenset)


def _formatter(prog: str) -> argparse.HelpFormatter:
    """Return a formatter that does not load `shutil` to ask for the width of the terminal."""
    return argparse.HelpFormatter(prog, width=80)


def read_flags(arguments: Sequence[str]) -> Flags:
    """Parse a command line; an unknown flag is an error, as in the CLI."""
    parser = argparse.ArgumentParser(
        prog="claude", formatter_class=_formatter, add_help=False, allow_abbrev=False
    )
    parser.add_argument("--session-id")
    parser.add_argument("--resume", "-r")
    parser.add_argument("--settings")
    parser.add_argument("--model", default="claude-sonnet-4-6")
    parser.add_argument("--permission-mode", default="default")
    parser.add_argument("--allowedTools", "--allowed-tools", nargs="*")
    parser.add_argument("--disallowedTools", "--disallowed-tools", nargs="*")
    parser.add_argument("--append-system-prompt")
    parser.add_argument("--effort")
    parser.add_argument("--add-dir", nargs="*")
    parser.add_argument("--plugin-dir", action="append")
    parser.add_argument("prompt", nargs="?")
    parsed = parser.parse_args(arguments)
    return Flags(
        session_id=parsed.resume or parsed.session_id or str(uuid.uuid4()),
        resume=parsed.resume is not None,
        settings=parsed.settings,
        model=parsed.model,
        permission_mode=parsed.permission_mode,
        prompt=parsed.prompt,
    )


def read_behaviour(environment: Mapping[str, str], flags: Flags) -> Behaviour:
    """Return the behaviour from the environment. Raises `ValueError` for an invalid value."""
    number = environment.get
    pause = number("STANDIN_PAUSE")
    return Behaviour(
        pace=float(number("STANDIN_PACE", "0.1")),
        steps=int(number("STANDIN_STEPS", "9")),
        step_tokens=int(number("STANDIN_STEP_TOKENS", "24000")),
        opening_tokens=int(number("STANDIN_OPENING_TOKENS", "24000")),
        pause=int(pause) if pause else None,
        run=number("STANDIN_RUN", ""),
        settles=number("STANDIN_SETTLES", "1") != "0",
        window=int(number("STANDIN_WINDOW", "200000")),
        draft=number("STANDIN_DRAFT", ""),
        faults=faults_for(number("STANDIN_FAULTS", ""), flags),
    )


def faults_for(text: str, flags: Flags) -> frozenset[str]:
    """Return the faults that apply to this session. Raises `ValueError` for an unknown fault."""
    texts = [flags.prompt or "", *(file.text for file in mentioned(flags.prompt or ""))]
    successor = any(DOCUMENT_PATH.search(text) for text in texts)
    here = {"", "successor"} if successor else {""} if flags.resume else {"", "first"}
    chosen: set[str] = set()
    for word in filter(None, (part.strip() for part in text.split(","))):
        kept_to, _, name = word.rpartition(":")
        if name not in FAULTS or kept_to not in ("", "first", "successor"):
            raise ValueError(f"unknown fault in STANDIN_FAULTS: {word!r}")
        if kept_to in here:
            chosen.add(name)
    return frozenset(chosen)
