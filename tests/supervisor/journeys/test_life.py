"""Whole lives of agents: started, watched, spoken to, ended; and what goes wrong on the way."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from cockpit.adapters.store.outgoing import OutgoingTable
from cockpit.config.paths import Places
from cockpit.core.errors import (
    BadConfig,
    BadUsage,
    NoSuchAgent,
    NoSupervisor,
    NotNow,
    ProgramMissing,
)
from cockpit.core.ids import SessionId
from cockpit.ports.panes import Screen
from cockpit.supervisor.agents.latches import EARLIER_COST
from cockpit.supervisor.api.verbs import send
from cockpit.wire.stream import DaySpent
from cockpit.wire.verbs import Attach, Down, Handoff, Load, Send, Start, Stop, Undo
from tests.long_cases import cases

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux

FIXED = {
    "name", "runtime", "job", "state", "needs", "pane", "pid", "directory", "branch", "worktree",
    "session_id", "session_number", "previous_session_id", "transcript", "model", "context",
    "mode", "strategy", "handoff", "handoffs", "max_handoffs", "compactions", "cost_usd",
    "chain_cost_usd", "activity", "last_activity_at",
}  # fmt: skip
FIXED_CONTEXT = {
    "tokens", "window", "used", "band", "confidence", "source", "age_seconds", "compacts_at",
    "tokens_per_turn", "turns_left",
}  # fmt: skip


def shell(*words: str) -> str:
    """An agent that is any program."""
    return f'runtime = "command"\ncommand = {json.dumps(words)}'


async def test_an_agent_is_started_watched_and_stopped(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="observe", steps=3)):
        before = await cockpit.row()
        assert (before.state, before.pid, before.session_id) == ("stopped", None, None)
        assert (before.context.tokens, before.context.band) == (None, "unknown")
        await cockpit.start()
        done = await cockpit.until(lambda row: row.state == "done")
        await cockpit.lives(done)
        assert (done.context.tokens, done.context.used) == (144_000, 0.72)
        assert (done.context.band, done.context.confidence) == ("act", "reported")
        assert done.activity == "Bash echo counted 2"
        assert done.cost_usd == done.chain_cost_usd
        again = await cockpit.refused(Start(name="api"))
        assert isinstance(again, NotNow)
        assert str(done.pid) in again.title

        await cockpit.ask(Stop(name="api"))
        after = await cockpit.row()
        assert (after.state, after.pid, after.note) == ("stopped", None, "stopped by you")
        assert cockpit.living(done) == []
        assert await cockpit.events("agent.exited") == []
        assert "not running" in (await cockpit.ask(Stop(name="api"))).message

        await cockpit.start()
        anew = await cockpit.until(lambda row: row.state == "done")
        assert anew.session_id != done.session_id
        assert (anew.pane, anew.session_number, anew.job == done.job) == (done.pane, 1, False)


async def test_status_has_the_fixed_names_and_null_for_what_is_not(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="observe", steps=2)):
        told = json.loads((await cockpit.client.status()).model_dump_json())
        assert (told["version"], told["host"]) == (1, "local")
        assert {"pid", "started_at"} <= told["supervisor"].keys()
        (row,) = told["agents"]
        assert row.keys() >= FIXED
        assert row["context"].keys() >= FIXED_CONTEXT
        empty = {key for key in FIXED if row[key] is None}
        assert empty == FIXED - {
            "name", "runtime", "state", "directory", "context", "mode", "strategy",
            "handoffs", "max_handoffs", "compactions",
        }  # fmt: skip
        assert {key for key in FIXED_CONTEXT if row["context"][key] is not None} == {
            "band",
            "confidence",
        }


async def test_what_the_pilot_names_wrongly_is_refused_by_name(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(steps=2)):
        nobody = await cockpit.refused(Stop(name="apu"))
        assert isinstance(nobody, NoSuchAgent)
        assert "api" in nobody.hint
        assert isinstance(await cockpit.refused(Start(name="a b")), BadUsage)
        assert isinstance(await cockpit.refused(Start(name="#(touch x)")), BadUsage)
        assert isinstance(await cockpit.refused(Start(name="new")), NoSuchAgent)
        assert isinstance(await cockpit.refused(Handoff(name="api")), NotNow)
        assert isinstance(await cockpit.refused(Send(name="api", text="x")), NotNow)
        assert isinstance(await cockpit.refused(Attach(name="api")), NotNow)
        assert await cockpit.client.history() == []


PROMPT = (
    "-- --leading dashes\n'single' \"double\" `touch pwned` $(touch pwned) ; # * ?\n"
    "\\n \\\\ tab\there; semicolon at the end of a word; é 漢字 👩‍🚀\n"
)


@pytest.mark.parametrize("size", cases(100_000, long=[0, 200_000]))
async def test_a_prompt_arrives_byte_for_byte(cockpit: Cockpit, size: int) -> None:
    text = f"{PROMPT}{'long line of words ' * (size // 19)}\nCount the steps;"
    async with cockpit.flying(cockpit.agent(mode="observe", steps=2)):
        await cockpit.start(prompt=text)
        row = await cockpit.until(lambda row: row.state == "done")
        (told,) = cockpit.prompts(row)
        if not told.startswith(text):
            pieces = [Path(path) for path in re.findall(r'/[^"\s]+', told)]
            assert {stat.S_IMODE(piece.stat().st_mode) for piece in pieces} == {0o600}
            told = "".join(piece.read_text() for piece in pieces)
        # What follows is how to say that the job is done.
        assert told.startswith(text)
        assert told.removeprefix(text).endswith("HANDOFF: COMPLETE")
        assert not (cockpit.repository / "pwned").exists()
        (chain,) = await cockpit.client.history("api")
        assert chain.goal == text


@pytest.mark.long
async def test_a_prompt_that_is_sent_arrives_byte_for_byte(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="observe", steps=9, pause=2)):
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        done = await cockpit.ask(Send(name="api", text=PROMPT.rstrip()))
        assert "accepted the prompt" in done.message
        row = await cockpit.until(lambda row: row.state == "done")
        assert cockpit.prompts(row)[1] == PROMPT.rstrip()


@pytest.mark.long
async def test_a_command_that_begins_another_session_is_accepted(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="observe", steps=9, pause=2)):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.state == "idle")
        done = await cockpit.ask(Send(name="api", text="/clear"))
        assert "accepted the prompt" in done.message
        assert (await cockpit.row()).session_id != row.session_id


async def test_what_is_sent_to_a_working_agent_waits_for_its_turn(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="observe", steps=8, step_tokens=100, pace=0.2)):
        await cockpit.start()
        await cockpit.until(lambda row: row.activity)
        done = await cockpit.ask(Send(name="api", text="And then rest."))
        assert "queued" in done.message
        row = await cockpit.until(lambda row: len(cockpit.prompts(row)) == 2)
        assert cockpit.prompts(row)[1] == "And then rest."


async def test_nothing_is_sent_where_something_is_typed(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="observe", steps=9, pause=2)):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.state == "idle")
        assert row.pane is not None
        cockpit.tmux("send-keys", "-t", row.pane, "-l", "half a thought")
        while "half a thought" not in cockpit.tmux("capture-pane", "-p", "-t", row.pane):
            await asyncio.sleep(0.02)
        wrong = await cockpit.refused(Send(name="api", text="Go on."))
        assert isinstance(wrong, NotNow)
        assert "prompt box is not empty" in wrong.title
        assert isinstance(await cockpit.refused(Send(name="api", text="  ")), BadUsage)
        assert len(cockpit.prompts(row)) == 1


async def test_a_prompt_waits_until_a_text_leaves_the_prompt_box(
    cockpit: Cockpit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a CLI that shows an earlier prompt there while it reopens a session."""
    monkeypatch.setattr(send, "EMPTY_WITHIN", 60)
    async with cockpit.flying(cockpit.agent(mode="observe", steps=9, pause=2)) as supervisor:
        await cockpit.start()
        row = await cockpit.until(lambda row: row.state == "idle")
        pane = row.pane or ""
        cockpit.tmux("send-keys", "-t", pane, "-l", "half a thought")
        while "half a thought" not in cockpit.tmux("capture-pane", "-p", "-t", pane):
            await asyncio.sleep(0.02)
        runtime, looks = supervisor.fleet.agent("api").runtime, list[bool | None]()
        composer = runtime.composer

        def noted(screen: Screen) -> bool | None:
            looks.append(composer(screen))
            return looks[-1]

        monkeypatch.setattr(runtime, "composer", noted)
        sending = asyncio.create_task(cockpit.ask(Send(name="api", text="Go on.")))
        while False not in looks:  # it has found the text there
            await asyncio.sleep(0.02)
        cockpit.tmux("send-keys", "-N", "14", "-t", pane, "BSpace")
        assert "accepted the prompt" in (await sending).message
        await cockpit.until(lambda row: cockpit.prompts(row)[-1] == "Go on.")


