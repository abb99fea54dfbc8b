"""A program of the user's as a runtime: how it is started, and where its record is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cockpit.adapters.agents import runtime
from cockpit.adapters.agents.own.definitions import Definitions
from cockpit.adapters.agents.own.runtime import OwnProgram
from cockpit.config.own_runtimes import OwnRuntime
from cockpit.core.errors import BadUsage, CockpitError, NotNow, ProgramMissing
from cockpit.core.ids import AgentName, SessionId
from cockpit.core.permission import ASKS_FIRST, EVERYTHING
from cockpit.core.reading import Confidence
from cockpit.core.session import AssistantReplied, Skipped
from cockpit.ports.panes import Launch
from cockpit.ports.runtimes import SessionOrder

TABLE: dict[str, Any] = {
    "program": ["tail", "-f"],
    "arguments": ["--record", "{record}"],
    "session": ["--id={session}"],
    "resume": ["--resume", "{session}"],
    "prompt": ["{prompt}"],
    "model": ["--model", "{model}"],
    "permission_modes": {"plan": ["--read-only"]},
    "record": "{state}/{session}.jsonl",
    "window": "10k",
    "compacts_at": "9k",
}


def made(tmp_path: Path, **changed: Any) -> OwnProgram:
    kept = {key: value for key, value in (TABLE | changed).items() if value is not None}
    return OwnProgram("mine", OwnRuntime.model_validate(kept), tmp_path / "state")


def order(tmp_path: Path, **changed: Any) -> SessionOrder:
    known: dict[str, Any] = {
        "agent": AgentName("api"),
        "session_id": SessionId("s1"),
        "run": "marker",
        "directory": tmp_path,
        "environment": {"PATH": "/usr/bin:/bin", "HOME": "/home/me"},
    }
    return SessionOrder(**known | changed)


def launched(own: OwnProgram, given: SessionOrder) -> Launch:
    return own.launch(given, own.program(given.environment))


def test_everything_in_order(tmp_path: Path) -> None:
    given = order(
        tmp_path, prompt="Do {record}.", model="m", permission_mode="plan", arguments=("-x",)
    )
    launch = launched(made(tmp_path), given)
    record = str(tmp_path / "state" / "own-runtimes" / "mine" / "s1.jsonl")
    assert Path(launch.argv[0]).name == "tail"
    assert list(launch.argv[1:]) == [
        *("-f", "--record", record, "--id=s1", "--model", "m", "--read-only", "-x", "Do {record}.")
    ]
    assert launch.environment["COCKPIT_RUN"] == "marker"
    assert (launch.prompt, launch.prompt_file) == (None, None)


def test_a_prompt_in_a_private_file(tmp_path: Path) -> None:
    own = made(tmp_path, prompt=["--prompt-file={prompt_file}"])
    launch = launched(own, order(tmp_path, prompt="its job"))
    file = tmp_path / "state" / "prompts" / "marker" / "prompt.md"
    assert launch.argv[-1] == f"--prompt-file={file}"
    assert (launch.prompt, launch.prompt_file) == ("its job", file)
    assert f"--prompt-file={file}" not in launched(own, order(tmp_path)).argv


def test_a_prompt_that_no_argument_can_hold_is_in_a_file(tmp_path: Path) -> None:
    launch = launched(made(tmp_path), order(tmp_path, prompt="x" * 130_000))
    assert launch.argv[-1] == f"Read the file {launch.prompt_file} and do what it says."
    assert launch.prompt == "x" * 130_000


def test_a_prompt_does_not_become_an_option(tmp_path: Path) -> None:
    launch = launched(made(tmp_path), order(tmp_path, prompt="--yes-always"))
    assert launch.argv[-1] == f"Read the file {launch.prompt_file} and do what it says."
    assert launch.prompt == "--yes-always"


def test_a_prompt_for_a_program_that_is_only_typed_into_is_in_no_argument(tmp_path: Path) -> None:
    own = made(tmp_path, prompt=None, ready=">>> ", takes_paste=True, end_keys=["/quit", "Enter"])
    launch = launched(own, order(tmp_path, prompt="its job"))
    file = tmp_path / "state" / "prompts" / "marker" / "paste.md"
    assert (launch.prompt, launch.prompt_file) == ("its job", file)
    assert launch.argv == launched(own, order(tmp_path)).argv
    assert (own.capabilities.pastes_at, own.capabilities.end_keys) == (">>>", ("/quit", "Enter"))


def test_a_session_is_reopened_by_its_id(tmp_path: Path) -> None:
    given = order(tmp_path, resume=True)
    own = made(tmp_path)
    assert launched(own, given).argv[-2:] == ("--resume", "s1")
    with pytest.raises(BadUsage, match="not a session id"):
        own.resumable(given)


@pytest.mark.parametrize(
    ("given", "left_out", "says"),
    [
        ({"prompt": "x"}, "prompt", "a first prompt"),
        ({"model": "m"}, "model", "the model 'm'"),
        ({"permission_mode": "auto"}, "compacts_at", "no permission mode 'auto'"),
    ],
)
def test_what_it_takes_no_argument_for_is_refused(
    tmp_path: Path, given: dict[str, Any], left_out: str, says: str
) -> None:
    with pytest.raises(BadUsage, match=says):
        launched(made(tmp_path, **{left_out: None}), order(tmp_path, **given))


def test_a_permission_mode_of_the_defaults_is_refused_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(BadUsage) as refused:
        launched(made(tmp_path), order(tmp_path, permission_mode="acceptEdits"))
    assert 'permission_mode = ""' in refused.value.hint


def test_without_resume_no_session_is_reopened(tmp_path: Path) -> None:
    own = made(tmp_path, resume=None)
    with pytest.raises(NotNow, match="Cannot reopen"):
        launched(own, order(tmp_path, resume=True))
    assert not own.capabilities.reopening


def test_a_program_that_is_missing_is_told_before_a_session_ends(tmp_path: Path) -> None:
    with pytest.raises(ProgramMissing, match='runtime "mine" cannot run'):
        made(tmp_path, program=["no-such-thing"]).program({"PATH": "/usr/bin"})


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("{directory}/.a/{session}", "{tmp}/.a/s1"),
        ("~/logs/{session}", "/home/me/logs/s1"),
        ("{home}/{session}.log", "/home/me/s1.log"),
        ("/var/{session}", "/var/s1"),
    ],
)
def test_the_place_of_a_record(tmp_path: Path, pattern: str, path: str) -> None:
    own = made(tmp_path, record=pattern)
    found = own.transcript(order(tmp_path))
    assert str(found) == path.replace("{tmp}", str(tmp_path))


def test_with_a_reader_the_record_is_cockpits_own(tmp_path: Path) -> None:
    own = made(tmp_path, reader=["python3", "{home}/r.py"], record="{directory}/{session}.log")
    launch = launched(own, order(tmp_path))
    answers = tmp_path / "state" / "own-runtimes" / "mine" / "answers" / "s1.jsonl"
    assert own.transcript(order(tmp_path)) == answers
    spec = json.loads(launch.argv[4])
    assert spec["reader"] == ["python3", "/home/me/r.py"]
    assert (spec["record"], spec["answers"]) == (f"{tmp_path}/s1.log", str(answers))
    assert Path(launch.argv[5]).name == "tail"
    assert answers.parent.stat().st_mode & 0o777 == 0o700


def test_without_a_record_it_tells_nothing(tmp_path: Path) -> None:
    own = made(tmp_path, record=None, arguments=None)
    assert not own.capabilities.readings
    assert own.transcript(order(tmp_path)) is None
    assert own.window(None, {}).confidence is Confidence.UNKNOWN


def test_its_window(tmp_path: Path) -> None:
    own = made(tmp_path)
    found = own.window("m", {})
    assert (found.tokens, found.confidence) == (10_000, Confidence.DERIVED)
    assert own.compaction_rule({}).compacts_at(10_000) == 9_000
    other = made(tmp_path, window=None, compacts_at=None)
    assert other.window("m", {}).confidence is Confidence.ASSUMED
    assert other.compaction_rule({}).compacts_at(10_000) is None


def test_each_line_without_an_id_is_a_reply_of_its_own(tmp_path: Path) -> None:
    own = made(tmp_path)
    ids = []
    for _ in range(2):
        found = own.parse(b'{"usage": {"input": 5}}')
        assert not isinstance(found, Skipped)
        assert isinstance(found[0], AssistantReplied)
        ids.append(found[0].message_id)
    assert ids[0] != ids[1]


def test_what_its_modes_allow_is_not_known(tmp_path: Path) -> None:
    own = made(tmp_path)
    assert own.modes == {}
    assert own.nearest_mode("plan", ASKS_FIRST) == "plan"
    assert own.nearest_mode("bypassPermissions", EVERYTHING) == ""


def test_a_definition_makes_a_runtime_and_is_kept_for_the_next_supervisor(tmp_path: Path) -> None:
    kept = tmp_path / "runtimes.json"
    known = Definitions(kept)
    one = OwnRuntime.model_validate(TABLE)
    known.define({"mine": one}, {"mine": "/a/cockpit.toml"})
    assert kept.stat().st_mode & 0o777 == 0o600
    again = Definitions(kept)
    again.recall()
    assert again.find("mine") == one
    assert runtime("mine", tmp_path, again).name == "mine"
    with pytest.raises(BadUsage) as refused:
        runtime("yours", tmp_path, again)
    assert "mine" in refused.value.hint


def test_another_file_does_not_change_what_a_name_runs(tmp_path: Path) -> None:
    file = tmp_path / "cockpit.toml"
    file.write_text("")
    known = Definitions()
    one, other = (OwnRuntime.model_validate({"program": [word]}) for word in ("a", "b"))
    known.define({"mine": one}, {"mine": str(file)})
    known.check({"mine": one}, {"mine": "/b/cockpit.toml"})
    known.check({"mine": other}, {"mine": str(file)})
    with pytest.raises(NotNow, match="Another file already has"):
        known.check({"mine": other}, {"mine": "/b/cockpit.toml"})
    file.unlink()
    known.check({"mine": other}, {"mine": "/b/cockpit.toml"})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"mine": [{"program": 1}, ""]}',
        '{"Mine": [1, 2]}',
        '{"mine": 1}',
        '{"mine": [1]}',
    ],
)
def test_a_damaged_file_of_definitions_is_left_out(tmp_path: Path, text: str) -> None:
    kept = tmp_path / "runtimes.json"
    kept.write_text(text)
    known = Definitions(kept)
    known.recall()
    assert known.names() == ()


# Runtimes of packages


def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, at: str = "") -> None:
    """Lay a package with one runtime, `brought`, where Python finds it."""
    site = tmp_path / "site"
    folder = site / "brought-1.2.dist-info"
    folder.mkdir(parents=True)
    name = f"brought_{abs(hash(tmp_path))}"
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: brought\nVersion: 1.2\n")
    (folder / "entry_points.txt").write_text(f"[cockpit.runtimes]\nbrought = {name}:{at or 'make'}")
    (site / f"{name}.py").write_text(module)
    monkeypatch.syspath_prepend(str(site))


WHOLE = """\
from cockpit.adapters.agents.command import Command

class Brought(Command):
    name = "brought"

def make(state):
    return Brought(state)
"""
RAISES = """
    @property
    def tools(self):
        raise RuntimeError("a property")
"""


def test_a_package_brings_a_runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, monkeypatch, WHOLE)
    assert type(runtime("brought", tmp_path)).__name__ == "Brought"


@pytest.mark.parametrize(
    ("module", "says"),
    [
        ("import no_such_module", "No module named"),
        ("raise SystemExit(3)", "SystemExit"),
        ("1 +", "SyntaxError"),
        ("def make(state): raise ValueError('broken')", "ValueError: broken"),
        ("def make(state): return object()", "the runtime has no name, capabilities"),
        (WHOLE.replace('"brought"', '"other"'), "the runtime's name is 'other'"),
        (WHOLE.replace('"brought"\n', f'"brought"\n{RAISES}'), "RuntimeError: a property"),
        ("other = 1", "make"),
    ],
)
def test_one_that_fails_says_whose_it_is_and_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, says: str
) -> None:
    installed(tmp_path, monkeypatch, module)
    found = runtime("brought", tmp_path)
    assert says in str(found.lacks(AgentName("api")))
    with pytest.raises(CockpitError, match=r"Cannot load .* from brought 1\.2"):
        found.program({})
