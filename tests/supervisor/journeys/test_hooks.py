"""Hooks beside whole handoffs: told of everything, asked at the act mark, never waited for."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cockpit.core.hook_events import EVENTS, setting_of
from cockpit.core.hook_payload import SCHEMA
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Approve, Handoff, Start, Stop
from tests.long_cases import cases

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux


def swapped(row: AgentStatus) -> bool:
    return row.handoffs == 1 and row.handoff is None


def program(home: Path, name: str, body: str) -> str:
    path = home / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def hook(event: str, command: list[str], **more: object) -> str:
    """A shell hook of an agent, as a table."""
    lines = [f"{key} = {json.dumps(value)}" for key, value in more.items()]
    table = f"[[agents.hooks.{setting_of(event)}]]"
    return "\n".join([table, 'type = "shell"', f"command = {json.dumps(command)}", *lines, ""])


def recorder(home: Path) -> str:
    """A program that adds what it is told to `seen`, in one go."""
    return program(home, "record", f'read -r line; printf "%s\\n" "$line" >> {home}/seen')


def seen(home: Path, event: str = "") -> list[dict[str, Any]]:
    path = home / "seen"
    told = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return [each for each in told if not event or each["hook_event_name"] == event]


async def until_seen(cockpit: Cockpit, event: str, number: int = 1) -> dict[str, Any]:
    end = time.monotonic() + 60
    while len(found := seen(cockpit.home, event)) < number:
        assert time.monotonic() < end, (
            f"no {event} in {[x['hook_event_name'] for x in seen(cockpit.home)]}"
        )
        await asyncio.sleep(0.03)
    return found[number - 1]


async def test_every_event_of_a_whole_handoff_is_told_with_its_facts(cockpit: Cockpit) -> None:
    record = recorder(cockpit.home)
    hooks = "".join(hook(event, [record]) for event in EVENTS)

    async with cockpit.flying(cockpit.agent(steps=30, pause=3, prompt="Count them.", more=hooks)):
        first = await cockpit.start()
        second = await cockpit.until(swapped)
        await until_seen(cockpit, "handoff_complete")
        await cockpit.ask(Stop(name="api"))
        await until_seen(cockpit, "after_run")

        (begun,) = [one for one in seen(cockpit.home, "session_start") if not one["handoff"]]
        assert begun["session"]["session_id"] == first.session_id
        assert begun["session"]["is_continuation"] is False
        assert begun["session"]["handoff_count"] == 0
        assert begun["original_prompt"] == "Count them."
        assert "Count them." in begun["prompt"]

        threshold = seen(cockpit.home, "context_threshold")[0]
        assert threshold["context"]["usage_percent"] >= 70
        assert threshold["context"]["input_tokens"] >= 140_000
        assert threshold["session"]["session_id"] == first.session_id

        (start,) = seen(cockpit.home, "handoff_start")
        assert start["handoff"]["old_session_id"] == first.session_id
        (paper,) = seen(cockpit.home, "handoff_document")
        assert Path(paper["handoff"]["document"]).is_file()
        (done,) = seen(cockpit.home, "handoff_complete")
        assert done["handoff"]["handoff_number"] == 1
        assert done["handoff"]["new_session_id"] == second.session_id
        assert done["session"]["session_id"] == second.session_id
        again = seen(cockpit.home, "session_start")[1]
        assert again["session"]["previous_session_id"] == first.session_id
        assert again["session"]["handoff_count"] == 1
        assert seen(cockpit.home, "after_run")[0]["outcome"] == "stopped"

        for told in seen(cockpit.home):
            assert set(SCHEMA["required"]) == set(told)
            assert set(SCHEMA["properties"]["session"]["required"]) == set(told["session"])
            assert told["cwd"] == told["repo_root"] == str(cockpit.repository)
            assert told["worktree"] is None


@pytest.mark.long
async def test_a_session_that_was_cleared_by_hand_is_told_too(cockpit: Cockpit) -> None:
    table = hook("session_start", [recorder(cockpit.home)])

    async with cockpit.flying(
        cockpit.agent(mode="observe", steps=9, pause=3, step_tokens=100, more=table)
    ):
        first = await cockpit.start()
        row = await cockpit.until(lambda row: row.state == "idle")
        assert row.pane is not None
        cockpit.tmux("send-keys", "-t", row.pane, "-l", "/clear")
        cockpit.tmux("send-keys", "-t", row.pane, "Enter")
        told = await until_seen(cockpit, "session_start", number=2)
        assert told["session"]["previous_session_id"] == first.session_id
        assert told["session"]["session_id"] == (await cockpit.row()).session_id
        assert told["prompt"] is None


@pytest.mark.long
async def test_what_a_start_hook_prints_goes_before_the_prompt(cockpit: Cockpit) -> None:
    load = program(cockpit.home, "load", "echo 'Mind the gap.'; echo aside >&2")
    flood = program(cockpit.home, "flood", "yes | head -c 50000")
    hooks = hook("session_start", [load]) + hook("session_start", [flood])

    async with cockpit.flying(cockpit.agent(steps=2, prompt="Count them.", more=hooks)):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.transcript and row.context.tokens)
        prompt = cockpit.prompts(row)[0]
        assert prompt.startswith("Mind the gap.\n")
        assert "Count them." in prompt
        assert "aside" not in prompt
        assert len(prompt) < 11_000


@pytest.mark.parametrize(
    "body",
    cases(
        "setsid sleep 600 & exit 0",
        long=(
            "exec head -c 1000000000 /dev/zero",
            "sleep 600",
            "trap '' TERM; while :; do sleep 0.05; done",
            "exit 137",
        ),
    ),
    ids=["forks", "1 GB", "hangs", "ignores TERM", "137"],
)
async def test_bad_hooks_cost_the_handoff_nothing_and_are_told(cockpit: Cockpit, body: str) -> None:
    bad = program(cockpit.home, "bad", body)
    missing = str(cockpit.home / "missing")
    hooks = "".join(
        hook(event, [bad], name="bad", timeout="1s") for event in EVENTS if event != "session_start"
    ) + hook("handoff_complete", [missing], name="missing")

    async with cockpit.flying(cockpit.agent(steps=30, pause=3, more=hooks)):
        await cockpit.start()
        await cockpit.until(swapped)
        row = await cockpit.until(lambda row: row.note and "hook missing" in row.note)
        assert row.note is not None
        assert "the program does not exist" in row.note
        failed = await cockpit.events("hook.failed")
        if body.startswith(("sleep", "trap")):
            assert any("timed out (1 s)" in each.text for each in failed)
        if body == "exit 137":
            assert any(each.data["exit_code"] == 137 for each in failed)
        kept = list((cockpit.places.logs / "hooks").glob("*.log"))
        assert kept
        assert all(path.stat().st_size < 200_000 for path in kept)
        assert all(path.stat().st_mode & 0o777 == 0o600 for path in kept)


@pytest.mark.long
async def test_continue_leaves_it_to_the_compaction(cockpit: Cockpit) -> None:
    say = program(cockpit.home, "say", """echo thinking; echo '{"decision": "continue"}'""")

    agent = cockpit.agent(steps=30, pace=0.3, more=hook("context_threshold", [say], name="say"))
    async with cockpit.flying(agent):
        await cockpit.start()
        decided = await cockpit.event("hook.decided")
        assert decided.data["decision"] == "continue"
        await cockpit.event("agent.compacted")
        assert await cockpit.events("handoff.begun") == [] or (
            (await cockpit.events("handoff.begun"))[0].id
            > (await cockpit.events("agent.compacted"))[0].id
        )


@pytest.mark.parametrize(
    ("second", "consequence"),
    [
        ("cat >/dev/null", "the built-in handoff follows the agent's mode"),
        ("""echo '{"decision": "continue"}'""", "hook second decides"),
    ],
    ids=["alone", "then another decides"],
)
async def test_an_invalid_decision_is_no_decision(
    cockpit: Cockpit, second: str, consequence: str
) -> None:
    first = program(cockpit.home, "first", """echo '{"decision": "later"}'""")
    hooks = hook("context_threshold", [first], name="first") + hook(
        "context_threshold", [program(cockpit.home, "second", second)], name="second"
    )
    async with cockpit.flying(cockpit.agent(mode="observe", steps=9, more=hooks)):
        await cockpit.start()
        event = await cockpit.event("hook.decided")
        assert event.text == (
            "The output of hook first of api is not valid (the decision is not one of continue, "
            f"handoff, abort): {consequence}"
        )


@pytest.mark.long
async def test_abort_swaps_now_without_a_review(cockpit: Cockpit) -> None:
    say = program(cockpit.home, "say", """echo '{"decision": "abort"}'""")

    hooks = hook("context_threshold", [say])
    async with cockpit.flying(cockpit.agent(mode="prompt", steps=30, pause=3, more=hooks)):
        first = await cockpit.start()
        second = await cockpit.until(swapped)
        assert second.previous_session_id == first.session_id
        kinds = {each.kind for each in await cockpit.events()}
        assert "handoff.asked" not in kinds
        assert "handoff.review" not in kinds


async def test_a_hook_that_replaces_does_the_whole_job(cockpit: Cockpit) -> None:
    """The founding example: a script of one's own, and `cockpit handoff` for the built-in."""
    nothing = program(cockpit.home, "nothing", "cat >/dev/null")

    hooks = hook("context_threshold", [nothing], mode="replace")
    async with cockpit.flying(cockpit.agent(steps=3, more=hooks)):
        await cockpit.start()
        decided = await cockpit.event("hook.decided")
        assert decided.data["decision"] == "continue"
        await cockpit.until(lambda row: row.state in {"idle", "done"})
        assert await cockpit.events("handoff.begun") == []


