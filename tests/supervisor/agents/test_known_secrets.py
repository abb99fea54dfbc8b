"""Secrets of the configuration go from the papers, and from the successor's first prompt."""

from __future__ import annotations

import os
from pathlib import Path

from cockpit.config.paths import Places
from cockpit.core.cli_events import DialogOpened
from cockpit.core.handoff.states import Document
from cockpit.core.ids import AgentName, JobId
from cockpit.core.redaction import Redactor
from cockpit.ports.records import JobRecord
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.agents.known_secrets import dialog_without_secrets, redactor_of
from cockpit.supervisor.handoff.documents import DocumentBuilder
from cockpit.supervisor.main import dependencies
from tests.supervisor.sessions_alone import sessions_alone

HEADER, PATH, NOTIFIED, VARIABLE = "room-key-815", "abcdefghijklmnop1", "topic-4711", "tiger-471"

CONFIG = f"""
[notifications]
urls = ["ntfys://{NOTIFIED}"]

[[agents]]
name = "api"
env = {{ DB_PASSWORD_PROD = "{VARIABLE}" }}

[[agents.hooks.on_error]]
type = "webhook"
url = "https://hooks.example.com/{PATH}"
headers = {{ X-Room = "{HEADER}" }}
"""


def test_the_first_prompt_of_a_successor_holds_no_configured_secret(tmp_path: Path) -> None:
    places = Places.of(os.environ)
    places.make()
    parts = dependencies(places)
    file = tmp_path / "cockpit.toml"
    file.write_text(CONFIG)
    fleet = Fleet(parts)
    try:
        fleet.load(file, named=True)
        agent = fleet.agent("api")
        goal = f"Use {HEADER}, {PATH}, {NOTIFIED} and {VARIABLE}."
        agent.job = JobRecord(JobId("j"), AgentName("api"), goal, 0.0)
        papers = DocumentBuilder(parts, sessions_alone(parts, lambda: fleet))
        prompt = papers.continuation(agent, Document(str(tmp_path / "none.md"), "", "agent"))
    finally:
        parts.store.close()
    assert "Use [REDACTED:" in prompt
    assert [each for each in (HEADER, PATH, NOTIFIED, VARIABLE) if each in prompt] == []


def test_where_the_pilot_was_told_of_things_is_known_without_the_file(own_home: Path) -> None:
    places = Places.of(os.environ)
    places.make()
    parts = dependencies(places)
    file = own_home / "cockpit.toml"
    file.write_text(CONFIG)
    try:
        Fleet(parts).load(file, named=True)
        file.write_text(CONFIG.replace(NOTIFIED, "topic-4712"))
        changed = Fleet(parts)
        changed.remember()
        changed.load(file, named=True)
        file.unlink()
        fleet = Fleet(parts)
        fleet.remember()
        fleet.load(None, named=False)
        text = f"{HEADER} {PATH} {NOTIFIED} topic-4712 {VARIABLE}"
        known = redactor_of(parts.environment, fleet.agent("api")).redact(text).text
    finally:
        parts.store.close()
    assert [word for word in known.split() if not word.startswith("[REDACTED:")] == []
    (kept,) = (places.state / "notified").iterdir()
    assert kept.stat().st_mode & 0o777 == 0o600


def test_a_command_that_asks_for_leave_is_shown_without_its_secrets() -> None:
    """Also where the line of it would end in the middle of one."""
    command = f"{'x' * 90} {VARIABLE}-and-more\ncurl -H {HEADER}"
    line = f"Bash {command}"[:100]
    assert VARIABLE[:3] in line
    shown = dialog_without_secrets(
        DialogOpened("permission", line, "Bash", command, body=command),
        Redactor([f"{VARIABLE}-and-more", HEADER]),
    )
    for secret in (VARIABLE[:3], HEADER):
        assert secret not in f"{shown.detail} {shown.command} {shown.body}"
    assert shown.command.count("[REDACTED:") == 2
    question = DialogOpened("question", f"Use {HEADER}?")
    assert HEADER not in dialog_without_secrets(question, Redactor([HEADER])).detail
