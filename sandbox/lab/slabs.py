"""Parts of a large output with their reference: some granules of the mapped dims, all of the others."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sandbox.lab.pieces import Piece
from sandbox.lab.timed_inputs import TimedInputs
from tasks.independence import Indices
from tasks.task import Array, TensorSpec

ELEMENTS = 1 << 20  # of a slab when a whole output is compared slab by slab


@dataclass(frozen=True)
class Slab:
    """A part of one output: the indices it has on each axis, and reference and baseline there."""

    spec: TensorSpec
    axes: tuple[Indices, ...]
    reference: Array
    baseline: Array

    def cut(self, output: Array) -> Array:
        """These elements of the output."""
        return output[np.ix_(*self.axes)]


def slabs(inputs: TimedInputs, spec: TensorSpec, shape: tuple[int, ...]) -> Iterator[Slab]:
    """The whole output in slabs along its first mapped dim."""
    every = tuple(np.arange(m.places.size) for m in inputs.mapped)
    if not every:
        yield _slab(inputs, spec, shape, every)
        return
    each = math.prod(shape) // max(1, every[0].size)
    step = max(1, ELEMENTS // max(1, each))
    for at in range(0, every[0].size, step):
        yield _slab(inputs, spec, shape, (every[0][at : at + step], *every[1:]))


def slab_of(
    inputs: TimedInputs, spec: TensorSpec, shape: tuple[int, ...], piece: Piece
) -> tuple[Slab, Array, npt.NDArray[np.bool_]]:
    """The slab that holds these elements, its values, and which of them are given."""
    if _is_run(inputs, spec, piece):
        return _run(inputs, spec, shape, piece)
    order: Any = "F" if spec.layout == "column_major" else "C"
    places = np.unravel_index(piece.places, shape, order=order)
    granules = tuple(
        np.unique(places[m.dim.axes[spec.name][0]] // m.dim.granule).astype(np.int64) for m in inputs.mapped
    )
    slab = _slab(inputs, spec, shape, granules)
    local = tuple(np.searchsorted(axis, at) for axis, at in zip(slab.axes, places, strict=True))
    values = np.zeros(slab.reference.shape, piece.values.dtype)
    mask = np.zeros(values.shape, bool)
    values[local] = piece.values
    mask[local] = True
    return slab, values, mask


def _is_run(inputs: TimedInputs, spec: TensorSpec, piece: Piece) -> bool:
    """True where the elements follow one another and granules lie along the slowest axis: no index is looked up."""
    along = [m.dim.axes[spec.name][0] for m in inputs.mapped]
    follows = int(piece.places[-1] - piece.places[0]) + 1 == piece.places.size
    return follows and along == [0] and spec.layout == "row_major"


def _run(
    inputs: TimedInputs, spec: TensorSpec, shape: tuple[int, ...], piece: Piece
) -> tuple[Slab, Array, npt.NDArray[np.bool_]]:
    each = math.prod(shape[1:]) * inputs.mapped[0].dim.granule
    first, last = int(piece.places[0]), int(piece.places[-1])
    slab = _slab(inputs, spec, shape, (np.arange(first // each, last // each + 1),))
    values = np.zeros(slab.reference.shape, piece.values.dtype)
    mask = np.zeros(values.shape, bool)
    own = slice(first - first // each * each, None)
    values.reshape(-1)[own][: piece.places.size] = piece.values
    mask.reshape(-1)[own][: piece.places.size] = True
    return slab, values, mask


def _slab(inputs: TimedInputs, spec: TensorSpec, shape: tuple[int, ...], granules: tuple[Indices, ...]) -> Slab:
    axes = [np.arange(extent) for extent in shape]
    keep = [slice(None)] * len(shape)
    for m, chosen in zip(inputs.mapped, granules, strict=True):
        axis = m.dim.axes[spec.name][0]
        indices = m.dim.indices(chosen)
        axes[axis] = indices[indices < shape[axis]]  # the last granule may be cut
        keep[axis] = slice(axes[axis].size)
    made = inputs.expected(granules)
    return Slab(spec, tuple(axes), made.reference[spec.name][tuple(keep)], made.baseline[spec.name][tuple(keep)])
