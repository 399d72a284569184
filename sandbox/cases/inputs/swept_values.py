"""Values of one size, in one binade anywhere in a type's range, or each in a binade of its own.

A shortcut that cuts an exponent short, or leaves small or large values out, is right on values of the usual size. So
the exponents at which a task's reference and its standard implementation still agree are measured, once, and inputs
are drawn from all of them. Signs are a line's own: sums of one sign lose nothing by cancelling.

Of values of one size none can be left out unseen: a softmax of a usual draw hardly depends on most of a row, and the
largest values of a row do not on its last one. So some lines rise, some fall.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from records.errors import TaskError
from sandbox.cases.inputs.held_lines import with_held_lines
from tasks.dtypes import is_float, numpy_dtype, to_float64
from tasks.loader import TASK_FAULTS
from tasks.task import Array, Case, Task, Tensors

AS_DRAWN = "as drawn"  # the task's own draw, with nothing planted
ONE_SIZE, ONE_BINADE, ALL_BINADES = "one size", "one binade", "all binades"
VALUES = (ONE_SIZE, ONE_BINADE, ALL_BINADES)
USUAL = (-3, -1)  # exponents of values of one size
ORDERS = 3  # of lines: as they come, rising, falling
HELD = 63  # the largest exponent of a whole line of values with which something is computed
BESIDE_USUAL = 0.5  # of the values have one that is larger
FAR = 100  # the largest and the least: long sums of them, and constants beside them, still are numbers
STRIDE = 16  # exponents from one that is tried to the next
SEEDS = 2  # draws on which each is tried
LOSES = 8.0  # times as inexact as usual the standard implementation may be
LEAST_LOSS = 2.0**-18  # of the largest output, which it may be off anyway: usual draws can be exact
TURNS = 1 << 10  # parts of a range, from one of which the exponent of one binade comes: more than a type has exponents
FLUSHED = float(np.finfo(np.float32).tiny)  # below it the builtins of exponentials and reciprocals give zero
EXPONENTS: Mapping[str, tuple[int, int]] = {  # of numbers with the type's full precision
    "float64": (-126, 127),
    "float32": (-126, 127),
    "bfloat16": (-126, 127),
    "float16": (-14, 15),
}

Rng = np.random.Generator
Range = tuple[int, int]  # exponents, both ends included
Ranges = Mapping[str, Mapping[str, Range]]  # by family and input


def seeds_of_ends(inputs: int, parts: int, rng: Rng) -> list[int]:
    """Draw seeds of cases with one binade: for each input both ends of its range, and some drawn between them.

    Those between lie in as many equal parts of the range.
    """
    ends = [(number, turn) for number in range(inputs) for turn in (0, TURNS - 1)]
    between = [(int(rng.integers(inputs)), int((part + rng.random()) / parts * TURNS)) for part in range(parts)]
    return [(int(rng.integers(2**20)) * inputs + number) * TURNS + turn for number, turn in (*ends, *between)]


def swept(
    inputs: Tensors, name: str, family: str, exponents: Range, rng: Rng, *, holds: bool = True, turn: int = 0
) -> Tensors:
    """Take one of the inputs from the family. With `holds` no line has nothing but far values.

    The turn says where in the range the exponent of one binade lies: 0 is its low end and `TURNS` - 1 the high one.
    """
    changed = {**inputs, name: of_binades(inputs[name], family, exponents, rng, turn)}
    return dict(with_held_lines(changed, inputs)) if holds else changed


def drawn_swept(task: Task, case: Case, family: str, ranges: Ranges, *, moves_values: bool) -> Tensors:
    """Draw the inputs of a case as they are, or with one of them from a family of `VALUES`, by the case's seed."""
    inputs: Tensors = task.draw(case)
    names = [] if family == AS_DRAWN else sorted(name for name in ranges[family] if name in inputs)
    if not names:
        return inputs
    rng, (number, turn) = np.random.default_rng((case.seed, 1)), divmod(case.seed, TURNS)
    name = names[number % len(names)]
    changed = swept(inputs, name, family, ranges[family][name], rng, holds=not moves_values, turn=turn)
    return task.restored(changed, inputs, case)