@pytest.mark.long
async def test_a_replacing_hook_that_fails_leaves_it_to_the_built_in(cockpit: Cockpit) -> None:
    hooks = hook("context_threshold", [str(cockpit.home / "no")], mode="replace")
    async with cockpit.flying(cockpit.agent(steps=30, pause=3, more=hooks)):
        await cockpit.start()
        await cockpit.until(swapped)


@pytest.mark.long
async def test_filters_order_and_a_failure_that_ends_it(cockpit: Cockpit) -> None:
    note = program(cockpit.home, "note", f'echo "$1" >> {cockpit.home}/order; exit "$2"')
    event = "handoff_start"
    hooks = "".join(
        [
            hook(event, [note, "one", "0"]),
            hook(event, [note, "other", "0"], on_events=["session_start"]),
            hook(event, [note, "continued", "0"], when="session.is_continuation"),
            hook(event, [note, "two", "3"], on_events=["on_handoff_start"]),
            hook(event, [note, "three", "3"], continue_on_error=False),
            hook(event, [note, "never", "0"]),
        ]
    )

    async with cockpit.flying(cockpit.agent(steps=30, pause=3, more=hooks)):
        await cockpit.start()
        await cockpit.until(swapped)
        await cockpit.event("hook.failed", number=2)
        assert (cockpit.home / "order").read_text().split() == ["one", "two", "three"]


