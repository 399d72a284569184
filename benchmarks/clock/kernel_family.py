"""Families in which a row's kernel is a file with a launch plan before it: a repository's, or one of `kernels/`.

The lab leaves out a file's host half, so the device's code of a repository is the one that was measured. What is only
described somewhere has a kernel of ours, which the rows say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.clock.fetch import repository
from benchmarks.clock.points import Point
from benchmarks.clock.rows import ROWS, MeasuredRow, read_rows, write_dims

TASKS = Path(__file__).parent / "tasks"
OWN = Path(__file__).parent / "kernels"


@dataclass(frozen=True)
class KernelFamily:
    """The rows of rows/NAME.tsv, the task of tasks/NAME, and a repository's code.

    `code` makes a kernel's text from the folder of the repository's files and the row's name of the kernel, `plan` its
    launch plan, that of tasks/NAME/plan.toml where it is left out. Without a repository the kernel is kernels/NAME.hip.
    """

    name: str
    repository: str = ""
    code: Callable[[Path, str], str] | None = None
    plan: Callable[[str], str] | None = None

    @property
    def task(self) -> Path:
        """The folder of the task without a benchmark."""
        return TASKS / self.name

    def candidate(self, fetched: Path, kernel: str) -> str:
        """Write the candidate's text for a row's kernel."""
        plan = self.plan(kernel) if self.plan else (self.task / "plan.toml").read_text(encoding="utf-8")
        own_kernel = OWN / f"{self.name}.hip"
        return with_plan(plan, self.code(fetched, kernel) if self.code else own_kernel.read_text(encoding="utf-8"))

    def points(self, folder: Path) -> list[Point]:
        """List the points of all rows; tasks and kernels come into `folder`, which holds what was fetched."""
        fetched = repository(self.repository).folder(folder) if self.repository else folder
        return [self._point(folder, fetched, row) for row in read_rows(ROWS / f"{self.name}.tsv")]

    def _point(self, folder: Path, fetched: Path, row: MeasuredRow) -> Point:
        kernel = folder / "kernels" / self.name / f"{file_name(row.kernel)}.hip"
        kernel.parent.mkdir(parents=True, exist_ok=True)
        kernel.write_text(self.candidate(fetched, row.kernel), encoding="utf-8")
        return Point(
            self.name,
            row.device,
            f"{row.kernel} at {write_dims(row.dims)}",
            row.dims,
            row.dtype,
            row.measured_us,
            row.caches,
            write_task(folder / "tasks" / self.name / file_name(write_dims(row.dims)), self.task, row.dims),
            kernel,
            row.source,
        )


def file_name(text: str) -> str:
    """Write a name of a row or a shape as that of a file."""
    return re.sub(r"[^A-Za-z0-9.]+", "_", text)


def with_plan(plan: str, code: str) -> str:
    """Write a candidate: the launch plan as its first comment, and the code."""
    return f"/*+++\n{plan.strip()}\n+++*/\n{code}"


def write_task(target: Path, task: Path, dims: Mapping[str, int]) -> Path:
    """Write a task's files to `place`, with these dims as its only benchmark; the folder."""
    target.mkdir(parents=True, exist_ok=True)
    case = "".join(f"{name} = {size}\n" for name, size in dims.items())
    text = (task / "task.toml").read_text(encoding="utf-8")
    (target / "task.toml").write_text(f"{text}\n[[benchmark]]\n{case}", encoding="utf-8")
    (target / "reference.py").write_bytes((task / "reference.py").read_bytes())
    return target