def of_binades(x: Array, family: str, exponents: Range, rng: Rng, turn: int = 0) -> Array:
    """Draw values of the shape and type of `x`: mantissas from 1 to 2, a sign for each line, the family's exponents."""
    low, high = exponents
    turned = np.asarray(low + turn * (high + 1 - low) // TURNS)
    drawn = np.asarray(rng.integers(low, high + 1, size=x.shape if family == ALL_BINADES else ()))
    powers = turned if family == ONE_BINADE else drawn
    line_shape = (*x.shape[:-1], 1) if x.ndim else ()
    values = np.ldexp(1.0 + rng.random(x.shape), powers)
    if family == ONE_SIZE and x.ndim:
        rising, kind = np.sort(values, axis=-1), rng.integers(ORDERS, size=line_shape)
        values = np.where(kind == 0, values, np.where(kind == 1, rising, rising[..., ::-1]))
    signed = np.where(rng.random(line_shape) < 0.5, -1.0, 1.0) if (to_float64(x) < 0).any() else 1.0
    with np.errstate(over="ignore", under="ignore"):
        signed_values = (values * signed).astype(x.dtype)
    if family == ONE_BINADE and turned > HELD:
        signed_values = np.where(rng.random(x.shape) < BESIDE_USUAL, signed_values, x)
    return np.where(np.isfinite(to_float64(signed_values)), signed_values, x)


def binades_of(task: Task, cases: Sequence[Case], moves_values: bool) -> dict[str, dict[str, Range]]:
    """Find by family and input the exponents that the task bears; none where a float decides about a whole number.

    Where the outputs are the inputs' own values, these are all of the type's; a copy loses none.
    """
    is_whole = [not is_float(numpy_dtype(spec.dtype)) for spec in task.outputs]
    is_moved = moves_values and not all(is_whole)
    floats = [s for s in task.inputs if s.name in task.plant and numpy_dtype(s.dtype).name in EXPONENTS]
    ranges = dict[str, dict[str, Range]]()
    if any(is_whole) and not is_moved:
        return ranges
    for family in VALUES:
        for spec in floats:
            ends = EXPONENTS[numpy_dtype(spec.dtype).name]
            borne = ends if is_moved and family != ONE_SIZE else _borne(task, cases, spec.name, family, ends)
            if borne is not None:
                ranges.setdefault(family, {})[spec.name] = borne
    return ranges


def _borne(task: Task, cases: Sequence[Case], name: str, family: str, ends: Range) -> Range | None:
    """Find the widest range around the usual exponent in which no step of the way is too much."""
    sizes = [np.abs(to_float64(task.draw(case)[name])) for case in cases]
    usual = [float(np.log2(np.sqrt(np.mean(np.square(x))))) for x in sizes if x.size and (x > 0).any()]
    if not usual:
        return None
    middle, low, high = round(float(np.mean(usual))), max(ends[0], -FAR), min(ends[1], FAR)
    plain = _loss(task, cases, lambda inputs, rng: inputs)
    if plain is None or not low <= middle <= high:
        return None
    allowed = max(LOSES * plain, LEAST_LOSS)

    def bears(exponents: Range) -> bool:
        loss = _loss(task, cases, lambda inputs, rng: swept(inputs, name, family, exponents, rng))
        return loss is not None and loss <= allowed

    if family == ONE_SIZE:
        return USUAL if bears(USUAL) else None
    if not bears((middle, middle)):
        return None
    widest = (_reached(bears, middle, low, family), _reached(bears, middle, high, family))
    return widest if bears(widest) else None


def _reached(bears: Callable[[Range], bool], middle: int, end: int, family: str) -> int:
    """Find the last exponent on the way to this end before a stride that is too much."""
    direction = 1 if end > middle else -1
    reached = middle
    while reached != end:
        tried = min(end, reached + STRIDE) if direction > 0 else max(end, reached - STRIDE)
        first = tried if family == ONE_BINADE else middle
        if not bears((min(first, tried), max(first, tried))):
            break
        reached = tried
    return reached


def _loss(task: Task, cases: Sequence[Case], change: Callable[[Tensors, Rng], Tensors]) -> float | None:
    """Give the largest error of the standard implementation over the largest output, by output; None for no number."""
    worst = 0.0
    for case in cases:
        for number in range(SEEDS):
            drawn = task.draw(replace(case, seed=case.seed + number))
            try:
                with np.errstate(all="ignore"):
                    changed = task.restored(change(drawn, np.random.default_rng((number, 5))), drawn, case)
                    reference, standard = task.expected(changed, case)
                    losses = [_apart(reference[s.name], standard[s.name], s.dtype) for s in task.outputs]
            except (TaskError, *TASK_FAULTS):
                return None
            if not np.isfinite(losses).all():
                return None
            worst = max(worst, *losses)
    return worst


def _apart(want: Array, base: Array, dtype: str) -> float:
    exact, standard = to_float64(want), to_float64(base)
    if not np.isfinite(to_float64(want.astype(numpy_dtype(dtype)))).all():
        return np.inf
    largest = float(np.abs(exact).max(initial=0.0))
    return float(np.abs(standard - exact).max(initial=0.0)) / largest if largest else 0.0
