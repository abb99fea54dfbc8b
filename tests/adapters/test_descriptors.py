"""Our own limit of open files is raised; what we start has the one that we were given."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import resource, subprocess
from cockpit.adapters.process.descriptors import raise_limit, with_given_limit
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (200, hard))
asked = ["sh", "-c", 'ulimit -S -n; ulimit -H -n; echo "$1"', "-", "two words; $0"]
assert with_given_limit(asked) == asked
print(raise_limit(), raise_limit(), resource.getrlimit(resource.RLIMIT_NOFILE)[0], flush=True)
subprocess.run(with_given_limit(asked), check=True)
print(hard)
"""


def test_our_own_limit_is_raised_and_that_of_children_is_as_before() -> None:
    script = [sys.executable, "-c", SCRIPT]
    told = subprocess.run(script, check=True, capture_output=True, text=True)
    ours, soft, hard, words, given = told.stdout.splitlines()
    first, again, now = map(int, ours.split())
    assert 200 < first == again == now <= 65_536
    assert (soft, words) == ("200", "two words; $0")
    assert hard in (given, "unlimited")
