"""Commands where a supervisor holds the lock and does not answer on its socket."""

from __future__ import annotations

import os
import socket
from contextlib import ExitStack

import pytest

from cockpit.cli import doctor_setup, supervisor_process
from cockpit.cli.doctor_setup import supervisor
from cockpit.cli.places import our_places
from cockpit.cli.supervisor_process import restart_supervisor, start_supervisor, stop_supervisor
from cockpit.client.http import HttpClient
from cockpit.client.raw_request import fetch
from cockpit.core.errors import NoSupervisor, NotNow, Unreachable
from cockpit.supervisor.main import take_lock

SENTENCE = f"A supervisor is running \\(pid {os.getpid()}\\) but not answering on its socket"


def test_a_supervisor_without_its_socket_is_not_called_gone() -> None:
    places = our_places()
    places.make()
    with take_lock(places.lease), pytest.raises(NotNow, match=SENTENCE) as caught:
        stop_supervisor(agents=False)
    assert f"kill {os.getpid()}" in caught.value.hint
    assert stop_supervisor(agents=False) == 0


@pytest.mark.parametrize("agents", [False, True])
def test_down_names_the_process_of_a_silent_supervisor(
    agents: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody accepts here, as while a process is stopped; the kernel connects nevertheless."""
    monkeypatch.setattr(supervisor_process, "STATUS_SECONDS", 0.1)
    places = our_places()
    places.make()
    with socket.socket(socket.AF_UNIX) as listening, take_lock(places.lease):
        listening.bind(str(places.socket))
        listening.listen()
        with pytest.raises(NotNow, match="The supervisor does not answer") as caught:
            stop_supervisor(agents=agents)
    assert f"kill -9 {os.getpid()} (agents keep running)" in caught.value.hint
    assert ("cockpit down --agents" in caught.value.hint) == agents


def test_a_restart_names_the_process_of_a_silent_supervisor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(supervisor_process, "STATUS_SECONDS", 0.1)
    places = our_places()
    places.make()
    with socket.socket(socket.AF_UNIX) as listening, take_lock(places.lease):
        listening.bind(str(places.socket))
        listening.listen()
        with pytest.raises(NotNow, match="The supervisor does not answer") as caught:
            restart_supervisor(None)
    step = f"kill -9 {os.getpid()} (agents keep running), then: cockpit up"
    assert caught.value.hint.endswith(step)


@pytest.mark.parametrize("locked", [False, True])
def test_doctor_does_not_name_itself_as_the_next_step_for_a_silent_supervisor(
    locked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor_setup, "ANSWER_SECONDS", 0.1)
    places = our_places()
    places.make()
    with socket.socket(socket.AF_UNIX) as listening, ExitStack() as lock:
        if locked:
            lock.enter_context(take_lock(places.lease))
        listening.bind(str(places.socket))
        listening.listen()
        found = supervisor(places)
    assert found.said.startswith("The supervisor does not answer. No data from ")
    step = f". If it still fails: kill -9 {os.getpid()} (agents keep running), then: cockpit up"
    log = f"Try again in a moment. Its log: {places.logs / 'supervisor.log'}"
    assert found.remedy == log + (step if locked else "")


async def test_every_request_names_the_supervisor_that_cannot_be_reached() -> None:
    places = our_places()
    places.make()
    with take_lock(places.lease):
        with pytest.raises(Unreachable, match=SENTENCE):
            fetch(places.socket, "/v1/status")
        with pytest.raises(Unreachable, match=SENTENCE):
            await HttpClient(places.socket).status()
        assert "A supervisor is running" in supervisor(places).said
    with pytest.raises(NoSupervisor, match="No supervisor is running"):
        fetch(places.socket, "/v1/status")


def test_a_pid_in_the_lock_file_alone_is_no_supervisor() -> None:
    places = our_places()
    places.make()
    places.lease.write_text(f"{os.getpid()}\n")
    with pytest.raises(NoSupervisor, match="No supervisor is running"):
        fetch(places.socket, "/v1/status")


def test_up_says_so_when_it_has_waited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor_process, "START_SECONDS", 10.0)
    places = our_places()
    places.make()
    with take_lock(places.lease), pytest.raises(Unreachable, match=SENTENCE) as caught:
        start_supervisor(None)
    assert f"kill {os.getpid()}" in caught.value.hint
