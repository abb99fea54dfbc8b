"""The address that `cockpit serve` names: only written down, and only of the user."""

from __future__ import annotations

from typing import get_args

import pytest

from cockpit.config.schema import AgentVerb
from cockpit.core.callers import (
    LOOK,
    NEVER,
    Caller,
    CallerKind,
    forwarded,
    refuse_unless_allowed,
)
from cockpit.core.errors import NotAllowed
from cockpit.wire.verbs import VERBS, Attach, Plan

USER = Caller(CallerKind.USER, pid=7, terminal="pts/3")


@pytest.mark.parametrize(
    ("header", "address"),
    [
        ('for="127.0.0.1"', "127.0.0.1"), ('for="[::1]"', "::1"),
        ('for="[fe80::1%eth0]"', "fe80::1%eth0"),
        ("for=10.0.0.9, for=10.0.0.1", "10.0.0.9"), ("", ""), ("for=unknown", ""),
        ('for="you\x1b[2J"', ""), ("for=" + "1" * 99, ""),
    ],
    ids=ascii,
)  # fmt: skip
def test_only_an_address_is_taken(header: str, address: str) -> None:
    assert forwarded(USER, header).web == address
    assert forwarded(USER, header).kind is CallerKind.USER


@pytest.mark.parametrize("kind", [CallerKind.AGENT, CallerKind.HOOK, CallerKind.UNKNOWN])
def test_an_agent_stays_an_agent_behind_cockpit_serve(kind: CallerKind) -> None:
    caller = Caller(kind, "api", pid=7)
    assert forwarded(caller, 'for="127.0.0.1"') == caller


def test_events_say_from_where_the_user_asked() -> None:
    asked = forwarded(USER, 'for="127.0.0.1"')
    assert asked.description == "you on pts/3 through cockpit serve from 127.0.0.1"
    assert asked.event_data()["web"] == "127.0.0.1"


@pytest.mark.parametrize("kind", [CallerKind.AGENT, CallerKind.HOOK, CallerKind.UNKNOWN])
@pytest.mark.parametrize("target", ["api", "docs"])
def test_only_the_user_answers_a_dialog_whatever_the_settings_allow(
    kind: CallerKind, target: str
) -> None:
    caller = Caller(kind, "api", pid=7, hook="on_needs_you" if kind is CallerKind.HOOK else "")
    with pytest.raises(NotAllowed):
        refuse_unless_allowed(caller, "answer", target, ("answer",), ("answer",))
    refuse_unless_allowed(USER, "answer", target, (), ())


def test_each_verb_can_be_allowed_by_the_settings_or_is_for_the_user_only() -> None:
    """Otherwise an agent is advised to set `[agents.may]` to a value that is refused there."""
    as_others = {Plan.verb, Attach.verb}  # allowed as `start` and `look`: `Callers.admit`
    verbs = {kind.verb for kind in VERBS} - as_others
    allowable = set(get_args(AgentVerb)) - {LOOK}

    assert verbs == NEVER | allowable
    assert not NEVER & allowable
