"""What the permission modes of the CLIs allow, and which one a job gets that comes from another."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from cockpit.adapters.agents import runtime
from cockpit.adapters.agents.codex.permission_modes import ARGUMENTS as CODEX
from cockpit.adapters.agents.copilot.permission_modes import ARGUMENTS as COPILOT
from cockpit.adapters.agents.gemini.permission_modes import APPROVAL_MODES as GEMINI
from cockpit.adapters.agents.opencode.permission_modes import MODES as OPENCODE
from cockpit.core.permission import ASKS_FIRST, Right
from cockpit.core.tool_names import SUCCESSORS


@pytest.mark.parametrize(
    ("name", "modes"),
    [("codex", CODEX), ("gemini", GEMINI), ("opencode", OPENCODE), ("copilot", COPILOT)],
)
def test_it_is_known_of_every_mode_what_it_allows(
    name: str, modes: dict[str, object], tmp_path: Path
) -> None:
    assert runtime(name, tmp_path).modes.keys() == modes.keys() - {""}


@pytest.mark.parametrize(("old", "new"), permutations(SUCCESSORS, 2))
def test_no_way_between_two_clis_widens(old: str, new: str, tmp_path: Path) -> None:
    """Reading commands in a sandbox may be added; the user is asked then."""
    successor = runtime(new, tmp_path)
    known = runtime(old, tmp_path).modes
    for mode, rights in {**known, "": ASKS_FIRST, "a mode of tomorrow": ASKS_FIRST}.items():
        then = successor.modes[successor.nearest_mode(mode, rights)]
        assert then.unasked - {Right.LOOK} <= rights.unasked, mode


@pytest.mark.parametrize(
    ("mode", "codex", "gemini", "opencode", "copilot"),
    [
        ("plan", "plan !", "plan", "plan", "plan"),
        ("default", "plan !", "default", "default", "plan !"),
        ("manual", "plan !", "default", "default", "plan !"),
        ("acceptEdits", "plan !", "acceptEdits", "acceptEdits", "plan !"),
        ("dontAsk", "plan !", "plan !", "plan !", "plan !"),
        ("auto", "plan !", "acceptEdits !", "acceptEdits !", "plan !"),
        ("bypassPermissions", *["bypassPermissions"] * 4),
    ],
)
def test_where_a_job_of_claude_code_goes_on(
    mode: str, codex: str, gemini: str, opencode: str, copilot: str, tmp_path: Path
) -> None:
    """`!`: the mode does not allow the same, so the user is asked first."""
    claude = runtime("claude", tmp_path)
    for name, told in zip(SUCCESSORS[1:], (codex, gemini, opencode, copilot), strict=True):
        successor = runtime(name, tmp_path)
        then = successor.nearest_mode(mode, claude.modes[mode])
        same = successor.modes[then] == claude.modes[mode]
        assert f"{then}{'' if same else ' !'}" == told, name


@pytest.mark.parametrize(
    ("mode", "claude", "gemini"),
    [
        ("plan", "plan !", "plan !"),
        ("default", "default !", "default !"),
        ("acceptEdits", "acceptEdits !", "acceptEdits !"),
        ("dontAsk", "dontAsk !", "acceptEdits !"),
        ("bypassPermissions", "bypassPermissions", "bypassPermissions"),
    ],
)
def test_where_a_job_of_codex_goes_on(mode: str, claude: str, gemini: str, tmp_path: Path) -> None:
    rights = runtime("codex", tmp_path).modes[mode]
    for name, told in (("claude", claude), ("gemini", gemini)):
        successor = runtime(name, tmp_path)
        then = successor.nearest_mode(mode, rights)
        assert f"{then}{'' if successor.modes[then] == rights else ' !'}" == told, name
