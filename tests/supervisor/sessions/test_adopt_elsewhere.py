"""Sessions that cockpit did not start: listed as their CLI tells of them, and adopted."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import aclosing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from cockpit.adapters.agents.claude.runtime import Claude
from cockpit.adapters.process.processes import LocalProcesses
from cockpit.config.paths import Places
from cockpit.core.errors import BadUsage, Failed, NoSuchAgent, NotAllowed, NotNow
from cockpit.ports.processes import Ancestor, ProcessId
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.main import dependencies
from cockpit.supervisor.sessions import adopt_elsewhere, transcript_end
from cockpit.supervisor.sessions.elsewhere import Place, place_of
from cockpit.supervisor.sessions.transcript_end import END_BYTES, last_permission_mode
from cockpit.supervisor.supervisor import Supervisor
from cockpit.supervisor.view import elsewhere as view
from cockpit.wire.status import ElsewhereSession
from cockpit.wire.stream import ElsewhereCounted
from cockpit.wire.verbs import Adopt, Start

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux

T = TypeVar("T")
PATIENCE = 120.0


class Terminal:
    """The user's own terminal: a tmux that is not cockpit's, with a shell in each window."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._socket = home / "user.tmux"

    def tmux(self, *words: str) -> str:
        command = ["tmux", "-S", str(self._socket), "-f", "/dev/null", *words]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    def run(self, directory: Path, *arguments: str, **environment: str) -> None:
        """Start Claude Code there, as a user does, and stay in the shell afterwards."""
        words = shlex.join(["claude", *arguments])
        settings = [word for pair in environment.items() for word in ("-e", "=".join(pair))]
        self.tmux(
            "new-session", "-d", "-x", "120", "-y", "30", "-c", str(directory), *settings,
            "sh", "-c", f"{words}; echo left with $?; exec cat",
        )  # fmt: skip

    def text(self) -> str:
        return self.tmux("capture-pane", "-p")

    def close(self) -> None:
        self.tmux("kill-server")


@pytest.fixture
def terminal(cockpit: Cockpit) -> Iterator[Terminal]:
    terminal = Terminal(cockpit.home)
    yield terminal
    terminal.close()


async def until(true: Callable[[], T | None]) -> T:
    end = time.monotonic() + PATIENCE
    while not (found := true()):
        assert time.monotonic() < end, "it never came true"
        await asyncio.sleep(0.05)
    return found


async def elsewhere(supervisor: Supervisor) -> list[ElsewhereSession]:
    return await supervisor.elsewhere.rows() or []


async def listed(
    supervisor: Supervisor, true: Callable[[ElsewhereSession], object] = lambda _: True
) -> ElsewhereSession:
    """The one session elsewhere, once this holds of it."""
    end = time.monotonic() + PATIENCE
    while True:
        rows = await elsewhere(supervisor)
        if len(rows) == 1 and true(rows[0]):
            return rows[0]
        assert time.monotonic() < end, rows
        await asyncio.sleep(0.05)


def has_ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


async def test_a_session_elsewhere_is_listed_as_its_cli_tells_of_it(
    cockpit: Cockpit, terminal: Terminal
) -> None:
    async with cockpit.flying(
        cockpit.agent(mode="observe", steps=9, pause=3, step_tokens=100)
    ) as supervisor:
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        assert await elsewhere(supervisor) == []
        terminal.run(cockpit.repository, "Count.", STANDIN_PAUSE="2", STANDIN_PACE="0.05")
        found = await listed(supervisor, lambda row: row.status == "idle" and row.context.tokens)
        assert found.directory == str(cockpit.repository)
        assert (found.runtime, found.kind) == ("claude", "interactive")
        assert (found.context.window, found.context.band) == (200_000, "calm")
        assert (found.context.confidence, found.context.source) == ("assumed", "transcript")
        assert found.transcript is not None
        assert found.transcript.endswith(f"{found.session_id}.jsonl")
        assert found.started_at is not None
        assert (found.goal, found.refusal) == ("Count.", None)
        assert found.terminal is not None
        assert found.terminal.startswith("pts/")
        assert (found.pane, found.tmux_socket) == ("%0", str(cockpit.home / "user.tmux"))
        # A process that is killed leaves its note behind.
        os.kill(found.pid, signal.SIGKILL)
        await until(lambda: has_ended(found.pid))
        assert await elsewhere(supervisor) == []


