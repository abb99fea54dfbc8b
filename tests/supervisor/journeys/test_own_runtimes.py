"""The agents of the page on own runtimes, as the page has them, under a real supervisor."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import cockpit as package
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Approve, Handoff, Send, Start, Stop, Undo

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

PAGE = Path(package.__file__).parent / "docs" / "own-runtimes.md"
SLOW = 120.0

pytestmark = pytest.mark.tmux


def example(name: str) -> str:
    """A file of the page."""
    found = re.search(
        rf"<!-- file: {re.escape(name)} -->\n```\w+\n(.*?)```\n", PAGE.read_text(), re.DOTALL
    )
    assert found, f"the page has no file {name}"
    return found[1]


def install(cockpit: Cockpit, name: str) -> Path:
    """Save a program of the page where the page says it is."""
    path = cockpit.home / "bin" / name
    path.write_text(example(name))
    return path


def table(cockpit: Cockpit, more: str = "", *, runtime: str = "cockpit.toml") -> str:
    """The page's configuration, for this cockpit's folders."""
    texts = cockpit.home / "texts"
    texts.mkdir(exist_ok=True)
    (texts / "one.txt").write_text("x" * 4000)
    (texts / "two.txt").write_text("x" * 8000)
    own = example(runtime).replace("{home}", str(cockpit.home)).replace("~", str(cockpit.home))
    mode = "permission_mode = ''\n" if "[[agents]]" in own else ""
    return own + mode + more


def told(row: AgentStatus) -> list[dict[str, Any]]:
    """The lines of the session's record."""
    assert row.transcript
    return [json.loads(line) for line in Path(row.transcript).read_text().splitlines()]


def last_tokens(row: AgentStatus) -> int:
    usages = [line["usage"] for line in told(row) if "usage" in line]
    return int(usages[-1]["input"] + usages[-1]["cache_read"])


def swapped(row: AgentStatus) -> bool:
    return row.handoffs == 1 and row.handoff is None and row.state == "idle"


async def test_the_bar_moves_with_the_numbers_of_the_record(cockpit: Cockpit) -> None:
    install(cockpit, "agent.py")
    async with cockpit.flying(table(cockpit)):
        await cockpit.start("reader")
        row = await cockpit.until(lambda row: row.state == "idle", "reader", within=SLOW)
        assert row.context.tokens == last_tokens(row) >= 3000
        assert (row.context.window, row.context.confidence) == (100_000, "reported")
        assert (row.runtime, row.model) == ("inhouse", "none-1")
        first = row.context.tokens
        await cockpit.ask(Send(name="reader", text="Read them again.\nAll of them."))
        row = await cockpit.until(
            lambda row: row.state == "idle" and (row.context.tokens or 0) > first, "reader"
        )
        assert row.context.tokens == last_tokens(row)
        prompts = [line["prompt"] for line in told(row) if "prompt" in line]
        assert prompts[-1] == "Read them again.\nAll of them."
        assert prompts[0].startswith("Read every file.")


async def test_the_act_threshold_hands_the_job_to_a_session_that_reads_the_document_and_back(
    cockpit: Cockpit,
) -> None:
    install(cockpit, "agent.py")
    marks = '[agents.context]\nnotice = "1k"\nwarn = "2k"\nact = "5k"\nforce = "50k"\n'
    async with cockpit.flying(table(cockpit, 'mode = "auto"\n' + marks)):
        first = await cockpit.start("reader")
        await cockpit.until(lambda row: row.state == "idle", "reader", within=SLOW)
        await cockpit.ask(Send(name="reader", text="Once more."))
        second = await cockpit.until(swapped, "reader", within=SLOW)
        assert (second.pane, second.directory) == (first.pane, first.directory)
        assert second.pid != first.pid
        assert (await cockpit.event("handoff.document")).data["writer"] == "agent"
        (chain,) = await cockpit.client.history("reader")
        assert [each.state for each in chain.sessions] == ["handed_off", "live"]
        document = str(chain.sessions[0].document)
        assert "Texts read so far" in Path(document).read_text()
        calls = [line["tool"]["input"]["file_path"] for line in told(second) if "tool" in line]
        assert calls[0] == document
        await cockpit.ask(Undo(name="reader"))
        back = await cockpit.until(
            lambda row: row.session_id == chain.sessions[0].id and row.pid, "reader"
        )
        assert back.transcript == str(chain.sessions[0].transcript)
        await cockpit.until(lambda row: row.context.tokens, "reader")


