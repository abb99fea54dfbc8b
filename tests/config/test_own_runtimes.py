"""`[runtimes.NAME]`: what is refused and where, and what a stranger's file may not do with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cockpit.core.errors import BadConfig, BadUsage
from tests.config.generated_example import example

MINE = """\
[runtimes.mine]
program = ["./agent"]
arguments = ["--record", "{record}"]
session = ["--session-id", "{session}"]
prompt = ["{prompt}"]
record = "{directory}/.agent/{session}.jsonl"
"""
AGENT = '[[agents]]\nname = "api"\n'


def test_an_agent_runs_in_a_runtime_of_its_own_file(project: Any) -> None:
    loaded = project.load_named(MINE + AGENT + 'runtime = "mine"\n')
    assert loaded.agent("api").runtime == "mine"
    own = loaded.settings.runtimes["mine"]
    assert own.program == (str(project.folder / "agent"),)
    assert (own.window, own.compacts_at, own.takes_paste) == ("auto", 0, False)
    assert str(loaded.sources["runtimes.mine.record"]).endswith("cockpit.toml:6")


def test_a_size_can_be_written_as_text(project: Any) -> None:
    loaded = project.load_named(MINE + 'window = "128k"\ncompacts_at = "100k"\n')
    own = loaded.settings.runtimes["mine"]
    assert (own.window, own.compacts_at) == (128_000, 100_000)


WRONG = {
    "no program": ('[runtimes.x]\narguments = ["a"]\n', "1: runtimes.x.program: missing"),
    "empty program": ("[runtimes.x]\nprogram = []\n", "2: runtimes.x.program: expected at least"),
    "a name of ours": ('[runtimes.codex]\nprogram = ["x"]\n', "1: runtimes.codex: codex is a"),
    "a bad name": ('[runtimes.My]\nprogram = ["x"]\n', "1: runtimes.My: expected a name"),
    "a typo": (
        '[runtimes.x]\nprogram = ["x"]\nargument = []\n',
        '3: runtimes.x.argument: unknown key|Did you mean "arguments"?',
    ),
    "a placeholder": (
        '[runtimes.x]\nprogram = ["x"]\narguments = ["{sesion}"]\n',
        "3: runtimes.x.arguments: {sesion} is not a placeholder here",
    ),
    "a prompt without it": (
        '[runtimes.x]\nprogram = ["x"]\nprompt = ["--prompt"]\n',
        "3: runtimes.x.prompt: expected {prompt} or {prompt_file} in one",
    ),
    "a resume without it": (
        '[runtimes.x]\nprogram = ["x"]\nresume = ["--last"]\n',
        "3: runtimes.x.resume: expected {session} in one",
    ),
    "a relative record": (
        '[runtimes.x]\nprogram = ["x"]\nrecord = "a/{session}"\n',
        "3: runtimes.x.record: expected an absolute path",
    ),
    "one record for all": (
        '[runtimes.x]\nprogram = ["x"]\nrecord = "{directory}/log"\n',
        "3: runtimes.x.record: expected {session} in the path",
    ),
    "a record that climbs": (
        '[runtimes.x]\nprogram = ["x"]\nrecord = "{directory}/../{session}"\n',
        "3: runtimes.x.record: expected a path without `..`",
    ),
    "a record that it is not told": (
        '[runtimes.x]\nprogram = ["x"]\nrecord = "{state}/{session}"\n',
        "3: runtimes.x.record: nothing passes the record's path to the program|Add session =",
    ),
    "a reader of nothing": (
        '[runtimes.x]\nprogram = ["x"]\nreader = ["y"]\n',
        "3: runtimes.x.reader: a reader needs a record",
    ),
    "a record's place of nothing": (
        '[runtimes.x]\nprogram = ["x"]\narguments = ["{record}"]\n',
        "3: runtimes.x.arguments: {record} needs a record",
    ),
    "a session's record's place of nothing": (
        '[runtimes.x]\nprogram = ["x"]\narguments = ["-v"]\nsession = ["{session}", "{record}"]\n',
        "4: runtimes.x.session: {record} needs a record",
    ),
    "an unknown runtime": (
        MINE + AGENT + 'runtime = "mien"\n',
        "9: agents.api.runtime: there is no runtime 'mien'|Did you mean \"mine\"?",
    ),
    "an unknown default": (
        '[defaults]\nruntime = "clod"\n',
        "2: defaults.runtime: there is no runtime 'clod'|Did you mean",
    ),
    "a first prompt in two ways": (
        '[runtimes.x]\nprogram = ["x"]\nprompt = ["{prompt}"]\nready = ">"\ntakes_paste = true\n',
        "4: runtimes.x.ready: `prompt` already passes the first prompt|Remove ready or prompt",
    ),
    "a prompt for a program that takes none": (
        '[runtimes.x]\nprogram = ["x"]\nready = ">"\n',
        "3: runtimes.x.ready: cockpit pastes the first prompt only|Add takes_paste",
    ),
    "no sign of being ready": (
        '[runtimes.x]\nprogram = ["x"]\nready = "  "\ntakes_paste = true\n',
        "3: runtimes.x.ready: expected visible text",
    ),
    "keys that end nothing": (
        '[runtimes.x]\nprogram = ["x"]\nend_keys = ["/quit"]\n',
        "3: runtimes.x.end_keys: expected the name of a key at the end",
    ),
    "a key that is none": (
        '[runtimes.x]\nprogram = ["x"]\nend_keys = ["\\u001b[A", "Enter"]\n',
        "3: runtimes.x.end_keys: expected names of keys",
    ),
    "a successor that shows nothing": (
        '[runtimes.x]\nprogram = ["x"]\n' + AGENT + '[agents.handoff]\nsuccessor = "x"\n',
        "6: agents.api.handoff.successor: cockpit cannot hand off a job to the runtime x",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_names_its_line(project: Any, case: str) -> None:
    text, says = WRONG[case]
    title, _, hint = says.partition("|")
    with pytest.raises(BadConfig) as refused:
        project.load_named(text)
    assert f"cockpit.toml:{title}" in refused.value.title
    assert hint in refused.value.hint


def test_a_strangers_runtime_waits_for_trust_and_so_does_its_agent(project: Any) -> None:
    project.write(MINE + AGENT + 'runtime = "mine"\n' + '[[agents]]\nname = "b"\n')
    loaded = project.load()
    assert loaded.settings.runtimes == {}
    assert [(held.key, held.line) for held in loaded.held] == [
        ("runtimes.mine", 1),
        ("agents[1].runtime", 9),
    ]
    assert "it runs code" in str(loaded.held[0])
    assert [agent.name for agent in loaded.settings.agents] == ["b"]


def test_a_stranger_does_not_choose_a_runtime_of_yours(project: Any) -> None:
    project.write_user(MINE)
    project.write(AGENT + 'runtime = "mine"\n')
    loaded = project.load()
    assert [held.key for held in loaded.held] == ["agents[1].runtime"]
    assert loaded.settings.agents == ()
    project.write_user(MINE + '[defaults]\nruntime = "mine"\n')
    assert project.load().held == ()


def test_a_strangers_typo_is_still_an_error(project: Any) -> None:
    project.write(AGENT + 'runtime = "clod"\n')
    with pytest.raises(BadConfig, match="there is no runtime"):
        project.load()


def test_a_name_means_one_program(project: Any) -> None:
    project.write_user(MINE)
    with pytest.raises(BadConfig) as refused:
        project.load_named("\n" + MINE.replace("agent", "other"))
    assert 'cockpit.toml:2: runtimes.mine: two files define a runtime "mine"' in str(refused.value)
    assert "cockpit.toml:1" in refused.value.hint


def test_an_installed_package_can_add_one(
    project: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "site" / "brought-1.2.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: brought\nVersion: 1.2\n")
    (installed / "entry_points.txt").write_text("[cockpit.runtimes]\nbrought = no_such:thing\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    loaded = project.load_named(AGENT + 'runtime = "brought"\n')
    assert loaded.agent("api").runtime == "brought"
    project.write(AGENT + 'runtime = "brought"\n')
    assert [held.key for held in project.load().held] == ["agents[1].runtime"]


def test_a_runtime_named_on_the_command_line_is_checked_too(project: Any) -> None:
    loaded = project.load_named(MINE)
    loaded.check_runtime("mine")
    loaded.check_runtime("codex")
    with pytest.raises(BadUsage) as refused:
        loaded.check_runtime("codx")
    assert 'Did you mean "codex"?' in refused.value.hint


def test_the_example_has_one(project: Any) -> None:
    assert "# [runtimes.inhouse]" in example()
