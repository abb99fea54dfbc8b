"""SessionActivity: the newest word counts, whoever said it, and late ones only add their facts."""

from __future__ import annotations

import pytest

from cockpit.core.cli_events import (
    CliEvent,
    CompactionOver,
    DialogOpened,
    PromptTaken,
    SessionBegan,
    SessionClosed,
    SubagentBegan,
    SubagentOver,
    ToolUsed,
    TurnBroken,
    TurnOver,
)
from cockpit.core.facts import BackgroundTask
from cockpit.core.handoff.events import Turn
from cockpit.core.session_activity import FILE_LAG, FILE_UNCHANGED, SessionActivity

SERVER = BackgroundTask("b1", "shell", "a server", "npm run dev")
PERMISSION = DialogOpened("permission", "Bash rm")


def heard(*cli_events: CliEvent) -> SessionActivity:
    """Moments in order, a second apart, the first at 1."""
    activity = SessionActivity()
    for at, event in enumerate(cli_events, start=1):
        activity.apply(event, float(at))
    return activity


def test_a_session_is_idle_until_its_first_prompt_and_after_each_turn() -> None:
    assert SessionActivity().turn is Turn.UNKNOWN
    assert heard(SessionBegan("s", "startup")).turn is Turn.IDLE
    working = heard(SessionBegan("s", "startup"), PromptTaken("go"))
    assert (working.turn, working.prompts, working.since) == (Turn.WORKING, 1, 2.0)
    over = heard(PromptTaken("go"), ToolUsed("Bash ls"), TurnOver("Done.", (SERVER,)))
    assert (over.turn, over.turns, over.tools) == (Turn.IDLE, 1, 1)
    assert (over.doing, over.last_reply, over.background) == (
        "Bash ls", "Done.", (SERVER,),
    )  # fmt: skip


def test_a_server_in_the_background_is_no_work_of_the_agents() -> None:
    activity = heard(PromptTaken("go"), TurnOver("Done.", (SERVER,)))
    assert not activity.works_in_background
    activity.apply_status_file(Turn.IDLE, None, 2.5, unchanged=60.0, shells=True)
    assert (activity.turn, activity.background) == (Turn.IDLE, (SERVER,))
    activity.apply_status_file(Turn.IDLE, None, 30.0, shells=False)
    assert activity.background == ()
    activity.apply(TurnOver("", (BackgroundTask("a1", "subagent"),)), 40.0)
    assert activity.works_in_background


def test_an_older_note_does_not_end_a_server_that_was_started_since() -> None:
    activity = heard(PromptTaken("go"), TurnOver("Done.", (SERVER,)))
    activity.apply_status_file(Turn.IDLE, None, 1.5, shells=False)
    assert activity.background == (SERVER,)


def test_a_session_that_begins_anew_in_the_middle_of_a_turn_goes_on_working() -> None:
    assert heard(PromptTaken("go"), SessionBegan("s", "compact")).turn is Turn.WORKING


def test_a_new_prompt_takes_back_the_last_words_and_the_error() -> None:
    again = heard(TurnOver("HANDOFF: COMPLETE"), TurnBroken("overloaded"), PromptTaken("more"))
    assert (again.last_reply, again.broken) == ("", None)


def test_the_words_of_the_record_and_of_the_hooks_are_the_newest_of_both() -> None:
    activity = heard(PromptTaken("go"))
    activity.record_reply("from the record", 2.0)
    assert activity.last_reply == "from the record"
    activity.record_reply("older", 1.5)
    assert activity.last_reply == "from the record"
    activity.apply(TurnOver("from the hook"), 2.1)
    assert activity.last_reply == "from the hook"


def test_a_dialog_stands_until_the_agent_moves() -> None:
    asked = heard(PromptTaken("go"), PERMISSION)
    assert (asked.turn, asked.dialog) == (Turn.DIALOG, PERMISSION)
    asked.apply(ToolUsed("Bash ls"), 3.0)
    assert (asked.turn, asked.dialog) == (Turn.WORKING, None)


def test_a_late_moment_changes_no_turn_but_is_counted() -> None:
    activity = heard(PromptTaken("go"), ToolUsed("Bash ls"), TurnOver("Done."))
    activity.apply(ToolUsed("Bash late"), 2.5)
    activity.apply(PromptTaken("late"), 2.6)
    activity.apply(PERMISSION, 2.7)
    assert (activity.turn, activity.tools, activity.prompts) == (Turn.IDLE, 2, 2)
    assert (activity.dialog, activity.last_reply) == (None, "Done.")


