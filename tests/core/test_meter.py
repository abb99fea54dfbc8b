from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from cockpit.core.meter import SERIES_KEPT, Meter
from cockpit.core.session import (
    ApiFailed,
    AssistantReplied,
    Compacted,
    CostCounted,
    Identified,
    Skipped,
    ToolUse,
    TurnEnded,
    Usage,
    UserSaid,
)

START = datetime(2026, 11, 21, tzinfo=UTC)


def reply(
    message_id: str,
    tokens: int,
    *,
    output: int = 10,
    sidechain: bool = False,
    model: str = "claude-sonnet-5-5",
    tools: tuple[ToolUse, ...] = (),
    at: datetime | None = None,
) -> AssistantReplied:
    used = Usage(input=0, cache_creation=0, cache_read=tokens, output=output)
    return AssistantReplied(message_id, model, used, used, tools=tools, sidechain=sidechain, at=at)


def fed(*events: object) -> Meter:
    meter = Meter()
    for event in events:
        meter.feed(event)  # type: ignore[arg-type]
    return meter


def test_an_empty_meter_knows_nothing() -> None:
    meter = Meter()
    assert (meter.tokens, meter.model, meter.tokens_per_turn, meter.cost_usd) == (None,) * 4
    assert meter.turns_left(100) is None
    assert meter.totals == Usage()


def test_the_last_reply_is_the_reading_and_never_a_sum() -> None:
    assert fed(reply("a", 10_000), reply("b", 12_000)).tokens == 12_000


def test_rows_of_one_message_count_once_by_the_fullest() -> None:
    meter = fed(
        reply("a", 9_000, output=1), reply("a", 9_000, output=40), reply("a", 9_000, output=3)
    )
    assert meter.totals == Usage(cache_read=9_000, output=40)
    assert (meter.api_calls, meter.tokens) == (1, 9_000)


def test_a_placeholder_of_zero_tokens_is_no_reading() -> None:
    meter = fed(reply("a", 9_000), reply("b", 0, output=1))
    assert meter.tokens == 9_000
    meter.feed(reply("b", 11_000))
    assert meter.tokens == 11_000


def test_sidechains_cost_but_are_no_reading() -> None:
    meter = fed(reply("a", 9_000), reply("s", 500_000, sidechain=True))
    assert (meter.tokens, meter.api_calls, meter.peak) == (9_000, 1, 9_000)
    assert meter.totals.cache_read == 509_000


def test_an_api_error_changes_nothing() -> None:
    assert fed(reply("a", 9_000), ApiFailed("overloaded", 529)).tokens == 9_000


def test_a_copied_row_of_an_earlier_message_is_no_reading() -> None:
    meter = fed(reply("a", 9_000), reply("b", 12_000), reply("a", 9_000))
    assert (meter.tokens, meter.api_calls) == (12_000, 2)


def test_after_a_compaction_nothing_is_known_until_the_next_reply() -> None:
    meter = fed(reply("a", 150_000), reply("b", 160_000), Compacted(pre_tokens=161_000))
    assert (meter.tokens, meter.tokens_per_turn, meter.compactions) == (None, None, 1)
    meter.feed(reply("b", 160_000))
    assert meter.tokens is None, "a late row of the last message is of the old conversation"
    meter.feed(reply("c", 30_000))
    assert meter.peak == 160_000
    assert meter.turns_left(30_000) == 0


def test_growth_before_a_compaction_tells_nothing_of_after() -> None:
    before = (reply("a", 140_000), reply("b", 150_000), reply("x", 160_000))
    meter = fed(*before, Compacted(), reply("c", 30_000))
    assert meter.tokens_per_turn is None
    meter.feed(reply("d", 31_000))
    assert meter.tokens_per_turn == 1_000


def test_growth_is_a_robust_median_of_the_calls_since_the_compaction() -> None:
    sizes = [10_000, 12_000, 14_000, 90_000, 92_000, 94_000]
    assert fed(*(reply(str(i), size) for i, size in enumerate(sizes))).tokens_per_turn == 2_000


def test_a_shrinking_context_is_no_growth() -> None:
    assert fed(reply("a", 10_000), reply("b", 8_000)).tokens_per_turn is None


def test_turns_left_round_up_and_end_at_zero() -> None:
    meter = fed(reply("a", 10_000), reply("b", 12_000))
    assert meter.turns_left(17_000) == 3
    assert meter.turns_left(12_000) == 0
    assert meter.turns_left(1) == 0
    assert meter.turns_left(None) is None


def test_without_growth_turns_left_are_not_known() -> None:
    assert fed(reply("a", 10_000)).turns_left(20_000) is None


def test_the_identity_tells_the_large_window_that_replies_leave_out() -> None:
    identity = Identified(model="claude-sonnet-4-6[1m]")
    assert fed(identity).model == "claude-sonnet-4-6[1m]"
    assert fed(identity, reply("a", 1, model="claude-sonnet-4-6")).model == "claude-sonnet-4-6[1m]"
    assert fed(identity, reply("a", 1, model="claude-opus-5")).model == "claude-opus-5"


def test_it_counts_tools_turns_cost_and_bad_lines() -> None:
    meter = fed(
        reply("a", 5, tools=(ToolUse("1", "Bash"), ToolUse("2", "Edit"))),
        TurnEnded(),
        CostCounted(0.5),
        CostCounted(0.75),
        Skipped("torn"),
        UserSaid("hello"),
    )
    assert (meter.tool_calls, meter.turns, meter.cost_usd, meter.skipped) == (2, 1, 0.75, 1)


def test_the_series_is_bounded_in_order_and_ends_with_the_reading() -> None:
    meter = Meter()
    for number in range(5_000):
        meter.feed(reply(str(number), 1_000 + number, at=START + timedelta(seconds=number)))
    series = meter.series
    assert len(series) <= SERIES_KEPT
    assert [point.at for point in series] == sorted(point.at for point in series if point.at)
    assert series[-1].tokens == 5_999
    assert meter.trend[-1] == 5_999
    assert [point.call for point in series] == sorted({point.call for point in series})


def test_a_compaction_is_a_point_of_the_series() -> None:
    series = fed(reply("a", 9_000), Compacted(pre_tokens=9_500), reply("b", 2_000)).series
    assert [(point.tokens, point.kind) for point in series] == [
        (9_000, "reply"), (9_500, "compacted"), (2_000, "reply"),
    ]  # fmt: skip
    assert [point.call for point in series] == [1, 1, 2]


ROWS = st.lists(
    st.builds(
        reply,
        st.sampled_from("abcdef"),
        st.integers(0, 1_000_000),
        output=st.integers(0, 1_000),
        sidechain=st.booleans(),
    )
    | st.just(Compacted())
)


@given(ROWS)
def test_totals_are_the_fullest_row_of_each_message(rows: list[object]) -> None:
    fullest: dict[str, int] = {}
    for row in rows:
        if isinstance(row, AssistantReplied):
            size = row.billed.context + row.billed.output
            fullest[row.message_id] = max(size, fullest.get(row.message_id, 0))
    totals = fed(*rows).totals
    assert totals.context + totals.output == sum(fullest.values())
