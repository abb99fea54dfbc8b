"""The permission mode of a job that goes through several CLIs."""

from __future__ import annotations

from pathlib import Path

import pytest

from cockpit.adapters.agents import runtime
from cockpit.config.schema import AgentSettings
from cockpit.core.ids import AgentName, JobId, SessionId
from cockpit.ports.records import AgentRecord, SessionRecord
from cockpit.ports.runtimes import Runtime
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.sessions.permission_modes import (
    JobModes,
    is_same,
    merged,
    mode_in,
    narrowed,
)

API = AgentName("api")


class Job:
    """An agent with a configured CLI, and the CLIs that it may go on in."""

    def __init__(self, state: Path, usual: str) -> None:
        self.state = state
        record = AgentRecord(API, {}, None, True, "/w")
        self.agent = Agent(
            record,
            AgentSettings.model_validate({"name": API, "runtime": usual}),
            self.runtimes(usual),
        )

    def runtimes(self, name: str) -> Runtime:
        return runtime(name, self.state)

    def started(self, modes: JobModes, cli: str) -> str:
        return mode_in(self.runtimes, self.agent, modes, self.runtimes(cli))

    def asks(self, modes: JobModes, cli: str) -> bool:
        return not is_same(self.runtimes, self.agent, modes, self.runtimes(cli))

    def after(self, modes: JobModes, cli: str, observed: str | None) -> JobModes:
        old = SessionRecord(SessionId("s"), API, JobId("j"), 1, None, "r", 0.0, runtime=cli)
        return narrowed(self.runtimes, self.agent, modes, modes.save_in(old), observed)


@pytest.mark.parametrize(
    ("usual", "mode", "cli", "started", "asks"),
    [
        ("claude", "acceptEdits", "claude", "acceptEdits", False),
        ("claude", "", "claude", "", False),
        ("claude", "", "gemini", "default", False),
        ("claude", "", "codex", "plan", True),
        ("claude", "acceptEdits", "codex", "plan", True),
        ("claude", "acceptEdits", "gemini", "acceptEdits", False),
        ("claude", "a mode of tomorrow", "gemini", "default", True),
        # The same names mean more in Codex.
        ("codex", "acceptEdits", "claude", "acceptEdits", True),
        ("codex", "dontAsk", "claude", "dontAsk", True),
        ("codex", "", "claude", "default", False),
        ("codex", "bypassPermissions", "claude", "bypassPermissions", False),
    ],
)
def test_a_mode_in_another_cli(
    usual: str, mode: str, cli: str, started: str, asks: bool, tmp_path: Path
) -> None:
    job, modes = Job(tmp_path, usual), JobModes(mode)
    assert (job.started(modes, cli), job.asks(modes, cli)) == (started, asks)


CHOSEN = [
    ("claude", "acceptEdits", "claude", "plan", JobModes("plan")),
    ("claude", "dontAsk", "claude", "acceptEdits", JobModes("dontAsk")),
    # What cockpit chose there is not the user's choice.
    ("claude", "acceptEdits", "codex", "plan", JobModes("acceptEdits")),
    ("claude", "acceptEdits", "codex", None, JobModes("acceptEdits")),
    ("claude", "default", "codex", "acceptEdits", JobModes("default")),
    ("claude", "", "codex", "plan", JobModes("")),
    ("claude", "", "codex", "bypassPermissions", JobModes("")),
    ("codex", "acceptEdits", "claude", "acceptEdits", JobModes("acceptEdits")),
    # What the user chose there is named as that CLI does.
    ("claude", "bypassPermissions", "codex", "plan", "plan"),
    ("claude", "bypassPermissions", "codex", "acceptEdits", "acceptEdits"),
    ("codex", "acceptEdits", "claude", "default", "default"),
]


@pytest.mark.parametrize(("usual", "mode", "cli", "observed", "then"), CHOSEN)
def test_a_narrower_mode_is_kept_for_the_cli_in_which_the_user_chose_it(
    usual: str, mode: str, cli: str, observed: str | None, then: JobModes | str, tmp_path: Path
) -> None:
    expected = then if isinstance(then, JobModes) else JobModes(mode, {cli: then})
    assert Job(tmp_path, usual).after(JobModes(mode), cli, observed) == expected


@pytest.mark.parametrize(
    ("usual", "mode", "chosen", "cli", "started", "asks"),
    [
        # The CLI in which the user chose the mode gets exactly this mode again.
        ("codex", "acceptEdits", {"claude": "default"}, "claude", "default", False),
        ("claude", "bypassPermissions", {"codex": "acceptEdits"}, "codex", "acceptEdits", False),
        # Another CLI, the configured one too, may not do more.
        ("codex", "acceptEdits", {"claude": "default"}, "codex", "plan", True),
        ("claude", "bypassPermissions", {"codex": "plan"}, "claude", "plan", True),
        ("claude", "bypassPermissions", {"gemini": "default"}, "claude", "default", False),
        ("claude", "bypassPermissions", {"codex": "acceptEdits"}, "claude", "acceptEdits", True),
        # The narrowest of all choices counts.
        (
            "claude",
            "bypassPermissions",
            {"gemini": "acceptEdits", "opencode": "default"},
            "gemini",
            "default",
            False,
        ),
        ("claude", "plan", {"codex": "acceptEdits"}, "claude", "plan", False),
    ],
)
def test_every_choice_limits_the_next_session(
    usual: str,
    mode: str,
    chosen: dict[str, str],
    cli: str,
    started: str,
    asks: bool,
    tmp_path: Path,
) -> None:
    job, modes = Job(tmp_path, usual), JobModes(mode, chosen)
    assert (job.started(modes, cli), job.asks(modes, cli)) == (started, asks)


def test_a_mode_that_was_translated_back_is_no_choice(tmp_path: Path) -> None:
    """Codex has no mode like Claude Code's `default`, and runs the job in `plan`."""
    job = Job(tmp_path, "codex")
    chosen = job.after(JobModes("acceptEdits"), "claude", "default")
    assert job.after(chosen, "codex", "plan") == chosen
    assert job.started(job.after(chosen, "codex", "plan"), "claude") == "default"


def test_a_later_choice_replaces_the_one_in_the_same_cli(tmp_path: Path) -> None:
    job = Job(tmp_path, "claude")
    chosen = JobModes("bypassPermissions", {"codex": "acceptEdits"})
    assert job.after(chosen, "codex", "plan") == JobModes("bypassPermissions", {"codex": "plan"})
    assert job.after(chosen, "codex", "bypassPermissions") == chosen


def test_what_was_chosen_in_two_sessions_is_merged_to_the_narrower(tmp_path: Path) -> None:
    job = Job(tmp_path, "claude")
    modes = JobModes("bypassPermissions", {"codex": "plan"})
    both = merged(job.runtimes, modes, {"codex": "acceptEdits", "gemini": "default"})
    assert both == JobModes("bypassPermissions", {"codex": "plan", "gemini": "default"})
