"""The known secrets of an agent: in its environment, its hooks and its notifications."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from cockpit.config.hooks import Hooks
from cockpit.config.schema import AgentDefaults
from cockpit.config.secrets import configured_secrets
from cockpit.core.activity import one_line
from cockpit.core.cli_events import DialogOpened
from cockpit.core.redaction import Redactor, secret_values
from cockpit.supervisor.agents.agent import Agent


def redactor_of(environment: Mapping[str, str], agent: Agent) -> Redactor:
    """Return a redactor for the secrets in cockpit's environment and in the agent's data.

    The agent's data are its environment, its hooks and the notification URLs.
    """
    return Redactor(
        [
            *secret_values({**environment, **agent.settings.env}),
            *configured_secrets(agent.settings.hooks, agent.notified, environment),
        ]
    )


def redactor_of_defaults(
    environment: Mapping[str, str], defaults: AgentDefaults, notified: Iterable[str]
) -> Redactor:
    """Return a redactor for secrets in the environment, `[defaults]` and notification URLs."""
    return Redactor(
        [
            *secret_values({**environment, **defaults.env}),
            *configured_secrets(defaults.hooks, notified, environment),
        ]
    )


def redactor_without_agent(environment: Mapping[str, str], notified: Iterable[str]) -> Redactor:
    """Return a redactor for secrets in cockpit's environment and in notification URLs only."""
    known = [*secret_values(environment), *configured_secrets(Hooks(), notified)]
    return Redactor(known)


def dialog_without_secrets(dialog: DialogOpened, redactor: Redactor) -> DialogOpened:
    """Return the dialog without secrets, for display.

    The detail is rebuilt from the full command: a secret that was cut off in the detail would not
    be recognized.
    """
    command = redactor.redact(dialog.command).text
    detail = one_line(f"{dialog.tool} {command}") if dialog.tool else dialog.detail
    body = redactor.redact(dialog.body).text if dialog.body else ""
    return replace(dialog, detail=redactor.redact(detail).text, command=command, body=body)
