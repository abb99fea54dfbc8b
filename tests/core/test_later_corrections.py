"""Which correction of the user is about an earlier order or answer."""

from __future__ import annotations

import pytest

from cockpit.core.fact_lines import answers, constraints, reminder
from cockpit.core.facts import Answer, Constraint, Facts
from cockpit.core.later_corrections import correction_of


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Which button? Save with a button", "Forget the button."),
        ("Run tools/recount.sh before every commit.", "tools/recount.sh is no longer needed."),
        ("Pas de code unsafe.", "Finalement le code unsafe est permis dans src/simd.rs."),
        ("Hasta nuevo aviso no despliegues.", "Ya puedes desplegar en staging."),
        ("Die Frist beträgt 10 Tage.", "Ich habe mich vertan: die Frist ist 14 Tage, nicht 10."),
    ],
)
def test_a_correction_of_the_same_thing_is_found(earlier: str, later: str) -> None:
    said = [Constraint(1, earlier), Constraint(4, later)]
    assert correction_of(earlier, 1, said) == said[1]
    assert correction_of(earlier, 4, said) is None, "it is not after the correction"


@pytest.mark.parametrize(
    "later",
    [
        "Never push without the button test.",
        "I changed my mind about the colours.",
        "Forget the header.",
    ],
)
def test_other_orders_and_other_corrections_are_not(later: str) -> None:
    assert (
        correction_of("Save with a button, and change nothing", 1, [Constraint(4, later)]) is None
    )


def test_the_document_tells_an_answer_with_what_the_user_said_later() -> None:
    facts = Facts(
        constraints=(
            Constraint(1, "No unsafe code."),
            Constraint(5, "Forget the button."),
            Constraint(6, "You may use unsafe code in src/simd.rs."),
        ),
        answers=(
            Answer(2, "Should the settings page save on blur or later?", "With a button"),
            Answer(3, "Which port?", "8080"),
        ),
    )
    first, second = answers(facts).split("\n")
    assert first.endswith('(turn 2); later the user said "Forget the button." (turn 5)')
    assert second.endswith("(turn 3)")
    assert '- "No unsafe code." (turn 1; the user came back to this in turn 6)' in constraints(
        facts
    )
    assert not any("With a button" in line for line in reminder(facts))


def test_of_several_corrections_the_one_that_says_most_of_it_is_told() -> None:
    said = [
        Constraint(3, "I changed my mind about divided voices: pan them, not one track each."),
        Constraint(5, "Forget the voices of the pedal."),
        Constraint(7, "/tracks/render answers 410, not an empty list."),
    ]
    asked = "What should happen with divided voices? One track each"
    assert correction_of(asked, 1, said) == said[0]
    again = Constraint(9, said[0].text)
    assert correction_of(asked, 1, [*said, again]) == again