@pytest.mark.long
async def test_a_job_of_another_cli_is_moved_to_it_after_a_question(cockpit: Cockpit) -> None:
    install(cockpit, "agent.py")
    more = cockpit.agent("api", "prompt", prompt="Count the steps.", steps=1)
    async with cockpit.flying(table(cockpit, more)):
        await cockpit.start("api")
        row = await cockpit.until(lambda row: row.state == "idle")
        assert row.custom_runtimes == ["inhouse"]
        await cockpit.ask(Handoff(name="api", to="inhouse"))
        row = await cockpit.until(lambda row: row.needs and row.needs.kind == "handoff")
        await cockpit.ask(Approve(name="api", straight=True))
        row = await cockpit.until(swapped, within=SLOW)
        assert (row.runtime, row.custom_runtimes) == ("inhouse", [])
        (chain,) = await cockpit.client.history("api")
        calls = [line["tool"]["input"]["file_path"] for line in told(row) if "tool" in line]
        assert calls[0] == str(chain.sessions[0].document)


async def test_a_readers_answers_move_the_bar_and_its_faults_are_told(cockpit: Cockpit) -> None:
    install(cockpit, "reader.py")
    program = cockpit.home / "bin" / "logged-agent"
    program.write_text(LOGGED)
    program.chmod(0o755)
    async with cockpit.flying(table(cockpit, LOG_AGENT, runtime="reader.toml")):
        await cockpit.start("log")
        row = await cockpit.until(lambda row: row.state == "idle", "log", within=SLOW)
        assert (row.context.tokens, row.context.window) == (31_000, 50_000)
        assert [line["prompt"] for line in told(row) if "prompt" in line] == ["Log it."]
        cockpit.tmux("send-keys", "-t", row.pane or "", "bad", "Enter")
        row = await cockpit.until(lambda row: row.note, "log", within=SLOW)
        assert str(row.note).startswith(
            "cockpit ignored 1 line of the transcript: usage.input: expected"
        )
        assert row.context.tokens is None


@pytest.mark.long
async def test_a_reader_that_ends_is_told_and_its_agent_goes_on(cockpit: Cockpit) -> None:
    (cockpit.home / "bin" / "reader.py").write_text("raise SystemExit(7)")
    program = cockpit.home / "bin" / "logged-agent"
    program.write_text(LOGGED)
    program.chmod(0o755)
    async with cockpit.flying(table(cockpit, LOG_AGENT, runtime="reader.toml")):
        await cockpit.start("log")
        row = await cockpit.until(lambda row: row.note, "log", within=SLOW)
        assert "the reader exited with code 7" in str(row.note)
        assert row.pid
        refused = await cockpit.refused(Send(name="log", text="x"))
        assert "does not accept prompts in its pane" in refused.title


async def test_an_agent_is_found_again_without_its_runtime_in_the_file(cockpit: Cockpit) -> None:
    install(cockpit, "agent.py")
    async with cockpit.flying(table(cockpit)):
        await cockpit.start("reader")
        before = await cockpit.until(lambda row: row.state == "idle", "reader", within=SLOW)
    async with cockpit.flying("[[agents]]\nname = 'other'\n"):
        after = await cockpit.until(lambda row: row.state == "idle", "reader", within=SLOW)
        assert (after.pid, after.context.tokens) == (before.pid, before.context.tokens)
        refused = await cockpit.refused(
            Start(name="new", runtime="inhouse", directory=str(cockpit.repository))
        )
        assert "there is no runtime 'inhouse'" in refused.title


