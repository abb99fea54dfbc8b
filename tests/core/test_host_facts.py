"""What a machine says of itself is checked word by word: it may be broken, or hostile."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from cockpit.core.host_facts import HostFacts, host_facts, new_enough_python

STATUS = {
    "supervisor": {"version": "0.1.0", "started_at": "2026-11-27T06:00:00Z"},
    "agents": [{"state": "working"}, {"state": "needs_you"}, {"state": "stopped"}],
}


def test_a_machine_is_described() -> None:
    facts = host_facts([
        ("system", "Linux"), ("uid", "1000"), ("cores", "8"), ("load", "0.42"),
        ("home", "/home/me"), ("runtime_folder", "/run/user/1000"), ("linger", "no"),
        ("tmux_where", "other"), ("tmux_path", "/opt/homebrew/bin/tmux"),
        ("tmux_version", "tmux 3.3a"),
        ("git_where", "path"), ("git_path", "/usr/bin/git"), ("git_version", "git version 2.39.5"),
        ("status_code", "0"),
        *(("status", line) for line in json.dumps(STATUS, indent=2).splitlines()),
    ])  # fmt: skip

    assert (facts.system, facts.uid, facts.cores, facts.load) == ("Linux", 1000, 8, 0.42)
    assert facts.folders == {"HOME": "/home/me", "XDG_RUNTIME_DIR": "/run/user/1000"}
    assert facts.linger is False
    tmux, git = facts.program("tmux"), facts.program("git")
    assert tmux is not None
    assert git is not None
    assert (tmux.version, tmux.on_path, git.version, git.on_path) == ("3.3a", False, "2.39.5", True)
    assert facts.program("cockpit") is None
    assert facts.supervisor is not None
    assert (facts.supervisor.running, facts.supervisor.total) == (2, 3)
    assert facts.supervisor.started_at == "2026-11-27T06:00:00Z"


@pytest.mark.parametrize(
    "lines",
    [
        [("uid", "-1"), ("cores", "1e9"), ("load", "nan"), ("system", "a b"), ("linger", "maybe")],
        [("uid", "9" * 40), ("cores", "9" * 12), ("load", "1" * 30)],
        [("status_code", "0"), ("status", "[" * 5000)],
        [("status_code", "0"), ("status", '{"agents": 3}')],
        [("status_code", "0"), ("status", "[]")],
        [("status_code", "x"), ("status", json.dumps(STATUS))],
        [("cores", "0"), ("tmux_version", "tmux 3.3a")],
    ],
)
def test_what_has_not_the_form_of_a_fact_is_unknown(lines: list[tuple[str, str]]) -> None:
    facts = replace(host_facts(lines), status_code=None)

    assert facts == HostFacts()


def test_words_of_a_status_are_counted_only_if_they_are_known() -> None:
    agents = [{"state": "\x1b[31mred"}, {"state": ["idle"]}, 7, {"state": "idle"}]
    status = {"supervisor": {"version": 3, "started_at": "yesterday"}, "agents": agents}

    supervisor = host_facts([("status_code", "0"), ("status", json.dumps(status))]).supervisor

    assert supervisor is not None
    assert supervisor.agents == {"unknown": 3, "idle": 1}
    assert (supervisor.version, supervisor.started_at) == ("", "")


@pytest.mark.parametrize(
    ("version", "enough"),
    [("3.11.0", True), ("3.14.2", True), ("4.0", True), ("3.10.13", False), ("2.7", False),
     ("", False), ("three", False)],
)  # fmt: skip
def test_which_python_is_new_enough(version: str, *, enough: bool) -> None:
    assert new_enough_python(version) is enough
