"""Conduct: the newest word counts, whoever said it, and late ones only add their facts."""

from __future__ import annotations

import pytest

from cockpit.core.conduct import NOTE_LAG, NOTE_UNCHANGED, Conduct
from cockpit.core.facts import BackgroundTask
from cockpit.core.handoff.events import Turn
from cockpit.core.moments import (
    CompactionOver,
    DialogOpened,
    Moment,
    PromptTaken,
    SessionBegan,
    SessionClosed,
    SubagentBegan,
    SubagentOver,
    ToolUsed,
    TurnBroken,
    TurnOver,
)

SERVER = BackgroundTask("b1", "shell", "a server", "npm run dev")
PERMISSION = DialogOpened("permission", "Bash rm")


def heard(*moments: Moment) -> Conduct:
    """Moments in order, a second apart, the first at 1."""
    conduct = Conduct()
    for at, moment in enumerate(moments, start=1):
        conduct.hear(moment, float(at))
    return conduct


def test_a_session_is_idle_until_its_first_prompt_and_after_each_turn() -> None:
    assert Conduct().turn is Turn.UNKNOWN
    assert heard(SessionBegan("s", "startup")).turn is Turn.IDLE
    working = heard(SessionBegan("s", "startup"), PromptTaken("go"))
    assert (working.turn, working.prompts, working.since) == (Turn.WORKING, 1, 2.0)
    over = heard(PromptTaken("go"), ToolUsed("Bash ls"), TurnOver("Done.", (SERVER,)))
    assert (over.turn, over.turns, over.tools) == (Turn.IDLE, 1, 1)
    assert (over.activity, over.last_words, over.background) == (
        "Bash ls", "Done.", (SERVER,),
    )  # fmt: skip


def test_a_server_in_the_background_is_no_work_of_the_agents() -> None:
    conduct = heard(PromptTaken("go"), TurnOver("Done.", (SERVER,)))
    assert not conduct.works_in_background
    conduct.noted(Turn.IDLE, None, 2.5, unchanged=60.0, shells=True)
    assert (conduct.turn, conduct.background) == (Turn.IDLE, (SERVER,))
    conduct.noted(Turn.IDLE, None, 30.0, shells=False)
    assert conduct.background == ()
    conduct.hear(TurnOver("", (BackgroundTask("a1", "subagent"),)), 40.0)
    assert conduct.works_in_background


def test_an_older_note_does_not_end_a_server_that_was_started_since() -> None:
    conduct = heard(PromptTaken("go"), TurnOver("Done.", (SERVER,)))
    conduct.noted(Turn.IDLE, None, 1.5, shells=False)
    assert conduct.background == (SERVER,)


def test_a_session_that_begins_anew_in_the_middle_of_a_turn_goes_on_working() -> None:
    assert heard(PromptTaken("go"), SessionBegan("s", "compact")).turn is Turn.WORKING


def test_a_new_prompt_takes_back_the_last_words_and_the_error() -> None:
    again = heard(TurnOver("HANDOFF: COMPLETE"), TurnBroken("overloaded"), PromptTaken("more"))
    assert (again.last_words, again.broken) == ("", None)


def test_the_words_of_the_record_and_of_the_hooks_are_the_newest_of_both() -> None:
    conduct = heard(PromptTaken("go"))
    conduct.spoke("from the record", 2.0)
    assert conduct.last_words == "from the record"
    conduct.spoke("older", 1.5)
    assert conduct.last_words == "from the record"
    conduct.hear(TurnOver("from the hook"), 2.1)
    assert conduct.last_words == "from the hook"


def test_a_dialog_stands_until_the_agent_moves() -> None:
    asked = heard(PromptTaken("go"), PERMISSION)
    assert (asked.turn, asked.dialog) == (Turn.DIALOG, PERMISSION)
    asked.hear(ToolUsed("Bash ls"), 3.0)
    assert (asked.turn, asked.dialog) == (Turn.WORKING, None)


