"""An agent that uses the `cockpit` on its PATH: it gets what is its own, and acts for nobody."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import shlex
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

import pytest

from cockpit.adapters.tmux.panes import Tmux
from cockpit.adapters.tmux.views import TmuxViews
from cockpit.config.file import read_config_file
from cockpit.config.trust import is_trusted
from cockpit.ports.panes import Launch
from cockpit.wire.verbs import Start
from tests.long_cases import cases

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux

OBEDIENT = """\
#!/bin/sh
exec 3<> {folder}/orders
while read -r number line <&3; do
  eval "$line" > {folder}/$number.out 2>&1 < /dev/null 3<&-
  echo $? > {folder}/$number.code.new
  mv {folder}/$number.code.new {folder}/$number.code
done
"""


class Answer(NamedTuple):
    code: int
    text: str


class Inside:
    """An agent, a program in a pane of cockpit's, that runs what it is told to."""

    def __init__(self, cockpit: Cockpit) -> None:
        self.folder = cockpit.home / "inside"
        self.folder.mkdir()
        os.mkfifo(self.folder / "orders")
        self.program = self.folder / "obedient"
        self.program.write_text(OBEDIENT.format(folder=self.folder))
        self.program.chmod(0o755)
        command = cockpit.home / "bin" / "cockpit"
        command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -P -m cockpit "$@"\n')
        command.chmod(0o755)
        self.number = 0

    def agent(self, cockpit: Cockpit, name: str = "inner", more: str = "") -> str:
        return (
            f'[[agents]]\nname = "{name}"\nruntime = "command"\n'
            f"command = {json.dumps([str(self.program)])}\n"
            f"directory = {json.dumps(str(cockpit.repository))}\n{more}\n"
        )

    async def run(self, line: str) -> Answer:
        """What a command line prints inside the agent, and its exit code."""
        self.number += 1
        number, code = self.number, self.folder / f"{self.number}.code"
        end = time.monotonic() + 120
        while not self._order(f"{number} {line}\n"):
            assert time.monotonic() < end, "the program reads no orders"
            await asyncio.sleep(0.03)
        while not code.exists():
            assert time.monotonic() < end, f"no answer to {line}"
            await asyncio.sleep(0.03)
        return Answer(int(code.read_text()), (self.folder / f"{number}.out").read_text())

    def _order(self, line: str) -> bool:
        """Write a line to the program; False if it does not read."""
        try:
            orders = os.open(self.folder / "orders", os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            return False
        with os.fdopen(orders, "w") as pipe:
            pipe.write(line)
        return True


REFUSED = [
    "cockpit approve api",
    "cockpit refuse api",
    "cockpit snooze api",
    "cockpit undo api",
    "cockpit stop api",
    "cockpit send api hello",
    "cockpit handoff api",
    "cockpit start api",
    "cockpit start inner2 --prompt x",
    "cockpit down",
    "cockpit down --agents",
    "cockpit up",
    "cockpit up --foreground",
    "cockpit init",
    "cockpit config trust {config}",
    "cockpit --config {config} start other",
    "cockpit --config {config} up",
    "cockpit continue {config}",
    "cockpit worktrees remove api",
    "cockpit serve --port 0",
    "cockpit hooks test ran after_run",
    "cockpit --config {config} hooks test ran after_run",
    "cockpit restart",
    "env -u COCKPIT_RUN -u COCKPIT_AGENT -u COCKPIT_SOCKET cockpit stop api",
    "env -u COCKPIT_RUN -u COCKPIT_AGENT -u COCKPIT_SOCKET cockpit config trust {config}",
    "env COCKPIT_RUN=hook-00 COCKPIT_HOOK=x cockpit stop api",
    "env -u COCKPIT_HOME XDG_RUNTIME_DIR={home}/inside cockpit config trust {config}",
    "env COCKPIT_SOCKET=/x COCKPIT_STATE=/x cockpit config trust {config}",
    "cockpit forget api",
    "cockpit rename api mine",
    "setsid -w cockpit stop api",
    "sh -c 'setsid -f cockpit stop api > {home}/inside/later 2>&1'",
]

ONE_OF_EACH_KIND = [
    "cockpit approve api",
    "cockpit stop api",
    "cockpit --config {config} up",
    "env -u COCKPIT_RUN -u COCKPIT_AGENT -u COCKPIT_SOCKET cockpit config trust {config}",
    "sh -c 'setsid -f cockpit stop api > {home}/inside/later 2>&1'",
]


@pytest.mark.parametrize("lines", cases(ONE_OF_EACH_KIND, long=[REFUSED]), ids=["some", "all"])
async def test_an_agent_does_nothing_for_its_user(cockpit: Cockpit, lines: list[str]) -> None:
    inside = Inside(cockpit)

    async with cockpit.flying(
        cockpit.agent(mode="prompt", steps=3, step_tokens=1_000), inside.agent(cockpit)
    ) as supervisor:
        await cockpit.start()
        await cockpit.start("inner")
        planted = cockpit.home / "planted.toml"
        planted.write_text('[[agents]]\nname = "other"\npermission_mode = "bypassPermissions"\n')
        planted.chmod(0o600)
        for line in lines:
            asked = line.format(config=planted, home=cockpit.home)
            before = len(await cockpit.events("verb.refused"))
            answer = await inside.run(asked)
            if "setsid -f" in line:
                await cockpit.event("verb.refused", number=before + 1)
                continue
            assert answer.code == 5, (asked, answer)
            assert "Refused: " in answer.text, (asked, answer)
            assert "the user" in answer.text, (asked, answer)
        assert (await cockpit.row("api")).pid is not None
        assert {agent.name for agent in supervisor.fleet} == {"api", "inner"}
        assert not is_trusted(cockpit.places, read_config_file(planted, follow_links=True))
        told = await cockpit.events("verb.refused")
        assert {event.data["by"]["kind"] for event in told} == {"agent"}
        assert {event.data["by"]["name"] for event in told} == {"inner"}


THROUGH_TMUX = ["run-shell {0}", "new-window -d {0}", "split-window -d -t %0 {0}"]


@pytest.mark.long
async def test_an_agent_that_has_our_tmux_start_a_command_does_nothing_for_its_user(
    cockpit: Cockpit,
) -> None:
    inside = Inside(cockpit)
    kept = " ".join(
        f"{name}={shlex.quote(os.environ[name])}" for name in os.environ if name != "COCKPIT_RUN"
    )

    async def through_tmux(how: str, command: str) -> Answer:
        said = inside.folder / f"tmux-{len(list(inside.folder.iterdir()))}"
        script = said.with_suffix(".sh")
        script.write_text(
            f"exec env -i {kept} sh -c '{command} > {said} 2>&1;"
            f" echo $? > {said}.new; mv {said}.new {said}.code'\n"
        )
        started = shlex.quote(f"sh {script} --in-home-window")
        line = how.format(started)
        await inside.run(f"tmux -S {cockpit.places.tmux_socket} {line}")
        code = said.with_suffix(".code")
        end = time.monotonic() + 120
        while not code.exists():
            assert time.monotonic() < end, f"no answer to {line}"
            await asyncio.sleep(0.03)
        return Answer(int(code.read_text()), said.read_text())

    async with cockpit.flying(
        cockpit.agent(mode="prompt", steps=3, step_tokens=1_000), inside.agent(cockpit)
    ):
        await cockpit.start()
        await cockpit.start("inner")
        config = cockpit.config
        for how in THROUGH_TMUX:
            for command in ("stop api", "send api x", "down", f"config trust {config}"):
                answer = await through_tmux(how, f"cockpit {command}")
                assert answer.code == 5, (how, command, answer)
                assert "Refused: " in answer.text
        line = f"env -u COCKPIT_HOME XDG_RUNTIME_DIR={cockpit.home} cockpit config trust"
        answer = await through_tmux(THROUGH_TMUX[0], f"{line} {config}")
        assert answer.code == 5, answer
        assert "own tmux server" in answer.text
        # The marks of a hook, put on by hand, do not help.
        marks = f"COCKPIT_RUN=hook-00 COCKPIT_SOCKET={cockpit.places.socket}"
        answer = await through_tmux(THROUGH_TMUX[0], f"env {marks} cockpit stop api")
        assert answer.code == 5, answer
        assert (await cockpit.row("api")).pid is not None
        told = await cockpit.events("verb.refused")
        assert {event.data["by"]["kind"] for event in told} == {"agent"}
        # What runs in the home window is the screen's, which is the user's.
        script = cockpit.home / "screen.sh"
        script.write_text(f"env -i {kept} cockpit stop api > {script}.out 2>&1; exec sleep 1000\n")
        panes = cockpit.supervisor.dependencies.panes if cockpit.supervisor else None
        assert isinstance(panes, Tmux)
        await TmuxViews(panes).open_home(
            Launch(["/bin/sh", str(script)], cockpit.repository.resolve(), dict(os.environ))
        )
        await cockpit.until(lambda row: row.pid is None)


async def test_an_agent_looks_at_itself_and_sees_of_the_others_only_who_there_is(
    cockpit: Cockpit,
) -> None:
    inside = Inside(cockpit)

    async with cockpit.flying(
        cockpit.agent(mode="prompt", steps=3, step_tokens=1_000), inside.agent(cockpit)
    ):
        await cockpit.start()
        own = await cockpit.start("inner")
        status = json.loads((await inside.run("cockpit status --json")).text)
        seen = {agent["name"]: agent for agent in status["agents"]}
        assert seen["inner"]["pid"] == own.pid
        assert seen["api"]["pid"] is None
        assert seen["api"]["directory"] == ""
        assert status["supervisor"]["spent_today_usd"] is None
        events = (await inside.run("cockpit events --json")).text.splitlines()
        assert {json.loads(line)["agent"] for line in events} == {"inner"}
        assert (await inside.run("cockpit history inner")).code == 0
        assert (await inside.run("cockpit history api")).code == 5
        assert (await inside.run("cockpit facts inner")).code != 5


@pytest.mark.long
async def test_what_the_user_allows_an_agent_it_may_do_and_no_more(cockpit: Cockpit) -> None:
    inside = Inside(cockpit)
    may = '[agents.may]\nothers = ["stop", "start"]\n'

    async with cockpit.flying(
        cockpit.agent(mode="prompt", steps=3, step_tokens=1_000),
        inside.agent(cockpit, more=may),
    ):
        await cockpit.start()
        await cockpit.start("inner")
        answer = await inside.run("cockpit stop api")
        assert answer.code == 0, answer
        (event,) = [
            event for event in await cockpit.events("verb.asked") if event.data["verb"] == "stop"
        ]
        assert (event.agent, event.text) == ("api", "stop requested by agent inner")
        assert (await inside.run("cockpit send api x")).code == 5
        assert (await inside.run("cockpit start api")).code == 0
        # A file that an agent names is not trusted, nor even read.
        planted = cockpit.home / "planted.toml"
        planted.write_text('[[agents]]\nname = "other"\nruntime = "command"\ncommand = ["id"]\n')
        planted.chmod(0o600)
        await inside.run(f"cockpit --config {planted} start other")
        assert not is_trusted(cockpit.places, read_config_file(planted, follow_links=True))
        assert all(row.runtime == "claude" for row in [await cockpit.row("other")])


@pytest.mark.long
async def test_a_handoff_that_an_agent_asks_for_passes_the_limits_of_the_other(
    cockpit: Cockpit,
) -> None:
    inside = Inside(cockpit)
    may = '[agents.may]\nothers = ["handoff"]\n'
    limits = '[agents.handoff]\nwriters = ["facts"]\nmax_per_job = 1\ncooldown = "0s"\n'
    private = cockpit.home / "private.md"
    private.write_text("# Handoff\n")

    async with cockpit.flying(
        cockpit.agent(steps=90, step_tokens=100, pace=0.2, more=limits),
        inside.agent(cockpit, more=may),
    ):
        await cockpit.start()
        await cockpit.start("inner")
        foreign = await inside.run(f"cockpit handoff api --document {private}")
        assert foreign.code != 0
        assert (await inside.run("cockpit handoff api")).code == 0
        assert (await cockpit.event("handoff.begun")).data["reason"] == "agent"
        await cockpit.until(lambda row: row.handoffs == 1 and row.handoff is None)
        again = await inside.run("cockpit handoff api")
        asked = await cockpit.until(lambda row: row.needs)
        assert asked.needs is not None
        assert (asked.handoffs, asked.needs.kind) == (1, "handoff"), again


@pytest.mark.long
async def test_who_asked_is_written_down(cockpit: Cockpit) -> None:
    inside = Inside(cockpit)

    async with cockpit.flying(inside.agent(cockpit)):
        await cockpit.ask(Start(name="inner", config=str(cockpit.config), named=True))
        # From a terminal of its own, and through what ssh runs on a host.
        command = f"{sys.executable} -P -m cockpit stop inner"
        done = await asyncio.create_subprocess_exec(
            "script",
            "-qec",
            command,
            "/dev/null",
            stdout=asyncio.subprocess.PIPE,
            stdin=asyncio.subprocess.DEVNULL,
        )
        await done.communicate()
        asked = await cockpit.events("verb.asked")
        assert [event.data["verb"] for event in asked] == ["start", "stop"]
        assert asked[1].data["by"]["kind"] == "user"
        terminal = asked[1].data["by"]["terminal"]
        assert terminal.startswith("pts/")
        assert asked[1].text == f"stop requested by you on {terminal}"
        far = {**os.environ, "SSH_CONNECTION": "10.0.0.3 50000 10.0.0.4 22"}
        body = b'{"name": "inner"}'
        request = b"POST /v1/stop HTTP/1.0\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (
            len(body),
            body,
        )
        dial = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            "cockpit",
            "dial-stdio",
            env=far,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        said, _ = await dial.communicate(request)
        assert b" 200 " in said
        assert "from 10.0.0.3" in (await cockpit.events("verb.asked"))[2].text
