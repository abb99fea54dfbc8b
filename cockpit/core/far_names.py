"""Names across machines: an agent of another one is `host/name`, as none can be called itself."""

from __future__ import annotations

LOCAL = "local"
"""What this machine is called."""
LONGEST_NAME = 32 + 1 + 32
"""Characters of a name, with that of its host."""
_BETWEEN = "/"


def far_name(host: str, name: str) -> str:
    """What an agent, or a handoff, of another machine is called here."""
    return f"{host}{_BETWEEN}{name}"


def host_and_name(told: str) -> tuple[str | None, str]:
    """The other machine, and what it is called there; no machine for one of ours."""
    host, between, name = told.partition(_BETWEEN)
    return (host, name) if between else (None, told)