def test_a_late_moment_changes_no_turn_but_is_counted() -> None:
    conduct = heard(PromptTaken("go"), ToolUsed("Bash ls"), TurnOver("Done."))
    conduct.hear(ToolUsed("Bash late"), 2.5)
    conduct.hear(PromptTaken("late"), 2.6)
    conduct.hear(PERMISSION, 2.7)
    assert (conduct.turn, conduct.tools, conduct.prompts) == (Turn.IDLE, 2, 2)
    assert (conduct.dialog, conduct.last_words) == (None, "Done.")


def test_subagents_are_known_until_they_end_or_die_with_the_turn() -> None:
    conduct = heard(SubagentBegan("a", "Explore"), SubagentBegan("b", "Plan"), SubagentOver("a"))
    assert conduct.subagents == {"b": "Plan"}
    assert conduct.activity is None
    conduct.hear(SubagentBegan("c", "Plan", "Agent Plan"), 3.0)
    conduct.hear(SubagentBegan("d", "Plan"), 3.1)
    assert conduct.activity == "Agent Plan"
    conduct.hear(SubagentOver("never seen"), 4.0)
    conduct.interrupted(5.0)
    assert (conduct.subagents, conduct.turn) == ({}, Turn.IDLE)


def test_an_interrupt_of_long_ago_is_no_news() -> None:
    conduct = heard(PromptTaken("go"), ToolUsed("Bash ls"))
    conduct.interrupted(1.5)
    assert conduct.turn is Turn.WORKING


def test_the_clis_note_overrules_only_what_is_clearly_older() -> None:
    conduct = heard(PromptTaken("go"))
    conduct.noted(Turn.IDLE, None, 1.0 + NOTE_LAG / 2)
    assert conduct.turn is Turn.WORKING
    conduct.noted(Turn.UNKNOWN, None, 99.0)
    assert conduct.turn is Turn.WORKING
    seen = []
    for turn, at in ((Turn.IDLE, 1.0 + NOTE_LAG), (Turn.WORKING, 9.0)):
        conduct.noted(turn, None, at)
        seen.append(conduct.turn)
    assert seen == [Turn.IDLE, Turn.WORKING]


def test_a_dialog_that_only_the_note_tells_of_is_believed_at_once() -> None:
    conduct = heard(PromptTaken("go"))
    conduct.noted(Turn.DIALOG, "permission prompt", 1.1)
    assert conduct.dialog == DialogOpened("permission", "permission prompt")
    other = heard(PromptTaken("go"))
    other.noted(Turn.DIALOG, None, 1.1)
    assert other.dialog == DialogOpened("question", "a dialog is open")
    known = heard(PromptTaken("go"), PERMISSION)
    known.noted(Turn.DIALOG, "permission prompt", 9.0)
    assert known.dialog == PERMISSION


def test_what_says_nothing_of_turns_changes_none() -> None:
    conduct = heard(PromptTaken("go"), CompactionOver("auto"), SessionClosed("other"))
    assert (conduct.turn, conduct.closed) == (Turn.WORKING, "other")


def test_a_note_that_has_stood_for_a_while_is_the_word_of_a_hook_that_was_lost() -> None:
    def after(at: float, unchanged: float) -> Turn:
        conduct = Conduct()
        conduct.hear(ToolUsed("Bash ls"), 100.0)
        conduct.noted(Turn.IDLE, None, at, unchanged=unchanged)
        return conduct.turn

    assert after(100.1, NOTE_UNCHANGED - 0.1) is Turn.WORKING
    assert after(99.9, 60.0) is Turn.WORKING
    assert after(100.1, NOTE_UNCHANGED) is Turn.IDLE


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


def remembering() -> Conduct:
    conduct = Conduct()
    conduct.remember(ASKED, 100.0)
    return conduct


@pytest.mark.parametrize("noted", [99.96, 100.04])
def test_what_is_remembered_of_a_dialog_is_shown_once_the_note_is_of_the_same(noted: float) -> None:
    conduct = remembering()
    assert (conduct.turn, conduct.dialog) == (Turn.UNKNOWN, None)
    conduct.noted(Turn.DIALOG, "permission prompt", noted, unchanged=500.0)
    assert (conduct.turn, conduct.dialog, conduct.since) == (Turn.DIALOG, ASKED, 100.0)


