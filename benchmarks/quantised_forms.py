"""Ten references that quantise, each for any arithmetic: exact, as the standard has it, or as a kernel may."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sandbox.cases.inputs.changed import MAKERS, TIED
from tasks.dtypes import Array

ROWS, COLUMNS, GROUP, WIDTH = 24, 512, 32, 48
Rng = np.random.Generator


def exact_division(x: Any, y: Any) -> Any:
    """Divide, rounded once."""
    return x / y


@dataclass(frozen=True)
class Arithmetic:
    """How a kernel computes: in which type, and what it does where several ways are right."""

    kind: Any = np.float64
    divide: Callable[[Any, Any], Any] = exact_division
    total: Callable[[Any], Any] = lambda x: x.sum(axis=-1, keepdims=True)
    whole: Callable[[Any], Any] = np.rint
    most: float = 127.0  # the largest code

    def scale(self, largest: Any, most: float) -> Any:
        """Divide the largest value by the largest code."""
        return np.maximum(self.divide(largest, self.kind(most * self.most / 127.0)), self.kind(1e-20))

    def code(self, values: Any, scale: Any, most: float) -> Any:
        """Quantise."""
        return np.clip(self.whole(self.divide(values, scale)), -most - 1, most)


Form = Callable[[Mapping[str, Array], Arithmetic], dict[str, Array]]


def _largest(x: Any) -> Any:
    return np.abs(x).max(axis=-1, keepdims=True)


def _rows(x: Any, how: Arithmetic, most: float = 127.0) -> dict[str, Array]:
    scale = how.scale(_largest(x), most)
    return {"q": how.code(x, scale, most).astype(np.int8), "scale": scale[..., 0]}


def per_row(inputs: Mapping[str, Array], how: Arithmetic) -> dict[str, Array]:
    """Quantise each row by its largest value to 8 bits."""
    return _rows(inputs["x"].astype(how.kind), how)


def four_bits(inputs: Mapping[str, Array], how: Arithmetic) -> dict[str, Array]:
    """Quantise each row by its largest value to 4 bits."""
    return _rows(inputs["x"].astype(how.kind), how, 7.0)


def per_group(inputs: Mapping[str, Array], how: Arithmetic) -> dict[str, Array]:
    """Quantise each group of a row."""
    return _rows(inputs["x"].astype(how.kind).reshape(ROWS, -1, GROUP), how)


def given_scale(inputs: Mapping[str, Array], how: Arithmetic) -> dict[str, Array]:
    """Quantise all by a scale that is given."""
    x, scale = inputs["x"].astype(how.kind), how.kind(np.float32(how.most / 127.0 / 32.0))
    return {"q": how.code(x, scale, 127.0).astype(np.int8)}


def unsigned(inputs: Mapping[str, Array], how: Arithmetic) -> dict[str, Array]:
    """Quantise each row between its least and its largest value, with a zero point."""
    x = inputs["x"].astype(how.kind)
    low, high = np.minimum(x.min(axis=-1, keepdims=True), 0), np.maximum(x.max(axis=-1, keepdims=True), 0)
    scale = how.scale(high - low, 255.0)
    zero = np.clip(how.whole(how.divide(-low, scale)), 0, 255)
    return {"q": np.clip(how.whole(how.divide(x, scale)) + zero, 0, 255).astype(np.uint8), "zero": zero}


def _normed(h: Any, weight: Array, how: Arithmetic) -> Any:
    mean = how.divide(how.total(h * h), how.kind(h.shape[-1]))
    return how.divide(h, np.sqrt(mean + how.kind(1e-6))) * weight.astype(how.kind)


def norm(inputs: Mapping[str, Array], how: Arithmetic) -> dict[str, Array]:
    """Take the RMS norm of each row, and quantise it."""
    return _rows(_normed(inputs["x"].astype(how.kind), inputs["weight"], how), how)


def added_norm(inputs: Mapping[str, Array], how: Arithmetic) -> dict[str, Array]:
    """Add a residual first."""
    h = inputs["x"].astype(how.kind) + inputs["residual"].astype(how.kind)
    return _rows(_normed(h, inputs["weight"], how), how)


def gelu(inputs: Mapping[str, Array], how: Arithmetic) -> dict[str, Array]:
    """Quantise what an activation gives."""
    x = inputs["x"].astype(how.kind)
    inner = how.kind(0.7978845608028654) * (x + how.kind(0.044715) * x * x * x)
    return _rows(how.kind(0.5) * x * (how.kind(1) + np.tanh(inner)), how)


def rounded_back(inputs: Mapping[str, Array], how: Arithmetic) -> dict[str, Array]:
    """Give real values on the grid of the codes, as in training for quantisation."""
    x = inputs["x"].astype(how.kind)
    scale = how.scale(_largest(x), 127.0)
    return {"y": how.code(x, scale, 127.0) * scale}


def product(inputs: Mapping[str, Array], how: Arithmetic) -> dict[str, Array]:
    """Multiply codes of the rows with whole weights."""
    x = inputs["x"].astype(how.kind)
    scale = how.scale(_largest(x), 127.0)
    sums = how.code(x, scale, 127.0).astype(np.float64) @ inputs["codes"].astype(np.float64)
    return {"y": sums.astype(how.kind) * scale}


FORMS: tuple[Form, ...] = (
    per_row,
    four_bits,
    per_group,
    given_scale,
    unsigned,
    norm,
    added_norm,
    gelu,
    rounded_back,
    product,
)
TIES = (per_row, per_group, given_scale, rounded_back, unsigned, four_bits)  # of which half steps make exact ties


def drawn(rng: Rng, *, tied: bool = False) -> dict[str, Array]:
    """Draw the inputs of all forms; `tied`: so that many values lie half-way between two codes."""
    shape = (ROWS, COLUMNS)
    x = rng.standard_normal(shape).astype(np.float32)
    return {
        "x": MAKERS[TIED](x, rng) / np.float32(32) if tied else x,
        "residual": rng.standard_normal(shape).astype(np.float32),
        "weight": (1 + 0.1 * rng.standard_normal(COLUMNS)).astype(np.float32),
        "codes": rng.integers(-127, 128, (COLUMNS, WIDTH)).astype(np.int8),
    }


def by_reciprocal(x: Any, y: Any) -> Any:
    """Multiply by the rounded reciprocal."""
    return x * (np.float32(1) / y)


def by_hardware(rng: Rng) -> Callable[[Any, Any], Any]:
    """Divide by a reciprocal that is off by one unit of its last place."""

    def divide(x: Any, y: Any) -> Any:
        exact = np.float32(1) / np.asarray(y, np.float32)
        return x * np.nextafter(exact, rng.choice((np.float32(0), np.float32(np.inf)), exact.shape))

    return divide


def in_order(x: Any) -> Any:
    """Add from the first element of each row to the last, in float32."""
    return np.add.accumulate(x, axis=-1, dtype=np.float32)[..., -1:]


def away(x: Any) -> Any:
    """Round, ties away from zero."""
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


def to_zero(x: Any) -> Any:
    """Round, ties towards zero."""
    return np.copysign(np.ceil(np.abs(x) - 0.5), x)
