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