@pytest.mark.long
@pytest.mark.parametrize("code", ["0", "3"])
async def test_what_would_be_sent_after_a_failure_that_ends_it_is_not_sent(
    cockpit: Cockpit, code: str
) -> None:
    gate = hook("handoff_start", ["sh", "-c", f"exit {code}"], continue_on_error=False)
    sent = (
        "[[agents.hooks.on_handoff_start]]\n"
        'type = "webhook"\nurl = "http://127.0.0.1:9/"\nname = "sent"\n'
    )

    async with cockpit.flying(cockpit.agent(steps=30, pause=3, more=gate + sent)):
        await cockpit.start()
        await cockpit.until(swapped)
        await cockpit.event("hook.ran" if code == "0" else "hook.failed")
        if code == "0":
            assert (await cockpit.event("hook.undelivered")).data["hook"] == "sent"
        await asyncio.sleep(1)
        assert len(await cockpit.events("hook.undelivered")) == (code == "0")


@pytest.mark.long
async def test_a_failure_stays_on_the_row_until_that_hook_goes_well(cockpit: Cockpit) -> None:
    hooks = hook("handoff_start", ["false"], name="bad") + hook("handoff_start", ["true"])

    async with cockpit.flying(cockpit.agent(steps=30, pause=3, more=hooks)):
        await cockpit.start()
        await cockpit.until(swapped)
        await cockpit.event("hook.ran")
        row = await cockpit.row()
        assert row.note is not None
        assert "hook bad (on_handoff_start) failed: exit code 1" in row.note
        assert row.warning == "hook bad (on_handoff_start) failed: exit code 1"


