"""The items of the inbox: each question or problem for the user, its age and the next step.

Built from the agents' status, the untrusted settings and the lost hosts. Blocked agents are first;
of equally urgent items, newer ones come first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from itertools import groupby
from pathlib import PurePath

from rich.cells import cell_len

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.far_names import LOCAL, LONGEST_NAME, command_name, host_and_name
from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line, safe_text
from cockpit.tui.keys.reasons import or_press, press_key
from cockpit.tui.present import states, words
from cockpit.tui.present.cost import over_budget
from cockpit.tui.present.hosts import LOST, lost_step, lost_why
from cockpit.tui.present.span import Span, broken, fit, fit_words, merged
from cockpit.tui.present.states import look_of
from cockpit.tui.state.model import Part, default_key
from cockpit.wire.status import AgentStatus, HeldSetting, Needs

_URGENCY = {
    "permission": 0, "question": 0, "trust": 0, "failed": 0,
    "review": 1, "handoff": 1, "breaker": 1, "resume": 1,
    "usage_limit": 2, "lost": 2,
    "budget": 3, "snoozed": 3,
    "held": 4,
}  # fmt: skip

KeyOf = Callable[[str], str]
"""Returns an action's key as printed on a keyboard; empty without a key."""
_STEPS = {
    "permission": "{answer} to answer here, {or_open} to answer in the agent's pane.",
    "question": "{answer} to answer here, {or_open} to answer in the agent's pane.",
    "trust": "{open} to answer in the agent's pane.",
    "review": "{open} to read the document, then approve, edit, refuse or snooze.",
    "handoff": "{open} to read the draft, then approve, refuse or snooze.",
    "breaker": "{open} to read the draft, then approve, refuse or snooze.",
    "usage_limit": "Send the agent a new prompt once the limit resets.",
    "resume": "{resume} in the list of agents to reopen all interrupted agents.",
    "failed": "{open} to see the agent's last output.",
}
"""The next step for each kind of need, with placeholders for the keys."""

KIND = 14
"""Cells of an item's glyph and kind."""


@dataclass(frozen=True, slots=True)
class Item:
    """One item of the inbox. Control characters are removed from the texts."""

    key: str
    kind: str
    """A kind of need, or `snoozed`, `budget`, `held` (an untrusted file) or `lost` (a host)."""
    glyph: str
    word: str
    role: str
    who: str
    what: str
    """The summary, in one line."""
    since: str | None
    agent: str | None
    """The name of the agent; None for an item about a file or a host."""
    says: tuple[str, ...]
    """The full text, line by line."""
    step: str
    """The next step for the user, as a sentence."""


def items(
    agents: Collection[AgentStatus],
    held: Sequence[HeldSetting] = (),
    lost: Sequence[Part] = (),
    key_of: KeyOf = default_key,
    in_commands: Callable[[str], str] = command_name,
) -> list[Item]:
    """Return the items, most urgent first; of equally urgent items, the newest first.

    `held` are settings of files that the user has not trusted; `lost` are hosts that do not answer.
    `in_commands` returns an agent's name as typed in a command: `NAME`, or `NAME --host HOST`.
    """
    away = {part.host for part in lost}
    collected = [
        _item(agent, agent.needs, key_of, last_known=_host_of(agent) in away)
        for agent in agents
        if agent.needs
    ]
    snoozed = [agent for agent in agents if agent.is_snoozed and not agent.needs]
    collected += [_snoozed(agent, key_of) for agent in snoozed]
    collected += [_over(agent, in_commands(agent.name)) for agent in agents if agent.over_budget]
    by_file = groupby(sorted(held, key=_file_of), key=_file_of)
    collected += [_held(host, file, list(group)) for (host, file), group in by_file]
    collected += [_lost(part) for part in lost]
    newest_first = sorted(collected, key=lambda item: item.since or "", reverse=True)
    return sorted(newest_first, key=lambda item: _URGENCY[item.kind])


def _host_of(agent: AgentStatus) -> str:
    return host_and_name(agent.name)[0] or LOCAL


def _file_of(setting: HeldSetting) -> tuple[str, str]:
    return setting.host or "", setting.file


def _item(agent: AgentStatus, needs: Needs, key_of: KeyOf, *, last_known: bool) -> Item:
    look = look_of(agent.model_copy(update={"state": "needs_you"}))
    if last_known:
        look = states.last_known(look)
    about = agent.handoff.id if agent.handoff and needs.kind in {"review", "handoff"} else ""
    return Item(
        key=f"{agent.name} {needs.kind} {about}",
        kind=needs.kind,
        glyph=look.glyph,
        word=look.word,
        role=f"state-{look.role}",
        who=safe_line(agent.name, LONGEST_NAME),
        what=_what(needs).removeprefix(f"{look.word} "),
        since=needs.since or agent.last_activity_at,
        agent=agent.name,
        says=_says(needs),
        step=_step(agent, needs, key_of),
    )


