"""Clocks a wave spends issuing vector instructions: each block's own, times how often the block runs.

A block runs as often as its memory and matrix instructions do, which the lab counted line by line; bytes are compared
rather than instructions, because the GPU's compiler merges neighbouring accesses. A block without any runs as often as
the other blocks of its loop, outside of loops once; one whose accesses nobody made did not run. What stays a guess:
code under a divergent branch without memory access, and loops without any.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sandbox.blocks import BasicBlock
from sandbox.lab.counters import LaunchCounters
from sandbox.target import Target

VALU_CLOCKS = 4.0  # of a 16-lane SIMD for 64 lanes
TRANS_CLOCKS = 16.0
ISSUE_CLOCKS = 4.0  # a SIMD has its turn every fourth clock


def vector_clocks(counted: LaunchCounters, blocks: Sequence[BasicBlock], target: Target) -> float:
    """Clocks of one SIMD for all waves of the launch."""
    runs = executions(counted, blocks)
    valu, trans = target.memory.get("valu_clocks", VALU_CLOCKS), target.memory.get("trans_clocks", TRANS_CLOCKS)
    return sum(run * (valu * block.valu + trans * block.trans)
               for run, block in zip(runs, blocks, strict=True)) * counted.waves


def issue_clocks(counted: LaunchCounters, blocks: Sequence[BasicBlock], waves_per_simd: float,
                 target: Target) -> float:
    """Clocks of one SIMD to issue every instruction of all waves.

    In its turn a SIMD issues at most one instruction of each category, and each of them from another wave: so what
    counts is the fullest category, or all categories over the waves there are to issue from.
    """
    total: Counter[str] = Counter()
    for run, block in zip(executions(counted, blocks), blocks, strict=True):
        for category, count in block.issued.items():
            total[category] += run * count  # type: ignore[assignment]
    if not total:
        return 0.0
    width = target.memory.get("issue_width", float(len(total)))
    together = min(width, float(len(total)), max(1.0, waves_per_simd))
    turns = max(*total.values(), sum(total.values()) / together) * counted.waves
    return target.memory.get("issue_clocks", ISSUE_CLOCKS) * turns


def executions(counted: LaunchCounters, blocks: Sequence[BasicBlock]) -> list[float]:
    """How often a wave runs through each block on average."""
    rates = _rates(counted, blocks)
    own = [_own(block, rates) for block in blocks]
    loops: dict[int, float] = {}
    for block, run in zip(blocks, own, strict=True):
        if run is not None and block.loop >= 0:
            loops[block.loop] = max(loops.get(block.loop, 0.0), run)
    return [run if run is not None else loops.get(block.loop, 1.0) for block, run in zip(blocks, own, strict=True)]


def _rates(counted: LaunchCounters, blocks: Sequence[BasicBlock]) -> dict[str, float]:
    """Executions of one copy of each anchor: what was counted over what stands in the listing."""
    static: Counter[str] = Counter()
    for block in blocks:
        static.update(block.anchors)
    seen: Counter[str] = Counter()
    for site in counted.sites:
        if site.kind.startswith("matrix "):
            seen[f"{site.line}:mfma"] += site.instructions  # type: ignore[assignment]
        else:
            seen[f"{site.line}:{site.kind}"] += site.instructions * site.size  # type: ignore[assignment]
    waves = counted.waves or 1.0
    return {key: seen[key] / count / waves for key, count in static.items()}


def _own(block: BasicBlock, rates: dict[str, float]) -> float | None:
    """By the matrix instructions where there are any, else the mean over the bytes moved."""
    known = {key: weight for key, weight in block.anchors.items() if key in rates}
    matrix = {key: weight for key, weight in known.items() if key.endswith(":mfma")}
    chosen = matrix or known
    total = sum(chosen.values())
    return sum(rates[key] * weight for key, weight in chosen.items()) / total if total else None
