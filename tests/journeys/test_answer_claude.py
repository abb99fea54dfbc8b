"""Dialogs of the real Claude Code, answered from cockpit: checked before the key, and after it."""

from __future__ import annotations

import asyncio
import subprocess
import time
from pathlib import Path

import pytest

from cockpit.core.errors import NotNow
from cockpit.core.timestamps import moment
from cockpit.demo.conversation import Reply, Request, TokenCount, ToolCall
from cockpit.wire.dialogs import DialogStatus
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Answer, Done, Start
from tests.journeys.conftest import Terminal, wait_for
from tests.journeys.real_agent import NO_CLI, RealAgent, call, real_agent, say
from tests.supervisor.conftest import pause

pytestmark = [
    pytest.mark.claude,
    pytest.mark.tmux,
    pytest.mark.skipif(NO_CLI, reason="the SDK of this platform brings no CLI"),
]
SETTINGS = {"permission_mode": '"default"', "arguments": "[]"}
DATABASE = {
    "question": "Which database should it use?",
    "header": "Database",
    "multiSelect": False,
    "options": [
        {"label": "SQLite", "description": "One file"},
        {"label": "Postgres", "description": "A server"},
    ],
}
PARTS = {
    "question": "Which parts should be tested?",
    "header": "Tests",
    "multiSelect": True,
    "options": [
        {"label": "Parser", "description": "Reads the input"},
        {"label": "Report", "description": "Prints the table"},
        {"label": "Options", "description": "Reads the command line"},
    ],
}


