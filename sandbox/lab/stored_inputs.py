"""Inputs for counting: one small case's values, repeated, in a file that all estimates of a task map.

Only addresses and control flow are counted, so numbers need to be of the right kind and no more. The executor maps the
file read-only, the same pages as often as the buffer is long. Whole numbers may be bounds of loops and places in other
buffers, which fit one case only: they are drawn for each.
"""

from __future__ import annotations

import math
import os
import tempfile
import weakref
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from records.errors import LabError
from sandbox.lab.memory_folder import prefix
from tasks.dtypes import is_float, numpy_dtype
from tasks.task import Array, Case, Task, TensorSpec

PAGE = 4096
ENOUGH_BYTES = 4096  # of a test's inputs to stand for a benchmark's
OWN_BYTES = 16 << 20  # of whole numbers that are drawn for a case; longer ones repeat
MIN_PERIOD = 1 << 20  # so that a large buffer takes some hundred mappings, not some ten thousand


@dataclass(frozen=True)
class Stored:
    """A flat input in a file: `period` bytes from `offset` on, over and over, `size` elements in all."""

    path: Path
    offset: int
    period: int
    dtype: np.dtype[Any]
    size: int

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of the whole input."""
        return self.size * self.itemsize


class StoredInputs:
    """The inputs of one task's benchmarks. The file goes with the object."""

    def __init__(self, task: Task, folder: Path) -> None:
        """`folder` should be in memory; LabError when the file cannot be written there."""
        self.task = task
        self._spans: dict[tuple[str, str | None], tuple[int, int, np.dtype[Any]]] = {}  # by input, and case
        try:
            descriptor, name = tempfile.mkstemp(prefix=prefix(), dir=folder)
            self._path = Path(name)
            weakref.finalize(self, self._path.unlink, missing_ok=True)
            with os.fdopen(descriptor, "wb") as file:
                for name, values in periods(task).items():
                    self._write(file, (name, None), values)
                for case in task.benchmarks:
                    for name, values in own_numbers(task, case).items():
                        self._write(file, (name, case.name), values)
        except OSError as error:
            raise LabError(
                f"{os.strerror(error.errno or 0)} while writing the inputs to {folder}; free some space"
            ) from None

    def of(self, case: Case) -> dict[str, Stored]:
        """Give the inputs of a benchmark case, by name."""
        filled = self.task.initials
        return {s.name: self._stored(s, case) for s in self.task.inputs_of(case) if s.name not in filled}

    def _write(self, file: BinaryIO, key: tuple[str, str | None], values: Array) -> None:
        self._spans[key] = file.tell(), int(values.nbytes), values.dtype
        file.write(np.ascontiguousarray(values).view(np.uint8).data)
        file.write(bytes(-file.tell() % PAGE))

    def _stored(self, spec: TensorSpec, case: Case) -> Stored:
        offset, period, dtype = self._spans.get((spec.name, case.name)) or self._spans[spec.name, None]
        return Stored(self._path, offset, period, dtype, self.task.length_of(spec, case))


def periods(task: Task) -> dict[str, Array]:
    """For each input the values that repeat: whole pages, or all of the largest benchmark's."""
    typical = replace(typical_test(task), absent=())
    inputs = task.draw(typical)
    repeated = {}
    for spec in task.inputs:
        values = task.flatten(spec, np.asarray(inputs[spec.name], dtype=numpy_dtype(spec.dtype)), typical)
        most = max(task.length_of(spec, case) for case in task.benchmarks)
        repeated[spec.name] = _repeated(values, most)
    return repeated


def own_numbers(task: Task, case: Case) -> dict[str, Array]:
    """Draw the inputs of this case that are whole numbers: up to so many bytes, whole pages of longer ones."""
    specs = [spec for spec in task.inputs_of(case) if not is_float(numpy_dtype(spec.dtype))]
    drawn = task.draw(case) if specs else {}
    numbers = {}
    for spec in specs:
        values = task.flatten(spec, np.asarray(drawn[spec.name], dtype=numpy_dtype(spec.dtype)), case)
        numbers[spec.name] = values if values.nbytes <= OWN_BYTES else values[: OWN_BYTES // values.itemsize]
    return numbers


def typical_test(task: Task) -> Case:
    """Find the first test whose inputs are not tiny, else the largest one."""
    sizes = {case.name: _input_bytes(task, case) for case in task.tests}
    return next((c for c in task.tests if sizes[c.name] >= ENOUGH_BYTES), max(task.tests, key=lambda c: sizes[c.name]))


def _input_bytes(task: Task, case: Case) -> int:
    return sum(math.prod(task.shape_of(s, case)) * numpy_dtype(s.dtype).itemsize for s in task.inputs)


def _repeated(values: npt.NDArray[Any], most: int) -> Array:
    if not values.nbytes or values.size >= most:
        return values[:most]
    times = PAGE // math.gcd(values.nbytes, PAGE)
    times *= -(-MIN_PERIOD // (values.nbytes * times))
    if values.size * times < most:
        return np.tile(values, times)
    return np.tile(values, -(-most // values.size))[:most]