def _snoozed(agent: AgentStatus, key_of: KeyOf) -> Item:
    assert agent.handoff is not None
    kind = "handoff" if agent.handoff.phase == "asked" else "review"
    asks = "Hand off?" if kind == "handoff" else "The document is ready for review"
    until = words.snoozed(agent.handoff) or ""
    return Item(
        key=f"{agent.name} snoozed {agent.handoff.id}",
        kind="snoozed",
        glyph="◇",
        word="snoozed",
        role="muted",
        who=safe_line(agent.name, LONGEST_NAME),
        what=f"{until.removeprefix('snoozed ')}: {asks}",
        since=agent.handoff.since,
        agent=agent.name,
        says=(f"{asks.rstrip('?')}: {until}.",),
        step=_usual_step(kind, key_of),
    )


def _over(agent: AgentStatus, in_commands: str) -> Item:
    """Return the item for a job whose cost has reached the budget.

    The item is a notice: the agent does not wait for an answer. `in_commands` is the agent's name
    as typed in a command.
    """
    text = f"The job has {over_budget(agent) or 'reached its budget'}."
    return Item(
        key=f"{agent.name} budget {agent.job} {agent.budget_usd}",
        kind="budget",
        glyph="$",
        word="budget",
        role="warning",
        who=safe_line(agent.name, LONGEST_NAME),
        what=text,
        since=None,
        agent=agent.name,
        says=(text, "cockpit does not stop the agent."),
        step="Raise limits.cost, hand off the job with a smaller task, or stop the agent: "
        f"cockpit stop {safe_line(in_commands, 100)}",
    )


def _what(needs: Needs) -> str:
    if needs.tool:
        words = " ".join((needs.command or "").split())
        return safe_line(f"{needs.tool}: {words}".rstrip(": "), 300)
    return safe_line(needs.detail, 300)


def _says(needs: Needs) -> tuple[str, ...]:
    if needs.tool is None:
        return (safe_line(needs.detail, 1000),)
    lines = safe_text(needs.command or "", 4000).splitlines()
    return (f"{safe_line(needs.tool, 60)} needs permission for:", *(f"  {line}" for line in lines))


def _step(agent: AgentStatus, needs: Needs, key_of: KeyOf) -> str:
    if needs.kind == "usage_limit" and needs.resets_at:
        at = _reset_time(needs.resets_at, needs.since)
        return f"The limit resets at {at}; then send the agent a prompt."
    if needs.kind == "failed" and agent.pane is None and agent.pid is not None:
        # The supervisor refuses to start an agent whose process is still running.
        stop = press_key(key_of, "stop")
        return (
            f"{stop} in the list of agents to stop the agent's process, then start the agent again."
        )
    if needs.kind == "failed" and agent.pane is None:
        return f"{press_key(key_of, 'start')} in the list of agents to start the agent again."
    if needs.answerable is False:
        return f"{press_key(key_of, 'inbox.open')} to answer in the agent's pane."
    return _usual_step(needs.kind, key_of)


def _usual_step(kind: str, key_of: KeyOf) -> str:
    return _STEPS[kind].format(
        answer=press_key(key_of, "inbox.answer"),
        open=press_key(key_of, "inbox.open"),
        or_open=or_press(key_of, "inbox.open"),
        resume=press_key(key_of, "resume"),
    )


def _reset_time(resets: str, since: str | None) -> str:
    """Return when the usage limit resets; with the date, unless the limit resets on the day of
    `since`."""
    try:
        return words.until(resets, datetime.fromisoformat(since or resets))
    except (ValueError, OverflowError):
        return words.stamp(resets)


def _lost(part: Part) -> Item:
    return Item(
        key=f"/lost {part.host}",
        kind="lost",
        glyph=LOST,
        word="lost",
        role="error",
        who=safe_line(part.host, 32),
        what=lost_why(part),
        since=None,
        agent=None,
        says=(lost_why(part), "The host's agents are shown as last known."),
        step=lost_step(part),
    )


