"""What must not be shown of an agent: of its environment, of its hooks, of what is sent for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from cockpit.config.hooks import Hooks
from cockpit.config.secrets import configured_secrets
from cockpit.core.activity import one_line
from cockpit.core.moments import DialogOpened
from cockpit.core.redaction import Redactor, secret_values
from cockpit.supervisor.agents.agent import Agent


def redactor_of(environment: Mapping[str, str], agent: Agent) -> Redactor:
    """Knows the secrets of our own environment and of everything that this agent is told."""
    return Redactor(
        [
            *secret_values({**environment, **agent.settings.env}),
            *configured_secrets(agent.settings.hooks, agent.notified, environment),
        ]
    )


def redactor_of_nobody(environment: Mapping[str, str], notified: Iterable[str]) -> Redactor:
    """Knows what is secret whoever the agent was: our own environment, the user's addresses."""
    known = [*secret_values(environment), *configured_secrets(Hooks(), notified)]
    return Redactor(known)


def asked_without_secrets(dialog: DialogOpened, redactor: Redactor) -> DialogOpened:
    """What a dialog asks, as it may be shown.

    The line is made anew of the command: one that was cut in the middle of a secret hides it from
    whoever looks for it.
    """
    command = redactor.redact(dialog.command).text
    detail = one_line(f"{dialog.tool} {command}") if dialog.tool else dialog.detail
    return replace(dialog, detail=redactor.redact(detail).text, command=command)
