"""Names and commands for agents on other hosts."""

from __future__ import annotations

import pytest

from cockpit.core.far_names import HOST_COMMANDS, commands_on


@pytest.mark.parametrize(
    ("text", "completed"),
    [
        ("Stop it: cockpit stop api", "Stop it: cockpit stop --host gpu1 api"),
        (
            "First cockpit stop api, then cockpit start api --resume",
            "First cockpit stop --host gpu1 api, then cockpit start --host gpu1 api --resume",
        ),
        ("See `cockpit status`. Then go on.", "See `cockpit status --host gpu1`. Then go on."),
        (
            "Pass a program: cockpit start NAME -- COMMAND",
            "Pass a program: cockpit start --host gpu1 NAME -- COMMAND",
        ),
        (
            "cockpit worktrees remove api --salvage",
            "cockpit worktrees --host gpu1 remove api --salvage",
        ),
        ("Stop it (cockpit stop restore)", "Stop it (cockpit stop --host gpu1 restore)"),
    ],
)
def test_a_command_gets_the_option_of_its_host(text: str, completed: str) -> None:
    assert commands_on("gpu1", text) == completed
    assert commands_on("gpu1", completed) == completed


@pytest.mark.parametrize(
    "text",
    [
        "",
        "cockpit",
        "cockpit retries automatically",
        "cockpit restarts it; cockpit stop-gap; cockpit start_up",
        "Look into .cockpit stop and ~/cockpit stop",
        "cockpit worktrees restore refs/cockpit/salvage/api NEW-FOLDER --repository /w",
        "Check it: cockpit config check",
        "Move the job back: cockpit move api --to laptop",
        "Pass it: cockpit start --host gpu2 api",
    ],
)
def test_other_text_stays_as_it_is(text: str) -> None:
    assert commands_on("gpu1", text) == text


def test_the_commands_are_sorted() -> None:
    assert list(HOST_COMMANDS) == sorted(HOST_COMMANDS)