async def test_what_an_agent_of_any_cockpit_starts_is_not_elsewhere(
    cockpit: Cockpit, terminal: Terminal
) -> None:
    async with cockpit.flying(cockpit.agent()) as supervisor:
        terminal.run(cockpit.repository, "Count.", COCKPIT_RUN="another-1", STANDIN_PAUSE="1")
        live = supervisor.dependencies.live_sessions
        await until(live.look)
        assert await elsewhere(supervisor) == []


@pytest.mark.long
async def test_the_group_can_be_switched_off(cockpit: Cockpit, terminal: Terminal) -> None:
    off = "[elsewhere]\nshow = false\n"
    async with cockpit.flying(cockpit.agent(), defaults=off) as supervisor:
        terminal.run(cockpit.repository, "Count.", STANDIN_PAUSE="1")
        (found,) = await until(lambda: list(supervisor.dependencies.live_sessions.look()))
        assert await supervisor.elsewhere.rows() is None
        refused = await cockpit.refused(Adopt(session=found.id))
        assert isinstance(refused, NotNow)
        assert "[elsewhere] show = true" in refused.hint


async def test_a_client_is_told_of_every_change(cockpit: Cockpit, terminal: Terminal) -> None:
    async with (
        cockpit.flying(cockpit.agent()) as supervisor,
        aclosing(supervisor.elsewhere.follow()) as changes,
    ):

        async def change(true: Callable[[list[ElsewhereSession]], object]) -> None:
            async with asyncio.timeout(PATIENCE):
                async for rows in changes:
                    if true(rows):
                        return

        await change(lambda rows: rows == [])
        terminal.run(cockpit.repository, "Count.", STANDIN_PAUSE="2", STANDIN_PACE="0.05")
        await change(lambda rows: rows and rows[0].status == "idle" and rows[0].context.tokens)
        os.kill((await elsewhere(supervisor))[0].pid, signal.SIGKILL)
        await change(lambda rows: rows == [])


async def test_the_number_of_sessions_follows_them_without_reading_transcripts(
    cockpit: Cockpit, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view, "COUNT_SECONDS", 0.05)
    async with (
        cockpit.flying(cockpit.agent()) as supervisor,
        aclosing(supervisor.elsewhere.counts()) as counts,
    ):

        async def count() -> int:
            async with asyncio.timeout(PATIENCE):
                return await anext(counts)

        assert await count() == 0
        terminal.run(cockpit.repository, "Count.", STANDIN_PAUSE="2", STANDIN_PACE="0.05")
        assert await count() == 1
        (found,) = supervisor.dependencies.live_sessions.look()
        os.kill(found.pid, signal.SIGKILL)
        assert await count() == 0
        assert supervisor.elsewhere._readings == {}


@pytest.mark.long
async def test_a_client_that_wants_it_is_told_the_number(
    cockpit: Cockpit, terminal: Terminal
) -> None:
    async with cockpit.flying(cockpit.agent()) as _:
        terminal.run(cockpit.repository, "Count.", STANDIN_PAUSE="2")
        lines: Any = cockpit.client.watch(elsewhere=True)
        async with asyncio.timeout(PATIENCE), aclosing(lines):
            async for line in lines:
                if isinstance(line, ElsewhereCounted) and line.count == 1:
                    break


