"""The keys that go back from a pane, as tmux names and binds them.

The names are stored beside the configuration, so that a tmux server that starts later has them,
whichever process starts it. Stored names are checked when they are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from cockpit.adapters.files.foreign_files import read_text
from cockpit.adapters.files.private_file import write_private
from cockpit.adapters.tmux.window_options import FAR_OPTION, HOME_WINDOW, RETURN_OPTION
from cockpit.config.return_keys import DEFAULT_RETURN_KEYS, is_return_key
from cockpit.core.errors import CockpitError

KEYS_OPTION = "@cockpit_return_keys"
"""Global option: tmux's names of the keys that are bound now, separated by spaces."""
SPOKEN_OPTION = "@cockpit_return_key"
"""Global option: the first of the bound keys as printed on a keyboard, for the status line."""
MOST_BYTES = 1000

_BACK = f"""\
if -F "#{{{RETURN_OPTION}}}" kill-session {{
  if -F -t :{HOME_WINDOW} "#{{pane_dead}}" "respawn-pane -t :{HOME_WINDOW}"
  set-option status off
  if -F "#{{&&:#{{{FAR_OPTION}}},#{{==:#{{window_active_clients}},1}}}}" kill-window
  select-window -t :{HOME_WINDOW}
}}
"""
_CLICKED = tuple(f"{click}1StatusRight" for click in ("MouseDown", "SecondClick", "TripleClick"))
"""tmux's names for a click on the right end of the status line.

Three names, because tmux reports a click soon after another click as a double or triple click, even
if the first click was elsewhere.
"""
_MODIFIERS = {"ctrl": ("C-", "Ctrl-"), "alt": ("M-", "Alt-"), "shift": ("S-", "Shift-")}


def tmux_name(key: str) -> str:
    """Return tmux's name of a possible return key: `ctrl+f12` is `C-F12`, `alt+x` is `M-x`.

    With Alt and Shift, a letter is written as a capital: `alt+shift+x` is `M-X`.
    """
    *held, last = key.split("+")
    is_letter = len(last) == 1
    is_capital = is_letter and "shift" in held
    # In the order in which tmux lists them.
    before = [_MODIFIERS[modifier][0] for modifier in ("ctrl", "alt", "shift") if modifier in held]
    name = last.upper() if is_capital or not is_letter else last
    return "".join(before[:-1] if is_capital else before) + name


def key_label(name: str) -> str:
    """Convert tmux's name of a key to the name on a keyboard: `C-F12` to `Ctrl-F12`."""
    *held, last = name.split("-")
    labels = dict(_MODIFIERS.values())
    is_letter_with_ctrl = len(last) == 1 and held == ["C"]
    return "".join(labels[f"{modifier}-"] for modifier in held) + (
        last.upper() if is_letter_with_ctrl else last
    )


def bindings(keys: Iterable[str], bound: Iterable[str] = ()) -> str:
    """Return tmux's commands that unbind `bound` (tmux's names) and bind `keys` (canonical
    names)."""
    names = [tmux_name(key) for key in keys if is_return_key(key)]
    lines = [f"unbind -n {name}\n" for name in bound if name not in names]
    lines += [f"bind -n {name} {_BACK}" for name in (*names, *_CLICKED)]
    lines += [
        f'set -g {KEYS_OPTION} "{" ".join(names)}"\n',
        f'set -g {SPOKEN_OPTION} "{key_label(names[0])}"\n',
    ]
    return "".join(lines)


def stored(config: Path) -> tuple[str, ...]:
    """Return the keys stored beside the configuration; the default keys if none are stored."""
    try:
        keys = read_text(_file(config), MOST_BYTES, cut=True).split()
    except (OSError, CockpitError):
        return DEFAULT_RETURN_KEYS
    return tuple(filter(is_return_key, keys)) or DEFAULT_RETURN_KEYS


def store(config: Path, keys: Sequence[str]) -> None:
    """Store the return keys beside the configuration, for servers that start later. Raises
    `OSError`."""
    if stored(config) != tuple(keys):
        config.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(_file(config), " ".join(keys).encode())


def _file(config: Path) -> Path:
    return config.with_name("return-keys")
