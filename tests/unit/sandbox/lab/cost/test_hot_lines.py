from __future__ import annotations

from dataclasses import replace

import pytest

from sandbox.lab.cost.counters import LaunchCounters, SiteCounters
from sandbox.lab.cost.forecast import LaunchForecast
from sandbox.lab.cost.hot_lines import hot_lines
from sandbox.lab.cost.occupancy import occupancy
from sandbox.lab.cost.timeline import Timeline, Timelines
from sandbox.target import load_target


def site(
    line: int | None, kind: str, instructions: float, misses: float = 0.0, conflicts: float = 0.0, clocks: float = 0.0
) -> SiteCounters:
    return SiteCounters(line, kind, 4, instructions, 0, 0, 0, 0, misses, clocks, conflicts, 0)


def launch(kernel: str, *sites: SiteCounters) -> LaunchForecast:
    counted = LaunchCounters(kernel, 1, 64, 1, 1, 0, 0, 0, sites)
    return LaunchForecast(counted, occupancy(1, 64, 0, None, load_target("mi300x")), 0.0, 0.0, {}, {})


def test_a_line_is_the_sum_of_its_places_over_all_launches_and_its_share_of_the_kernel() -> None:
    once = launch("k", site(3, "load", 10, 30), site(3, "lds load", 4, conflicts=8), site(9, "store", 10, 10))
    first, second = hot_lines([once, once])
    assert (first.line, second.line) == (3, 9)
    assert first.counters == {"vmem_instructions": 20, "l2_requests": 60, "lds_instructions": 8, "bank_conflicts": 16}
    assert first.shares == pytest.approx(
        {"vmem_instructions": 0.5, "l2_requests": 0.75, "lds_instructions": 1.0, "bank_conflicts": 1.0}
    )


def test_kernels_are_apart_and_places_without_a_line_only_count_in_the_total() -> None:
    hot = hot_lines(
        [launch("a", site(3, "load", 1, 1), site(None, "load", 3, 3)), launch("b", site(3, "matrix F8", 5, clocks=160))]
    )
    assert {(h.kernel, h.shares.get("l2_requests"), h.shares.get("mfma_clocks")) for h in hot} == {
        ("a", 0.25, None),
        ("b", None, 1.0),
    }


def test_only_the_costliest_are_kept() -> None:
    many = launch("k", *(site(n, "load", n, n) for n in range(1, 40)))
    assert [h.line for h in hot_lines([many], most=3)] == [39, 38, 37]


def test_a_line_has_the_time_that_waves_wait_there_and_its_largest_cause() -> None:
    line = Timeline((100.0,), {"vmcnt": 60.0, "issue": 40.0}, (0, 0, 0), {}, 1.0, ())
    counted = replace(launch("k").counters, timelines=Timelines(line, line, 0.0), stalls=((7, {"vmcnt": 50.0}),))
    waiting = replace(launch("k"), counters=counted, cold_us=10.0)
    (hot_line,) = hot_lines([waiting])
    assert hot_line.line == 7 and (hot_line.counters, hot_line.stall_cause) == ({"stall_us": 5.0}, "vmcnt")
    assert hot_line.shares["stall_us"] == 0.5
