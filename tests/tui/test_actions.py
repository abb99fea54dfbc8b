"""One registry of keys: complete, without clashes, and with a reason for every no."""

from __future__ import annotations

import subprocess
import sys
from typing import Any, get_args

from textual.binding import Binding, BindingsMap

from cockpit.cli.keys import TITLES, text
from cockpit.config.key_names import clash
from cockpit.tui.keys.action import Context
from cockpit.tui.keys.actions import ACTIONS, BY_ID, keys_of, table
from cockpit.tui.keys.bindings import bindings, keymap
from cockpit.tui.present.keys import possible
from cockpit.tui.screens.agent.screen import AgentScreen
from cockpit.tui.screens.elsewhere.screen import ElsewhereScreen
from cockpit.tui.screens.fleet.screen import FleetScreen
from cockpit.tui.screens.help import VIEW
from cockpit.tui.screens.history.comparing import ComparingScreen
from cockpit.tui.screens.history.screen import HistoryScreen
from cockpit.tui.screens.inbox.screen import InboxScreen
from cockpit.tui.screens.permission.screen import PermissionScreen
from cockpit.tui.screens.review.reading import ReadingScreen
from cockpit.tui.screens.review.screen import ReviewScreen
from cockpit.tui.screens.worktrees.screen import WorktreesScreen
from cockpit.tui.state.model import Connection, Model
from cockpit.wire.status import Needs, Status
from cockpit.wire.stream import Snapshot
from tests.cli.key_tables import markdown
from tests.tui.scene import agent, fleet

SCREENS: dict[Context, type[Any]] = {
    "fleet": FleetScreen,
    "review": ReviewScreen,
    "permission": PermissionScreen,
    "inbox": InboxScreen,
    "history": HistoryScreen,
    "reading": ReadingScreen,
    "comparing": ComparingScreen,
    "worktrees": WorktreesScreen,
    "elsewhere": ElsewhereScreen,
    "agent": AgentScreen,
}
"""The screen of each context."""


def model(selected: str | None, *, live: bool = True) -> Model:
    found = Model(selected=selected)
    found.main.take(Snapshot(status=Status(agents=fleet())), 0.0)
    if live:
        found.main.answered()
    return found


def test_each_context_has_a_screen_a_title_and_a_place_in_the_help() -> None:
    contexts = set(get_args(Context))

    assert contexts == SCREENS.keys() | {"pane"} == TITLES.keys()
    assert {screen.CONTEXT for screen in SCREENS.values()} == SCREENS.keys()
    assert contexts & BY_ID.keys() <= VIEW, "opening a screen is in the help's group `View`"


def test_no_key_has_two_meanings_in_one_place() -> None:
    for context in SCREENS:
        keys = [key for action in ACTIONS if action.context == context for key in action.keys]
        assert len(keys) == len(set(keys))


def test_every_binding_of_a_screen_is_in_the_registry() -> None:
    for screen in SCREENS.values():
        for binding in screen.BINDINGS:
            assert isinstance(binding, Binding)
            assert binding.id in BY_ID or binding.action.startswith(("jump(", "choose("))


def test_no_key_depends_on_what_a_terminal_may_swallow() -> None:
    for action in ACTIONS:
        assert not {"ctrl+i", "ctrl+m", "shift+enter"} & set(action.keys)
        assert action.keys != ("escape",)


def test_a_key_that_cannot_work_says_why() -> None:
    reasons = {
        ("approve", "checkout"): "checkout isn't waiting for you.",
        ("refuse", "mailer"): "mailer is asking in its pane. Press Enter to go to the pane.",
        ("attach", "cron"): "cron has no pane (stopped). Press n to start it.",
        ("handoff", "search"): "search is already being handed off (documenting).",
        ("document", "search"): "No document yet (documenting).",
        ("document", "checkout"): (
            "No handoff of checkout is in progress. Press H for earlier documents."
        ),
        ("agent.document", "checkout"): (
            "No handoff of checkout is in progress. "
            "Press H in the list of agents for earlier documents."
        ),
        ("undo", "checkout"): "checkout has no previous session to go back to.",
        ("stop", "nobody"): "nobody is not in the list of agents. Select another agent.",
    }
    for (action, name), reason in reasons.items():
        assert BY_ID[action].why_not(model(name)) == reason
    assert BY_ID["approve"].why_not(model("api")) is None


def test_an_agent_that_failed_asks_nothing_in_its_pane() -> None:
    failed = Needs(kind="failed", detail="the API failed: overloaded")
    agents = [
        agent.model_copy(update={"needs": failed}) if agent.name == "mailer" else agent
        for agent in fleet()
    ]
    there = model("mailer")
    there.main.take(Snapshot(status=Status(agents=agents)), 0.0)
    assert BY_ID["refuse"].why_not(there) == "No handoff of mailer is waiting for your answer."


