"""Parts of a large output with their reference: some granules of the mapped dims, all of the others."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from records.computed_once import computed_once
from sandbox.cases.inputs.independence import Indices
from sandbox.lab.pieces import Piece
from sandbox.lab.timed_inputs import Expected, TimedInputs
from tasks.distinct import distinct
from tasks.roundings import Admitted
from tasks.task import Array, TensorSpec

ELEMENTS = 1 << 20  # of a slab when a whole output is compared slab by slab
FEW = 64  # indices of each axis that are compared before all of them
SCALE = 256  # elements at least whose errors in the standard implementation are a scale for a kernel's
OTHERS = 64  # granules beside those of a smaller slab
FIRST = 64 * OTHERS  # places of a case, of up to 100 million, where they are looked for


@dataclass(frozen=True)
class Slab:
    """A part of one output: its granules of each mapped dim, the indices it has on each axis, what must stand there."""

    inputs: TimedInputs
    spec: TensorSpec
    granules: tuple[Indices, ...]
    axes: tuple[Indices, ...]

    @property
    def reference(self) -> Array:
        """The float64 reference."""
        return self._expected.reference[self.spec.name][self._kept]

    @property
    def baseline(self) -> Array:
        """The standard implementation's values."""
        return self._expected.baseline[self.spec.name][self._kept]

    def admitted(self, ratio: float) -> Admitted | None:
        """Ask what else these elements may be where values before a rounding are off by so much."""
        admitted = self._expected.admit(self.spec, ratio)
        return None if admitted is None else admitted.each(lambda part: part[self._kept])

    def beside(self, count: int) -> tuple[Array, Array] | None:
        """Give reference and baseline of the slab where so many elements are no scale; of more granules if it is small.

        A workgroup may own a single element, which the standard implementation has right by luck.
        """
        if count >= SCALE:
            return None
        if not self.granules or self.reference.size >= SCALE:
            return self.reference, self.baseline
        drawn_granules = self.inputs.mapped[-1].drawn_at[:FIRST]
        further = np.sort(np.unique(drawn_granules, return_index=True)[1])[:OTHERS].astype(np.int64)
        expected = self.inputs.expected((*self.granules[:-1], further))
        return expected.reference[self.spec.name], expected.baseline[self.spec.name]

    @computed_once
    def _expected(self) -> Expected:
        return self.inputs.expected(self.granules)

    @property
    def _kept(self) -> tuple[slice, ...]:
        return tuple(slice(axis.size) for axis in self.axes)  # the last granule may be cut

    def cut(self, output: Array) -> Array:
        """Cut these elements out of the output, without a copy where they stand in a box."""
        spans = [slice(axis[0], axis[-1] + 1) for axis in self.axes if axis.size and axis[-1] - axis[0] < axis.size]
        return output[tuple(spans) if len(spans) == len(self.axes) else np.ix_(*self.axes)]

    def has_reference_of(self, other: Slab | None) -> bool:
        """Tell whether the same drawn granules stand in both in the same order."""
        return (
            other is not None
            and all(mine.size == theirs.size for mine, theirs in zip(self.axes, other.axes, strict=True))
            and all(
                np.array_equal(m.drawn_at[mine], m.drawn_at[theirs])
                for m, mine, theirs in zip(self.inputs.mapped, self.granules, other.granules, strict=True)
            )
        )


def slabs(inputs: TimedInputs, spec: TensorSpec, shape: tuple[int, ...]) -> Iterator[Slab]:
    """Yield the output in slabs along its first mapped dim: of whole periods, so that many have one reference."""
    all_granules = tuple(np.arange(m.drawn_at.size) for m in inputs.mapped)
    if not all_granules:
        yield _slab(inputs, spec, shape, all_granules)
        return
    elements_each = math.prod(shape) // max(1, all_granules[0].size)
    step = max(1, ELEMENTS // max(1, elements_each))
    if inputs.mapped[0].is_periodic:
        step = inputs.mapped[0].drawn * max(1, step // inputs.mapped[0].drawn)
    for start in range(0, all_granules[0].size, step):
        yield _slab(inputs, spec, shape, (all_granules[0][start : start + step], *all_granules[1:]))


def same_bits(left: Array, right: Array) -> bool:
    """Tell whether two arrays of a type hold the same, bit for bit."""
    if left.shape != right.shape:
        return False
    if left.itemsize not in (1, 2, 4, 8):
        return left.tobytes() == right.tobytes()
    bits = f"u{left.itemsize}"
    few = tuple(slice(FEW) for _ in left.shape)  # which mostly tell them apart
    return all(np.array_equal(left[part].view(bits), right[part].view(bits)) for part in (few, ...))


def slab_of(
    inputs: TimedInputs, spec: TensorSpec, shape: tuple[int, ...], piece: Piece
) -> tuple[Slab, Array, npt.NDArray[np.bool_]]:
    """Find the slab that holds these elements, its values, and which of them are given."""
    if _is_run(inputs, spec, piece):
        return _run(inputs, spec, shape, piece)
    order: Any = "F" if spec.layout == "column_major" else "C"
    axis_indices = np.unravel_index(piece.positions, shape, order=order)
    granules = tuple(
        distinct(axis_indices[m.dim.axes[spec.name][0]] // m.dim.granule).astype(np.int64) for m in inputs.mapped
    )
    slab = _slab(inputs, spec, shape, granules)
    local = tuple(np.searchsorted(axis, indices) for axis, indices in zip(slab.axes, axis_indices, strict=True))
    values = np.zeros(slab.reference.shape, piece.values.dtype)
    mask = np.zeros(values.shape, bool)
    values[local] = piece.values
    mask[local] = True
    return slab, values, mask


def _is_run(inputs: TimedInputs, spec: TensorSpec, piece: Piece) -> bool:
    """Tell whether the elements follow one another and granules lie along the slowest axis: no index is looked up."""
    along = [m.dim.axes[spec.name][0] for m in inputs.mapped]
    follows = int(piece.positions[-1] - piece.positions[0]) + 1 == piece.positions.size
    return follows and along == [0] and spec.layout == "row_major"


def _run(
    inputs: TimedInputs, spec: TensorSpec, shape: tuple[int, ...], piece: Piece
) -> tuple[Slab, Array, npt.NDArray[np.bool_]]:
    granule_elements = math.prod(shape[1:]) * inputs.mapped[0].dim.granule
    first, last = int(piece.positions[0]), int(piece.positions[-1])
    slab = _slab(inputs, spec, shape, (np.arange(first // granule_elements, last // granule_elements + 1),))
    values = np.zeros(slab.reference.shape, piece.values.dtype)
    mask = np.zeros(values.shape, bool)
    span = slice(first - first // granule_elements * granule_elements, None)
    values.reshape(-1)[span][: piece.positions.size] = piece.values
    mask.reshape(-1)[span][: piece.positions.size] = True
    return slab, values, mask


def _slab(inputs: TimedInputs, spec: TensorSpec, shape: tuple[int, ...], granules: tuple[Indices, ...]) -> Slab:
    axes: dict[int, Indices] = {}
    for m, chosen in zip(inputs.mapped, granules, strict=True):
        axis = m.dim.axes[spec.name][0]
        indices = m.dim.indices(chosen)
        axes[axis] = indices[indices < shape[axis]]
    all_axes = (axes[axis] if axis in axes else np.arange(extent) for axis, extent in enumerate(shape))
    return Slab(inputs, spec, granules, tuple(all_axes))
