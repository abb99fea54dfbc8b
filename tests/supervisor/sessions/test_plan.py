"""What is told before a start is what a start does, and telling it does nothing."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.core.errors import BadUsage, NotNow
from cockpit.supervisor.sessions.plan import neighbours_text
from cockpit.wire.verbs import Plan, Start, Stop

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux


async def test_a_plan_names_what_the_start_then_makes(cockpit: Cockpit) -> None:
    here = str(cockpit.repository)
    worktree = '[defaults.worktree]\nwork_item = "lin-42"'
    async with cockpit.flying(cockpit.agent(mode="observe"), defaults=worktree):
        known = await cockpit.ask(Plan(name="api"))
        assert known.message.startswith(f"api starts as configured in {here} on branch ")

        told = await cockpit.ask(Plan(name="extra", directory=here, worktree=True))
        assert "extra" not in [row.name for row in (await cockpit.client.status()).agents]
        assert not (cockpit.repository / ".worktrees").exists()

        await cockpit.ask(Start(name="extra", directory=here, worktree=True, prompt="count"))
        row = await cockpit.row("extra")
        assert f"in a new worktree {row.worktree} on branch {row.branch}." in told.message
        assert isinstance(await cockpit.refused(Plan(name="extra")), NotNow)
        await cockpit.start()
        company = await cockpit.ask(Plan(name="more", directory=here))
        assert "api is running there too: their edits may conflict." in company.message


async def test_a_plan_is_refused_as_the_start_would_be(cockpit: Cockpit) -> None:
    here, outside = str(cockpit.repository), str(cockpit.home)
    async with cockpit.flying(cockpit.agent(mode="observe")):
        empty = await cockpit.refused(Plan(name="new", directory=here, runtime="command"))
        assert isinstance(empty, BadUsage)
        nowhere = await cockpit.refused(Plan(name="new", directory=f"{here}/nowhere"))
        assert "is not a directory" in nowhere.title
        bare = await cockpit.refused(Plan(name="new", directory=outside, worktree=True))
        assert "not in a git repository" in bare.title
        link = cockpit.home / "way"
        link.symlink_to(cockpit.repository / ".git" / "hooks")
        (cockpit.repository / ".git" / "hooks").mkdir(exist_ok=True)
        for worktree in (True, False):
            for place, reason in (
                (f"{here}/.git/hooks", "outside .git"),
                (link, "is a git directory"),
            ):
                inside = await cockpit.refused(
                    Plan(name="new", directory=str(place), worktree=worktree)
                )
                assert reason in f"{inside.title}{inside.detail}"
                begun = await cockpit.refused(
                    Start(name="new", directory=str(place), prompt="x", worktree=worktree)
                )
                assert (begun.title, begun.detail) == (inside.title, inside.detail)
        plain = await cockpit.ask(Plan(name="new", directory=outside))
        assert "No git repository" in plain.message


@pytest.mark.parametrize("worktree", [False, True])
async def test_a_plan_is_refused_in_the_worktree_of_another_agent(
    cockpit: Cockpit, *, worktree: bool
) -> None:
    here = str(cockpit.repository)
    async with cockpit.flying(cockpit.agent(mode="observe")):
        await cockpit.ask(Start(name="extra", directory=here, worktree=True, prompt="count"))
        taken = (await cockpit.row("extra")).worktree
        asked = {"name": "more", "directory": taken, "worktree": worktree}
        told = await cockpit.refused(Plan.model_validate(asked))
        begun = await cockpit.refused(Start.model_validate(asked))
        assert isinstance(told, NotNow)
        assert (told.title, told.detail, told.hint) == (begun.title, begun.detail, begun.hint)
        # The step that it names works.
        assert f"--directory {here}" in told.hint
        own = Plan(name="more", directory=here, worktree=True)
        assert "in a new worktree" in (await cockpit.ask(own)).message


async def test_a_plan_sees_who_works_in_the_worktree_that_the_agent_would_use_again(
    cockpit: Cockpit,
) -> None:
    more = '[agents.worktree]\nstrategy = "git_worktree"'
    async with cockpit.flying(cockpit.agent(mode="observe", more=more)):
        tree = (await cockpit.start()).worktree
        await cockpit.ask(Stop(name="api"))
        await cockpit.ask(Start(name="other", directory=tree, prompt="count"))
        told = await cockpit.refused(Plan(name="api"))
        begun = await cockpit.refused(Start(name="api"))
        assert (told.title, told.hint) == (
            f"other is already running in {tree}", "Stop other first: cockpit stop other"
        )  # fmt: skip
        assert (told.title, told.hint) == (begun.title, begun.hint)


async def test_a_plan_sees_what_git_would_refuse(cockpit: Cockpit) -> None:
    def git(*words: str, at: Path = cockpit.repository) -> None:
        subprocess.run(["git", "-C", str(at), *words], check=True, capture_output=True)

    here = str(cockpit.repository)
    worktree = '[defaults.worktree]\nwork_item = "lin-42"'
    async with cockpit.flying(cockpit.agent(mode="observe"), defaults=worktree):
        git("branch", "agent/one/lin-42")
        there = await cockpit.ask(Plan(name="one", directory=here, worktree=True))
        assert "on branch agent/one/lin-42, which already exists." in there.message
        git("worktree", "add", "-b", "agent/two/lin-42", str(cockpit.home / "elsewhere"))
        taken = await cockpit.refused(Plan(name="two", directory=here, worktree=True))
        assert "agent/two/lin-42 is checked out elsewhere" in taken.title
        in_the_way = cockpit.repository / ".worktrees" / "three-lin-42"
        in_the_way.mkdir(parents=True)
        (in_the_way / "file").touch()
        other = await cockpit.refused(Plan(name="three", directory=here, worktree=True))
        assert "is not a worktree of this repository" in other.title
        for name, words in (("empty", ["init", "-q"]), ("bare", ["init", "-q", "--bare"])):
            place = cockpit.home / name
            place.mkdir()
            git(*words, at=place)
            empty = await cockpit.refused(Plan(name="x", directory=str(place), worktree=True))
            assert (empty.detail, empty.hint) == (
                "The repository has no commit yet.", "Create a first commit."
            )  # fmt: skip
        odd = cockpit.home / 'sp ace\'s "q"\n\u202eünï'
        git("clone", "-q", here, str(odd))
        told = await cockpit.ask(Plan(name="odd", directory=str(odd), worktree=True))
        assert "odd starts as a new agent in a new worktree" in told.message


def test_several_in_one_place_work_there() -> None:
    assert neighbours_text(["api"]) == "api is running there too"
    assert neighbours_text(["api", "perm"]) == "api, perm are running there too"
