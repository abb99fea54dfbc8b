"""Settings of hooks, notifications and other hosts.

`config.checks` checks the settings that each type of hook needs.
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
    """A command to run or a message to send on an event."""

    type: HookType = Field(
        description="shell runs a command, webhook posts JSON, slack and discord post a message, "
        "notify sends through Apprise."
    )
    name: Line = Field(default="", description="Name shown on the row and in the log.")
    command: Arguments = Field(
        default=(),
        description="For shell: the command as a list. The event is a JSON line on its stdin.",
    )
    url: Line = Field(
        default="",
        description="For webhook, slack and discord: the URL to post to; optional for a slack bot.",
    )
    urls: Lines = Field(default=(), description="For notify: Apprise URLs.")
    headers: dict[str, Line] = Field(
        default={}, description="For webhook: extra headers; ${NAME} is read from the environment."
    )
    token: Line = Field(
        default="",
        description="For slack, instead of an incoming webhook: a bot token, best as ${NAME}.",
    )
    channel_id: Line = Field(
        default="", description="For slack with token: ID of the channel or user to post to."
    )
    threads: bool = Field(
        default=False,
        description="Use one thread per job: for slack with token, and for discord if url "
        "belongs to a forum channel.",
    )
    secret: Line = Field(
        default="",
        description="For webhook: secret to sign messages (Standard Webhooks), best as ${NAME}.",
    )
    allow_private: bool = Field(
        default=False,
        description="Allow loopback and private addresses in url.",
    )
    timeout: Seconds = Field(
        default=30.0, gt=0, le=3600, description="Time limit of the command or request."
    )
    mode: Literal["extend", "replace"] = Field(
        default="extend",
        description="For on_context_threshold: extend the built-in handoff, or replace it.",
    )
    on_events: Lines = Field(
        default=(),
        description="Only run for these events, or for after_run with these outcomes (completed, "
        "failed, stopped); empty: always.",
    )
    when: Line = Field(
        default="",
        description="Dotted path in the event's JSON; the hook only runs if the value is true.",
    )
    continue_on_error: bool = Field(
        default=True, description="For shell: run the following hooks even if this one fails."
    )


HookList = Annotated[tuple[Hook, ...], Field(strict=False)]


class Hooks(Section):
    """Commands to run and messages to send, by event, in the order written."""

    on_session_start: HookList = Field(
        default=(),
        description="Before a session gets its prompt; cockpit prepends a shell hook's output to "
        "the prompt.",
    )
    on_context_warning: HookList = Field(
        default=(), description="The context crossed the warn threshold."
    )
    on_context_threshold: HookList = Field(
        default=(),
        description="The context crossed the act threshold; a shell hook can decide what to do.",
    )
    on_handoff_start: HookList = Field(default=(), description="A handoff started.")
    on_handoff_document: HookList = Field(
        default=(), description="The handoff document was written."
    )
    on_handoff_complete: HookList = Field(default=(), description="The new session is confirmed.")
    on_compaction: HookList = Field(default=(), description="The CLI compacted its context.")
    on_needs_you: HookList = Field(default=(), description="An agent is waiting for you.")
    after_run: HookList = Field(
        default=(), description="A job ended: completed, failed or stopped."
    )
    on_error: HookList = Field(
        default=(),
        description="An agent crashed or could not start, or its handoff failed.",
    )

    def written(self) -> tuple[tuple[str, Hook], ...]:
        """Return every hook with its event, in the order in which this class lists the events."""
        return tuple(
            (event, hook) for event in type(self).model_fields for hook in getattr(self, event)
        )


class Notifications(Section):
    """Notifications to your phone, chat or desktop."""

    urls: Lines = Field(default=(), description="Apprise URLs; empty sends nothing.")
    on: Annotated[tuple[Notice, ...], Field(strict=False), Distinct] = Field(
        default=("needs_you", "handed_off", "failed"),
        description="Events to notify about: needs_you, handed_off, failed, done.",
    )
    quiet: QuietHours = Field(
        default="",
        description='Quiet hours in local time: "22:00-07:00"; messages are sent afterwards.',
    )
    terminal: InTerminal = Field(
        default="bell",
        description="Notify in the screen's terminal: off, bell, or a desktop notification by"
        " osc9 (iTerm2, WezTerm, Ghostty, Windows Terminal) or osc777 (foot, urxvt, VTE, Ghostty).",
    )


class Host(Section):
    """Another machine with its own supervisor."""

    name: HostName = Field(description="Name for `--host`, also shown on rows.")
    connect: Arguments = Field(
        min_length=1,
        description="Command prefix that runs a command on the host, with stdin and stdout.",
    )
    attach: Arguments = Field(
        default=(),
        description="Command prefix to attach to a pane on the host, with a terminal. Empty: use "
        "connect; cockpit adds -t to ssh.",
    )
