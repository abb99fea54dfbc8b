"""Several hosts in a few cells: nothing that is wrong gets lost, however narrow the screen."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from cockpit.tui.present.hosts import connections, lost_reason
from cockpit.tui.present.inbox import items
from cockpit.tui.present.span import plain
from cockpit.tui.present.summary import joined_summary
from cockpit.tui.state.model import Model, Part
from cockpit.wire.status import AgentStatus, HeldSetting, Needs
from tests.tui.scene import agent

NOW = 1_000.0


def joined(*, lost: float | None = None, asked: bool = False) -> Model:
    model = Model(others=["build", "gpu1"])
    found = list(model.parts.values())
    for part in found[: 2 if asked else 3]:
        part.answered()
    if lost is not None:
        found[2].lost(lost, "Host gpu1 is not reached: ssh: timed out")
    return model


def parts(*, lost: float | None = None, asked: bool = False) -> list[Part]:
    return list(joined(lost=lost, asked=asked).parts.values())


def fleet() -> list[AgentStatus]:
    asks = Needs(kind="permission", detail="Bash: make")
    return [
        agent("api"), agent("web", "idle"), agent("build/ci", "handing_off"),
        agent("gpu1/sweep", "needs_you", needs=asks, cost_usd=1.2),
    ]  # fmt: skip


def test_each_host_is_told_and_what_is_wrong_stays_longest() -> None:
    said = [plain(spans) for spans in connections(parts(lost=NOW - 240), NOW)]
    assert said == [
        "local ● · build ● · gpu1 ○ lost 4m ago", "gpu1 ○ lost 4m ago", "1 host ○ lost",
    ]  # fmt: skip
    assert [plain(spans) for spans in connections(parts(), NOW)] == [
        "local ● · build ● · gpu1 ●", "3 hosts ●",
    ]  # fmt: skip
    first = next(iter(connections(parts(asked=True), NOW)))
    assert plain(first) == "local ● · build ● · gpu1 ◌ connecting…"


@pytest.mark.parametrize("width", [30, 45, 60, 80, 100, 140, 300])
def test_the_line_is_as_wide_as_the_screen_and_tells_of_the_lost_one(width: int) -> None:
    line = plain(joined_summary(fleet(), parts(lost=NOW), width, NOW, held=1))
    assert cell_len(line) == width
    assert "lost" in line
    assert ("1 needs you" in line) == (width >= 60)
    assert ("local ● · build ● · gpu1 ○ lost just now  $1.20" in line) == (width >= 140)


def test_why_it_is_lost_and_what_leads_on_stand_at_its_rows_and_in_the_inbox() -> None:
    model = joined(lost=NOW - 60)
    gpu1 = model.parts["gpu1"]
    assert lost_reason(model, "api", NOW) == []
    assert plain(lost_reason(model, "gpu1/sweep", NOW)) == (
        " ○ gpu1 lost 1m ago  Host gpu1 is not reached: ssh: timed out. Retrying "
        "automatically. To check: cockpit doctor --host gpu1"
    )
    asked, lost = items(fleet(), lost=[gpu1])
    assert (asked.agent, asked.glyph, asked.word) == ("gpu1/sweep", "~", "permission")
    assert (lost.who, lost.glyph, lost.word, lost.agent) == ("gpu1", "○", "lost", None)
    assert lost.says[0] == "Host gpu1 is not reached: ssh: timed out."
    assert lost.step.endswith("cockpit doctor --host gpu1")


def test_a_file_that_is_held_is_trusted_where_it_is() -> None:
    held = [
        HeldSetting(file="/c.toml", line=1, key="env", reason="it widens trust", host=host)
        for host in (None, "gpu1")
    ]
    there, here = sorted(items([], held), key=lambda item: item.step)
    assert "on gpu1" not in here.step
    assert there.step == "Read the file, then on gpu1: cockpit config trust /c.toml"