@pytest.mark.long
async def test_the_newest_failure_is_the_last_on_the_row(cockpit: Cockpit) -> None:
    hooks = hook("session_start", ["false"], name="one") + hook(
        "handoff_start", ["false"], name="two"
    )

    async with cockpit.flying(cockpit.agent(steps=30, pause=3, more=hooks)):
        await cockpit.start()
        await cockpit.until(swapped)
        for number, name in enumerate(("one", "two", "one"), 1):
            assert (await cockpit.event("hook.failed", number=number)).data["hook"] == name
        assert (await cockpit.row()).warning == (
            "hook two (on_handoff_start) failed: exit code 1; "
            "hook one (on_session_start) failed: exit code 1"
        )


@pytest.mark.long
async def test_a_hook_may_ask_for_the_built_in_handoff(cockpit: Cockpit) -> None:
    """`cockpit handoff` from inside a hook, which waits for its own supervisor to answer."""
    call = program(
        cockpit.home,
        "call",
        f"exec {sys.executable} -P -m cockpit handoff >{cockpit.home}/said 2>&1",
    )

    hooks = hook("context_threshold", [call], mode="replace", timeout="20s")
    async with cockpit.flying(cockpit.agent(steps=30, pause=3, more=hooks)):
        await cockpit.start()
        await cockpit.until(swapped)
        # The handoff can be over before the command has printed its answer.
        said = cockpit.home / "said"
        await cockpit.until(lambda _: "Handing off api" in said.read_text())


@pytest.mark.long
async def test_needs_you_is_told_once_and_not_again_after_a_restart(cockpit: Cockpit) -> None:
    record = recorder(cockpit.home)

    agent = cockpit.agent(mode="prompt", steps=30, pause=3, more=hook("needs_you", [record]))
    async with cockpit.flying(agent):
        await cockpit.start()
        told = await until_seen(cockpit, "needs_you")
        assert told["needs"]["kind"] == "handoff"
    async with cockpit.flying():
        await cockpit.until(lambda row: row.needs is not None)
        await cockpit.ask(Approve(name="api"))
        again = await until_seen(cockpit, "needs_you", 2)
        assert again["needs"]["kind"] == "review"


@pytest.mark.long
async def test_a_hook_that_starts_its_own_agent_is_told_to_wait(cockpit: Cockpit) -> None:
    slow = program(cockpit.home, "slow", f": > {cockpit.home}/there; sleep 1")

    async with cockpit.flying(cockpit.agent(steps=2, more=hook("session_start", [slow]))):
        starting = asyncio.create_task(cockpit.start())
        while not (cockpit.home / "there").exists():
            await asyncio.sleep(0.02)
        refusal = await cockpit.refused(Start(name="api"))
        assert "is being started" in refusal.title
        await starting


SAVE = """\
#!{python}
# The founding save-handoff: writes the document by itself and has the session swapped.
import json, pathlib, sys
event = json.load(sys.stdin)
sections = "\\n\\n".join(
    "## " + title + "\\n\\n" + (words + " Written by the hook of " + event["session"]["agent_name"])
    for title, words in [
        ("Goal", event["original_prompt"]), ("Current Task", "Counting the steps one by one."),
        ("Progress", "### Completed\\n- a\\n### In Progress\\n- b\\n### Pending\\n- c"),
        ("Current State", "All that was counted is in the files."), ("Next Steps", "1. Count on."),
        ("Key Decisions", "Steps are whole."), ("What Did Not Work", "Halves."),
        ("Open Issues", "None known at all."),
    ]
)
path = pathlib.Path(event["cwd"], "mine.md")
path.write_text("# Handoff\\n\\n" + sections + "\\n")
print("saved", event["context"]["usage_percent"])
print(json.dumps({{"decision": "abort", "document": "mine.md"}}))
"""
LOAD = """\
#!{python}
# The founding load-handoff: says something to successors only.
import json, sys
event = json.load(sys.stdin)
session = event["session"]
if session["is_continuation"]:
    print("Handoff number", session["handoff_count"], "on", session["branch_name"])
"""