@pytest.mark.long
async def test_a_package_that_cannot_be_loaded_stops_nobody_else(
    cockpit: Cockpit, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = cockpit.home / "site" / "brought-1.2.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: brought\nVersion: 1.2\n")
    (folder / "entry_points.txt").write_text("[cockpit.runtimes]\nbrought = no_such_module:make\n")
    monkeypatch.syspath_prepend(str(cockpit.home / "site"))
    lost = f"[[agents]]\nname = 'lost'\nruntime = 'brought'\ndirectory = '{cockpit.repository}'\n"
    install(cockpit, "agent.py")
    async with cockpit.flying(table(cockpit), lost):
        refused = await cockpit.refused(Start(name="lost", config=str(cockpit.config), named=True))
        assert 'Cannot load the runtime "brought" from brought 1.2' in refused.title
        assert "No module named" in refused.detail
        await cockpit.start("reader")
        row = await cockpit.until(lambda row: row.state == "idle", "reader", within=SLOW)
        assert row.custom_runtimes == ["brought"]


@pytest.mark.long
async def test_a_program_is_ended_by_the_signal_that_its_table_names(cockpit: Cockpit) -> None:
    program = cockpit.home / "bin" / "saves"
    program.write_text(SAVES)
    program.chmod(0o755)
    saved = cockpit.home / "saved"
    tables = (
        f"[runtimes.saves]\nprogram = ['{program}', '{saved}']\nsession = ['{{session}}']\n"
        "end_signal = 'INT'\n[[agents]]\nname = 'saver'\nruntime = 'saves'\n"
        "permission_mode = ''\n"
    )
    async with cockpit.flying(tables):
        row = await cockpit.start("saver")
        await cockpit.until(lambda _: saved.exists(), "saver", within=SLOW)
        await cockpit.ask(Stop(name="saver"))
        assert cockpit.living(row) == []
        assert saved.read_text() == "ready, saved"


def talker(cockpit: Cockpit, more: str = "", *, prompt: str = "Count\nto three.") -> str:
    """A program that takes prompts in its terminal only, and ends by a word."""
    program = cockpit.home / "bin" / "talker"
    program.write_text(TALKER)
    program.chmod(0o755)
    job = f"prompt = {json.dumps(prompt)}\n" if prompt else ""
    return (
        f"[runtimes.talker]\nprogram = ['{program}']\narguments = ['{{record}}']\n"
        "record = '{state}/{session}.jsonl'\ntakes_paste = true\nready = '>>> '\n"
        "end_keys = ['bye', 'Enter']\n[[agents]]\nname = 'talk'\nruntime = 'talker'\n"
        f"permission_mode = ''\ndirectory = {json.dumps(str(cockpit.repository))}\n{job}{more}"
    )


def prompts_of(row: AgentStatus) -> list[str]:
    return [line["prompt"] for line in told(row) if "prompt" in line]


async def test_a_first_prompt_is_pasted_when_the_program_is_ready(cockpit: Cockpit) -> None:
    async with cockpit.flying(talker(cockpit)):
        started = await cockpit.start("talk")
        row = await cockpit.until(lambda row: row.state == "idle", "talk", within=SLOW)
        (given,) = prompts_of(row)
        assert given.startswith("Count\nto three.\n")
        assert row.note is None
        words = Path(f"/proc/{started.pid}/cmdline").read_bytes()
        assert b"three" not in words
        await cockpit.ask(Stop(name="talk"))
        assert cockpit.living(row) == []
        assert told(row)[-1]["said"] == "Bye."


@pytest.mark.long
async def test_a_first_prompt_waits_for_a_program_that_is_not_ready_also_over_a_restart(
    cockpit: Cockpit,
) -> None:
    slow = "env = { WAITS_FOR = '%s' }\n" % (cockpit.home / "go")
    await cockpit.launch(talker(cockpit, slow))
    await cockpit.start("talk")
    before = await cockpit.until(lambda row: row.pid, "talk", within=SLOW)
    cockpit.kill()
    await cockpit.launch()
    again = await cockpit.until(lambda row: row.pid, "talk", within=SLOW)
    assert again.pid == before.pid
    (cockpit.home / "go").touch()
    row = await cockpit.until(lambda row: row.state == "idle", "talk", within=SLOW)
    (given,) = prompts_of(row)
    assert given.startswith("Count\nto three.\n")


