"""Build Textual's bindings and keymap from the registry of actions."""

from __future__ import annotations

from collections.abc import Mapping

from textual.binding import Binding, BindingType

from cockpit.tui.keys.action import Context
from cockpit.tui.keys.actions import ACTIONS


def bindings(context: Context) -> list[BindingType]:
    """Return the bindings of a screen: one per action, which `[keys]` can remap.

    The agents' screen and the permission screen also get the digits 1 to 9. The bindings of the
    agents' screen have priority, so that keys typed ahead run in order: keys typed after the key
    that opens a form go to the form. A focused field still gets its keys: letters, because Textual
    ignores bindings for keys that the field consumes; other keys, because the screen's
    `check_action` disables the actions.
    """
    result: list[BindingType] = [
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
        result += [
            Binding(str(digit), f"jump({digit})", show=False, priority=True)
            for digit in range(1, 10)
        ]
    elif context == "permission":
        result += [Binding(str(digit), f"choose({digit})", show=False) for digit in range(1, 10)]
    return result


def keymap(own: Mapping[str, str]) -> dict[str, str]:
    """Return the user's `[keys]` as a Textual keymap, without unknown ids.

    An action without a key gets a key name that no terminal sends, because Textual would use the
    default keys for an empty name.
    """
    known = {action.id for action in ACTIONS}
    return {action: keys or f"no key for {action}" for action, keys in own.items()
            if action in known}  # fmt: skip
