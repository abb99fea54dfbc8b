"""Show the agents of a supervisor once if several hosts lead to that supervisor, for example one
machine under two names.

Hosts that report the same supervisor id count as the same supervisor, so a host can hide the agents
of another host only by reporting the other host's id. The first host in the configuration that
answers shows the agents. The top line and a message name both hosts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cockpit.core.far_names import LOCAL, far_name, host_and_name
from cockpit.core.safetext import safe_line

if TYPE_CHECKING:
    from cockpit.tui.state.model import Model, Part


def settle_duplicates(model: Model) -> None:
    """Update which host shows the agents, for each supervisor that several hosts lead to.

    Keeps the selected agent. Idempotent.
    """
    showing, selected = shown_hosts(model.parts), model.selected
    changed = [host for host, part in model.parts.items() if part.same_as != showing.get(host)]
    for host in changed:
        model.parts[host].same_as = showing.get(host)
    for host in changed:
        model.replace(model.parts[host])
    if changed and selected and selected not in model.agents:
        before, own = host_and_name(selected)
        shown = showing.get(before or LOCAL)
        other = own if shown == LOCAL else far_name(shown, own) if shown else ""
        if other in model.agents:
            model.select(other)


def shown_hosts(parts: Mapping[str, Part]) -> dict[str, str]:
    """Map every host whose agents are shown by another host to that other host.

    Of the hosts that lead to one supervisor, the first that answers shows the agents. If none
    answers, the host that showed the agents before still does.
    """
    together: dict[str, list[str]] = {}
    for host, part in parts.items():
        if part.instance:
            together.setdefault(part.instance, []).append(host)
    showing: dict[str, str] = {}
    for hosts in together.values():
        live = [host for host in hosts if parts[host].connection.live]
        before = [host for host in hosts if not parts[host].same_as]
        first = (live or before or hosts)[0]
        showing |= {host: first for host in hosts if host != first}
    return showing


def duplicate_messages(parts: Mapping[str, Part]) -> dict[str, str]:
    """Return a message for each pair of hosts that lead to one supervisor.

    The key of a message is the pair's host names, sorted, with a space between.
    """
    duplicates = [(part.host, part.same_as) for part in parts.values() if part.same_as]
    return {" ".join(sorted(pair)): _message(*pair) for pair in duplicates}


def _message(host: str, shown: str) -> str:
    same = "this machine" if shown == LOCAL else f"the same supervisor as {safe_line(shown, 32)}"
    name = safe_line(host, 32)
    return (
        f"{name} is {same}; its agents are shown once. "
        f"To remove the second name: cockpit hosts remove {name}"
    )
