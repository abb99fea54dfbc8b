"""The clients of one screen: one for this machine, and one for each configured host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cockpit.client.connection import BEAT
from cockpit.client.host_client import HostClient
from cockpit.client.http import HttpClient
from cockpit.client.joined_client import JoinedClient
from cockpit.core.far_names import host_and_name
from cockpit.core.ids import agent_name

if TYPE_CHECKING:
    from cockpit.adapters.kept_host import KeptHost
    from cockpit.client.client import Supervisor
    from cockpit.config.hooks import Host
    from cockpit.config.schema import Settings


class HostClients:
    """The clients of all hosts in the settings. Hosts in a file that is not trusted are ignored."""

    def __init__(self, here: HttpClient, settings: Settings) -> None:
        self.client = JoinedClient(here, [])
        self._known: dict[str, tuple[Host, KeptHost, HostClient]] = {}
        self.set_hosts(settings)

    def set_hosts(self, settings: Settings) -> Mapping[str, Supervisor]:
        """Replace the set of hosts; return every supervisor by host name, this machine first.

        The client of a host with unchanged settings is kept.
        """
        before = self._known
        self._known = {host.name: self._client_of(host) for host in settings.hosts}
        kept = {id(address) for _, address, _ in self._known.values()}
        for _, address, _ in before.values():
            if id(address) not in kept:
                address.close_soon()
        self.client.set_hosts([client for _, _, client in self._known.values()])
        return self.client.members

    def close(self) -> None:
        """Close the connections to all hosts."""
        addresses = [address for _, address, _ in self._known.values()]
        for address in addresses:
            address.close_soon()
        for address in addresses:
            address.close()

    def pane_command(self, shown_name: str) -> list[str]:
        """Return the command that shows a remote agent's pane; empty for a local agent, and for an
        agent on an unknown host."""
        host, name = host_and_name(shown_name)
        if host not in self._known:
            return []
        return self._known[host][1].host.attach_command(agent_name(name))

    def _client_of(self, host: Host) -> tuple[Host, KeptHost, HostClient]:
        known = self._known.get(host.name)
        if known is not None and known[0] == host:
            return known
        from cockpit.adapters.kept_host import KeptHost
        from cockpit.adapters.remote_host import RemoteHost

        far = KeptHost(RemoteHost(host.name, host.connect, host.attach))
        return host, far, HostClient(host.name, HttpClient(far, host.name, beat=BEAT))
