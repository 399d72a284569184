"""Answers of kernels that leave work out, made for any task: from changed inputs, and from parts of the right output.

A shortcut that a task's cases let pass would win. Of changed inputs the task's own reference says what a kernel that
leaves so much out would answer: the first element for a whole axis, half of it, one tile of it, a constant for an
operand. What a kernel does with its numbers cannot be made this way; a task adds such answers with `shortcuts`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from tasks.dtypes import is_float, numpy_dtype, spacing_at, to_float64
from tasks.task import Array, Case, Task, Tensors

TILES = (16, 64, 256)
EXACT = 1e-9
Change = Callable[[Array], Array | None]  # None where it does not fit the shape


@dataclass(frozen=True)
class Sample:
    """Inputs of a case, and what the task says of them."""

    name: str  # of the case, with its input family
    case: Case
    inputs: Tensors
    reference: Mapping[str, Array]
    baseline: Mapping[str, Array]


@dataclass(frozen=True)
class Shortcut:
    """One way to leave work out."""

    title: str  # a phrase: the answer to 'what would pass?'
    answer: Callable[[Sample], Mapping[str, Array] | None]  # float64 outputs; None where it does not fit the case
    asks_the_reference: bool = False  # so it is no shortcut where the reference always says the same
    rounding: float = EXACT  # relative difference of two references that say the same


def planted(task: Task) -> Iterator[Shortcut]:
    """Yield every shortcut that is tried on this task, whether or not it fits a case."""
    for spec in task.inputs:
        for title, change in _input_changes(len(spec.shape), is_float(numpy_dtype(spec.dtype))):
            yield _on_input(task, spec.name, f"{title} of the input {spec.name!r}", change)
    for spec in task.outputs:
        for title, change in _output_changes(len(spec.shape)):
            yield Shortcut(f"{title} of the output {spec.name!r}", partial(_on_output, spec.name, change))
    for input_spec in task.inputs:
        for output_spec in task.outputs:
            for along, size in enumerate(input_spec.shape):
                if size in output_spec.shape and is_float(numpy_dtype(input_spec.dtype)):
                    title = (
                        f"each half of {input_spec.name!r} along axis {along} on its own "
                        f"for the output {output_spec.name!r}"
                    )
                    halves = partial(
                        _in_halves, task, input_spec.name, along, output_spec.name, output_spec.shape.index(size)
                    )
                    yield Shortcut(title, halves, asks_the_reference=True)


def _on_input(task: Task, name: str, title: str, change: Change) -> Shortcut:
    def answer(sample: Sample) -> Mapping[str, Array] | None:
        changed = change(sample.inputs[name]) if name in sample.inputs else None
        if changed is None:
            return None
        return task.reference({**sample.inputs, name: changed.astype(sample.inputs[name].dtype)}, sample.case)

    # A mean is rounded to the input's type, so even a sum that needs no more than it comes out a little different.
    spacing = spacing_at(1.0, numpy_dtype(next(s.dtype for s in task.inputs if s.name == name)))
    return Shortcut(title, answer, asks_the_reference=True, rounding=max(EXACT, 4 * spacing))


def _on_output(name: str, change: Change, sample: Sample) -> Mapping[str, Array] | None:
    changed = change(sample.reference[name])
    return None if changed is None else {**sample.reference, name: changed}


def _in_halves(
    task: Task, input_name: str, along: int, output_name: str, across: int, sample: Sample
) -> Mapping[str, Array] | None:
    """Take each half of the output from an input whose other half is a copy of it, as where sums stay in a tile."""
    if input_name not in sample.inputs:
        return None
    x = sample.inputs[input_name]
    size = x.shape[along]
    if size < 4 or sample.reference[output_name].shape[across] != size:
        return None
    half = size // 2
    result = sample.reference[output_name].copy()
    for indices in (np.arange(half), np.arange(half, size)):
        alone = np.take(x, np.resize(indices, size), axis=along)
        # The copies begin with the half itself, so its results stand where the first len(own) elements are.
        answer = task.reference({**sample.inputs, input_name: alone}, sample.case)[output_name]
        region: list[slice | Array] = [slice(None)] * result.ndim
        region[across] = indices
        result[tuple(region)] = np.take(answer, np.arange(indices.size), axis=across)
    return {**sample.reference, output_name: result}


def _input_changes(dims: int, is_real: bool) -> Iterator[tuple[str, Change]]:
    """Yield changes of an input that has so many axes; of integers only what keeps to values that are there."""
    for axis in range(dims):
        along = f"along axis {axis}"
        yield f"the first element {along}", partial(_gathered, axis, lambda n: np.zeros(n, int))
        yield f"the last element {along}", partial(_gathered, axis, lambda n: np.full(n, n - 1))
        yield f"the first half {along}, twice", partial(_gathered, axis, lambda n: np.resize(np.arange(-(-n // 2)), n))
        yield f"every second element {along}, twice", partial(_gathered, axis, lambda n: np.arange(n) // 2 * 2)
        yield f"the element before {along}", partial(_gathered, axis, lambda n: np.roll(np.arange(n), 1))
        yield f"the reverse {along}", partial(_gathered, axis, lambda n: np.arange(n)[::-1])
        yield f"the first half {along}", partial(_shortened, axis, lambda n: -(-n // 2))
        yield f"all but the last element {along}", partial(_shortened, axis, lambda n: n - 1)
        for tile in TILES:
            yield f"the first {tile} elements {along}", partial(_shortened, axis, partial(min, tile))
            yield (
                f"the first {tile} elements {along} again and again",
                partial(_gathered, axis, partial(_tile_indices, tile)),
            )
            yield f"whole tiles of {tile} {along}", partial(_shortened, axis, partial(_in_whole_tiles, tile))
        if is_real:
            yield f"the mean {along}", partial(_mean, axis)
    if dims >= 2:
        yield "the upper triangle, mirrored,", _mirrored
    if is_real:
        yield "the magnitude", np.abs
        yield "the sign", np.sign
        yield "the mean", lambda x: np.full_like(to_float64(x), to_float64(x).mean())
        yield "ones instead", lambda x: np.ones_like(to_float64(x))
    yield "zeros instead", np.zeros_like


def _output_changes(dims: int) -> Iterator[tuple[str, Change]]:
    """Yield parts of a right output that has so many axes."""
    for axis in range(dims):
        along = f"along axis {axis}"
        yield f"the element before {along}", partial(_gathered, axis, lambda n: np.roll(np.arange(n), 1))
        yield f"the reverse {along}", partial(_gathered, axis, lambda n: np.arange(n)[::-1])
        yield f"the first half {along}, zeros behind it,", partial(_shortened, axis, lambda n: -(-n // 2))
        yield f"all but the last element {along}", partial(_shortened, axis, lambda n: n - 1)
        for tile in TILES:
            yield (
                f"the first {tile} elements {along} again and again",
                partial(_gathered, axis, partial(_tile_indices, tile)),
            )
            yield (
                f"the first {tile} elements {along}, zeros behind them,",
                partial(_shortened, axis, partial(min, tile)),
            )
            yield f"whole tiles of {tile} {along}", partial(_shortened, axis, partial(_in_whole_tiles, tile))
    yield "the negative", np.negative


def _tile_indices(tile: int, size: int) -> Array:
    return np.arange(size) % tile


def _in_whole_tiles(tile: int, size: int) -> int:
    """Count the elements in whole tiles; all of them where there is no partial tile behind a whole one."""
    return size // tile * tile or size


def _gathered(axis: int, indices_of: Callable[[int], Array], x: Array) -> Array | None:
    size = x.shape[axis]
    indices = indices_of(size)
    return None if (indices == np.arange(size)).all() else np.take(x, indices, axis=axis)


def _shortened(axis: int, count: Callable[[int], int], x: Array) -> Array | None:
    size = x.shape[axis]
    if size < 2 or count(size) >= size:
        return None
    shortened = x.copy()
    np.moveaxis(shortened, axis, 0)[count(size) :] = 0
    return shortened


def _mean(axis: int, x: Array) -> Array | None:
    values = to_float64(x)
    if x.shape[axis] < 2:
        return None
    return np.broadcast_to(values.mean(axis=axis, keepdims=True), x.shape)


def _mirrored(x: Array) -> Array | None:
    """Make the largest square at the start of the last two axes symmetric."""
    size = min(x.shape[-2:])
    if size < 2:
        return None
    mirrored = x.copy()
    square = mirrored[..., :size, :size]
    square[...] = np.where(np.tri(size, dtype=bool), np.swapaxes(square, -1, -2), square)
    return mirrored
