"""NumPy in which every floating type is the one that is worked in: a text for float32, executed in float64.

A text asks for types in many ways: `np.float32(0.1)`, `x.astype("f4")`, `np.zeros(n)`, which is float64. In double
precision all of them are float64, so that nothing narrows the reference; in single precision all are float32, so that
no default widens the standard implementation. Whole numbers, booleans and shapes stay what they are.
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import ml_dtypes
import numpy as np

from tasks import special_functions
from tasks.dtypes import Array
from tasks.in_order import InOrder

TYPED = ("sum", "mean", "prod", "std", "var", "cumsum", "cumprod", "trace")  # methods that take a type
WRITTEN = ("float16", "float32", "float64", "half", "single", "double", "f2", "f4", "f8", "<f4", "<f8", "float")
STANDING_IN = {"scipy": "scipy.special", "scipy.special": "scipy.special"}  # where the package is not installed
BITS = "it reads the bits of floating numbers as another type, and in double precision they are others"


class WorkingArray(np.ndarray[Any, np.dtype[Any]]):
    """An array whose results have the one floating type of its class."""

    real_type: ClassVar[type[np.floating[Any]]] = np.float64
    complex_type: ClassVar[type[np.complexfloating[Any, Any]]] = np.complex128
    plain_class: ClassVar[type[Array]] = np.ndarray

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Apply the ufunc to plain arrays, and give its results the working type."""
        return self.applied(ufunc, method, inputs, options)

    @classmethod
    def applied(cls, ufunc: np.ufunc, method: str, inputs: Sequence[Any], options: Mapping[str, Any]) -> Any:
        """Apply a method of a ufunc; the exponential of eight bits, which NumPy gives in 16, in the working type."""
        arguments, plain_options = [cls.plain(x) for x in inputs], cls.options(options)
        results = getattr(ufunc, method)(*arguments, **plain_options)
        if method == "__call__" and "out" not in options and cls.is_narrow(results):
            results = ufunc(*arguments, **{**plain_options, "dtype": cls.real_type})
        return cls.working(results)

    @classmethod
    def is_narrow(cls, result: Any) -> bool:
        """Tell whether a result has a floating type below the working one."""
        return (
            isinstance(result, np.ndarray | np.generic)
            and result.dtype.itemsize < np.dtype(cls.real_type).itemsize
            and is_real(result.dtype)
        )

    @classmethod
    def dtype_of(cls, dtype: Any) -> Any:
        """Return the type that stands for one that a text asks for."""
        if dtype is None:
            return None
        wanted = np.dtype(dtype)
        return np.dtype(cls.real_type if is_real(wanted) else cls.complex_type if wanted.kind == "c" else wanted)

    @classmethod
    def options(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of a call with plain arrays and working types."""
        changed = {name: cls.plain(value) for name, value in options.items()}
        return changed if changed.get("dtype") is None else {**changed, "dtype": cls.dtype_of(changed["dtype"])}

    @classmethod
    def plain(cls, value: Any) -> Any:
        """Return a value, or the values of a list, without this class."""
        if isinstance(value, WorkingArray):
            return value.view(cls.plain_class)
        return type(value)(map(cls.plain, value)) if type(value) in (list, tuple) else value

    @classmethod
    def working(cls, value: Any) -> Any:
        """Return a value, or the values of a list, in the working type."""
        if type(value) in (list, tuple):
            return type(value)(map(cls.working, value))
        if isinstance(value, np.generic):
            return cls.dtype_of(value.dtype).type(value) if is_floating(value.dtype) else value
        if isinstance(value, np.ndarray) and value.dtype.kind != "O":
            array = np.asarray(value)
            return (array.astype(cls.dtype_of(array.dtype), copy=False)).view(cls)
        return value

    def astype(self, dtype: Any, *arguments: Any, **options: Any) -> Any:
        """Convert to the type that stands for this one."""
        return super().astype(self.dtype_of(dtype), *arguments, **options)

    def view(self, *arguments: Any, **options: Any) -> Any:
        """Return a view of another class; TypeError for one of the bits, which are others here."""
        wanted = options.get("dtype", arguments[0] if arguments else None)
        if wanted is not None and not (isinstance(wanted, type) and issubclass(wanted, np.ndarray)):
            if is_floating(self.dtype) != is_floating(np.dtype(wanted)):
                raise TypeError(BITS)
            return super().view(self.dtype_of(wanted))
        return super().view(*arguments, **options)

    def _typed(self, name: str, *arguments: Any, **options: Any) -> Any:
        kind = type(self)
        return kind.working(getattr(kind.plain(self), name)(*kind.plain(arguments), **kind.options(options)))


def _method(name: str) -> Callable[..., Any]:
    def method(self: WorkingArray, *arguments: Any, **options: Any) -> Any:
        return self._typed(name, *arguments, **options)

    return method


for _name in TYPED:
    setattr(WorkingArray, _name, _method(_name))


class DoubleArray(WorkingArray):
    """In float64."""


class StrictDoubleArray(DoubleArray):
    """In float64; FloatingPointError where what is no number becomes a whole one, which is another on each machine."""

    def astype(self, dtype: Any, *arguments: Any, **options: Any) -> Any:
        """Convert to the type that stands for this one."""
        if np.dtype(dtype).kind in "iu" and is_real(self.dtype) and not np.isfinite(np.asarray(self)).all():
            raise FloatingPointError("what is no number becomes a whole one")
        return super().astype(dtype, *arguments, **options)


class SingleArray(WorkingArray):
    """In float32."""

    real_type = np.float32
    complex_type = np.complex64


class SingleArrayInOrder(SingleArray):
    """In float32, with sums from the first element to the last."""

    plain_class = InOrder


def is_real(dtype: np.dtype[Any]) -> bool:
    """Tell whether a type is a floating one, those of ml_dtypes included."""
    return dtype.kind == "f" or (dtype.type.__module__ == ml_dtypes.__name__ and "float" in dtype.name)


def is_floating(dtype: np.dtype[Any]) -> bool:
    """Tell whether a type holds real or complex numbers that are rounded."""
    return dtype.kind == "c" or is_real(dtype)


class WorkingFunction:
    """A function of NumPy that works in one floating type; its methods too, such as `np.add.reduce`."""

    def __init__(self, function: Callable[..., Any], kind: type[WorkingArray]) -> None:
        self._function, self._kind = function, kind

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Call it on plain arrays."""
        given = self._kind.plain([_as_type(a, self._kind) for a in arguments])
        if isinstance(self._function, np.ufunc):
            return self._kind.applied(self._function, "__call__", given, options)
        return self._kind.working(self._function(*given, **self._kind.options(options)))

    def __getattr__(self, name: str) -> Any:
        """Return a method of a ufunc, or what else the function has."""
        value = getattr(self._function, name)
        return WorkingFunction(value, self._kind) if callable(value) else value


def _as_type(argument: Any, kind: type[WorkingArray]) -> Any:
    """Replace a floating type that stands among the arguments: `np.zeros(n, np.float32)`, `np.full(n, 0, "f4")`."""
    if isinstance(argument, str):
        return kind.dtype_of(argument) if argument in WRITTEN else argument
    is_type = isinstance(argument, np.dtype) or (
        isinstance(argument, type) and issubclass(argument, np.generic | float)
    )
    return kind.dtype_of(argument) if is_type else argument


class WorkingModule:
    """A module of NumPy, or ml_dtypes, in one floating type."""

    def __init__(self, module: Any, kind: type[WorkingArray], precise: np.dtype[Any], random: Any = None) -> None:
        """`precise` is the type of `finfo`; `random` stands for `np.random`."""
        self._module, self._kind, self._precise, self._random = module, kind, precise, random

    def __getattr__(self, name: str) -> Any:
        """Return a name of the module."""
        value = getattr(self._module, name)
        if isinstance(value, types.ModuleType):
            if name == "random" and self._random is not None:
                return self._random
            return WorkingModule(value, self._kind, self._precise)
        if name == "finfo":
            return lambda _: np.finfo(self._precise)
        if isinstance(value, type):
            is_type = issubclass(value, np.generic) and is_floating(np.dtype(value))
            return self._kind.dtype_of(value).type if is_type else value
        is_function = callable(value) and not hasattr(value, "__origin__")  # an annotation's type can be called, too
        return WorkingFunction(value, self._kind) if is_function else value


def importing(stand_in: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return an `__import__` that gives what `stand_in` makes of NumPy, ml_dtypes and SciPy's special functions."""

    def find(
        name: str, globals: Any = None, locals: Any = None, fromlist: Sequence[str] | None = (), level: int = 0
    ) -> Any:
        package = name.partition(".")[0]
        if package == "scipy":
            return _scipy(name, fromlist or ())
        module = builtins.__import__(name, globals, locals, fromlist or (), level)
        return stand_in(module) if package in ("numpy", "ml_dtypes") and not level else module

    def _scipy(name: str, names: Sequence[str]) -> Any:
        special = stand_in(special_functions)
        if name == "scipy.special" and names:
            return special
        if name in STANDING_IN and (not names or set(names) <= {"special"}):
            return types.SimpleNamespace(special=special)
        raise ModuleNotFoundError(f"No module named {name!r}: of SciPy only scipy.special stands here")

    return find