async def test_a_start_without_a_file_reads_the_own_file_that_changed(cockpit: Cockpit) -> None:
    table = f"[[agents]]\nname = 'late'\nruntime = 'command'\ndirectory = '{cockpit.home}'\n"
    async with cockpit.flying(cockpit.agent()):
        own = cockpit.places.user_file
        own.write_text(table + "command = ['sleep', '600']\n")
        await cockpit.ask(Start(name="late", cwd="/"))
        row = await cockpit.row("late")
        assert (row.runtime, row.directory) == ("command", str(cockpit.home))
        own.write_text("[[agents]]\nname = 3\n")
        assert "cockpit.toml:2: " in (await cockpit.refused(Start(name="api"))).title
        own.unlink()
        cockpit.config.unlink()
        await cockpit.ask(Start(name="new", cwd=str(cockpit.repository)))


async def test_a_start_outside_a_project_has_none_of_its_defaults(
    cockpit: Cockpit, tmp_path: Path
) -> None:
    """The supervisor has read the project's file last."""
    async with cockpit.flying(cockpit.agent()):
        file = cockpit.repository / "cockpit.toml"
        file.write_text('[defaults]\nmode = "observe"\n')
        command = {"runtime": "command", "command": ["sleep", "600"]}
        for name, cwd, mode in (
            ("inside", cockpit.repository, "observe"),
            ("outside", tmp_path, "prompt"),
        ):
            named = str(file) if name == "inside" else None
            await cockpit.ask(Start(name=name, cwd=str(cwd), config=named, **command))  # type: ignore[arg-type]
            assert (await cockpit.row(name)).mode == mode