def test_an_agent_that_runs_without_a_pane_is_stopped_first() -> None:
    agents = [
        agent.model_copy(update={"pane": None, "pid": 7}) if agent.name == "checkout" else agent
        for agent in fleet()
    ]
    there = model("checkout")
    there.main.take(Snapshot(status=Status(agents=agents)), 0.0)
    assert BY_ID["attach"].why_not(there) == (
        "checkout is running without a pane. Press x to stop it, then start it again."
    )
    assert BY_ID["stop"].why_not(there) is None


def test_an_unreachable_supervisor_is_described_with_a_step_that_works() -> None:
    there = model("api", live=False)
    connecting = "cockpit is still connecting to the supervisor. Try again in a moment."
    assert BY_ID["handoff"].why_not(there) == connecting
    there.main.connection = Connection(lost_at=1.0)
    local = "The supervisor is not responding. Run: cockpit up"
    assert BY_ID["handoff"].why_not(there) == local
    there.main.connection = Connection(incompatible=True)
    other = "The supervisor runs another version. Run: cockpit restart"
    assert BY_ID["handoff"].why_not(there) == other
    there.main.host, there.main.connection = "gpu1", Connection(lost_at=1.0)
    far = "gpu1 does not answer. To check: cockpit doctor --host gpu1"
    assert BY_ID["handoff"].why_not(there) == far


def test_a_review_that_has_begun_cannot_be_skipped_and_is_never_called_ready() -> None:
    """The document may still be loading; the reason names the screen's own key."""
    there = model("api")
    keys = {"approve": "F5", "review.approve": "v"}
    there.key_of = lambda action: keys[action]
    said = "The review has already begun. Press {} to approve the document."
    assert BY_ID["approve-straight"].why_not(there) == said.format("F5")
    assert BY_ID["review.approve-straight"].why_not(there) == said.format("v")


def test_a_reason_names_a_key_of_the_screen_where_it_is_shown() -> None:
    """On the screen of an agent `n` goes to the next file of the diff, and starts nothing."""
    there = model("cron")
    started = "cron has no pane (stopped). {} to start it."
    assert BY_ID["send"].why_not(there) == started.format("Press n")
    for action in ("agent.send", "agent.handoff", "agent.handoff-to"):
        assert BY_ID[action].why_not(there) == started.format("Press n in the list of agents")
    assert "n" in BY_ID["agent.next-file"].keys
    said = "mailer is asking in its pane. {} to go to the pane."
    asking = model("mailer")
    assert BY_ID["review.approve"].why_not(asking) == said.format(
        "Press Enter in the list of agents"
    )
    asking.key_of = {"permission.attach": "v"}.get  # type: ignore[assignment]
    reason = BY_ID["refuse"].why_not(asking, "permission")
    assert reason == said.format("Press v")


def test_a_reason_names_the_users_key_and_the_palette_of_the_list() -> None:
    there = model("cron")
    there.key_of = {"start": "F6"}.get  # type: ignore[assignment]
    reason = BY_ID["agent.send"].why_not(there)
    assert reason == "cron has no pane (stopped). Press F6 in the list of agents to start it."
    there.key_of = lambda _: ""
    reason = BY_ID["agent.send"].why_not(there)
    assert reason is not None
    assert "Choose \u201cStart\u201d with Ctrl-P in the list of agents" in reason


def test_without_a_supervisor_only_looking_and_attaching_are_left() -> None:
    alone = model("api", live=False)
    able = {action.id for action in ACTIONS if action.why_not(alone) is None}
    assert {"attach", "down", "help", "quit"} <= able
    assert not able & {"approve", "stop", "send", "start", "handoff", "refuse", "snooze"}


def test_the_pilots_own_keys_replace_ours_and_unknown_ids_are_left_out() -> None:
    own = {"stop": "X, ctrl+k", "nonsense": "y"}
    assert keys_of(BY_ID["stop"], own) == ("X", "ctrl+k")
    assert keymap(own) == {"stop": "X, ctrl+k"}
    assert ("fleet", "X Ctrl-K", "stop", BY_ID["stop"].sentence) in table(own)


def test_the_table_has_every_action_once() -> None:
    ids = [action for _, _, action, _ in table() if action]
    assert sorted(ids) == sorted(BY_ID)
    assert all(f"`{action}`" in markdown() for action in ids)
    assert "F12" in text()


def test_the_palette_and_the_screens_bind_the_same_ids() -> None:
    ids = {binding.id for binding in bindings("fleet") if isinstance(binding, Binding)} - {None}
    assert ids == {action.id for action in ACTIONS if action.context == "fleet"}


