"""Shapes and moved elements, written down. In the import's own process only."""

from __future__ import annotations

from typing import Any

import numpy as np

from imports.traced_array import NotFollowed
from imports.traced_indices import TracedIndices
from imports.traced_reductions import TracedReductions


class TracedMoves(TracedIndices, TracedReductions):
    """The part of NumPy that takes elements from other places."""

    def do_reshape(self, a: Any, shape: Any = None, order: str = "C", **options: Any) -> Any:
        """Write another shape."""
        array = self.of(a)
        extents = options.get("newshape", shape)
        extents = [int(n) for n in (extents if isinstance(extents, (tuple, list)) else (extents,))]
        value = array.value.reshape(extents)
        if order not in ("C", "A"):
            raise NotFollowed("a reshape in another order than C has no generated kernel yet")
        return array.copy() if value.shape == array.shape else self.viewed(array, value)

    def do_ravel(self, a: Any, order: str = "C") -> Any:
        """Write one axis."""
        return self.do_reshape(a, -1, order)

    do_flatten = do_ravel

    def do_squeeze(self, a: Any, axis: Any = None) -> Any:
        """Write the shape without axes of one element."""
        array = self.of(a)
        return self.viewed(array, np.squeeze(array.value, axis))

    def do_atleast_1d(self, a: Any) -> Any:
        """Write one axis at least."""
        array = self.of(a)
        return self.viewed(array, np.atleast_1d(array.value))

    def do_atleast_2d(self, a: Any) -> Any:
        """Write two axes at least."""
        array = self.of(a)
        return self.viewed(array, np.atleast_2d(array.value))

    def do_transpose(self, a: Any, axes: Any = None) -> Any:
        """Write other axes."""
        array = self.of(a)
        order = [int(k) % array.ndim for k in axes] if axes is not None else list(range(array.ndim))[::-1]
        if order == list(range(array.ndim)):
            return array.copy()
        return self.tape.emit("aten.permute.default", (array, order), array.value.transpose(order))

    do_permute_dims = do_transpose

    def do_matrix_transpose(self, x: Any) -> Any:
        """Exchange the last two axes."""
        return self.do_swapaxes(x, -1, -2)

    def do_swapaxes(self, a: Any, axis1: int, axis2: int) -> Any:
        """Exchange two axes."""
        array = self.of(a)
        order = list(range(array.ndim))
        order[axis1], order[axis2] = order[axis2], order[axis1]
        return self.do_transpose(array, order)

    def do_moveaxis(self, a: Any, source: Any, destination: Any) -> Any:
        """Move axes."""
        array = self.of(a)
        places = np.moveaxis(np.empty(tuple(range(1, array.ndim + 1))), source, destination).shape
        return self.do_transpose(array, [n - 1 for n in places])

    def do_rollaxis(self, a: Any, axis: int, start: int = 0) -> Any:
        """Move one axis."""
        array = self.of(a)
        places = np.rollaxis(np.empty(tuple(range(1, array.ndim + 1))), axis, start).shape
        return self.do_transpose(array, [n - 1 for n in places])

    def do_broadcast_to(self, array: Any, shape: Any, **options: Any) -> Any:
        """Repeat along axes of one element."""
        return self.broadcast(array, shape if isinstance(shape, (tuple, list)) else (shape,))

    def do_broadcast_arrays(self, *arrays: Any) -> Any:
        """Give all of them one shape."""
        traced = [self.of(a) for a in arrays]
        shape = np.broadcast_shapes(*(a.shape for a in traced))
        return [self.broadcast(a, shape) for a in traced]

    def do_meshgrid(self, *arrays: Any, indexing: str = "xy", sparse: bool = False) -> Any:
        """Repeat each along the axes of the others."""
        traced = [self.of(a) for a in arrays]
        values: Any = np.meshgrid(*[a.value for a in traced], indexing=indexing, sparse=True)  # type: ignore[call-overload]
        views = [self.viewed(a, v) for a, v in zip(traced, values, strict=True)]
        return views if sparse else self.do_broadcast_arrays(*views)

    def do_concatenate(self, arrays: Any, axis: Any = 0, **options: Any) -> Any:
        """Put arrays behind one another."""
        parts = [self.of(a) for a in arrays]
        if axis is None:
            parts, axis = [p.reshape(-1) for p in parts], 0
        value = np.concatenate([self._wide(p) for p in parts], axis=axis)
        parts = [self.cast(p, value.dtype) for p in parts]
        return (
            self.tape.emit("aten.cat.default", (parts, axis % value.ndim), value) if len(parts) > 1 else parts[0].copy()
        )

    do_concat = do_concatenate

    def do_stack(self, arrays: Any, axis: int = 0, **options: Any) -> Any:
        """Put arrays behind one another along a new axis."""
        return self.do_concatenate([self.do_expand_dims(a, axis) for a in arrays], axis)

    def do_vstack(self, tup: Any) -> Any:
        """Put rows below one another."""
        return self.do_concatenate([self.do_atleast_2d(a) for a in tup], 0)

    def do_hstack(self, tup: Any) -> Any:
        """Put arrays beside one another."""
        parts = [self.do_atleast_1d(a) for a in tup]
        return self.do_concatenate(parts, 0 if parts[0].ndim == 1 else 1)

    def do_column_stack(self, tup: Any) -> Any:
        """Put columns beside one another."""
        return self.do_concatenate([a[:, None] if a.ndim == 1 else a for a in map(self.of, tup)], 1)

    def do_append(self, arr: Any, values: Any, axis: Any = None) -> Any:
        """Put two arrays behind one another."""
        return self.do_concatenate([arr, values], axis)

    def do_split(self, ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
        """Cut an array into parts."""
        array = self.of(ary)
        places = np.split(np.arange(array.shape[axis]), indices_or_sections)
        before = (slice(None),) * (axis % array.ndim)
        ends = np.cumsum([len(p) for p in places]).tolist()
        return [array[(*before, slice(end - len(p), end))] for p, end in zip(places, ends, strict=True)]

    do_array_split = do_split

    def do_fliplr(self, m: Any) -> Any:
        """Reverse the second axis."""
        return self.do_flip(m, 1)

    def do_flipud(self, m: Any) -> Any:
        """Reverse the first axis."""
        return self.do_flip(m, 0)

    def do_roll(self, a: Any, shift: Any, axis: Any = None) -> Any:
        """Move elements in a circle."""
        array = self.of(a)
        if axis is None:
            return self.do_roll(array.reshape(-1), shift, 0).reshape(array.shape)
        pairs = zip(np.atleast_1d(shift).tolist(), np.atleast_1d(axis).tolist(), strict=True)
        for step, along in pairs:
            extent, before = array.shape[along], (slice(None),) * (along % array.ndim)
            cut = extent - step if step > 0 else -step
            if not 0 < cut < extent:
                raise NotFollowed("np.roll by all of an axis has no generated kernel yet")
            parts = [array[(*before, slice(cut, None))], array[(*before, slice(None, cut))]]
            array = self.do_concatenate(parts, along)
        return array

    def do_tile(self, A: Any, reps: Any) -> Any:
        """Repeat an array."""
        array, counts = self.of(A), list(np.atleast_1d(reps).tolist())
        counts = [1] * (array.ndim - len(counts)) + counts
        return self.tape.emit("aten.repeat.default", (array, counts), np.tile(array.value, counts))

    def do_repeat(self, a: Any, repeats: Any, axis: Any = None) -> Any:
        """Repeat each element."""
        array = self.of(a)
        if not isinstance(repeats, (int, np.integer)):
            raise NotFollowed("np.repeat by several counts has no generated kernel yet")
        array, along = (array.reshape(-1), 0) if axis is None else (array, int(axis) % array.ndim)
        shape = array.shape
        wide = self.do_expand_dims(array, along + 1)
        wide = self.broadcast(wide, [*shape[: along + 1], int(repeats), *shape[along + 1 :]])
        return wide.reshape([*shape[:along], shape[along] * int(repeats), *shape[along + 1 :]])

    def do_pad(self, array: Any, pad_width: Any, mode: str = "constant", **options: Any) -> Any:
        """Put elements around an array."""
        x = self.of(array)
        widths = np.broadcast_to(pad_width, (x.ndim, 2)).tolist()
        value = options.get("constant_values", 0)
        if mode == "constant":
            if not isinstance(value, (int, float, np.generic)):
                raise NotFollowed("np.pad with several numbers has no generated kernel yet")
            flat = [n for pair in widths[::-1] for n in pair]
            number = float(value) if x.dtype.kind == "f" else int(value)
            return self.tape.emit(
                "aten.constant_pad_nd.default", (x, flat, number), np.pad(x.value, widths, constant_values=value)
            )
        if mode not in ("edge", "reflect", "wrap"):
            raise NotFollowed(f"np.pad by {mode!r} has no generated kernel yet")
        for axis, (before, after) in enumerate(widths):
            if before or after:
                x = self.do_take(x, self._beyond(x.shape[axis], before, after, mode), axis)
        return x

    def _beyond(self, extent: int, before: int, after: int, mode: str) -> Any:
        """Return the places of an axis that its padded one holds."""
        place = self.do_arange(-before, extent + after)
        if mode == "edge":
            return self.do_clip(place, 0, extent - 1)
        if mode == "wrap":
            return self.elements("remainder", place, extent)
        turned = self.elements("subtract", self.elements("remainder", place, 2 * (extent - 1)), extent - 1)
        return self.elements("subtract", extent - 1, self.elements("absolute", turned))

    def do_tril(self, m: Any, k: int = 0) -> Any:
        """Keep what lies below a diagonal."""
        array = self.of(m)
        return self.tape.emit("aten.tril.default", (array, k), np.tril(array.value, k))

    def do_triu(self, m: Any, k: int = 0) -> Any:
        """Keep what lies above a diagonal."""
        array = self.of(m)
        return self.tape.emit("aten.triu.default", (array, k), np.triu(array.value, k))

    def do_diff(self, a: Any, n: int = 1, axis: int = -1) -> Any:
        """Write the distances of neighbours."""
        array = self.of(a)
        before = (slice(None),) * (axis % array.ndim)
        for _ in range(n):
            array = self.elements("subtract", array[(*before, slice(1, None))], array[(*before, slice(None, -1))])
        return array

    def do_diagonal(self, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        """Take the elements of equal places."""
        array = self.do_moveaxis(a, (axis1, axis2), (-2, -1))
        row, column = max(0, -offset), max(0, offset)
        place = self.do_arange(min(array.shape[-2] - row, array.shape[-1] - column))
        rows, columns = (self.elements("add", place, n) if n else place for n in (row, column))
        return array[(*(slice(None),) * (array.ndim - 2), rows, columns)]

    def do_diag(self, v: Any, k: int = 0) -> Any:
        """Take a diagonal, or make a matrix of one."""
        array = self.of(v)
        if array.ndim == 2:
            return self.do_diagonal(array, k)
        if k:
            raise NotFollowed("np.diag beside the diagonal has no generated kernel yet")
        is_there = self.elements("equal", self.do_arange(array.size)[:, None], self.do_arange(array.size)[None, :])
        return self.do_where(is_there, array, 0.0 if array.dtype.kind == "f" else 0)

    def do_trace(self, a: Any, **options: Any) -> Any:
        """Add a diagonal."""
        return self.reduced("sum", self.do_diagonal(a, **options))

    def do_take(self, a: Any, indices: Any, axis: Any = None, **options: Any) -> Any:
        """Take elements at places of an axis."""
        array = self.of(a)
        if axis is None:
            return self.do_take(array.reshape(-1), indices, 0)
        return self.index(array, (*(slice(None),) * (int(axis) % array.ndim), indices))

    def do_take_along_axis(self, arr: Any, indices: Any, axis: Any = -1) -> Any:
        """Take an element at a place of its own."""
        array, index = self.of(arr), self.of(indices)
        value = np.take_along_axis(array.value, index.value, axis)
        if index.shape != value.shape:
            raise NotFollowed("np.take_along_axis of shapes that differ has no generated kernel yet")
        return self.tape.emit("aten.gather.default", (array, axis % array.ndim, index), value)

    def do_percentile(self, a: Any, q: Any, axis: Any = None, keepdims: bool = False) -> Any:
        """Write the value between two neighbours of all values in order."""
        return self.do_quantile(a, q / 100, axis, keepdims)

    def do_quantile(self, a: Any, q: Any, axis: Any = None, keepdims: bool = False) -> Any:
        """Write the value between two neighbours of all values in order."""
        array = self.of(a)
        if not isinstance(q, (int, float)) or (axis is None and keepdims):
            raise NotFollowed("np.quantile of several parts has no generated kernel yet")
        array, along = (array.reshape(-1), 0) if axis is None else (array, int(axis) % array.ndim)
        values, last = self.ordered(array, along)[0], array.shape[along] - 1
        exact = self.elements("multiply", self.filled((1,), float(q), float), last)
        before = self.elements("floor", exact)
        place = self.cast(before, np.int64)
        low = self.do_take(values, place, along)
        high = self.do_take(values, self.elements("minimum", self.elements("add", place, 1), last), along)
        share = self.elements("subtract", exact, before)
        share = share.reshape([1] * array.ndim)
        between = self.elements("add", low, self.elements("multiply", self.elements("subtract", high, low), share))
        return between if keepdims else self.do_squeeze(between, along)
