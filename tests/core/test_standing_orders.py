"""Which sentences of a prompt are standing orders or corrections."""

from __future__ import annotations

import pytest

from cockpit.core.standing_orders import standing_orders


@pytest.mark.parametrize(
    "sentence",
    [
        "Let me have a look before you change `parse`.",
        "Show me the plan before you touch the schema.",
        "Run the linter after every change.",
        "Correction: the port is 8080.",
        "Sorry, I meant the other table.",
        "I changed my mind about the cache: no cache.",
        "The branch is frozen, so no merges this week.",
        "The config folder is off limits.",
        "Rule of this repository: one change per commit.",
        "Nein, das Feld heißt anders.",
        "Korrektur: der Port ist 8080.",
        "Zeig mir den Plan, bevor du das Schema änderst.",
        "Der Zweig ist eingefroren, also keine Merges.",
        "Regel: ein Commit pro Änderung.",
        "Non, le champ s'appelle autrement.",
        "Montre-moi le plan avant que tu modifies le schéma.",
        "No, el campo se llama de otra manera.",
        "Corrección: el puerto es 8080.",
        "Enséñame el plan antes de que cambies el esquema.",
        "Нет, поле называется иначе.",
    ],
)
def test_an_order_or_a_correction_is_found_word_for_word(sentence: str) -> None:
    assert standing_orders(f"Hello.\n\n- {sentence}\n\nThanks!") == [sentence]


@pytest.mark.parametrize(
    "sentence",
    [
        "Add a test for the parser.",
        "The window is frozen after a click on Save.",
        "Look at what happened the day before.",
        "I forget where the setting is.",
        "Die Seite ist eingefroren nach dem Klick.",
        "Nicht schlecht, wir können weitermachen.",
        "La ventana está congelada.",
        "Can you check it before you go?",
    ],
)
def test_other_sentences_are_left_out(sentence: str) -> None:
    assert standing_orders(sentence) == []


def test_a_number_at_the_end_of_a_sentence_is_no_bullet() -> None:
    assert standing_orders("Never use less than 80. It breaks.")[0] == "Never use less than 80."
    assert standing_orders("1. Never use less than 80. It breaks.")[0] == "Never use less than 80."
