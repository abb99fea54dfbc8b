"""Choose the next key for an answer to a dialog of Claude Code, from the dialog's current content.

In CLI 2.1.330, the digit of a choice submits the choice at once. The digit of a checkbox checks or
unchecks it, and the digit of a text line moves the cursor to the line. While the cursor is on an
open text line, keys are typed as text.
"""

from __future__ import annotations

from cockpit.adapters.agents.claude.dialogs import FREE_TEXT
from cockpit.core.dialogs import Answer, Dialog, Step, Stuck

_TEXT_LINES = frozenset(
    {
        "Yes, and tell Claude what to do next",
        "No, and tell Claude what to do differently",
        "Tell Claude what to change",
    }
)
"""Labels of choices with an open, empty text line."""


def next_step(seen: Dialog, answer: Answer) -> Step | Stuck:
    """Return the next key or paste that gives an answer; `Stuck` if the answer cannot be given.

    The step that submits the answer has `last` set.
    """
    if any(not 0 <= place < len(seen.choices) for place in answer.choices):
        return Stuck("the dialog does not have this choice")
    if seen.multiple and (len(answer.choices) != 1 or _has_box(seen, answer.choices)):
        return _check(seen, frozenset(answer.choices))
    (place,) = answer.choices
    if not answer.text:
        if seen.typing:
            return Stuck("a text line is open in the pane")
        if seen.choices[place].text == "must":
            return Stuck(f'the choice "{seen.choices[place].label}" needs text')
        return Step(key=str(place + 1), last=True)
    return _with_text(seen, place, answer.text)


def _has_box(seen: Dialog, choices: tuple[int, ...]) -> bool:
    return seen.choices[choices[0]].checked is not None


def _check(seen: Dialog, choices: frozenset[int]) -> Step | Stuck:
    if seen.typing:
        return Stuck("a text line is open in the pane")
    *boxes, free = (n for n, choice in enumerate(seen.choices) if choice.checked is not None)
    if free in choices:
        return Stuck(f'the choice "{seen.choices[free].label}" cannot be used here')
    if other := choices.difference(boxes):
        label = seen.choices[min(other)].label
        return Stuck(f'the choice "{label}" cannot be combined with other choices')
    if seen.choices[free].checked:
        return Stuck(f'the choice "{seen.choices[free].label}" has a checked box in the pane')
    for place in boxes:
        if seen.choices[place].checked != (place in choices):
            return Step(key=str(place + 1))
    return Step(key="Tab", last=True)


def _with_text(seen: Dialog, place: int, text: str) -> Step | Stuck:
    chosen = seen.choices[place]
    begin, _, _ = chosen.label.partition(", ")
    written = chosen.label if seen.kind == "question" or begin not in {"Yes", "No"} else None
    if seen.typing:
        if seen.highlighted != place:
            return Stuck("a text line is open in the pane")
        if chosen.label in _TEXT_LINES or chosen.label.startswith(FREE_TEXT):
            return Step(paste=text)
        shown = written if written is not None else chosen.label.removeprefix(f"{begin}, ")
        if "".join(shown.split()) == "".join(text.split()):
            return Step(key="Enter", last=True)
        return Stuck("the text line in the pane contains different text")
    if chosen.text == "no":
        return Stuck("this choice takes no text")
    if seen.highlighted != place and chosen.text == "must":
        return Step(key=str(place + 1))
    if seen.highlighted != place:
        return Step(key="Down" if (seen.highlighted or 0) < place else "Up")
    return Step(key="Tab")