def test_printing_the_keys_loads_no_screen() -> None:
    code = "import sys, cockpit.cli.keys; sys.exit('textual' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_key_line_offers_what_a_question_can_be_answered_with() -> None:
    there = model("api")
    api = there.agents["api"]
    assert api.handoff
    assert api.needs
    assert "approve-straight" not in [action.id for action in possible(there, "fleet")]
    there.agents["api"] = api.model_copy(
        update={
            "handoff": api.handoff.model_copy(update={"phase": "asked"}),
            "needs": api.needs.model_copy(update={"kind": "handoff"}),
        }
    )
    assert [action.id for action in possible(there, "fleet")][:2] == ["approve", "approve-straight"]


def titles(there: Model) -> dict[str, str]:
    return {action.id: action.title for action in possible(there, "fleet")}


def test_the_key_line_offers_a_handoff_of_a_running_agent_and_forgets_an_ended_one() -> None:
    assert "handoff" in titles(model("checkout"))
    assert "handoff" not in titles(model("search")), "it is being handed off already"
    for name in ("checkout", "search"):
        assert "forget" not in titles(model(name))
    assert {"handoff", "forget"}.isdisjoint(titles(model(None)))
    assert "handoff" not in titles(model("cron"))
    assert titles(model("cron"))["forget"] == "forget"


def test_the_key_line_names_what_a_key_does_for_the_selected_agent() -> None:
    there = model("api")
    api = there.agents["api"]
    assert (titles(there)["approve"], titles(there)["snooze"]) == ("approve", "snooze")
    assert api.needs
    assert api.handoff
    there.agents["api"] = api.model_copy(
        update={"needs": api.needs.model_copy(update={"kind": "permission"})}
    )
    assert titles(there)["approve"] == "answer"
    there.agents["api"] = api.model_copy(
        update={"needs": api.needs.model_copy(update={"kind": "question", "answerable": False})}
    )
    assert titles(there)["approve"] == "show"
    at = api.handoff.model_copy(update={"snoozed_until": "2026-07-09T12:51:00Z"})
    there.agents["api"] = api.model_copy(update={"needs": None, "handoff": at})
    assert titles(there)["snooze"] == "ask now"


def bound(context: Context, own: dict[str, str]) -> dict[str, set[str]]:
    """What each key does in a place, with the user's own keys, as Textual has it.

    It may have an action more than once: the first one acts, and no other.
    """
    found = BindingsMap(bindings(context)).copy()
    found.apply_keymap(keymap(own))
    by_key = {
        key: {each.id for each in every if each.id} for key, every in found.key_to_bindings.items()
    }
    return {key: ids for key, ids in by_key.items() if ids}


def expected(context: Context, own: dict[str, str]) -> dict[str, set[str]]:
    return {
        key: {action.id}
        for action in ACTIONS
        if action.context == context
        for key in keys_of(action, own) or (f"no key for {action.id}",)
    }


def test_every_action_can_have_another_key_or_none() -> None:
    for action in ACTIONS:
        for keys in ("ctrl+backslash", "alt+x,f9", ""):
            own = {action.id: keys}
            assert bound(action.context, own) == expected(action.context, own)


def test_actions_can_change_places_with_each_other() -> None:
    for own in (
        {"approve": "r", "refuse": "a"},
        {"approve": "r", "refuse": "z", "snooze": "a"},
        {"down": "k,up", "up": "j,down"},
        {"handoff": "x", "stop": ""},
        {"stop": "f", "handoff": "ctrl+t"},
        {"first": "G", "last": "g"},
    ):
        assert clash(own) is None
        assert bound("fleet", own) == expected("fleet", own)


def test_the_list_of_keys_has_every_place() -> None:
    said = text({"worktrees.remove": "", "inbox.open": "alt+shift+x"})
    assert all(action.id in said for action in ACTIONS)
    assert "Alt-X" in said


def test_a_command_for_an_agent_of_another_host_names_the_host() -> None:
    starting = agent("gpu1/api", "starting", pane="%1", pid=None)
    joined = Model("gpu1/api", others=["gpu1"])
    joined.parts["gpu1"].take(Snapshot(status=Status(host="gpu1", agents=[starting])), 0.0)
    joined.parts["gpu1"].answered()
    only = Model("api", host="gpu1")
    plain = starting.model_copy(update={"name": "api"})
    only.main.take(Snapshot(status=Status(host="gpu1", agents=[plain])), 0.0)
    only.main.answered()
    for there in (joined, only):
        assert str(BY_ID["forget"].why_not(there)).endswith(": cockpit stop api --host gpu1")
