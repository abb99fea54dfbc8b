"""`cockpit start --host any`: ask all machines at the same time, and choose one for the agent.

Runs the step `place` for every machine: for this machine in this process, for a host over the
connection that the command keeps open. If the step fails on a host, asks the host again with
`host_setup/question.sh` over a new connection, to get the answer or the reason.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import Empty
from typing import TYPE_CHECKING, Any

import click

from cockpit import __version__
from cockpit.adapters.git.worktrees import Git
from cockpit.adapters.host_setup.question import ask_host
from cockpit.adapters.remote_host import RemoteHost
from cockpit.cli.agent_guard import refuse_inside_agent
from cockpit.cli.host_checks import HostReport, connection_problem
from cockpit.cli.host_names import loaded_configuration
from cockpit.cli.move_machines import Machine
from cockpit.cli.output import say
from cockpit.cli.placement_step import needed_repository, place
from cockpit.cli.requests import keep
from cockpit.cli.side_by_side import SideBySide
from cockpit.core import foreign_json
from cockpit.core.errors import BadUsage, CockpitError, Failed, NoSuchAgent, NotNow
from cockpit.core.far_names import LOCAL
from cockpit.core.ids import AgentName
from cockpit.core.placement import Candidate, choose, numbers
from cockpit.core.safetext import safe_line

if TYPE_CHECKING:
    from cockpit.config.hooks import Host

SECONDS = 15.0
"""Maximum seconds to wait for a machine's answer."""
GRACE_SECONDS = 5.0
"""Additional seconds for a connection to close after its time limit."""
MOST_CORES, MOST_AGENTS, MOST_LOAD, MOST_MEMORY = 100_000, 100_000, 1e6, 2**60


@dataclass(frozen=True, slots=True)
class Asked:
    """One machine's answer: whether it can start the agent, and how busy it is."""

    candidate: Candidate
    agent: str = ""
    """State of an existing agent with the new agent's name; empty if there is none."""


def choose_machine(
    name: AgentName, here: Mapping[str, Any], there: Mapping[str, Any], directory: Path
) -> str:
    """Choose a machine, print the choice with its reasons, and return the machine's name.

    `here` has the fields of `Start` for this machine, `there` those for any other machine. Raises
    `NotNow` if a machine has an agent of that name, `Failed` if no machine fits, and `NotAllowed`
    inside an agent.
    """
    refuse_inside_agent("send requests to another machine")
    needed, roots = asyncio.run(needed_repository(Git(os.environ), directory))
    request = {
        "step": "place",
        "directory": str(directory),
        "needs_repository": needed,
        "roots": roots,
    }
    hosts = {host.name: _machine(host) for host in loaded_configuration().settings.hosts}
    for host in hosts.values():
        click.get_current_context().find_root().call_on_close(host.close)
    questions: dict[str, Callable[[], Asked]] = {
        LOCAL: lambda: _ask_here(request | {"plan": dict(here)}),
        **{name: _question(host, request | {"plan": dict(there)}) for name, host in hosts.items()},
    }
    answers = _ask_all(questions)
    for asked in answers:
        if asked.agent:
            raise _exists(name, asked)
    choice = choose([asked.candidate for asked in answers])
    if choice.chosen is None:
        reasons = []
        for refused in choice.refused:
            remedy = [f"  -> {refused.remedy}"] if refused.remedy else []
            reasons += [f"{refused.name}: {refused.refusal}", *remedy]
        raise Failed(
            f"No machine can start {name}",
            "\n".join(reasons),
            "Fix one of these problems, then try again. To see all checks: cockpit hosts check",
        )
    say(f"Chose {choice.chosen.name}: {numbers(choice.chosen)}")
    for line in choice.lines():
        say(f"  {line}")
    for host in hosts.values():
        if host.kept is not None and host.name == choice.chosen.name:
            keep(host.kept)
        elif host.kept is not None:
            host.kept.close_soon()
    return choice.chosen.name


def start_directory(name: AgentName, directory: Path | None) -> Path:
    """Return the directory in which the agent would start on this machine."""
    if directory is not None:
        return directory.absolute()
    try:
        return loaded_configuration().agent(name).directory
    except NoSuchAgent:
        return Path.cwd()


def _machine(host: Host) -> Machine:
    return Machine(host.name, RemoteHost(host.name, host.connect, host.attach))


def _question(host: Machine, request: Mapping[str, Any]) -> Callable[[], Asked]:
    return lambda: _ask_there(host, request)


def _ask_all(questions: Mapping[str, Callable[[], Asked]]) -> list[Asked]:
    """Ask all machines at the same time; return the answers in the order of the questions."""
    asking = SideBySide([partial(_asked, *question) for question in questions.items()])
    end = time.monotonic() + SECONDS + GRACE_SECONDS
    answers: dict[int, Asked] = {}
    with suppress(Empty):
        while len(answers) < len(questions):
            place, answer = asking.next(max(0.0, end - time.monotonic()))
            answers[place] = answer
    silent = f"no answer within {SECONDS:g} s"
    return [answers.get(place) or _refused(name, silent) for place, name in enumerate(questions)]


