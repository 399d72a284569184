"""RadeonFlow's transposes of fp8 matrices on an MI300X, each with the best parameters that its tuner found."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from benchmarks.clock.fetch import repository
from benchmarks.clock.kernel_family import TASKS, file_name, with_plan, write_task
from benchmarks.clock.points import Point
from benchmarks.clock.radeonflow import REPOSITORY, joined, transpose
from benchmarks.clock.rows import ROWS, MeasuredRow, read_rows, write_dims
from records.errors import UsageError

NAME = "radeonflow_transpose"
REPOSITORIES = (REPOSITORY,)
SMALL = (256, 128)  # rows and columns of the task's only test
_FORM = re.compile(r"tile(\d+) block(\d+) width(\d+)")


def shape_of(kernel: str) -> tuple[int, int, int]:
    """Read the tile, work-items and bytes of each in a row's name of the kernel, "tile64 block256 width4"."""
    if not (match := _FORM.fullmatch(kernel)):
        raise UsageError(f"{kernel!r} is no transpose such as 'tile64 block256 width4'")
    tile, block, width = map(int, match.groups())
    return tile, block, width


def candidate(code: str, kernel: str, dims: Mapping[str, int]) -> str:
    """Write the candidate for a shape: the plan before the joined files."""
    sizes = {(dims["rows"], dims["cols"]), SMALL}
    launches = [
        transpose("y", "x", rows, cols, shape_of(kernel), f"rows == {rows} and cols == {cols}") for rows, cols in sizes
    ]
    return with_plan("\n".join(sorted(launches)), code)


def points(folder: Path) -> list[Point]:
    """List the points of all rows; `folder` holds the repository's files, tasks and kernels come into it."""
    code = joined(repository(REPOSITORY).folder(folder), "src/gemm/transpose_kernel.cpp")
    return [point_of(folder, code, row) for row in read_rows(ROWS / f"{NAME}.tsv")]


def point_of(folder: Path, code: str, row: MeasuredRow) -> Point:
    """Return the point of one row, whose task and kernel are written."""
    task = write_task(folder / "tasks" / NAME / file_name(write_dims(row.dims)), TASKS / NAME, row.dims)
    kernel = folder / "kernels" / NAME / f"{task.name}_{file_name(row.kernel)}.hip"
    kernel.parent.mkdir(parents=True, exist_ok=True)
    kernel.write_text(candidate(code, row.kernel, row.dims), encoding="utf-8")
    label, source = f"{row.kernel} at {write_dims(row.dims)}", f"{row.source} at {row.commit}"
    return Point(NAME, row.device, label, row.dims, row.dtype, row.measured_us, row.caches, task, kernel, source)
