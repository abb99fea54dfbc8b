"""The name under which this process sends requests. Standard library and `core` only."""

from __future__ import annotations

import os
import pwd
import socket
from functools import cache

from cockpit.core.actors import actor_name


@cache
def this_user() -> str:
    """Return the names of this process's user and machine, such as `ana@laptop`."""
    try:
        login = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a container can run a uid that has no name
        login = str(os.getuid())
    return actor_name(login, socket.gethostname())
