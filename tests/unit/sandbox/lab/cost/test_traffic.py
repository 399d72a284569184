from __future__ import annotations

import pytest

from sandbox.lab.cost.counters import LaunchCounters, SiteCounters
from sandbox.lab.cost.occupancy import occupancy
from sandbox.lab.cost.traffic import traffic_us
from sandbox.target import load_target

MI300X = load_target("mi300x")
LINE = 128
BLOCKS = 304 * 8  # all resident at once


def traffic(lines: int, misses: int) -> dict[str, float]:
    """Of workgroups that read `lines` lines each, and go to the L2 for `misses` of what they read."""
    site = SiteCounters(5, "load", 4, 1, 1, 1, BLOCKS * misses, BLOCKS * misses, BLOCKS * misses, 0, 0, 0)
    seen = LaunchCounters("k", BLOCKS, 256, 1, BLOCKS * 4.0, 0, BLOCKS * lines, 0, (site,))
    return traffic_us(seen, occupancy(BLOCKS, 256, 0, None, MI300X), MI300X, BLOCKS * lines * LINE)


def test_rows_that_are_read_again_come_from_the_l2_while_it_holds_those_of_all_residents() -> None:
    once, twice = traffic(100, 100), traffic(100, 200)  # 3.9 MB a chiplet
    assert twice["l2"] == 2 * once["l2"]
    assert twice["mall"] == once["mall"] and twice["hbm"] == once["hbm"]


def test_what_no_l2_can_hold_is_fetched_from_the_infinity_cache_again() -> None:
    once, twice = traffic(1000, 1000), traffic(1000, 2000)  # 38.9 MB a chiplet, 311 MB in all
    chiplet, chip = 304 * LINE * 1000.0, 8 * 304 * LINE * 1000.0
    assert twice["mall"] / once["mall"] == pytest.approx(2 - MI300X.memory["l2_bytes"] / chiplet)
    assert twice["hbm"] / once["hbm"] == pytest.approx(2 - MI300X.memory["mall_bytes"] / chip)


def test_stores_of_one_wave_to_the_same_piece_of_a_line_may_meet_before_the_l2() -> None:
    def written(instructions: int, misses: int, nbytes: int) -> float:
        site = SiteCounters(5, "store", 4, BLOCKS * instructions, 1, BLOCKS * nbytes, 1, 1, BLOCKS * misses, 0, 0, 0)
        seen = LaunchCounters("k", BLOCKS, 64, 1, float(BLOCKS), 0, 0, 0, (site,))
        return traffic_us(seen, occupancy(BLOCKS, 64, 0, None, MI300X), MI300X, 1.0)["l2"]

    scattered = written(1, 64, 256)  # one instruction, every lane a line of its own
    assert written(4, 64, 1024) == scattered / 4  # four instructions of 16 lines: they may be the same 16
    assert written(64, 64, 64 * LINE) == scattered  # whole lines, each written once
