"""What a `user` record says was said: the user's words as he wrote them."""

from __future__ import annotations

import pytest

from cockpit.adapters.agents.claude.user_records import events_of_user
from cockpit.core.session import UserSaid


@pytest.mark.parametrize(
    ("recorded", "written"),
    [
        ("one line", "one line"),
        (
            '\n\n<pasted_content id="c3ed">\nfirst\n\n    second;\n</pasted_content id="c3ed">\n',
            "first\n\n    second;",
        ),
        (
            'look:\n\n<pasted_content id="1">\na\n</pasted_content id="1">\nand say why',
            "look:\na\nand say why",
        ),
        (
            'a\nb <\\pasted_content id="9">x<\\/pasted_content> c',
            'a\nb <pasted_content id="9">x</pasted_content> c',
        ),
        ('<pasted_content id="1">\nno end', '<pasted_content id="1">\nno end'),
    ],
)
def test_a_prompt_is_as_it_was_written(recorded: str, written: str) -> None:
    """The records are those of Claude Code 2.1.330."""
    (said,) = events_of_user({"message": {"content": recorded}}, None)
    assert isinstance(said, UserSaid)
    assert said.text == written
