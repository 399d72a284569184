"""Kernels that MGPUSim's authors measured on an MI300A: a file of gpu_perf_scripts/ each, used as it is."""

from __future__ import annotations

from pathlib import Path

from benchmarks.clock.kernel_family import KernelFamily

REPOSITORY = "sarchlab/mgpusim"
SIMULATED = Path(__file__).parent / "mgpusim.tsv"


def mgpusim(name: str) -> KernelFamily:
    """Build the family of that name, whose rows name their file as the kernel."""
    return KernelFamily(name, REPOSITORY, _code)


def _code(fetched: Path, kernel: str) -> str:
    return (fetched / "gpu_perf_scripts" / f"{kernel}.cpp").read_text(encoding="utf-8")


def published_predictions() -> dict[tuple[str, str], float]:
    """Read the times in microseconds that MGPUSim's authors publish as its predictions, by a row's family and dims."""
    lines = [line for line in SIMULATED.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    cells = [line.split("\t") for line in lines[1:]]
    return {(name, dims): float(time_us) for name, dims, time_us in cells}
