"""`cockpit answer`: a dialog is printed with its choices, and answered only if it was read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cockpit.cli.answer import described
from cockpit.cli.commands import run
from cockpit.core.errors import BadUsage, NotNow
from cockpit.wire.dialogs import ChoiceStatus, DialogStatus

ASKED = DialogStatus(
    identity="d1",
    title="Bash command",
    tool="Bash",
    question="Do you want to proceed?",
    notice="This command requires approval",
    text="make\ntest",
    choices=[
        ChoiceStatus(label="Yes", text="may"),
        ChoiceStatus(label="Report", note="Prints it", checked=True),
        ChoiceStatus(label="Tell it", text="must"),
    ],
)


def test_a_dialog_is_printed_as_the_cli_asks_it() -> None:
    assert described(ASKED, "api").splitlines() == [
        "Bash command",
        "  make",
        "  test",
        "",
        "This command requires approval",
        "Do you want to proceed?",
        "  1. Yes  (takes text)",
        "  2. [x] Report",
        "     Prints it",
        "  3. Tell it  (needs text)",
        "",
        "Answer: cockpit answer api --choice N --dialog d1",
    ]


def test_what_cannot_be_answered_names_the_next_step(
    answering: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    answering.say("GET /v1/dialog/api", {"identity": None, "refusal": "it is unknown"})
    for words in ([], ["--choice", "1"]):
        assert run(["answer", "api", *words]) == NotNow.exit_code
        printed = capsys.readouterr()
        assert not printed.out
        assert "it is unknown" in printed.err
        assert printed.err.rstrip().endswith("cockpit attach api")
    assert run(["answer", "api", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["refusal"] == "it is unknown"


@pytest.mark.parametrize(
    "typed",
    [
        ["--text", "x"],
        ["--dialog", "d1"],
        ["--choice", "one", "--dialog", "d1"],
        ["--choice", "1", "--json"],
    ],
    ids=" ".join,
)
def test_half_an_answer_is_no_answer(typed: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["answer", "api", *typed]) == BadUsage.exit_code
    assert "--choice" in capsys.readouterr().err
