"""Clocks a wave spends issuing vector instructions: each block's own, times how often the block was executed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sandbox.amdgcn.blocks import BasicBlock
from sandbox.lab.cost.counters import LaunchCounters
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
    """Give the average number of times that a wave runs through each block, as it was executed."""
    return list(counted.runs) if len(counted.runs) == len(blocks) else [0.0] * len(blocks)
