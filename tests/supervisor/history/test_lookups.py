"""What is looked up about an agent: its course over all sessions, and how its worktree differs."""

from __future__ import annotations

import asyncio
import gzip
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.core.errors import NoSuchAgent
from cockpit.wire.verbs import Handoff

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux


@pytest.mark.long
async def test_the_course_spans_the_chain_and_comes_back_from_the_records(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(steps=4, pause=2, step_tokens=100)):
        first = await cockpit.start()
        await cockpit.until(lambda row: row.state in {"idle", "done"})
        await cockpit.ask(Handoff(name="api"))
        row = await cockpit.until(
            lambda row: row.session_number == 2 and row.handoff is None and row.state == "done"
        )
        live = await cockpit.client.course("api")
        with pytest.raises(NoSuchAgent):
            await cockpit.client.course("nobody")

    assert [each.number for each in live.stretches] == [1, 2]
    assert [each.state for each in live.stretches] == ["handed_off", "live"]
    for each in live.stretches:
        assert each.unknown is None
        assert each.window
        assert each.marks.act
        assert [point.call for point in each.points] == list(range(1, len(each.points) + 1))
        assert all(point.at for point in each.points)
    assert live.stretches[-1].points[-1].tokens == row.context.tokens
    assert row.context.trend == [point.tokens for point in live.stretches[-1].points][-8:]

    async with cockpit.flying():
        await cockpit.until(lambda row: row.state in {"idle", "done"})
        assert (await cockpit.client.course("api")).stretches == live.stretches

        # The CLI clears its records away; ours is what is left.
        record = Path(first.transcript or "")
        kept = cockpit.places.state / "records" / f"{first.session_id}.jsonl.gz"
        kept.parent.mkdir(exist_ok=True)
        kept.write_bytes(gzip.compress(record.read_bytes()))
        record.unlink()
        assert (await cockpit.client.course("api")).stretches == live.stretches

        kept.write_bytes(kept.read_bytes()[:-20])
        damaged = (await cockpit.client.course("api")).stretches[0]
        assert "Cannot read" in (damaged.unknown or "")
        kept.unlink()
        gone = (await cockpit.client.course("api")).stretches[0]
        assert (gone.unknown, gone.points) == ("The transcript was removed.", [])


async def test_a_session_that_has_just_begun_has_no_counts_yet(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(steps=1, prompt="")):
        await cockpit.start()
        await cockpit.until(lambda row: row.pid is not None)
        (stretch,) = (await cockpit.client.course("api")).stretches
        assert (stretch.unknown, stretch.points) == ("No token counts yet.", [])


async def test_the_course_says_what_is_not_possible_with_the_agents_cli(cockpit: Cockpit) -> None:
    plain = '[[agents]]\nname = "plain"\nruntime = "command"\ncommand = ["sleep", "600"]\n'
    async with cockpit.flying(cockpit.agent(steps=1) + plain):
        assert (await cockpit.client.course("api")).limits == []
        (limit,) = (await cockpit.client.course("plain")).limits
        assert limit.startswith("Tokens in context, ")
        assert limit.endswith(": a plain command")


async def test_the_diff_is_of_the_worktree_and_of_the_whole_job(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(steps=1)):
        await cockpit.start()
        await cockpit.until(lambda row: row.state in {"idle", "done"})
        made = cockpit.repository / "made.txt"
        made.write_text("one\n")
        before = await cockpit.client.diff("api")
        assert "made.txt" in before.untracked
        for words in (("add", "made.txt"), ("commit", "-q", "-m", "made")):
            git = await asyncio.create_subprocess_exec("git", *words, cwd=cockpit.repository)
            assert await git.wait() == 0
        made.write_text("two\n")

        found = await cockpit.client.diff("api")
        assert "-one\n+two\n" in found.text
        assert (found.directory, found.of_job) == (str(cockpit.repository), False)
        whole = await cockpit.client.diff("api", of_job=True)
        assert whole.of_job
        assert whole.since != found.since
        assert "made.txt" in [each.path for each in whole.files]
        assert "-one" not in whole.text
