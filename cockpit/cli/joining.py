"""The machines of one screen: this one and the hosts of the configuration, as it says now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cockpit.cli.status import BEAT
from cockpit.client.http import HttpClient
from cockpit.client.joined import JoinedClient
from cockpit.client.named import NamedClient
from cockpit.core.far_names import host_and_name
from cockpit.core.ids import agent_name

if TYPE_CHECKING:
    from cockpit.adapters.far_host import FarHost
    from cockpit.client.client import Supervisor
    from cockpit.config.hooks import Host
    from cockpit.config.schema import Settings


class Hosts:
    """Those alone that the pilot trusts: the configuration holds others back."""

    def __init__(self, here: HttpClient, settings: Settings) -> None:
        self.client = JoinedClient(here, [])
        self._known: dict[str, tuple[Host, FarHost, NamedClient]] = {}
        self.have(settings)

    def have(self, settings: Settings) -> Mapping[str, Supervisor]:
        """Be these and no others; every supervisor by its host, this machine's first.

        A host whose way there is as it was keeps its client.
        """
        self._known = {said.name: self._one(said) for said in settings.hosts}
        self.client.have([client for _, _, client in self._known.values()])
        return self.client.members

    def shown_there(self, told: str) -> list[str]:
        """What shows the pane of an agent of another machine; nothing for one of ours."""
        host, name = host_and_name(told)
        if host not in self._known:
            return []
        return self._known[host][1].attach_command(agent_name(name))

    def _one(self, said: Host) -> tuple[Host, FarHost, NamedClient]:
        known = self._known.get(said.name)
        if known is not None and known[0] == said:
            return known
        from cockpit.adapters.far_host import FarHost

        far = FarHost(said.name, said.connect, said.attach)
        return said, far, NamedClient(said.name, HttpClient(far, said.name, beat=BEAT))
