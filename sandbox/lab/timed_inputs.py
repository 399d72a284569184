"""Secret inputs of one large case, and the reference of any of its elements.

A benchmark's tensors are large, and so is their reference. Where dims are independent (`cases/inputs/independence.py`),
a few granules of them are drawn and stand everywhere: by a secret odd period where memory can repeat them, else at
places drawn at random. Then the reference of an element is that of the granule that stands there. Where no dim is
independent the whole case is drawn, and its reference is computed once.
"""

from __future__ import annotations

import math
import os
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from records.errors import LabError
from sandbox.cases.inputs.families import InputFamilies
from sandbox.cases.inputs.independence import Independent, Indices
from sandbox.lab.executor_request import Buffer
from sandbox.lab.input_files import InputFiles
from sandbox.lab.stored_inputs import PAGE, Stored
from sandbox.recent import Recent
from tasks.admission import Admission
from tasks.dtypes import numpy_dtype
from tasks.manifest import case_name
from tasks.roundings import Admitted
from tasks.task import Array, Case, Task, TensorSpec

ELEMENTS = 1 << 20  # of the inputs with a mapped dim that are drawn
FEWER = 4  # times fewer of a family, of which few workgroups are executed mostly
PRIMES = (3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107)
KEPT = 16  # references of sets of granules


@dataclass(frozen=True)
class Mapped:
    """An independent dim of the case and the drawn granule that stands at each of its places."""

    dim: Independent
    drawn: int  # granules
    drawn_at: Indices  # of the case's granules, the last of which may be cut
    is_periodic: bool


@dataclass(frozen=True)
class Expected:
    """Reference and baseline of a slab: some granules of the mapped dims, all of the others."""

    reference: Mapping[str, Array]
    baseline: Mapping[str, Array]
    admit: Callable[[TensorSpec, float], Admitted | None]