async def test_an_agent_that_will_not_start_says_why_on_its_row(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(faults="exit")):
        await cockpit.ask(Start(name="api"))
        row = await cockpit.until(lambda row: "ended with exit code 1" in (row.note or ""))
        assert (row.state, row.pid) == ("needs_you", None)
        assert row.needs is not None
        assert row.needs.kind == "failed"
        assert re.search(r"[^.]\. Try again: cockpit start api$", row.needs.detail)
        assert "The stand-in fails" in (row.note or "")
        await cockpit.event("agent.exited")


async def test_a_missing_cli_or_folder_is_refused_before_anything_is_made(cockpit: Cockpit) -> None:
    absent = f"directory = {json.dumps(str(cockpit.home / 'nowhere'))}"
    lost = cockpit.agent("lost").replace(
        f"directory = {json.dumps(str(cockpit.repository))}", absent
    )
    async with cockpit.flying(
        lost, cockpit.agent("shell", "observe", more=shell("no-such-program"))
    ):
        wrong = await cockpit.refused(Start(name="lost"))
        assert isinstance(wrong, BadUsage)
        missing = await cockpit.refused(Start(name="shell"))
        assert missing.exit_code == 6
        for name in ("lost", "shell"):
            row = await cockpit.row(name)
            assert (row.state, row.pane, row.session_id) == ("stopped", None, None)


