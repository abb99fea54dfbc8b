"""Install cockpit on another machine, and run cockpit's commands on that machine."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cockpit.adapters.host_setup.remote_script import ScriptAnswer, run_script
from cockpit.adapters.host_setup.wheel import Wheel
from cockpit.core.errors import CockpitError, Failed, NoSupervisor

INSTALL_SECONDS = 900.0
"""Time limit of an installation: the host downloads libraries."""
COMMAND_SECONDS = 60.0
"""Time limit of a command on the host, such as `cockpit up`."""
_NO_NETWORK = re.compile(
    r"name resolution|resolve host|dns error|Could not connect|[Ff]ailed to establish a new "
    r"connection|Network is unreachable|No route to host|[Cc]onnection refused|timed out|"
    r"No matching distribution found|error sending request|[Ff]ailed to fetch",
)


@dataclass(frozen=True, slots=True)
class Installer:
    """How the host installs cockpit: with uv, or with pip in a virtual environment.

    `program` is the path of uv, or of the Python that creates the virtual environment.
    """

    way: Literal["uv", "venv"]
    program: str

    def shown_commands(self, wheel: str) -> list[str]:
        """Return the commands to show to the user before asking for confirmation."""
        program = shlex.quote(self.program)
        if self.way == "uv":
            return [f"{program} tool install --force {wheel}"]
        pip = "~/.local/share/cockpit/venv/bin/python -m pip install"
        return [
            "mkdir -p ~/.local/share/cockpit ~/.local/bin",
            f"{program} -m venv ~/.local/share/cockpit/venv",
            f"{pip} --upgrade {wheel}",
            f"{pip} --force-reinstall --no-deps {wheel}",
            "ln -sf ~/.local/share/cockpit/venv/bin/cockpit ~/.local/bin/cockpit",
        ]


def install_wheel(
    name: str,
    connect: Sequence[str],
    installer: Installer,
    wheel: Wheel,
    step: Callable[[str], None],
) -> None:
    """Send the wheel to the host and install it. Calls `step` with each command when the command
    starts.

    Raises `Failed` with the end of the installer's output, `NoSupervisor` if the connection is
    lost, and what `run_script` raises.
    """
    values = {
        "wheel": wheel.name,
        "size": str(len(wheel.data)),
        "way": installer.way,
        "program": installer.program,
    }
    answer = run_script(
        connect,
        _with_values(values, "install.sh"),
        seconds=INSTALL_SECONDS,
        payload=wheel.data,
        heard=lambda key, value: step(value) if key == "step" else None,
    )
    if not answer.value("failed") and answer.complete:
        return
    if answer.value("failed"):
        raise _failure(name, answer)
    raise _lost(name, answer, "the installation had ended")


def run_command(name: str, connect: Sequence[str], *words: str) -> tuple[int, list[str]]:
    """Run a command on the host; return its exit code and the lines of its stdout and stderr.

    Raises `NoSupervisor` if the connection is lost or the command takes longer than
    `COMMAND_SECONDS`, and what `run_script` raises.
    """
    script = f"set -- {shlex.join(words)}\n{_text('command.sh')}"
    answer = run_script(connect, script, seconds=COMMAND_SECONDS)
    if not answer.complete or not answer.value("code").isdecimal():
        raise _lost(name, answer, f"`{shlex.join(words)}` had ended")
    lines = [value for key, value in answer.lines if key == "output" and value]
    return int(answer.value("code")), lines


def _failure(name: str, answer: ScriptAnswer) -> CockpitError:
    output = [value[:300] for key, value in answer.lines if key == "output"]
    if any(_NO_NETWORK.search(line) for line in output):
        return Failed(
            f"{name} could not download the libraries that cockpit needs",
            "\n".join(output[-4:]),
            "The libraries come from the package index, so the machine needs a network. Behind a "
            "proxy, set HTTPS_PROXY there. Without a network, copy the wheels of all libraries "
            "there and install them with: pip install --no-index --find-links FOLDER cockpit",
        )
    return Failed(
        f"Cannot install cockpit on {name}",
        "\n".join([f"Failed: {answer.value('failed')[:300]}", *output[-8:]]),
        "Run the failed command on the host to see its whole output.",
    )


def _lost(name: str, answer: ScriptAnswer, until: str) -> CockpitError:
    why = "The installation took too long." if answer.timed_out else "\n".join(answer.errors)
    return NoSupervisor(
        f"Lost connection to {name} before {until}",
        why or "The connection ended.",
        "Check the connection to the host, then try again.",
    )


def _with_values(values: dict[str, str], file: str) -> str:
    lines = [f"{key}={shlex.quote(value)}" for key, value in values.items()]
    return "\n".join([*lines, _text(file)])


def _text(file: str) -> str:
    return Path(__file__).with_name(file).read_text(encoding="utf-8")