class TimedInputs:
    """The inputs of one large case. The file goes with the object."""

    def __init__(
        self,
        families: InputFamilies,
        case: Case,
        dims: tuple[Independent, ...],
        folder: Path,
        rng: np.random.Generator,
        variant: str | None = None,
        files: InputFiles | None = None,
    ) -> None:
        """Draw from `rng`; `folder` should be in memory. LabError when the file cannot be written there."""
        self.task, self.case, self.families, self.variant = (task := families.task), case, families, variant
        most = ELEMENTS if variant is None else ELEMENTS // FEWER
        self.mapped = tuple(_mapped(task, case, dim, most // len(dims), rng) for dim in _useful(task, case, dims))
        self._small = replace(case, dims=self._dims({m.dim.name: m.drawn for m in self.mapped}))
        self._small = replace(self._small, name=case_name(self._small.dims), seed=int(rng.integers(2**32)))
        self.seed = self._small.seed  # secret
        values = families.draw(self._small, variant)
        specs = task.inputs_of(case)
        self._drawn = {s.name: np.asarray(values[s.name], dtype=numpy_dtype(s.dtype)) for s in specs}
        self._known: Recent[tuple[bytes, ...], Expected] = Recent(KEPT)
        self.buffers = self._write(folder, files or InputFiles())

    def _dims(self, granules: Mapping[str, int]) -> dict[str, int]:
        """Give the case's dims with so many whole granules of the mapped ones."""
        sizes = {m.dim.name: m.dim.granule for m in self.mapped}
        return {n: granules[n] * sizes[n] if n in granules else v for n, v in self.case.dims.items()}

    def _write(self, folder: Path, files: InputFiles) -> tuple[Buffer, ...]:
        spans = []
        parts = [(spec, *self._flat(spec)) for spec in self.task.inputs_of(self.case)]
        try:
            path, file = files.open(folder, sum(flat.nbytes * times for _, flat, _, times in parts))
            weakref.finalize(self, files.give_back, path)
            with file:
                for spec, flat, period, times in parts:
                    spans.append((spec, file.tell(), period))
                    for _ in range(times):
                        file.write(flat.view(np.uint8).data)
                    file.write(bytes(-file.tell() % PAGE))
        except OSError as error:
            raise LabError(
                f"{os.strerror(error.errno or 0)} while writing the inputs to {folder}; free some space"
            ) from None
        lengths = {s.name: self.task.length_of(s, self.case) for s, _, _ in spans}
        return tuple(
            Buffer(s.name, Stored(path, offset, period, numpy_dtype(s.dtype), lengths[s.name]), "input")
            if s.name not in self.task.initials
            else Buffer(self.task.initials[s.name], np.resize(_read(path, offset, period, s), lengths[s.name]), "inout")
            for s, offset, period in spans
        )

    @property
    def nbytes(self) -> int:
        """Bytes of the file."""
        return sum(b.data.period for b in self.buffers if isinstance(b.data, Stored))

    def _shape(self, spec: TensorSpec) -> tuple[int, ...]:
        return self.task.shape_of(spec, self.case)

    def _flat(self, spec: TensorSpec) -> tuple[Array, int, int]:
        """Flatten an input; give its memory, the bytes after which the file repeats, and how often it stands there."""
        array, shape = self._drawn[spec.name], self._shape(spec)
        mine = [m for m in self.mapped if spec.name in m.dim.axes]
        if len(mine) == 1 and mine[0].is_periodic and mine[0].dim.axes[spec.name][0] == _slowest(spec):
            flat, size = np.ascontiguousarray(spec.flatten(array)), math.prod(shape)
            if flat.nbytes % PAGE == 0 or flat.size >= size:
                return flat, flat.nbytes, 1
            return flat, size * flat.itemsize, -(-size // flat.size)
        for m in mine:
            axis, granule = m.dim.axes[spec.name]
            array = np.take(array, m.dim.indices(m.drawn_at, granule)[: shape[axis]], axis=axis)
        flat = np.ascontiguousarray(self.task.flatten(spec, array, self.case))
        return flat, flat.nbytes, 1

    def expected(self, granules: tuple[Indices, ...]) -> Expected:
        """Give reference and baseline where each mapped dim has these of the case's granules, ascending."""
        unique_granules = [
            np.unique(m.drawn_at[g], return_inverse=True) for m, g in zip(self.mapped, granules, strict=True)
        ]
        compact = self._known.get(
            tuple(values.tobytes() for values, _ in unique_granules), lambda: self._made(unique_granules)
        )

        def spread(tensors: Mapping[str, Array]) -> dict[str, Array]:
            return self._spread(tensors, unique_granules)

        def admit(spec: TensorSpec, ratio: float) -> Admitted | None:
            admitted = compact.admit(spec, ratio)
            return None if admitted is None else admitted.each(lambda part: spread({spec.name: part})[spec.name])

        return Expected(spread(compact.reference), spread(compact.baseline), admit)

    def _spread(self, tensors: Mapping[str, Array], unique_granules: list[tuple[Indices, Indices]]) -> dict[str, Array]:
        spread = dict(tensors)
        for m, (values, inverse) in zip(self.mapped, unique_granules, strict=True):
            if inverse.size != values.size or (np.diff(inverse) != 1).any():
                spread = m.dim.gather(spread, inverse.ravel())
        return spread

    def _made(self, unique_granules: list[tuple[Indices, Indices]]) -> Expected:
        inputs: dict[str, Array] = dict(self._drawn)
        for m, (values, _) in zip(self.mapped, unique_granules, strict=True):
            inputs = m.dim.gather(inputs, values)
        dims = self._dims(
            {m.dim.name: values.size for m, (values, _) in zip(self.mapped, unique_granules, strict=True)}
        )
        case = replace(self.case, dims=dims, name=case_name(dims))
        reference, baseline = self.task.expected(inputs, case)
        return Expected(reference, baseline, Admission(self.task, inputs, case).of)


def _read(path: Path, offset: int, period: int, spec: TensorSpec) -> Array:
    dtype = numpy_dtype(spec.dtype)
    return np.fromfile(path, dtype, period // dtype.itemsize, offset=offset)


def _slowest(spec: TensorSpec) -> int:
    return len(spec.shape) - 1 if spec.layout == "column_major" else 0


def _useful(task: Task, case: Case, dims: tuple[Independent, ...]) -> tuple[Independent, ...]:
    """Choose the one dim that repeats in memory as it is, where it leaves little to draw; else all."""
    for dim in dims:
        other_elements = sum(math.prod(task.shape_of(s, case)) for s in task.inputs if s.name not in dim.axes)
        if other_elements <= ELEMENTS and _repeats(task, dim):
            return (dim,)
    return dims


def _repeats(task: Task, dim: Independent) -> bool:
    """Tell whether the dim lies along the slowest axis of every input that has it."""
    return all(dim.axes.get(s.name, (_slowest(s), 1))[0] == _slowest(s) for s in task.inputs)


def _mapped(task: Task, case: Case, dim: Independent, elements: int, rng: np.random.Generator) -> Mapped:
    """Draw a secret number of granules of the dim: all of them where they are few."""
    total = -(-case.dims[dim.name] // dim.granule)
    one_granule = {**case.dims, dim.name: dim.granule}
    granule_elements = sum(
        math.prod(task.shape_of(s, replace(case, dims=one_granule))) for s in task.inputs if s.name in dim.axes
    )
    most = max(PRIMES[0], elements // max(1, granule_elements))
    fitting = [p for p in PRIMES if p <= most]
    drawn = int(rng.choice(fitting[len(fitting) // 2 :]))
    if total <= drawn:
        return Mapped(dim, total, np.arange(total), True)
    is_periodic = _repeats(task, dim)
    drawn_at = np.resize(np.arange(drawn), total) if is_periodic else rng.integers(0, drawn, total)
    return Mapped(dim, drawn, drawn_at, is_periodic)