def test_a_pane_counts_only_below_its_own_tmux_server() -> None:
    def process(pid: int, **values: Any) -> Ancestor:
        return Ancestor(ProcessId(pid, 1, "boot"), **values)

    claude = process(30, terminal="pts/3", tmux="/tmp/t/default,10,0", pane="%4")
    assert place_of([claude, process(20), process(10)]) == Place("pts/3", "%4", "/tmp/t/default")
    assert place_of([claude, process(20), process(1)]) == Place("pts/3")
    assert place_of([claude, process(20, run="api-1")]).by_cockpit
    assert place_of([]) == Place()


async def test_a_session_is_ended_and_reopened_as_an_agent(
    cockpit: Cockpit, terminal: Terminal
) -> None:
    async with cockpit.flying(cockpit.agent()) as supervisor:
        terminal.run(
            cockpit.repository, "Count the sheep.", "--permission-mode", "plan", STANDIN_PAUSE="2"
        )
        found = await listed(supervisor, lambda row: row.status == "idle" and row.context.tokens)
        done = await cockpit.ask(Adopt(session=found.session_id[:8], pid=found.pid))
        assert done.name == "repository"
        assert has_ended(found.pid)
        row = await cockpit.until(lambda row: row.context.tokens, "repository")
        assert (row.session_id, row.session_number) == (found.session_id, 1)
        assert (row.directory, row.worktree) == (str(cockpit.repository), None)
        assert (row.mode, row.goal) == ("prompt", "Count the sheep.")
        assert row.job is not None
        assert await elsewhere(supervisor) == []
        event = await cockpit.event("agent.adopting")
        assert event.data["session"] == found.session_id
        assert f"claude --resume {found.session_id}" in event.text
        await until(lambda: "cockpit attach repository" in terminal.text())
        assert "left with 143" in terminal.text()
        # The user's defaults say acceptEdits; the session was in a narrower mode.
        agent = supervisor.fleet.agent("repository")
        assert agent.settings.permission_mode == "plan"


@pytest.mark.long
async def test_the_mode_is_found_before_a_long_turn(cockpit: Cockpit, terminal: Terminal) -> None:
    async with cockpit.flying(cockpit.agent()) as supervisor:
        terminal.run(
            cockpit.repository, "Count the sheep.", "--permission-mode", "plan", STANDIN_PAUSE="2"
        )
        found = await listed(supervisor, lambda row: row.status == "idle" and row.context.tokens)
        append_results(Path(found.transcript or ""))
        done = await cockpit.ask(Adopt(session=found.session_id, pid=found.pid))
        assert supervisor.fleet.agent(done.name or "").settings.permission_mode == "plan"