def _held(host: str, file: str, held: list[HeldSetting]) -> Item:
    there = f" on {safe_line(host, 32)}" if host else ""
    settings = counted(len(held), "setting")

    return Item(
        key=f"/held {host} {file}",
        kind="held",
        glyph="▢",
        word="untrusted",
        role="warning",
        who=safe_line(PurePath(file).name, 32),
        what=f"{settings} ignored until you trust this file",
        since=None,
        agent=None,
        says=(
            f"{safe_line(file, 300)}{there}:",
            *(safe_line(f"  line {setting.line}: {_shown(setting)}, because {setting.reason}", 300)
              for setting in held),
        ),
        step=f"Read the file, then{there}: cockpit config trust {safe_line(file, 300)}",
    )  # fmt: skip


def _shown(held: HeldSetting) -> str:
    """Return a setting's key, with the agent's name instead of the index in `[[agents]]`."""
    if held.agent is None or not held.key.startswith("agents["):
        return held.key
    return f"agents.{held.agent}.{held.key.partition('].')[2]}"


def line(item: Item, width: int, now: datetime, widest: int) -> list[Span]:
    """Return the line of an item in `width` cells, `widest` of them for the name."""
    age = words.age(words.seconds_since(item.since, now)) if item.since else ""
    kind = fit(f"{item.glyph} {item.word}", KIND)
    who = fit(item.who, widest)
    return merged(
        [
            Span(f"{kind} ", item.role),
            Span(f"{who}  ", "name"),
            Span(fit_words(item.what, _room(width, widest))),
            Span(fit(age, 6, right=True), "age"),
        ]
    )


def _room(width: int, widest: int) -> int:
    return max(0, width - KIND - 1 - widest - 2 - 5 - 1)


def fits_line(item: Item, width: int, widest: int) -> bool:
    """Return whether the item's line already shows its full text."""
    # Compare exactly: runs of spaces in a command may matter.
    command = item.what.partition(": ")[2] if item.kind == "permission" else ""
    whole = len(item.says) == 1 or (bool(command) and item.says[1:] == (f"  {command}",))
    return whole and cell_len(item.what) <= _room(width, widest)


def widest_name(found: Iterable[Item], width: int) -> int:
    """Return the width of the name column in cells: that of the longest name, with a maximum.

    The maximum is a fifth of `width`, but not less than 8 cells.
    """
    return min(max((cell_len(item.who) for item in found), default=4), max(8, width // 5))


def heading(found: Sequence[Item], host: str, width: int, *, lost: bool = False) -> list[Span]:
    """Return the line at the top: the number of items of each kind.

    The host is left out if there is no room, but a `lost` connection is always shown.
    """
    waiting = [item for item in found if item.kind not in {"held", "snoozed", "budget"}]
    kinds = dict.fromkeys(item.word for item in waiting)
    counts = [f"{sum(item.word == kind for item in waiting)} {kind}" for kind in kinds]
    numbers = {
        word: sum(item.word == word for item in found)
        for word in ("budget", "snoozed", "untrusted")
    }
    counts += [f"{number} {word}" for word, number in numbers.items() if number]
    right = f" {safe_line(host, 60)} " if lost else f"{safe_line(host, 24)} "
    right = right if lost or cell_len(right) < width // 3 else ""
    room = width - len(" Inbox ") - 1 - cell_len(right)
    text = fit(_fitting_counts(counts, room) or "nothing needs you", max(0, room))
    role = "group-needs" if waiting else "muted"
    where = Span(right, "error" if lost else "muted")
    return [Span(" Inbox ", "brand"), Span(" "), Span(text, role), where]


def _fitting_counts(counts: Sequence[str], room: int) -> str:
    """Return the counts that fit into `room` cells, with an ellipsis for the others.

    If not even one count fits, returns all counts; the caller cuts the text.
    """
    for shown in range(len(counts), 0, -1):
        text = " · ".join([*counts[:shown], *(["…"] if shown < len(counts) else [])])
        if cell_len(text) <= room:
            return text
    return " · ".join(counts)


def detail(item: Item | None, width: int, most: int, *, is_shown: bool = False) -> list[list[Span]]:
    """Return an item in full, wrapped to `width`, in at most `most` lines.

    If the item's line already shows everything (`is_shown`), returns only the next step.
    """
    if item is None:
        return []
    lines = [piece for text in item.says for piece in broken(text, width - 2)]
    steps = broken(item.step, width - 2)
    if is_shown:
        return [[Span(f" {line}", "muted")] for line in steps]
    room = max(1, most - len(steps) - 1)
    if len(lines) > room:
        left = len(lines) - room + 1
        lines = [*lines[: room - 1], f"  … {counted(left, 'more line')}"]
    return [
        *([Span(f" {line}")] for line in lines),
        [],
        *([Span(f" {line}", "muted")] for line in steps),
    ]
