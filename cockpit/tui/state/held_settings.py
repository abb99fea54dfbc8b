"""Load the untrusted settings, because the supervisors do not stream their changes."""

from __future__ import annotations

from cockpit.client.client import Client
from cockpit.client.joined_client import JoinedClient
from cockpit.core.errors import CockpitError
from cockpit.tui.state.model import Model


async def load_held(model: Model, client: Client) -> None:
    """Replace the model's untrusted settings by those that the connected hosts report now."""
    try:
        status = await client.status()
    except CockpitError:
        return  # the screens show the lost connection
    without = client.without_status if isinstance(client, JoinedClient) else ()
    model.hold(status.held, without)
