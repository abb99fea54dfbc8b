"""The demo's guide says what is seen now, and the key that is next."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from cockpit.tui.present.span import plain
from cockpit.tui.present.tour import step, step_spans
from cockpit.tui.widgets.line import wrapped
from cockpit.wire.status import AgentStatus, HandoffStatus, NeedKind, Needs
from tests.tui.scene import agent


def handing(phase: str, tokens: int = 142_000) -> AgentStatus:
    asks = phase in {"asked", "review"}
    return agent(
        "durations",
        "needs_you" if asks else "handing_off",
        tokens,
        handoff=HandoffStatus.model_validate(
            {"id": "h", "reason": "threshold", "phase": phase, "since": ""}
        ),
        needs=Needs(kind="handoff", detail="-") if asks else None,
    )


def said(*agents: AgentStatus, selected: str = "durations", **keys: str) -> str:
    found = step(agents, selected, keys)
    return found.text if found else ""


def test_before_anything_happens_the_bars_are_explained() -> None:
    assert "how full a context is" in said(agent("durations"))
    assert step([], None, {}) is None


def test_a_question_names_the_percentage_the_key_and_what_comes_first() -> None:
    text = said(handing("asked"))
    assert text.startswith("durations reached 71%: press a to hand it off.")
    assert "before anything ends" in text
    assert "select durations, then press a" in said(handing("asked"), selected="weeks")
    assert "press x to hand" in said(handing("asked"), approve="x")


def asking(kind: NeedKind, about: str) -> AgentStatus:
    command = about if kind == "permission" else None
    tool = "Bash" if kind == "permission" else None
    needs = Needs(kind=kind, detail=about, tool=tool, command=command)
    return agent("weeks", "needs_you", needs=needs)


@pytest.mark.parametrize(
    ("kind", "does"),
    [("permission", "asks for permission to use Bash"), ("question", "has a question")],
)
def test_a_dialog_that_cockpit_does_not_recognise_is_answered_in_the_pane(
    kind: NeedKind, does: str
) -> None:
    there = asking(kind, "x")
    assert there.needs is not None
    needs = there.needs.model_copy(update={"answerable": False})
    text = said(there.model_copy(update={"needs": needs}), selected="weeks")
    assert text.startswith(f"weeks {does}: press Enter to answer in the agent's pane.")


def test_a_dialog_is_answered_with_the_same_key_and_not_in_the_pane() -> None:
    permission, question = asking("permission", "python3 -c 1"), asking("question", "Where?")
    text = said(permission, selected="weeks")
    assert text.startswith(
        "weeks asks for permission to use Bash: press a to read the request and answer here"
    )
    assert "weeks has a question: select weeks, then press a" in said(question)
    assert "press x" in said(question, selected="weeks", approve="x")
    shown = step([permission], None, {})
    assert shown is not None
    assert step([permission], None, {}, {shown.id}) is None
    assert step([asking("permission", "rm x")], None, {}, {shown.id}) is not None


def test_of_two_steps_the_one_of_the_selected_agent_comes_first() -> None:
    both = [asking("permission", "rm x"), handing("review")]
    assert said(*both, selected="durations").startswith("durations has written its document")
    assert said(*both, selected="weeks").startswith("weeks asks")


@pytest.mark.parametrize(
    ("phase", "words"),
    [
        ("review", "press d to read it, a to approve"),
        ("documenting", "Nothing has ended yet"),
        ("starting", "reads the document first"),
    ],
)
def test_each_phase_of_a_handoff_is_a_step(phase: str, words: str) -> None:
    assert words in said(agent("weeks"), handing(phase))


def test_every_handoff_is_named_in_whichever_order_they_came() -> None:
    moved = [
        agent("rounding", "done", previous_session_id="s"),
        agent("durations", previous_session_id="s"),
    ]
    text = said(*moved, agent("weeks"))
    assert text.startswith("rounding and durations continued in new sessions. H shows each handoff")
    assert said(moved[0], agent("weeks")).startswith("rounding continued in a new session.")
    many = [agent(name, previous_session_id="s") for name in "abcd"]
    assert said(*many).startswith("4 agents continued in new sessions.")


def test_a_later_handoff_is_shown_although_the_one_before_was_hidden() -> None:
    first = agent("rounding", previous_session_id="s")
    shown = step([first, agent("durations")], None, {})
    assert shown is not None
    again = step([first, agent("durations", previous_session_id="s")], None, {}, {shown.id})
    assert again is not None
    assert again.text.startswith("rounding and durations")


def test_an_undo_is_explained_instead_of_the_bars() -> None:
    text = said(agent("rounding", handoffs=1), agent("weeks"))
    assert text.startswith("rounding is back in its previous session.")
    assert "H shows the handoff" in text


def test_when_all_jobs_are_done_the_way_out_is_named() -> None:
    done = [agent("rounding", "done", previous_session_id="s"), agent("weeks", "done")]
    assert said(*done).startswith("All jobs are done. H shows each handoff")
    assert "q ends the demo" in said(*done)
    assert "x ends the demo" in said(*done, quit="x")


def test_what_needs_the_user_comes_first_and_what_was_hidden_does_not_come_back() -> None:
    agents = [handing("documenting"), agent("weeks", previous_session_id="s"), handing("review")]
    first = step(agents, None, {})
    assert first is not None
    assert first.id == "review durations"
    second = step(agents, None, {}, {first.id})
    assert second is not None
    assert second.id == "writing durations"


@pytest.mark.parametrize(
    "phase",
    ["asked", "review", "documenting", "starting", "moved", "done", "permission", "question"],
)
def test_nothing_of_a_step_is_cut_in_eighty_columns(phase: str) -> None:
    if phase == "moved":
        shown = step(
            [
                agent("rounding", previous_session_id="s"),
                agent("durations", previous_session_id="s"),
            ],
            None,
            {},
        )
    elif phase == "permission":
        shown = step([asking("permission", "x")], None, {})
    elif phase == "question":
        shown = step([asking("question", "x")], None, {})
    elif phase == "done":
        shown = step([agent("rounding", "done", previous_session_id="s")], None, {})
    else:
        shown = step([handing(phase)], "durations", {})
    assert shown is not None
    lines = [plain(line).rstrip() for line in wrapped(step_spans(shown, "Esc"), 80, 3)]
    assert max(map(cell_len, lines)) <= 80
    assert " ".join(" ".join(lines).split()) == f"▸ {shown.text} Esc hides this"
    assert step_spans(None, "Esc") == []
