"""FP8 matrix product with one scale for 1 x 128 values of `a` and one for 128 x 128 values of `b`."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tasks.task import Array, Case, Tensors

BLOCK = 128


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values with an outlier in every row and column, rounded to the target's fp8 when drawn.

    The scales are normal times powers of two from 1/16 to 2, so half of them are negative and none stands for others.
    """
    m, n, k = (case.dims[name] for name in "mnk")
    kb, nb = -(-k // BLOCK), -(-n // BLOCK)
    # Drawn transposed: the transpose of a row-major array is column-major, as the task wants it.
    return {
        "a": _operand(rng, k, m).T,
        "b": _operand(rng, k, n).T,
        "a_scale": _scales(rng, kb, m).T,
        "b_scale": _scales(rng, kb, nb).T,
    }


def _operand(rng: np.random.Generator, k: int, rows: int) -> Array:
    values = rng.standard_normal((k, rows), dtype=np.float32)
    values[np.arange(k), rng.integers(rows, size=k)] *= rng.uniform(2, 4, k).astype(np.float32)
    values[rng.integers(k, size=rows), np.arange(rows)] *= rng.uniform(4, 8, rows).astype(np.float32)
    return values


def _scales(rng: np.random.Generator, *shape: int) -> Array:
    return np.ldexp(rng.standard_normal(shape, dtype=np.float32), rng.integers(-4, 2, shape, dtype=np.int8))


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64: dequantised exactly, multiplied by float64 BLAS."""
    return {"c": _product(inputs, np.float64)}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32: dequantised, multiplied block by block along k, rounded once to bfloat16."""
    return {"c": _product(inputs, np.float32).astype(ml_dtypes.bfloat16)}


def variants(inputs: Tensors, case: Case, rng: np.random.Generator) -> dict[str, Tensors]:
    """Make small integers with scales of one, whose products are exact, and row scales from 2^-8 to 2^8."""
    a, b = inputs["a"], inputs["b"]
    ones = {name: np.ones_like(inputs[name]) for name in ("a_scale", "b_scale")}
    bits = {"a": rng.integers(0, 2, a.shape).astype(a.dtype), "b": rng.integers(0, 2, b.shape).astype(b.dtype)}
    row = np.exp2(rng.choice([-8, 0, 8], (a.shape[0], 1))).astype(np.float32)
    wide = {**inputs, "a_scale": np.ascontiguousarray(np.broadcast_to(row, inputs["a_scale"].shape))}
    return {"exact": {**bits, **ones}, "wide_scales": wide}


def shortcuts(inputs: Tensors, case: Case) -> dict[str, Tensors]:
    """Take parts of k, scales of other blocks, signs and scales left out, one tile for all."""
    found = {name: baseline({**inputs, **changes}, case) for name, changes in _changed(inputs).items()}
    c = baseline(inputs, case)["c"]
    first = np.tile(c[:64, :64], (-(-c.shape[0] // 64), -(-c.shape[1] // 64)))[: c.shape[0], : c.shape[1]]
    before = np.roll(c, 1, axis=0)
    return {**found, "the first tile of 64 for all": {"c": first}, "the row before": {"c": before}}


def _changed(inputs: Tensors) -> dict[str, Tensors]:
    """Change the inputs as lazy kernels take them."""
    a, a_scale, b_scale = (inputs[name] for name in ("a", "a_scale", "b_scale"))
    half, last = a.copy(), a.copy()
    half[:, a.shape[1] // 2 :] = 0
    last[:, -32:] = 0
    first = np.zeros_like(a)
    first[:, :BLOCK] = a[:, :BLOCK]
    return {
        "half of k": {"a": half},
        "the first block of k": {"a": first},
        "without the last 32 of k": {"a": last},
        "the first block's scales of a": {"a_scale": np.repeat(a_scale[:, :1], a_scale.shape[1], axis=1)},
        "the first row's scales of a": {"a_scale": np.repeat(a_scale[:1], a_scale.shape[0], axis=0)},
        "the first block's scales of b": {"b_scale": np.repeat(b_scale[:, :1], b_scale.shape[1], axis=1)},
        "the first rows' scales of b": {"b_scale": np.repeat(b_scale[:1], b_scale.shape[0], axis=0)},
        "the magnitude of the scales of a": {"a_scale": np.abs(a_scale)},
        "the magnitude of the scales of b": {"b_scale": np.abs(b_scale)},
        "no scales of a": {"a_scale": np.ones_like(a_scale)},
        "no scales of b": {"b_scale": np.ones_like(b_scale)},
    }


def _product(inputs: Tensors, dtype: type[np.floating[Any]]) -> Array:
    """Sum the dequantised products over the k-blocks; a partial last block of b takes its own scale."""
    a, b, a_scale, b_scale = (inputs[name] for name in ("a", "b", "a_scale", "b_scale"))
    c = np.zeros((a.shape[0], b.shape[0]), dtype)
    for t in range(a_scale.shape[1]):
        part = slice(t * BLOCK, (t + 1) * BLOCK)
        of_b = np.repeat(b_scale[:, t], BLOCK)[: b.shape[0]]
        left = a[:, part].astype(dtype) * a_scale[:, t].astype(dtype)[:, None]
        right = b[:, part].astype(dtype) * of_b.astype(dtype)[:, None]
        c += left @ right.T
    return c
