"""The form for starting: what it says would be, what it keeps, and that a refusal leaves it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from cockpit.client.host_client import HostClient
from cockpit.client.joined_client import JoinedClient
from cockpit.config.files import Files
from cockpit.config.own_runtimes import BUILT_IN
from cockpit.config.paths import Places
from cockpit.core.errors import NotNow, ProgramMissing
from cockpit.tui.screens.start.screen import RUNTIMES
from cockpit.wire.status import Status
from cockpit.wire.verbs import Done, Plan, Start, Verb
from tests.client.memory import MemoryClient
from tests.repositories import lay_repository
from tests.tui.scene import agent, scene


class Fly(Protocol):
    def __call__(self, client: MemoryClient, **how: Any) -> AbstractAsyncContextManager[Any]: ...


def reader(home: Path, cwd: Path) -> Callable[[], Files]:
    return partial(Files.read, Places.of({"COCKPIT_HOME": str(home)}), None, cwd, {})


def test_the_form_offers_each_built_in_runtime() -> None:
    assert tuple(option.value for option in RUNTIMES) == BUILT_IN


async def test_what_would_be_is_the_supervisors_word(fly: Fly) -> None:
    client = scene()
    client.refuse(Plan, NotNow("Gemini does not trust /srv/shop", "", "Run gemini there."))
    async with fly(client, selected="api", directory=Path("/srv/shop")) as flight:
        await flight.press("n", *"big", "tab", "tab", "tab", "right", "right")
        await flight.reads(
            "‹ gemini ›  Gemini CLI", "Gemini does not trust /srv/shop. Run gemini there."
        )
        await flight.until(lambda: flight.client.asked[-1].runtime == "gemini", "gemini")
        asked = flight.client.asked[-1]
        assert (asked.name, asked.runtime, asked.directory) == ("big", "gemini", "/srv/shop")


async def test_of_a_known_agent_only_what_was_changed_is_said(fly: Fly) -> None:
    async with fly(scene(), selected="cron", directory=Path("/srv/shop")) as flight:
        await flight.press("n", "tab", *"docs", "tab", "tab", "tab", "right", "ctrl+s")
        wanted = Start(name="cron", directory="/srv/shop/docs", mode="auto")
        await flight.until(lambda: flight.asked == [wanted], "the start")


async def test_the_fields_of_a_configured_agent_show_its_configuration(
    fly: Fly, own_home: Path
) -> None:
    folder = own_home / "shop"
    lay_repository(folder)
    file = folder / "cockpit.toml"
    file.write_text(
        '[[agents]]\nname = "two"\nruntime = "command"\ncommand = ["sh", "-c", "echo hi"]\n'
        'prompt = "Count."\nworktree.strategy = "git_worktree"\n'
    )
    file.chmod(0o600)
    two = agent("two", "stopped", runtime="command", configured_directory=str(folder))
    read = partial(Files.read, Places.of({"COCKPIT_HOME": str(own_home)}), file, folder, {})
    client = MemoryClient(Status(agents=[two]))
    async with fly(client, selected="two", directory=folder, files=read, size=(100, 30)) as flight:
        await flight.press("n")
        await flight.reads("sh -c 'echo hi'", "Count.", "‹ yes ›  its own checkout and branch")
        assert "use the directory itself" not in flight.text()
        await flight.press(*"new")
        await flight.reads("‹ no ›  use the directory itself", "‹ claude ›", "the agent's job")
        assert "program and arguments" not in flight.text()
        await flight.press(*["backspace"] * 3, *"two", "ctrl+s")
        await flight.until(lambda: flight.asked == [Start(name="two")], "as configured")


async def test_a_refusal_leaves_what_was_filled_in(fly: Fly) -> None:
    client = scene()
    client.refuse(Start, NotNow("the disk is full", "", "Make room."))
    async with fly(client, selected="api") as flight:
        await flight.press("n", *"big", "tab", "tab", *"myjob", "enter")
        await flight.reads("the disk is full. Make room.", "myjob", "Start an agent")
        client.when(Start, lambda verb: None)
        await flight.press("ctrl+s")
        await flight.until(lambda: len(flight.app.screen_stack) == 1, "the fleet")
        assert [verb.prompt for verb in flight.asked] == ["myjob", "myjob"]


async def test_no_toast_of_before_covers_a_refusal(fly: Fly) -> None:
    client = scene()
    client.refuse(Start, NotNow("the disk is full", "", "Make room."))
    async with fly(client, size=(60, 15), selected="api", toasts=True) as flight:
        await flight.press("n", *"big")
        for number in range(4):
            flight.app.notify(f"older {number}", timeout=60)
        await flight.reads("older 3")
        await flight.press("ctrl+s")
        await flight.reads("the disk is full. Make room.")
        assert flight.toasts() == []
        assert "older" not in flight.text()


async def test_an_agent_is_kept_in_the_file_that_is_named_beforehand(
    fly: Fly, tmp_path: Path
) -> None:
    shop, home = tmp_path / "shop", tmp_path / "home"
    lay_repository(shop)
    file = shop / "cockpit.toml"
    file.write_text('# ours\n[defaults]\nmode = "observe"   # look only\n')
    file.chmod(0o600)

    how = {"directory": shop, "files": reader(home, shop), "selected": "api"}
    async with fly(scene(), size=(160, 40), **how) as flight:
        await flight.press("n", *"big", "tab", "tab", *"go")
        await flight.reads("‹ observe ›  only watch")
        await flight.press("shift+tab", "shift+tab", "shift+tab", "right")
        await flight.reads("Saves to", "not trusted yet")
        assert file.read_text().startswith("# ours")
        assert "agents" not in file.read_text()
        await flight.press("ctrl+s")
        wanted = Start(name="big", config=str(file))
        await flight.until(lambda: flight.asked == [wanted], "the start")
    text = file.read_text()
    kept, _, added = text.partition("\n[[agents]]\n")
    assert kept == '# ours\n[defaults]\nmode = "observe"   # look only\n'
    assert sorted(added.split("\n")) == ["", 'directory = "."', 'name = "big"', 'prompt = "go"']


async def test_f1_explains_the_form_and_leaves_what_was_typed(fly: Fly) -> None:
    async with fly(scene(), selected="api") as flight:
        await flight.press("n", *"big", "f1")
        await flight.reads("its own checkout and branch", "Shift-Tab")
        await flight.press("q")
        await flight.press("g", "ctrl+s")
        await flight.until(lambda: [verb.name for verb in flight.asked] == ["bigg"], "the start")


async def test_a_name_with_a_host_starts_there_and_is_saved_nowhere(
    fly: Fly, tmp_path: Path
) -> None:
    here, there = scene(), MemoryClient(Status(agents=[agent("ci", directory="/far/shop")]))
    client: Any = JoinedClient(here, [HostClient("gpu1", there)])
    files = reader(tmp_path, tmp_path)
    async with fly(client, selected="api", directory=Path("/srv/shop"), files=files) as flight:
        await flight.reads("gpu1/ci")
        await flight.press("n", *"gpu9/big")
        await flight.reads("No host named 'gpu9' is configured. Known: local, gpu1.")
        await flight.press("ctrl+u", *"gpu1/Big")
        await flight.reads("Try: big")
        await flight.press("ctrl+u", *"gpu1/big", "tab", *"~/x", "ctrl+s")
        await flight.reads("~ cannot be expanded on gpu1. Enter the absolute path there.")
        await flight.press("ctrl+u", *"./~x", *("tab",) * 5, "right")
        await flight.reads("Not saved: gpu1 has its own configuration files.")
        await flight.press("ctrl+s")
        # A plan is a start that is only thought of; where keys come slowly, "gpu9" is planned here.
        await flight.until(lambda: type(there.asked[-1]) is Start, "the start")
        asked: Any = there.asked[-1]
        assert (asked.name, asked.directory) == ("big", "/far/shop/~x")
        assert not list(tmp_path.rglob("cockpit.toml"))
        assert not [verb for verb in here.asked if type(verb) is Start]


async def test_what_is_typed_replaces_the_suggested_name(fly: Fly) -> None:
    async with fly(scene(), selected="cron") as flight:
        await flight.press("n")
        await flight.reads("Start an agent", "cron")
        await flight.press(*"web", "ctrl+s")
        await flight.until(lambda: [verb.name for verb in flight.asked] == ["web"])


async def test_enter_takes_the_suggested_name(fly: Fly) -> None:
    async with fly(scene(), selected="cron") as flight:
        await flight.press("n", "enter")
        await flight.until(lambda: flight.asked == [Start(name="cron")])


async def test_runtimes_that_cannot_run_are_last_with_the_reason(fly: Fly) -> None:
    client = scene()

    def answer(verb: Verb) -> Done:
        if isinstance(verb, Plan) and verb.runtime in ("codex", "gemini"):
            raise ProgramMissing(
                f"{verb.runtime} is not on the PATH", "", f"npm install -g {verb.runtime}"
            )
        return Done(message="It starts in /srv/shop")

    client.when(Plan, answer)
    async with fly(client, size=(120, 35), selected="api") as flight:
        await flight.press("n", *"big", "tab", "tab", "tab", "right")
        await flight.reads("‹ codex ›  cannot run: codex is not on the PATH")
        await flight.press("right")
        await flight.reads("‹ gemini ›  cannot run: gemini is not on the PATH")
        await flight.reads("gemini is not on the PATH. npm install -g gemini.")
        await flight.press("right")
        await flight.reads("‹ claude ›")
        await flight.press("right")
        await flight.reads("‹ opencode ›")


async def test_a_plain_command_is_started_from_the_form(fly: Fly) -> None:
    async with fly(scene(), selected="api", directory=Path("/srv/shop")) as flight:
        await flight.press("n", *"logs", "tab", "tab", "tab")
        assert "program and arguments" not in flight.text()
        await flight.press("left")
        await flight.reads("‹ command ›", "program and arguments")
        await flight.press("tab", *"tail -f 'a", "ctrl+s")
        await flight.reads("an unclosed quote")
        await flight.press(*" b.log'", "ctrl+s")
        wanted = Start(
            name="logs", directory="/srv/shop", mode="prompt", runtime="command",
            command=["tail", "-f", "a b.log"],
        )  # fmt: skip
        await flight.until(lambda: flight.asked == [wanted], "the start")


async def test_a_screen_of_another_host_does_not_expand_the_home_of_this_machine(fly: Fly) -> None:
    client = MemoryClient(Status(host="gpu1", agents=[agent("ci", directory="/far/shop")]))
    async with fly(client, selected="ci") as flight:
        await flight.press("n", *"big", "tab", *"~/x", "ctrl+s")
        await flight.reads("~ cannot be expanded on gpu1. Enter the absolute path there.")
        await flight.press("ctrl+u", "x", "ctrl+s")
        await flight.until(lambda: flight.asked, "the start")
        assert flight.asked[-1].directory == "/far/shop/x"
        assert not [verb for verb in client.asked if "~" in str(verb)]
