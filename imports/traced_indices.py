"""Indices, and what is written to them, written down. In the import's own process only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from imports.traced_array import VALUES, NotFollowed, TracedArray
from imports.traced_elements import TracedElements
from imports.traced_masked import TracedMasked


class TracedIndices(TracedElements):
    """The part of NumPy that is written in brackets."""

    def viewed(self, array: TracedArray, value: Any) -> TracedArray:
        """Write the shape of a value that has the same elements in the same order."""
        return self.tape.emit("aten.view.default", (array, list(value.shape)), value)

    def do_expand_dims(self, a: Any, axis: Any) -> Any:
        """Write axes of one element."""
        array = self.of(a)
        return self.viewed(array, np.expand_dims(array.value, axis))

    def do_flip(self, m: Any, axis: Any = None) -> Any:
        """Reverse axes."""
        array = self.of(m)
        axes = list(range(array.ndim)) if axis is None else [int(a) % array.ndim for a in np.atleast_1d(axis)]
        return self.tape.emit("aten.flip.default", (array, axes), np.flip(array.value, tuple(axes)))

    def over(self, mask: TracedArray, array: TracedArray) -> TracedArray:
        """Return a mask in the shape of the array that it chooses from."""
        shape = [*mask.shape, *[1] * (array.ndim - mask.ndim)]
        return self.broadcast(mask.reshape(shape) if mask.ndim < array.ndim else mask, array.shape)

    def masked(self, array: TracedArray, mask: TracedArray) -> TracedMasked:
        """Choose elements by a mask."""
        if mask.ndim < array.ndim:
            raise NotFollowed(f"{VALUES}: it takes as many rows as a mask has")
        return TracedMasked(array.copy(), mask)

    def masked_write(self, array: TracedArray, mask: TracedArray, value: Any) -> Any:
        """Write elements that a mask chooses."""
        if isinstance(value, TracedMasked):
            if value.mask.name != mask.name:
                raise NotFollowed(f"{VALUES}: it writes elements of one mask to those of another")
            value = value.whole
        elif isinstance(value, TracedArray) and value.ndim and value.size != 1:
            raise NotFollowed(f"{VALUES}: it writes as many elements as a mask has")
        return self.do_where(mask, value, array)

    def index(self, array: TracedArray, key: Any) -> Any:
        """Write an index: whole axes, slices, places, new axes; then places that arrays hold."""
        keys = self.keys(array, key)
        axis, arrays = 0, list[Any]()
        for part in keys:
            if part is None:
                array = self.do_expand_dims(array, axis)
            elif isinstance(part, TracedArray):
                arrays.append((axis, part))
            elif isinstance(part, slice):
                array = self.sliced(array, axis, part)
            else:
                array = self.tape.emit("aten.select.int", (array, axis, part), np.take(array.value, part, axis))
                continue
            axis += 1
        return self._taken(array, arrays) if arrays else array.copy()

    def sliced(self, array: TracedArray, axis: int, part: slice) -> TracedArray:
        """Write a slice of an axis."""
        extent = array.shape[axis]
        start, stop, step = part.indices(extent)
        if step < 0:
            turned = self.do_flip(array, axis)
            first, count = extent - 1 - start, len(range(start, stop, step))
            return (
                turned
                if (first, count, step) == (0, extent, -1)
                else self.sliced(turned, axis, slice(first, min(extent, first + (count - 1) * -step + 1), -step))
            )
        if (start, step) == (0, 1) and stop >= extent:
            return array
        value = array.value[(*(slice(None),) * axis, slice(start, stop, step))]
        return self.tape.emit("aten.slice.Tensor", (array, axis, start, stop, step), value)

    def _taken(self, array: TracedArray, arrays: list[tuple[int, TracedArray]]) -> TracedArray:
        positions: list[Any] = [None] * array.ndim
        for axis, index in arrays:
            positions[axis] = index
        values: Any = tuple(slice(None) if p is None else p.value for p in positions)
        while positions[-1] is None:
            positions.pop()
        return self.tape.emit("aten.index.Tensor", (array, positions), array.value[values])

    def keys(self, array: TracedArray, key: Any) -> list[Any]:
        """List what an index says of each axis; a mask only where it stands alone."""
        given = list(key) if isinstance(key, tuple) else [key]
        parts = [
            self.of(np.asarray(k) if isinstance(k, list) else k) if isinstance(k, (list, np.ndarray)) else k
            for k in given
        ]
        parts = [int(k) if isinstance(k, (np.integer, int)) and not isinstance(k, bool) else k for k in parts]
        parts = [int(k) if isinstance(k, TracedArray) and k.is_known and not k.ndim else k for k in parts]
        if any(isinstance(k, TracedArray) and k.dtype.kind == "b" for k in parts):
            raise NotFollowed(f"{VALUES}: it takes as many elements as a mask has")
        if any(not isinstance(k, (TracedArray, slice, int)) and k is not None and k is not ... for k in parts):
            raise NotFollowed("an index of such a kind has no generated kernel yet")
        used = sum(k is not None and k is not ... for k in parts)
        place = next((i for i, k in enumerate(parts) if k is ...), len(parts))
        rest = [slice(None)] * (array.ndim - used)
        return [*parts[:place], *rest, *(k for k in parts[place + 1 :])]

    def written(self, array: TracedArray, key: Any, value: Any) -> Any:
        """Write the array with other elements at an index."""
        if isinstance(key, TracedArray) and key.dtype.kind == "b":
            return self.masked_write(array, self.over(key, array), value)
        keys = self.keys(array, key)
        if any(isinstance(k, TracedArray) for k in keys):
            return self._put(array, keys, value)
        return self._placed(array, [k for k in keys if k is not None], value, 0)

    def _placed(self, array: TracedArray, keys: Sequence[Any], value: Any, axis: int) -> TracedArray:
        """Write values into slices and places, one axis after the other."""
        while keys and isinstance(keys[0], slice) and keys[0].indices(array.shape[axis]) == (0, array.shape[axis], 1):
            keys, axis = keys[1:], axis + 1
        if not keys:
            fitting = self.of(value)
            while fitting.ndim > array.ndim and fitting.shape[0] == 1:
                fitting = fitting[0]
            return self.cast(self.broadcast(fitting, array.shape), array.dtype)
        part = keys[0]
        before: tuple[Any, ...] = (slice(None),) * axis
        whole = array.value.copy()
        if isinstance(part, int):
            inner = self._placed(self.index(array, (*before, part)), keys[1:], value, axis)
            whole[(*before, part)] = inner.value
            return self.tape.emit("aten.select_scatter.default", (array, inner, axis, part), whole)
        start, stop, step = part.indices(array.shape[axis])
        if step < 0:
            raise NotFollowed("a write to a slice in reverse has no generated kernel yet")
        inner = self._placed(self.sliced(array, axis, part), keys[1:], value, axis + 1)
        whole[(*before, slice(start, stop, step))] = inner.value
        return self.tape.emit("aten.slice_scatter.default", (array, inner, axis, start, stop, step), whole)

    def _put(self, array: TracedArray, keys: Sequence[Any], value: Any, adds: bool = False) -> TracedArray:
        """Write values to places that arrays hold."""
        if any(not isinstance(k, TracedArray) and k != slice(None) for k in keys):
            raise NotFollowed("a write to places and slices together has no generated kernel yet")
        positions: list[Any] = [k if isinstance(k, TracedArray) else None for k in keys]
        index: Any = tuple(slice(None) if p is None else p.value for p in positions)
        while positions[-1] is None:
            positions.pop()
        whole = array.value.copy()
        source = self.cast(value, array.dtype)
        if adds:
            np.add.at(whole, index, source.value)
        else:
            whole[index] = source.value
        return self.tape.emit("aten.index_put.default", (array, positions, source, adds), whole)

    def added_at(self, array: TracedArray, places: Any, values: Any) -> None:
        """`np.add.at`: of several values for one place the sum."""
        array.assign(self._put(array, self.keys(array, places), values, adds=True))

    def do_put_along_axis(self, arr: TracedArray, indices: Any, values: Any, axis: int) -> None:
        """Write an element to a place of its own."""
        index = self.of(indices)
        source = self.broadcast(self.cast(values, arr.dtype), index.shape)
        whole = arr.value.copy()
        np.put_along_axis(whole, index.value, source.value, axis)
        arr.assign(self.tape.emit("aten.scatter.src", (arr, axis % arr.ndim, index, source), whole))

    def do_bincount(self, x: Any, weights: Any = None, minlength: int = 0) -> Any:
        """Count whole numbers; as many results as are named."""
        array = self.of(x)
        value = np.bincount(array.value, minlength=minlength)
        if weights is not None or len(value) != minlength:
            raise NotFollowed("np.bincount has a generated kernel for all counts of minlength alone")
        return self.tape.emit("aten.bincount.default", (array, None, int(minlength)), value)