@pytest.mark.long
async def test_the_founding_scripts_with_a_worktree(cockpit: Cockpit) -> None:
    """Worktree, handoff and hooks together: the branch and the checkout stay the same."""
    for name, text in (("save", SAVE), ("load", LOAD)):
        (cockpit.home / name).write_text(text.format(python=sys.executable))
        (cockpit.home / name).chmod(0o755)
    record = recorder(cockpit.home)
    more = (
        '[agents.worktree]\nstrategy = "git_worktree"\nbranch = "agent/{agent}"\n'
        + hook("context_threshold", [str(cockpit.home / "save")], mode="replace", timeout="20s")
        + hook("session_start", [str(cockpit.home / "load")], timeout="20s")
        + hook("handoff_complete", [record])
    )

    async with cockpit.flying(cockpit.agent(mode="prompt", steps=30, pause=3, more=more)):
        first = await cockpit.start()
        second = await cockpit.until(swapped)
        told = await until_seen(cockpit, "handoff_complete")

        assert (second.worktree, second.branch) == (first.worktree, "agent/api")
        assert told["worktree"] == told["cwd"] == first.worktree
        assert told["repo_root"] == str(cockpit.repository)
        text = Path(told["handoff"]["document"]).read_text()
        assert "Steps are whole. Written by the hook of api" in text
        assert cockpit.prompts(second)[0].startswith("Handoff number 1 on agent/api\n\n")
        assert not cockpit.prompts(first)[0].startswith("Handoff number")


@pytest.mark.long
async def test_without_hooks_the_mode_alone_decides(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(steps=30, pause=3)):
        await cockpit.start()
        await cockpit.until(swapped)
        assert [each for each in await cockpit.events() if each.kind.startswith("hook.")] == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "outcome", "errors"),
    [(["true"], "completed", 0), (["sh", "-c", "exit 3"], "failed", 1)],
)
async def test_the_end_of_a_run_is_told_with_its_outcome(
    cockpit: Cockpit, command: list[str], outcome: str, errors: int
) -> None:
    record = recorder(cockpit.home)
    more = f'runtime = "command"\ncommand = {json.dumps(command)}\n' + "".join(
        hook(event, [record]) for event in ("after_run", "error")
    )

    async with cockpit.flying(cockpit.agent(more=more)):
        await cockpit.start()
        assert (await until_seen(cockpit, "after_run"))["outcome"] == outcome
        await cockpit.event("hook.ran", number=1 + errors)
        assert len(seen(cockpit.home, "error")) == errors


@pytest.mark.long
async def test_done_is_told_once(cockpit: Cockpit) -> None:
    record = recorder(cockpit.home)

    async with cockpit.flying(cockpit.agent(steps=2, more=hook("after_run", [record]))):
        await cockpit.start()
        assert (await until_seen(cockpit, "after_run"))["outcome"] == "completed"
        await cockpit.until(lambda row: row.state == "done")
    async with cockpit.flying():
        await cockpit.until(lambda row: row.state == "done")
        await cockpit.ask(Stop(name="api"))
        await cockpit.event("agent.stopped")
        assert len(seen(cockpit.home)) == 1


async def test_no_secret_reaches_a_hook_or_its_kept_output(cockpit: Cockpit) -> None:
    secret = "sk-ant-api03-CANARY0123456789CANARY0123456789"
    record = recorder(cockpit.home)
    leak = program(cockpit.home, "leak", f"echo {secret}; echo {secret} >&2")
    hooks = hook("handoff_start", [record]) + hook("handoff_start", [leak], name="leak")

    agent = cockpit.agent(steps=30, pause=3, prompt=f"Log in with {secret}.", more=hooks)
    async with cockpit.flying(agent):
        await cockpit.start()
        told = await until_seen(cockpit, "handoff_start")
        assert told["original_prompt"].startswith("Log in with [REDACTED")
        await cockpit.event("hook.ran", number=2)
        kept = cockpit.places.logs / "hooks" / "api-handoff_start-leak.log"
        assert "REDACTED" in kept.read_text()
        assert secret not in kept.read_text()


