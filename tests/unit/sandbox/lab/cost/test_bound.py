from __future__ import annotations

import pytest

from records.evaluation import Resources
from sandbox.amdgcn.blocks import BasicBlock
from sandbox.candidate.resolve import ResolvedLaunch, ResolvedPlan
from sandbox.lab.cost.bound import TimeBound, bound
from sandbox.lab.cost.counters import LaunchCounters
from sandbox.lab.cost.occupancy import l1_sharers
from sandbox.target import load_target

MI300X = load_target("mi300x")


def bounded(blocks: int, threads: int, code: tuple[BasicBlock, ...]) -> TimeBound:
    """The bound of a launch that touches no memory and runs through each block once."""
    waves = blocks * -(-threads // 64)
    counters = LaunchCounters("k", blocks, threads, blocks, float(waves), 0, 0, 0, (), runs=(1.0,) * len(code))
    plan = ResolvedPlan((ResolvedLaunch("k", (blocks, 1, 1), (threads, 1, 1), 0, ()),), {})
    return bound([counters], [], plan, MI300X, 0.0, 0.0, "fp32_vector", {"k": code})


def test_scalar_instructions_that_fill_the_issue_slots_bind_and_are_named() -> None:
    code = (BasicBlock(100, 0, issued={"vector": 100, "scalar": 4200}),)
    found = bounded(304, 256, code)  # one wave a SIMD: 4300 turns of 4 clocks at 2100 MHz
    assert found.resource == "issue"
    assert found.resources_us["issue"] == pytest.approx(4300 * 4 / 2100, rel=1e-3)
    assert found.resources_us["valu"] == pytest.approx(100 * 4 / 2100, rel=1e-3)
    assert "issue of instructions" in found.explanation
    assert "1 wave has a SIMD to itself (the grid gives no more)" in found.explanation


def test_waves_that_share_a_simd_issue_different_kinds_together() -> None:
    code = (BasicBlock(1000, 0, issued={"vector": 1000, "scalar": 1000}),)
    alone, shared = bounded(304, 256, code), bounded(304, 512, code)
    assert alone.resources_us["issue"] == pytest.approx(2000 * 4 / 2100, rel=1e-3)
    assert shared.resources_us["issue"] == pytest.approx(2 * 1000 * 4 / 2100, rel=1e-3)  # two waves, as the vector ALU


def test_wave_quantisation_is_named_where_it_costs() -> None:
    code = (BasicBlock(4000, 0, issued={"vector": 4000}),)
    even, odd = bounded(304, 256, code), bounded(305, 256, code)
    assert "Wave quantisation" not in even.explanation
    assert "Wave quantisation: 305 workgroups on 304 units cost 99 % more" in odd.explanation
    assert odd.resources_us["valu"] == pytest.approx(2 * even.resources_us["valu"], rel=1e-3)


def test_what_else_there_is_to_do_decides_between_variants_that_one_resource_binds() -> None:
    plain, fuller = (
        bounded(304, 1024, (BasicBlock(v, 0, issued={"vector": 1000, "scalar": 900}),)) for v in (100, 900)
    )
    assert plain.resource == fuller.resource
    assert fuller.resources_us[fuller.resource] == plain.resources_us[plain.resource]
    more = fuller.resources_us["valu"] - plain.resources_us["valu"]
    assert fuller.time_us - plain.time_us == pytest.approx(0.01 * more, rel=1e-4) and more > 0


def test_residents_share_the_l1_where_barriers_keep_their_waves_in_step() -> None:
    def sharers(threads: int, *barriers: int) -> int:
        launches = tuple(ResolvedLaunch(f"k{i}", (10**6, 1, 1), (threads, 1, 1), 0, ()) for i in range(len(barriers)))
        code = {f"k{i}": (BasicBlock(1, 0, barriers=n),) for i, n in enumerate(barriers)}
        own = [Resources(f"k{i}", 64, 0, 16, 0, 0, 8) for i in range(len(barriers))]
        return l1_sharers(ResolvedPlan(launches, {}), own, code, MI300X)

    assert sharers(256, 1) == 8 and sharers(1024, 1) == 2
    assert sharers(256, 0) == 1  # nothing says how soon one wave reads what another has read
    assert sharers(64, 0) == 32  # but one wave is always in step with itself
    assert sharers(256, 1, 0) == 1
