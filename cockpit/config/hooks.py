"""The settings of what runs or sends: hooks, notifications, other hosts.

They are read here; what each type needs is checked in `config.checks`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from cockpit.config.values import Arguments, Distinct, HostName, Line, Lines, Seconds, Section
from cockpit.core.notices import quiet_hours

HookType = Literal["shell", "webhook", "slack", "discord", "notify"]
Notice = Literal["needs_you", "handed_off", "failed", "done"]
InTerminal = Literal["off", "bell", "osc9", "osc777"]


def _quiet(text: str) -> str:
    quiet_hours(text)
    return text


QuietHours = Annotated[str, AfterValidator(_quiet)]


class Hook(Section):
    """One thing to run or send when an event happens."""

    type: HookType = Field(
        description="shell runs a command, webhook posts JSON, slack and discord post a message, "
        "notify sends through Apprise."
    )
    name: Line = Field(default="", description="What the row and the log call it.")
    command: Arguments = Field(
        default=(),
        description="For shell: the argument vector. The event is one line of JSON on stdin.",
    )
    url: Line = Field(default="", description="For webhook, slack and discord: where to post.")
    urls: Lines = Field(default=(), description="For notify: Apprise URLs.")
    headers: dict[str, Line] = Field(
        default={}, description="For webhook: more headers; ${NAME} is taken from the environment."
    )
    threads: bool = Field(
        default=False,
        description="For discord: the address is a forum channel's; each job has its own thread.",
    )
    secret: Line = Field(
        default="",
        description="For webhook: signs each message (Standard Webhooks), best as ${NAME}.",
    )
    allow_private: bool = Field(
        default=False,
        description="Let the URL be a loopback or private address; they are refused else.",
    )
    timeout: Seconds = Field(default=30.0, gt=0, le=3600, description="How long it may take.")
    mode: Literal["extend", "replace"] = Field(
        default="extend",
        description="On on_context_threshold: run around the built-in handoff, or in its place.",
    )
    on_events: Lines = Field(default=(), description="Only for these events; empty means all.")
    when: Line = Field(
        default="", description="Dotted path to a boolean in the payload; false skips it."
    )
    continue_on_error: bool = Field(
        default=True, description="A failure does not stop what follows."
    )


HookList = Annotated[tuple[Hook, ...], Field(strict=False)]


class Hooks(Section):
    """What to run or send, by event, in the order written."""

    on_session_start: HookList = Field(
        default=(),
        description="Before a session's prompt is given; what a shell hook prints goes before it.",
    )
    on_context_warning: HookList = Field(default=(), description="The warn mark was crossed.")
    on_context_threshold: HookList = Field(
        default=(), description="The act mark was crossed; a shell hook may decide what follows."
    )
    on_handoff_start: HookList = Field(default=(), description="A handoff has begun.")
    on_handoff_document: HookList = Field(default=(), description="The document is there.")
    on_handoff_complete: HookList = Field(default=(), description="The successor is confirmed.")
    on_compaction: HookList = Field(default=(), description="The CLI compacted its context.")
    on_needs_you: HookList = Field(default=(), description="An agent waits for the pilot.")
    after_run: HookList = Field(
        default=(), description="A job is over: completed, failed or stopped."
    )
    on_error: HookList = Field(
        default=(),
        description="An agent ended badly or could not be started, or its handoff failed.",
    )

    def written(self) -> tuple[tuple[str, Hook], ...]:
        """Every hook with its event, in the order of the events above."""
        return tuple(
            (event, hook) for event in type(self).model_fields for hook in getattr(self, event)
        )


class Notifications(Section):
    """Messages to the pilot, wherever the pilot is."""

    urls: Lines = Field(default=(), description="Apprise URLs; empty sends nothing.")
    on: Annotated[tuple[Notice, ...], Field(strict=False), Distinct] = Field(
        default=("needs_you", "handed_off", "failed"),
        description="What is told: needs_you, handed_off, failed, done.",
    )
    quiet: QuietHours = Field(
        default="",
        description='When nothing is sent, by the local clock: "22:00-07:00"; it comes afterwards.',
    )
    terminal: InTerminal = Field(
        default="bell",
        description="How the screen's terminal tells it: off, bell, or a message on the desktop by"
        " osc9 (iTerm2, WezTerm, Ghostty, Windows Terminal) or osc777 (foot, urxvt, VTE, Ghostty).",
    )


class Host(Section):
    """Another machine with a supervisor of its own."""

    name: HostName = Field(description="What `--host` and the rows call it.")
    connect: Arguments = Field(
        min_length=1, description="A command that runs a command there with stdin and stdout."
    )
    attach: Arguments = Field(
        default=(),
        description="The same with a terminal, to go into a pane there; empty means connect, to "
        "which ssh gets its -t by itself.",
    )
