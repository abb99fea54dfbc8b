"""One module decides whether the facilities of Linux are used."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[2] / "cockpit"
LINUX_ONLY = re.compile(
    r"pidfd_|memfd_create|sched_getaffinity|O_PATH|CLOCK_BOOTTIME|asyncinotify|syncfs\("
    r"|\"/proc[/\"]|/proc/(self|\{)"
)


def test_whatever_only_linux_has_asks_the_switch() -> None:
    users = {
        path.relative_to(HOUSE).as_posix(): "USES_LINUX" in text
        for path in HOUSE.rglob("*.py")
        if LINUX_ONLY.search(text := path.read_text(encoding="utf-8"))
    }
    assert len(users) > 8
    assert [file for file, asks in users.items() if not asks] == []


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is nothing to switch off")
@pytest.mark.parametrize(("value", "used"), [(None, True), ("", True), ("1", False)])
def test_the_environment_switches_them_off(value: str | None, *, used: bool) -> None:
    program = "from cockpit.config.kernel import USES_LINUX; print(USES_LINUX)"
    environment = {**os.environ}
    environment.pop("COCKPIT_PORTABLE", None)
    if value is not None:
        environment["COCKPIT_PORTABLE"] = value
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, env=environment, check=True
    )
    assert done.stdout.decode().strip() == str(used)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is nothing to take away")
@pytest.mark.parametrize("call", ["pids()", "entry(1)", "boot_id()"])
def test_what_is_used_in_spite_of_the_switch_is_found(call: str) -> None:
    program = (
        "from cockpit.config import kernel\nkernel.USES_LINUX = True\n"
        "import tests.without_linux\ntests.without_linux.take_away()\n"
        f"from cockpit.adapters.process import process_table\nprocess_table.{call}\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 1
    assert "in spite of COCKPIT_PORTABLE" in done.stderr
