from __future__ import annotations

from dataclasses import replace

import pytest

from sandbox.lab.cost.bound import bound_us
from sandbox.lab.cost.clock import STALLS, WORK
from sandbox.lab.cost.counters import LaunchCounters, SiteCounters
from sandbox.lab.cost.occupancy import occupancy
from sandbox.lab.cost.timeline import Timeline, Timelines
from sandbox.target import load_target

MI300X = load_target("mi300x")


def counted(blocks: int = 304, **work: float) -> LaunchCounters:
    """A launch whose workgroups, of four waves, ask for so much of their units."""
    line = Timeline((1.0,), dict.fromkeys(STALLS, 0.0), (0, 0, 0), {**dict.fromkeys(WORK, 0.0), **work}, 1.0, ())
    return LaunchCounters("k", blocks, 256, 3, blocks * 4.0, 0, 0, 0, (), timelines=Timelines(line, line, 0.0))


def bound(*launches: LaunchCounters, footprint: float = 0.0) -> float:
    return bound_us([(c, occupancy(c.blocks, 256, 0, None, MI300X)) for c in launches], footprint, MI300X)


def test_vector_instructions_bind_at_the_rate_of_two_at_once() -> None:
    assert bound(counted(valu=16_800.0)) == pytest.approx(16_800 / 4 / 2 / 2100)


def test_the_busiest_unit_binds_and_launches_follow_one_another() -> None:
    single = counted(valu=16_800.0)
    assert bound(counted(305, valu=16_800.0)) == pytest.approx(2 * bound(single))
    assert bound(single, single) == pytest.approx(2 * bound(single))


def test_matrix_instructions_bind_by_their_passes() -> None:
    site = SiteCounters(1, "matrix F16", 0, 1.0, 64.0, unit_clocks=304 * 8400.0)
    assert bound(replace(counted(), sites=(site,))) == pytest.approx(1.0)


def test_buffers_bind_only_as_far_as_they_do_not_fit_in_the_infinity_cache() -> None:
    fitting = MI300X.memory["mall_bytes"]
    assert bound(counted(), footprint=fitting) == 0.0
    assert bound(counted(), footprint=fitting + 5.3e6) == pytest.approx(1.0)


def test_no_launch_overhead_is_in_it() -> None:
    assert bound(counted()) == 0.0


@pytest.mark.parametrize(
    ("kind", "bytes_per_clock"),
    [("lds load", 128), ("lds store", 128), ("load", 64), ("store", 64), ("atomic", 64), ("lds atomic", 0)],
)
@pytest.mark.parametrize("blocks", [304, 305])
def test_bytes_bind_by_what_the_busiest_unit_passes_in_a_clock(blocks: int, kind: str, bytes_per_clock: int) -> None:
    site = SiteCounters(1, kind, 4, 1.0, 64.0, bytes=2100.0 * blocks)
    clocks = 2100.0 * -(-blocks // 304) / bytes_per_clock if bytes_per_clock else 0.0
    assert bound(replace(counted(blocks), sites=(site,))) == pytest.approx(clocks / 2100)


def test_lines_bind_by_the_rate_of_the_l2() -> None:
    assert bound(replace(counted(), read_lines=200_000.0, written_lines=68_750.0)) == pytest.approx(1.0)
