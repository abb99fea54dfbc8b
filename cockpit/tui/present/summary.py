"""The line at the top of the agents' screen: counts by group, cost and connection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from rich.cells import cell_len

from cockpit.core.far_names import LOCAL
from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line
from cockpit.tui.present import words
from cockpit.tui.present.cost import day_spans, is_near, shown_cost
from cockpit.tui.present.hosts import connections
from cockpit.tui.present.outage import lost, remedy
from cockpit.tui.present.span import Span, fit, merged
from cockpit.tui.present.states import GROUPS, Group, group_of_state
from cockpit.tui.state.model import Connection, Day, Part
from cockpit.wire.status import AgentStatus, State

_NEED = {"needs": ("needs you", "need you")}


def summary(
    agents: Iterable[AgentStatus],
    host: str,
    connection: Connection,
    width: int,
    now: float,
    other_version: str | None = None,
    held: int = 0,
    day: Day | None = None,
) -> list[Span]:
    """Return the summary in exactly `width` cells; a lost connection replaces the counts.

    On a narrow line, the host and the agents' cost are dropped before the cost of the `day`.
    `other_version` is the supervisor's version if it differs from the screen's.
    """
    everyone = list(agents)
    left = [Span(" cockpit ", "brand"), Span(" ")]
    rights = _rights(everyone, host, day or Day())
    if other_version and connection.live:
        rights = [[Span(f"supervisor {safe_line(other_version, 20)} ", "warning")]]
    if connection.live:
        middle = _fitting(everyone, _held(held), width - _length(left))
    else:
        far = host if host != LOCAL else None
        middle = [Span(lost(connection, now, far), "error" if connection.lost_at else "muted")]
        rights = [[Span(f"{remedy(connection, far)} ", "muted")]]
    used = _length(left) + _length(middle)
    right = next((form for form in rights if used + _length(form) + 2 <= width), [])
    text = [*left, *middle]
    if used > width:
        return [Span(fit("".join(span.text for span in text), width), "brand")]
    return merged([*text, Span(" " * (width - used - _length(right))), *right])


def joined_summary(
    agents: Iterable[AgentStatus], parts: Sequence[Part], width: int, now: float, held: int = 0
) -> list[Span]:
    """Return the summary for several hosts.

    On a narrow line, the cost is dropped first, and the hosts that do not answer last.
    """
    everyone = list(agents)
    brand = [Span(" cockpit ", "brand"), Span(" ")]
    states = _states(everyone)
    counts = [*brand, *_counts(states)]
    urgent = [*brand, *_counts(states, GROUPS[:2])]
    counts += _held(held)
    for part in parts:
        if part.connection.live and not part.same_as and is_near(part.day):
            where = Span(f" · {safe_line(part.host, 24)} ", "muted")
            counts += [where, *day_spans(part.day)]
    cost = [Span(f"  {money}", "muted")] if (money := _cost(everyone)) else []
    ways = list(connections(parts, now))
    tried = [(counts, [*ways[0], *cost])]
    # Prefer the less urgent counts over the longer forms of the hosts.
    tried += [(counts, hosts) for hosts in ways[:2]]
    tried += [(left, hosts) for left in (urgent, brand) for hosts in ways]
    for left, right in tried:
        free = width - _length(left) - _length(right) - 1
        if free > 0:
            return merged([*left, Span(" " * free), *right, Span(" ")])
    return [Span(fit("".join(span.text for span in [*brand, *ways[-1]]), width), "brand")]


def title(agents: Iterable[AgentStatus]) -> str:
    """Return the terminal's title: how many agents need the user; empty if none does."""
    needing = sum(1 for agent in agents if agent.state == "needs_you")
    return f"{needing} {'needs' if needing == 1 else 'need'} you" if needing else ""


def _states(agents: Iterable[AgentStatus]) -> Counter[State]:
    """Return the number of agents by state. Called once per summary: there can be thousands."""
    return Counter([agent.state for agent in agents])


def _counts(states: Counter[State], groups: Sequence[Group] = GROUPS) -> list[Span]:
    spans: list[Span] = []
    counts: Counter[str] = Counter()
    for state, number in states.items():
        counts[group_of_state(state).key] += number
    for group in groups:
        count = counts[group.key]
        if not count:
            continue
        if spans:
            spans.append(Span(" · ", "muted"))
        one, many = _NEED.get(group.key, (group.title, group.title))
        role = f"group-{group.key}" if group.key in {"needs", "handing"} else "muted"
        spans.append(Span(f"{count} {one if count == 1 else many}", role))
    return spans or [Span("no agents", "muted")]


def _held(held: int) -> list[Span]:
    if not held:
        return []
    text = f"{counted(held, 'untrusted setting')} (inbox)"
    return [Span(" · ", "muted"), Span(text, "group-needs")]


def _fitting(agents: list[AgentStatus], after: list[Span], room: int) -> list[Span]:
    """Return the counts, then `after`, in `room` cells; drops the least urgent counts first."""
    states = _states(agents)
    for shown in range(len(GROUPS), 0, -1):
        spans = [*_counts(states, GROUPS[:shown]), *after]
        if _length(spans) <= room:
            return spans
    return spans


def _rights(agents: list[AgentStatus], host: str, day: Day) -> list[list[Span]]:
    """Return the variants of the summary's right part, the longest first."""
    today, where = day_spans(day), Span(safe_line(host, 24), "muted")
    cost = [Span(money, "muted")] if (money := _cost(agents)) else []
    tried = [[*cost, *today, where], [*today, where], today] if today else [[*cost, where]]
    return [_apart(parts) for parts in tried]


def _apart(parts: Sequence[Span]) -> list[Span]:
    spans = [piece for part in parts for piece in (Span("  ", "muted"), part)]
    return [*spans[1:], Span(" ", "muted")]


def _cost(agents: list[AgentStatus]) -> str:
    """Return the sum of the known costs, with `+` if a cost is unknown; empty if none is known."""
    costs = [shown_cost(agent) for agent in agents]
    known = [cost for cost in costs if cost]
    used = any(
        cost is None and agent.context.tokens for agent, cost in zip(agents, costs, strict=True)
    )
    return words.money(sum(known)) + ("+" if used else "") if known else ""


def _length(spans: list[Span]) -> int:
    return sum(cell_len(span.text) for span in spans)
