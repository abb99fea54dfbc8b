"""What is said of a host, from its description alone: each problem with its next step."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from cockpit import __version__
from cockpit.adapters.host_setup.remote_script import ScriptAnswer
from cockpit.cli.doctor_finding import Finding
from cockpit.cli.host_checks import HostReport
from cockpit.cli.host_list import host_lines

GOOD = {
    "ready": "", "echo": "", "system": "Linux", "uid": "1000", "home": "/home/me",
    "path": "/usr/bin:/bin", "runtime_folder": "/run/user/1000", "package_manager": "apt-get",
    "tmux_where": "path", "tmux_path": "/usr/bin/tmux", "tmux_version": "tmux 3.4",
    "git_where": "path", "git_path": "/usr/bin/git", "git_version": "git version 2.47.1",
    "python_where": "path", "python_path": "/usr/bin/python3", "python_version": "3.12.3",
    "cockpit_where": "path", "cockpit_path": "/usr/bin/cockpit",
    "cockpit_version": f"cockpit {__version__}", "linger": "yes", "status_code": "0",
    "status": f'{{"supervisor": {{"version": "{__version__}"}}, "agents": []}}', "end": "",
}  # fmt: skip
SOURCES = (
    "Install a newer tmux on the host: from your distribution's backports, with brew install tmux,"
)
SSH = ("ssh", "gpu1")


def without(*names: str, **more: str) -> dict[str, str]:
    return {key: value for key, value in GOOD.items() if not key.startswith(names)} | more


def report(told: dict[str, str], connect: tuple[str, ...] = SSH) -> HostReport:
    answer = ScriptAnswer(tuple(told.items()), complete="end" in told, code=0, round_trip=0.042)
    return HostReport("gpu1", connect, answer, 10)


def test_a_host_that_has_everything_is_fit() -> None:
    found = report(GOOD).findings()

    assert [one.topic for one in found] == [
        "reachable", "key", "python", "tmux", "git", "cockpit", "path", "sockets", "linger",
        "supervisor",
    ]  # fmt: skip
    assert {one.level for one in found} == {"fit"}
    assert found[0].said == "round trip 42 ms"


@pytest.mark.parametrize(
    ("told", "topic", "level", "said", "remedy"),
    [
        (without("tmux"), "tmux", "unfit", "Not found", "ssh -t gpu1 sudo apt-get install tmux"),
        (without(tmux_version="tmux 3.2a"), "tmux", "unfit", "3.2a; cockpit needs 3.3a", SOURCES),
        (without(tmux_version="tmux 3.2a", package_manager="brew"), "tmux", "unfit", "3.2a",
         "Upgrade tmux: ssh -t gpu1 brew upgrade tmux"),
        (without("git", package_manager="dnf"), "git", "unfit", "Not found",
         "ssh -t gpu1 sudo dnf install git"),
        (without("git", package_manager="brew", uid="501"), "git", "unfit", "Not found",
         "ssh -t gpu1 brew install git"),
        (without("git", "package"), "git", "unfit", "Not found", "Install git on the host."),
        (without("cockpit", python_version="3.9.18"), "python", "unfit", "3.9.18; cockpit needs",
         "apt-get install python3 python3-venv"),
        (without("python", "cockpit", uv_where="path", uv_path="/usr/bin/uv", uv_version="uv 0.9"),
         "python", "fit", "uv can install Python", ""),
        (without("python"), "python", "fit", "uses its own", ""),
        (without("cockpit", "status"), "cockpit", "unfit", "Not found",
         "cockpit hosts install gpu1"),
        (without("cockpit", "status", uid="0"), "cockpit", "unfit", "Not found", "ordinary user"),
        (without(cockpit_version="cockpit 0.0.1"), "cockpit", "note", "The host has 0.0.1",
         "agents keep running: cockpit hosts install gpu1"),
        (without(cockpit_version="Traceback"), "cockpit", "unfit", "prints no version",
         "ssh gpu1 /usr/bin/cockpit --version"),
        (without(tmux_where="other", tmux_path="/opt/homebrew/bin/tmux"), "path", "unfit",
         "/opt/homebrew/bin/tmux",
         'connect = ["ssh", "gpu1", "env", "PATH=/opt/homebrew/bin:/usr/bin:/bin"]'),
        (without("runtime", home="/home/" + "x" * 80), "sockets", "unfit", "limit is 107",
         "Shorten HOME on the host."),
        (without(system="Darwin", runtime_folder="/" + "r" * 83), "sockets", "unfit",
         "limit is 103", "Shorten XDG_RUNTIME_DIR on the host."),
        (without(linger="no"), "linger", "note", "when you log out",
         "ssh gpu1 loginctl enable-linger"),
        (without("status", status_code="4"), "supervisor", "note", "Not running",
         "cockpit up --host gpu1"),
        (without("status", status_code="1"), "supervisor", "unfit", "exited with code 1",
         "ssh gpu1 cockpit doctor"),
        (without(status='{"supervisor": {"version": "0.0.9"}, "agents": []}'), "supervisor", "note",
         "Runs version 0.0.9", "cockpit restart --host gpu1"),
        (without("end", "status", "linger"), "checks", "unfit", "closed before all checks",
         "ssh gpu1 cockpit doctor"),
    ],
)  # fmt: skip
def test_each_problem_has_its_next_step(
    told: dict[str, str], topic: str, level: str, said: str, remedy: str
) -> None:
    (found,) = [one for one in report(told).findings() if one.topic == topic]

    assert found.level == level
    assert said in found.said
    assert remedy in found.remedy


def problem(connect: tuple[str, ...], **answer: object) -> Finding:
    (found,) = HostReport("gpu1", connect, ScriptAnswer(**answer), 10).findings()  # type: ignore[arg-type]
    return found


@pytest.mark.parametrize(
    ("connect", "answer", "topic", "said", "remedy"),
    [
        (SSH, {"code": 255, "errors": ("me@gpu1: Permission denied (publickey).",)}, "key",
         "refused to log in", "ssh-copy-id gpu1"),
        (("ssh", "-p", "22", "gpu1"), {"code": 255, "errors": ("Permission denied",)}, "key",
         "refused to log in", "ssh-copy-id. If"),
        (SSH, {"code": 255, "errors": ("Host key verification failed.",)}, "key",
         "does not know the host's key", "ssh gpu1 true"),
        (SSH, {"timed_out": True}, "reachable", "No answer within 10 s", "ssh gpu1 true"),
        (SSH, {"cut_off": True}, "reachable", "more than 2 MB", "ssh gpu1 true"),
        (SSH, {"code": 3}, "reachable", "exited with code 3", "ssh gpu1 true"),
        (("kubectl", "-n", "x", "exec", "pod", "--"), {"code": 0}, "reachable", "without -i",
         "kubectl -n x exec -i pod --"),
        (("docker", "exec", "-i", "b"), {"code": 127, "errors": ("sh: not found",)}, "reachable",
         "sh: not found", "docker exec -i b true"),
    ],
)  # fmt: skip
def test_a_host_that_is_not_reachable_has_one_reason(
    connect: tuple[str, ...], answer: dict[str, object], topic: str, said: str, remedy: str
) -> None:
    found = problem(connect, **answer)

    assert (found.topic, found.level) == (topic, "unfit")
    assert said in found.said
    assert remedy in found.remedy


def test_a_hostile_host_decides_no_word_of_a_command_to_type() -> None:
    told = without("tmux", "git", package_manager="apt-get;reboot")

    assert all(";reboot" not in one.remedy for one in report(told).findings())
    told = without(cockpit_path="/tmp/$(reboot)/cockpit", cockpit_version="")
    (found,) = [one for one in report(told).findings() if one.topic == "cockpit"]
    assert found.remedy == "See the output: ssh gpu1 '/tmp/$(reboot)/cockpit' --version"


@pytest.mark.parametrize(
    ("started", "said"),
    [
        ("2026-11-27T09:00:00Z", "no agents  for 3h"),
        ("2026-11-27T11:59:47Z", "no agents  for 13s"),
        ("2026-11-27T12:05:00Z", "no agents"),  # the clocks differ: it is not known
        ("", "no agents"),
    ],
)
def test_a_row_says_how_long_the_supervisor_runs_only_if_that_is_known(
    started: str, said: str
) -> None:
    status = {"supervisor": {"version": __version__, "started_at": started}, "agents": []}
    told = GOOD | {"status": json.dumps(status)}
    (line,) = host_lines(report(told), 4, datetime(2026, 11, 27, 12, tzinfo=UTC))
    assert line == f"gpu1  up             {__version__:<8} {'42 ms':>7}  {said}"


def test_a_host_whose_supervisor_fails_is_listed_with_the_reason() -> None:
    told = without("status") | {"status_code": "1"}
    row, why, step = host_lines(report(told), 4, datetime(2026, 11, 27, 12, tzinfo=UTC))
    assert row.startswith("gpu1  failing ")
    assert why == "      `cockpit status` on the host exited with code 1"
    assert step == "      -> To check the host: ssh gpu1 cockpit doctor"
