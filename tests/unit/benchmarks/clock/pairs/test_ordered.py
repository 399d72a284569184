"""Two expected times are in the right order, in the wrong one, or a tie within the clock's error."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.clock.pairs.__main__ import summary
from benchmarks.clock.pairs.ordered import Ordered, bound_by
from benchmarks.clock.pairs.pair import Pair
from records.evaluation import Measurement

PAIR = Pair("one", "scaled", {"n": 65536}, 1.5, "because", "somebody", Path())


def expected(time_us: float) -> Measurement:
    """An expected time with the clock's error of a twentieth."""
    stalls = {"valu": time_us / 4, "memory": time_us / 2, "launch": 0.0}
    return Measurement(
        "n=65536", time_us, "predicted", "lab", time_us, time_us, bound="hbm", error=0.05, stalls_us=stalls
    )


@pytest.mark.parametrize(
    ("fast", "slow", "order"), [(10.0, 12.0, "right"), (12.0, 10.0, "wrong"), (10.0, 10.4, "tie"), (10.4, 10.0, "tie")]
)
def test_the_order_of_two_expected_times(fast: float, slow: float, order: str) -> None:
    row = Ordered(PAIR, expected(fast), expected(slow))
    assert row.order == order and row.cells()[5] == order


def test_a_kernel_without_a_time_is_no_order() -> None:
    row = Ordered(PAIR, refusal="slow: no such instruction")
    assert row.order == "refused" and "no such instruction" in row.cells()[5]


def test_what_binds_is_told_with_the_largest_causes_first() -> None:
    assert bound_by(expected(10.0)) == "hbm (memory 50 %, valu 25 %)"


def test_the_summary_counts_orders() -> None:
    rows = [Ordered(PAIR, expected(10.0), expected(slow)) for slow in (20.0, 15.0, 5.0)]
    assert summary(rows) == "3 pairs: 2 right, 1 wrong"
