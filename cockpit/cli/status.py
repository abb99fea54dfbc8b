"""`cockpit status`: print the state of every agent, as a table or as JSON.

Uses only the standard library and one raw request, to answer in a fraction of a second. The table
has one line per agent, so that `--watch` can print only the lines that changed.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from cockpit.cli.output import json_text, say
from cockpit.cli.places import our_places
from cockpit.cli.status_sentence import change_key, context_of, doing, sentence
from cockpit.cli.status_table import Row as TableRow
from cockpit.cli.status_table import Table
from cockpit.client.connection import BEAT, Address
from cockpit.client.raw_request import fetch, lines
from cockpit.core.errors import NoSuchAgent
from cockpit.core.safetext import quoted, safe_line

Row = dict[str, Any]
"""One agent of `status --json` as plain JSON, because importing its model would be slow."""

_STATES = {"needs_you": "needs you", "handing_off": "handing off"}


def show(
    name: str | None,
    *,
    as_json: bool,
    plain: bool = False,
    address: Path | Address | None = None,
    host: str | None = None,
    elsewhere: bool = False,
) -> int:
    """Print the current state. Raises `NoSuchAgent` for an unknown name.

    `address` is the supervisor's address; None: the local supervisor. `host` is the configured name
    of another machine; it replaces `local`, the name that the machine's own supervisor reports.
    With `elsewhere`, also prints the sessions that cockpit did not start.
    """
    status = _status(address or our_places().socket, elsewhere=elsewhere)
    if host is not None:
        status["host"] = host
    agents = _chosen(status["agents"], name)
    trouble = (status.get("supervisor") or {}).get("trouble")
    if trouble and not as_json:
        say(f"warning: {safe_line(trouble, 400)}")
    if as_json:
        print(json_text({**status, "agents": agents}))
    elif agents:
        _print_table(agents, plain=plain)
    else:
        where = "" if host is None else f" --host {host} --directory DIR"
        print(f"No agents yet. Start one: cockpit start NAME{where} --prompt 'the task'")
    if not as_json and name is None and (spent := _spent_today(status)):
        print(spent)
    if elsewhere and not as_json:
        _print_elsewhere(status.get("elsewhere"), plain=plain)
    return 0


def watch(
    name: str | None,
    *,
    as_json: bool,
    plain: bool = False,
    address: Path | Address | None = None,
) -> int:
    """Print the current state, then each line again when it changes, until the supervisor ends.

    With `plain`, prints a sentence again only when its `change_key` changes.
    """
    printed: dict[str, object] = {}
    table = Table(_room())
    with_day = name is None and not as_json
    for message in _changes(address, with_day=with_day):
        rows = list(_changed(message, name))
        table.room = _room()
        table.add(map(_table_row, rows))
        for row in rows:
            if as_json:
                line = json_text(row, indent=None)
            else:
                line = sentence(row) if plain else table.line(_table_row(row))
            # Without spaces, so that a column that has widened is no change.
            key = change_key(row) if plain and not as_json else line.split()
            if printed.get(row["name"]) != key:
                printed[row["name"]] = key
                print(line, flush=True)
        if with_day and message.get("type") == "day":
            step = _day_key(message, plain=plain)
            if printed.get("") != step and (spent := _spent_today({"supervisor": message})):
                print(spent, flush=True)
            printed[""] = step
    return 0


def _changes(address: Path | Address | None, *, with_day: bool) -> Iterator[dict[str, Any]]:
    if address is None or isinstance(address, Path):
        target = "/v1/watch?day=1" if with_day else "/v1/watch"
        return map(json.loads, lines(address or our_places().socket, target))
    from cockpit.client.foreign_status import checked_changes

    target = f"/v1/watch?beat={BEAT}" + ("&day=1" if with_day else "")
    return checked_changes(lines(address, target, silence=3.0 * BEAT), address.name)


def _day_key(message: dict[str, Any], *, plain: bool) -> object:
    """Return a key; `--watch` prints the day's cost again when the key changes.

    The key changes with each percent of the budget that is spent; with `plain`, only when the whole
    budget is spent. A changed budget changes the key too. None without a budget.
    """
    spent, budget = message.get("spent_today_usd"), message.get("budget_today_usd")
    if spent is None or not budget:
        return None
    return (budget, spent >= budget if plain else int(100 * spent / budget))


def rows(address: Path | Address, patience: float = 10.0) -> list[Row]:
    """Return every agent as the supervisor reports it. Raises `NoSupervisor`."""
    return list(_status(address, patience)["agents"])


def _table_row(agent: Row) -> TableRow:
    state = str(agent["state"])
    text = _trouble(agent) or doing(agent)
    return TableRow(agent["name"], _STATES.get(state, state), context_of(agent), text)


def other_sessions(address: Path | Address) -> list[Row] | None:
    """Return the sessions that cockpit did not start.

    None if `[elsewhere] show` is off, and for an agent that may only see itself.
    """
    sessions: list[Row] | None = _status(address, elsewhere=True).get("elsewhere")
    return sessions


def _status(
    address: Path | Address, patience: float = 10.0, *, elsewhere: bool = False
) -> dict[str, Any]:
    path = "/v1/status?elsewhere=1" if elsewhere else "/v1/status"
    answer = fetch(address, path, patience=patience)
    if isinstance(address, Path):
        status: dict[str, Any] = json.loads(answer)
        return status
    from cockpit.client.foreign_status import checked_status

    return checked_status(answer, address.name)


def _spent_today(status: dict[str, Any]) -> str | None:
    """Return today's cost and the day's budget; None without a budget."""
    supervisor = status.get("supervisor") or {}
    spent, budget = supervisor.get("spent_today_usd"), supervisor.get("budget_today_usd")
    if spent is None or not budget:
        return None
    over = "; over the day's budget" if spent >= budget else ""
    return f"${spent:.2f} of ${budget:.2f} today{over}"


def _chosen(agents: list[Row], name: str | None) -> list[Row]:
    if name is None:
        return agents
    chosen = [row for row in agents if row["name"] == name]
    if not chosen:
        known = ", ".join(row["name"] for row in agents) or "none"
        raise NoSuchAgent(
            f"No agent named {quoted(name)}",
            f"Agents: {known}.",
            hint=f"To start a new agent: cockpit start {quoted(name)}",
        )
    return chosen


def _changed(message: dict[str, Any], name: str | None) -> Iterator[Row]:
    agents: Iterable[Row] = ()
    if message.get("type") == "snapshot":
        agents = _chosen(message["status"]["agents"], name)
    elif message.get("type") == "agent":
        agents = [message["agent"]]
    yield from (row for row in agents if name in (None, row["name"]))


def table_lines(agents: list[Row], room: int | None) -> list[str]:
    """Return the table of the agents: the header, then one line for each agent.

    `room` is the width of the terminal; None if unlimited.
    """
    rows = [_table_row(agent) for agent in agents]
    table = Table(room)
    table.add(rows)
    return [table.header(), *map(table.line, rows)]


def _print_table(agents: list[Row], *, plain: bool) -> None:
    for line in map(sentence, agents) if plain else table_lines(agents, _room()):
        print(line)


def _print_elsewhere(sessions: list[Row] | None, *, plain: bool) -> None:
    """Print the sessions that cockpit did not start, below the agents."""
    from datetime import UTC, datetime

    from cockpit.cli.elsewhere import session_row, session_sentence

    if sessions is None:
        print(
            "\nSessions elsewhere are not listed: [elsewhere] show is false, or an agent ran this "
            "command."
        )
        return
    print("\nElsewhere:" if sessions else "\nNo sessions elsewhere.")
    now = datetime.now(UTC)
    if plain:
        for session in sessions:
            print(session_sentence(session, now))
        return
    rows = [session_row(session, now) for session in sessions]
    table = Table(_room())
    table.add(rows)
    for row in rows:
        print(table.line(row))


def _trouble(row: Row) -> str:
    """Return what the agent needs, or the phase of its handoff; else an empty text."""
    needs, handoff = row.get("needs"), row.get("handoff")
    if needs:
        return safe_line(f"{needs['kind']}: {needs['detail']}")
    if handoff:
        return safe_line(f"handoff {handoff['phase']}: {handoff.get('detail') or ''}").rstrip(": ")
    return ""


def _room() -> int | None:
    """Return the terminal's width; None if the output is not a terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
