"""Sums, extremes, orders and running sums, written down. In the import's own process only."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from imports.traced_array import NotFollowed, TracedArray
from imports.traced_elements import TracedElements

REDUCED = {"sum": "sum", "mean": "mean", "prod": "prod", "max": "amax", "min": "amin", "any": "any", "all": "all"}
NEUTRAL = {"sum": 0, "max": -math.inf, "min": math.inf, "prod": 1, "any": False, "all": True}
METHODS = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}


class TracedReductions(TracedElements):
    """The part of NumPy that takes many elements together."""

    def axes(self, array: TracedArray, axis: Any) -> list[int]:
        """List the axes that are meant, ascending."""
        if axis is None:
            return list(range(array.ndim))
        chosen = axis if isinstance(axis, (tuple, list)) else (axis,)
        axes = sorted(int(a) % array.ndim for a in chosen) if array.ndim else []
        if any(not -array.ndim <= int(a) < array.ndim for a in chosen):
            raise np.exceptions.AxisError(int(chosen[0]), array.ndim)
        return axes

    def reduced(
        self,
        name: str,
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        """Write a reduction."""
        array = self.of(a)
        if name in ("any", "all"):
            array = self.is_true(array)
        if name in ("max", "min") and array.dtype.kind == "b":
            name = "any" if name == "max" else "all"
        if where is not True:
            if name not in NEUTRAL or (array.dtype.kind != "f" and name in ("max", "min")):
                raise NotFollowed(f"np.{name} with where has no generated kernel yet")
            array = self.do_where(where, array, self.neutral(name, array))
        array = array if dtype is None or name in ("max", "min") else self.cast(array, dtype)
        axes = self.axes(array, axis)
        if not axes:
            return array.copy()
        value = getattr(np, name)(self._wide(array), axis=tuple(axes), keepdims=bool(keepdims))
        result = self.tape.emit(f"aten.{REDUCED[name]}.default", (array, axes, bool(keepdims)), value)
        if initial is not None and name in ("max", "min"):
            return self.elements("maximum" if name == "max" else "minimum", result, initial)
        if initial not in (None, NEUTRAL.get(name)):
            raise NotFollowed(f"np.{name} with initial has no generated kernel yet")
        return result

    def neutral(self, name: str, array: TracedArray) -> Any:
        """Return the number that changes nothing."""
        number = NEUTRAL[name]
        return float(number) if array.dtype.kind == "f" else number

    def do_var(
        self,
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: int = 0,
        keepdims: Any = False,
        **options: Any,
    ) -> Any:
        """Write a variance."""
        array = self.cast(a, float)
        ddof = options.get("correction", ddof)
        axes = self.axes(array, axis)
        value = np.var(array.value, axis=tuple(axes), ddof=ddof, keepdims=bool(keepdims))
        return self.tape.emit("aten.var.correction", (array, axes), value, correction=ddof, keepdim=bool(keepdims))

    def do_std(self, *arguments: Any, **options: Any) -> Any:
        """Write the root of a variance."""
        return self.elements("sqrt", self.do_var(*arguments, **options))

    def do_average(self, a: Any, axis: Any = None, weights: Any = None, keepdims: bool = False) -> Any:
        """Write a mean, or a quotient of sums."""
        if weights is None:
            return self.reduced("mean", a, axis, keepdims=keepdims)
        array, weight = self.of(a), self.of(weights)
        if weight.shape != array.shape:
            if weight.ndim != 1 or not isinstance(axis, int):
                raise NotFollowed("np.average with such weights has no generated kernel yet")
            shape = [1] * array.ndim
            shape[axis] = weight.size
            weight = self.broadcast(weight.reshape(shape), array.shape)
        total = self.reduced("sum", self.elements("multiply", array, weight), axis, keepdims=keepdims)
        return self.elements("divide", total, self.reduced("sum", weight, axis, keepdims=keepdims))

    def do_count_nonzero(self, a: Any, axis: Any = None, keepdims: bool = False) -> Any:
        """Write a sum of truths."""
        return self.reduced("sum", self.is_true(a), axis, keepdims=keepdims)

    def do_ptp(self, a: Any, axis: Any = None, keepdims: bool = False) -> Any:
        """Write the distance of the extremes."""
        most, least = (self.reduced(name, a, axis, keepdims=keepdims) for name in ("max", "min"))
        return self.elements("subtract", most, least)

    def do_norm(self, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
        """Write a norm of vectors, or the root of all squares."""
        array = self.of(x)
        is_vector = array.ndim == 1 or isinstance(axis, int)
        if ord in (None, "fro") or (ord == 2 and is_vector):
            return self.elements("sqrt", self.reduced("sum", self.do_square(array), axis, keepdims=keepdims))
        sizes = self.elements("absolute", array)
        if not is_vector or ord not in (1, math.inf, -math.inf):
            raise NotFollowed(f"np.linalg.norm of the order {ord} has no generated kernel yet")
        name = "sum" if ord == 1 else "max" if ord > 0 else "min"
        return self.reduced(name, sizes, axis, keepdims=keepdims)

    do_vector_norm = do_norm

    def place(self, name: str, a: Any, axis: Any, keepdims: bool) -> Any:
        """Write the place of an extreme."""
        array = self.of(a)
        if axis is None:
            array, axis = array.reshape(-1), 0
        axis = int(axis) % array.ndim
        value = getattr(np, name)(array.value, axis=axis, keepdims=keepdims)
        return self.tape.emit(f"aten.{name}.default", (array, axis, keepdims), value)

    def do_argmax(self, a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """Write the place of the largest."""
        return self.place("argmax", a, axis, keepdims)

    def do_argmin(self, a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """Write the place of the smallest."""
        return self.place("argmin", a, axis, keepdims)

    def running(self, name: str, a: Any, axis: Any) -> Any:
        """Write a running sum or product."""
        array = self.of(a)
        if axis is None:
            array, axis = array.reshape(-1), 0
        axis = int(axis) % array.ndim
        return self.tape.emit(f"aten.{name}.default", (array, axis), getattr(np, name)(self._wide(array), axis=axis))

    def do_cumsum(self, a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """Write a running sum."""
        return self.running("cumsum", a if dtype is None else self.cast(a, dtype), axis)

    def do_cumprod(self, a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """Write a running product."""
        return self.running("cumprod", a if dtype is None else self.cast(a, dtype), axis)

    def ordered(self, a: Any, axis: Any) -> list[TracedArray]:
        """Write the values in order and their places."""
        array = self.of(a)
        if axis is None:
            array, axis = array.reshape(-1), 0
        axis = int(axis) % array.ndim
        places = np.argsort(array.value, axis=axis, kind="stable")
        values = np.take_along_axis(array.value, places, axis)
        return self.tape.parts("aten.sort.default", (array, axis, False), (values, places))

    def do_sort(self, a: Any, axis: Any = -1, **options: Any) -> Any:
        """Write the values in order."""
        return self.ordered(a, axis)[0]

    def do_partition(self, a: Any, kth: Any, axis: Any = -1) -> Any:
        """Write the values in order: the one that is asked for stands where it has to."""
        return self.ordered(a, axis)[0]

    def do_argsort(self, a: Any, axis: Any = -1, **options: Any) -> Any:
        """Write the places of the values in order."""
        return self.ordered(a, axis)[1]

    def do_median(self, a: Any, axis: Any = None, keepdims: bool = False) -> Any:
        """Write the mean of the two in the middle of all values in order."""
        array = self.of(a)
        if axis is None:
            array, axis = array.reshape(-1), 0
            if keepdims:
                raise NotFollowed("np.median of everything with keepdims has no generated kernel yet")
        axis, count = int(axis) % array.ndim, array.shape[int(axis)]
        values = self.ordered(array, axis)[0]
        before = (slice(None),) * axis
        low, high = (values[(*before, k if not keepdims else slice(k, k + 1))] for k in ((count - 1) // 2, count // 2))
        return self.elements("multiply", self.elements("add", low, high), 0.5)

    def do_nansum(self, a: Any, axis: Any = None, keepdims: bool = False, **options: Any) -> Any:
        """Write a sum without what is no number."""
        return self.reduced("sum", self.do_where(self.elements("isnan", a), 0.0, a), axis, keepdims=keepdims)

    def do_logsumexp(self, a: Any, axis: Any = None, keepdims: bool = False) -> Any:
        """Write it by the largest of each line."""
        most = self.reduced("max", a, axis, keepdims=True)
        parts = self.elements("exp", self.elements("subtract", a, most))
        total = self.elements("add", self.elements("log", self.reduced("sum", parts, axis, keepdims=True)), most)
        if keepdims:
            return total
        axes = self.axes(self.of(a), axis)
        return total.reshape([n for k, n in enumerate(total.shape) if k not in axes])

    def do_softmax(self, x: Any, axis: Any = None) -> Any:
        """Write exponentials over their sum."""
        parts = self.elements("exp", self.elements("subtract", x, self.reduced("max", x, axis, keepdims=True)))
        return self.elements("divide", parts, self.reduced("sum", parts, axis, keepdims=True))

    def do_log_softmax(self, x: Any, axis: Any = None) -> Any:
        """Write the logarithm of that."""
        return self.elements("subtract", x, self.do_logsumexp(x, axis, True))

    def do_expit(self, x: Any) -> Any:
        """Write the logistic function."""
        return self.elements(
            "divide", 1.0, self.elements("add", 1.0, self.elements("exp", self.elements("negative", x)))
        )
