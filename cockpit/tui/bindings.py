"""From the registry of actions to Textual's bindings, keymap and palette."""

from __future__ import annotations

from collections.abc import Mapping

from textual.binding import Binding, BindingType

from cockpit.tui.actions import ACTIONS, Context


def bindings(context: Context) -> list[BindingType]:
    """One binding per action, by its id, so that `[keys]` can map it elsewhere.

    Those of the fleet act before the key travels anywhere, so that keys that are typed ahead act
    one after the other: what follows the key that opens a form is the form's. A field that is
    typed into keeps its letters all the same (Textual asks it), and its other keys by
    `check_action` of the screen.
    """
    found: list[BindingType] = [
        Binding(
            ",".join(action.keys),
            f"act('{action.id}')",
            action.title,
            id=action.id,
            tooltip=action.sentence,
            show=False,
            priority=context == "fleet",
        )
        for action in ACTIONS
        if action.context == context
    ]
    if context == "fleet":
        found += [
            Binding(str(digit), f"jump({digit})", show=False, priority=True)
            for digit in range(1, 10)
        ]
    return found


def keymap(own: Mapping[str, str]) -> dict[str, str]:
    """What the pilot wrote under `[keys]`, without ids that nobody knows.

    For an action without a key a name that no terminal sends: Textual takes none for its own.
    """
    known = {action.id for action in ACTIONS}
    return {action: keys or f"no key for {action}" for action, keys in own.items()
            if action in known}  # fmt: skip
