"""Number of workgroups that share a compute unit, and the balance of the grid over the units."""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from dataclasses import dataclass

from records.evaluation import Resources
from sandbox.candidate.limits import waves_by_registers
from sandbox.candidate.resolve import ResolvedPlan
from sandbox.lab.cost.clock import Residency
from sandbox.lab.cost.counters import LaunchCounters
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
    heaviest: float = 1.0  # work of the heaviest workgroup over that of the mean

    @property
    def rounds(self) -> int:
        """Number of times that the busiest unit is filled."""
        return -(-self.blocks_on_busiest // max(1, self.resident_blocks))

    @property
    def waves_per_simd(self) -> float:
        """Waves that really share a SIMD."""
        return min(self.resident_blocks, self.blocks_on_busiest) * self.waves_per_block / 4

    @property
    def imbalance(self) -> float:
        """Time of the busiest unit over that of a perfectly even spread."""
        return self.blocks_on_busiest * self.active_units / self.blocks if self.blocks else 1.0


def occupancy(
    blocks: int, threads: int, lds_bytes: int, resources: Resources | None, target: Target, heaviest: float = 1.0
) -> Occupancy:
    """Residency from registers, LDS and the hardware's slots; `lds_bytes` is static plus dynamic.

    A workgroup runs on one unit: where the heaviest does as much as so many others, fewer units share the work.
    """
    limits = target.limits
    waves = -(-threads // target.wave)
    simds = limits["simd_per_unit"]
    # Not `resources.waves_per_simd`: that is what the plan's largest LDS leaves, which this launch may not ask for.
    per_simd = limits["waves_per_simd"]
    if resources and target.vendor == "amd":
        per_simd = waves_by_registers(resources.vgpr + resources.agpr, resources.sgpr, target)
    granule = limits["lds_granule"]
    slots = limits["waves_per_simd"] * simds // waves
    options = {"wave slots": slots, "registers": per_simd * simds // waves}
    if lds_bytes:
        options["LDS"] = limits["lds_bytes"] // (-(-lds_bytes // granule) * granule)
    if waves > 1:  # a workgroup of one wave needs none of the unit's barriers
        options["workgroup slots"] = limits["blocks_per_unit"]
    limit = min(options, key=lambda name: options[name])
    units = min(target.units, blocks, math.ceil(blocks / max(1.0, heaviest)))
    return Occupancy(blocks, waves, max(1, options[limit]), units, math.ceil(blocks / units), limit, heaviest)


LISTED_WAVE = 64  # lanes of a wave in the listing, whose compiler leaves out barriers inside of one


def l1_sharers(plan: ResolvedPlan, resources: Sequence[Resources], with_barriers: Set[str], target: Target) -> int:
    """Count the resident workgroups that share an L1, the fewest of all launches.

    The lab runs the waves of a workgroup one after another from barrier to barrier. Without barriers that order says
    nothing about how soon they read again what another has read, and each workgroup is taken to have the L1 alone.
    """
    by_kernel, sharers = {r.kernel: r for r in resources}, []
    for launch in plan.launches:
        kernel = by_kernel.get(launch.kernel)
        ordered = launch.threads <= LISTED_WAVE or launch.kernel in with_barriers
        lds_bytes = (kernel.lds_bytes if kernel else 0) + launch.lds_bytes
        o = occupancy(math.prod(launch.grid), launch.threads, lds_bytes, kernel, target)
        sharers.append(min(o.resident_blocks, o.blocks_on_busiest) if ordered else 1)
    return max(1, min(sharers, default=1))


def occupancies(
    counted: Sequence[LaunchCounters], plan: ResolvedPlan, resources: Sequence[Resources], target: Target
) -> list[Occupancy]:
    """Give the occupancy of each counted launch, by the workgroups that have something to do."""
    by_kernel, per_launch = {r.kernel: r for r in resources}, list[Occupancy]()
    for c, launch in zip(counted, plan.launches, strict=True):
        kernel = by_kernel.get(c.kernel)
        lds_bytes = (kernel.lds_bytes if kernel else 0) + launch.lds_bytes
        per_launch.append(occupancy(c.blocks, c.threads, lds_bytes, kernel, target, c.heaviest))
    return per_launch


def residencies(plan: ResolvedPlan, resources: Sequence[Resources], target: Target) -> tuple[Residency, ...]:
    """Give what each launch of a plan gives a compute unit."""
    by_kernel, per_launch = {r.kernel: r for r in resources}, list[Residency]()
    for launch in plan.launches:
        kernel = by_kernel.get(launch.kernel)
        lds_bytes = (kernel.lds_bytes if kernel else 0) + launch.lds_bytes
        o = occupancy(math.prod(launch.grid), launch.threads, lds_bytes, kernel, target)
        per_launch.append(Residency(o.resident_blocks, o.blocks_on_busiest, o.blocks, o.active_units))
    return tuple(per_launch)
