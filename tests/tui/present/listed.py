"""What tests ask of a whole list: all its lines, and its columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cockpit.tui.present.columns import Extent, Layout, layout
from cockpit.tui.present.fleet import ListedLine
from cockpit.tui.present.listing import Listing
from cockpit.tui.present.row import Row
from cockpit.wire.status import AgentStatus


def lines_of(
    agents: Iterable[AgentStatus], words_wanted: str = "", sort: str = "need", *, airy: bool = False
) -> list[ListedLine]:
    listing = Listing()
    listing.airy = airy
    listing.fill(agents, words_wanted, sort)
    return every_line(listing)


def every_line(listing: Listing) -> list[ListedLine]:
    return [listing.line(line) for line in range(listing.height)]


def layout_of(rows: Sequence[Row], width: int) -> Layout:
    extent = Extent()
    for row in rows:
        extent.put(row.name, row.age, row.cost)
    return layout(extent, width)