def _asked(name: str, question: Callable[[], Asked]) -> Asked:
    try:
        return question()
    except CockpitError as error:
        return _refused(name, _line(error.title), _line(error.hint))


def _ask_here(request: Mapping[str, Any]) -> Asked:
    answer = asyncio.run(place(Git(os.environ), dict(request)))
    asked = read_answer(LOCAL, answer)
    if answer["supervisor"]:
        return asked
    # No supervisor is running: only with `--dry-run`, because otherwise the command starts one.
    note = "no supervisor is running: agents and the CLI were not checked"
    return read_answer(LOCAL, answer | {"supervisor": True}, note=note)


def _ask_there(host: Machine, request: Mapping[str, Any]) -> Asked:
    began = time.monotonic()
    with suppress(CockpitError):
        return read_answer(host.name, host.step(dict(request), seconds=SECONDS))
    left = SECONDS - (time.monotonic() - began)
    if left <= 0:
        return _refused(host.name, f"no answer within {SECONDS:g} s")
    assert host.host is not None
    return _ask_again(host.name, host.host.connect, request, left)


def _ask_again(
    name: str, connect: Sequence[str], request: Mapping[str, Any], seconds: float
) -> Asked:
    """Send the request to the host over a new connection; return the answer, or why there is none.

    Works even if a login shell prints something.
    """
    answer = ask_host(connect, json.dumps(request).encode() + b"\n", seconds)
    if not answer.started:
        problem = connection_problem(HostReport(name, tuple(connect), answer, seconds))
        return _refused(name, _line(problem.said), problem.remedy)
    check = f"See what is wrong: cockpit hosts check {name}"
    if any(key == "missing" for key, _ in answer.lines):
        return _refused(name, "no cockpit", f"Install cockpit: cockpit hosts install {name}")
    if answer.timed_out:
        return _refused(name, f"no answer within {SECONDS:g} s", check)
    try:
        parsed = foreign_json.loads(answer.value("answer"))
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        return _refused(name, "cockpit did not answer", check)
    return read_answer(name, parsed)


def read_answer(name: str, answer: Mapping[str, Any], *, note: str = "") -> Asked:
    """Convert a machine's JSON answer to `Asked`. The JSON may be malformed or malicious."""
    if answer.get("version") != __version__:
        from cockpit.cli.move_check import upgrade_step

        version = _line(answer.get("version"))[:40]
        return _refused(
            name,
            f"cockpit is {version or 'an older version'}; this machine has {__version__}",
            upgrade_step(None if name == LOCAL else name, version),
        )
    state = _line(answer.get("agent"))[:40]
    candidate = Candidate(
        name,
        *_refusal(name, answer),
        running=_whole(answer.get("running"), MOST_AGENTS),
        cores=_whole(answer.get("cores"), MOST_CORES) or None,
        load=_number(answer.get("load")),
        free_memory=_whole(answer.get("free_memory"), MOST_MEMORY),
        note=note,
    )
    return Asked(candidate, state)


def _refusal(name: str, answer: Mapping[str, Any]) -> tuple[str, str]:
    """Return why the machine cannot start the agent, and the next step; both empty if it can."""
    if directory := _line(answer.get("directory")):
        where = "this machine" if name == LOCAL else name
        return directory, f"Clone the repository to {where}, or pass its path: --directory DIR"
    if answer.get("supervisor") is not True:
        return "no supervisor is running", f"Start the supervisor: cockpit up --host {name}"
    error = answer.get("error")
    if isinstance(error, dict):
        return _line(error.get("title")) or "the start would fail", _line(error.get("hint"))
    return "", ""


def _refused(name: str, why: str, remedy: str = "") -> Asked:
    check = "cockpit doctor" if name == LOCAL else f"cockpit hosts check {name}"
    return Asked(Candidate(name, why, remedy or f"Check the machine: {check}"))


def _exists(name: AgentName, asked: Asked) -> CockpitError:
    host = asked.candidate.name
    where, option = ("this machine", "") if host == LOCAL else (host, f" --host {host}")
    return NotNow(
        f"{where} already has an agent {name}",
        f"State of {name}: {asked.agent}.",
        f"Choose another name, or use the existing agent: cockpit status {name}{option}",
    )


def refuse_resume() -> BadUsage:
    """Return the error for `--resume` with `--host any`: a session is on one machine only."""
    return BadUsage(
        "--resume does not work with --host any",
        "A session can only be reopened on its own machine.",
        "Choose the machine: cockpit start NAME --resume --host HOST",
    )


def _line(value: object) -> str:
    return safe_line(value, 300) if isinstance(value, str) else ""


def _whole(value: object, most: int) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most:
        return value
    return None


def _number(value: object) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MOST_LOAD:
        return float(value)
    return None
