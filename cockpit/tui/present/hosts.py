"""Texts about the connections to hosts: state, time of the loss, reason, and the next step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from cockpit.core.far_names import LOCAL
from cockpit.core.safetext import safe_line
from cockpit.tui.present import words
from cockpit.tui.present.span import Span
from cockpit.tui.state.model import Connection, Model, Part

LIVE, CONNECTING, LOST = "●", "◌", "○"
_BETWEEN = Span(" · ", "muted")


def connections(parts: Sequence[Part], now: float) -> Iterator[list[Span]]:
    """Yield variants of a line with the connections' states, the longest first.

    The shorter variants name only the hosts without a connection, or only count hosts.
    """
    wrong = [part for part in parts if not part.connection.live]
    yield _joined(_one(part, now) for part in parts)
    if not wrong:
        yield [Span(f"{len(parts)} hosts {LIVE}", "muted")]
        return
    yield _joined(_one(part, now) for part in wrong)
    if lost := [part for part in wrong if part.connection.lost_at is not None]:
        count = "1 host" if len(lost) == 1 else f"{len(lost)} hosts"
        yield [Span(f"{count} {LOST} lost", "error")]
    else:
        yield [Span(f"{len(wrong)} {CONNECTING}", "muted")]


def lost_reason(model: Model, name: str, now: float) -> list[Span]:
    """Return why the agent's host does not answer, and the next step.

    Empty if the host answers or if the screen shows only one host.
    """
    if not model.is_lost(name):
        return []
    part = model.part_of(name)
    host = safe_line(part.host, 32)
    return [
        Span(f" {LOST} {host} {lost_since(part.connection, now)}  ", "error"),
        Span(f"{lost_why(part)} {lost_step(part)}"),
    ]


def lost_since(connection: Connection, now: float) -> str:
    """Return how long ago the connection was lost, or that the host runs another version.

    The time is in whole minutes, so that an idle screen is not redrawn.
    """
    if connection.incompatible:
        return "runs another version"
    seconds = now - (now if connection.lost_at is None else connection.lost_at)
    return f"lost {words.age(seconds)} ago" if seconds >= 60 else "lost just now"


def lost_why(part: Part) -> str:
    """Return why the connection to the host was lost, as a sentence."""
    why = safe_line(part.connection.why, 300).rstrip(".")
    return f"{why}." if why else "No answer."


def lost_step(part: Part) -> str:
    """Return the user's next step, apart from waiting."""
    if part.host == LOCAL:
        restart = part.connection.incompatible
        step = "Restart the supervisor: cockpit restart"
        return step if restart else "Start the supervisor: cockpit up"
    return f"Retrying automatically. To check: cockpit doctor --host {safe_line(part.host, 32)}"


def _one(part: Part, now: float) -> list[Span]:
    host = safe_line(part.host, 24)
    if part.connection.live:
        same = f" = {safe_line(part.same_as, 24)}" if part.same_as else ""
        return [Span(f"{host} {LIVE}{same}", "muted")]
    if part.connection.lost_at is None:
        return [Span(f"{host} {CONNECTING} connecting…", "muted")]
    return [Span(f"{host} {LOST} {lost_since(part.connection, now)}", "error")]


def _joined(pieces: Iterable[list[Span]]) -> list[Span]:
    spans: list[Span] = []
    for piece in pieces:
        spans += [_BETWEEN, *piece] if spans else piece
    return spans
