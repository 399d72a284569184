"""Families of files with a plan before them: a point a row, its shape the only benchmark, the code unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.clock.fetch import repository
from benchmarks.clock.kernel_family import TASKS, KernelFamily, write_task
from benchmarks.clock.points import family, family_names
from benchmarks.clock.rows import ROWS, read_rows
from tasks.linter import lint
from tasks.loader import load_task

# Their modules offer the points of such a family and nothing of their own.
NAMES = [n for n in family_names() if isinstance(getattr(family(n).points, "__self__", None), KernelFamily)]
TEXT = "// made up\n#define m 8\n"


def fetched(folder: Path, name: str) -> Path:
    """A folder with made-up files in the place of a family's."""
    for source in map(repository, family(name).REPOSITORIES):
        for path in source.files:
            target = source.folder(folder) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(TEXT)
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_each_row_becomes_a_point_with_its_shape_and_the_code_behind_the_plan(name: str, tmp_path: Path) -> None:
    rows = read_rows(ROWS / f"{name}.tsv")
    points = family(name).points(fetched(tmp_path, name))
    assert [(p.measured_us, p.dims, p.device) for p in points] == [(r.measured_us, r.dims, r.device) for r in rows]
    assert len({p.label for p in points}) == len(points)
    begins = "// made up" if family(name).REPOSITORIES else "#include"
    for point in points:
        code = point.kernel.read_text()
        assert code.startswith("/*+++\n[[launch]]") and code.partition("+++*/\n")[2].startswith(begins)
        task = load_task(point.task)
        (case,) = task.benchmarks
        assert dict(case.dims) == dict(point.dims)
        assert task.work(case)[1] > 0
        assert all(case.dims[dim] % step == 0 for dim, step in task.multiples.items())


@pytest.mark.parametrize("name", NAMES)
def test_the_task_tells_right_kernels_from_wrong_ones(name: str, tmp_path: Path) -> None:
    smallest = min(read_rows(ROWS / f"{name}.tsv"), key=lambda row: sum(row.dims.values())).dims
    task = load_task(write_task(tmp_path / name, TASKS / name, smallest))
    assert lint(task, plants=False) == ()
