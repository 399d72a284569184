"""Inputs a power of two larger or smaller, for tasks whose outputs then are a power of two larger or smaller.

A shortcut on values that are small or large as such, such as a sum that leaves out what lies below 1e-3, is right where
all inputs have their usual size. A power of two changes no digit of what a right kernel computes, so the task's own
tolerance holds, at the outputs' new size. Where an exponential or a constant beside the inputs decides, the outputs do
not scale, and the family is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tasks.dtypes import is_float, numpy_dtype, to_float64
from tasks.task import Array, Case, Task
from tasks.tolerance import Tolerance

DOWN, UP = "scaled down", "scaled up"
MOST_SINGLE = 2  # inputs that are scaled down, each in a family of its own
EXPONENT = {"float64": 40, "float32": 40, "bfloat16": 40, "float16": 6}  # squares of both still are numbers
MOST_DEGREE = 3
ALIKE = 1e-3  # of the outputs' root mean square that they may differ from scaled ones
FLUSHED = float(np.finfo(np.float32).tiny)  # below it the builtins of exponentials and reciprocals give zero


@dataclass(frozen=True)
class Scaling:
    """Inputs that may be scaled at once, and the power of the factor that each output gets."""

    exponent: int
    inputs: tuple[str, ...]
    degrees: Mapping[str, int]

    def scale(self, x: Array, rng: np.random.Generator | None = None) -> Array:
        """The input scaled; the power of two is exact but for values next to the type's ends."""
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(np.ldexp(to_float64(x), self.exponent).astype(x.dtype))

    def tolerance(self, output: str, own: Tolerance) -> Tolerance:
        """The task's own at the size that an output has then."""
        factor = 2.0 ** (self.exponent * self.degrees[output])
        return replace(own, atol=own.atol * factor, least=max(own.least * factor, FLUSHED))


def scalings_of(task: Task, cases: Sequence[Case]) -> dict[str, Scaling]:
    """By family: single inputs with each of which the outputs scale, down or one of them up; or else all together."""
    known = {s.name: EXPONENT.get(numpy_dtype(s.dtype).name, 0) for s in task.inputs if s.name in task.plant}
    names = tuple(name for name in task.plant if known.get(name))
    least = min((known[name] for name in names), default=0)
    found = dict[str, Scaling]()
    for way, exponent, most in ((DOWN, -least, MOST_SINGLE), (UP, least, 1)):
        singles = ((name, _degrees(task, cases, (name,), exponent)) for name in names)
        made = {f"{name} {way}": Scaling(exponent, (name,), degrees) for name, degrees in singles if degrees}
        order = sorted(made, key=lambda name: -sum(made[name].degrees.values()))  # first what changes most outputs
        found |= {name: made[name] for name in order[:most]}
        if not made and len(names) > 1 and (degrees := _degrees(task, cases, names, exponent)):
            found[way] = Scaling(exponent, names, degrees)
    return found


def _degrees(task: Task, cases: Sequence[Case], names: Sequence[str], exponent: int) -> Mapping[str, int] | None:
    """The power of each output; None where one is not the same on all cases, or is none."""
    found: list[Mapping[str, int]] = []
    for case in cases:
        inputs = task.draw(case)
        scaling = Scaling(exponent, tuple(names), {})
        scaled = {name: scaling.scale(x) if name in names else x for name, x in inputs.items()}
        with np.errstate(all="ignore"):
            plain, other, base = task.reference(inputs, case), task.reference(scaled, case), task.baseline(scaled, case)
        degrees = {
            s.name: _degree(to_float64(plain[s.name]), to_float64(other[s.name]), to_float64(base[s.name]), exponent)
            for s in task.outputs
        }
        whole = [s.name for s in task.outputs if not is_float(numpy_dtype(s.dtype))]
        if None in degrees.values() or any(degrees[name] for name in whole):
            return None
        found.append({name: degree for name, degree in degrees.items() if degree is not None})
    return found[0] if found and all(one == found[0] for one in found) else None


def _degree(plain: Array, scaled: Array, base: Array, exponent: int) -> int | None:
    """The power by which one output grew; None where it is none, or the type does not hold the output."""
    with np.errstate(over="ignore", invalid="ignore"):
        size, other, typed = (float(np.sqrt(np.mean(np.square(x)))) if x.size else 0.0 for x in (plain, scaled, base))
    if not all(0 < each < np.inf for each in (size, other, typed)):
        return None
    degree = round(np.log2(other / size) / exponent)
    apart = np.sqrt(np.mean(np.square(np.ldexp(scaled, -exponent * degree) - plain)))
    return degree if 0 <= degree <= MOST_DEGREE and apart <= ALIKE * size else None
