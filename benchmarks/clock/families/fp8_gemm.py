"""Snektron's fp8 GEMM with block scales on an MI300X: a template, measured by tile, pipeline, work-items and shape.

The candidate is the author's file as it is: the plan stands before it, and behind it the two constants that its
`run_kernel` would give the template. The lab leaves out the host's half.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.clock.fetch import repository
from benchmarks.clock.kernel_family import TASKS, file_name, with_plan
from benchmarks.clock.points import Point
from benchmarks.clock.rows import ROWS, MeasuredRow, read_rows, write_dims
from records.errors import UsageError

NAME = "fp8_gemm"
REPOSITORIES = ("Snektron/gpumode-amd-fp8-mm",)
TASK = TASKS / NAME
TABLE = ROWS / f"{NAME}.tsv"
Dims = Mapping[str, int]
TESTS = ({"m": 128, "n": 192, "k": 512}, {"m": 256, "n": 128, "k": 256})  # with a part of a tile, and of one k-block
_FORM = re.compile(r"(\d+)x(\d+)x(\d+) mfma(16|32) pipeline([012]) block(\d+) (columns|rows)")
# s_waitcnt lgkmcnt(0): what the release fence of __syncthreads demands, and clang 22 drops at the head of some loops.
_WAITS = """#include <hip/hip_runtime.h>
#define __syncthreads() (__builtin_amdgcn_s_waitcnt(0xc07f), __syncthreads())
"""
_MATRIX = {16: "16, 16, 32", 32: "32, 32, 16"}  # m, n, k of the two matrix instructions


@dataclass(frozen=True)
class GemmConfiguration:
    """The template's arguments.

    `tile` is m, n, k of a workgroup; `block` its work-items. `reads_columns`: a and b are column-major and the kernel
    transposes them on the way to LDS; else they are row-major, as a kernel before it left them.
    """

    tile: tuple[int, int, int]
    mfma: int
    pipeline: int
    block: int
    reads_columns: bool

    @property
    def text(self) -> str:
        """Its name in the table: "128x64x128 mfma32 pipeline2 block256 columns"."""
        order = "columns" if self.reads_columns else "rows"
        return f"{'x'.join(map(str, self.tile))} mfma{self.mfma} pipeline{self.pipeline} block{self.block} {order}"


def configuration(text: str) -> GemmConfiguration:
    """Return the configuration of that name."""
    if not (match := _FORM.fullmatch(text)):
        raise UsageError(f"{text!r} names no configuration such as '128x64x128 mfma32 pipeline2 block256 columns'")
    m, n, k, mfma, pipeline, block = map(int, match.groups()[:6])
    return GemmConfiguration((m, n, k), mfma, pipeline, block, match[7] == "columns")


def candidate(source: str, config: GemmConfiguration, writes_waits: bool = False) -> str:
    """Write the author's file as a candidate: plan, file, constants. Its launch is that of the file's `run_kernel`.

    `writes_waits`: each barrier has its wait, whatever the compiler does; to judge it, never to predict its time.
    """
    m, n, k = config.tile
    order = str(config.reads_columns).lower()
    kernel = f"kernel<{config.block}, BLOCK_TILE, WARP_TILE, __uint128_t, {config.pipeline}, {order}, false>"
    plan = f"""[[launch]]
kernel = "{kernel}"
grid = ["1", "ceil_div(m, {m})", "ceil_div(n, {n})"]
block = [{config.block}]
args = ["a", "b", "a_scale", "b_scale", "c", "m", "n", "k", "ceil_div(k, 128) * 128", "null", "null"]
"""
    constants = f"constexpr cube BLOCK_TILE{{{m}, {n}, {k}}}, WARP_TILE{{{_MATRIX[config.mfma]}}};"
    return with_plan(plan, f"{_WAITS if writes_waits else ''}{source}\n{constants}\n")


def write_task(
    folder: Path, family: str, dims: Dims, tests: Sequence[Dims] = TESTS, reads_columns: bool = True
) -> Path:
    """Write the task whose benchmark is this shape, with a and b in the order that the kernel reads; its folder."""
    text = (TASK / "task.toml").read_text(encoding="utf-8")
    if not reads_columns:
        for operand in ('["m", "k"]', '["n", "k"]'):
            text = text.replace(f'shape = {operand}\nlayout = "column_major"\n', f"shape = {operand}\n")
    for role, case in (*(("test", case) for case in tests), ("benchmark", dims)):
        text += f"\n[[{role}]]\n" + "".join(f"{name} = {size}\n" for name, size in case.items())
    order = "columns" if reads_columns else "rows"
    task = folder / "tasks" / family / f"{'x'.join(map(str, dims.values()))}_{order}"
    task.mkdir(parents=True, exist_ok=True)
    (task / "task.toml").write_text(text, encoding="utf-8")
    (task / "reference.py").write_bytes((TASK / "reference.py").read_bytes())
    return task


def write_kernel(folder: Path, source: str, config: GemmConfiguration) -> Path:
    """Write the candidate of a configuration; its file."""
    path = folder / "kernels" / NAME / f"{file_name(config.text)}.hip"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(candidate(source, config), encoding="utf-8")
    return path


def points(folder: Path) -> list[Point]:
    """List the points of all rows; `folder` holds the repository's files, tasks and kernels come into it."""
    source = (repository(REPOSITORIES[0]).folder(folder) / "solution.hip").read_text(encoding="utf-8")
    return [point_of(folder, source, row) for row in read_rows(TABLE)]


def point_of(folder: Path, source: str, row: MeasuredRow) -> Point:
    """Return the point of one row, whose task and kernel are written."""
    config = configuration(row.kernel)
    return Point(
        NAME,
        row.device,
        f"{row.kernel} at {write_dims(row.dims)}",
        row.dims,
        row.dtype,
        row.measured_us,
        row.caches,
        write_task(folder, NAME, row.dims, reads_columns=config.reads_columns),
        write_kernel(folder, source, config),
        f"{row.source} at {row.commit}",
    )
