"""Why an agent stands still, over as many lines as it takes."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from cockpit.tui.present.detail import reason
from cockpit.tui.present.span import plain
from cockpit.tui.widgets.line import wrapped
from cockpit.wire.status import AgentStatus, Needs

AGENT = AgentStatus(
    name="api", runtime="claude", state="exited", directory="/w", mode="prompt",
    strategy="handoff", max_handoffs=3,
)  # fmt: skip
GONE = (
    "ended, status unknown. The tmux server exited, which closed all panes. Go on in its "
    "session: cockpit start api --resume 3d1b2b48-27b3-4a5e-b08d-6fd2ed655ecc"
)


def said(agent: AgentStatus, width: int) -> list[str]:
    lines = [plain(line) for line in wrapped(reason(agent), width, 3)]
    assert all(cell_len(line.rstrip()) <= width for line in lines)
    return lines


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_what_to_do_next_is_on_the_screen_at_any_width(width: int) -> None:
    words = " ".join("".join(said(AGENT.model_copy(update={"note": GONE}), width)).split())

    assert words == GONE


@pytest.mark.parametrize("command", ["x" * 150 + "END", "日本" * 40 + "END"])
def test_a_word_that_is_longer_than_a_line_goes_on_in_the_next(command: str) -> None:
    needs = Needs(kind="permission", detail=f"Bash {command}")
    lines = said(AGENT.model_copy(update={"state": "needs_you", "needs": needs}), 100)

    assert "".join("".join(lines).split()).endswith(command)
