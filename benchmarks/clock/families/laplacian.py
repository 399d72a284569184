"""AMD lab notes' finite-difference Laplacian on one GCD of an MI250X, by kernel and tiling factor.

A row's kernel is "kernel3 m=8": the file and the number that its authors change in it.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.clock.kernel_family import KernelFamily
from records.errors import UsageError

REPOSITORIES = ("amd/amd-lab-notes",)
FACTOR = "#define m 8"
PLAN = """[[launch]]
kernel = "laplacian_kernel<double>"
grid = ["ceil_div(n, 256)", "ceil_div(n, {m})", "n"]
block = [256]
args = ["f", "u", "n", "n", "n", "{h}", "{h}", "{h}", "-6 * {h}"]
"""


def code(fetched: Path, kernel: str) -> str:
    """Return the kernel's file with the row's tiling factor; UsageError where the file has none to set."""
    name, factor = _parts(kernel)
    text = (fetched / "finite-difference" / "examples" / f"{name}.hpp").read_text(encoding="utf-8")
    if factor == 1 and FACTOR not in text:
        return text
    if text.count(FACTOR) != 1:
        raise UsageError(f"{name}.hpp has no line '{FACTOR}' to set {kernel!r} in")
    return text.replace(FACTOR, f"#define m {factor}")


def plan(kernel: str) -> str:
    """Plan the launch of the files' own `laplacian`: 256 work-items in x, `m` rows each."""
    return PLAN.format(m=_parts(kernel)[1], h="(n - 1) ** 2:f64")


def _parts(kernel: str) -> tuple[str, int]:
    name, _, factor = kernel.partition(" m=")
    return name, int(factor)


points = KernelFamily("laplacian", REPOSITORIES[0], code, plan).points