def append_results(transcript: Path) -> None:
    """A turn with more output of tools than a look at the end of a transcript reads."""
    reply = [line for line in transcript.read_text().splitlines() if '"assistant"' in line][-1]
    block = {"type": "tool_result", "tool_use_id": "t", "content": "y" * 1024**2}
    result = {"type": "user", "message": {"role": "user", "content": [block]}}
    with transcript.open("a") as record:
        for _ in range(END_BYTES // 1024**2 + 1):
            record.write(json.dumps(result) + "\n")
        record.write(f"{reply}\n")


@pytest.mark.parametrize("blocks", [64, 200, 1_000, END_BYTES])
def test_the_last_mode_of_a_transcript(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, blocks: int
) -> None:
    monkeypatch.setattr(transcript_end, "END_BYTES", blocks)
    runtime, record = Claude(tmp_path), tmp_path / "x.jsonl"

    def said(number: int, mode: str | None) -> str:
        known = {"permissionMode": mode} if mode else {}
        message = {"role": "user", "content": f"Prompt {number} ü"}
        line = {"type": "user", "uuid": f"u{number}", "message": message, **known}
        return json.dumps(line, ensure_ascii=False) + "\n"

    record.write_text("".join(said(n, None) for n in range(40)))
    assert last_permission_mode(record, runtime) is None
    for modes in (["plan"], ["acceptEdits", "plan"]):
        lines = [said(0, "default"), *[said(1, mode) for mode in modes]]
        record.write_text("".join([*lines, *(said(n, None) for n in range(40))]))
        found = last_permission_mode(record, runtime)
        # A line that is longer than a block is not read.
        assert found == ("plan" if blocks > len(lines[-1].encode()) else found)
    assert blocks > 64 or found is None


async def test_what_the_agents_own_settings_make_impossible_ends_nothing(
    cockpit: Cockpit, terminal: Terminal
) -> None:
    moved = f"[defaults.env]\nCLAUDE_CONFIG_DIR = '{cockpit.home / 'another'}'\n"
    async with cockpit.flying(cockpit.agent(), moved) as supervisor:
        terminal.run(cockpit.repository, "Count.", STANDIN_PAUSE="2")
        found = await listed(supervisor, lambda row: row.status == "idle")
        refused = await cockpit.refused(Adopt(session=found.session_id))
        assert "There is no session" in refused.title
        assert not has_ended(found.pid)
        assert supervisor.fleet.find("repository") is None


@pytest.mark.long
async def test_a_process_that_does_not_end_keeps_its_session(
    cockpit: Cockpit, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adopt_elsewhere, "END_SECONDS", 0.5)
    async with cockpit.flying(cockpit.agent()) as supervisor:
        terminal.run(cockpit.repository, "Count.", STANDIN_PAUSE="2", STANDIN_FAULTS="deaf")
        found = await listed(supervisor, lambda row: row.status == "idle")
        refused = await cockpit.refused(Adopt(session=found.session_id))
        assert isinstance(refused, Failed)
        assert f"--resume {found.session_id}" in refused.hint
        assert not has_ended(found.pid)
        assert supervisor.fleet.find("repository") is None
        assert [row.session_id for row in await elsewhere(supervisor)] == [found.session_id]
        os.kill(found.pid, signal.SIGKILL)
        await until(lambda: has_ended(found.pid))


class Forgetful(LocalProcesses):
    """After a process ended, its transcript cannot be found."""

    def __init__(self, transcripts: Path) -> None:
        super().__init__()
        self._transcripts = transcripts

    async def ask_to_end(self, process: ProcessId, patience: float) -> bool:
        ended = await super().ask_to_end(process, patience)
        self._transcripts.rename(self._transcripts.with_name("away"))
        return ended


@pytest.mark.long
async def test_a_session_that_cannot_be_reopened_can_be_by_hand(
    cockpit: Cockpit, terminal: Terminal
) -> None:
    def world(places: Places) -> Dependencies:
        forgetful = Forgetful(cockpit.home / "claude" / "projects")
        return replace(dependencies(places), processes=forgetful)

    cockpit.world = world
    async with cockpit.flying(cockpit.agent()) as supervisor:
        terminal.run(cockpit.repository, "Count.", STANDIN_PAUSE="2")
        found = await listed(supervisor, lambda row: row.status == "idle")
        refused = await cockpit.refused(Adopt(session=found.session_id, name="mine"))
        assert isinstance(refused, Failed)
        by_hand = f"cd {cockpit.repository} && claude --resume {found.session_id}"
        assert by_hand in refused.hint
        assert supervisor.fleet.find("mine") is None


async def test_what_is_asked_is_checked_before_anything_ends(
    cockpit: Cockpit, terminal: Terminal
) -> None:
    async with cockpit.flying(cockpit.agent()) as supervisor:
        terminal.run(cockpit.repository, "Count.", STANDIN_PAUSE="2")
        found = await listed(supervisor, lambda row: row.status == "idle")
        ident = found.session_id
        for asked, kind in {
            Adopt(session="abc"): BadUsage,
            Adopt(session="00000000-0000-4000-8000-000000000000"): NoSuchAgent,
            Adopt(session=ident, pid=1): NotNow,
            Adopt(session=ident, name="api"): NotNow,
            Adopt(session=ident, name="No Name"): BadUsage,
        }.items():
            assert type(await cockpit.refused(asked)) is kind, asked
        # A command inside the session would be ended with it, and is not the user's.
        with pytest.raises(NotAllowed):
            await supervisor.adoption.adopt(Adopt(session=ident, asker=found.pid))
        assert not has_ended(found.pid)
        assert [agent.name for agent in supervisor.fleet] == ["api"]


async def test_a_session_of_an_agent_goes_back_to_it(cockpit: Cockpit, terminal: Terminal) -> None:
    async with cockpit.flying(
        cockpit.agent(mode="observe", steps=9, pause=3, step_tokens=100)
    ) as supervisor:
        first = await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        assert first.session_id is not None
        cockpit.tmux("kill-server")
        await cockpit.until(lambda row: row.pid is None)
        terminal.run(cockpit.repository, "--resume", first.session_id, STANDIN_PAUSE="9")
        found = await listed(supervisor)
        refused = await cockpit.refused(Adopt(session=found.session_id))
        assert isinstance(refused, NotNow)
        assert f"cockpit start api --resume {first.session_id}" in refused.hint


async def test_a_session_in_the_background_stays_there(
    cockpit: Cockpit, terminal: Terminal
) -> None:
    async with cockpit.flying(cockpit.agent()) as supervisor:
        terminal.run(cockpit.repository, "Count.", STANDIN_PAUSE="2")
        found = await listed(supervisor, lambda row: row.status == "idle")
        note = cockpit.home / "claude" / "sessions" / f"{found.pid}.json"
        note.write_text(json.dumps(json.loads(note.read_text()) | {"kind": "background"}))
        assert (await listed(supervisor)).kind == "background"
        refused = await cockpit.refused(Adopt(session=found.session_id))
        assert isinstance(refused, NotNow)
        assert not has_ended(found.pid)


async def command(*words: str, **more: Any) -> tuple[int | None, str, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "cockpit", *words,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more,
    )  # fmt: skip
    out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


@pytest.mark.long
async def test_the_command_line_lists_and_adopts(cockpit: Cockpit, terminal: Terminal) -> None:
    async with cockpit.flying(cockpit.agent()) as supervisor:
        terminal.run(cockpit.repository, "Count.", STANDIN_PAUSE="2")
        found = await listed(supervisor, lambda row: row.status == "idle" and row.context.tokens)
        short = found.session_id[:8]
        code, out, _ = await command("status", "--elsewhere")
        assert code == 0
        (line,) = [line for line in out.splitlines() if short in line]
        assert "idle" in line
        assert f"{cockpit.repository}  pid {found.pid}" in line
        _, out, _ = await command("status", "--elsewhere", "--plain")
        assert f"Session {short} elsewhere, claude, idle, " in out
        _, out, _ = await command("status", "--elsewhere", "--json")
        assert json.loads(out)["elsewhere"][0]["session_id"] == found.session_id
        _, out, _ = await command("status", "--json")
        assert json.loads(out).get("elsewhere") is None
        code, _, err = await command("adopt", short)
        assert (code, "Add --yes." in err) == (5, True)
        code, _, err = await command("adopt", "ffff", "--yes")
        assert (code, "cockpit status --elsewhere" in err) == (3, True)
        # An agent may not, whatever its settings say.
        asked = {**os.environ, "COCKPIT_RUN": "api-1", "COCKPIT_SOCKET": str(cockpit.places.socket)}
        code, _, err = await command("adopt", short, "--yes", env=asked)
        assert (code, "Refused: this agent may not adopt a session" in err) == (5, True), err
        assert not has_ended(found.pid)
        code, _, err = await command("adopt", short, "--name", "mine", "--yes")
        assert (code, err) == (0, f"Adopted the session as mine, in {cockpit.repository}\n")
        with suppress(NotNow):
            await cockpit.ask(Start(name="mine"))
        assert (await cockpit.row("mine")).session_id == found.session_id
