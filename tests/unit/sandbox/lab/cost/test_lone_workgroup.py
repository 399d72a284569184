from __future__ import annotations

from dataclasses import replace

import pytest

from sandbox.amdgcn.blocks import BasicBlock
from sandbox.lab.cost.counters import LaunchCounters, SiteCounters
from sandbox.lab.cost.issue import ExecutedCode
from sandbox.lab.cost.lone_workgroup import alone_clocks
from sandbox.lab.cost.occupancy import occupancy
from sandbox.target import Target, load_target

MI300X, H200 = load_target("mi300x"), load_target("h200")
HBM, L2, L1 = (MI300X.memory[f"{name}_latency_clocks"] for name in ("hbm", "l2", "l1"))


def counted(waves: int, loads: float, misses: float, barriers: float = 0.0) -> LaunchCounters:
    """One workgroup; loads and misses a wave, each of one line."""
    site = SiteCounters(
        5, "load", 4, loads * waves, 64 * loads * waves, 0, loads * waves, loads * waves, misses * waves, 0, 0, 0
    )
    return LaunchCounters("k", 1, 64 * waves, 1, float(waves), barriers, misses * waves, 0, (site,))


def clocks(seen: LaunchCounters, block: BasicBlock, cold: float = 1.0, target: Target = MI300X) -> float:
    """`cold`: which part of the misses memory must serve. The block runs as often as its loads were counted."""
    o = occupancy(seen.blocks, seen.threads, 0, None, target)
    misses = sum(s.misses for s in seen.sites)
    turns = sum(s.instructions for s in seen.sites) / seen.waves / block.loads
    code = ExecutedCode.of(replace(seen, runs=(turns,)), (block,), target)
    return alone_clocks(seen, o, code, target, cold * misses * target.memory["line_bytes"])


def code(loads: int, stalls: float, late: float = 0.0, valu: int = 0, loop: int = -1) -> BasicBlock:
    issued = {"vector": valu} if valu else {}
    return BasicBlock(valu, 0, {"5:load": 4 * loads}, loop, issued, loads, stalls, late, loop)


def test_loads_that_are_waited_for_together_cost_one_latency() -> None:
    assert clocks(counted(1, 4, 4), code(4, 1.0)) == HBM
    assert clocks(counted(1, 4, 4), code(4, 4.0)) == 4 * HBM


def test_a_wait_takes_as_long_as_its_slowest_load_and_misses_share_as_few_waits_as_they_can() -> None:
    assert clocks(counted(1, 4, 1), code(4, 1.0)) == HBM
    assert clocks(counted(1, 4, 1), code(4, 4.0)) == HBM + 3 * L1
    assert clocks(counted(1, 4, 4), code(4, 4.0), cold=0.25) == HBM + 3 * L2


def test_waves_hide_their_own_waits_behind_the_issue_of_the_others_but_not_those_between_barriers() -> None:
    busy = code(4, 4.0, valu=4000)  # 16 waves on 4 SIMDs: 4 * 4000 instructions of 4 clocks
    free, kept_apart = (clocks(counted(16, 4, 4, barriers), busy) for barriers in (0.0, 3.0))
    assert free == HBM + 64000
    assert kept_apart == pytest.approx(4 * HBM + 64000 + 3 * 32)


def test_what_is_fetched_ahead_over_a_barrier_hides() -> None:
    apart, ahead = (clocks(counted(16, 4, 4, 3.0), code(4, 4.0, late, valu=4000)) for late in (0.0, 4.0))
    assert apart - ahead == 4 * HBM


def test_another_compiler_sends_the_loads_of_straight_code_together_and_unrolls_loops() -> None:
    latency = H200.memory["hbm_latency_clocks"]
    seen = replace(counted(1, 8, 8), threads=32)
    sectors = tuple(replace(s, segments=4 * s.segments, misses=4 * s.misses) for s in seen.sites)
    seen = replace(seen, sites=sectors)
    assert clocks(seen, code(8, 8.0), target=H200) == latency  # 8 loads in flight
    assert clocks(seen, code(1, 1.0, loop=0), target=H200) == 2 * latency  # 8 turns of one load, 4 side by side
    assert (
        clocks(seen, code(1, 1.0, loop=0), target=replace(H200, memory={**H200.memory, "foreign_listing": 0}))
        == 8 * latency
    )
