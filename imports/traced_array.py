"""An array of NumPy whose operations are written down as a graph's. In the import's own process only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from imports.graph import Operation, Ref
from imports.names import free_name
from imports.node_arguments import plain
from imports.refusal import ImportRefused
from tasks.dtypes import NUMPY, Array

NAMES = {dtype: name for name, dtype in NUMPY.items()}
VALUES = "its operations depend on the values of its inputs"


class NotFollowed(ImportRefused):
    """Something whose operations are not known."""


@dataclass
class Tape:
    """The operations of one run, in their order."""

    real: np.dtype[Any]  # that all floating values have
    taken: set[str]  # names that no value may have
    nodes: list[Operation] = field(default_factory=list)
    numpy: Any = None  # what stands for NumPy

    def emit(self, op: str, arguments: Sequence[Any], value: Any, **options: Any) -> TracedArray:
        """Write one operation down, whose result has these values."""
        array = np.asarray(value)
        name = self._write(op, arguments, options, array.shape, self.type_of(array.dtype))
        return TracedArray(self, name, array, _are_known(arguments))

    def parts(self, op: str, arguments: Sequence[Any], values: Sequence[Any]) -> list[TracedArray]:
        """Write one operation of several results down."""
        whole = Ref(self._write(op, arguments, {}, (), ""))
        known = _are_known(arguments)
        arrays = [np.asarray(value) for value in values]
        names = [self._write("getitem", (whole, i), {}, a.shape, self.type_of(a.dtype)) for i, a in enumerate(arrays)]
        return [TracedArray(self, n, a, known) for n, a in zip(names, arrays, strict=True)]

    def type_of(self, dtype: np.dtype[Any]) -> str:
        """Return the task's name of a type; NotFollowed for one that tasks do not have."""
        if dtype.kind == "f" or dtype not in NAMES:
            if dtype.kind != "f":
                raise NotFollowed(f"values of the type {dtype} have no generated kernel yet")
            return NAMES[self.real]
        return NAMES[dtype]

    def _write(
        self, op: str, arguments: Sequence[Any], options: dict[str, Any], shape: tuple[int, ...], dtype: str
    ) -> str:
        name = free_name(f"{plain(op).strip('_')}_{len(self.nodes)}", self.taken)
        args, kwargs = tuple(_argument(a) for a in arguments), {n: _argument(a) for n, a in options.items()}
        self.nodes.append(Operation(name, op, args, kwargs, shape, dtype))
        return name


def _argument(value: Any) -> Any:
    if isinstance(value, TracedArray):
        return Ref(value.name)
    if isinstance(value, (list, tuple)):
        return [_argument(v) for v in value]
    return value.item() if isinstance(value, np.generic) else value


def _are_known(values: Sequence[Any]) -> bool:
    traced = [v for v in flat(values) if isinstance(v, TracedArray)]
    return all(v.is_known for v in traced)


def flat(values: Any) -> Iterator[Any]:
    """Yield what lists and tuples hold, at any depth."""
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from flat(value)
        else:
            yield value


