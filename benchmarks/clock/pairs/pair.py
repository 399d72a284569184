"""A pair of kernels that do the same work: one file whose tunable FAST chooses between them.

`pairs.toml` of a folder lists them; `kernels/NAME.hip` is the file, `tasks/TASK` the task.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from records.errors import UsageError
from sandbox.candidate.prepare import Prepared, prepare
from tasks.cases import case_name, derived_seed
from tasks.loader import load_task
from tasks.task import Case

FOLDER = Path(__file__).parent
CHOICES = {"fast": 1, "slow": 0}


@dataclass(frozen=True)
class Pair:
    """Two kernels whose order is known, with the one shape it is known for."""

    name: str
    task: str  # a folder of tasks/
    dims: Mapping[str, int]
    least: float  # the slower one's time over the faster one's is at least this on CDNA hardware
    why: str
    source: str
    folder: Path
    device: str = "MI300X"  # the order is known for it, and times are predicted for it

    def prepared(self, which: str) -> Prepared:
        """Prepare the fast or the slow kernel for its task, whose benchmark has the pair's dims."""
        task = load_task(self.folder / "tasks" / self.task)
        name = case_name(self.dims)
        case = Case(name, dict(self.dims), derived_seed(name), role="benchmark")
        source = (self.folder / "kernels" / f"{self.name}.hip").read_text(encoding="utf-8")
        return prepare(source, replace(task, benchmarks=(case,)), {"FAST": CHOICES[which]})


def load_pairs(folder: Path = FOLDER) -> tuple[Pair, ...]:
    """Read all pairs of a folder in the order of its table; UsageError where it has none."""
    try:
        tables = tomllib.loads((folder / "pairs.toml").read_text(encoding="utf-8"))["pair"]
    except (OSError, KeyError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{folder} has no readable pairs.toml: {error}") from None
    return tuple(Pair(**table, folder=folder) for table in tables)
