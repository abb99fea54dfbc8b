"""Which sentences of a prompt are standing orders or corrections."""

from __future__ import annotations

from pathlib import Path

import pytest

from cockpit.core.standing_orders import is_correction, standing_orders


@pytest.mark.parametrize(
    "sentence",
    [
        "Let me have a look before you change `parse`.",
        "Show me the plan before you touch the schema.",
        "Stop after the first half.",
        "Write the parser, then stop after this commit.",
        "Add the module and stop after the first half, I want to read it.",
        "When the tests pass, stop there.",
        "Do the first part, then stop and show me the diff.",
        "Let me review it before it is merged.",
        "Let me have a look before anything is deployed.",
        "Let me check the plan first.",
        "Ask me before a push to the remote.",
        "Wait for me before you merge.",
        "Write the migration, but wait until I have reviewed it.",
        "Stopp nach der ersten Hälfte.",
        "Halte nach jedem Schritt an.",
        "Schreib den Parser und mach nach dem ersten Commit halt.",
        "Hör nach dem ersten Teil auf.",
        "Lass mich erst drüberschauen.",
        "Lass mich den Plan vorher lesen.",
        "Frag mich vor dem Push.",
        "Warte auf mich mit dem Merge.",
        "Warte, bis ich das geprüft habe.",
        "Detente después de la primera mitad.",
        "Para después de la primera mitad y déjame verlo.",
        "Párate al terminar el primer módulo.",
        "Déjame revisar el cambio antes de desplegar.",
        "Pregúntame antes de hacer push.",
        "Espérame antes de fusionar.",
        "Espera mi confirmación.",
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
        "No more mocks in these tests.",
        "I don't want to see print statements.",
        "The public interface has to stay as it is.",
        "Every flag needs a line in the docs.",
        "Hold off on the rename until Priya is back.",
        "You may edit the schema now.",
        "It is port 8081, not 8080.",
        "Scratch that, use the old endpoint.",
        "Finger weg von den Produktivdaten.",
        "Löschst du bitte nichts.",
        "Gepusht wird nicht.",
        "Du kannst das Schema jetzt doch ändern.",
        "Das Limit bleibt bei 30 Sekunden.",
        "No cambies la interfaz.",
        "Hasta nuevo aviso no hay despliegues.",
        "Ahora sí puedes cambiar el esquema.",
        "On ne touche pas au moteur de rendu.",
        "Finalement le cache est permis.",
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
        "No idea why the cache is not hit.",
        "The user can no longer log in since the deploy.",
        "It only happens on the second click.",
        "The counter stays at zero after a reset.",
        "There's nothing in the log.",
        "Der Zähler bleibt auf null.",
        "Der Benutzer kann sich nicht mehr anmelden.",
        "No funciona el botón de guardar.",
        "No queda espacio en el disco.",
        "El contador se queda en cero.",
        "On ne voit rien dans le journal.",
        "The queue should stop after three failed attempts.",
        "Retry the request and stop after the third attempt.",
        "Search the list and stop after the first match.",
        "Read the file and stop after the last line.",
        "The tests stop after the first failure.",
        "It stops after the first half of the pages.",
        "Why does it stop after the first half?",
        "Let me check the logs.",
        "Let me know when it works.",
        "Let me explain what happens first: the page is white.",
        "The worker has to wait for the lock.",
        "Halte nach Fehlern Ausschau.",
        "Stoppe nach dem dritten Versuch.",
        "Der Import hört nach der ersten Zeile auf.",
        "Lass mich erst mal schauen, woran das liegt.",
        "Der Job wartet auf den Lock.",
        "Para después de la reunión necesito un resumen.",
        "El servidor espera a que el cliente responda.",
        "Déjame ver los registros.",
        "Me pregunto qué pasa antes de guardar.",
    ],
)
def test_other_sentences_are_left_out(sentence: str) -> None:
    assert standing_orders(sentence) == []


def test_a_number_at_the_end_of_a_sentence_is_no_bullet() -> None:
    assert standing_orders("Never use less than 80. It breaks.")[0] == "Never use less than 80."
    assert standing_orders("1. Never use less than 80. It breaks.")[0] == "Never use less than 80."


@pytest.mark.parametrize(
    "sentence",
    [
        "Forget the button.",
        "I misspoke, it is 200 ms.",
        "You can commit finding 4 yourself after all.",
        "Die Frist ist 14 Tage, nicht 10.",
        "Ich habe mich geirrt, es sind 30.",
        "Ya puedes desplegar en staging.",
        "Perdona, me he liado.",
    ],
)
def test_a_correction_is_told_from_other_orders(sentence: str) -> None:
    assert is_correction(sentence)
    assert standing_orders(sentence) == [sentence]


def test_an_order_corrects_nothing() -> None:
    assert not is_correction("Never push to main.")
    assert not is_correction("Bitte keine neuen Abhängigkeiten.")


SEVERAL_SENTENCES = 10
"""The first set with prompts of several sentences; of those, one must be found."""
CORPUS = Path(__file__).parents[1] / "data" / "standing_orders.tsv"


def of_the_corpus(number: int) -> tuple[list[str], list[str]]:
    """Return the orders, and the other sentences, of one set."""
    rows = [
        row.split("\t")
        for row in CORPUS.read_text(encoding="utf-8").splitlines()
        if row.startswith(f"{number}\t")
    ]
    assert all(len(row) == 4 and row[2] in "+-" for row in rows)
    return tuple([row[3] for row in rows if row[2] == sign] for sign in "+-")  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("number", "recall", "false"),
    [
        (1, 0.97, 0.03),
        (2, 0.97, 0.07),
        (3, 0.9, 0.03),
        (4, 0.8, 0.03),
        (5, 0.97, 0),
        (6, 1, 0.07),
        (7, 0.84, 0.15),
        (8, 1, 0),
        (9, 0.53, 0.14),
        (10, 1, 0),
        (11, 1, 0.06),
        (12, 1, 0),
        (13, 0.79, 0.13),
    ],
)
def test_most_sentences_of_a_corpus_in_eleven_languages_are_told_apart(
    number: int, recall: float, false: float
) -> None:
    orders, others = of_the_corpus(number)
    several = number >= SEVERAL_SENTENCES
    found = [
        prompt
        for prompt in orders
        if (orders_of := standing_orders(prompt)) == [prompt] or (several and orders_of)
    ]
    wrong = [sentence for sentence in others if standing_orders(sentence)]
    assert len(found) >= recall * len(orders), sorted({*orders} - {*found})
    assert len(wrong) <= false * len(others), wrong


def test_a_message_of_a_program_is_no_order() -> None:
    assert standing_orders("Never push to main.\nError: you must provide a token") == [
        "Never push to main."
    ]


def test_what_is_to_be_built_is_no_order() -> None:
    assert standing_orders("Add a check that a user must not delete himself.") == []
    assert standing_orders("Bitte füge eine Prüfung ein, dass der Name nie leer ist.") == []
