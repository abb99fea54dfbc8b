"""Runtimes that the user adds: the tables `[runtimes.NAME]`, and those of installed packages.

This module checks the value of each field; `config.checks` checks the rules between fields.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from cockpit.config.quantities import size
from cockpit.config.values import Arguments, Line, Section, WindowSize
from cockpit.core.capabilities import EndSignal
from cockpit.core.pane_keys import is_key
from cockpit.core.safetext import typeable

BUILT_IN: Final = ("claude", "codex", "gemini", "opencode", "copilot", "command")
ENTRY_POINTS: Final = "cockpit.runtimes"
"""The entry point group in which an installed package registers its runtimes."""
NAME_PATTERN: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")
PLACES: Final = ("directory", "home", "state")
"""Placeholders for folders. The path of a session's record can begin with one of these."""

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_OF_SESSION: Final = ("session", "record", *PLACES)


def _named(text: str) -> str:
    if not NAME_PATTERN.fullmatch(text):
        raise ValueError("expected the name of a runtime, such as claude")
    return text


def _new_name(text: str) -> str:
    if text in BUILT_IN:
        raise ValueError(f"{text} is a built-in runtime; choose another name")
    if not NAME_PATTERN.fullmatch(text):
        raise ValueError(
            "expected a name: a letter or digit, then at most 31 of a-z, 0-9, underscore, dash"
        )
    return text


def _with(*known: str, needs: tuple[str, ...] = ()) -> Callable[[tuple[str, ...]], tuple[str, ...]]:
    """Return a validator that refuses arguments with placeholders other than `known`.

    If `needs` is not empty, non-empty arguments must contain a placeholder from `needs`.
    """

    def check(arguments: tuple[str, ...]) -> tuple[str, ...]:
        named = {name for word in arguments for name in _PLACEHOLDER.findall(word)}
        for name in sorted(named - set(known)):
            raise ValueError(f"{{{name}}} is not a placeholder here; expected {_shown(known)}")
        if arguments and needs and not named & set(needs):
            raise ValueError(f"expected {_shown(needs)} in one of the arguments")
        return arguments

    return check


def _shown(names: tuple[str, ...]) -> str:
    return " or ".join(f"{{{name}}}" for name in names)


def _record(text: str) -> str:
    if not text:
        return text
    named, known = _PLACEHOLDER.findall(text), ("session", *PLACES)
    for name in named:
        if name not in known:
            raise ValueError(f"{{{name}}} is not a placeholder here; expected {_shown(known)}")
    if not text.startswith(("/", "~/", *(f"{{{place}}}/" for place in PLACES))):
        raise ValueError(f"expected an absolute path, or one that begins with {_shown(PLACES)}")
    if ".." in text.split("/"):
        raise ValueError("expected a path without `..`")
    if "session" not in named:
        raise ValueError("expected {session} in the path, so that each session has its own record")
    return text


def _visible(text: str) -> str:
    if text and not text.strip():
        raise ValueError("expected visible text")
    return text


def _end_keys(keys: tuple[str, ...]) -> tuple[str, ...]:
    if any(not word or typeable(word) != word or "\n" in word for word in keys):
        raise ValueError('expected names of keys, such as "C-d" or "Enter", and texts of one line')
    if keys and not is_key(keys[-1]):
        raise ValueError('expected the name of a key at the end, such as "Enter" or "C-d"')
    return keys


Program = Annotated[Arguments, Field(min_length=1), AfterValidator(_with("home"))]
Session = Annotated[Arguments, AfterValidator(_with(*_OF_SESSION))]
NamesSession = Annotated[Arguments, AfterValidator(_with(*_OF_SESSION, needs=("session",)))]
Tokens = Annotated[
    int,
    BeforeValidator(size),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 0}]}),
]


class OwnRuntime(Section):
    """A program of your own as a runtime: `runtime = "NAME"` runs it. See own-runtimes.md."""

    program: Program = Field(
        description="The program as a list. {home} is your home folder, here and in arguments, "
        "session, resume and reader."
    )
    arguments: Session = Field(
        default=(),
        description="Arguments of every session. {session} is the session's id, {record} the path "
        "of the session's record.",
    )
    session: NamesSession = Field(
        default=(),
        description='Arguments of a new session, such as ["--session-id", "{session}"].',
    )
    resume: NamesSession = Field(
        default=(),
        description='Arguments that reopen a session, such as ["--resume", "{session}"]; empty: '
        "sessions cannot be reopened, so no handoff can be undone.",
    )
    prompt: Annotated[
        Arguments,
        AfterValidator(_with("prompt", "prompt_file", needs=("prompt", "prompt_file"))),
    ] = Field(
        default=(),
        description='Arguments with the first prompt: ["{prompt}"], or ["--prompt-file", '
        '"{prompt_file}"], which keeps the prompt out of the process list; empty: no first prompt.',
    )
    takes_paste: bool = Field(
        default=False,
        description="The program accepts prompts that are pasted into its terminal (bracketed "
        "paste), then Enter.",
    )
    ready: Annotated[Line, AfterValidator(_visible)] = Field(
        default="",
        description='Text that the program shows when it accepts prompts, such as ">>>"; cockpit '
        "then pastes the first prompt. Use this if no argument passes a prompt.",
    )
    model: Annotated[Arguments, AfterValidator(_with("model", needs=("model",)))] = Field(
        default=(), description='Arguments for a model, such as ["--model", "{model}"].'
    )
    end_signal: EndSignal = Field(
        default="TERM",
        description="The signal that asks the program to end. A program that ignores the signal "
        "gets SIGKILL.",
    )
    end_keys: Annotated[Arguments, AfterValidator(_end_keys)] = Field(
        default=(),
        description='Keys and texts that ask the idle program to end, such as ["C-d"] or ["/quit", '
        '"Enter"]. If the program is still running five seconds later, it gets end_signal.',
    )
    permission_modes: dict[str, Arguments] = Field(
        default={}, description="The arguments of each permission mode that the program has."
    )
    record: Annotated[Line, AfterValidator(_record)] = Field(
        default="",
        description='Path of a session\'s record, such as "{directory}/.agent/{session}.jsonl"; '
        "{state} is the runtime's own folder in cockpit's state folder. Empty: no context data.",
    )
    reader: Annotated[Arguments, AfterValidator(_with("home"))] = Field(
        default=(),
        description="A program that reads the record's lines on stdin and prints lines of the "
        "documented format; empty: the record already has that format.",
    )
    window: WindowSize = Field(
        default="auto", description="Window size in tokens, if the record does not contain it."
    )
    compacts_at: Tokens = Field(
        default=0,
        description="Tokens at which the program compacts automatically, if the record does not "
        "contain it; 0: never.",
    )


NAME_SCHEMA: Any = {
    "anyOf": [
        {"enum": list(BUILT_IN), "type": "string"},
        {"type": "string", "pattern": f"^{NAME_PATTERN.pattern}$"},
    ]
}
RuntimeName = Annotated[str, AfterValidator(_named), WithJsonSchema(NAME_SCHEMA)]
OwnRuntimes = dict[Annotated[str, AfterValidator(_new_name)], OwnRuntime]


def installed_runtimes() -> dict[str, str]:
    """Return, for each runtime of an installed package, the package's name and version.

    Imports none of the packages.
    """
    from importlib.metadata import entry_points

    return {
        point.name: f"{point.dist.name} {point.dist.version}" if point.dist else "a package"
        for point in entry_points(group=ENTRY_POINTS)
    }
