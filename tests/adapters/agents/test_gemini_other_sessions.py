"""Live sessions of Gemini by the notes of cockpit's extension: what it notes, and what counts."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cockpit.adapters.agents.gemini import extension
from cockpit.adapters.agents.gemini.other_sessions import GeminiSessions
from cockpit.adapters.process.process_table import entry
from cockpit.config.kernel import USES_LINUX
from cockpit.ports.live_sessions import LiveSession
from cockpit.ports.runtimes import Activity

IDENT = "0b6e6c1e-6a3c-4a6e-9a51-2f4b1d0f6c11"
SCRIPT = Path(extension.__file__).parent / "extension" / "report.sh"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home of Gemini in which the extension is linked."""
    ours = tmp_path / "with space"
    ours.mkdir()
    shutil.copy(SCRIPT, ours)
    linked = tmp_path / ".gemini" / "extensions" / "cockpit"
    linked.mkdir(parents=True)
    (linked / ".gemini-extension-install.json").write_text(json.dumps({"source": str(ours)}))
    return tmp_path


def report(
    home: Path, event: str, *, directory: str = "/w/here", shell: str = "", **variables: str
) -> None:
    """Run the hook of an event as Gemini does; this process takes the part of Gemini."""
    script = str(home / "with space" / "report.sh")
    words = ["sh", script, event] if not shell else ["sh", "-c", shell, "sh", script, event]
    environment = {
        "PATH": os.environ["PATH"],
        "GEMINI_SESSION_ID": IDENT,
        "GEMINI_CWD": directory,
        **variables,
    }
    done = subprocess.run(
        words, env=environment, input='{"prompt": "x"}', capture_output=True, text=True,
        check=True, timeout=60,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("", "")


def found(home: Path) -> list[LiveSession]:
    return list(GeminiSessions({"GEMINI_CLI_HOME": str(home)}).look())


def notes(home: Path) -> list[str]:
    return sorted(path.name for path in (home / "with space" / "live").glob("*"))


@pytest.mark.parametrize("shell", ["", '"$0" "$1" "$2"; :'])
def test_a_session_is_known_from_its_start_to_its_end(home: Path, shell: str) -> None:
    assert found(home) == []
    report(home, "SessionStart", shell=shell)
    (session,) = found(home)
    process = entry(os.getpid())
    assert process is not None
    assert (session.id, session.runtime) == (IDENT, "gemini")
    assert (session.pid, session.started) == (process.pid, process.started)
    assert (session.directory, session.activity) == (Path("/w/here"), Activity.IDLE)
    report(home, "BeforeAgent", shell=shell, GEMINI_SESSION_ID=IDENT.replace("0b", "0c"))
    (session,) = found(home)
    assert (session.id, session.activity) == (IDENT.replace("0b", "0c"), Activity.UNKNOWN)
    report(home, "AfterAgent", shell=shell)
    assert found(home)[0].activity is Activity.IDLE
    assert notes(home) == [str(os.getpid())]
    assert "prompt" not in (home / "with space" / "live" / str(os.getpid())).read_text()
    report(home, "SessionEnd", shell=shell)
    assert (found(home), notes(home)) == ([], [])


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ([], "interactive"),
        (["-m", "x"], "interactive"),
        (["-p", "x"], "p"),
        (["--prompt=x"], "prompt"),
        (["--acp"], "acp"),
    ],
)
def test_the_options_of_the_process_tell_the_kind(
    home: Path, options: list[str], kind: str
) -> None:
    script = str(home / "with space" / "report.sh")
    gemini = (
        "import subprocess, sys; "
        f"subprocess.run(['sh', {script!r}, 'SessionStart'], input=b'{{}}', check=True); "
        "print(flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", gemini, *options],
        env={"PATH": os.environ["PATH"], "GEMINI_SESSION_ID": IDENT, "GEMINI_CWD": "/work"},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == b"\n"
        assert [(session.pid, session.kind) for session in found(home)] == [(process.pid, kind)]


@pytest.mark.parametrize("name", ["COCKPIT_RUN", "COCKPIT_AGENT", "COCKPIT_RUNTIME", "GEMINI_CLI"])
def test_what_an_agent_starts_is_not_noted(home: Path, name: str) -> None:
    report(home, "SessionStart", **{name: "1"})
    assert not (home / "with space" / "live").exists()


def test_the_notes_of_processes_that_ended_do_not_count_and_are_removed(home: Path) -> None:
    child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    folder = home / "with space" / "live"
    folder.mkdir()
    seen = entry(child.pid)
    assert seen is not None
    started = str(seen.started) if USES_LINUX else ""
    note = folder / str(child.pid)
    note.write_text(f"{IDENT}\nAfterAgent\n{started}\n/w/here\n")
    assert [session.pid for session in found(home)] == [child.pid]
    child.communicate()
    assert found(home) == []
    report(home, "SessionStart")
    assert notes(home) == [str(os.getpid())]


def test_a_note_of_another_process_with_that_pid_does_not_count(home: Path) -> None:
    report(home, "SessionStart")
    note = home / "with space" / "live" / str(os.getpid())
    ident, event, started, directory = note.read_text().splitlines()
    changed = str(int(started) + 1) if USES_LINUX else started
    note.write_text("\n".join([ident, event, changed, directory]))
    os.utime(note, (1.0, 1.0))
    assert found(home) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "../../x\nAfterAgent\nSTART\n/work",
        f"{IDENT}\nAfterAgent\nSTART\nrelative",
        f"{IDENT}\nAfterAgent\nSTART\n/nul\0",
        f"{IDENT}\nAfterAgent",
        "x" * 100_000,
    ],
)
def test_a_note_that_is_none_has_no_session(home: Path, text: str) -> None:
    report(home, "SessionStart")
    note = home / "with space" / "live" / str(os.getpid())
    started = note.read_text().splitlines()[2]
    note.write_text(text.replace("START", started))
    assert found(home) == []


def test_a_directory_with_a_line_break_is_whole(home: Path) -> None:
    report(home, "SessionStart", directory="/w/a\nb")
    assert found(home)[0].directory == Path("/w/a\nb")


@pytest.mark.parametrize(
    ("event", "source", "options", "expected"),
    [
        ("SessionStart", "startup", ["-m", "x"], "A document is waiting."),
        ("SessionStart", "resume", [], ""),
        ("BeforeAgent", "startup", [], ""),
        ("SessionStart", "startup", ["-p", "x"], ""),
        ("SessionStart", "startup", ["--prompt=x"], ""),
    ],
)
def test_a_waiting_document_is_offered_when_a_session_begins_on_a_screen(
    home: Path, event: str, source: str, options: list[str], expected: str
) -> None:
    offer = home / "with space" / "offer.sh"
    offer.write_text("#!/bin/sh\nprintf 'A document is waiting.'\n")
    offer.chmod(0o700)
    script = str(home / "with space" / "report.sh")
    gemini = (
        "import subprocess, sys; "
        f"subprocess.run(['sh', {script!r}, {event!r}], input=sys.stdin.buffer.read())"
    )
    done = subprocess.run(
        [sys.executable, "-c", gemini, *options],
        env={"PATH": os.environ["PATH"], "GEMINI_SESSION_ID": IDENT, "GEMINI_CWD": "/work"},
        input=json.dumps({"session_id": IDENT, "source": source}, separators=(",", ":")),
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == (expected, "")
