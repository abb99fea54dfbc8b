"""Preview an agent's band with other thresholds, calculated as in the supervisor."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from cockpit.config.schema import ContextSettings
from cockpit.config.thresholds import thresholds
from cockpit.core.bands import MARK_NAMES, band, marks
from cockpit.core.reading import DEFAULT_WINDOW
from cockpit.core.safetext import safe_line
from cockpit.tui.present import words
from cockpit.tui.present.bar import context_bar
from cockpit.tui.present.span import Span, fit
from cockpit.wire.status import AgentStatus, ContextStatus, MarksStatus

NAME = 14
NUMBERS = 12


def with_marks(context: ContextStatus, wanted: ContextSettings) -> ContextStatus:
    """Return the context status with the band and the thresholds that `wanted` would give.

    Unchanged if the window is unknown.
    """
    window = wanted.override or context.window
    if window is None:
        return context
    applied = marks(thresholds(wanted), window, context.compacts_at)
    return context.model_copy(
        update={
            "window": window,
            "band": band(context.tokens, applied).value,
            "marks": MarksStatus(
                notice=applied.notice.tokens,
                warn=applied.warn.tokens,
                act=applied.act.tokens,
                force=applied.force.tokens,
            ),
        }
    )


def preview_line(agent: AgentStatus, wanted: ContextSettings | None, width: int) -> list[Span]:
    """Return a line with an agent's name, bar, tokens and change of band.

    `wanted`: the new thresholds; None for an agent that the loaded configuration does not have.
    """
    bar_width = max(8, min(32, width - NAME - NUMBERS - 26))
    context = agent.context if wanted is None else with_marks(agent.context, wanted)
    numbers = f"{words.tokens(context.tokens)}/{words.tokens(context.window)}"
    if context.tokens is None:
        numbers = words.DASH
    if wanted is None:
        change, role = "another config", "muted"
    elif context.band == agent.context.band:
        change, role = str(context.band), f"band-{context.band}"
    else:
        change, role = f"{agent.context.band} → {context.band}", f"band-{context.band}"
    return [
        Span(f"  {fit(safe_line(agent.name, 32), NAME)} ", "name"),
        *context_bar(context, bar_width),
        Span(f"  {fit(numbers, NUMBERS)} "),
        Span(change, role),
    ]


def lowered_words(
    wanted: ContextSettings,
    names: Collection[str],
    agents: Iterable[tuple[AgentStatus, ContextSettings | None]] = (),
) -> str:
    """Return a sentence for each threshold in `names` that takes effect at a lower token count.

    Calculated for the `agents`, each with its new thresholds (None: not known), as far as they use
    the thresholds in `wanted` and their window is known. Without such an agent, calculated for the
    default window. If the agents' windows differ, a sentence names its agent.
    """
    asked = thresholds(wanted)
    places = [
        (agent.name, thresholds(context), window, agent.context.compacts_at)
        for agent, context in agents
        if context is not None and (window := context.override or agent.context.window)
    ] or [("", asked, wanted.override or DEFAULT_WINDOW, None)]
    several = len({place[2:] for place in places}) > 1
    lowered: dict[tuple[str, str], list[str]] = {}
    for name in (name for name in MARK_NAMES if name in names):
        for agent_name, own, window, compacts_at in places:
            mark, written = getattr(marks(own, window, compacts_at), name), own.own(name)
            if written == asked.own(name) and mark.tokens < written.tokens(window):
                at = f"{words.tokens(mark.tokens)} of {words.tokens(window)}"
                sentence = f"{name} begins at {at}", f": {mark.why}."
                lowered.setdefault(sentence, []).append(safe_line(agent_name, 32))
    return " ".join(
        f"{begins}{_where(agents) if several else ''}{why}"
        for (begins, why), agents in lowered.items()
    )


def _where(names: Sequence[str]) -> str:
    return f" for {names[0]}{' and others' if len(names) > 1 else ''}"


def example_lines(wanted: ContextSettings, width: int) -> list[list[Span]]:
    """Return lines with the thresholds for the default window, shown while there are no agents."""
    applied = marks(thresholds(wanted), DEFAULT_WINDOW, None)
    return [
        [
            Span(f"  {fit(name, NAME)} ", f"band-{name}"),
            Span(
                fit(
                    f"{words.tokens(mark.tokens)} of {words.tokens(DEFAULT_WINDOW)}: {mark.why}",
                    max(0, width - NAME - 3),
                )
            ),
        ]
        for name, mark in (
            ("notice", applied.notice),
            ("warn", applied.warn),
            ("act", applied.act),
            ("force", applied.force),
        )
    ]