@pytest.mark.long
async def test_a_supervisor_that_ended_while_pasting_does_not_paste_again(
    cockpit: Cockpit,
) -> None:
    slow = "env = { WAITS_FOR = '%s' }\n" % (cockpit.home / "go")
    await cockpit.launch(talker(cockpit, slow))
    await cockpit.start("talk")
    (file,) = cockpit.places.prompts.glob("*/paste.md")
    cockpit.kill()
    file.rename(file.with_name("pasted.md"))  # as begin_paste leaves it
    await cockpit.launch()
    (cockpit.home / "go").touch()
    row = await cockpit.until(lambda row: row.note, "talk", within=SLOW)
    assert "restarted while it pasted the first prompt" in str(row.note)
    cockpit.tmux("send-keys", "-t", row.pane or "", "Go", "Enter")
    row = await cockpit.until(lambda row: row.note is None, "talk", within=SLOW)
    assert prompts_of(row) == ["Go"]


@pytest.mark.long
async def test_a_job_of_another_cli_is_moved_to_a_program_that_is_only_typed_into(
    cockpit: Cockpit,
) -> None:
    other = cockpit.agent("api", "prompt", prompt="Count the steps.", steps=1)
    async with cockpit.flying(talker(cockpit, prompt=""), other):
        await cockpit.start("api")
        await cockpit.until(lambda row: row.state == "idle")
        await cockpit.ask(Handoff(name="api", to="talker"))
        await cockpit.until(lambda row: row.needs and row.needs.kind == "handoff")
        await cockpit.ask(Approve(name="api", straight=True))
        row = await cockpit.until(swapped, within=SLOW)
        assert row.runtime == "talker"
        (chain,) = await cockpit.client.history("api")
        calls = [line["tool"]["input"]["file_path"] for line in told(row) if "tool" in line]
        assert calls == [str(chain.sessions[0].document)]


TALKER = """\
#!/usr/bin/env python3
import json, os, pathlib, re, sys, time
record = open(sys.argv[1], "a", buffering=1)

def tell(**line):
    print(json.dumps(line), file=record)

tell(record="cockpit/1", window=50000)
while (go := os.environ.get("WAITS_FOR")) and not os.path.exists(go):
    time.sleep(0.05)
print("\\x1b[?2004h>>> ", end="", flush=True)
for line in sys.stdin:
    while "\\x1b[200~" in line and "\\x1b[201~" not in line:
        line += sys.stdin.readline()
    text = re.sub(r"\\x1b\\[20[01]~", "", line).strip()
    if text == "bye":
        tell(said="Bye.")
        break
    tell(turn="begin", prompt=text)
    for path in re.findall(r"/\\S+\\.md", text)[:1]:
        if os.path.exists(path):
            tell(tool={"id": path, "name": "Read", "input": {"file_path": path}})
            tell(result={"id": path})
    tell(usage={"input": 1000}, said="Done.")
    tell(turn="end")
    print(">>> ", end="", flush=True)
"""
SAVES = """\
#!/usr/bin/env python3
import signal, sys

def save(*_):
    out.write(", saved")
    sys.exit()

signal.signal(signal.SIGTERM, lambda *_: sys.exit())
signal.signal(signal.SIGINT, save)
with open(sys.argv[1], "w") as out:
    out.write("ready")
    out.flush()
    while True:
        signal.pause()
"""
LOG_AGENT = """
[[agents]]
name = "log"
runtime = "logged"
prompt = "Log it."
permission_mode = ""
"""
LOGGED = """\
#!/usr/bin/env python3
import json, sys
log = open(sys.argv[2], "a")

def tell(**line):
    log.write(json.dumps(line) + "\\n")
    log.flush()

tell(kind="begin")
tell(kind="text", by="prompt", text=sys.argv[4].split("\\n")[0])
tell(kind="request", tokens=31000)
tell(kind="text", by="said", text="Done.")
tell(kind="end")
for line in sys.stdin:
    tell(kind="request", tokens=line.strip())
"""