def test_what_is_remembered_is_never_shown_for_another_dialog() -> None:
    conduct = remembering()
    conduct.noted(Turn.DIALOG, "permission prompt", 130.0, unchanged=5.0)
    assert conduct.dialog == DialogOpened("permission", "permission prompt")
    other = DialogOpened("permission", "Bash ls", "Bash", "ls")
    known = remembering()
    known.hear(other, 130.0)
    known.noted(Turn.DIALOG, "permission prompt", 99.9, unchanged=500.0)
    assert known.dialog == other
    late = remembering()
    late.hear(LATER, 136.0)
    late.noted(Turn.DIALOG, "permission prompt", 130.0, unchanged=9.0)
    assert late.dialog == LATER


def test_a_notification_takes_nothing_of_what_is_remembered() -> None:
    conduct = remembering()
    conduct.hear(LATER, 106.0)
    conduct.noted(Turn.DIALOG, "permission prompt", 99.96, unchanged=500.0)
    assert conduct.dialog == ASKED


@pytest.mark.parametrize("over", [ToolUsed("Bash rm"), TurnOver("done")])
def test_what_is_remembered_is_forgotten_once_it_is_over(over: ToolUsed | TurnOver) -> None:
    conduct = remembering()
    conduct.hear(over, 140.0)
    assert conduct.remembered is None
    for turn in (Turn.WORKING, Turn.IDLE):
        noted = remembering()
        noted.noted(turn, None, 140.0)
        assert noted.remembered is None
    cut = remembering()
    cut.interrupted(90.0)
    assert cut.remembered is not None
    cut.interrupted(140.0)
    assert cut.remembered is None


def test_an_interrupt_counts_until_the_next_prompt() -> None:
    conduct = heard(PromptTaken("go"))
    conduct.interrupted(5.0)
    assert conduct.cut_short
    conduct.noted(Turn.IDLE, None, 20.0)
    assert conduct.cut_short
    conduct.hear(PromptTaken("go on"), 21.0)
    assert not conduct.cut_short


def test_an_interrupt_that_is_older_than_the_last_prompt_is_over() -> None:
    conduct = heard(PromptTaken("go"), PromptTaken("go on"))
    conduct.interrupted(1.5)
    assert not conduct.cut_short


QUESTION = DialogOpened("question", "Which one?", body="Which one?", asked_by="AskUserQuestion")


@pytest.mark.parametrize("others", [1, 2])
def test_a_dialog_stands_while_tools_beside_it_return(others: int) -> None:
    conduct = heard(PromptTaken("go"), QUESTION, *[ToolUsed("Bash ls", "Bash")] * others)
    conduct.noted(Turn.DIALOG, "input needed", 2.02)
    assert (conduct.turn, conduct.dialog, conduct.asked_at) == (Turn.DIALOG, QUESTION, 2.0)


def test_a_notification_of_a_dialog_beside_which_a_tool_returned_says_less() -> None:
    conduct = heard(PromptTaken("go"), QUESTION, ToolUsed("Bash ls", "Bash"))
    conduct.hear(DialogOpened("permission", "Claude needs your permission"), 8.0)
    conduct.noted(Turn.DIALOG, "input needed", 2.02, unchanged=6.0)
    assert conduct.dialog == QUESTION


def test_the_next_call_after_a_refusal_closes_the_dialog() -> None:
    asked = DialogOpened("permission", "Bash rm", "Bash", "rm", asked_by="Bash")
    conduct = heard(PromptTaken("go"), asked, ToolUsed("Read a", "Read"))
    conduct.noted(Turn.WORKING, None, 2.5)
    assert (conduct.turn, conduct.dialog) == (Turn.WORKING, None)
    conduct.noted(Turn.DIALOG, "permission", 9.0)
    assert conduct.dialog != asked


def test_the_call_that_was_asked_for_closes_the_dialog() -> None:
    conduct = heard(PromptTaken("go"), QUESTION, ToolUsed("asked", "AskUserQuestion"))
    conduct.noted(Turn.DIALOG, "input needed", 2.02)
    assert conduct.dialog != QUESTION
