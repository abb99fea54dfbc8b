"""The command line as it is typed: where options stand, what is sent, how it ends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from cockpit.cli.commands import COMMANDS, cockpit, run
from cockpit.cli.options import WITHOUT_HOST
from cockpit.core.event_kinds import MEANINGS
from cockpit.core.far_names import HOST_COMMANDS

DONE = {"message": "done"}


def names(group: click.Group = cockpit) -> list[list[str]]:
    """Every command, as the words that name it."""
    found = []
    for name, command in group.commands.items():
        found.append([name])
        if isinstance(command, click.Group):
            found += [[name, *words] for words in names(command)]
    return found


@pytest.mark.parametrize("words", names(), ids=" ".join)
def test_every_help_teaches_by_example(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*words, "--help"]) == 0

    assert f"cockpit {' '.join(words)}" in capsys.readouterr().out.split("Example")[1]


def test_the_common_options_say_what_they_mean_for_a_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    helps = {}
    for name in ("status", "start", "doctor"):
        assert run([name, "--help"]) == 0
        helps[name] = " ".join(capsys.readouterr().out.split())

    assert "With --host: use and trust FILE" in helps["status"]
    assert "Use and trust FILE" in helps["start"]
    assert "Use the supervisor on host NAME" in helps["start"]
    assert "Run the command on host NAME" in helps["doctor"]


def test_the_summary_of_a_command_fits_its_line() -> None:
    cut = [c.name for c in COMMANDS if c.get_short_help_str(limit=55).endswith("...")]

    assert cut == []


@pytest.mark.parametrize(
    ("typed", "request_", "body"),
    [
        (["stop", "api"], "stop", {"name": "api"}),
        (["start", "logs", "--", "tail", "-f", "a b"], "start",
         {"name": "logs", "worktree": False, "named": False, "force": False, "apart": False,
          "command": ["tail", "-f", "a b"]}),
        (["forget", "api"], "forget", {"name": "api"}),
        (["rename", "api", "old-api"], "rename", {"name": "api", "to": "old-api"}),
        (["send", "api", "run", "the tests"], "send", {"name": "api", "text": "run the tests"}),
        (["send", "api", "--", "--flag; $(x)"], "send", {"name": "api", "text": "--flag; $(x)"}),
        (["answer", "api", "--choice", "1,3", "--dialog", "d1"], "answer",
         {"name": "api", "dialog": "d1", "choices": [1, 3], "text": ""}),
        (["answer", "api", "--choice", "none", "--dialog", "d1"], "answer",
         {"name": "api", "dialog": "d1", "choices": [], "text": ""}),
        (["answer", "api", "--choice", "3", "--text", "use make", "--dialog", "d1"], "answer",
         {"name": "api", "dialog": "d1", "choices": [3], "text": "use make"}),
        (["approve", "api"], "approve", {"name": "api", "straight": False, "by": ""}),
        (["approve", "api", "--straight"], "approve", {"name": "api", "straight": True, "by": ""}),
        (["refuse", "api"], "refuse", {"name": "api", "compact": False, "by": ""}),
        (["done", "api"], "done", {"name": "api"}),
        (["snooze", "api"], "snooze", {"name": "api", "seconds": 600.0}),
        (["snooze", "api", "90s"], "snooze", {"name": "api", "seconds": 90.0}),
        (["snooze", "api", "7.5%"], "snooze",
         {"name": "api", "seconds": 600.0, "percent": 7.5}),
        (["refuse", "api", "--compact"], "refuse", {"name": "api", "compact": True, "by": ""}),
        (["undo", "api"], "undo", {"name": "api", "by": ""}),
        (["handoff", "api", "--now"], "handoff",
         {"name": "api", "now": True, "dry_run": False, "by_agent": False}),
        (["start", "api", "--mode", "auto"], "start",
         {"name": "api", "mode": "auto",
          "worktree": False, "named": False, "force": False, "apart": False}),
        (["start", "api", "--resume", "abc", "--worktree"], "start",
         {"name": "api", "resume": "abc",
          "worktree": True, "named": False, "force": False, "apart": False}),
        (["start", "api", "--resume"], "start",
         {"name": "api", "resume": "last",
          "worktree": False, "named": False, "force": False, "apart": False}),
        (["start", "--all", "--resume", "--dry-run"], "resume", {"dry_run": True}),
        (["start", "--all", "--resume", "--prompt", "Go on."], "resume",
         {"prompt": "Go on.", "dry_run": False}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_a_command_asks_for_its_verb(
    typed: list[str], request_: str, body: Any, answering: Any, own_home: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(own_home)
    answering.say(f"POST /v1/{request_}", DONE)
    said = body | {"cwd": str(own_home)} if request_ == "start" else body

    assert run(typed) == 0

    assert answering.asked == [(f"POST /v1/{request_}", said)]


def test_paths_reach_the_supervisor_absolute(
    answering: Any, own_home: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(own_home)
    (own_home / "work").mkdir()
    (own_home / "work" / "cockpit.toml").touch()
    (own_home / "notes.md").touch()
    answering.say("POST /v1/start", DONE)
    answering.say("POST /v1/handoff", DONE)
    answering.say("POST /v1/continue", DONE)

    run(["start", "api", "--directory", "work"])
    run(["handoff", "api", "--document", "notes.md"])
    run(["continue", "notes.md", "--directory", "work"])
    monkeypatch.chdir(own_home / "work")
    run(["start", "api"])

    sent = [body for _, body in answering.asked]
    assert sent[0]["directory"] == str(own_home / "work")
    assert sent[1]["document"] == str(own_home / "notes.md")
    assert sent[2]["document"] == str(own_home / "notes.md")
    assert sent[2]["directory"] == str(own_home / "work")
    assert sent[3]["config"] == str(own_home / "work" / "cockpit.toml")
    assert sent[3]["named"] is False


@pytest.mark.parametrize("before", [True, False])
def test_config_stands_before_or_after_the_command(
    before: bool, answering: Any, own_home: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(own_home)
    (own_home / "mine.toml").touch()
    answering.say("POST /v1/start", DONE)
    option = ["--config", "mine.toml"]

    assert run([*option, "start", "api"] if before else ["start", "api", *option]) == 0

    _, body = answering.asked[0]
    assert (body["config"], body["named"]) == (str(own_home / "mine.toml"), True)


def test_inside_a_pane_the_agent_is_known(answering: Any, monkeypatch: Any) -> None:
    answering.say("POST /v1/handoff", DONE)
    monkeypatch.setenv("COCKPIT_AGENT", "web")

    assert run(["handoff"]) == 0

    assert answering.asked[0][1]["name"] == "web"
    assert answering.asked[0][1]["by_agent"] is True


def test_a_dry_run_prints_what_would_be_done(
    answering: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    answering.say("POST /v1/handoff", {"message": "nothing was done", "text": "# Handoff"})

    assert run(["handoff", "api", "--dry-run"]) == 0

    said = capsys.readouterr()
    assert (said.out, said.err) == ("# Handoff\n", "nothing was done\n")


@pytest.mark.parametrize(
    ("typed", "code", "reason"),
    [
        (["strat"], 2, "cockpit start"),
        (["stat"], 2, "Did you mean: cockpit status?\n"),
        (["sta"], 2, "Did you mean: cockpit start or cockpit status?\n"),
        (["frobnicate"], 2, "cockpit --help"),
        (["start"], 2, "NAME"),
        (["start", "--all"], 2, "--resume"),
        (["start", "--all", "--resume", "--worktree"], 2, "--resume"),
        (["start", "api", "--dry-run"], 2, "--resume"),
        (["start", "api", "--mode", "never"], 2, "observe"),
        (["start", "a b"], 2, "a-b"),
        (["stop", "#(touch x)"], 2, "touch-x"),
        (["stop", "é"], 2, "Try: e\n"),
        (["stop", "日本"], 2, "Try: agent"),
        (["stop", "ünï"], 2, "cockpit: 'ünï' is not a valid"),
        (["snooze", "api", "soon"], 2, "soon"),
        (["snooze", "api", "0"], 2, "10m"),
        (["snooze", "api", "0%"], 2, "10%"),
        (["handoff"], 2, "COCKPIT_AGENT"),
        (["handoff", "api", "--document", "none.md"], 2, "none.md"),
        (["--config", "none.toml", "status"], 2, "none.toml"),
        (["--host", "gpu1", "status"], 2, "local"),
        (["stop", "api"], 4, "cockpit up"),
        (["status", "--watch"], 4, "cockpit up"),
        (["events"], 4, "cockpit up"),
        (["history"], 4, "cockpit up"),
        (["show", "x"], 4, "cockpit up"),
        (["serve", "--bind", "0.0.0.0"], 2, "--let-others-in"),
        ([], 2, "terminal"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_refusal_has_its_code_and_a_way_on(
    typed: list[str], code: int, reason: str, own_home: Path, monkeypatch: Any,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(own_home)

    assert run(typed) == code

    said = capsys.readouterr()
    assert reason in said.err
    assert said.out == ""


@pytest.mark.parametrize("code", [1, 3, 5, 6])
def test_what_the_supervisor_refuses_is_the_exit_code(
    code: int, answering: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    refusal = {"exit_code": code, "title": "no", "detail": "because", "hint": "try"}
    answering.say("POST /v1/stop", refusal, status=409)

    assert run(["stop", "api"]) == code

    assert capsys.readouterr().err == "cockpit: no\n  because\n  try\n"


def test_each_of_several_agents_to_forget_is_answered(
    answering: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    refusal = {"exit_code": 5, "title": "a is running", "detail": "", "hint": ""}
    answering.say("POST /v1/forget", refusal, status=409)
    assert run(["forget", "a", "b", "a"]) == 5
    assert capsys.readouterr().err == "cockpit: a is running\n" * 2
    assert run(["forget", "a", "No Name"]) == 2
    assert answering.asked == [("POST /v1/forget", {"name": name}) for name in "ab"]


def test_a_message_of_the_supervisor_is_printed_without_control_characters(
    answering: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    answering.say("POST /v1/stop", {"message": "Stopped a in /w/\x1b]0;owned\x07x"})
    assert run(["stop", "a"]) == 0
    told = capsys.readouterr().err
    assert "\x1b" not in told
    assert "\x07" not in told
    refusal = {"exit_code": 5, "title": "no\x1b[2J", "detail": "be\x9bcause", "hint": "try"}
    answering.say("POST /v1/stop", refusal, status=409)
    assert run(["stop", "a"]) == 5
    told = capsys.readouterr().err
    assert "cockpit: no" in told
    assert "\x1b" not in told
    assert "\x9b" not in told


def test_every_kind_of_event_is_listed_without_a_supervisor(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["events", "--kinds"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(MEANINGS)


def test_events_as_lines_and_as_objects(answering: Any, capsys: pytest.CaptureFixture[str]) -> None:
    event = {"id": 1, "at": "2026-11-21T20:15:00Z", "agent": "api", "kind": "agent.started",
             "text": "api \x1b[31mbegan", "data": {}}  # fmt: skip
    newer = {**event, "id": 2, "kind": "agent.levitated", "data": {"height": 3}}
    answering.say("GET /v1/events?after=0&limit=200", event, b"\n", newer)

    assert run(["events"]) == 0
    plain = capsys.readouterr().out
    assert run(["events", "--json"]) == 0

    assert "agent.started" in plain
    assert "agent.levitated" in plain
    assert "\x1b" not in plain
    objects = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert objects == [event, newer]


def numbered(first: int, last: int) -> bytes:
    """Events with these ids."""
    one = {"at": "2026-11-21T20:15:00Z", "agent": "api", "kind": "agent.started", "text": "began"}
    events = ({"id": number, **one, "data": {}} for number in range(first, last + 1))
    return b"".join(f"{json.dumps(event)}\n".encode() for event in events)


def test_events_that_are_left_out_are_named_with_the_command_that_prints_them(
    answering: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    answering.say("GET /v1/events?after=0&limit=200", numbered(301, 500))
    answering.say("GET /v1/events?after=1&limit=1", numbered(7, 7))
    answering.say("GET /v1/events?after=6&limit=200", numbered(7, 206))
    answering.say("GET /v1/events?after=206&limit=1", numbered(207, 207))
    answering.say("GET /v1/events?after=206&limit=200", numbered(207, 300))
    assert run(["events"]) == 0
    told = capsys.readouterr()
    assert len(told.out.splitlines()) == 200
    oldest = (
        "Older events were left out. To print from the oldest event on: cockpit events --after 6\n"
    )
    assert told.err == oldest
    assert run(["events", "--after", "6", "--json"]) == 0
    newer = (
        "Newer events were left out. To print the next 200 events: "
        "cockpit events --after 206 --json\n"
    )
    assert capsys.readouterr().err == newer
    assert run(["events", "--after", "206"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("after", [0, 100])
def test_no_events_are_said_to_be_left_out_if_all_are_printed(
    answering: Any, capsys: pytest.CaptureFixture[str], after: int
) -> None:
    answering.say(f"GET /v1/events?after={after}&limit=200", numbered(101, 300))
    answering.say("GET /v1/events?after=1&limit=1", numbered(101, 101))
    answering.say("GET /v1/events?after=300&limit=1")
    assert run(["events", "--after", str(after)]) == 0
    assert capsys.readouterr().err == ""


def test_completion_knows_commands_and_agents(answering: Any, monkeypatch: Any) -> None:
    answering.say("GET /v1/status", {"agents": [{"name": "api"}, {"name": "web"}]})
    program = [sys.executable, "-m", "cockpit"]

    def completed(words: str, number: int) -> str:
        monkeypatch.setenv("_COCKPIT_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(number))
        return subprocess.run(program, capture_output=True, text=True, check=True).stdout

    assert completed("cockpit hand", 1) == "plain,handoff\n"
    assert completed("cockpit stop w", 2) == "plain,web\n"
    assert "--host" in completed("cockpit stop --h", 2)
    assert "--host" not in completed("cockpit init --h", 2)
    assert "--config" not in completed("cockpit config trust --c", 3)
    assert "--config" not in completed("cockpit run --c", 2)
    assert "--host" not in completed("cockpit worktrees restore --h", 3)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_its_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", shell]) == 0

    assert f"_COCKPIT_COMPLETE={shell}_complete" in capsys.readouterr().out


def test_a_reader_that_has_had_enough_is_no_failure() -> None:
    done = subprocess.run(
        f"{sys.executable} -m cockpit --help | head -c 1", shell=True, capture_output=True,
        check=True,
    )  # fmt: skip

    assert done.stderr == b""


@pytest.mark.parametrize("options", [[], ["--prompt", "x"], ["--worktree"]])
def test_a_program_without_a_name_of_the_agent_is_not_taken_for_the_name(
    options: list[str], answering: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["start", *options, "--", "tail", "-f", "a b"]) == 2
    assert "cockpit start NAME -- tail -f 'a b'" in capsys.readouterr().err
    assert answering.asked == []


def test_hints_name_the_host_in_every_command_that_accepts_one() -> None:
    accepting = {
        name
        for name, command in cockpit.commands.items()
        if not command.hidden and name not in WITHOUT_HOST
    }
    assert set(HOST_COMMANDS) == accepting - {"move"}
    for name in HOST_COMMANDS:
        assert "--host" in [
            word for option in cockpit.commands[name].params for word in option.opts
        ]