async def test_a_pane_that_is_closed_by_hand_ends_its_agent_and_a_start_opens_another(
    cockpit: Cockpit,
) -> None:
    async with cockpit.flying(cockpit.agent(mode="observe", steps=500, step_tokens=10)):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.state == "working")
        assert row.pane is not None
        cockpit.tmux("kill-pane", "-t", row.pane)
        gone = await cockpit.until(lambda row: "pane was closed" in (row.note or ""))
        assert gone.state == "exited"
        assert cockpit.living(row) == []
        await cockpit.start()
        again = await cockpit.until(lambda row: row.state == "working")
        assert again.pane != row.pane
        await cockpit.lives(again)


@pytest.mark.long
async def test_a_tmux_server_that_is_killed_is_told_of_and_a_start_makes_another(
    cockpit: Cockpit,
) -> None:
    async with cockpit.flying(
        cockpit.agent("one", "observe", steps=500, step_tokens=10),
        cockpit.agent("two", "observe", steps=500, step_tokens=10, faults="deaf"),
    ):
        await cockpit.start("one")
        await cockpit.start("two")
        one = await cockpit.until(lambda row: row.state == "working", "one")
        two = await cockpit.until(lambda row: row.state == "working", "two")
        os.kill(int(cockpit.tmux("display-message", "-p", "#{pid}")), 9)
        gone = await cockpit.until(lambda row: "tmux" in (row.note or ""), "one")
        assert gone.state == "needs_you"
        assert gone.needs is not None
        assert "cockpit start one --resume" in gone.needs.detail
        assert "tmux" in (await cockpit.event("agent.exited")).text
        # A deaf one lives on without a terminal: it is not started twice.
        await cockpit.lives(two)
        assert isinstance(await cockpit.refused(Start(name="two")), NotNow)
        await cockpit.start("one")
        again = await cockpit.until(lambda row: row.state == "working", "one")
        assert again.pid != one.pid
        await cockpit.ask(Stop(name="two"))
        await cockpit.lives(again)
        await cockpit.start("two")


async def test_any_program_is_an_agent_with_a_row_and_no_reading(cockpit: Cockpit) -> None:
    async with cockpit.flying(
        cockpit.agent("cat", "observe", prompt="", more=shell("cat")),
        cockpit.agent("env", "observe", prompt="", more=shell("env")),
    ):
        await cockpit.start("cat")
        row = await cockpit.until(lambda row: row.state == "working", "cat")
        assert (row.transcript, row.context.tokens, row.context.band) == (None, None, "unknown")
        await cockpit.ask(Send(name="cat", text="Hello; $(touch pwned)"))
        assert row.pane is not None
        while "Hello; $(touch pwned)" not in cockpit.tmux("capture-pane", "-pt", row.pane):
            await asyncio.sleep(0.02)
        await cockpit.start("env")
        over = await cockpit.until(lambda row: "ended with exit code 0" in (row.note or ""), "env")
        assert over.state == "exited"
        assert over.pane is not None
        printed = cockpit.tmux("capture-pane", "-p", "-S", "-200", "-t", over.pane)
        assert "COCKPIT_AGENT=env" in printed
        assert "COCKPIT_RUN=env-" in printed
        assert "TMUX=" not in printed


@pytest.mark.long
async def test_hooks_alone_give_a_count_that_warns_and_never_acts(cockpit: Cockpit) -> None:
    """A CLI whose record cannot be read and that has no status line, with nobody looking."""

    few = "[agents.context]\nfallback_tool_calls = 4"
    table = cockpit.agent(steps=12, faults="mute,lineless", more=few)
    async with cockpit.flying(table):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.context.band == "warn")
        assert (row.context.tokens, row.context.used) == (None, None)
        assert (row.context.confidence, row.context.source) == ("unknown", None)
        assert (row.context.tool_calls or 0) >= 4
        crossed = await cockpit.event("band.crossed")
        assert "tool calls" in crossed.text
        done = await cockpit.until(lambda row: row.state == "done")
        assert (done.context.tool_calls or 0) > 8
        assert done.context.band == "warn"
        assert len(await cockpit.events("band.crossed")) == 1
        assert await cockpit.events("handoff.begun") == []
        assert (done.handoff, done.pid) == (None, row.pid)

        # By hand it goes all the same: facts and git are enough for a document.
        await cockpit.ask(Handoff(name="api"))
        await cockpit.event("handoff.document")


