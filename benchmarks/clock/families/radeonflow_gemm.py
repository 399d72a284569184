"""RadeonFlow's fp8 GEMM with block scales on an MI300X: two transposes, the product, and a sum over the parts of k."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from benchmarks.clock.families.fp8_gemm import write_task
from benchmarks.clock.fetch import repository
from benchmarks.clock.kernel_family import with_plan
from benchmarks.clock.points import Point
from benchmarks.clock.radeonflow import REPOSITORY, joined, launch, transpose
from benchmarks.clock.rows import ROWS, MeasuredRow, read_rows, write_dims
from records.errors import UsageError

NAME = "radeonflow_gemm"
REPOSITORIES = (REPOSITORY,)
TILE_M, TILE_N, TILE_K, THREADS = 256, 128, 128, 512  # of every shape in the launcher's table
REDUCING = 256  # work-items of the sum's workgroups, each of which adds up four elements
_PARTS = re.compile(r"DISPATCH_TRANSPOSE\( *(\d+), *(\d+), *(\d+), *(\d+), *(\d+)\)")
_FORM = re.compile(r"split(\d+)")
Shapes = Mapping[tuple[int, int], tuple[int, int, int]]  # tile, work-items and bytes of each, by rows and columns


def transposes(code: str) -> dict[tuple[int, int], tuple[int, int, int]]:
    """Look up the parameters of the transposes in the launcher's own table."""
    rows = (tuple(map(int, match.groups())) for match in _PARTS.finditer(code))
    return {(rows, cols): (tile, block, width) for rows, cols, tile, block, width in rows}


def split_of(kernel: str) -> int:
    """Return the parts of k in a row's name of the kernel, "split4"."""
    if not (match := _FORM.fullmatch(kernel)):
        raise UsageError(f"{kernel!r} is no product such as 'split4'")
    return int(match[1])


def launches(dims: Mapping[str, int], split: int, shapes: Shapes) -> list[str]:
    """Plan the launches of launch_gemm for one shape."""
    m, n, k = (dims[name] for name in "mnk")
    when, part = f"m == {m} and n == {n} and k == {k}", k // split
    out = "__BF16_TYPE" if split == 1 else "float"
    sizes = f"{m}, {n}, {part}, {TILE_M}, {TILE_N}, {TILE_K}, 128, {THREADS}, 4, 2, {k}, {k}, 16"
    grid = (-(-n // TILE_N) << 1, -(-m // TILE_M) >> 1, split)
    args = ("a_rows", "b_rows", "c" if split == 1 else "parts", "a_scale", "b_scale")
    plan = [
        transpose("b_rows", "b", k, n, shapes[k, n], when),
        transpose("a_rows", "a", k, m, shapes[k, m], when),
        launch(f"gemm_kernel::gemm_kernel<__FP8_TYPE, float, {out}, {sizes}>", grid, (THREADS,), args, when),
    ]
    if split > 1:
        summed = f"gemm_kernel::reduce_kernel<{m}, {n}, {split}, {REDUCING}>"
        blocks = -(-(m * n // 4) // REDUCING)
        plan.append(launch(summed, (blocks,), (REDUCING,), ("parts", "c"), when))
    return plan


def candidate(code: str, dims: Mapping[str, int], split: int) -> str:
    """Write the candidate for a shape: the plan before the joined files."""
    shapes = transposes(code)
    small = small_case(split)
    tile = (64, 256, 4)
    tested = launches(small, split, {(small["k"], small["n"]): tile, (small["k"], small["m"]): tile})
    padded = f"ceil_div(n, {TILE_N}) * {TILE_N}"  # the last tile of n is read whole
    workspace = f'[workspace]\na_rows = ["e4m3fnuz", "m", "k"]\nb_rows = ["e4m3fnuz", "{padded}", "k"]\n'
    if split > 1:
        workspace += f'parts = ["f32", "{split}", "m", "n"]\n'
    return with_plan("\n".join([*tested, *launches(dims, split, shapes), workspace]), code)


def small_case(split: int) -> dict[str, int]:
    """Give the test's shape: the launcher halves the tiles of m, so there are two; of k each part has two."""
    return {"m": 2 * TILE_M, "n": 192, "k": 2 * TILE_K * split}


def points(folder: Path) -> list[Point]:
    """List the points of all rows; `folder` holds the repository's files, tasks and kernels come into it."""
    fetched = repository(REPOSITORY).folder(folder)
    code = joined(fetched, "src/gemm/gemm_kernel.cpp", "src/gemm/transpose_kernel.cpp")
    return [point_of(folder, code, row) for row in read_rows(ROWS / f"{NAME}.tsv")]


def point_of(folder: Path, code: str, row: MeasuredRow) -> Point:
    """Return the point of one row, whose task and kernel are written."""
    split = split_of(row.kernel)
    task = write_task(folder, NAME, row.dims, (small_case(split),))
    kernel = folder / "kernels" / NAME / f"{task.name}_{row.kernel}.hip"
    kernel.parent.mkdir(parents=True, exist_ok=True)
    kernel.write_text(candidate(code, row.dims, split), encoding="utf-8")
    label, source = f"{row.kernel} at {write_dims(row.dims)}", f"{row.source} at {row.commit}"
    return Point(NAME, row.device, label, row.dims, row.dtype, row.measured_us, row.caches, task, kernel, source)
