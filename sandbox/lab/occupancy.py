"""How many workgroups share a compute unit, and how evenly the grid fills the units."""

from __future__ import annotations

import math
from dataclasses import dataclass

from records.evaluation import Resources
from sandbox.target import Target


@dataclass(frozen=True)
class Occupancy:
    """Residency of one launch."""

    blocks: int  # of the grid
    waves_per_block: int
    resident_blocks: int  # on one unit at the same time, when the grid is large enough
    active_units: int
    blocks_on_busiest: int  # all workgroups that the busiest unit must run
    limit: str  # what keeps more workgroups from a unit

    @property
    def rounds(self) -> int:
        """How often the busiest unit is filled anew."""
        return -(-self.blocks_on_busiest // max(1, self.resident_blocks))

    @property
    def waves_per_simd(self) -> float:
        """Waves that really share a SIMD."""
        return min(self.resident_blocks, self.blocks_on_busiest) * self.waves_per_block / 4

    @property
    def imbalance(self) -> float:
        """Time of the busiest unit over that of a perfectly even spread."""
        return self.blocks_on_busiest * self.active_units / self.blocks if self.blocks else 1.0


def occupancy(blocks: int, threads: int, lds_bytes: int, resources: Resources | None, target: Target) -> Occupancy:
    """Residency from registers, LDS and the hardware's slots; `lds_bytes` is static plus dynamic."""
    limits = target.limits
    waves = -(-threads // target.wave)
    simds = limits["simd_per_unit"]
    per_simd = resources.waves_per_simd if resources and resources.waves_per_simd > 0 else limits["waves_per_simd"]
    granule = limits["lds_granule"]
    slots = limits["waves_per_simd"] * simds // waves
    options = {"wave slots": slots, "registers": per_simd * simds // waves}
    if lds_bytes:
        options["LDS"] = limits["lds_bytes"] // (-(-lds_bytes // granule) * granule)
    if waves > 1:  # a workgroup of one wave needs none of the unit's barriers
        options["workgroup slots"] = limits["blocks_per_unit"]
    limit = min(options, key=lambda name: options[name])
    units = min(target.units, blocks)
    return Occupancy(blocks, waves, max(1, options[limit]), units, math.ceil(blocks / units), limit)
