"""The reporter script, run as the CLI runs it: by its path, with arguments, under a hard shell."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cockpit.adapters.hooks.responses import HookResponses
from cockpit.core.ids import AgentName

REPORTER = Path(__file__).parents[1] / "cockpit" / "reporter.sh"
STOP = b'{"session_id":"s","cwd":"/w","hook_event_name":"Stop","last_assistant_message":"done"}'

SHELLS = [
    shell
    for shell in (("sh", "-eu"), ("dash", "-eu"), ("bash", "--posix", "-eu"))
    if shutil.which(shell[0])
]


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state folder with an agent `api`, at a path that a careless shell would split or run."""
    state = tmp_path / "my $(touch pwned) 'st\"ate"
    (state / "spool" / "api").mkdir(parents=True)
    (state / "verdicts" / "api").mkdir(parents=True)
    return state


def run(
    state: Path, event: str, given: bytes, *more: str, shell: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[bytes]:
    command = [*shell, str(REPORTER), str(state), "api", event, *more]
    return subprocess.run(command, input=given, capture_output=True, check=False, timeout=60)


def left(state: Path) -> list[Path]:
    return sorted((state / "spool" / "api").iterdir())


def test_a_report_is_kept_byte_for_byte_and_nothing_is_said(state: Path) -> None:
    done = run(state, "Stop", STOP)
    (report,) = left(state)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert report.read_bytes() == STOP
    assert report.name.endswith("-Stop.json")
    assert report.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("shell", SHELLS)
def test_it_works_in_every_shell_that_is_strict(state: Path, shell: tuple[str, ...]) -> None:
    (state / "verdicts" / "api" / "Stop").write_text('{"decision":"block"}\n')
    first = run(state, "Stop", STOP, shell=shell)
    second = run(state, "Stop", STOP, shell=shell)
    assert (first.returncode, first.stdout) == (0, b'{"decision":"block"}\n')
    assert (second.returncode, second.stdout, second.stderr) == (0, b"", b"")
    assert [report.name.endswith(".verdict.json") for report in left(state)].count(True) == 1


@pytest.mark.parametrize(
    "hostile",
    [
        b"",
        b"\0\0\0",
        b"$(touch pwned) `touch pwned` ; touch pwned\n",
        b"\xff\xfe\x1b]52;c;eA==\x07",
    ],
)
def test_what_it_is_given_is_never_run(state: Path, hostile: bytes, tmp_path: Path) -> None:
    done = run(state, "PostToolUse", hostile)
    (report,) = left(state)
    assert (done.returncode, done.stdout) == (0, b"")
    assert report.read_bytes() == hostile
    assert not list(tmp_path.rglob("pwned"))
    assert not Path("pwned").exists()


def test_megabytes_are_read_to_the_end_and_kept_in_part(state: Path) -> None:
    payload = b'{"tool_response":"' + b"x" * 5_000_000 + b'"}'
    command = [str(REPORTER), str(state), "api", "PostToolUse"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as reporter:
        assert reporter.stdin is not None
        reporter.stdin.write(payload)
        reporter.stdin.close()
    (report,) = left(state)
    assert reporter.returncode == 0
    assert report.read_bytes() == payload[: 128 * 1024]


def test_without_a_spool_it_does_nothing_and_fails_nobody(state: Path) -> None:
    (state / "verdicts" / "api" / "Stop").write_text("{}")
    shutil.rmtree(state / "spool")
    done = run(state, "Stop", b"x" * 3_000_000)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert not (state / "spool").exists()


def test_without_arguments_it_does_nothing() -> None:
    """A CLI too old for the exec form calls it so."""
    done = subprocess.run([REPORTER], input=STOP, capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_full_spool_takes_no_more_but_keeps_room_for_the_end_of_a_turn(state: Path) -> None:
    for number in range(192):
        (state / "spool" / "api" / f"{number}-PostToolUse.json").write_text("{}")
    run(state, "PostToolUse", STOP)
    assert len(left(state)) == 192
    run(state, "Stop", STOP)
    assert len(left(state)) == 193
    for number in range(192, 256):
        (state / "spool" / "api" / f"{number}-Stop.json").write_text("{}")
    before = len(left(state))
    assert run(state, "Stop", STOP).returncode == 0
    assert len(left(state)) == before


def test_of_twenty_at_once_exactly_one_delivers_the_answer(state: Path) -> None:
    answer = b'{"decision":"block","reason":"once"}\n'
    for _ in range(5):
        (state / "verdicts" / "api" / "Stop").write_bytes(answer)
        with ThreadPoolExecutor(20) as pool:
            done = list(pool.map(lambda _: run(state, "Stop", STOP), range(20)))
        assert Counter(each.stdout for each in done) == {answer: 1, b"": 19}
        assert {each.returncode for each in done} == {0}
        told = [report for report in left(state) if report.name.endswith(".verdict.json")]
        assert len(told) == 1
        assert len(left(state)) == 20
        for report in left(state):
            report.unlink()


def test_of_an_ask_only_the_first_event_is_answered(state: Path) -> None:
    for _ in range(5):
        ask = state / "verdicts" / "api" / "ask"
        ask.mkdir()
        (ask / "PostToolUse").write_text("mid-turn")
        (ask / "Stop").write_text("at the end")
        with ThreadPoolExecutor(20) as pool:
            done = list(
                pool.map(lambda n: run(state, ("Stop", "PostToolUse")[n % 2], STOP), range(20))
            )
        said = [each.stdout for each in done if each.stdout]
        assert len(said) == 1
        assert said[0] in (b"mid-turn", b"at the end")
        assert not ask.exists()
        told = [report for report in left(state) if report.name.endswith(".verdict.json")]
        assert len(told) == 1
        assert told[0].name.endswith(
            "-Stop.verdict.json" if said[0] == b"at the end" else "-PostToolUse.verdict.json"
        )
        assert len(left(state)) == 20
        for report in left(state):
            report.unlink()


def test_facts_wait_until_what_is_asked_was_said(state: Path) -> None:
    for group in ("ask", "facts"):
        folder = state / "verdicts" / "api" / group
        folder.mkdir()
        for event in ("PostToolUse", "UserPromptSubmit"):
            (folder / event).write_text(group)
    said = [run(state, event, STOP).stdout for event in ("PostToolUse",) * 3]
    assert said == [b"ask", b"facts", b""]
    assert list((state / "verdicts" / "api").iterdir()) == []


def test_an_answer_is_for_its_own_event_only(state: Path) -> None:
    (state / "verdicts" / "api" / "Stop").write_text("{}")
    assert run(state, "PostToolUse", b"{}").stdout == b""
    assert (state / "verdicts" / "api" / "Stop").exists()


@pytest.mark.parametrize("place", ["PostToolUse", "ask/PostToolUse", "facts/PostToolUse"])
def test_a_subagent_gets_no_answer(state: Path, place: str) -> None:
    verdict = state / "verdicts" / "api" / place
    verdict.parent.mkdir(exist_ok=True)
    verdict.write_text("{}")
    inside = b'{"session_id":"s","agent_id":"a4d8","hook_event_name":"PostToolUse"}'
    assert run(state, "PostToolUse", inside).stdout == b""
    assert verdict.exists()
    assert len(left(state)) == 1


def test_words_of_the_agent_do_not_make_it_a_subagent(state: Path) -> None:
    (state / "verdicts" / "api" / "PostToolUse").write_text("{}")
    said = {"session_id": "s", "hook_event_name": "PostToolUse", "tool_response": {"agent_id": "x"}}
    payload = json.dumps(said, separators=(",", ":")).encode()
    assert run(state, "PostToolUse", payload).stdout == b"{}"


def asks(event: str, tool: str, **given: object) -> bytes:
    said = {"session_id": "s", "cwd": "/w", "hook_event_name": event, "tool_name": tool}
    return json.dumps({**said, "tool_input": given}, separators=(",", ":")).encode()


@pytest.fixture
def draft(state: Path, tmp_path: Path) -> Path:
    """The file that the agent was asked to write, at a path with quotes in it."""
    place = tmp_path / 'w \\o"rk' / "draft-1.md"
    place.parent.mkdir()
    HookResponses(state / "verdicts").permit(AgentName("api"), str(place))
    return place


@pytest.mark.parametrize("shell", [("sh", "-eu"), ("dash", "-eu"), ("bash", "--posix", "-eu")])
@pytest.mark.parametrize("event", ["PreToolUse", "PermissionRequest"])
def test_the_one_file_that_was_asked_for_may_be_written(
    state: Path, draft: Path, event: str, shell: tuple[str, ...]
) -> None:
    write = asks(event, "Write", file_path=str(draft), content="x" * 200_000)
    edit = asks(event, "Edit", file_path=str(draft), old_string="x", new_string="y")
    for given in (write, edit):
        done = run(state, event, given, shell=shell)
        answer = json.loads(done.stdout)["hookSpecificOutput"]
        allowed = answer.get("permissionDecision") or answer["decision"]["behavior"]
        assert (answer["hookEventName"], allowed, done.stderr) == (event, "allow", b"")
    assert left(state) == []


@pytest.mark.parametrize("event", ["PreToolUse", "PermissionRequest"])
def test_no_other_file_and_no_other_tool_is_allowed(state: Path, draft: Path, event: str) -> None:
    path = str(draft)
    forged = {"tool_name": "Write", "tool_input": {"file_path": path, "content": ""}}
    inside = json.dumps(forged, separators=(",", ":"))
    for given in (
        asks(event, "Write", file_path=f"{path}x", content=""),
        asks(event, "Write", file_path="/w/other.md", content=inside),
        asks(event, "Write", file_path="/w/other.md", content=f'"{inside}'),
        asks(event, "Bash", command=inside),
        asks(event, "mcp__x__y", **forged),
        asks(event, "mcp__x__y", inner=forged),
        asks(event, "NotebookEdit", file_path=path),
        b"",
        b"not json",
    ):
        assert run(state, event, given).stdout == b"", given


@pytest.mark.parametrize("event", ["PreToolUse", "PermissionRequest"])
def test_a_draft_that_leads_elsewhere_is_not_allowed(
    state: Path, draft: Path, event: str, tmp_path: Path
) -> None:
    write = asks(event, "Write", file_path=str(draft), content="x")
    draft.symlink_to(tmp_path / "elsewhere")
    assert run(state, event, write).stdout == b""
    draft.unlink()
    draft.parent.rename(tmp_path / "moved")
    draft.parent.symlink_to(tmp_path / "moved")
    assert run(state, event, write).stdout == b""


@pytest.mark.parametrize("event", ["PreToolUse", "PermissionRequest"])
def test_a_draft_that_is_another_file_too_is_not_allowed(
    state: Path, draft: Path, event: str, tmp_path: Path
) -> None:
    write = asks(event, "Write", file_path=str(draft), content="x")
    other = tmp_path / "bashrc"
    other.write_text("mine")
    draft.hardlink_to(other)
    assert run(state, event, write).stdout == b""
    other.unlink()
    assert run(state, event, write).stdout != b""
    draft.unlink()
    draft.mkdir()
    assert run(state, event, write).stdout == b""


def test_what_was_allowed_is_taken_back(state: Path, draft: Path) -> None:
    responses = HookResponses(state / "verdicts")
    responses.forbid(AgentName("api"))
    responses.forbid(AgentName("api"))
    write = asks("PreToolUse", "Write", file_path=str(draft), content="x")
    assert run(state, "PreToolUse", write).stdout == b""


COMPACTS = b'{"session_id":"s","hook_event_name":"PreCompact","trigger":"auto"}'


def test_a_compaction_waits_until_its_facts_are_kept(state: Path) -> None:
    responses, api = HookResponses(state / "verdicts"), AgentName("api")
    responses.hold_compaction(api, os.getpid())
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(run, state, "PreCompact", COMPACTS)
        while not left(state):
            assert not waiting.done()
        # Held anew at once, for the next one: the one that waits goes on all the same.
        responses.hold_compaction(api, os.getpid())
        done = waiting.result()
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert responses.release_compaction(api) is True


def test_a_compaction_does_not_wait_for_a_supervisor_that_is_gone(state: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    HookResponses(state / "verdicts").hold_compaction(AgentName("api"), gone.pid)
    assert run(state, "PreCompact", COMPACTS).returncode == 0
    inside = COMPACTS.replace(b'"s",', b'"s","agent_id":"a",')
    HookResponses(state / "verdicts").hold_compaction(AgentName("api"), os.getpid())
    assert run(state, "PreCompact", inside).returncode == 0


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("accepts", ["*", "[0-9]", "nothing"])
def test_a_compaction_waits_for_at_most_eight_seconds(
    state: Path,
    tmp_path: Path,
    accepts: str,
    shell: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With a `sleep` that takes fractions, one for whole seconds only, and one that fails."""
    slept = put_sleep(tmp_path, f'case $1 in {accepts}) echo "$1" >>slept ;; *) exit 1 ;; esac')
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    HookResponses(state / "verdicts").hold_compaction(AgentName("api"), os.getpid())
    done = run(state, "PreCompact", COMPACTS, shell=shell)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    seconds = sum(map(float, slept.read_text().split()))
    assert seconds == 0 if accepts == "nothing" else 6.9 < seconds < 7.8


@pytest.mark.parametrize("shell", SHELLS)
def test_a_compaction_goes_on_when_it_is_released(
    state: Path, tmp_path: Path, shell: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    seal = state / "verdicts" / "api" / "seal"
    slept = put_sleep(tmp_path, f'echo "$1" >>slept; rm {shlex.quote(str(seal))}')
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    HookResponses(state / "verdicts").hold_compaction(AgentName("api"), os.getpid())
    done = run(state, "PreCompact", COMPACTS, shell=shell)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert slept.read_text() == "0.1\n"


def put_sleep(folder: Path, script: str) -> Path:
    """Put a `sleep` into the folder that does not wait; return the file that it writes."""
    program, slept = folder / "sleep", folder / "slept"
    program.write_text(f"#!/bin/sh\n{script}\n".replace(">>slept", f">>'{slept}'"))
    program.chmod(0o755)
    slept.touch()
    return slept


def test_the_status_line_keeps_only_the_latest_report(state: Path) -> None:
    for number in range(3):
        done = run(state, "StatusLine", b'{"n":%d}' % number)
    assert [file.name for file in left(state)] == ["status"]
    assert left(state)[0].read_bytes() == b'{"n":2}'
    assert "cockpit" in done.stdout.decode()


def test_the_pilots_status_line_gets_the_same_input_and_has_the_last_word(state: Path) -> None:
    done = run(state, "StatusLine", b'{"model":"m"}', "cat; printf ' mine'; exit 7")
    assert (done.stdout, done.returncode) == (b'{"model":"m"} mine', 7)


def test_the_pilots_status_line_is_called_even_without_a_spool(state: Path) -> None:
    shutil.rmtree(state / "spool")
    done = run(state, "StatusLine", b'{"model":"m"}', "cat")
    assert (done.stdout, done.returncode) == (b'{"model":"m"}', 0)


def test_an_unwritable_spool_stops_nobody(state: Path) -> None:
    """The folder's place is taken by something that no file can be made in."""
    spool = state / "spool" / "api"
    spool.rmdir()
    spool.symlink_to("/proc/self/fd")
    done = run(state, "Stop", STOP)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_it_may_be_run_by_whoever_installed_the_package() -> None:
    assert os.access(REPORTER, os.X_OK)