@pytest.mark.long
async def test_the_record_alone_is_enough_for_a_reading(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="observe", steps=3, faults="hookless")):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.context.tokens == 144_000)
        assert (row.context.source, row.context.confidence) == ("transcript", "assumed")
        done = await cockpit.until(lambda row: row.state == "done")
        assert done.activity == "Bash echo counted 2"


@pytest.mark.long
async def test_a_compaction_is_counted_and_leaves_the_reading_unknown(cockpit: Cockpit) -> None:
    async with cockpit.flying(
        cockpit.agent(mode="observe", steps=9, step_tokens=24_000, settles=0, pace=0.2)
    ):
        await cockpit.start()
        crossed = await cockpit.event("agent.compacted")
        assert "too late" in crossed.text
        row = await cockpit.until(lambda row: row.compactions == 1)
        done = await cockpit.until(lambda row: row.state == "done")
        assert row.session_id == done.session_id
        assert done.compactions == 1
        assert done.context.tokens is not None
        assert done.context.tokens < 100_000


async def test_a_session_is_reopened_only_where_it_belongs_and_by_one(cockpit: Cockpit) -> None:
    async with cockpit.flying(
        cockpit.agent(mode="observe", steps=9, pause=2), cockpit.agent("two", "observe")
    ):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.state == "idle")
        assert row.session_id is not None
        live = await cockpit.refused(Start(name="two", resume=row.session_id))
        assert isinstance(live, NotNow)
        await cockpit.ask(Stop(name="api"))
        unknown = await cockpit.refused(
            Start(name="api", resume="00000000-0000-4000-8000-000000000000")
        )
        assert isinstance(unknown, BadUsage | NotNow)
        foreign = await cockpit.refused(
            Start(name="two", resume=row.session_id, directory=str(cockpit.home))
        )
        assert isinstance(foreign, BadUsage | NotNow)
        assert isinstance(await cockpit.refused(Start(name="api", resume="../x")), BadUsage)
        await cockpit.start(resume=row.session_id, prompt="Go on.")
        again = await cockpit.until(lambda row: row.state in ("done", "working"))
        assert again.session_id == row.session_id
        assert again.pid != row.pid


@pytest.mark.long
async def test_sockets_and_state_are_the_pilots_own_whatever_the_umask(cockpit: Cockpit) -> None:
    before = os.umask(0)
    try:
        await cockpit.launch(cockpit.agent(steps=9))
    finally:
        os.umask(before)
    await cockpit.start()
    await cockpit.until(lambda row: row.handoffs == 1)
    places: Places = cockpit.places
    assert stat.S_IMODE(places.socket.stat().st_mode) == 0o600
    for folder in (places.state, places.runtime):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        for path in folder.rglob("*"):
            if not path.is_symlink():
                assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
    await cockpit.ask(Down(agents=True))


async def test_a_second_supervisor_is_refused_with_the_pid_of_the_first(cockpit: Cockpit) -> None:
    pid = await cockpit.launch(cockpit.agent(steps=9))
    command = [sys.executable, "-P", "-m", "cockpit", "up", "--foreground"]
    second = await asyncio.to_thread(
        subprocess.run, command, capture_output=True, text=True, check=False
    )
    assert second.returncode == 5
    assert f"pid {pid}" in second.stderr
    assert (await cockpit.client.status()).supervisor.pid == pid


