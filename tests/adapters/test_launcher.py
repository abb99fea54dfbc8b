"""What is ordered is what runs: same bytes, same place, at most once."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cockpit.adapters.process.launch_order import (
    LONGEST_ARGUMENT,
    LONGEST_PIECE,
    MOST_LINES,
    LaunchOrders,
)
from cockpit.core.errors import BadUsage
from cockpit.core.prompt_files import mention, prompt_files
from cockpit.ports.panes import Launch

TELL = (
    "import json, os, sys; json.dump({'argv': [os.fsencode(a).hex() for a in sys.argv[1:]],"
    " 'environment': {n: v for n, v in os.environ.items() if n != 'LC_CTYPE'},"
    " 'directory': os.getcwd(), 'pid': os.getpid()}, sys.stdout)"
)
TELLER = (sys.executable, "-I", "-S", "-c", TELL)


@pytest.fixture
def orders(own_home: Path) -> LaunchOrders:
    return LaunchOrders(own_home / "run" / "orders")


def carried_out(orders: LaunchOrders, launch: Launch) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(orders.command(launch), capture_output=True, check=False, timeout=60)


def told(orders: LaunchOrders, launch: Launch) -> dict[str, object]:
    done = carried_out(orders, launch)
    assert done.returncode == 0, done.stderr
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


def arguments(*texts: str) -> list[str]:
    return [text.encode().hex() for text in texts]


HOSTILE = [
    "",
    " ",
    "-",
    "--help",
    "-p x",
    'it\'s "quoted" `touch X` $(touch X) $HOME ${IFS}',
    "#(touch X) #{pane_id} %1 ;",
    "ends with ;",
    ";",
    "back\\slash\\;\n\n",
    "tab\tcr\rlf\n esc\x1b[201~ bell\x07",
    "grün 日本 👩‍👧\u202e",
    "line\n" * 1000 + "\n\n",
]


@pytest.mark.parametrize("prompt", HOSTILE)
def test_a_prompt_arrives_byte_for_byte_after_two_dashes(
    orders: LaunchOrders, own_home: Path, prompt: str
) -> None:
    answer = told(orders, Launch((*TELLER, "first"), own_home, {}, prompt))
    assert answer["argv"] == arguments("first", "--", prompt)


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(words=st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))))
def test_arguments_and_variables_arrive_as_they_are(
    orders: LaunchOrders, own_home: Path, words: Sequence[str]
) -> None:
    environment = {f"BASH_FUNC_{number}%%": word for number, word in enumerate(words)}
    answer = told(orders, Launch((*TELLER, *words), own_home, environment))
    assert answer["argv"] == arguments(*words)
    assert answer["environment"] == environment


def test_the_environment_is_exactly_the_ordered_one(
    orders: LaunchOrders, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "from outside")
    environment = {"A": "1", "EMPTY": "", "LINES": "a\nb", "EQUALS": "x=y"}
    assert told(orders, Launch(TELLER, own_home, environment))["environment"] == environment


def test_the_longest_prompt_is_an_argument_and_a_longer_one_a_file(
    orders: LaunchOrders, own_home: Path
) -> None:
    fits = "é" * (LONGEST_ARGUMENT // 2)
    assert told(orders, Launch(TELLER, own_home, {}, fits))["argv"] == arguments("--", fits)
    long = "x" * 200_000 + "'$(touch X)\n"
    answer = told(orders, Launch(TELLER, own_home, {}, long))
    assert isinstance(answer["argv"], list)
    line = bytes.fromhex(answer["argv"][1]).decode()
    path = Path(line.removeprefix("Read the file ").removesuffix(" and do what it says."))
    assert path.read_text() == long
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_prompt_is_in_no_argument_where_a_file_can_be_mentioned(
    own_home: Path,
) -> None:
    secret = "Tr0ub4dor&3-" + "xK9p$%"
    prompt = f"Log in with DB_PASSWORD={secret} and go on.\nThen stop."
    environment = {"PATH": os.environ["PATH"], "ROOM_KEY_TOKEN": "tiger-471-value"}
    orders = LaunchOrders(own_home / "with a space")
    place = own_home / "prompts" / "api-0123"
    for text in (prompt, "The room is tiger-471-value.", "no secret"):
        launch = Launch(TELLER, own_home, environment, text, mention=mention, prompt_folder=place)
        (path,) = mentioned(orders, launch)
        assert path.parent == place
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
        assert path.read_text() == text
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    command = replace(
        Launch(TELLER, own_home, environment, "/review", mention=mention), literal=True
    )
    assert told(orders, command)["argv"] == arguments("--", "/review")
    (path,) = mentioned(orders, replace(command, prompt=prompt))
    assert path.read_text() == prompt
    quoted = LaunchOrders(own_home / 'with "quotes"')
    launch = Launch(TELLER, own_home, environment, prompt, mention=mention)
    assert told(quoted, launch)["argv"] == arguments("--", prompt)


@pytest.mark.parametrize(
    "line",
    ["some words on a line\n", "a\n", "🚀" * 30_000, "é" * 9_999 + "x\n", "\n" * 1_000],
    ids=["lines", "short lines", "one line", "lines as long as a file", "empty lines"],
)
def test_a_long_prompt_is_mentioned_in_pieces_that_are_read_whole(
    own_home: Path, line: str
) -> None:
    orders = LaunchOrders(own_home / "pieces")
    text = (line * (LONGEST_ARGUMENT // len(line.encode()) + 1)) + "the end"
    environment = {"PATH": os.environ["PATH"]}
    launch = Launch(TELLER, own_home, environment, text, mention=mention)
    pieces = [path.read_text() for path in mentioned(orders, launch)]
    assert "".join(pieces) == text
    assert all(len(piece.encode()) <= LONGEST_PIECE for piece in pieces)
    assert all(piece.count("\n") <= MOST_LINES for piece in pieces)
    assert "\ufffd" not in "".join(pieces)


def test_the_files_of_a_prompt_are_found_in_what_the_agent_was_told() -> None:
    file = "/home/me/my state/prompt-0123456789abcdef.md"
    assert prompt_files(mention([Path(file), Path(file)])) == [file] * 2
    assert prompt_files(f"Read the file {file} and do what it says.") == [file]
    assert prompt_files(f"Do what @{file} says.") == [file]
    assert prompt_files(f"Do what @{file} says. And more.") == []


def mentioned(orders: LaunchOrders, launch: Launch) -> list[Path]:
    answer = told(orders, launch)
    assert isinstance(answer["argv"], list)
    assert len(answer["argv"]) == 2
    files = [Path(name) for name in prompt_files(bytes.fromhex(answer["argv"][1]).decode())]
    assert files
    return files


def test_the_process_is_the_agent_itself(orders: LaunchOrders, own_home: Path) -> None:
    process = subprocess.Popen(orders.command(Launch(TELLER, own_home)), stdout=subprocess.PIPE)
    output, _ = process.communicate(timeout=60)
    assert json.loads(output)["pid"] == process.pid


def test_signals_are_as_a_program_expects_them(orders: LaunchOrders, own_home: Path) -> None:
    # Not a Python to tell it: that would ignore them again by itself.
    shell = Launch(("/bin/sh", "-c", "grep SigIgn /proc/self/status"), own_home, dict(os.environ))
    ignored = int(carried_out(orders, shell).stdout.split()[-1], 16)
    pipe, file_size = 1 << 12, 1 << 24
    assert ignored & (pipe | file_size) == 0


def test_orders_are_private_and_used_once(orders: LaunchOrders, own_home: Path) -> None:
    command = orders.command(Launch(TELLER, own_home))
    order = Path(command[-1])
    assert stat.S_IMODE(order.stat().st_mode) == 0o600
    assert stat.S_IMODE(order.parent.stat().st_mode) == 0o700
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    assert not order.exists()
    again = subprocess.run(command, capture_output=True, check=False)
    assert again.returncode == 125
    assert b"cannot read the launch file" in again.stderr


def test_a_kept_order_can_be_carried_out_again(orders: LaunchOrders, own_home: Path) -> None:
    command = orders.command(Launch(TELLER, own_home), kept_as="home")
    for _ in range(2):
        assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    orders.sweep()
    assert list(orders.folder.iterdir()) == []


def test_a_directory_that_is_gone_is_said_and_nothing_runs(
    orders: LaunchOrders, own_home: Path
) -> None:
    done = carried_out(orders, Launch(("touch", "X"), own_home / "gone\x1b[2J", dict(os.environ)))
    assert done.returncode == 125
    assert b"cannot enter the directory" in done.stderr
    assert b": No such file or directory" in done.stderr
    assert b"\x1b" not in done.stderr
    assert not Path("X").exists()


def test_a_directory_that_became_a_link_is_refused(orders: LaunchOrders, own_home: Path) -> None:
    (own_home / "work").mkdir()
    command = orders.command(Launch(TELLER, own_home / "work"))
    (own_home / "work").rename(own_home / "moved")
    (own_home / "work").symlink_to(own_home / "moved")
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 125
    assert b"leads to another directory" in done.stderr


@pytest.mark.parametrize(
    ("argv", "mode", "code", "said"),
    [
        (("{}/nothing",), None, 127, b"no such program"),
        (("nothing-of-that-name",), None, 127, b"no such program"),
        (("{}/program",), 0o600, 126, b"Permission denied"),
        (("{}/program",), 0o700, 126, b"Exec format error"),
    ],
)
def test_a_program_that_cannot_run_says_why(
    orders: LaunchOrders,
    own_home: Path,
    argv: Sequence[str],
    mode: int | None,
    code: int,
    said: bytes,
) -> None:
    if mode is not None:
        (own_home / "program").write_bytes(b"\0\1\2\3")
        (own_home / "program").chmod(mode)
    full = [word.format(own_home) for word in argv]
    done = carried_out(orders, Launch(full, own_home, {"PATH": os.environ["PATH"]}))
    assert done.returncode == code
    assert said in done.stderr


async def test_a_lease_is_held_by_one_at_a_time_and_by_its_children(
    orders: LaunchOrders, own_home: Path
) -> None:
    lease = own_home / "api.lease"
    holding = ("/bin/sh", "-c", "sleep 600 & echo $$; wait")
    environment = dict(os.environ)
    first = subprocess.Popen(
        orders.command(Launch(holding, own_home, environment, lease=lease)),
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert first.stdout is not None
    with first.stdout:
        pid = int(first.stdout.readline())
        refused = carried_out(orders, Launch(TELLER, own_home, {}, lease=lease))
        assert refused.returncode == 125
        assert (
            f"another process is already running here: {pid} has locked".encode() in refused.stderr
        )
        first.kill()
        first.wait()
        # The shell is gone, and its child works on.
        assert carried_out(orders, Launch(TELLER, own_home, {}, lease=lease)).returncode == 125
        os.killpg(pid, 9)
    async with asyncio.timeout(120):
        while carried_out(orders, Launch(TELLER, own_home, {}, lease=lease)).returncode:
            await asyncio.sleep(0.01)
    assert stat.S_IMODE(lease.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "launch",
    [
        Launch((), Path("/")),
        Launch(("a\0b",), Path("/")),
        Launch(("a",), Path("/"), {"A": "b\0"}),
        Launch(("a",), Path("/"), {"A=B": "c"}),
        Launch(("a",), Path("/"), {"": "c"}),
    ],
)
def test_what_no_process_can_be_started_with_is_refused(
    orders: LaunchOrders, launch: Launch
) -> None:
    with pytest.raises(BadUsage):
        orders.command(launch)
    assert not list(orders.folder.glob("*.order"))
