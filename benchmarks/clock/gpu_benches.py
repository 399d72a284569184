"""RRZE's gpu-benches: streaming kernels with 32 KiB of LDS, so that two workgroups of a chosen size share a unit."""

from __future__ import annotations

from pathlib import Path

from benchmarks.clock.kernel_family import KernelFamily

REPOSITORY = "te42kyfo/gpu-benches"


def stream(name: str) -> KernelFamily:
    """Build the family stream_NAME of gpu-stream's kernel NAME_kernel, whose rows' kernels are as "block=256"."""

    def plan(kernel: str) -> str:
        block = int(kernel.removeprefix("block="))
        return f"""[[launch]]
kernel = "{name}_kernel<double>"
grid = ["n // {block} + 1"]
block = [{block}]
args = ["a", "b", "{"c" if name == "triad" else "b"}", "b", "n:i64", "0:bool"]
"""

    return KernelFamily(f"stream_{name}", REPOSITORY, _code, plan)


def _code(fetched: Path, kernel: str) -> str:
    return (fetched / "gpu-stream" / "main.cu").read_text(encoding="utf-8")