def test_subagents_are_known_until_they_end_or_die_with_the_turn() -> None:
    activity = heard(SubagentBegan("a", "Explore"), SubagentBegan("b", "Plan"), SubagentOver("a"))
    assert activity.subagents == {"b": "Plan"}
    assert activity.doing is None
    activity.apply(SubagentBegan("c", "Plan", "Agent Plan"), 3.0)
    activity.apply(SubagentBegan("d", "Plan"), 3.1)
    assert activity.doing == "Agent Plan"
    activity.apply(SubagentOver("never seen"), 4.0)
    activity.record_interrupt(5.0)
    assert (activity.subagents, activity.turn) == ({}, Turn.IDLE)


def test_an_interrupt_of_long_ago_is_no_news() -> None:
    activity = heard(PromptTaken("go"), ToolUsed("Bash ls"))
    activity.record_interrupt(1.5)
    assert activity.turn is Turn.WORKING


def test_the_clis_note_overrules_only_what_is_clearly_older() -> None:
    activity = heard(PromptTaken("go"))
    activity.apply_status_file(Turn.IDLE, None, 1.0 + FILE_LAG / 2)
    assert activity.turn is Turn.WORKING
    activity.apply_status_file(Turn.UNKNOWN, None, 99.0)
    assert activity.turn is Turn.WORKING
    seen = []
    for turn, at in ((Turn.IDLE, 1.0 + FILE_LAG), (Turn.WORKING, 9.0)):
        activity.apply_status_file(turn, None, at)
        seen.append(activity.turn)
    assert seen == [Turn.IDLE, Turn.WORKING]


def test_a_dialog_that_only_the_note_tells_of_is_believed_at_once() -> None:
    activity = heard(PromptTaken("go"))
    activity.apply_status_file(Turn.DIALOG, "permission prompt", 1.1)
    assert activity.dialog == DialogOpened("permission", "permission prompt")
    other = heard(PromptTaken("go"))
    other.apply_status_file(Turn.DIALOG, None, 1.1)
    assert other.dialog == DialogOpened("question", "a dialog is open")
    known = heard(PromptTaken("go"), PERMISSION)
    known.apply_status_file(Turn.DIALOG, "permission prompt", 9.0)
    assert known.dialog == PERMISSION


def test_what_says_nothing_of_turns_changes_none() -> None:
    activity = heard(PromptTaken("go"), CompactionOver("auto"), SessionClosed("other"))
    assert (activity.turn, activity.closed) == (Turn.WORKING, "other")


def test_a_note_that_has_stood_for_a_while_is_the_word_of_a_hook_that_was_lost() -> None:
    def after(at: float, unchanged: float) -> Turn:
        activity = SessionActivity()
        activity.apply(ToolUsed("Bash ls"), 100.0)
        activity.apply_status_file(Turn.IDLE, None, at, unchanged=unchanged)
        return activity.turn

    assert after(100.1, FILE_UNCHANGED - 0.1) is Turn.WORKING
    assert after(99.9, 60.0) is Turn.WORKING
    assert after(100.1, FILE_UNCHANGED) is Turn.IDLE


def test_a_later_word_of_the_same_dialog_takes_nothing_of_it_away() -> None:
    """The notification comes six seconds after the hook, and knows no tool."""
    asked = DialogOpened("permission", "Bash rm", "Bash", "rm -r build")
    later = DialogOpened("permission", "Claude needs your permission to use Bash")
    assert heard(PromptTaken("go"), asked, later).dialog == asked
    assert heard(PromptTaken("go"), later, asked).dialog == asked
    other = DialogOpened("question", "Which one?")
    assert heard(PromptTaken("go"), asked, other).dialog == other
    assert heard(PromptTaken("go"), other, later).dialog == other
    another = DialogOpened("permission", "Bash ls", "Bash", "ls")
    assert heard(PromptTaken("go"), asked, another).dialog == another


ASKED = DialogOpened("permission", "Bash rm -r build", "Bash", "rm -r build")
LATER = DialogOpened("permission", "Claude needs your permission to use Bash")


def remembering() -> SessionActivity:
    activity = SessionActivity()
    activity.remember(ASKED, 100.0)
    return activity


