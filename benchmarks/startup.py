"""A person's wait: `kernel-scientist --help` and `check` on the softmax seed, each in a fresh process.

The anchor is the same interpreter doing nothing (`python -c pass`), measured between the samples. Every `check` gets a
source that was never compiled before, so that no cached answer is timed. Cold is the first run of the session, with
whatever the operating system had in memory; it has no goal.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.figure import Figure, report

ROOT = Path(__file__).resolve().parent.parent
COMMAND = str(Path(sys.executable).parent / "kernel-scientist")
SAMPLES = 5
NOTHING = (sys.executable, "-c", "pass")
GOALS = {"help": "< 0.5", "check": "< 3.0"}


def command(name: str, sample: int, folder: Path) -> list[str]:
    """Build the argument list for one sample."""
    if name == "help":
        return [COMMAND, "--help"]
    kernel = folder / f"softmax_{sample}.hip"
    seed = (ROOT / "tasks/row_softmax/seed.hip").read_text(encoding="utf-8")
    fresh = f"\n__device__ int sample_{time.time_ns()}() {{ return {sample}; }}\n"
    kernel.write_text(seed + fresh, encoding="utf-8")
    return [COMMAND, "check", str(kernel), "--task", "row_softmax", "--json"]


def seconds(argv: Sequence[str], folder: Path) -> float:
    """Measure the wall time of one fresh process; one that fails ends the benchmark: its time would mean nothing."""
    start = time.perf_counter()
    process = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)
    spent = time.perf_counter() - start
    if process.returncode != 0:
        sys.exit(
            f"{' '.join(argv)} ended with {process.returncode}: {(process.stderr or process.stdout).strip()[-500:]}"
        )
    return spent


def measure(name: str, folder: Path) -> list[Figure]:
    """Measure the cold run, then the median of `SAMPLES` interleaved with the anchor."""
    seconds(NOTHING, folder)
    cold = seconds(command(name, 0, folder), folder)
    values, anchors = [], []
    for sample in range(1, SAMPLES + 1):
        anchors.append(seconds(NOTHING, folder))
        values.append(seconds(command(name, sample, folder), folder))
    anchor = statistics.median(anchors)
    return [
        Figure(f"startup.{name}", statistics.median(values), "s", "python -c pass", anchor, GOALS[name]),
        Figure(f"startup.{name}.cold", cold, "s", "python -c pass", anchor),
    ]


def main() -> int:
    """Measure both commands and report."""
    with tempfile.TemporaryDirectory() as folder:
        figures = [figure for name in GOALS for figure in measure(name, Path(folder))]
    return report(f"Start-up, median of {SAMPLES} fresh processes", figures)


if __name__ == "__main__":
    sys.exit(main())
