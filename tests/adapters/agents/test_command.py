"""Any program as an agent: started as given, and otherwise left alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cockpit.adapters.agents.command import Command, resolved_program
from cockpit.core.errors import BadUsage, ProgramMissing
from cockpit.core.ids import AgentName, SessionId
from cockpit.ports.runtimes import SessionOrder


def order(tmp_path: Path, **changed: Any) -> SessionOrder:
    known: dict[str, Any] = {
        "agent": AgentName("logs"),
        "session_id": SessionId("s"),
        "run": "marker",
        "directory": tmp_path,
        "environment": {"PATH": "/usr/bin:/bin"},
    }
    return SessionOrder(**known | changed)


def test_the_vector_is_started_as_it_stands(tmp_path: Path) -> None:
    runtime = Command(tmp_path / "state")
    given = order(tmp_path, command=("tail", "-f", "a b; $(x)"))
    launch = runtime.launch(given, runtime.program({}))
    assert Path(launch.argv[0]).name == "tail"
    assert launch.argv[1:] == ("-f", "a b; $(x)")
    assert launch.environment["COCKPIT_RUN"] == "marker"


def test_a_relative_program_is_one_of_the_agents_directory(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    runtime = Command(tmp_path / "state")
    launch = runtime.launch(order(tmp_path, command=("./run.sh",)), runtime.program({}))
    assert Path(launch.argv[0]).samefile(script)


def test_a_command_that_names_the_prompts_file_gets_no_prompt_argument(tmp_path: Path) -> None:
    runtime = Command(tmp_path / "state")
    given = order(tmp_path, command=("tail", "--from={prompt_file}"), prompt="its job")
    launch = runtime.launch(given, runtime.program({}))
    file = tmp_path / "state" / "prompts" / "marker" / "prompt.md"
    assert launch.argv[1:] == (f"--from={file}",)
    assert (launch.prompt, launch.prompt_file) == ("its job", file)


def test_nothing_to_run_and_no_such_program_are_said(tmp_path: Path) -> None:
    runtime = Command(tmp_path / "state")
    with pytest.raises(BadUsage, match="no command to run"):
        runtime.launch(order(tmp_path), runtime.program({}))
    with pytest.raises(ProgramMissing, match="no-such-thing"):
        runtime.launch(order(tmp_path, command=("no-such-thing",)), runtime.program({}))


@pytest.mark.parametrize(
    ("word", "in_directory", "detail", "hint"),
    [
        ("no-such-thing", True, "Searched in PATH.", "give the program's absolute path"),
        ("{}/nothing", True, "Tried {}/nothing.", "install the program there"),
        ("{}/nothing", False, "Tried {}/nothing.", "install the program there"),
        ("./nothing", True, "Tried {}/nothing.", "install the program there"),
        ("bin/nothing", False, "Tried bin/nothing.", "give the absolute path"),
        ("./plain.sh", True, "{}/plain.sh is not executable.", "chmod +x {}/plain.sh"),
        ("{}", False, "Tried {}.", "install the program there"),
    ],
)
def test_a_missing_program_is_named_with_the_path_that_was_tried(
    tmp_path: Path, word: str, in_directory: bool, detail: str, hint: str
) -> None:
    (tmp_path / "plain.sh").write_text("#!/bin/sh\n")
    with pytest.raises(ProgramMissing) as error:
        resolved_program(
            "api",
            word.format(tmp_path),
            tmp_path if in_directory else None,
            {"PATH": "/usr/bin:/bin"},
        )
    assert error.value.detail == detail.format(tmp_path)
    assert hint.format(tmp_path) in error.value.hint
