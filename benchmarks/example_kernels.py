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

from benchmarks.figure import Figure, report
from benchmarks.startup import COMMAND, ROOT

TASK = "fp8_block_gemm"
KERNEL = "examples/fp8_block_gemm_mi300x.hip"
SEED = "tasks/fp8_block_gemm/seed_mfma.mi300x.hip"


def predicted_us(file: str) -> float:
    """Geometric mean over the benchmark cases, whose weights are equal; ends the program for a rejected kernel."""
    argv = [COMMAND, "check", file, "--task", TASK, "--json"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(argv)} ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-500:]}")
    times = [case["time_us"] for case in json.loads(done.stdout)["cases"] if case["time_us"] is not None]
    return statistics.geometric_mean(times)


def main() -> int:
    """Check both kernels and report."""
    kernel, seed = predicted_us(KERNEL), predicted_us(SEED)
    figure = Figure(f"example_kernels.{TASK}", kernel, "us predicted", "the shipped seed with MFMA", seed)
    return report("Kernels in examples/ for the MI300X", [figure])


if __name__ == "__main__":
    sys.exit(main())
