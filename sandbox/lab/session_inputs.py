"""The inputs of one task's cases, drawn once in a process and kept within a bound: secret ones of the large cases."""

from __future__ import annotations

import secrets
import threading
from itertools import islice
from pathlib import Path

import numpy as np

from records.computed_once import computed_once
from sandbox.candidate.prepare import Prepared
from sandbox.cases.derived import candidate_secret, sweep_of
from sandbox.cases.inputs.families import InputFamilies
from sandbox.cases.inputs.family_measures import longest_line
from sandbox.cases.inputs.independence import Independent, independent_dims
from sandbox.cases.shapes.long_shapes import long_cases
from sandbox.cases.sweep import SweptCase
from sandbox.lab.input_files import InputFiles
from sandbox.lab.listed_values import ListedValues
from sandbox.lab.memory_folder import memory_folder
from sandbox.lab.timed_inputs import TimedInputs
from tasks.task import Case, Task

SWEPT = 24  # cases of a sweep
MOST_BYTES = 512 << 20  # of files that are kept


class SessionInputs:
    """Draws the inputs of a case when they are first asked for, and again when they had to make room."""

    def __init__(self, task: Task, cache: Path) -> None:
        """`cache` takes the files where memory has no room for them."""
        self.task, self._cache = task, cache
        self.secret = secrets.randbits(32)  # goes into the seeds of cases that are scaled down
        self.rng = np.random.default_rng(secrets.randbits(128))
        self.listed = ListedValues(task, InputFamilies(task, cache / "families"))
        self._files = InputFiles()
        self._kept: dict[tuple[str, str | None], TimedInputs] = {}
        self._lock = threading.Lock()

    @computed_once
    def dims(self) -> tuple[Independent, ...]:
        """Find the independent dims of the task."""
        return independent_dims(self.task)

    def swept(self, prepared: Prepared) -> tuple[SweptCase, ...]:
        """Draw the first cases of this candidate's own sweep, which a GPU goes on with."""
        sweep = sweep_of(prepared, candidate_secret(prepared, self.secret), self.listed.families)
        return tuple(islice(sweep.cases(), SWEPT))

    @computed_once
    def long(self) -> tuple[Case, ...]:
        """Shapes with one long dim, for the families of inputs."""
        return long_cases(self.task, self.rng)

    @computed_once
    def with_long_lines(self) -> Case | None:
        """Of these the one in which what may be changed has the longest lines; none where the first test's are."""
        longest = max(self.long, key=lambda case: longest_line(self.task, case), default=None)
        if longest and longest_line(self.task, longest) > longest_line(self.task, self.task.tests[0]):
            return longest
        return None

    def of(self, case: Case, variant: str | None = None) -> TimedInputs:
        """Give the inputs of a large case, or of this family of inputs on it; drawn once while there is room."""
        key = (case.name, variant)
        with self._lock:
            if key in self._kept:
                return self._kept[key]
        inputs = self.fresh(case, variant)
        with self._lock:
            while self._kept and sum(other.nbytes for other in self._kept.values()) + inputs.nbytes > MOST_BYTES:
                self._kept.pop(next(iter(self._kept)))
            return self._kept.setdefault(key, inputs)

    def fresh(self, case: Case, variant: str | None = None) -> TimedInputs:
        """Draw the inputs of a case that is met once: for it alone, and not kept."""
        folder = memory_folder(self._cache, MOST_BYTES)
        return TimedInputs(self.listed.families, case, self.dims, folder, self.rng, variant, self._files)
