"""The lab's bound for the H200 beside measured times of the same kernels; no GPU is needed to print it.

    python -m benchmarks.lab_ranking

Measured once with `benchmarks/hardware.py` and stored in `data/lab_ranking_h200.json`: the median of up to 30 launches
timed by events, in random order, with the L2 full of other data. The bound comes from 8 workgroups of each launch, the
registers that NVIDIA's compiler gave the kernel, and, for the instructions, the listing for gfx942: the lab has none
for sm_90a. The model and the constants of `sandbox/targets/h200.toml` were set with these times in view, so the figures
say how well the model can describe them. How well it foretells others is for the families of `held_out.py` to say,
which were measured afterwards: `data/lab_ranking_heldout_h200.json`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.screen import say, table
from app.settings import load_settings
from benchmarks.emulated import DATA, count, h200_lab, origin, stored
from benchmarks.figure import Figure, report
from benchmarks.held_out import held_out
from benchmarks.specimens import Specimen
from benchmarks.variants import Family, families
from records.evaluation import Resources
from sandbox.amdgcn.compiler import Compiler
from sandbox.amdgcn.toolchain import find_toolchain
from sandbox.lab.cost.bound import TimeBound, bound
from sandbox.lab.cost.occupancy import l1_sharers
from sandbox.lab.lab import Lab
from sandbox.target import Target, load_target
from tasks.task import Array

FILE = "lab_ranking_h200.json"
HELD_OUT = "lab_ranking_heldout_h200.json"
BLOCKS, TOP = 8, 5


@dataclass(frozen=True)
class Row:
    """One variant: what binds it by the model, the bound, the measured median; microseconds."""

    name: str
    resource: str
    bound_us: float
    measured_us: float

    @property
    def exceeds(self) -> bool:
        """True where the bound is above the measurement, so that it is none."""
        return self.bound_us > self.measured_us


def resources(kernel: str, facts: Mapping[str, int], target: Target) -> Resources:
    """Occupancy from the registers of the compiled kernel."""
    granule, registers = target.limits["vgpr_granule"], facts["registers"]
    waves = target.limits["vgpr_per_lane"] // (-(-registers // granule) * granule)
    return Resources(
        kernel,
        registers,
        0,
        0,
        facts["shared_bytes"],
        facts["local_bytes"],
        min(target.limits["waves_per_simd"], waves),
    )


def predicted(
    lab: Lab,
    compiler: Compiler,
    target: Target,
    family: Family,
    specimen: Specimen,
    inputs: Mapping[str, Array],
    facts: Mapping[str, int],
) -> TimeBound:
    """The bound of one variant."""
    code = {kernel.name: kernel.blocks for kernel in compiler.compile(specimen.candidate, specimen.chosen).kernels}
    own = [resources(specimen.plan.launches[0].kernel, facts, target)]
    seen = count(lab, specimen, inputs, BLOCKS, BLOCKS, l1_sharers(specimen.plan, own, code, target))
    return bound([seen], own, specimen.plan, target, family.bytes_moved, family.flops, "fp32_vector", code)


def rows(family: Family, measured: Mapping[str, Any], lab: Lab, compiler: Compiler, target: Target) -> list[Row]:
    """Every variant of a family that has a time."""
    inputs, found = family.variants[0].inputs(), []
    for specimen in family.variants:
        about = measured.get(specimen.name, {})
        if "cold_us" in about:
            limit = predicted(lab, compiler, target, family, specimen, inputs, about["facts"])
            found.append(Row(specimen.name, limit.resource, limit.time_us, about["cold_us"]))
    return found


def ranks(values: Sequence[float]) -> Array:
    """Ranks from 0; equal values share the mean of theirs."""
    given = np.asarray(values)
    return np.asarray([(given < v).sum() + ((given == v).sum() - 1) / 2 for v in given])


def spearman(first: Sequence[float], second: Sequence[float]) -> float:
    """Rank correlation."""
    return float(np.corrcoef(ranks(first), ranks(second))[0, 1])


def chosen(row: Row, found: Sequence[Row]) -> float:
    """Chance to be among the TOP by bound when ties are broken by lot."""
    below = sum(r.bound_us < row.bound_us for r in found)
    same = sum(r.bound_us == row.bound_us for r in found)
    return min(1.0, max(0.0, (TOP - below) / same))


def recall(found: Sequence[Row]) -> float:
    """Number of the TOP fastest by measurement among the TOP by bound; ties at the edge count by their share."""
    fastest = sorted(found, key=lambda r: r.measured_us)[:TOP]
    return sum(chosen(r, found) for r in fastest) / TOP


def figures(by_family: Mapping[str, Sequence[Row]], prefix: str, file: str, asked: int) -> list[Figure]:
    """The figures of the table."""
    every = [r for found in by_family.values() for r in found]
    correlations = {
        name: spearman([r.bound_us for r in found], [r.measured_us for r in found]) for name, found in by_family.items()
    }
    best = [min(found, key=lambda r: r.measured_us) for found in by_family.values()]
    held = [chosen(b, found) for b, found in zip(best, by_family.values(), strict=True)]
    over = 100 * sum(r.exceeds for r in every) / len(every)
    return [
        Figure(f"{prefix}.variants", float(len(every)), "variants", "asked for", float(asked), f">= {asked}", file),
        *(
            Figure(f"{prefix}.spearman.{name}", value, "", "perfect", 1.0, ">= 0.6", file)
            for name, value in correlations.items()
        ),
        Figure(
            f"{prefix}.spearman_median",
            float(np.median(list(correlations.values()))),
            "",
            "perfect",
            1.0,
            ">= 0.85",
            file,
        ),
        Figure(f"{prefix}.bound_above_measured", over, "% of variants", "allowed", 5.0, "<= 5", file),
        *(
            Figure(f"{prefix}.top5_recall.{name}", recall(found), "", "all", 1.0, "", file)
            for name, found in by_family.items()
        ),
        Figure(f"{prefix}.best_within_top5", float(sum(held)), "tasks", "tasks", float(len(held)), "", file),
    ]


def compared(file: str, group: Sequence[Family], lab: Lab, compiler: Compiler, target: Target) -> dict[str, list[Row]]:
    """Bound every variant of a file's families and print the tables."""
    data, by_family = stored(file), {}
    say(f"Measured: {origin(data['about'])}.")
    for family in group:
        found = rows(family, data["families"][family.name]["variants"], lab, compiler, target)
        by_family[family.name] = found
        table(
            [family.name, "measured us", "bound us", "bound/measured", "binds"],
            [
                [
                    r.name.removeprefix(f"{family.name} "),
                    f"{r.measured_us:.1f}",
                    f"{r.bound_us:.1f}",
                    f"{r.bound_us / r.measured_us:.2f}{' above' if r.exceeds else ''}",
                    r.resource,
                ]
                for r in sorted(found, key=lambda r: r.measured_us)
            ],
            right=[1, 2, 3],
        )
    return by_family


def main() -> int:
    """Bound every variant, print the tables, report."""
    cache, target = load_settings().cache_folder, load_target("h200")
    lab = h200_lab()
    compiler = Compiler(find_toolchain(cache / "toolchain"), cache / "kernels", load_target("mi300x"))
    status = report(
        "Bound against times on the H200",
        figures(compared(FILE, families(), lab, compiler, target), "lab_ranking", FILE, 60),
    )
    if not (DATA / HELD_OUT).exists():
        return status
    say("Held out: constants were fixed before these were measured.")
    unseen = compared(HELD_OUT, held_out(), lab, compiler, target)
    return max(
        status,
        report(
            "Held out: constants were fixed before these were measured",
            figures(unseen, "lab_ranking.held_out", HELD_OUT, 36),
        ),
    )


if __name__ == "__main__":
    sys.exit(main())
