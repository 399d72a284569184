"""The outputs that a reference admits whose values are rounded to integers on the way.

Near a tie the last place of float32 decides to which integer a value goes, and so does the order of the operations
before it: two right kernels differ by a whole step there. So the error-ratio rule (tasks/compare.py) is applied where
the rounding takes place: the value before it may be off by `ratio` times the standard implementation's own error there
and by a few units of float32, at most half a step. The reference is computed with every such value moved down, up, away
from zero, towards it, and at random; an output may be whatever lies between. That holds for codes of a quantised tensor
as for all that is computed with them, in any reference: the calls of NumPy that round are found by executing it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from tasks.dtypes import Array, to_float64

Function = Callable[[Any, Any], dict[str, Array]]
Direction = Callable[[Array], Array | float]  # from values to where each is moved, -1 to 1

UNITS = 4.0  # of float32's last place that a value before its rounding may be off: eight correctly rounded operations
STEP = 0.5  # that a value is moved at most
WHOLE = 2.0**23  # from which on every float32 is an integer
LEAST, MOST = -64, 24  # binary exponents that are told apart
TIE = 2.0**-40  # of its size by which a value is moved that only an exact tie shall turn
RANDOM = 2  # further runs, each value moved either way: flips that cancel one another in a sum are seen there
DIRECTIONS: tuple[Direction, ...] = (lambda x: -1.0, lambda x: 1.0, np.sign, lambda x: -np.sign(x))
ROUNDINGS = (np.rint, np.floor, np.ceil, np.trunc)


@dataclass(frozen=True)
class Admitted:
    """What an output may be: from `low` to `high`, float64 in its shape; `tied` where exact ties decide, and count."""

    low: Array
    high: Array
    tied: Array | None = None

    def nearest(self, values: Array, reference: Array) -> Array:
        """Give the admitted value nearest to each of these, float64; the reference's where it alone is admitted."""
        with np.errstate(invalid="ignore"):
            near = np.clip(to_float64(values), self.low, self.high)
        return np.asarray(np.where((self.low < self.high) & np.isfinite(near), near, to_float64(reference)))

    def each(self, change: Callable[[Array], Array]) -> Admitted:
        """Change every array in the same way, as a selection of the elements does."""
        return Admitted(change(self.low), change(self.high), None if self.tied is None else change(self.tied))


class RoundingWatcher(Protocol):
    """Sees each value before it is rounded, and may give another one."""

    def __call__(self, values: Array) -> Array:
        """Return the float64 values to round in place of these."""
        ...


_watcher: ContextVar[RoundingWatcher] = ContextVar("watcher")


@contextmanager
def _watched(watcher: RoundingWatcher) -> Iterator[None]:
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


class Watched(np.ndarray[Any, np.dtype[Any]]):
    """An array whose roundings are watched; all that is computed with it is one too."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Apply the ufunc to plain arrays, a rounding to what the watcher gives."""
        plain = [_plain(x) for x in inputs]
        if options.get("out"):
            options["out"] = tuple(_plain(x) for x in options["out"])
        if method == "__call__" and ufunc in ROUNDINGS and _is_real(plain[0]):
            plain[0] = _moved(plain[0])
        if method == "__call__" and ufunc is np.floor_divide and any(map(_is_real, plain)):
            ufunc, plain = np.floor, [_moved(np.true_divide(*plain))]
        return _as_watched(getattr(ufunc, method)(*plain, **options))

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Apply any other function of NumPy; rounding to whole numbers is the ufunc's."""
        if func in (np.round, np.around):
            return _as_watched(args[0]).round(*args[1:], **kwargs)
        if func is np.fix and not kwargs:
            return np.trunc(*args)
        return _as_watched(func(*_plain(args), **_plain(kwargs)))

    def round(self, decimals: Any = 0, out: Any = None) -> Any:
        """Round as the function does."""
        return np.rint(self) if decimals == 0 and out is None else _as_watched(_plain(self).round(decimals, out))

    def astype(self, dtype: Any, *args: Any, **options: Any) -> Any:
        """Convert; real numbers are rounded towards zero on their way to integers."""
        plain = _plain(self)
        if _is_real(plain) and np.dtype(dtype).kind in "iu":
            plain = np.trunc(_moved(plain))
        return _as_watched(plain.astype(dtype, *args, **options))


class WatchedNumpy:
    """NumPy for a reference's text: what makes plain arrays of any leaves those that are watched as they are."""

    def __getattr__(self, name: str) -> Any:
        """Give NumPy's own function, but those that drop the kind of an array."""
        return {"asarray": np.asanyarray, "array": _array, "ascontiguousarray": np.asanyarray}.get(
            name, getattr(np, name)
        )


def _array(x: Any, *args: Any, **options: Any) -> Any:
    return np.array(x, *args, **{"subok": True, **options})


@dataclass
class _Recorded:
    """Keeps each value before it is rounded."""

    values: list[Array] = field(default_factory=list)

    def __call__(self, values: Array) -> Array:
        self.values.append(np.array(values))
        return values


@dataclass
class _Shifted:
    """Moves each value by its part of `widths`, in the order of the roundings."""

    widths: Sequence[Array]
    direction: Direction
    turn: int = 0

    def __call__(self, values: Array) -> Array:
        width = self.widths[self.turn]
        self.turn += 1
        return np.asarray(values + self.direction(values) * width)


