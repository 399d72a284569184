"""Inputs for the exact arithmetic of matrix instructions: random, adversarial, special. Deterministic bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tests.support.matrix_layouts import NUMPY, names, oracle, types_of

FLOATS = [n for n in names("mfma") if "i32" not in n]
WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
SETS = ("near", "wide", "cancelling", "edges")
FEW = 64  # distinct values of C, so that the file of stored cases stays small


def stored_sets(name: str) -> tuple[str, ...]:
    """The sets of an instruction whose outputs are stored; all have more than 250 cases."""
    if "_32x32" in name:
        return ("cancelling",) if "_2b_" in name else ("edges",)
    return SETS if name == "v_mfma_f64_4x4x4_4b_f64" else SETS[1:]


def _floats(exponents: npt.NDArray[np.int64], rng: np.random.Generator, dtype: Any) -> npt.NDArray[Any]:
    with np.errstate(over="ignore", invalid="ignore"):
        values = np.ldexp(1 + rng.random(exponents.shape), exponents) * rng.choice([-1.0, 1.0], exponents.shape)
        if dtype in (np.float64, np.float32, np.float16):
            top = float(np.finfo(dtype).max)
            return np.asarray(np.clip(values, -top, top).astype(dtype))
        return np.asarray(values.astype(np.float32).astype(dtype))


def _edges(dtype: Any, rng: np.random.Generator, shape: tuple[int, ...], specials: bool) -> npt.NDArray[Any]:
    """Any bits: subnormals, largest values, infinities, NaN; without `specials` the last two become 1."""
    word = WORDS[np.dtype(dtype).itemsize]
    bits = rng.integers(0, 1 << (8 * np.dtype(dtype).itemsize - 1), shape, np.uint64)
    low = rng.random(shape) < 0.3  # small exponents
    bits = np.where(low, bits >> np.uint64(rng.integers(2, 8)), bits) | (
        rng.integers(0, 2, shape, np.uint64) << np.uint64(8 * np.dtype(dtype).itemsize - 1)
    )
    values = bits.astype(word).view(dtype)
    values[rng.random(shape) < 0.2] = 0
    with np.errstate(invalid="ignore"):
        finite = np.isfinite(values.astype(np.float64))
    return values if specials else np.where(finite, values, np.ones((), dtype))


def _few(values: npt.NDArray[Any], rng: np.random.Generator) -> npt.NDArray[Any]:
    return np.asarray(rng.choice(values.reshape(-1)[:FEW], values.shape))


def operands(name: str, kind: str) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """A [block, i, k], B [block, k, j], C [block, i, j] of one set of cases."""
    about, (type_a, type_b) = oracle()[name], types_of(name)
    rng = np.random.default_rng([FLOATS.index(name), SETS.index(kind)])
    m, k, blocks = about["m"], about["k"], about["blocks"]
    shapes = ((blocks, m, k), (blocks, k, m), (blocks, m, m))
    types = (NUMPY[type_a], NUMPY[type_b], np.float64 if type_a == "f64" else np.float32)
    if kind == "edges":
        a, b, c = (_edges(t, rng, s, True) for t, s in zip(types, shapes, strict=True))
        plain = np.arange(m) % 4 != 0  # three quarters of the rows and columns are finite
        a[:, plain] = _edges(types[0], rng, a[:, plain].shape, False)
        b[..., plain] = _edges(types[1], rng, b[..., plain].shape, False)
        c[:, :, plain] = _edges(types[2], rng, c[:, :, plain].shape, False)
        return a, b, _few(c, rng)
    spread = {"near": 1, "wide": 12, "cancelling": 6}[kind]
    ranges = {"fp8": 6, "bf8": 13, "f16": 12}
    a, b, c = (
        _floats(rng.integers(-min(spread, r), min(spread, r) + 1, s), rng, t)
        for t, s, r in zip(types, shapes, (*(ranges.get(x, 60) for x in (type_a, type_b)), 60), strict=True)
    )
    if kind == "wide":
        c = _floats(rng.integers(-40, 40, shapes[2]), rng, types[2])
    if kind == "cancelling":  # pairs of products that cancel but for their last bits, against a C that is far off
        half = k // 2
        a[..., half : 2 * half], b[:, half : 2 * half] = -a[..., :half], b[:, :half]
        word = WORDS[np.dtype(types[0]).itemsize]
        step = rng.integers(0, 2, a.shape).astype(word) << word(13 if type_a == "xf32" else 0)
        a = np.where(rng.random(a.shape) < 0.4, (a.view(word) ^ step).view(types[0]), a)
        c = _floats(rng.integers(-34, -2, shapes[2]), rng, types[2])
    return a, b, _few(c, rng)
