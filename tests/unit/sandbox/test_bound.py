from __future__ import annotations

import pytest

from sandbox.blocks import BasicBlock
from sandbox.lab.bound import Bound, bound
from sandbox.lab.counters import LaunchCounters
from sandbox.resolve import ResolvedLaunch, ResolvedPlan
from sandbox.target import load_target

MI300X = load_target("mi300x")


def bounded(blocks: int, threads: int, code: tuple[BasicBlock, ...]) -> Bound:
    """The bound of a launch that touches no memory."""
    waves = blocks * -(-threads // 64)
    counters = LaunchCounters("k", blocks, threads, blocks, float(waves), 0, 0, 0, ())
    plan = ResolvedPlan((ResolvedLaunch("k", (blocks, 1, 1), (threads, 1, 1), 0, ()),), {})
    return bound([counters], [], plan, MI300X, 0.0, 0.0, "fp32_vector", {"k": code})


def test_scalar_instructions_that_fill_the_issue_slots_bind_and_are_named() -> None:
    code = (BasicBlock(100, 0, issued={"vector": 100, "scalar": 4200}),)
    found = bounded(304, 256, code)  # one wave a SIMD: 4300 turns of 4 clocks at 2100 MHz
    assert found.resource == "issue"
    assert found.resources_us["issue"] == pytest.approx(4300 * 4 / 2100, rel=1e-3)
    assert found.resources_us["valu"] == pytest.approx(100 * 4 / 2100, rel=1e-3)
    assert "issue of instructions" in found.explanation


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
