"""The private server is started once, found again, told from a silent one, and ended."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import libtmux
import pytest

from cockpit.adapters.tmux.command import check_version, literal, new_enough
from cockpit.adapters.tmux.panes import Tmux
from cockpit.core.errors import Failed, ProgramMissing
from cockpit.ports.panes import Launch, PanesSilent

pytestmark = pytest.mark.tmux


def agent(directory: Path) -> Launch:
    home = os.environ["HOME"]
    return Launch(
        ("sleep", "600"),
        directory,
        {"PATH": os.environ["PATH"], "HOME": home, "COCKPIT_RUN": home},
    )


def another(tmux: Tmux) -> Tmux:
    """What a second process has that uses the same server."""
    command = tmux.command
    return Tmux(command.socket, command.config, command.environment, orders=tmux.orders.folder)


def witness(tmux: Tmux) -> libtmux.Server:
    """The server as somebody else's library sees it."""
    return libtmux.Server(socket_path=str(tmux.command.socket))


async def test_starting_twice_or_at_once_is_one_server(tmux: Tmux) -> None:
    others = [another(tmux) for _ in range(4)]
    pids = set(await asyncio.gather(*(one.start_server() for one in [tmux, *others])))
    pids |= {await tmux.start_server(), await another(tmux).start_server()}
    assert len(pids) == 1
    assert await tmux.server_pid() in pids
    assert [session.name for session in witness(tmux).sessions] == ["cockpit"]


async def test_the_server_is_ours_alone(tmux: Tmux, own_home: Path) -> None:
    (own_home / "home" / ".tmux.conf").write_text("set -g status-left PILOT\nset -g prefix C-a\n")

    await tmux.start_server()
    lines = await tmux.command.run(
        ["show-options", "-s"], ["show-options", "-g"], ["show-options", "-gw"]
    )
    options = {name: value for name, _, value in (line.partition(" ") for line in lines)}
    expected = {
        "exit-empty": "off",
        "escape-time": "10",
        "focus-events": "off",
        "set-clipboard": "external",
        "default-terminal": "tmux-256color",
        "prefix": "None",
        "mouse": "on",
        "history-limit": "5000",
        "status-left": "''",
        "status-interval": "0",
        "remain-on-exit": "on",
        "window-size": "latest",
        "allow-passthrough": "off",
        "allow-rename": "off",
        "automatic-rename": "off",
    }
    assert {name: options[name] for name in expected} == expected
    assert await tmux.command.run(["list-keys", "-T", "root", "F12"])
    environment = await tmux.command.run(["show-environment", "-g"])
    names = {line.split("=")[0] for line in environment}
    assert names - {"PWD", "SHLVL", "_"} == {"PATH", "HOME"}


async def test_secrets_of_whoever_starts_the_server_stay_outside(tmux: Tmux) -> None:
    secrets = {"ANTHROPIC_API_KEY": "secret", "CLAUDECODE": "1", "TMUX": "/x,1,0"}
    command = tmux.command
    pilot = Tmux(
        command.socket,
        command.config,
        {**command.environment, **secrets, "LC_ALL": "C.UTF-8"},
        orders=tmux.orders.folder,
    )
    await pilot.start_server()
    environment = await tmux.command.run(["show-environment", "-g"])
    names = {line.split("=")[0] for line in environment}
    assert names - {"PWD", "SHLVL", "_"} == {"PATH", "HOME", "LC_ALL"}


async def test_the_configuration_is_all_understood(tmux: Tmux) -> None:
    """tmux keeps quiet about errors in a file it is started with, so each is asked for."""
    await tmux.start_server()
    answer = witness(tmux).cmd("source-file", "-v", str(tmux.command.config))
    assert answer.stderr == []
    assert "bind -n F12" in tmux.command.config.read_text()


def bound(tmux: Tmux) -> set[str]:
    """The keys that go back to the screen, as another program sees them."""
    lines = [line.split() for line in witness(tmux).cmd("list-keys", "-T", "root").stdout]
    return {line[3] for line in lines if "@cockpit_return" in " ".join(line)} - CLICKS


CLICKS = {"MouseDown1StatusRight", "SecondClick1StatusRight", "TripleClick1StatusRight"}


def shown_key(tmux: Tmux) -> list[str]:
    return list(witness(tmux).cmd("display-message", "-p", "#{@cockpit_return_key}").stdout)


async def test_other_keys_go_back_at_once_and_after_the_servers_end(tmux: Tmux) -> None:
    await tmux.start_server()
    assert bound(tmux) == {"F12", "C-F12"}
    await tmux.bind_return_keys(("alt+ctrl+f9", "alt+shift+x"))
    assert bound(tmux) == {"C-M-F9", "M-X"}
    assert shown_key(tmux) == ["Ctrl-Alt-F9"]
    await tmux.bind_return_keys(("ctrl+g",))
    assert bound(tmux) == {"C-g"}
    await tmux.stop_server()
    await another(tmux).start_server()
    assert bound(tmux) == {"C-g"}
    assert shown_key(tmux) == ["Ctrl-G"]


async def test_keys_can_be_chosen_before_there_is_a_server(tmux: Tmux) -> None:
    await tmux.bind_return_keys(("f9",))
    await tmux.start_server()
    assert bound(tmux) == {"F9"}


async def test_what_was_written_into_the_stored_keys_is_never_run(
    tmux: Tmux, own_home: Path
) -> None:
    await tmux.bind_return_keys(("f9",))
    stored = tmux.command.config.with_name("return-keys")
    assert stored.stat().st_mode & 0o777 == 0o600
    stored.write_text(f"f8\nrun-shell 'touch {own_home}/was-run' q ctrl+c")
    await tmux.start_server()
    assert bound(tmux) == {"F8"}
    assert not (own_home / "was-run").exists()