ASKS = """
import socket, sys

for verb in ("refuse", "handoff"):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(sys.argv[1])
        head = f"POST /v1/{verb} HTTP/1.0\\r\\nHost: x\\r\\nContent-Length: 15\\r\\n\\r\\n"
        connection.sendall(head.encode() + b'{"name": "api"}')
        while connection.recv(65536):
            pass
"""
"""As `cockpit refuse api` and `cockpit handoff api`, twenty times as fast."""


@pytest.mark.long
async def test_a_hook_that_brings_about_its_own_event_is_stopped(cockpit: Cockpit) -> None:
    asks = cockpit.home / "asks.py"
    asks.write_text(ASKS)
    again = program(cockpit.home, "again", f"{sys.executable} -IS {asks} {cockpit.places.socket}")

    more = '[agents.handoff]\ncooldown = "0s"\n' + hook("handoff_start", [again])

    agent = cockpit.agent(mode="prompt", steps=9, pause=2, step_tokens=100, more=more)
    async with cockpit.flying(agent):
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        await cockpit.ask(Handoff(name="api"))
        failed = await cockpit.event("hook.failed", within=300)
        assert "20 times in a minute" in failed.text


@pytest.mark.long
async def test_a_hook_cannot_hand_on_what_another_agent_left(cockpit: Cockpit) -> None:
    notes = cockpit.home / "notes.md"
    answer = json.dumps({"decision": "handoff", "document": str(notes)})
    waits = f"until [ -s {notes} ]; do sleep 0.05; done"
    say = program(cockpit.home, "say", f"{waits}; echo '{answer}'")
    hooks = hook("context_threshold", [say])
    async with cockpit.flying(cockpit.agent(steps=30, pause=3, more=hooks)):
        await cockpit.start()
        own = (await cockpit.ask(Handoff(name="api", dry_run=True))).text
        assert own is not None
        notes.write_text(own.replace('agent: "api"', 'agent: "web"', 1))
        told = await cockpit.event("hook.decided")
        assert "not a document of api's session" in told.text
        assert "web" in told.text
        await cockpit.until(swapped)
        (left,) = (cockpit.repository / ".cockpit" / "handoffs").glob("handoff-*.md")
        assert 'agent: "api"' in left.read_text()


GROWING: dict[str, Any] = {"steps": 300, "settles": 0, "step_tokens": 8_000, "pace": 0.15}
"""Grows without end, by small steps: the document is written before the context is compacted."""
ABORTS = """print('{"decision": "abort"}')"""


def aborting(home: Path) -> str:
    """A hook of the act mark that has the session swapped at once, each time."""
    return hook("context_threshold", [sys.executable, "-c", ABORTS])


@pytest.mark.long
@pytest.mark.parametrize(
    ("limits", "swaps", "words"),
    [
        ('max_per_job = 1\ncooldown = "0s"', 1, "was handed off 1 times in this job"),
        ('max_per_job = 9\ncooldown = "0s"', 3, "3 handoffs of api in 15 minutes"),
        ('max_chain_cost_usd = 0.0001\ncooldown = "0s"', 0, "has cost $"),
    ],
)
async def test_a_hook_that_has_the_session_swapped_passes_the_same_limits(
    cockpit: Cockpit, limits: str, swaps: int, words: str
) -> None:
    more = f"[agents.handoff]\n{limits}\n{aborting(cockpit.home)}"
    agent = cockpit.agent(**GROWING, more=more)
    async with cockpit.flying(agent):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.needs is not None)
        assert row.needs is not None
        assert words in row.needs.detail
        assert len(await cockpit.events("handoff.confirmed")) == swaps


@pytest.mark.long
async def test_a_hook_that_has_the_session_swapped_waits_for_the_rest_after_a_swap(
    cockpit: Cockpit,
) -> None:
    more = f'[agents.handoff]\ncooldown = "1h"\n{aborting(cockpit.home)}'
    agent = cockpit.agent(**GROWING, more=more)
    async with cockpit.flying(agent):
        await cockpit.start()
        await cockpit.event("handoff.confirmed")
        told = await cockpit.event("hook.decided", number=2)
        assert "the session has just begun" in told.text
        assert len(await cockpit.events("handoff.begun")) == 1