async def test_down_leaves_the_agents_and_down_with_agents_ends_everybody_even_twice(
    cockpit: Cockpit,
) -> None:
    async with cockpit.flying(
        cockpit.agent("one", "observe", steps=500, step_tokens=10),
        cockpit.agent("two", "prompt", steps=500, pace=0.1),
    ):
        one = await cockpit.start("one")
        await cockpit.start("two")
        two = await cockpit.until(lambda row: row.needs, "two")
        done = await cockpit.ask(Down())
        assert "2 agents keep running" in done.message
        await cockpit.lives(one, one, two)
        both = await asyncio.gather(cockpit.ask(Down(agents=True)), cockpit.ask(Down(agents=True)))
        assert len(both) == 2
        assert cockpit.living(one) == []
        assert not cockpit.places.tmux_socket.exists()
    async with cockpit.flying():
        for name in ("one", "two"):
            row = await cockpit.row(name)
            assert (row.state, row.handoff, row.note) == ("stopped", None, "stopped by you")
        await cockpit.ask(Down(agents=True))


@pytest.mark.long
async def test_down_with_agents_in_the_middle_of_a_swap_leaves_nobody(cockpit: Cockpit) -> None:
    await cockpit.launch(cockpit.agent(steps=500, faults="first:deaf", pace=0.1))
    first = await cockpit.start()
    await cockpit.event("handoff.stopping")
    await cockpit.ask(Down(agents=True))
    assert cockpit.living(first) == []
    assert cockpit.process is not None
    await asyncio.to_thread(cockpit.process.wait, 20)
    with pytest.raises(NoSupervisor):
        await cockpit.client.status()
    await cockpit.launch()
    row = await cockpit.row()
    assert (row.pid, row.handoff) == (None, None)
    assert row.state in ("stopped", "needs_you")
    assert cockpit.living(first) == []
    await cockpit.start()
    again = await cockpit.until(lambda row: row.state == "working")
    await cockpit.lives(again)


@pytest.mark.long
async def test_a_name_belongs_to_one_file_and_stands_in_it_once(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="observe", steps=500, step_tokens=10)):
        await cockpit.start()
        other = cockpit.home / "other.toml"
        shutil.copy(cockpit.config, other)
        taken = await cockpit.refused(Load(config=str(other), named=True))
        assert isinstance(taken, NotNow)
        assert str(cockpit.config) in taken.detail
        started = await cockpit.refused(Start(name="api", config=str(other), named=True))
        assert isinstance(started, NotNow)
        cockpit.configure(cockpit.agent(), cockpit.agent())
        twice = await cockpit.refused(Load(config=str(cockpit.config), named=True))
        assert isinstance(twice, BadConfig | BadUsage)
        assert (await cockpit.row()).pid is not None


async def test_what_an_agent_says_reaches_nobody_as_control_bytes_or_markup(
    cockpit: Cockpit,
) -> None:
    async with cockpit.flying(
        cockpit.agent("hostile", "observe", prompt="", more=shell("sh", "-c", HOSTILE))
    ):
        await cockpit.start("hostile")
        row = await cockpit.until(lambda row: row.state == "exited", "hostile")
        told = row.model_dump_json() + (await cockpit.event("agent.exited")).text
        assert "\\u001b" not in told
        assert "\x1b" not in told
        assert "\\u0007" not in told
        async for shot in cockpit.client.screen("hostile"):
            text = "\n".join(shot.lines)
            assert "]0;owned" not in text
            assert "\x07" not in text
            break


HOSTILE = (
    r"printf '\033]0;owned\007[red]bold[/]\033[2J\033[31mred\033[0m $(touch pwned) #(x)\n'; exit 3"
)


async def test_a_new_agent_works_where_it_was_asked_for(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent()):
        nowhere = await cockpit.refused(Start(name="extra", runtime="claude"))
        assert isinstance(nowhere, NoSuchAgent)
        here = str(cockpit.repository)
        await cockpit.ask(Start(name="extra", cwd=here, worktree=True, prompt="count"))
        row = await cockpit.until(lambda row: row.pid is not None, name="extra")
        assert row.worktree == f"{here}/.worktrees/extra"

        # A second job of the same agent goes on in the worktree that is there.
        await cockpit.ask(Stop(name="extra"))
        await cockpit.ask(Start(name="extra", prompt="count again"))
        again = await cockpit.until(lambda row: row.pid is not None, name="extra")
        assert (again.worktree, again.branch) == (row.worktree, row.branch)

        beside = await cockpit.refused(Start(name="other", directory=row.worktree, prompt="count"))
        assert isinstance(beside, NotNow)
        assert "extra is already running in" in beside.title