@pytest.mark.parametrize("noted", [99.96, 100.04])
def test_what_is_remembered_of_a_dialog_is_shown_once_the_note_is_of_the_same(noted: float) -> None:
    activity = remembering()
    assert (activity.turn, activity.dialog) == (Turn.UNKNOWN, None)
    activity.apply_status_file(Turn.DIALOG, "permission prompt", noted, unchanged=500.0)
    assert (activity.turn, activity.dialog, activity.since) == (Turn.DIALOG, ASKED, 100.0)


def test_what_is_remembered_is_never_shown_for_another_dialog() -> None:
    activity = remembering()
    activity.apply_status_file(Turn.DIALOG, "permission prompt", 130.0, unchanged=5.0)
    assert activity.dialog == DialogOpened("permission", "permission prompt")
    other = DialogOpened("permission", "Bash ls", "Bash", "ls")
    known = remembering()
    known.apply(other, 130.0)
    known.apply_status_file(Turn.DIALOG, "permission prompt", 99.9, unchanged=500.0)
    assert known.dialog == other
    late = remembering()
    late.apply(LATER, 136.0)
    late.apply_status_file(Turn.DIALOG, "permission prompt", 130.0, unchanged=9.0)
    assert late.dialog == LATER


def test_a_notification_takes_nothing_of_what_is_remembered() -> None:
    activity = remembering()
    activity.apply(LATER, 106.0)
    activity.apply_status_file(Turn.DIALOG, "permission prompt", 99.96, unchanged=500.0)
    assert activity.dialog == ASKED


@pytest.mark.parametrize("over", [ToolUsed("Bash rm"), TurnOver("done")])
def test_what_is_remembered_is_forgotten_once_it_is_over(over: ToolUsed | TurnOver) -> None:
    activity = remembering()
    activity.apply(over, 140.0)
    assert activity.remembered is None
    for turn in (Turn.WORKING, Turn.IDLE):
        noted = remembering()
        noted.apply_status_file(turn, None, 140.0)
        assert noted.remembered is None
    cut = remembering()
    cut.record_interrupt(90.0)
    assert cut.remembered is not None
    cut.record_interrupt(140.0)
    assert cut.remembered is None


def test_an_interrupt_counts_until_the_next_prompt() -> None:
    activity = heard(PromptTaken("go"))
    activity.record_interrupt(5.0)
    assert activity.cut_short
    activity.apply_status_file(Turn.IDLE, None, 20.0)
    assert activity.cut_short
    activity.apply(PromptTaken("go on"), 21.0)
    assert not activity.cut_short


def test_an_interrupt_that_is_older_than_the_last_prompt_is_over() -> None:
    activity = heard(PromptTaken("go"), PromptTaken("go on"))
    activity.record_interrupt(1.5)
    assert not activity.cut_short


QUESTION = DialogOpened("question", "Which one?", body="Which one?", asked_by="AskUserQuestion")


@pytest.mark.parametrize("others", [1, 2])
def test_a_dialog_stands_while_tools_beside_it_return(others: int) -> None:
    activity = heard(PromptTaken("go"), QUESTION, *[ToolUsed("Bash ls", "Bash")] * others)
    activity.apply_status_file(Turn.DIALOG, "input needed", 2.02)
    assert (activity.turn, activity.dialog, activity.asked_at) == (Turn.DIALOG, QUESTION, 2.0)


def test_a_notification_of_a_dialog_beside_which_a_tool_returned_says_less() -> None:
    activity = heard(PromptTaken("go"), QUESTION, ToolUsed("Bash ls", "Bash"))
    activity.apply(DialogOpened("permission", "Claude needs your permission"), 8.0)
    activity.apply_status_file(Turn.DIALOG, "input needed", 2.02, unchanged=6.0)
    assert activity.dialog == QUESTION


def test_the_next_call_after_a_refusal_closes_the_dialog() -> None:
    asked = DialogOpened("permission", "Bash rm", "Bash", "rm", asked_by="Bash")
    activity = heard(PromptTaken("go"), asked, ToolUsed("Read a", "Read"))
    activity.apply_status_file(Turn.WORKING, None, 2.5)
    assert (activity.turn, activity.dialog) == (Turn.WORKING, None)
    activity.apply_status_file(Turn.DIALOG, "permission", 9.0)
    assert activity.dialog != asked


def test_the_call_that_was_asked_for_closes_the_dialog() -> None:
    activity = heard(PromptTaken("go"), QUESTION, ToolUsed("asked", "AskUserQuestion"))
    activity.apply_status_file(Turn.DIALOG, "input needed", 2.02)
    assert activity.dialog != QUESTION
