"""`cockpit move --runtime`: the new session runs in another CLI, here the real Codex."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.supervisor.journeys.codex_pilot import CODEX, CodexPilot
from tests.supervisor.journeys.test_across_clis import SLOW, answer
from tests.supervisor.journeys.test_move import Far, far, flying, git, moved, tree_of

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

__all__ = ["far"]

pytestmark = [
    pytest.mark.long,
    pytest.mark.claude,
    pytest.mark.tmux,
    pytest.mark.timeout(900),
    pytest.mark.skipif(CODEX is None, reason="codex is not installed: make clis"),
]


@pytest.fixture
def pilot(cockpit: Cockpit) -> Iterator[CodexPilot]:
    made = CodexPilot(cockpit, answer)
    yield made
    made.model.stop()


async def test_a_job_of_claude_moves_to_codex_and_back(
    cockpit: Cockpit, far: Far, pilot: CodexPilot
) -> None:
    pilot.trust(far.repository)
    far.environment |= {"CODEX_HOME": str(pilot.folder), "LAB_KEY": "made up"}
    row = await flying(cockpit, far)
    before = tree_of(Path(str(row.worktree)))

    code, told = await moved(
        cockpit,
        *("api", "--to", "gpu1", "--yes", "--runtime", "codex"),
        *("--directory", str(far.repository)),
    )

    assert code == 0, told
    (there,) = await far.rows()
    assert (there.runtime, there.session_number) == ("codex", 2)
    assert tree_of(Path(there.directory)) == before
    (chain,) = await far.client.history("api")
    assert [one.runtime for one in chain.sessions] == ["claude", "codex"]
    document = str(chain.sessions[1].began_with)
    assert pilot.has_read(document), told
    assert "runs in Codex" in Path(document).read_text()

    code, told = await moved(
        cockpit,
        *("gpu1/api", "--to", "local", "--yes", "--runtime", "claude", "--branch", "agent/back"),
        *("--directory", str(cockpit.repository), "--wait", str(SLOW)),
    )

    assert code == 0, told
    home = await cockpit.row()
    assert (home.runtime, home.session_number) == ("claude", 3)
    assert tree_of(Path(home.directory)) == before
    (whole,) = await cockpit.client.history("api")
    assert [one.runtime for one in whole.sessions] == ["claude", "codex", "claude"]
    assert [one.machine for one in whole.sessions] == [None, "gpu1", None]
    assert "runs in Claude Code" in Path(str(whole.sessions[2].began_with)).read_text()
    git(cockpit.repository, "fsck", "--strict")
