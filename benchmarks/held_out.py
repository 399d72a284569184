"""Four more families for `lab_ranking`, not timed before the constants of the model were set."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from benchmarks.specimens import GRID, Tensor
from benchmarks.variants import Family, families, variants_of
from tasks.task import Array

TAPS = 25  # of kernels/convolution.hip


def _sums(inputs: Mapping[str, Array]) -> Array:
    return np.asarray(inputs["x"].sum(axis=0, dtype=np.float64).astype(np.float32))


def _normal(inputs: Mapping[str, Array]) -> Array:
    total = inputs["x"] + inputs["r"]
    mean = total.mean(axis=1, keepdims=True, dtype=np.float64)
    scale = 1.0 / np.sqrt(total.var(axis=1, keepdims=True, dtype=np.float64) + 1e-5)
    return np.asarray(((total - mean) * scale * inputs["w"]).astype(np.float32))


def _convolved(inputs: Mapping[str, Array]) -> Array:
    x, w = inputs["x"], inputs["w"]
    count = len(x) - TAPS + 1
    total = np.zeros(count, np.float32)
    for tap in range(TAPS):
        total += w[tap] * x[tap : tap + count]
    return total


def _softmax(inputs: Mapping[str, Array]) -> Array:
    e = np.exp(inputs["x"] - inputs["x"].max(axis=1, keepdims=True))
    return np.asarray(e / e.sum(axis=1, keepdims=True))


def column_sum() -> Family:
    """Describe column sums of 1024 x 16384 f32."""
    dims = {"rows": 1024, "cols": 16384}
    tensors = (Tensor("x", "float32", ("rows", "cols"), "normal"), Tensor("y", "float32", ("cols",)))
    rows = [
        (32, 8, 1, 1),
        (32, 8, 1, 8),
        (32, 8, 4, 1),
        (32, 8, 4, 4),
        (32, 32, 1, 1),
        (32, 32, 4, 4),
        (64, 4, 1, 1),
        (256, 1, 1, 1),
        (256, 1, 1, 8),
        (8, 32, 1, 1),
        (8, 32, 4, 4),
        (16, 16, 2, 4),
        (128, 2, 2, 8),
        (64, 16, 1, 4),
    ]
    made = variants_of("column_sum", ("ACROSS", "DOWN", "VEC", "EACH"), tensors, dims, rows)
    work = dims["rows"] * dims["cols"]
    return Family("column_sum", tuple(made), 1.0 * work, 4.0 * (work + dims["cols"]), _sums, 1e-3)


def add_norm() -> Family:
    """Describe rows of 2048 f32: the sum of two, normalised."""
    dims = {"rows": 8192, "cols": 2048}
    tensors = (
        GRID[0],
        Tensor("r", "float32", ("rows", "cols"), "normal"),
        Tensor("w", "float32", ("cols",), "normal"),
        GRID[1],
    )
    rows = [
        (64, 1, 0, 0),
        (64, 4, 0, 0),
        (64, 4, 8, 0),
        (128, 4, 4, 0),
        (128, 2, 8, 0),
        (256, 1, 0, 0),
        (256, 1, 8, 0),
        (256, 4, 2, 0),
        (256, 4, 0, 1),
        (256, 1, 0, 1),
        (512, 4, 1, 0),
        (512, 1, 4, 0),
        (1024, 1, 2, 0),
        (1024, 2, 0, 1),
    ]
    made = variants_of("add_norm", ("BLOCK", "VEC", "KEEP", "LDS"), tensors, dims, rows, {"eps": 1e-5})
    work = dims["rows"] * dims["cols"]
    return Family("add_norm", tuple(made), 7.0 * work, 12.0 * work + 4.0 * dims["cols"], _normal, 1e-3)


def convolution() -> Family:
    """Describe weighted sums of 25 neighbours in 16 million f32."""
    count = 1 << 24
    dims = {"n": count, "span": count + TAPS - 1, "taps": TAPS}
    tensors = (
        Tensor("x", "float32", ("span",), "normal"),
        Tensor("w", "float32", ("taps",), "normal"),
        Tensor("y", "float32", ("n",)),
    )
    rows = [
        (256, 1, 0, 0),
        (256, 4, 0, 0),
        (256, 4, 1, 0),
        (256, 8, 1, 0),
        (64, 1, 0, 0),
        (1024, 1, 0, 0),
        (256, 1, 0, 1),
        (256, 4, 0, 1),
        (256, 4, 1, 1),
        (256, 8, 1, 1),
        (64, 2, 0, 1),
        (1024, 4, 0, 1),
        (128, 2, 1, 1),
    ]
    made = variants_of("convolution", ("BLOCK", "EACH", "NEAR", "LDS"), tensors, dims, rows)
    return Family("convolution", tuple(made), 2.0 * TAPS * count, 8.0 * count, _convolved, 1e-4)


def small_softmax() -> Family:
    """Describe rows of 64 f32, a quarter of a million."""
    dims = {"rows": 1 << 18, "cols": 64}
    rows = [
        (256, 32, 1),
        (256, 32, 2),
        (256, 16, 1),
        (256, 16, 4),
        (256, 8, 1),
        (256, 8, 4),
        (256, 4, 4),
        (256, 2, 1),
        (256, 2, 4),
        (256, 1, 1),
        (256, 1, 4),
        (64, 16, 4),
        (1024, 32, 1),
        (1024, 16, 4),
    ]
    made = variants_of("small_softmax", ("BLOCK", "LANES", "VEC"), GRID, dims, rows)
    work = dims["rows"] * dims["cols"]
    return Family("small_softmax", tuple(made), 5.0 * work, 8.0 * work, _softmax, 1e-5)


def held_out() -> list[Family]:
    """List all four."""
    return [column_sum(), add_norm(), convolution(), small_softmax()]


def together_with(name: str) -> list[Family]:
    """List the families that are compiled into one folder with the one of this name."""
    return next((group for group in (families(), held_out()) if any(f.name == name for f in group)), [])
