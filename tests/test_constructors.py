"""No import and no constructor touches the disk, so that a part can be built anywhere."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import json, os, sys

TOUCHES = {
    "open", "os.chmod", "os.listdir", "os.mkdir", "os.remove", "os.rename", "os.rmdir",
    "os.scandir", "socket.connect", "sqlite3.connect", "subprocess.Popen",
}
seen, watching = [], False

def heard(event, arguments):
    if watching and event in TOUCHES:
        seen.append([event, str(arguments[0])])

sys.addaudithook(heard)
"""
IMPORTS = """
import cockpit, pkgutil, importlib
names = [each.name for each in pkgutil.walk_packages(cockpit.__path__, "cockpit.")]
watching = True
for name in names:
    if not name.endswith("__main__") and ".demo." not in name:
        importlib.import_module(name)
watching = False
print(json.dumps([each for each in seen if each[1].startswith(os.environ["HOME"])]))
"""
CONSTRUCTORS = """
from pathlib import Path
from cockpit.adapters.clock import SystemClock
from cockpit.adapters.hooks.spool import Spool
from cockpit.config.paths import Places
from cockpit.supervisor.main import assembled
from cockpit.supervisor.serving import served
from cockpit.supervisor.supervisor import Supervisor
EXTRA
watching = True
places = Places.of(os.environ)
served(Supervisor(assembled(places, SystemClock()), Spool(places.spool)))
EARLY
watching = False
print(json.dumps(seen))
"""


def run(program: str) -> list[list[str]]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + program], capture_output=True, text=True, check=True
    )
    found: list[list[str]] = json.loads(done.stdout)
    return found


def test_no_constructor_of_the_supervisor_touches_the_disk(own_home: Path) -> None:
    assert run(CONSTRUCTORS.replace("EXTRA", "").replace("EARLY", "")) == []


def test_a_constructor_that_opens_is_noticed(own_home: Path) -> None:
    extra = "from cockpit.adapters.store.store import Store"
    early = 'Store(Path(os.environ["HOME"]) / "cockpit.db").open()'
    found = run(CONSTRUCTORS.replace("EXTRA", extra).replace("EARLY", early))
    assert ["sqlite3.connect", str(own_home / "home" / "cockpit.db")] in found


def test_no_import_touches_what_is_the_users(own_home: Path) -> None:
    assert run(IMPORTS) == []