async def test_a_start_that_failed_leaves_no_row(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent()):
        outside = str(cockpit.repository.parent)
        asked = Start(name="ghost", directory=outside, worktree=True, prompt="count")
        assert isinstance(await cockpit.refused(asked), BadUsage)
        broken = cockpit.home / "bin" / "codex"
        broken.write_text("#!/bin/sh\nexit 1\n")
        broken.chmod(0o755)
        later = Start(name="ghost", directory=outside, runtime="codex", prompt="count")
        assert isinstance(await cockpit.refused(later), ProgramMissing)
        assert [row.name for row in (await cockpit.client.status()).agents] == ["api"]


async def test_how_an_agent_ended_is_known_to_the_next_supervisor(cockpit: Cockpit) -> None:
    table = shell("sh", "-c", "echo no licence; exit 7")
    await cockpit.launch(f'[[agents]]\nname = "api"\n{table}')
    await cockpit.ask(Start(name="api"))
    await cockpit.until(lambda row: "ended with exit code 7. no licence" in (row.note or ""))
    cockpit.kill()
    await cockpit.launch(f'[[agents]]\nname = "api"\n{table}')
    row = await cockpit.row()
    assert row.state == "exited"
    assert "ended with exit code 7. no licence" in (row.note or "")


@pytest.mark.long
async def test_an_undo_that_is_refused_leaves_the_handoff_alone(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="prompt", steps=9, pause=4)):
        await cockpit.start()
        asked = await cockpit.until(lambda row: row.needs and row.needs.kind == "handoff")
        assert isinstance(await cockpit.refused(Undo(name="api")), NotNow)
        assert asked.handoff is not None
        after = await cockpit.row()
        assert after.handoff is not None
        assert after.handoff.id == asked.handoff.id


@pytest.mark.long
async def test_living_agents_are_found_again_when_the_database_is_lost(cockpit: Cockpit) -> None:
    table = cockpit.agent(mode="observe", steps=3)
    await cockpit.launch(table)
    await cockpit.start()
    before = await cockpit.until(lambda row: row.state == "done")
    cockpit.kill()
    database = Places.of(os.environ).database
    database.with_name("cockpit.db-wal").unlink(missing_ok=True)
    database.write_bytes(b"no database" * 1000)

    await cockpit.launch(table)
    row = await cockpit.until(lambda row: row.pid is not None)
    assert (row.pid, row.session_id) == (before.pid, before.session_id)
    assert await cockpit.event("agent.regained")
    assert await cockpit.event("store.put_aside")
    reading = await cockpit.until(lambda row: row.context.tokens is not None)
    assert reading.context.tokens == before.context.tokens
    await cockpit.ask(Stop(name="api"))
    assert not cockpit.living(before)


@pytest.mark.long
async def test_a_row_says_where_an_agent_works_and_what_for(cockpit: Cockpit) -> None:
    sub = cockpit.repository / "sub"
    sub.mkdir()
    (sub / "file").touch()
    for words in (["add", "."], ["commit", "-qm", "Add a folder"]):
        subprocess.run(["git", "-C", str(cockpit.repository), *words], check=True)
    table = cockpit.agent(mode="observe", steps=2, more='worktree.strategy = "git_worktree"')
    async with cockpit.flying(
        table.replace(str(cockpit.repository), str(sub)), cockpit.agent("two", "observe")
    ):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.state in ("idle", "done"))
        assert row.directory == f"{row.worktree}/sub"
        assert row.configured_directory == str(sub)
        assert row.goal == "Count the steps."
        # A session that this cockpit knows nothing of has its first prompt as its goal.
        await cockpit.ask(Stop(name="api"))
        supervisor = cockpit.supervisor
        assert supervisor is not None
        supervisor.fleet.forget(supervisor.fleet.agent("api"))
        cockpit.configure(cockpit.agent("two", "observe"))
        await cockpit.ask(Start(name="found", directory=row.directory, resume=row.session_id))
        found = await cockpit.until(lambda row: row.goal, "found")
        assert (found.goal or "").startswith("Count the steps.")
        reopened, store = SessionId(found.session_id or ""), supervisor.dependencies.store
        assert store.latched(reopened, EARLIER_COST) is not None


