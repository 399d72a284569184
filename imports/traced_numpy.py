"""What stands for NumPy while its operations are written down. In the import's own process only."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from imports.traced_array import NotFollowed, Tape, TracedArray, flat
from imports.traced_elements import BINARY, LOGICAL, UNARY
from imports.traced_products import TracedProducts
from imports.traced_reductions import METHODS, REDUCED
from tasks.working_numpy import is_floating

ALIASES = {"amax": "max", "amin": "min", "product": "prod", "nanmax": "max", "alltrue": "all", "pow": "power"}
ALIASES |= {"conjugate": "positive", "conj": "positive", "real": "positive", "atan2": "arctan2", "atan": "arctan"}
NEW = frozenset(
    [
        "zeros",
        "ones",
        "empty",
        "full",
        "arange",
        "linspace",
        "eye",
        "identity",
        "tri",
        "array",
        "asarray",
        "asanyarray",
        "ascontiguousarray",
        "stack",
        "concatenate",
        "vstack",
        "hstack",
    ]
)  # also of plain lists


class TracedNumpy(TracedProducts):
    """NumPy's functions on traced arrays; NotFollowed for one that a generated kernel does not know."""

    def __init__(self, tape: Tape) -> None:
        """Write to this tape."""
        self.tape = tape
        tape.numpy = self

    def called(self, name: str, inputs: Sequence[Any], options: Any) -> Any:
        """Call a function by its name, or a method of one as `add.reduce`."""
        given = dict(options)
        into, dtype = given.pop("out", None), None
        name = ALIASES.get(name, name)
        if name in BINARY or name in UNARY or name in LOGICAL:
            dtype = given.pop("dtype", None)
            if given.pop("where", True) is not True or given.keys() - {"casting", "order", "subok"}:
                raise NotFollowed(f"np.{name} with such options has no generated kernel yet")
            given = {}
        result = self._result(name, inputs, given)
        result = result if dtype is None else self.cast(result, dtype)
        target = into[0] if isinstance(into, tuple) else into
        if isinstance(target, TracedArray):
            return target.assign(result)
        return result

    def _result(self, name: str, inputs: Sequence[Any], options: Mapping[str, Any]) -> Any:
        head, _, method = name.partition(".")
        if method:
            return self._method(head, method, inputs, options)
        if name in LOGICAL:
            return self.logical(name, *inputs)
        if name in REDUCED:
            return self.reduced(name, *inputs, **options)
        handler = getattr(self, f"do_{name}", None)
        if handler is not None:
            return handler(*inputs, **options)
        if name in BINARY or name in UNARY:
            return self.elements(name, *inputs)
        raise NotFollowed(f"np.{name} has no generated kernel yet")

    def _method(self, name: str, method: str, inputs: Sequence[Any], options: Mapping[str, Any]) -> Any:
        """Apply `reduce`, `accumulate`, `outer` or `at` of a ufunc."""
        if method == "reduce" and name in METHODS:
            given = {"axis": 0, **dict(zip(("axis", "dtype"), inputs[1:], strict=False)), **options}
            return self.reduced(METHODS[name], inputs[0], **given)
        if method == "reduce" and name == "logaddexp":
            return self.do_logsumexp(inputs[0], **{"axis": 0, **options})
        if method == "accumulate" and name in ("add", "multiply"):
            axis = inputs[1] if len(inputs) > 1 else options.get("axis", 0)
            return self.running("cumsum" if name == "add" else "cumprod", inputs[0], axis)
        if method == "outer":
            first, second = self.of(inputs[0]), self.of(inputs[1])
            wide = first.reshape([*first.shape, *[1] * second.ndim])
            return self.called(name, (wide, second), options)
        if method == "at" and name == "add":
            return self.added_at(inputs[0], *inputs[1:])
        raise NotFollowed(f"np.{name}.{method} has no generated kernel yet")


class TracedFunction:
    """A function of NumPy, written down where an argument is traced or it makes an array."""

    def __init__(self, name: str, function: Any, numpy: TracedNumpy) -> None:
        self._name, self._function, self._numpy = name, function, numpy

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        """Call it."""
        given = [*inputs, *options.values()]
        is_new = self._name in NEW
        if is_new or any(isinstance(v, TracedArray) for v in flat(given)):
            return self._numpy.called(self._name, inputs, options)
        result = self._function(*inputs, **options)
        return self._numpy.of(result) if isinstance(result, np.ndarray) and result.dtype.kind in "fiub" else result

    def __getattr__(self, name: str) -> Any:
        """Return a method of a ufunc, or what else the function has."""
        value = getattr(self._function, name)
        return TracedFunction(f"{self._name}.{name}", value, self._numpy) if callable(value) else value


class TracedModule:
    """A module of NumPy whose functions are written down."""

    def __init__(self, module: Any, numpy: TracedNumpy) -> None:
        self._module, self._numpy = module, numpy

    def __getattr__(self, name: str) -> Any:
        """Return a name of the module."""
        value = getattr(self._module, name)
        if name == "ndarray":
            return TracedArray
        if isinstance(value, types.ModuleType):
            return TracedModule(value, self._numpy)
        if name == "finfo":
            return lambda _: np.finfo(self._numpy.tape.real)
        if isinstance(value, type):
            is_type = issubclass(value, np.generic) and is_floating(np.dtype(value))
            return self._numpy.tape.real.type if is_type else value
        is_function = callable(value) and not hasattr(value, "__origin__")  # an annotation's type can be called, too
        return TracedFunction(name, value, self._numpy) if is_function else value
