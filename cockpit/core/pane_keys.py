"""Names of keys that cockpit can press in a pane."""

from __future__ import annotations

import re

KEY_PATTERN = re.compile(
    r"Enter|Escape|Tab|BTab|Space|BSpace|Up|Down|Left|Right|Home|End|PPage|NPage|DC|IC"
    r"|F[1-9]|F1[0-2]|[CM]-[a-z]|[0-9]"
)
"""Key names of tmux that cockpit allows. tmux types a word that is no key name as text."""


def is_key(word: str) -> bool:
    """Return whether the word is the name of a key that cockpit allows."""
    return KEY_PATTERN.fullmatch(word) is not None
