"""Clocks a wave spends issuing vector instructions: each block's own, times how often the block runs.

A block runs as often as its memory and matrix instructions do, which the lab counted line by line; bytes are compared
rather than instructions, because the GPU's compiler merges neighbouring accesses. A block without any runs as often as
the other blocks of its loop, outside of loops once; one whose accesses nobody made did not run. What stays a guess:
code under a divergent branch without memory access, and loops without any, which count as one turn, inside another loop
as one in each of its turns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sandbox.amdgcn.blocks import BasicBlock
from sandbox.lab.cost.counters import LaunchCounters
from sandbox.lab.cost.turns import certain_runs
from sandbox.target import Target

VALU_CLOCKS = 4.0  # of a 16-lane SIMD for 64 lanes
TRANS_CLOCKS = 16.0
ISSUE_CLOCKS = 4.0  # a SIMD has its turn every fourth clock


@dataclass(frozen=True)
class ExecutedCode:
    """The blocks of a launch's kernel, and how often a wave runs through each on average."""

    blocks: Sequence[BasicBlock]
    runs: Sequence[float]
    waves: float
    target: Target

    @staticmethod
    def of(counted: LaunchCounters, blocks: Sequence[BasicBlock], target: Target) -> ExecutedCode:
        """Read off the counters how often each block runs."""
        return ExecutedCode(blocks, executions(counted, blocks), counted.waves, target)

    def vector_clocks(self) -> float:
        """Clocks of one SIMD for the vector instructions of all waves."""
        memory = self.target.memory
        valu, trans = memory.get("valu_clocks", VALU_CLOCKS), memory.get("trans_clocks", TRANS_CLOCKS)
        clocks = (
            run * (valu * (block.valu + _beside(block, self.target)) + trans * block.trans)
            for run, block in zip(self.runs, self.blocks, strict=True)
        )
        return sum(clocks) * self.waves

    def issue_clocks(self, waves_per_simd: float) -> float:
        """Clocks of one SIMD to issue every instruction of all waves.

        In its turn a SIMD issues at most one instruction of each category, and each of them from another wave: so what
        counts is the fullest category, or all categories over the waves there are to issue from.
        """
        total: dict[str, float] = {}
        for run, block in zip(self.runs, self.blocks, strict=True):
            for category, count in block.issued.items():
                more = _beside(block, self.target) if category == "vector" else 0
                total[category] = total.get(category, 0) + run * (count + more)
        if not total:
            return 0.0
        width = self.target.memory.get("issue_width", float(len(total)))
        together = min(width, float(len(total)), max(1.0, waves_per_simd))
        turns = max(*total.values(), sum(total.values()) / together) * self.waves
        return self.target.memory.get("issue_clocks", ISSUE_CLOCKS) * turns


def _beside(block: BasicBlock, target: Target) -> int:
    """Vector instructions more, or fewer, than in the listing, where it is another device's than the target.

    Copies are this compiler's way to bring values together; an instruction that does two operations is two elsewhere.
    """
    return block.packed - block.copies if target.memory.get("foreign_listing") else 0


def executions(counted: LaunchCounters, blocks: Sequence[BasicBlock]) -> list[float]:
    """Average number of times that a wave runs through each block."""
    if len(counted.runs) == len(blocks):
        return list(counted.runs)
    rates = _rates(counted, blocks)
    certain = certain_runs(counted, blocks)
    own = [_own(block, rates, most) for block, most in zip(blocks, certain, strict=True)]
    loops: dict[int, float] = {}
    for block, run in zip(blocks, own, strict=True):
        if run is not None and block.loop >= 0:
            loops[block.loop] = max(loops.get(block.loop, 0.0), run)
    turns = [loops.get(block.loop, loops.get(block.region, 1.0)) for block in blocks]  # an inner one once a turn
    return [run if run is not None else most for run, most in zip(own, turns, strict=True)]


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
    lost = _lost(seen, static)
    return {
        key: (seen[key] / count if seen[key] else lost.get(key.partition(":")[2], 0.0)) / waves
        for key, count in static.items()
    }


def _lost(seen: Mapping[str, float], static: Mapping[str, int]) -> dict[str, float]:
    """By kind: counted at lines that the listing does not have, over what stands there at lines nobody counted.

    Optimisers move instructions to the lines of their neighbours or to none, each in its own way.
    """
    counted: Counter[str] = Counter()
    standing: Counter[str] = Counter()
    for key, value in seen.items():
        counted[key.partition(":")[2]] += 0 if key in static else value  # type: ignore[assignment]
    for key, count in static.items():
        standing[key.partition(":")[2]] += 0 if seen.get(key) else count
    return {kind: counted[kind] / count for kind, count in standing.items() if count}


def _own(block: BasicBlock, rates: dict[str, float], most: float | None) -> float | None:
    """By the matrix instructions where there are any, else the mean over the bytes moved; in a loop `most` at most."""
    known = {key: weight for key, weight in block.anchors.items() if key in rates}
    matrix = {key: weight for key, weight in known.items() if key.endswith(":mfma")}
    chosen = matrix or known
    total = sum(chosen.values())
    if not total:
        return None
    found = sum(rates[key] * weight for key, weight in chosen.items()) / total
    return found if most is None or block.region < 0 else min(found, most)
