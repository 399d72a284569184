"""Functions of single elements, conversions and new arrays, written down. In the import's own process only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from imports.traced_array import NotFollowed, Tape, TracedArray
from tasks import special_functions
from tasks.working_numpy import is_real

BINARY = {
    **{"add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "true_divide": "div"},
    **{"fmod": "fmod", "remainder": "remainder", "mod": "remainder", "arctan2": "atan2"},
    **{"maximum": "maximum", "minimum": "minimum", "fmax": "maximum", "fmin": "minimum"},
    **{"equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge"},
    **{"bitwise_and": "bitwise_and", "bitwise_or": "bitwise_or", "bitwise_xor": "bitwise_xor"},
    **{"left_shift": "bitwise_left_shift", "right_shift": "bitwise_right_shift"},
}
UNARY = {
    **{name: name for name in ("exp", "log", "log1p", "log2", "log10", "expm1", "sqrt", "tanh", "sin", "cos", "tan")},
    **{"sinh": "sinh", "cosh": "cosh", "arctan": "atan", "floor": "floor", "ceil": "ceil", "trunc": "trunc"},
    **{"rint": "round", "sign": "sign", "negative": "neg", "isnan": "isnan", "isinf": "isinf", "erf": "erf"},
    **{"absolute": "abs", "abs": "abs", "fabs": "abs", "reciprocal": "reciprocal", "fix": "trunc"},
}
LOGICAL = {"logical_and": "bitwise_and", "logical_or": "bitwise_or", "logical_xor": "bitwise_xor"}


class TracedElements:
    """The part of NumPy that works element by element."""

    tape: Tape

    def of(self, value: Any) -> TracedArray:
        """Return a value as an array: a number, or numbers and arrays in lists."""
        if isinstance(value, TracedArray):
            return value
        if isinstance(value, (list, tuple)) and any(isinstance(v, (TracedArray, list, tuple)) for v in value):
            stacked: TracedArray = self.called("stack", ([self.of(v) for v in value],), {})
            return stacked
        array = np.asarray(value)
        if array.dtype.kind not in "fiub":
            raise NotFollowed(f"values of the type {array.dtype} have no generated kernel yet")
        if array.size > 1 and len(set(array.reshape(-1).tolist())) == 1:
            return self.filled(array.shape, array.reshape(-1)[0], array.dtype)
        return self.tape.emit("constant", (array.tolist(),), array)

    def called(self, name: str, inputs: Sequence[Any], options: Any) -> Any:
        """Call a function by its name; set where all of them stand together."""
        raise NotImplementedError

    def numbers(self, value: Any) -> Any:
        """Return the numbers of an array in this run; of others what they are."""
        return value.value if isinstance(value, TracedArray) else value

    def dtype_of(self, dtype: Any) -> np.dtype[Any]:
        """Return the type that stands for one that a text asks for."""
        wanted = np.dtype(dtype)
        return self.tape.real if is_real(wanted) else wanted

    def cast(self, value: Any, dtype: Any) -> TracedArray:
        """Convert to another type, where it is one."""
        array, wanted = self.of(value), self.dtype_of(dtype)
        if array.dtype == wanted:
            return array
        if wanted.kind == "b":
            return self.elements("not_equal", array, 0)
        return self.tape.emit("aten._to_copy.default", (array,), array.value.astype(wanted))

    def is_true(self, value: Any) -> TracedArray:
        """Convert to booleans."""
        return self.cast(value, bool)

    def broadcast(self, value: Any, shape: Sequence[int]) -> TracedArray:
        """Return the values in a shape that they are repeated in."""
        array = self.of(value)
        if array.shape == tuple(shape):
            return array
        expanded = np.broadcast_to(array.value, shape)
        return self.tape.emit("aten.expand.default", (array, list(shape)), expanded)

    def filled(self, shape: Any, value: Any, dtype: Any) -> TracedArray:
        """Return an array of one number."""
        extents = [int(n) for n in (shape if isinstance(shape, (tuple, list)) else (shape,))]
        wanted = self.dtype_of(dtype)
        if isinstance(value, TracedArray):
            return self.cast(self.broadcast(value, extents), wanted).copy()
        array = np.full(extents, value, np.float64 if wanted.kind == "f" else wanted)
        return self.tape.emit("aten.full.default", (extents, array.dtype.type(value)), array)

    def elements(self, name: str, *operands: Any) -> TracedArray:
        """Apply a function of one or two elements that a kernel has."""
        pair = [o if _is_number(o) else self.of(o) for o in operands]
        if name in ("divide", "true_divide"):  # of whole numbers: not rounded
            pair = [self.cast(o, float) if isinstance(o, TracedArray) else o for o in pair]
        function = special_functions.erf if name == "erf" else getattr(np, name)
        with np.errstate(all="ignore"):
            value = np.asarray(function(*(self._wide(o) for o in pair)))
        suffix = "Tensor" if len(pair) > 1 else "default"
        return self.tape.emit(f"aten.{(BINARY | UNARY | LOGICAL)[name]}.{suffix}", pair, value)

    def _wide(self, operand: Any) -> Any:
        value = self.numbers(operand)
        if isinstance(value, np.ndarray):
            return value.astype(np.float64) if value.dtype.kind == "f" else value
        return value.item() if isinstance(value, np.generic) else value

    def do_power(self, x: Any, power: Any) -> Any:
        """Write small whole powers as products."""
        if isinstance(power, np.generic):
            power = power.item()
        if _is_number(power) and isinstance(x, TracedArray):
            if power in (2, 3, 4):
                square = self.elements("multiply", x, x)
                return square if power == 2 else self.elements("multiply", square, x if power == 3 else square)
            if power == 1:
                return x.copy()
            if x.dtype.kind == "f" and power in (0.5, -0.5, -1, -2):
                base = self.elements("sqrt", x) if power in (0.5, -0.5) else x
                base = self.elements("multiply", x, x) if power == -2 else base
                return base if power == 0.5 else self.elements("divide", 1.0, base)
        pair = [o if _is_number(o) else self.of(o) for o in (x, power)]
        value = np.power(*(self._wide(o) for o in pair))
        return self.tape.emit("aten.pow.Tensor_Tensor", pair, value)

    do_float_power = do_power

    def do_square(self, x: Any) -> Any:
        """Write a product."""
        return self.elements("multiply", x, x)

    def do_exp2(self, x: Any) -> Any:
        """Write an exponential of a product."""
        return self.elements("exp", self.elements("multiply", x, math.log(2)))

    def do_positive(self, x: Any) -> Any:
        """Return a copy."""
        return self.of(x).copy()

    def do_floor_divide(self, x: Any, y: Any) -> Any:
        """Write a division that is rounded down."""
        pair = [o if _is_number(o) else self.of(o) for o in (x, y)]
        value = np.floor_divide(*(self._wide(o) for o in pair))
        return self.tape.emit("aten.div.Tensor_mode", pair, value, rounding_mode="floor")

    def do_invert(self, x: Any) -> Any:
        """Write the other truth, or the other bits."""
        array = self.of(x)
        return self.do_logical_not(x) if array.dtype.kind == "b" else self.elements("bitwise_xor", x, -1)

    do_bitwise_not = do_bitwise_invert = do_invert

    def do_logical_not(self, x: Any) -> Any:
        """Write the other truth."""
        array = self.is_true(x)
        return self.tape.emit("aten.logical_not.default", (array,), ~array.value)

    def logical(self, name: str, *operands: Any) -> Any:
        """Write a function of truths."""
        first, second = (self.is_true(o) for o in operands)
        value = getattr(np, name)(first.value, second.value)
        return self.tape.emit(f"aten.{LOGICAL[name]}.Tensor", (first, second), value)

    def do_isfinite(self, x: Any) -> Any:
        """Write a comparison, which nothing that is no number passes."""
        return self.elements("less", self.elements("absolute", x), math.inf)

    def do_hypot(self, x: Any, y: Any) -> Any:
        """Write the root of a sum of squares."""
        return self.elements("sqrt", self.elements("add", self.do_square(x), self.do_square(y)))

    def do_logaddexp(self, x: Any, y: Any) -> Any:
        """Write it by the larger of both."""
        distance = self.elements("negative", self.elements("absolute", self.elements("subtract", x, y)))
        return self.elements(
            "add", self.elements("maximum", x, y), self.elements("log1p", self.elements("exp", distance))
        )

    def do_heaviside(self, x: Any, middle: Any) -> Any:
        """Write it by comparisons."""
        return self.do_where(self.elements("equal", x, 0), middle, self.cast(self.elements("greater", x, 0), float))

    def do_round(self, a: Any, decimals: int = 0) -> Any:
        """Write a rounding to even."""
        if decimals == 0:
            return self.elements("rint", a)
        scaled = self.elements("multiply", a, float(10.0**decimals))
        return self.elements("divide", self.elements("rint", scaled), float(10.0**decimals))

    do_around = do_round

    def do_where(self, condition: Any, *choices: Any) -> Any:
        """Write a choice."""
        if len(choices) != 2:
            raise NotFollowed("np.where of a condition alone has as many results as it has truths")
        test = self.is_true(condition)
        pair = [c if _is_number(c) else self.of(c) for c in choices]
        value = np.where(test.value, *(self._wide(c) for c in pair))
        kinds = {np.asarray(self._wide(c)).dtype.kind for c in pair}
        arrays = [self.cast(c, value.dtype) if isinstance(c, TracedArray) and len(kinds) > 1 else c for c in pair]
        if value.shape != test.shape and not any(isinstance(a, TracedArray) and a.shape == value.shape for a in arrays):
            test = self.broadcast(test, value.shape)
        return self.tape.emit("aten.where.self", (test, *arrays), value)

    def do_clip(self, a: Any, a_min: Any = None, a_max: Any = None, **options: Any) -> Any:
        """Write the larger and the smaller of two."""
        low, high = options.get("min", a_min), options.get("max", a_max)
        clipped = a if low is None else self.elements("maximum", a, low)
        return clipped if high is None else self.elements("minimum", clipped, high)

    def do_copyto(self, dst: TracedArray, src: Any) -> None:
        """Write into an array."""
        dst.assign(src)

    def do_zeros(self, shape: Any, dtype: Any = float, order: str = "C") -> Any:
        """Write zeros."""
        return self.filled(shape, 0, dtype)

    do_empty = do_zeros  # what is not written counts as zero: the comparison with the text shows what reads it

    def do_ones(self, shape: Any, dtype: Any = float, order: str = "C") -> Any:
        """Write ones."""
        return self.filled(shape, 1, dtype)

    def do_full(self, shape: Any, fill_value: Any, dtype: Any = None) -> Any:
        """Write one number everywhere."""
        return self.filled(shape, fill_value, np.asarray(self.numbers(fill_value)).dtype if dtype is None else dtype)

    def do_full_like(self, a: Any, fill_value: Any, dtype: Any = None, shape: Any = None) -> Any:
        """Write one number everywhere, in the shape of another array."""
        array = self.of(a)
        return self.filled(array.shape if shape is None else shape, fill_value, dtype or array.dtype)

    def do_zeros_like(self, a: Any, dtype: Any = None, shape: Any = None, **options: Any) -> Any:
        """Write zeros in the shape of another array."""
        return self.do_full_like(a, 0, dtype, shape)

    do_empty_like = do_zeros_like

    def do_ones_like(self, a: Any, dtype: Any = None, shape: Any = None, **options: Any) -> Any:
        """Write ones in the shape of another array."""
        return self.do_full_like(a, 1, dtype, shape)

    def do_arange(self, start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Any:
        """Write numbers in steps."""
        first, last = (0, start) if stop is None else (start, stop)
        first, last, step = (v.item() if isinstance(v, (np.generic, TracedArray)) else v for v in (first, last, step))
        value = np.arange(first, last, step)
        if value.dtype.kind == "f":
            count = self.do_arange(len(value))
            return self.elements("add", self.elements("multiply", self.cast(count, float), float(step)), float(first))
        array = self.tape.emit("aten.arange.start_step", (first, last, step), value)
        return array if dtype is None else self.cast(array, dtype)

    def do_linspace(self, start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None) -> Any:
        """Write numbers at equal distances."""
        step = (stop - start) / max(1, num - 1 if endpoint else num)
        return self.elements("add", self.elements("multiply", self.cast(self.do_arange(num), float), step), start)

    def do_eye(self, N: int, M: int | None = None, k: int = 0, dtype: Any = float) -> Any:
        """Write a comparison of places."""
        row, column = self.do_arange(N), self.do_arange(N if M is None else M)
        shifted = self.elements("add", row, k) if k else row
        return self.cast(self.elements("equal", shifted[:, None], column[None, :]), dtype)

    def do_identity(self, n: int, dtype: Any = float) -> Any:
        """Write a comparison of places."""
        return self.do_eye(n, dtype=dtype)

    def do_tri(self, N: int, M: int | None = None, k: int = 0, dtype: Any = float) -> Any:
        """Write a comparison of places."""
        row, column = self.do_arange(N), self.do_arange(N if M is None else M)
        shifted = self.elements("add", row, k) if k else row
        return self.cast(self.elements("greater_equal", shifted[:, None], column[None, :]), dtype)

    def do_array(self, object: Any, dtype: Any = None, **options: Any) -> Any:
        """Copy an array, or make one of lists."""
        array = self.of(object)
        return array.copy() if dtype is None else self.cast(array.copy(), dtype)

    def do_asarray(self, a: Any, dtype: Any = None, **options: Any) -> Any:
        """Return the array itself, or make one of lists."""
        array = self.of(a)
        return array if dtype is None else self.cast(array, dtype)

    do_asanyarray = do_ascontiguousarray = do_asarray

    def do_copy(self, a: Any, *arguments: Any, **options: Any) -> Any:
        """Return a copy."""
        return self.of(a).copy()


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, np.generic)) and not isinstance(value, np.str_)