@pytest.mark.long
async def test_no_session_is_ended_while_no_pane_could_be_opened(
    cockpit: Cockpit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when cockpit is installed anew under a supervisor that runs."""

    async with cockpit.flying(cockpit.agent(steps=200, step_tokens=100, pace=0.1)):
        first = await cockpit.start()
    async with cockpit.flying():
        await cockpit.until(lambda row: row.activity)
        with monkeypatch.context() as broken:
            broken.setitem(sys.modules, "libtmux", None)
            broken.delitem(sys.modules, "cockpit.adapters.tmux.lifecycle", raising=False)
            await cockpit.ask(Handoff(name="api"))
            waits = await cockpit.until(lambda row: row.needs and row.needs.kind == "failed")
            assert waits.needs is not None
            assert "Cannot load libtmux" in waits.needs.detail
            assert (waits.pid, waits.session_id) == (first.pid, first.session_id)
            await cockpit.lives(waits, first)
        second = await cockpit.until(lambda row: row.handoffs == 1 and row.handoff is None)
        await cockpit.lives(second)


@pytest.mark.long
async def test_a_budget_that_is_reached_is_told_once_and_stops_nothing(cockpit: Cockpit) -> None:
    table = cockpit.agent(mode="observe", steps=12, more="[agents.limits]\ncost = 0.0001")
    async with cockpit.flying(table):
        await cockpit.start()
        crossed = await cockpit.event("budget.crossed")
        assert "of its $0.00 budget, and continues" in crossed.text
        done = await cockpit.until(lambda row: row.state == "done")
        assert done.over_budget
        assert done.budget_usd == 0.0001
        assert done.pid is not None
        assert done.needs is None
        assert len(await cockpit.events("budget.crossed")) == 1
        assert await cockpit.events("handoff.begun") == []


@pytest.mark.long
async def test_a_budget_of_the_day_is_told_once_over_restarts_and_in_the_status(
    cockpit: Cockpit,
) -> None:
    table = cockpit.agent(mode="observe", steps=12)
    limits = "[limits]\ncost_per_day = 0.0001"
    notify = '[notifications]\nurls = ["json://127.0.0.1:1/n"]\n'
    async with cockpit.flying(table, limits, notify) as supervisor:
        await cockpit.start()
        crossed = await cockpit.event("budget.day_crossed")
        assert crossed.agent is None
        assert "the daily budget is $0.00. The agents keep running" in crossed.text
        notices = OutgoingTable(supervisor.dependencies.store).all_of("notice")
        assert crossed.text in [notice.payload["text"] for notice in notices]
        done = await cockpit.until(lambda row: row.state == "done")
        assert done.pid is not None
        async with aclosing(cast("Any", cockpit.client.watch(day=True))) as lines:
            async for line in lines:
                if isinstance(line, DaySpent):
                    day = line
                    break
        assert (day.spent_today_usd, day.budget_today_usd) == (round(done.cost_usd or 0, 2), 0.0001)
        status = supervisor.status().supervisor
        assert (status.spent_today_usd, status.budget_today_usd) == (done.cost_usd, 0.0001)
    async with cockpit.flying() as supervisor:
        found = await cockpit.until(lambda row: row.cost_usd == done.cost_usd)
        status = supervisor.status().supervisor
        assert status.spent_today_usd == found.cost_usd
        assert len(await cockpit.events("budget.day_crossed")) == 1