class Script:
    """The model's replies, in order; it says the last one for ever."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = replies
        self.results: list[str] = []
        """What the model was told last, at each request with tools."""

    def __call__(self, request: Request) -> Reply:
        if not request.has_tools:
            return say("ok")
        self.results.append(str(request.messages[-1]))
        return self.replies[min(request.replies_made, len(self.replies) - 1)]


def bash(command: str) -> Reply:
    return call("Bash", command=command, description="Do it")


async def begun(agent: RealAgent) -> None:
    config = str(agent.flown.scratch.config)
    asked = Start(
        name=agent.name,
        config=config,
        named=True,
        prompt="Go on.",
        directory=str(agent.flown.scratch.repository),
    )
    await agent.flown.client.ask(asked)


async def dialog(agent: RealAgent, other_than: str | None = None) -> DialogStatus:
    """The next dialog that can be answered."""
    found: list[DialogStatus] = []

    async def opened() -> bool:
        try:
            shown = await agent.flown.client.dialog(agent.name)
        except NotNow:
            return False
        found[:] = [shown]
        return shown.identity is not None and shown.identity != other_than

    looking = time.monotonic()
    while not await opened():
        assert time.monotonic() < looking + 90, (found, await agent.row())
        await asyncio.sleep(pause(looking))
    return found[0]


async def answer(agent: RealAgent, shown: DialogStatus, *numbers: int, text: str = "") -> Done:
    assert shown.identity is not None
    return await agent.flown.client.ask(
        Answer(name=agent.name, dialog=shown.identity, choices=list(numbers), text=text)
    )


def labels(shown: DialogStatus) -> list[str]:
    return [choice.label for choice in shown.choices]


def press(agent: RealAgent, pane: str, key: str) -> None:
    """A key of somebody who is attached."""
    socket = str(agent.flown.scratch.places.tmux_socket)
    subprocess.run(["tmux", "-S", socket, "send-keys", "-t", pane, key], check=True)


def resting(row: AgentStatus) -> bool:
    return row.state in {"idle", "done"}


def ready(terminal: Terminal) -> None:
    """Wait until the selected choice is drawn in the colour of keys, no longer in grey."""

    def coloured() -> bool:
        drawn = terminal.ask("capture-pane", "-p", "-e").splitlines()
        return any("❯" in line and "\x1b[1m" in line for line in drawn)

    wait_for(coloured, terminal.seen)


def worktree(row: AgentStatus) -> Path:
    return Path(row.directory)


@pytest.mark.long
async def test_commands_and_files_are_allowed_allowed_for_good_and_refused_with_a_text() -> None:
    script = Script(
        bash("python3 -c 'print(40 + 2)' && " + "true && " * 40 + "touch allowed"),
        bash("python3 -m this"),
        bash("python3 -m calendar"),
        bash("git push origin main"),
        bash("git push origin main"),
        call("Write", file_path="new.py", content="".join(f"line {n}\n" for n in range(90))),
        say("Done."),
    )

    with real_agent(script, **SETTINGS) as agent:
        await begun(agent)
        first = await dialog(agent)
        assert first.tool == "Bash"
        assert first.title == "Bash command"
        assert first.text.startswith("python3 -c 'print(40 + 2)'")
        assert first.text.endswith("touch allowed")
        assert labels(first)[0] == "Yes"
        assert labels(first)[-1] == "No"
        # The same answer, twice at once: one key.
        done = await asyncio.gather(
            answer(agent, first, 1), answer(agent, first, 1), return_exceptions=True
        )
        (given,) = [each for each in done if isinstance(each, Done)]
        (refused,) = [each for each in done if not isinstance(each, Done)]
        assert isinstance(refused, NotNow)
        assert "already" in str(refused)
        assert "the tool ran" in given.message
        assert (worktree(await agent.row()) / "allowed").exists()

        second = await dialog(agent, first.identity)
        with pytest.raises(NotNow, match="already"):
            await answer(agent, first, 1)
        kept = next(n for n, label in enumerate(labels(second), 1) if "ask again" in label)
        await answer(agent, second, kept)
        # The next command of that kind ran without a dialog.
        third = await dialog(agent, second.identity)
        assert third.text == "git push origin main"
        number = len(third.choices)
        refused_done = await answer(agent, third, number, text="use  make\npublish (2) instead")
        assert "the tool was refused" in refused_done.message

        # The model asks for the same again: another dialog.
        fourth = await dialog(agent, third.identity)
        assert any("use make publish (2) instead" in told for told in script.results)
        assert fourth.text == third.text
        with pytest.raises(NotNow, match="already"):
            await answer(agent, third, 1)
        await answer(agent, fourth, number, text="write the file")

        fifth = await dialog(agent, fourth.identity)
        assert fifth.tool == "Write"
        assert "new.py" in fifth.question
        assert fifth.text.startswith("+line 0\n")
        assert fifth.text.endswith("+line 89")
        await answer(agent, fifth, 1)
        await agent.until(resting)
        assert (worktree(await agent.row()) / "new.py").read_text().endswith("line 89\n")
        with pytest.raises(NotNow, match="not asking"):
            await agent.flown.client.dialog(agent.name)


@pytest.mark.long
async def test_questions_are_answered_page_by_page() -> None:
    script = Script(
        call("AskUserQuestion", questions=[DATABASE, PARTS]),
        call("AskUserQuestion", questions=[DATABASE]),
        call("AskUserQuestion", questions=[PARTS]),
        say("Done."),
    )

    with real_agent(script, **SETTINGS) as agent:
        await begun(agent)
        first = await dialog(agent)
        assert first.question == DATABASE["question"]
        assert first.subject == "Database · Tests"
        assert labels(first)[:2] == ["SQLite", "Postgres"]
        done = await answer(agent, first, 2)
        assert str(PARTS["question"]) in done.message

        second = await dialog(agent, first.identity)
        assert [one.checked for one in second.choices[:3]] == [False, False, False]
        await answer(agent, second, 1, 3)
        review = await dialog(agent, second.identity)
        assert labels(review) == ["Submit answers", "Cancel"]
        submitted = await answer(agent, review, 1)
        assert submitted.message.endswith('answered "Submit answers"')

        third = await dialog(agent, review.identity)
        assert any("Parser, Options" in told and "Postgres" in told for told in script.results)
        named = await answer(agent, third, 3, text="DuckDB, as in 2. of the plan")
        assert "the tool ran" not in named.message
        fourth = await dialog(agent, third.identity)
        assert any("DuckDB, as in 2. of the plan" in told for told in script.results)
        talk = await answer(agent, fourth, len(fourth.choices))
        assert "refused" in talk.message
        await agent.until(resting)


@pytest.mark.long
async def test_a_dialog_that_changed_between_look_and_key_is_refused() -> None:
    script = Script(bash("touch first && python3 -V"), bash("touch second && python3 -V"), say("."))

    with real_agent(script, **SETTINGS) as agent:
        await begun(agent)
        shown = await dialog(agent)
        pane = str((await agent.row()).pane)
        # Somebody answers in the pane.
        press(agent, pane, "1")
        second = await dialog(agent, shown.identity)
        with pytest.raises(NotNow, match="Another dialog"):
            await answer(agent, shown, 1)
        assert not (worktree(await agent.row()) / "second").exists()

        # Somebody types a text there.
        press(agent, pane, "Tab")
        press(agent, pane, "x")

        async def typing() -> bool:
            found = await agent.flown.client.dialog(agent.name)
            return found.refusal is not None and "typed" in found.refusal

        end = asyncio.get_running_loop().time() + 30
        while not await typing():
            assert asyncio.get_running_loop().time() < end
            await asyncio.sleep(0.1)
        with pytest.raises(NotNow, match="cannot be answered"):
            await answer(agent, second, 1)


@pytest.mark.long
async def test_a_dialog_is_the_same_one_for_the_next_supervisor() -> None:
    script = Script(bash("touch after && python3 -V"), say("Done."))

    with real_agent(script, **SETTINGS) as agent:
        await begun(agent)
        shown = await dialog(agent)
        assert await asyncio.to_thread(agent.flown.run, "restart", seconds=90.0) == 0
        again = await dialog(agent)
        assert again == shown
        done = await answer(agent, shown, 1)
        assert "the tool ran" in done.message
        assert (worktree(await agent.row()) / "after").exists()
        with pytest.raises(NotNow):
            await answer(agent, shown, 1)
        await agent.until(resting)


@pytest.mark.long
async def test_an_agent_cannot_answer_its_own_dialog_nor_that_of_another() -> None:
    """Its command runs in the background while its next one waits for the user."""
    ask = (
        "for i in $(seq 100); do cockpit answer rounding --json > shown.json 2> shown.err "
        "&& grep -q identity.:..[0-9a-f] shown.json && break; sleep 0.2; done; "
        'id=$(sed -n \'s/.*"identity": "\\(.*\\)".*/\\1/p\' shown.json); '
        'cockpit answer rounding --choice 1 --dialog "$id" > told.txt 2>&1; '
        'echo "exit $? $id" >> told.txt'
    )
    script = Script(
        call("Bash", command=ask, description="Ask", run_in_background=True),
        bash("touch unasked && python3 -V"),
        say("Done."),
    )

    with real_agent(script, **SETTINGS) as agent:
        assert agent.name == "rounding"
        await begun(agent)
        first = await dialog(agent)
        await answer(agent, first, 1)
        second = await dialog(agent, first.identity)
        told = worktree(await agent.row()) / "told.txt"
        end = asyncio.get_running_loop().time() + 60
        while not told.exists() or "exit" not in told.read_text():
            assert asyncio.get_running_loop().time() < end, await agent.events()
            await asyncio.sleep(0.2)
        assert "answer is for the user" in told.read_text()
        assert f"exit 5 {second.identity}" in told.read_text()
        assert not (told.parent / "unasked").exists()
        await answer(agent, second, 1)


@pytest.mark.long
async def test_a_dialog_is_answered_on_the_screen_but_not_by_a_key_typed_ahead(
    tmp_path: Path,
) -> None:
    command = "python3 -V && " + "true && " * 30 + "touch on-the-screen"
    script = Script(bash(command), bash("git push origin main"), say("Done."))
    terminal = Terminal(tmp_path, (80, 24))

    try:
        with real_agent(script, **SETTINGS) as agent:
            await begun(agent)
            first = await dialog(agent)
            scratch = agent.flown.scratch
            terminal.run("--direct", at=scratch.repository, **scratch.environment())
            terminal.until("permission", agent.name)
            terminal.type("a\r\r")
            picture = terminal.until("Permission", "touch on-the-screen", "❯ 1. Yes", "No")
            assert picture.index("touch on-the-screen") < picture.index("❯ 1. Yes")
            file = worktree(await agent.row()) / "on-the-screen"
            assert not file.exists()
            # Once the screen has shown the dialog for a moment, the same key answers.
            ready(terminal)
            terminal.press("Enter")
            second = await dialog(agent, first.identity)
            assert second.text == "git push origin main"
            assert file.exists()
            if "Permission" not in terminal.until("git push origin main", "4. No"):
                terminal.type("a")  # the screen closed between the two dialogs
            terminal.until("Permission", "git push origin main", "4. No")
            ready(terminal)
            for _ in range(3):
                terminal.press("j")
            terminal.until("❯ 4. No")
            terminal.press("t")
            terminal.until("your text")
            terminal.type("use make")
            terminal.press("Enter")
            await agent.until(lambda row: row.state in {"idle", "done"})
            assert any("use make" in told for told in script.results)
            terminal.until(gone=("Permission",))
    finally:
        terminal.close()


@pytest.mark.long
async def test_the_same_command_asked_again_at_once_is_another_dialog() -> None:
    again = bash("echo once >> counted && python3 -V")
    script = Script(again, again, say("Done."))

    with real_agent(script, **SETTINGS) as agent:
        await begun(agent)
        first = await dialog(agent)
        done = await answer(agent, first, 1)
        assert "the tool ran" in done.message
        second = await dialog(agent, first.identity)
        assert (second.text, labels(second)) == (first.text, labels(first))
        with pytest.raises(NotNow, match="already"):
            await answer(agent, first, 1)
        assert (worktree(await agent.row()) / "counted").read_text() == "once\n"
        await answer(agent, second, 1)
        await agent.until(resting)
        assert (worktree(await agent.row()) / "counted").read_text() == "once\nonce\n"


@pytest.mark.long
async def test_an_agent_leaves_plan_mode_without_a_plan() -> None:
    leave = (call("EnterPlanMode"), call("ExitPlanMode"))
    script = Script(*leave, *leave, say("Done."))

    with real_agent(script, **SETTINGS) as agent:
        await begun(agent)
        first = await dialog(agent)
        assert (first.tool, first.title) == ("ExitPlanMode", "Exit plan mode?")
        assert first.text == first.question == "Claude wants to exit plan mode"
        allowed = await answer(agent, first, 1)
        assert "the tool ran" in allowed.message
        second = await dialog(agent, first.identity)
        refused = await answer(agent, second, len(second.choices))
        assert "refused" in refused.message
        await agent.until(resting)


@pytest.mark.long
async def test_a_question_stands_when_a_command_beside_it_ends() -> None:
    """The CLI runs the calls of one reply in parallel, and reports the end of the command."""
    calls = (
        ToolCall("AskUserQuestion", {"questions": [DATABASE]}),
        ToolCall("Bash", {"command": "ls; sleep 4; ls", "description": "Look"}),
    )
    script = Script(Reply(tool_calls=calls, tokens=TokenCount(cache_read=20_000)), say("Done."))

    def asks(row: AgentStatus) -> bool:
        return row.needs is not None

    with real_agent(script, **{**SETTINGS, "arguments": '["--allowedTools=Bash"]'}) as agent:
        await begun(agent)
        begun_at = moment((await agent.until(asks)).last_activity_at)
        assert begun_at is not None

        def told(row: AgentStatus) -> bool:
            """Times are whole seconds. Nothing else is reported while the question is open."""
            heard = moment(row.last_activity_at)
            return heard is not None and (heard - begun_at).total_seconds() >= 3

        await agent.until(told)
        row = await agent.until(asks)
        assert row.needs is not None
        assert (row.needs.kind, row.needs.detail) == ("question", DATABASE["question"])
        await answer(agent, await dialog(agent), 1)
        await agent.until(resting)
        assert "SQLite" in script.results[-1]