def admitted(reference: Function, baseline: Function) -> Callable[[Any, Any, float], dict[str, dict[str, Array]]]:
    """Return the function from inputs, case and ratio to what the outputs may be; both given ones see watched arrays.

    It gives `low` and `high` of each output, and `tied`: true where an exact tie decides that the standard
    implementation meets exactly. Nothing where nothing is rounded, or where the two do not round alike.
    """

    def run(function: Function, watcher: RoundingWatcher, inputs: Any, case: Any) -> dict[str, Array]:
        with _watched(watcher), np.errstate(all="ignore"):
            outputs = function({name: _as_watched(np.array(x)) for name, x in inputs.items()}, case)
        return {name: to_float64(_plain(x)) for name, x in outputs.items()}

    def admit(inputs: Any, case: Any, ratio: float) -> dict[str, dict[str, Array]]:
        exact, standard = _Recorded(), _Recorded()
        middle = run(reference, exact, inputs, case)
        run(baseline, standard, inputs, case)
        shapes = [[x.shape for x in recorded.values] for recorded in (exact, standard)]
        if not exact.values or shapes[0] != shapes[1]:
            return {}
        widths = [_width(*pair, ratio) for pair in zip(exact.values, standard.values, strict=True)]
        if not any(width.any() for width in widths):
            return {}
        rng = np.random.default_rng(len(widths))
        at_random: list[Direction] = [lambda x: rng.choice((-1.0, 1.0), x.shape)] * RANDOM
        directions = (*DIRECTIONS, *at_random)
        runs = [middle, *(run(reference, _Shifted(widths, way), inputs, case) for way in directions)]
        ties = [_tie(*pair) for pair in zip(exact.values, standard.values, strict=True)]
        tied = [run(reference, _Shifted(ties, way), inputs, case) for way in DIRECTIONS[:2]]
        return _between(runs, tied)

    return admit


def _between(runs: Sequence[Mapping[str, Array]], tied: Sequence[Mapping[str, Array]]) -> dict[str, dict[str, Array]]:
    """Enclose the outputs of all runs, and a half more on either side where several flips may meet in one output."""
    families: dict[str, dict[str, Array]] = {"low": {}, "high": {}, "tied": {}}
    for name, middle in runs[0].items():
        low, high = (of([run[name] for run in runs]) for of in (_lowest, _highest))
        spare = 0.5 * (high - low)
        families["low"][name] = np.where(np.isfinite(spare), low - spare, middle)
        families["high"][name] = np.where(np.isfinite(spare), high + spare, middle)
        families["tied"][name] = np.asarray(tied[0][name] != tied[1][name])
    return families


def _lowest(arrays: list[Array]) -> Array:
    return np.asarray(np.min(arrays, axis=0))


def _highest(arrays: list[Array]) -> Array:
    return np.asarray(np.max(arrays, axis=0))


def _width(exact: Array, standard: Array, ratio: float) -> Array:
    """Give how far each value may be off before its rounding, from the standard's errors at values of up to its size.

    Nothing for values that are integers throughout: they were rounded before, or are counts.
    """
    size, error = np.abs(exact), np.abs(standard - exact)
    counts = np.isfinite(error) & (size < WHOLE)
    if not counts.any() or (np.trunc(exact[counts]) == exact[counts]).all():
        return np.zeros(exact.shape)
    exponent = np.clip(np.frexp(np.where(counts, size, 0.0))[1], LEAST, MOST) - LEAST
    largest = np.zeros(MOST - LEAST + 2)
    np.maximum.at(largest, exponent[counts], error[counts])
    up_to = np.maximum.accumulate(largest)
    units = UNITS * np.spacing(size.astype(np.float32)).astype(np.float64)
    return np.where(counts, np.minimum(STEP, ratio * up_to[exponent + 1] + units), 0.0)


def _tie(exact: Array, standard: Array) -> Array:
    """Give a width that turns an exact tie and nothing else, where the standard implementation has the same value."""
    is_rounded = bool((np.trunc(exact) == exact)[np.isfinite(exact)].all())
    return np.zeros(exact.shape) if is_rounded else np.where(standard == exact, np.abs(exact) * TIE, 0.0)


def _moved(values: Any) -> Array:
    plain = np.asarray(values)
    return np.asarray(_watcher.get()(to_float64(plain)).astype(plain.dtype))


def _is_real(x: Any) -> bool:
    return getattr(x, "dtype", None) is not None and x.dtype.kind not in "iubcO"


def _as_watched(x: Any) -> Any:
    if isinstance(x, tuple | list):
        return type(x)(map(_as_watched, x)) if type(x) in (tuple, list) else x
    is_number = isinstance(x, np.ndarray | np.generic) and x.dtype.kind not in "OUSm"
    return np.asarray(x).view(Watched) if is_number else x


def _plain(x: Any) -> Any:
    if isinstance(x, Watched):
        return x.view(np.ndarray)
    if type(x) in (tuple, list):
        return type(x)(map(_plain, x))
    return {name: _plain(value) for name, value in x.items()} if type(x) is dict else x