class TracedArray(np.lib.mixins.NDArrayOperatorsMixin):
    """A value of the graph, with the numbers of this run: its shape and type count, its numbers where they are known.

    An index without arrays gives a view: what is written to it is written to the whole, and the other way.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, tape: Tape, name: str, value: Array, is_known: bool = False) -> None:
        """`is_known`: the numbers follow from no input."""
        self.tape, self.is_known = tape, is_known
        self._name, self._value = name, value
        self._whole: tuple[TracedArray, Any] | None = None
        self._version = self._seen = 0

    @property
    def numpy(self) -> Any:
        """What stands for NumPy."""
        return self.tape.numpy

    @property
    def name(self) -> str:
        """The name of the value, as it is by now."""
        self._look()
        return self._name

    @property
    def value(self) -> Array:
        """The numbers of this run."""
        self._look()
        return self._value

    def _look(self) -> None:
        if self._whole is not None:
            whole, key = self._whole
            whole._look()
            if whole._version != self._seen:
                view = self.numpy.index(whole, key)
                self._name, self._value, self._seen = view._name, view._value, whole._version
                self._version += 1

    def as_view(self, whole: TracedArray, key: Any) -> TracedArray:
        """Return it as a view of another."""
        self._whole, self._seen = (whole, key), whole._version
        return self

    def assign(self, other: Any) -> TracedArray:
        """Take the values of another, in this one's shape and type."""
        self._look()
        new = self.numpy.cast(self.numpy.broadcast(other, self.shape), self.dtype)
        if self._whole is not None:
            whole, key = self._whole
            whole[key] = new
            self._look()
            return self
        self._name, self._value, self.is_known = new.name, new.value, self.is_known and new.is_known
        self._version += 1
        return self

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Apply a ufunc, or a method of one."""
        name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        return self.numpy.called(name, inputs, options)

    def __array_function__(self, function: Callable[..., Any], types: Any, inputs: Any, options: Any) -> Any:
        """Apply another function."""
        return self.numpy.called(function.__name__, inputs, options)

    def __array__(self, *arguments: Any, **options: Any) -> Array:
        """Return the numbers, where they follow from no input."""
        if not self.is_known:
            raise NotFollowed(VALUES)
        return self.value

    def __getitem__(self, key: Any) -> Any:
        """Return the elements at an index."""
        if isinstance(key, TracedArray) and key.dtype.kind == "b":
            return self.numpy.masked(self, key)
        view = self.numpy.index(self, key)
        is_view = not any(
            isinstance(k, TracedArray | np.ndarray | list) for k in (key if type(key) is tuple else (key,))
        )
        return view.as_view(self, key) if is_view else view

    def __setitem__(self, key: Any, value: Any) -> None:
        """Write elements at an index."""
        self.assign(self.numpy.written(self, key, value))

    def __len__(self) -> int:
        """Return the first extent."""
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator[TracedArray]:
        """Yield its rows."""
        return (self[i] for i in range(len(self)))

    def _number(self) -> Any:
        if not self.is_known or self.value.size != 1:
            raise NotFollowed(VALUES)
        return self.value.item()

    def __bool__(self) -> bool:
        """Return its one truth, where it follows from no input."""
        return bool(self._number())

    def __int__(self) -> int:
        """Return its one number, where it follows from no input."""
        return int(self._number())

    def __float__(self) -> float:
        """Return its one number, where it follows from no input."""
        return float(self._number())

    def __index__(self) -> int:
        """Return its one number, where it follows from no input."""
        if self.dtype.kind not in "iu":
            raise TypeError("only whole numbers are an index")
        return int(self._number())

    def item(self) -> Any:
        """Return its one number, where it follows from no input."""
        return self._number()

    def tolist(self) -> Any:
        """Return its numbers, where they follow from no input."""
        return self.__array__().tolist()

    @property
    def shape(self) -> tuple[int, ...]:
        """Its extents."""
        return tuple(self.value.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Its type."""
        return self.tape.real if self.value.dtype.kind == "f" else self.value.dtype

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return self.value.ndim

    @property
    def size(self) -> int:
        """How many elements it has."""
        return self.value.size

    @property
    def T(self) -> TracedArray:
        """Its axes in reverse."""
        return self.numpy.called("transpose", (self,), {})  # type: ignore[no-any-return]

    @property
    def mT(self) -> TracedArray:
        """Its last two axes exchanged."""
        return self.numpy.called("swapaxes", (self, -1, -2), {})  # type: ignore[no-any-return]

    @property
    def real(self) -> TracedArray:
        """Itself."""
        return self

    def astype(self, dtype: Any, *arguments: Any, **options: Any) -> TracedArray:
        """Convert to another type; all floating ones are one."""
        return self.numpy.cast(self.copy(), dtype)  # type: ignore[no-any-return]

    def copy(self, *arguments: Any) -> TracedArray:
        """Return the same values, apart from this one."""
        return TracedArray(self.tape, self.name, self.value, self.is_known)

    def fill(self, value: Any) -> None:
        """Write one value everywhere."""
        self.assign(value)

    def reshape(self, *shape: Any, **options: Any) -> TracedArray:
        """Return the values in another shape."""
        extents = shape[0] if len(shape) == 1 else shape
        return self.numpy.called("reshape", (self, extents), {})  # type: ignore[no-any-return]

    def transpose(self, *axes: Any) -> TracedArray:
        """Return the values with other axes."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        return self.numpy.called("transpose", (self, order) if order else (self,), {})  # type: ignore[no-any-return]

    def __getattr__(self, name: str) -> Any:
        """Return a method that is a function of NumPy as well: sum, mean, clip, dot and others."""
        if name.startswith("_") or not hasattr(np.ndarray, name):
            raise AttributeError(f"'numpy.ndarray' object has no attribute {name!r}")
        return lambda *arguments, **options: self.numpy.called(name, (self, *arguments), options)
