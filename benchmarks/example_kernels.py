"""The kernel of `examples/` for the MI300X, verified on all test shapes and bounded in the lab.

    python -m benchmarks.example_kernels

The anchor is the shipped seed with matrix instructions, checked in the same run. Both times are predicted. The kernels
for the H200 need that GPU: `tests/gpu/test_examples.py` runs them.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence

from benchmarks.figure import Figure, report
from benchmarks.startup import COMMAND, ROOT

TASK = "fp8_block_gemm"
KERNEL = "examples/fp8_block_gemm_mi300x.hip"
SEED = "tasks/fp8_block_gemm/seed_mfma.mi300x.hip"


LARGEST = 4  # cases, by what the roofline allows
GOAL = "<= 1.5"


def timed(file: str) -> list[dict[str, float]]:
    """Time the benchmark cases, of equal weight; ends the program for a rejected kernel."""
    argv = [COMMAND, "check", file, "--task", TASK, "--json"]
    process = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    if process.returncode != 0:
        sys.exit(
            f"{' '.join(argv)} ended with {process.returncode}: {(process.stderr or process.stdout).strip()[-500:]}"
        )
    return [case for case in json.loads(process.stdout)["cases"] if case["time_us"] is not None]


def predicted_us(cases: Sequence[Mapping[str, float]]) -> float:
    """Compute the geometric mean of the times."""
    return statistics.geometric_mean([case["time_us"] for case in cases])


def over_roofline(cases: Sequence[Mapping[str, float]]) -> float:
    """Give the worst of the largest cases: its time over its roofline's."""
    largest = sorted(cases, key=lambda case: -case["time_us"] * case["roofline_fraction"])[:LARGEST]
    return max(1.0 / case["roofline_fraction"] for case in largest)


def main() -> int:
    """Check both kernels and report."""
    kernel, seed = timed(KERNEL), timed(SEED)
    name, shipped = f"example_kernels.{TASK}", "the shipped seed with MFMA"
    figures = [
        Figure(name, predicted_us(kernel), "us predicted", shipped, predicted_us(seed)),
        Figure(f"{name}.largest", over_roofline(kernel), "times the roofline", shipped, over_roofline(seed), GOAL),
    ]
    return report("Kernels in examples/ for the MI300X", figures)


if __name__ == "__main__":
    sys.exit(main())