async def test_agents_outlive_whoever_opened_them(tmux: Tmux, own_home: Path) -> None:
    pane = await tmux.open("api", agent(own_home))
    assert await another(tmux).look() == {pane.id: pane}


async def test_a_server_that_was_killed_is_gone_and_another_can_be_started(
    tmux: Tmux, own_home: Path
) -> None:
    await tmux.open("api", agent(own_home))
    first = await tmux.server_pid()
    assert first is not None
    identity = tmux.processes.identify(first)
    assert identity is not None
    os.kill(first, signal.SIGKILL)
    assert await tmux.processes.wait_for_end(identity, 10)
    assert tmux.command.socket.exists(), "what a killed server leaves"
    assert await tmux.look() == {}
    assert await tmux.server_pid() is None
    pane = await tmux.open("api", agent(own_home))
    assert list(await tmux.look()) == [pane.id]
    assert await tmux.server_pid() != first


async def test_a_server_without_its_socket_is_found_again(tmux: Tmux, own_home: Path) -> None:
    pane = await tmux.open("api", agent(own_home))
    tmux.command.socket.unlink()
    assert await another(tmux).look() == {pane.id: pane}
    assert tmux.command.socket.exists()


async def test_a_server_that_does_not_answer_is_silent_and_not_gone(
    tmux: Tmux, own_home: Path
) -> None:
    impatient = Tmux(
        tmux.command.socket,
        tmux.command.config,
        tmux.command.environment,
        orders=tmux.orders.folder,
        deadline=0.3,
    )

    pane = await tmux.open("api", agent(own_home))
    server = await tmux.server_pid()
    assert server is not None
    os.kill(server, signal.SIGSTOP)
    try:
        for asked in (
            impatient.look(),
            impatient.server_pid(),
            impatient.start_server(),
            impatient.capture(pane.id),
            impatient.open("web", agent(own_home)),
        ):
            begun = time.monotonic()
            with pytest.raises(PanesSilent):
                await asked
            assert time.monotonic() - begun < 30  # also on a busy machine
    finally:
        os.kill(server, signal.SIGCONT)
    assert pane.id in await tmux.look()


async def test_a_server_that_does_not_answer_is_ended_all_the_same(tmux: Tmux) -> None:
    patient = tmux.command
    server = await tmux.start_server()
    tmux.server.command = replace(patient, deadline=0.3)
    os.kill(server, signal.SIGSTOP)
    try:
        await tmux.server.stop(patience=0.3)
    finally:
        tmux.server.command = patient
    assert tmux.processes.identify(server) is None


async def test_a_session_that_was_closed_by_hand_comes_back(tmux: Tmux, own_home: Path) -> None:
    server = await tmux.start_server()
    await tmux.command.run(["kill-session", "-t", "cockpit"])
    assert await tmux.look() == {}
    pane = await tmux.open("api", agent(own_home))
    assert list(await tmux.look()) == [pane.id]
    assert await tmux.server_pid() == server


async def test_stopping_leaves_no_server_and_no_file(tmux: Tmux, own_home: Path) -> None:
    server = await tmux.start_server()
    await tmux.stop_server()
    assert tmux.processes.identify(server) is None
    await tmux.stop_server()
    left = {path.name for path in tmux.command.socket.parent.iterdir()}
    assert left <= {"t.conf", "orders"}


async def test_a_socket_path_that_is_too_long_is_said(own_home: Path) -> None:
    folder = own_home / ("d" * 120)
    tmux = Tmux(folder / "t.sock", folder / "t.conf", {"PATH": os.environ["PATH"]})

    with pytest.raises(Failed, match="too long") as caught:
        await tmux.start_server()
    assert "COCKPIT_HOME" in caught.value.hint
    assert not folder.exists()


async def test_a_tmux_that_is_missing_is_said(tmux: Tmux, own_home: Path) -> None:
    alone = Tmux(own_home / "s", own_home / "c", {"PATH": str(own_home)})

    with pytest.raises(ProgramMissing, match="tmux is not installed"):
        await alone.start_server()


@pytest.mark.parametrize(
    ("said", "will_do"),
    [
        ("tmux 3.3a", True),
        ("tmux 3.4", True),
        ("tmux 3.6a", True),
        ("tmux 10.0", True),
        ("tmux next-3.5", True),
        ("tmux master", True),
        ("tmux 3.3", False),
        ("tmux 3.2a", False),
        ("tmux 2.9", False),
        ("", False),
    ],
)
def test_an_old_tmux_is_known_by_its_version(said: str, will_do: bool) -> None:
    assert new_enough(said) is will_do


def test_an_old_tmux_is_refused(own_home: Path) -> None:
    old = own_home / "tmux"
    old.write_text("#!/bin/sh\necho tmux 2.9a\n")
    old.chmod(0o700)
    with pytest.raises(ProgramMissing, match="too old") as refused:
        check_version("tmux", {"PATH": str(own_home)})
    assert refused.value.detail == "This is tmux 2.9a; cockpit needs 3.3a or later."
    assert "https://github.com/tmux/tmux/wiki/Installing" in refused.value.hint
    assert "apt-get" not in refused.value.hint  # it would install the same version


@pytest.mark.parametrize(
    "word", [";", "a;", "a\\;", "a\\\\;", ";;", "#(touch X);", "a;b", "{", "'"]
)
async def test_every_word_reaches_tmux_as_it_is(tmux: Tmux, word: str) -> None:
    await tmux.start_server()
    lines = await tmux.command.run(
        ["set-option", "-g", "@word", word], ["show-options", "-gv", "@word"]
    )
    assert lines == [word]
    assert literal("a") == "a"
